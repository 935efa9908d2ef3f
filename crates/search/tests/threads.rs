//! A search by several workers has the same result as one by one, whatever the order in which threads run.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::album::Album;
use common::disorder::{Disorder, Fewer};
use common::{ALL, prove};
use entail_disk::{Reader, Scratch};
use entail_model::{Fired, Marks, Model, Reduced, Reduction, State, StateBuf, Store};
use entail_search::{
    Checks, End, Errors, Limit, Limits, Outcome, Phase, Threads, Timing, breadth_first, resume_breadth_first,
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

fn workers(count: usize, worthwhile: u64) -> Threads {
    Threads { count, worthwhile, ..Threads::default() }
}

/// Compares with one thread, and with a repetition.
fn same<M: Model, S: Store>(model: &M, store: impl Fn() -> S, checks: &Checks, is_reduced: bool) {
    let one = search(model, store(), checks, Threads::default());
    for count in [2, 3, 8] {
        for worthwhile in [1, 40, 300] {
            let threads = workers(count, worthwhile);
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
    let threads = workers(3, 40);
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
            let found = search(&graph, RecordingStore::default(), &ALL, workers(count, 1));
            assert_eq!((found.end, found.stats, found.errors), (one.end, one.stats, one.errors), "seed {seed}");
        }
    }
}

/// The same model without a fast path, disturbed whenever a state is expanded.
struct Disturbed<'m, F> {
    model: &'m Disorder,
    disturb: F,
}

impl<F: Fn() + Sync> Model for Disturbed<'_, F> {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        (self.disturb)();
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

impl<F: Fn() + Sync> Reduction<Disturbed<'_, F>> for Fewer {
    type Scratch = Vec<bool>;

    fn needs_proviso(&self) -> bool {
        Reduction::<Disorder>::needs_proviso(self)
    }

    fn select<'d>(
        &self,
        model: &Disturbed<'_, F>,
        state: &State,
        steps: &[u32],
        answer: u32,
        scratch: &'d mut Vec<bool>,
    ) -> Option<&'d [bool]> {
        self.select(model.model, state, steps, answer, scratch)
    }
}

#[test]
fn delays_change_nothing() {
    let random = AtomicU64::new(0);
    let sleep = || {
        let random = random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        if (random ^ random >> 29).is_multiple_of(200) {
            std::thread::sleep(Duration::from_micros(random % 300));
        }
    };
    for seed in 0..3 {
        let model = Disorder { nodes: 4_000, words: 1 + seed as usize, seed };
        let delayed = Disturbed { model: &model, disturb: sleep };
        let threads = workers(3, 100);
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

/// Past bug: rounds ended where the room for keys did, which the fast path does not take.
#[test]
fn a_reduced_search_does_not_depend_on_the_fast_path() {
    for seed in 0..4 {
        let model = Disorder { nodes: 8_000, words: 1, seed };
        let slow = Disturbed { model: &model, disturb: || () };
        let fast = Reduced { model: &model, reduction: Some(&Fewer) };
        let slow = Reduced { model: &slow, reduction: Some(&Fewer) };
        let threads = workers(3, 40);
        let set = || VisitedSet::new(ExactWordSet::new(40), None);
        let expected = search(&fast, set(), &ALL, threads);
        let found = search(&slow, set(), &ALL, threads);
        assert_eq!(Outcome { bytes: expected.bytes, ..found }, expected, "seed {seed}");
    }
}

/// No machine has memory for such a stack, so that threads cannot be started.
const IMPOSSIBLE: usize = 1 << 60;

#[test]
fn without_further_threads_one_finds_the_same() {
    let model = Disorder { nodes: 8_000, words: 2, seed: 1 };
    let set = || VisitedSet::new(ExactPairSet::new(), None);
    let one = search(&model, set(), &ALL, Threads::default());
    let found = search(&model, set(), &ALL, Threads { stack: IMPOSSIBLE, ..workers(3, 40) });
    assert!(found.no_threads.is_some());
    assert_eq!(Outcome { no_threads: None, bytes: one.bytes, ..found }, one);
    // Several workers of a snapshot.
    let album = Album::new(1, 6);
    let limits =
        Limits { threads: workers(3, 40), stop: Some(&album.stop), keeper: Some(&album), ..Limits::default() };
    let begun = breadth_first(&model, &mut set(), &ALL, &limits, &mut ());
    assert_eq!((begun.end, begun.workers), (End::Limit(Limit::Interrupted), 3));
    let bytes = album.kept.take().pop().expect("a snapshot");
    for (threads, is_refused) in
        [(Threads { stack: IMPOSSIBLE, ..workers(3, 40) }, true), (Threads::default(), false)]
    {
        let limits = Limits { threads, ..Limits::default() };
        let from = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
        let found = resume_breadth_first(&model, &mut set(), &ALL, &limits, &mut (), from).unwrap();
        assert_eq!((found.workers, found.no_threads.is_some()), (1, is_refused));
        assert_eq!((found.end, found.stats, found.errors), (one.end, one.stats, one.errors));
    }
}

/// Runs a search that must not hang.
fn in_time<R: Send + 'static>(search: impl FnOnce() -> R + Send + 'static) -> std::thread::Result<R> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(catch_unwind(AssertUnwindSafe(search))));
    told.recv_timeout(Duration::from_secs(60)).expect("the search hangs")
}

