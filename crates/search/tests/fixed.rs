//! Small graphs with known results.

mod common;

use common::{ALL, agree, bfs, dfs};
use entail_model::{Fault, FaultKind, Observer, Visit};
use entail_search::{Checks, End, ErrorKind, Limits, Stats, depth_first};
use entail_testkit::graph::{Edge, Graph, node_of, state_of};
use entail_testkit::recording_store::RecordingStore;

/// The expected counts for a graph, for any search order.
struct Expected {
    stored: u64,
    matched: u64,
    errors: u64,
}

fn check(graph: Graph, checks: Checks, expected: Expected) {
    agree(&graph, checks);
    for outcome in [bfs(&graph, checks), dfs(&graph, checks)] {
        assert_eq!(outcome.end, End::Complete);
        assert_eq!(outcome.stats.stored, expected.stored, "stored");
        assert_eq!(outcome.stats.matched, expected.matched, "matched");
        assert_eq!(outcome.stats.transitions(), expected.stored + expected.matched);
        assert_eq!(outcome.errors, expected.errors, "errors");
    }
}

#[test]
fn a_diamond_is_entered_twice_and_stored_once() {
    let diamond = Graph::starting_in(0).path(&[0, 1, 3]).path(&[0, 2, 3]).edge(3, 0);
    check(diamond, ALL, Expected { stored: 4, matched: 2, errors: 0 });
}

#[test]
fn an_end_is_an_error_unless_it_is_valid() {
    let ends = Graph::starting_in(0).edge(0, 1).edge(0, 2).edge(0, 3).edge(3, 2).valid_end(1);
    check(ends.clone(), ALL, Expected { stored: 4, matched: 1, errors: 1 });
    check(ends, Checks { end_states: false, ..ALL }, Expected { stored: 4, matched: 1, errors: 0 });
}

#[test]
fn an_end_mark_means_nothing_where_the_run_goes_on() {
    check(Graph::starting_in(0).edge(0, 0).valid_end(0), ALL, Expected { stored: 1, matched: 1, errors: 0 });
}

#[test]
fn equal_initial_states_are_one_and_match_nothing() {
    let graph = Graph::starting_in(0).initial(1).initial(0).edge(0, 1).edge(1, 1);
    check(graph, ALL, Expected { stored: 2, matched: 2, errors: 0 });
}

#[test]
fn a_model_without_initial_states_is_complete_at_once() {
    check(Graph::default(), ALL, Expected { stored: 0, matched: 0, errors: 0 });
}

#[test]
fn transient_states_are_passed_but_not_stored() {
    let chain = Graph::starting_in(0).path(&[0, 1, 2, 3, 0]).transient(1).transient(2);
    check(chain, ALL, Expected { stored: 2, matched: 1, errors: 0 });
}

#[test]
fn every_path_through_transient_states_counts() {
    // 0 → {1, 2} → 3 → {4, 5} → 6: four paths, of which one is new.
    let graph = Graph::starting_in(0)
        .path(&[0, 1, 3, 4, 6])
        .path(&[0, 2, 3, 5, 6])
        .edge(6, 6)
        .transient(1)
        .transient(2)
        .transient(3)
        .transient(4)
        .transient(5);
    check(graph, ALL, Expected { stored: 2, matched: 3 + 1, errors: 0 });
}

#[test]
fn a_transient_state_without_steps_is_no_invalid_end() {
    let graph = Graph::starting_in(0).path(&[0, 1, 2]).edge(0, 0).transient(1).transient(2);
    check(graph, ALL, Expected { stored: 1, matched: 1, errors: 0 });
}

#[test]
fn a_cycle_of_transient_states_is_gone_through_once() {
    let graph = Graph::starting_in(0).path(&[0, 1, 2, 3, 1]).edge(2, 4).edge(4, 0);
    let graph = graph.transient(1).transient(2).transient(3);
    check(graph, ALL, Expected { stored: 2, matched: 1, errors: 0 });
    // Both nodes lead to each other, to themselves and out. Paths: 1, 1-2, 2, 2-1, each with an exit.
    let knot = Graph::starting_in(0).path(&[0, 1, 1, 2, 2, 1, 0]).edge(0, 2).edge(2, 0);
    check(knot.transient(1).transient(2), ALL, Expected { stored: 1, matched: 4, errors: 0 });
}

