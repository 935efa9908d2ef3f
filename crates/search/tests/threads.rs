//! A search by several workers has the same result as one by one, whatever the order in which threads run.

mod common;

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::disorder::{Disorder, Fewer};
use common::{ALL, prove};
use entail_disk::{Reader, Scratch, Writer};
use entail_model::{Fired, Marks, Model, Observer, Reduced, State, StateBuf, Store};
use entail_search::{
    Checkpointer, Checks, End, Errors, Limit, Limits, Outcome, Threads, breadth_first, resume_breadth_first,
};
use entail_store::{
    BitstateSet, CollapseSet, CompactSet, Degradation, DfaSet, ExactPairSet, ExactWordSet, LossySet, PlainSet,
    Share, StateSet, VisitedSet,
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
        for worthwhile in [1, 40, 300] {
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
    for seed in 0..3 {
        let model = Disorder { nodes: 2_000, words: 1 + seed as usize % 3, seed };
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

/// A model whose steps take random times, so that threads run in random orders.
struct Delayed<'m> {
    model: &'m Disorder,
    /// The state of a random number generator.
    random: AtomicU64,
}

impl Model for Delayed<'_> {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        let random = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        if (random ^ random >> 29).is_multiple_of(200) {
            std::thread::sleep(Duration::from_micros(random % 300));
        }
        self.model.enabled(state, steps);
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        self.model.fire(step, state)
    }

    fn is_transient(&self, state: &State) -> bool {
        self.model.is_transient(state)
    }

    fn marks(&self, state: &State) -> Marks {
        self.model.marks(state)
    }
}

#[test]
fn delays_change_nothing() {
    for seed in 0..3 {
        let model = Disorder { nodes: 4_000, words: 1 + seed as usize, seed };
        let delayed = Delayed { model: &model, random: AtomicU64::new(seed) };
        let threads = Threads { count: 3, worthwhile: 100 };
        let set = || VisitedSet::new(ExactWordSet::new(40), None);
        for checks in [ALL, FIRST] {
            let expected = search(&model, set(), &checks, threads);
            for _ in 0..10 {
                let found = search(&delayed, set(), &checks, threads);
                assert_eq!(Outcome { bytes: expected.bytes, ..found }, expected, "seed {seed}");
            }
        }
    }
}

/// Takes a snapshot at every opportunity, and interrupts the search after some of them.
#[derive(Default)]
struct Album {
    kept: RefCell<Vec<Vec<u8>>>,
    stop: AtomicBool,
}

impl Checkpointer for Album {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, save: &dyn Fn(&mut Writer) -> io::Result<()>) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        save(&mut writer).unwrap();
        writer.finish().unwrap();
        self.kept.borrow_mut().push(bytes);
        self.stop.store(self.kept.borrow().len() >= 3, Ordering::Relaxed);
    }
}

#[test]
fn a_search_is_resumed_with_another_number_of_threads() {
    let mut cuts = 0;
    for (seed, words) in [(0, 1), (1, 2), (2, 4)] {
        let model = Disorder { nodes: 8_000, words, seed };
        let set = || VisitedSet::new(ExactPairSet::new(), None);
        let expected = search(&model, set(), &ALL, Threads::default());
        let mut last: Option<Vec<u8>> = None;
        for count in [2, 1, 4, 3].into_iter().cycle() {
            let album = Album::default();
            let threads = Threads { count, worthwhile: 40 };
            let limits = Limits { threads, stop: Some(&album.stop), keeper: Some(&album), ..Limits::default() };
            let mut store = set();
            let outcome = match &last {
                None => breadth_first(&model, &mut store, &ALL, &limits, &mut ()),
                Some(bytes) => {
                    let from = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
                    resume_breadth_first(&model, &mut store, &ALL, &limits, &mut (), from).unwrap()
                }
            };
            if outcome.end != End::Limit(Limit::Interrupted) {
                assert_eq!(
                    (outcome.end, outcome.stats, outcome.errors),
                    (expected.end, expected.stats, expected.errors)
                );
                let length = |outcome: &Outcome<u32>| prove(&model, outcome.counterexample.as_ref().unwrap());
                assert_eq!(length(&outcome), length(&expected));
                break;
            }
            cuts += 1;
            last = album.kept.take().pop();
        }
    }
    assert!(cuts > 10, "{cuts}");
}