/// The search waits in one place only: for the end of a phase.
#[test]
fn no_wait_lasts_when_something_happens_to_one_of_several_threads() {
    fn end(
        disturb: impl Fn() + Sync + Send + 'static,
        checks: Checks,
        limits: fn() -> Limits<'static>,
    ) -> Option<End> {
        let ended = in_time(move || {
            let model = Disorder { nodes: 60_000, words: 2, seed: 7 };
            let model = Disturbed { model: &model, disturb };
            let mut store = VisitedSet::new(ExactWordSet::new(40), None);
            let limits = Limits { threads: workers(3, 100), ..limits() };
            let outcome = breadth_first(&model, &mut store, &checks, &limits, &mut ());
            assert_eq!(outcome.workers, 3);
            outcome.end
        });
        ended.ok()
    }
    let once = |number: u64, act: fn()| {
        let count = AtomicU64::new(0);
        move || {
            if count.fetch_add(1, Ordering::Relaxed) == number {
                act();
            }
        }
    };
    let slow = || std::thread::sleep(Duration::from_micros(200));
    for number in [5_000, 20_000] {
        assert_eq!(end(once(number, || panic!("a defect")), ALL, Limits::default), None);
        // All others wait for it.
        assert_eq!(end(once(number, || std::thread::sleep(LONG)), ALL, Limits::default), Some(End::Complete));
    }
    assert_eq!(end(slow, Checks { errors: Errors::First, ..ALL }, Limits::default), Some(End::Error));
    assert_eq!(
        end(|| (), ALL, || Limits { memory: Some(200_000), ..Limits::default() }),
        Some(End::Limit(Limit::Memory))
    );
    static STOP: AtomicBool = AtomicBool::new(false);
    let stop = once(20_000, || STOP.store(true, Ordering::Relaxed));
    let limits = || Limits { stop: Some(&STOP), ..Limits::default() };
    assert_eq!(end(stop, ALL, limits), Some(End::Limit(Limit::Interrupted)));
    let limits = || Limits { time: Some(LONG), ..Limits::default() };
    assert_eq!(end(slow, ALL, limits), Some(End::Limit(Limit::Time)));
}

const LONG: Duration = Duration::from_millis(300);

#[test]
fn measured_phases_change_nothing() {
    let model = Disorder { nodes: 20_000, words: 1, seed: 2 };
    let set = || VisitedSet::new(ExactWordSet::new(40), None);
    let expected = search(&model, set(), &ALL, workers(3, 40));
    assert_eq!((expected.workers, &expected.phases), (3, &None));
    for (timing, threads) in [(Timing::Together, 3), (Timing::InTurn, 1)] {
        let found = search(&model, set(), &ALL, Threads { timing: Some(timing), ..workers(3, 40) });
        assert_eq!(found.workers, threads);
        let phases = found.phases.clone().expect("they were measured");
        for (phase, time) in phases.all() {
            assert!(time.longest <= time.work, "{phase:?}: {time:?}");
            assert!(timing == Timing::Together || time.work <= time.elapsed, "{phase:?}: {time:?}");
            let is_rare = [Phase::MakingRoom, Phase::LookupByOne].contains(&phase);
            assert!(time.count > 0 || is_rare, "{phase:?}");
        }
        assert_eq!(Outcome { phases: None, workers: 3, bytes: expected.bytes, ..found }, expected, "{timing:?}");
    }
}

