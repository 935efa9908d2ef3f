//! An SCC search by several workers decides like one by one worker, whatever the order in which threads run.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::rings::Rings;
use entail_model::{AcceptanceMarks, Accepting, Fired, Marks, Model, State, StateBuf};
use entail_search::{End, Limit, Limits, Outcome, Stats, Threads, scc_by_workers};
use entail_store::ExactWordSet;
use entail_testkit::rng::Rng;

fn search<M: Accepting>(model: &M, limits: &Limits) -> Outcome<M::Step> {
    scc_by_workers(model, ExactWordSet::new(40), limits, &mut ())
}

/// Several workers from the first state on.
fn several(count: usize) -> Limits<'static> {
    Limits { threads: Threads { count, worthwhile: 0, ..Threads::default() }, ..Limits::default() }
}

#[test]
fn small_graphs_are_decided_alike() {
    let mut rng = Rng::new(12);
    let (mut found, mut missing) = (0, 0);
    for _ in 0..3_000 {
        let rings = Rings::random(&mut rng);
        let rings = Rings { faults: rng.chance(0.3), ..rings };
        let one = search(&rings, &Limits::default());
        for count in [2, 3, 8] {
            let several = search(&rings, &several(count));
            let stats = Stats { depth: one.stats.depth, ..several.stats };
            let expected = Outcome { bytes: several.bytes, workers: several.workers, ..one.clone() };
            assert_eq!(Outcome { stats, ..several }, expected, "{rings:?}");
        }
        found += u32::from(one.counterexample.is_some());
        missing += u32::from(one.end == End::Complete);
    }
    assert!(found > 300 && missing > 300, "{found} and {missing}");
}

/// A large irregular graph that is not stored. Its nodes are in groups; an edge leads to any node of its group, or of the
/// next one.
struct Groups {
    nodes: u64,
    /// The number of nodes of a group.
    size: u64,
    /// The number of words of a state.
    words: usize,
    sets: u32,
    /// The group in which a node has the first mark.
    broken: Option<u64>,
    seed: u64,
}

fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

fn node_of(state: &State) -> u64 {
    u64::from_le_bytes(*state.first_chunk().unwrap())
}

impl Groups {
    fn state(&self, node: u64) -> StateBuf {
        let words = (0..self.words).map(|word| if word == 0 { node } else { mixed(node >> (3 * word)) % 50 });
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn target(&self, node: u64, step: u32) -> u64 {
        let random = mixed(node << 8 ^ u64::from(step) ^ self.seed << 50);
        let group = node / self.size * self.size;
        let target = match step {
            0 => group + (node + 1) % self.size,
            1 if node % self.size == 3 || random.is_multiple_of(5) => group + self.size + random / 5 % self.size,
            _ => group + random % self.size,
        };
        target.min(self.nodes - 1)
    }
}

impl Model for Groups {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        (0..3).for_each(|node| each(&self.state(node)));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        let count = 2 + mixed(node_of(state) ^ self.seed) % 3;
        steps.extend(0..count as u32);
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        *state = self.state(self.target(node_of(state), step));
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Accepting for Groups {
    fn acceptance(&self) -> AcceptanceMarks {
        AcceptanceMarks::first(self.sets)
    }

    /// Every group has all marks but the first one.
    fn acceptance_at(&self, state: &State, _: &[u32]) -> AcceptanceMarks {
        let node = node_of(state);
        let is_first = node % self.size == 7 && self.broken == Some(node / self.size);
        let others = (mixed(node) | mixed(node) << 40) << 1;
        AcceptanceMarks(others | u64::from(is_first)).without(AcceptanceMarks(!self.acceptance().0))
    }
}

fn groups(seed: u64, size: u64, words: usize, sets: u32) -> Groups {
    Groups { nodes: 6_000, size, words, sets, broken: None, seed }
}

fn broken(seed: u64, size: u64, words: usize, sets: u32) -> Groups {
    Groups { broken: Some(3_000 / size), ..groups(seed, size, words, sets) }
}

/// The same model, disturbed from time to time.
struct Disturbed<'m, M, F> {
    model: &'m M,
    disturb: F,
}

/// When a model is disturbed.
#[derive(PartialEq, Eq)]
enum Moment {
    /// A search asks for the initial states.
    Begin,
    /// A state is expanded.
    Expand,
}

impl<M: Model, F: Fn(Moment) + Sync> Model for Disturbed<'_, M, F> {
    type Step = M::Step;
    type Scratch = M::Scratch;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        (self.disturb)(Moment::Begin);
        self.model.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<M::Step>) {
        (self.disturb)(Moment::Expand);
        self.model.enabled(state, steps);
    }

    fn fire(&self, step: M::Step, state: &mut StateBuf) -> Fired {
        self.model.fire(step, state)
    }

    fn is_transient(&self, state: &State) -> bool {
        self.model.is_transient(state)
    }

    fn marks(&self, state: &State) -> Marks {
        self.model.marks(state)
    }
}

impl<M: Accepting, F: Fn(Moment) + Sync> Accepting for Disturbed<'_, M, F> {
    fn acceptance(&self) -> AcceptanceMarks {
        self.model.acceptance()
    }

    fn acceptance_at(&self, state: &State, steps: &[M::Step]) -> AcceptanceMarks {
        self.model.acceptance_at(state, steps)
    }

    fn acceptance_of(&self, step: M::Step) -> AcceptanceMarks {
        self.model.acceptance_of(step)
    }

    fn streett_requests(&self, state: &State, steps: &[M::Step]) -> AcceptanceMarks {
        self.model.streett_requests(state, steps)
    }
}

/// Random numbers for several threads.
#[derive(Default)]
struct Dice(AtomicU64);