#[test]
fn a_transient_state_may_come_again_after_a_stable_one() {
    // 0 → 1 → 2 → 1 and on to 3, with 1 transient: the second time, 1 is not a repetition.
    let graph = Graph::starting_in(0).path(&[0, 1, 2, 1, 3, 3]).transient(1);
    check(graph, ALL, Expected { stored: 3, matched: 3, errors: 0 });
}

#[test]
fn a_long_chain_of_transient_states_is_no_cycle() {
    let length = 100_000;
    let nodes: Vec<usize> = (0..=length).chain([0]).collect();
    let graph = (1..length).fold(Graph::starting_in(0).path(&nodes), Graph::transient);
    let outcome = dfs(&graph, ALL);
    assert_eq!(
        outcome.stats,
        Stats { stored: 2, matched: 1, loops: Some(1), depth: length as u64, ..Stats::default() }
    );
    assert_eq!(bfs(&graph, ALL).stats, Stats { depth: 1, loops: None, ..outcome.stats });
}

#[test]
fn steps_back_into_the_path_are_told_from_revisits() {
    // 0 → 1 → 2 → 0 and 2 → 2 are loops; 0 → 2 comes when 2 has been left.
    let graph = Graph::starting_in(0).path(&[0, 1, 2, 0]).edge(2, 2).edge(0, 2);
    let stats = dfs(&graph, ALL).stats;
    assert_eq!((stats.loops, stats.revisits()), (Some(2), Some(1)));
    assert_eq!(bfs(&graph, ALL).stats.revisits(), None);
}

#[test]
fn a_failed_step_counts_each_failure_and_goes_on() {
    let graph = Graph::starting_in(0).failing(0, 1, FaultKind::Assertion, 3).edge(1, 0);
    check(graph.clone(), ALL, Expected { stored: 2, matched: 1, errors: 3 });
    check(graph, Checks { assertions: false, ..ALL }, Expected { stored: 2, matched: 1, errors: 0 });
}

#[test]
fn a_broken_step_counts_each_failure_and_leads_nowhere() {
    let graph = Graph::starting_in(0).broken(0, FaultKind::Index, 2).edge(0, 0);
    check(graph.clone(), ALL, Expected { stored: 1, matched: 1, errors: 2 });
    check(graph, Checks { assertions: false, ..ALL }, Expected { stored: 1, matched: 1, errors: 0 });
}

#[test]
fn a_state_whose_only_step_breaks_is_no_end() {
    let graph = Graph::starting_in(0).broken(0, FaultKind::Index, 1);
    check(graph, Checks { assertions: false, ..ALL }, Expected { stored: 1, matched: 0, errors: 0 });
}

#[test]
fn faults_that_are_not_assertions_always_count() {
    let kinds = [FaultKind::DivisionByZero, FaultKind::NoChannel, FaultKind::TooManyProcesses, FaultKind::Blocked];
    for kind in kinds {
        let graph = Graph::starting_in(0).broken(0, kind, 1).failing(0, 0, kind, 1);
        check(graph, Checks { assertions: false, ..ALL }, Expected { stored: 1, matched: 1, errors: 2 });
    }
}

#[test]
fn what_is_beyond_the_tool_is_no_error_of_the_model() {
    for kind in [FaultKind::StateSize, FaultKind::TooLong] {
        let graph = Graph::starting_in(0).broken(0, kind, 1);
        for outcome in [bfs(&graph, ALL), dfs(&graph, ALL)] {
            assert_eq!((outcome.errors, outcome.ignored_fault.map(|fault| fault.kind)), (0, Some(kind)));
        }
    }
}

#[test]
fn faults_on_the_way_through_transient_states_count_once_per_path() {
    let graph = Graph::starting_in(0)
        .path(&[0, 1, 2])
        .edge(0, 2)
        .failing(2, 3, FaultKind::Assertion, 1)
        .edge(3, 0)
        .transient(1)
        .transient(2);
    check(graph, ALL, Expected { stored: 2, matched: 2, errors: 2 });
}