/// Searches with interruptions, and resumes with the next of these numbers of threads each time. Returns also the number of
/// interruptions.
fn resumed<M: Model<Step = u32>>(model: &M, counts: &[usize]) -> (Outcome<u32>, usize) {
    let mut last: Option<Vec<u8>> = None;
    for (cuts, &count) in counts.iter().cycle().enumerate() {
        let album = Album::new(1, 3);
        let threads = workers(count, 40);
        let limits = Limits { threads, stop: Some(&album.stop), keeper: Some(&album), ..Limits::default() };
        let mut store = VisitedSet::new(ExactPairSet::new(), None);
        let outcome = match &last {
            None => breadth_first(model, &mut store, &ALL, &limits, &mut ()),
            Some(bytes) => {
                let from = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
                resume_breadth_first(model, &mut store, &ALL, &limits, &mut (), from).unwrap()
            }
        };
        if outcome.end != End::Limit(Limit::Interrupted) {
            return (outcome, cuts);
        }
        last = album.kept.take().pop();
    }
    unreachable!("some search is not interrupted")
}

#[test]
fn a_search_is_resumed_with_another_number_of_threads() {
    let mut all = 0;
    for (seed, words) in [(0, 1), (1, 2), (2, 4)] {
        let model = Disorder { nodes: 8_000, words, seed };
        let expected = search(&model, VisitedSet::new(ExactPairSet::new(), None), &ALL, Threads::default());
        let (outcome, cuts) = resumed(&model, &[2, 1, 4, 3]);
        assert_eq!((outcome.end, outcome.stats, outcome.errors), (expected.end, expected.stats, expected.errors));
        let length = |outcome: &Outcome<u32>| prove(&model, outcome.counterexample.as_ref().unwrap());
        assert_eq!(length(&outcome), length(&expected));
        all += cuts;
    }
    assert!(all > 10, "{all}");
}

/// With the same number of threads, a resumed search finds what it would have found, to the last count.
#[test]
fn a_resumed_search_goes_on_as_before() {
    let mut all = 0;
    for (seed, words) in [(0, 1), (1, 2), (2, 4)] {
        let model = Disorder { nodes: 8_000, words, seed };
        let model = Reduced { model: &model, reduction: Some(&Fewer) };
        let threads = workers(3, 40);
        let expected = search(&model, VisitedSet::new(ExactPairSet::new(), None), &ALL, threads);
        let (outcome, cuts) = resumed(&model, &[3]);
        assert_eq!(Outcome { bytes: expected.bytes, ..outcome }, expected, "seed {seed}");
        all += cuts;
    }
    assert!(all > 5, "{all}");
}

#[test]
fn limits_end_a_search_by_several_threads() {
    let model = Disorder { nodes: 60_000, words: 2, seed: 5 };
    let threads = workers(3, 100);
    let end = |limits: Limits| {
        let mut store = VisitedSet::new(ExactWordSet::new(40), None);
        breadth_first(&model, &mut store, &ALL, &Limits { threads, ..limits }, &mut ()).end
    };
    assert_eq!(end(Limits::default()), End::Complete);
    assert_eq!(end(Limits { depth: Some(9), ..Limits::default() }), End::Limit(Limit::Depth));
    assert_eq!(end(Limits { memory: Some(200_000), ..Limits::default() }), End::Limit(Limit::Memory));
    let (stop, expanded) = (AtomicBool::new(false), AtomicU64::new(0));
    let interrupt = || stop.store(expanded.fetch_add(1, Ordering::Relaxed) > 20_000, Ordering::Relaxed);
    let limits = Limits { threads, stop: Some(&stop), ..Limits::default() };
    let mut store = VisitedSet::new(ExactWordSet::new(40), None);
    let disturbed = Disturbed { model: &model, disturb: interrupt };
    let outcome = breadth_first(&disturbed, &mut store, &ALL, &limits, &mut ());
    assert_eq!((outcome.end, outcome.workers), (End::Limit(Limit::Interrupted), 3));
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
            let threads = workers(3, 200);
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
