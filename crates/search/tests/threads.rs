//! A search by several workers has the same result as one by one, whatever the order in which threads run.

mod common;

use common::disorder::{Disorder, Fewer};
use common::{ALL, prove};
use entail_model::{Model, Reduced, Store};
use entail_search::{Checks, End, Errors, Limits, Outcome, Threads, breadth_first};
use entail_store::{
    BitstateSet, CollapseSet, CompactSet, DfaSet, ExactPairSet, ExactWordSet, LossySet, PlainSet, VisitedSet,
};
use entail_testkit::graph::Graph;
use entail_testkit::recording_store::RecordingStore;
use entail_testkit::rng::Rng;

fn search<M: Model, S: Store>(model: &M, mut store: S, checks: &Checks, threads: Threads) -> Outcome<M::Step> {
    let limits = Limits { threads, ..Limits::default() };
    breadth_first(model, &mut store, checks, &limits, &mut ())
}

/// Compares with one thread, and with a repetition.
fn same<M: Model, S: Store>(model: &M, store: impl Fn() -> S, checks: &Checks, is_reduced: bool) {
    let one = search(model, store(), checks, Threads::default());
    for count in [2, 3, 8] {
        for worthwhile in [1, 40, 700] {
            let threads = Threads { count, worthwhile };
            let found = search(model, store(), checks, threads);
            let told = format!("{threads:?}");
            assert_eq!(found.end, one.end, "{told}");
            let length = |outcome: &Outcome<M::Step>| outcome.counterexample.as_ref().map(|run| prove(model, run));
            assert_eq!(found.errors > 0, one.errors > 0, "{told}");
            if !is_reduced {
                assert_eq!(length(&found), length(&one), "{told}");
            }
            if found.end == End::Complete && !is_reduced {
                assert_eq!((found.stats, found.errors), (one.stats, one.errors), "{told}");
            }
            let again = search(model, store(), checks, threads);
            assert_eq!(Outcome { bytes: found.bytes, ..again }, found, "{told}");
        }
    }
}

const FIRST: Checks = Checks { errors: Errors::First, assertions: false, end_states: false, ..ALL };

#[test]
fn the_number_of_threads_does_not_matter() {
    for seed in 0..6 {
        let model = Disorder { nodes: 6_000, words: 1 + seed as usize % 3, seed };
        let reduced = Reduced { model: &model, reduction: Some(&Fewer) };
        for checks in [ALL, FIRST, Checks { end_states: true, ..FIRST }] {
            same(&model, RecordingStore::default, &checks, false);
            same(&model, || VisitedSet::new(ExactWordSet::new(40), None), &checks, false);
            same(&model, || VisitedSet::new(ExactPairSet::new(), None), &checks, false);
            same(&model, || VisitedSet::tree(ExactPairSet::new(), 100), &checks, false);
            same(&reduced, || VisitedSet::new(ExactWordSet::new(40), None), &checks, true);
        }
        same(&model, PlainSet::default, &ALL, false);
        let parts = |state: &[u8], parts: &mut Vec<_>| model.parts(state, parts);
        same(&model, || CollapseSet::new(parts), &ALL, false);
        same(&model, || DfaSet::new(ExactWordSet::new(40)), &ALL, false);
    }
}

/// Lossy stores omit the same states in every run.
#[test]
fn lossy_stores_are_as_reproducible() {
    let model = Disorder { nodes: 6_000, words: 1, seed: 3 };
    let compact = || VisitedSet::new(ExactWordSet::new(40), Some(LossySet::Compact(CompactSet::new(16))));
    let bitstate = || {
        let array = LossySet::Bitstate(BitstateSet::new(1 << 13, 2).unwrap());
        VisitedSet::new(ExactWordSet::new(40), Some(array))
    };
    let threads = Threads { count: 3, worthwhile: 40 };
    for _ in 0..3 {
        assert_eq!(search(&model, compact(), &ALL, threads), search(&model, compact(), &ALL, threads));
        assert_eq!(search(&model, bitstate(), &ALL, threads), search(&model, bitstate(), &ALL, threads));
    }
}

#[test]
fn small_graphs_are_searched_alike() {
    for seed in 0..300 {
        let graph = Graph::random(&mut Rng::new(seed));
        let one = search(&graph, RecordingStore::default(), &ALL, Threads::default());
        for count in [2, 5] {
            let found = search(&graph, RecordingStore::default(), &ALL, Threads { count, worthwhile: 1 });
            assert_eq!((found.end, found.stats, found.errors), (one.end, one.stats, one.errors), "seed {seed}");
        }
    }
}