/// With the same number of threads, a resumed search finds what it would have found, to the last count.
#[test]
fn a_resumed_search_goes_on_as_before() {
    let mut cuts = 0;
    for (seed, words) in [(0, 1), (1, 2), (2, 4)] {
        let model = Disorder { nodes: 8_000, words, seed };
        let model = Reduced { model: &model, reduction: Some(&Fewer) };
        let threads = Threads { count: 3, worthwhile: 40 };
        let set = || VisitedSet::new(ExactPairSet::new(), None);
        let expected = search(&model, set(), &ALL, threads);
        let mut last: Option<Vec<u8>> = None;
        loop {
            let album = Album::default();
            let limits = Limits { threads, stop: Some(&album.stop), keeper: Some(&album), ..Limits::default() };
            let mut store = set();
            let outcome = match &last {
                None => breadth_first(&model, &mut store, &ALL, &limits, &mut ()),
                Some(bytes) => {
                    let from = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
                    resume_breadth_first(&model, &mut store, &ALL, &limits, &mut (), from).unwrap()
                }
            };
            if outcome.end != End::Limit(Limit::Interrupted) {
                assert_eq!(Outcome { bytes: expected.bytes, ..outcome }, expected, "seed {seed}");
                break;
            }
            cuts += 1;
            last = album.kept.take().pop();
        }
    }
    assert!(cuts > 5, "{cuts}");
}

#[test]
fn limits_end_a_search_by_several_threads() {
    let model = Disorder { nodes: 60_000, words: 2, seed: 5 };
    let threads = Threads { count: 3, worthwhile: 100 };
    let end = |limits: Limits| {
        let mut store = VisitedSet::new(ExactWordSet::new(40), None);
        breadth_first(&model, &mut store, &ALL, &Limits { threads, ..limits }, &mut ()).end
    };
    assert_eq!(end(Limits::default()), End::Complete);
    assert_eq!(end(Limits { depth: Some(9), ..Limits::default() }), End::Limit(Limit::Depth));
    assert_eq!(end(Limits { memory: Some(200_000), ..Limits::default() }), End::Limit(Limit::Memory));
    /// Interrupts the search after some steps.
    struct Stopper<'a>(&'a AtomicBool, u32);
    impl Observer<u32> for Stopper<'_> {
        fn stepped(&mut self, _: u32) {
            self.1 += 1;
            self.0.store(self.1 > 3_000, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    let limits = Limits { threads, stop: Some(&stop), ..Limits::default() };
    let mut store = VisitedSet::new(ExactWordSet::new(40), None);
    let outcome = breadth_first(&model, &mut store, &ALL, &limits, &mut Stopper(&stop, 0));
    let is_over = outcome.end == End::Limit(Limit::Interrupted);
    assert!(is_over || outcome.end == End::Complete, "{:?}", outcome.end);
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(end(limits), End::Limit(Limit::Time));
}

/// With little memory, states degrade while several threads search.
#[test]
fn memory_degrades_under_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mut degraded = 0;
    for (seed, words) in [(1, 1), (2, 2)] {
        let model = Disorder { nodes: 60_000, words, seed };
        let whole = search(&model, VisitedSet::new(ExactWordSet::new(40), None), &ALL, Threads::default());
        for memory in [300_000, 500_000, 900_000] {
            let scratch = Scratch::new(folder.path());
            let degradation = Degradation::new(scratch.clone(), Share::Most).tree_first(40);
            let mut store = VisitedSet::new(ExactWordSet::new(40), None).with_degradation(degradation);
            let threads = Threads { count: 3, worthwhile: 200 };
            let limits = Limits { threads, memory: Some(memory), scratch: Some(&scratch), ..Limits::default() };
            let outcome = breadth_first(&model, &mut store, &ALL, &limits, &mut ());
            if store.levels().is_empty() && outcome.end == End::Complete {
                assert_eq!((outcome.stats, outcome.errors), (whole.stats, whole.errors));
            }
            assert!(outcome.stats.stored <= whole.stats.stored);
            degraded += usize::from(!store.levels().is_empty());
        }
    }
    assert!(degraded > 1, "{degraded}");
}
