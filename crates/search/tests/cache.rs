//! A search with state-space caching finds all states, and terminates.

mod common;

use std::collections::HashSet;
use std::sync::Mutex;

use common::{ALL, initial_states, naive_checks, prove};
use entail_model::{Fired, Marks, Model, State, StateBuf, Store};
use entail_search::{Checks, End, Errors, Limits, Outcome, Stats, depth_first};
use entail_store::{CacheSet, CacheSize, ExactPairSet, ExactWordSet};
use entail_testkit::graph::{Edge, Graph, node_of, state_of};
use entail_testkit::naive;
use entail_testkit::rng::Rng;

/// A graph whose states are whole words, and which records the states that were expanded.
struct Wordy {
    graph: Graph,
    words: usize,
    seen: Mutex<HashSet<StateBuf>>,
}

impl Wordy {
    fn new(graph: Graph, words: usize) -> Wordy {
        Wordy { graph, words, seen: Mutex::default() }
    }

    /// Nodes are numbered from 1, so that no state is all zeros.
    fn state(&self, node: &State) -> StateBuf {
        (node_of(node) as u64 + 1).to_le_bytes().repeat(self.words)
    }

    fn node(&self, state: &State) -> StateBuf {
        assert_eq!(state.len(), 8 * self.words);
        state_of(node_of(&state[..8]) - 1)
    }

    /// The number of stable states expanded since the last call.
    fn looked_at(&self) -> u64 {
        let (seen, initial) = (std::mem::take(&mut *self.seen.lock().unwrap()), initial_states(self));
        seen.iter().filter(|state| !self.is_transient(state) || initial.contains(state)).count() as u64
    }
}

impl Model for Wordy {
    type Step = Edge;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.graph.initial_states(&mut |node| each(&self.state(node)));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Edge>) {
        self.seen.lock().unwrap().insert(state.to_vec());
        self.graph.enabled(&self.node(state), steps);
    }

    fn fire(&self, edge: Edge, state: &mut StateBuf) -> Fired {
        let mut node = self.node(state);
        let fired = self.graph.fire(edge, &mut node);
        if !fired.is_broken() {
            *state = self.state(&node);
        }
        fired
    }

    fn is_transient(&self, state: &State) -> bool {
        self.graph.is_transient(&self.node(state))
    }

    fn marks(&self, state: &State) -> Marks {
        self.graph.marks(&self.node(state))
    }
}

fn search(model: &Wordy, checks: &Checks, size: CacheSize) -> Outcome<Edge> {
    fn with(mut store: impl Store, model: &Wordy, checks: &Checks) -> Outcome<Edge> {
        depth_first(model, &mut store, checks, &Limits::default(), &mut ())
    }
    match model.words {
        2 => with(CacheSet::new(ExactPairSet::new(), size), model, checks),
        _ => with(CacheSet::new(ExactWordSet::new(40), size), model, checks),
    }
}

fn cache(slots: u64, probes: u32, collisions: u32) -> CacheSize {
    CacheSize { slots, probes, collisions }
}

#[test]
fn whatever_is_forgotten_the_verdict_is_that_of_the_naive_search() {
    let (mut forgetful, mut again, mut erroneous) = (0, 0, 0);
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let model = Wordy::new(Graph::random(&mut rng), *rng.pick(&[1, 2, 3]));
        let checks = Checks { assertions: rng.chance(0.7), end_states: rng.chance(0.7), ..ALL };
        let expected = naive::explore(&model, naive_checks(checks));
        // Without a store, a search follows every path, of which there may be very many.
        let fewest = if expected.stored > 16 { expected.stored * 2 / 3 } else { 1 };
        for slots in fewest..=expected.stored + 1 {
            let size = cache(slots, 1 + rng.below(4) as u32, 1 + rng.below(4) as u32);
            model.looked_at();
            let outcome = search(&model, &checks, size);
            assert_eq!(outcome.end, End::Complete, "seed {seed}, {size:?}");
            assert_eq!(model.looked_at(), expected.stored, "seed {seed}, {size:?}");
            assert_eq!(outcome.errors > 0, expected.errors > 0, "seed {seed}, {size:?}");
            let Stats { stored, forgotten, .. } = outcome.stats;
            assert!((expected.stored..=expected.stored + forgotten).contains(&stored), "seed {seed}, {size:?}");
            forgetful += usize::from(forgotten > 0);
            again += usize::from(stored > expected.stored);
            erroneous += usize::from(outcome.errors > 0);
            let first = search(&model, &Checks { errors: Errors::First, ..checks }, size);
            assert_eq!(first.end, if expected.errors > 0 { End::Error } else { End::Complete }, "{size:?}");
            for counterexample in [outcome.counterexample, first.counterexample].iter().flatten() {
                prove(&model, counterexample);
            }
        }
    }
    assert!(forgetful > 1000 && again > 300 && erroneous > 1000, "{forgetful} {again} {erroneous}");
}

#[test]
fn with_room_for_all_it_is_like_any_other_search() {
    for seed in 0..500 {
        let model = Wordy::new(Graph::random(&mut Rng::new(seed)), 1);
        let expected = naive::explore(&model, naive_checks(ALL));
        let outcome = search(&model, &ALL, cache(1000, 64, 64));
        let Stats { stored, matched, forgotten, .. } = outcome.stats;
        assert_eq!((stored, matched, forgotten), (expected.stored, expected.matched, 0), "seed {seed}");
        assert_eq!(outcome.errors, expected.errors, "seed {seed}");
    }
}

/// A path whose states are all pinned needs room outside of the cache; states that left the path do not.
#[test]
fn a_long_path_ends_in_a_small_cache() {
    let ring: Vec<usize> = (0..5000).chain([0]).collect();
    for words in [1, 2, 3] {
        let model = Wordy::new(Graph::starting_in(0).path(&ring), words);
        let stats = search(&model, &ALL, cache(3, 2, 1)).stats;
        assert_eq!((stats.stored, stats.matched, stats.loops), (5000, 1, Some(1)));
        assert!(stats.forgotten > 4000 && stats.forgotten < 5000, "{}", stats.forgotten);
    }
}

/// Three counters: most states are reachable along very many paths. With random replacement of half of the states, each
/// is entered four times.
#[test]
fn room_for_half_of_the_states_is_enough() {
    const SIDE: usize = 12;
    let states = SIDE.pow(3);
    let places = (0..states).flat_map(|node| [1, SIDE, SIDE * SIDE].map(|place| (node, place)));
    let steps = places.filter(|(node, place)| node / place % SIDE < SIDE - 1);
    let counters = steps.fold(Graph::starting_in(0), |graph, (node, place)| graph.edge(node, node + place));
    let Stats { stored, .. } = search(&Wordy::new(counters, 1), &ALL, cache(states as u64 / 2, 16, 16)).stats;
    assert!(stored < states as u64 * 3 / 2, "{stored} of {states}");
}

/// States behind the depth limit are not on the path.
#[test]
fn states_at_the_depth_limit_may_be_forgotten() {
    let fan = (1..=100).fold(Graph::starting_in(0), |graph, node| graph.edge(0, node));
    let (model, limits) = (Wordy::new(fan, 1), Limits { depth: Some(1), ..Limits::default() });
    let mut store = CacheSet::new(ExactWordSet::new(40), cache(2, 2, 2));
    let outcome = depth_first(&model, &mut store, &ALL, &limits, &mut ());
    assert_eq!((outcome.stats.stored, outcome.stats.forgotten), (101, 99));
}
