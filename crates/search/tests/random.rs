//! Thousands of random graphs, compared with a naive search.

mod common;

use common::{ALL, agree, dfs};
use entail_search::{Checks, Errors};
use entail_testkit::graph::Graph;
use entail_testkit::naive;
use entail_testkit::rng::Rng;
use proptest::prelude::*;

fn random_checks(rng: &mut Rng) -> Checks {
    Checks {
        faults: true,
        assertions: rng.chance(0.7),
        end_states: rng.chance(0.7),
        errors: *rng.pick(&[Errors::First, Errors::All]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn every_search_finds_what_the_naive_one_finds(seed: u64) {
        let mut rng = Rng::new(seed);
        let graph = Graph::random(&mut rng);
        agree(&graph, random_checks(&mut rng));
    }
}

#[test]
fn loops_are_what_a_naive_search_counts() {
    let graphs = (0..3000).map(|seed| Graph::random(&mut Rng::new(seed)));
    let counts: Vec<u64> = graphs
        .map(|graph| {
            let expected = naive::loops(&graph);
            assert_eq!(dfs(&graph, ALL).stats.loops, Some(expected), "{graph:?}");
            expected
        })
        .collect();
    assert!(counts.iter().filter(|count| **count > 3).count() > 100);
}

/// A feature that the generator never produces is not tested.
#[test]
fn random_graphs_have_a_bit_of_everything() {
    let checks = naive::Checks { assertions: true, end_states: true };
    let found: Vec<_> = (0..1000).map(|seed| naive::explore(&Graph::random(&mut Rng::new(seed)), checks)).collect();
    let share = |what: fn(&naive::Summary) -> bool| found.iter().filter(|summary| what(summary)).count();
    assert!(share(|summary| summary.errors == 0) > 50);
    assert!(share(|summary| summary.errors > 3) > 50);
    assert!(share(|summary| summary.nearest_error.is_some_and(|level| level > 2)) > 20);
    assert!(share(|summary| summary.stored > 15) > 50);
    assert!(share(|summary| summary.matched > summary.stored) > 50);
    assert!(share(|summary| summary.depth > 5) > 50);
}