impl Dice {
    fn below(&self, most: u64) -> u64 {
        mixed(self.0.fetch_add(1, Ordering::Relaxed)) % most
    }
}

#[test]
fn the_number_of_workers_does_not_matter() {
    for (seed, size, words, sets) in
        [(0, 10, 1, 1), (1, 300, 2, 3), (2, 6_000, 1, 64), (3, 6_000, 3, 2), (4, 50, 4, 64)]
    {
        let [model, broken] = [groups(seed, size, words, sets), broken(seed, size, words, sets)];
        let [one, error] = [&model, &broken].map(|model| search(model, &Limits::default()));
        assert_eq!([one.end, error.end], [End::Complete, End::Error]);
        for count in [2, 3, 8, 100] {
            for worthwhile in [0, 2] {
                let limits =
                    Limits { threads: Threads { count, worthwhile, ..Threads::default() }, ..Limits::default() };
                let found = search(&model, &limits);
                assert_eq!((found.end, found.workers), (End::Complete, count.min(61)), "seed {seed}");
                let stats = Stats { depth: one.stats.depth, ..found.stats };
                assert_eq!(stats, one.stats, "seed {seed}, {count} workers");
                assert_eq!(search(&broken, &limits), error, "seed {seed}, {count} workers");
            }
        }
    }
}

#[test]
fn a_model_that_one_worker_decides_soon_needs_no_others() {
    let threads = Threads { count: 2, worthwhile: 400, ..Threads::default() };
    let outcome = search(&groups(0, 10, 1, 1), &Limits { threads, ..Limits::default() });
    assert_eq!((outcome.end, outcome.workers), (End::Complete, 1));
}

#[test]
fn delays_change_nothing() {
    let dice = Dice::default();
    let sleep = |_| {
        if dice.below(200) == 0 {
            std::thread::sleep(Duration::from_micros(dice.below(300)));
        }
    };
    for (seed, size) in [(0, 20), (1, 6_000)] {
        for model in [groups(seed, size, 1, 2), broken(seed, size, 1, 2)] {
            let expected = search(&model, &several(3));
            let delayed = Disturbed { model: &model, disturb: sleep };
            for _ in 0..10 {
                let found = search(&delayed, &several(3));
                assert_eq!(Outcome { bytes: expected.bytes, ..found }, expected, "seed {seed}");
            }
        }
    }
}

/// Workers meet in the same few states.
#[test]
fn small_graphs_are_decided_alike_whoever_waits() {
    let (mut rng, dice) = (Rng::new(13), Dice::default());
    let wait = |_| (0..dice.below(6) * dice.below(6)).for_each(|_| std::thread::yield_now());
    for _ in 0..1_500 {
        let rings = Rings::random(&mut rng);
        let expected = search(&rings, &Limits::default());
        for _ in 0..8 {
            let found = search(&Disturbed { model: &rings, disturb: wait }, &several(2));
            let counted = [found.stats, expected.stats].map(|stats| (stats.stored, stats.matched));
            assert_eq!((found.end, counted[0]), (expected.end, counted[1]), "{rings:?}");
        }
    }
}

#[test]
fn limits_end_the_search_of_all_workers() {
    let model = groups(3, 6_000, 2, 2);
    let end = |limits: Limits| search(&model, &Limits { threads: several(3).threads, ..limits }).end;
    assert_eq!(end(Limits { memory: Some(100_000), ..Limits::default() }), End::Limit(Limit::Memory));
    assert_eq!(end(Limits { time: Some(Duration::ZERO), ..Limits::default() }), End::Limit(Limit::Time));
    assert_eq!(end(Limits { depth: Some(9), ..Limits::default() }), End::Limit(Limit::Depth));
    let (stop, expanded) = (AtomicBool::new(false), AtomicU64::new(0));
    let interrupt = |_| stop.store(expanded.fetch_add(1, Ordering::Relaxed) > 3_000, Ordering::Relaxed);
    let disturbed = Disturbed { model: &model, disturb: interrupt };
    let outcome = search(&disturbed, &Limits { stop: Some(&stop), ..several(3) });
    assert_eq!((outcome.end, outcome.workers), (End::Limit(Limit::Interrupted), 3));
    assert!(outcome.stats.stored > 500, "{outcome:?}");
}

#[test]
fn without_threads_one_worker_searches() {
    let model = groups(1, 300, 1, 2);
    let threads = Threads { stack: usize::MAX / 4, ..several(3).threads };
    let outcome = search(&model, &Limits { threads, ..Limits::default() });
    assert!(outcome.no_threads.is_some());
    assert_eq!(Outcome { no_threads: None, ..outcome }, search(&model, &Limits::default()));
}

/// The first part of a search finds that there is an error, and the second part, by one worker, is interrupted.
#[test]
fn a_known_error_is_reported_in_any_case() {
    let (begun, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let model = broken(3, 6_000, 1, 2);
    let search = |begins: &(dyn Fn() + Sync)| {
        let disturb = |moment| {
            if moment == Moment::Begin {
                begins();
            }
        };
        search(&Disturbed { model: &model, disturb }, &Limits { stop: Some(&stop), ..several(2) })
    };
    let expected = search(&|| _ = begun.fetch_add(1, Ordering::Relaxed));
    assert_eq!(expected.end, End::Error);
    // At last, a lasso is made of the cycle, which asks for the initial states twice.
    let last = begun.swap(0, Ordering::Relaxed) - 3;
    let outcome = search(&|| stop.store(begun.fetch_add(1, Ordering::Relaxed) >= last, Ordering::Relaxed));
    assert!(stop.load(Ordering::Relaxed), "it was interrupted");
    assert_eq!((outcome.end, outcome.errors, outcome.counterexample), (End::Error, 1, None));
    assert!(outcome.stats.stored < expected.stats.stored);
}
