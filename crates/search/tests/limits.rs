//! A search that stops early reports it, and deep models are no reason to stop.

mod common;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use common::{ALL, agree, bfs, dfs, prove};
use entail_model::{Fired, Marks, Model, State, StateBuf};
use entail_search::{Checks, End, Limit, Limits, Outcome, breadth_first, depth_first};
use entail_store::ExactWordSet;
use entail_testkit::graph::{Edge, Graph};
use entail_testkit::recording_store::RecordingStore;
use entail_testkit::rng::Rng;

fn both<M: Model>(model: &M, limits: Limits) -> [Outcome<M::Step>; 2] {
    [
        breadth_first(model, &mut RecordingStore::default(), &ALL, &limits, &mut ()),
        depth_first(model, &mut RecordingStore::default(), &ALL, &limits, &mut ()),
    ]
}

#[test]
fn states_at_the_depth_limit_are_stored_but_not_expanded() {
    let line = Graph::starting_in(0).path(&[0, 1, 2, 3, 4]);
    for depth in 0..=4 {
        for outcome in both(&line, Limits { depth: Some(depth), ..Limits::default() }) {
            assert_eq!(outcome.end, End::Limit(Limit::Depth));
            assert_eq!((outcome.stats.stored, outcome.stats.depth), (depth + 1, depth));
            assert_eq!(outcome.errors, 0, "whether 4 is an end is not known");
        }
    }
    for outcome in both(&line, Limits { depth: Some(5), ..Limits::default() }) {
        assert_eq!((outcome.end, outcome.errors), (End::Complete, 1));
    }
}

#[test]
fn depth_first_search_is_cut_inside_transient_states_too() {
    let line = Graph::starting_in(0).path(&[0, 1, 2, 3, 3]).transient(1).transient(2);
    let limits = Limits { depth: Some(2), ..Limits::default() };
    let outcome = depth_first(&line, &mut RecordingStore::default(), &ALL, &limits, &mut ());
    assert_eq!((outcome.end, outcome.stats.stored), (End::Limit(Limit::Depth), 1));
    let outcome = breadth_first(&line, &mut RecordingStore::default(), &ALL, &limits, &mut ());
    assert_eq!((outcome.end, outcome.stats.stored), (End::Complete, 2));
}

#[test]
fn a_limit_never_gives_more_and_never_a_false_verdict() {
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let graph = Graph::random(&mut rng);
        let limits = Limits { depth: Some(rng.below(12) as u64), ..Limits::default() };
        let [mut wide, mut deep] = [rng.below(100); 2].map(RecordingStore::with_room_for);
        let whole = bfs(&graph, ALL);
        for outcome in [
            breadth_first(&graph, &mut wide, &ALL, &limits, &mut ()),
            depth_first(&graph, &mut deep, &ALL, &limits, &mut ()),
        ] {
            match outcome.end {
                End::Complete => {
                    assert_eq!((outcome.stats.stored, outcome.errors), (whole.stats.stored, whole.errors))
                }
                End::Limit(Limit::Depth | Limit::Memory) => {
                    assert!(outcome.stats.stored <= whole.stats.stored && outcome.errors <= whole.errors)
                }
                End::Limit(Limit::Time | Limit::Interrupted) | End::Error => unreachable!("nobody asked for it"),
            }
            if let Some(counterexample) = outcome.counterexample {
                prove(&graph, &counterexample);
            }
        }
    }
}

#[test]
fn a_full_store_ends_the_search() {
    let limits = Limits { memory: Some(10_000_000), ..Limits::default() };
    for outcome in both(&Counter { length: 1_000_000 }, limits) {
        assert_eq!(outcome.end, End::Limit(Limit::Memory));
        assert!((10_000..110_000).contains(&outcome.stats.stored), "{:?}", outcome.stats);
    }
    for outcome in [
        breadth_first(
            &Counter { length: 1 },
            &mut RecordingStore::with_room_for(0),
            &ALL,
            &Limits::default(),
            &mut (),
        ),
        depth_first(
            &Counter { length: 1 },
            &mut RecordingStore::with_room_for(0),
            &ALL,
            &Limits::default(),
            &mut (),
        ),
    ] {
        assert_eq!((outcome.end, outcome.stats.stored), (End::Limit(Limit::Memory), 0));
    }
}

#[test]
fn time_ends_the_search() {
    for time in [Duration::ZERO, Duration::from_millis(20)] {
        for outcome in both(&Counter { length: u64::MAX }, Limits { time: Some(time), ..Limits::default() }) {
            assert_eq!(outcome.end, End::Limit(Limit::Time));
        }
    }
}

#[test]
fn an_interruption_ends_the_search() {
    let stop = AtomicBool::new(true);
    for outcome in both(&Counter { length: 10 }, Limits { stop: Some(&stop), ..Limits::default() }) {
        assert_eq!((outcome.end, outcome.stats.stored), (End::Limit(Limit::Interrupted), 1));
    }
}

#[test]
fn an_interruption_ends_even_the_walk_through_transient_states() {
    // 2^60 paths between two stable states.
    let mut graph = Graph::starting_in(0);
    for node in (1..180).step_by(3) {
        graph = graph.path(&[node - 1, node, node + 2]).path(&[node - 1, node + 1, node + 2]);
    }
    let graph = (1..180).fold(graph, Graph::transient);
    let time = Some(Duration::from_millis(20));
    for outcome in both(&graph, Limits { time, ..Limits::default() }) {
        assert_eq!(outcome.end, End::Limit(Limit::Time));
    }
}

#[test]
fn a_million_states_in_a_line_are_no_problem() {
    let nodes: Vec<usize> = (0..1_000_000).collect();
    let line = Graph::starting_in(0).path(&nodes);
    for outcome in [bfs(&line, Checks::default()), dfs(&line, Checks::default())] {
        assert_eq!((outcome.end, outcome.errors), (End::Error, 1));
        assert_eq!((outcome.stats.stored, outcome.stats.depth), (1_000_000, 999_999));
        let counterexample = outcome.counterexample.expect("the end of the line");
        assert_eq!(counterexample.steps, vec![Edge(0); 999_999]);
    }
    agree(&Graph::starting_in(0).path(&nodes[..1000]), Checks::default());
}

#[test]
fn ten_million_states_on_the_stack_are_no_problem() {
    let (model, mut store) = (Counter { length: 10_000_000 }, ExactWordSet::new(40));
    let outcome = depth_first(&model, &mut store, &Checks::default(), &Limits::default(), &mut ());
    assert_eq!((outcome.end, outcome.stats.depth), (End::Complete, 10_000_000));
}

/// Counts up to `length`, with a step back to 0 from every number.
struct Counter {
    length: u64,
}

impl Model for Counter {
    type Step = bool;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&0u64.to_le_bytes());
    }

    fn enabled(&self, state: &State, steps: &mut Vec<bool>) {
        steps.extend((number(state) < self.length).then_some(true));
        steps.push(false);
    }

    fn fire(&self, up: bool, state: &mut StateBuf) -> Fired {
        let next = if up { number(state) + 1 } else { 0 };
        state.copy_from_slice(&next.to_le_bytes());
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

fn number(state: &State) -> u64 {
    u64::from_le_bytes(state.try_into().expect("eight bytes"))
}