#[test]
fn the_first_error_ends_the_search_with_the_way_to_it() {
    // The invalid end state at 3 is nearer; depth-first search finds the fault at 2 first.
    let graph = Graph::starting_in(0)
        .path(&[0, 1, 2])
        .failing(2, 0, FaultKind::Assertion, 4)
        .edge(0, 4)
        .edge(4, 3)
        .transient(4);
    let first = Checks::default();
    agree(&graph, first);
    let near = bfs(&graph, first);
    let counterexample = near.counterexample.expect("a way to the end");
    assert_eq!((near.end, near.errors), (End::Error, 1));
    assert_eq!(counterexample.error, ErrorKind::InvalidEnd);
    assert_eq!(counterexample.steps, [Edge(1), Edge(0)]);

    let deep = dfs(&graph, first);
    let counterexample = deep.counterexample.expect("a way to the fault");
    assert_eq!((deep.end, deep.errors), (End::Error, 4));
    let fault = Fault { kind: FaultKind::Assertion, place: 2, times: 4 };
    assert_eq!(counterexample.error, ErrorKind::Fault(fault));
    assert_eq!(counterexample.steps, [Edge(0), Edge(0), Edge(0)]);
}

#[test]
fn a_counterexample_starts_in_the_initial_state_it_belongs_to() {
    let graph = Graph::starting_in(0).initial(1).edge(0, 0).edge(1, 2);
    for outcome in [bfs(&graph, ALL), dfs(&graph, ALL)] {
        let counterexample = outcome.counterexample.expect("a way to 2");
        assert_eq!(counterexample.start, state_of(1));
        assert_eq!(counterexample.steps, [Edge(0)]);
    }
}

#[test]
fn depth_first_visits_a_child_before_the_next_sibling() {
    let graph = Graph::starting_in(0).edge(0, 1).edge(0, 2).edge(1, 3).edge(1, 2).edge(3, 1).edge(2, 0);
    let mut store = RecordingStore::default();
    depth_first(&graph, &mut store, &ALL, &Limits::default(), &mut ());
    let visits: Vec<(usize, Visit)> =
        store.visits().iter().map(|(state, visit)| (node_of(state), *visit)).collect();
    let (new, seen) = (Visit::New, Visit::Seen);
    assert_eq!(visits, [(0, new), (1, new), (3, new), (1, seen), (2, new), (0, seen), (2, seen)]);
}

#[test]
fn depth_first_depth_is_in_steps_and_breadth_first_depth_in_stable_states() {
    // Depth first: 0 1 2 3 4. Breadth first, 4 is two away, by way of 3.
    let graph = Graph::starting_in(0).path(&[0, 1, 2, 3, 4, 0]).edge(0, 3).transient(2);
    assert_eq!(dfs(&graph, ALL).stats.depth, 4);
    assert_eq!(bfs(&graph, ALL).stats.depth, 2);
    // Matched states are not entered, and do not count for the depth.
    assert_eq!(dfs(&Graph::starting_in(0).edge(0, 0), ALL).stats.depth, 0);
}

#[test]
fn the_observer_is_told_of_every_step_and_now_and_then_of_progress() {
    #[derive(Default)]
    struct Counter(u64, u64);
    impl Observer<Edge> for Counter {
        fn stepped(&mut self, _: Edge) {
            self.0 += 1;
        }
        fn progress(&mut self, progress: entail_model::Progress) {
            assert!(progress.stored > 0 && progress.depth > 0);
            self.1 += 1;
        }
    }
    let size = 400_000;
    let nodes: Vec<usize> = (0..size).chain([0]).collect();
    let graph = (1..size).step_by(2).fold(Graph::starting_in(0).path(&nodes), Graph::transient);
    let mut counter = Counter::default();
    let dynamic: &mut dyn Observer<Edge> = &mut counter;
    depth_first(&graph, &mut RecordingStore::default(), &ALL, &Limits::default(), dynamic);
    assert_eq!(counter.0, size as u64, "transient steps too");
    assert!((2..=5).contains(&counter.1), "told {} times", counter.1);
}
