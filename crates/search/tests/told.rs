//! An observer that logs receives every event, and does not change the search.

mod common;

use std::collections::{HashSet, VecDeque};
use std::fmt::Debug;

use common::ALL;
use common::rings::Rings;
use entail_model::{Event, EventTarget, LosslessStore, Observer, StateName};
use entail_search::{Limits, Outcome, breadth_first, depth_first, nested, scc};
use entail_store::{ExactWordSet, NumberMap};
use entail_testkit::graph::Graph;
use entail_testkit::recording_store::RecordingStore;
use entail_testkit::rng::Rng;

struct Heard<S>(Vec<Event<S>>);

impl<S> Observer<S> for Heard<S> {
    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: Event<S>) {
        self.0.push(event);
    }
}

/// The knowledge about a search after all of its events.
struct Told {
    new: HashSet<StateName>,
    known: u64,
    cycles: u64,
    wrong: u64,
    accepted: u64,
    /// The states on the path, or in the queue.
    waiting: VecDeque<StateName>,
}

/// Replays the events of a search, and checks that they are consistent.
fn follow<S: Copy + Debug>(events: &[Event<S>], has_queue: bool) -> Told {
    let (mut new, mut waiting, mut expanded) = (HashSet::new(), VecDeque::new(), None);
    let (mut known, mut cycles, mut wrong, mut accepted) = (0, 0, 0, 0);
    // The position at which each nested path begins.
    let mut outer = Vec::new();
    for event in events {
        match *event {
            Event::Begun => {}
            Event::New { state } => assert!(new.insert(state), "it is new once"),
            Event::Known { state, closes_cycle } => {
                assert!(new.contains(&state));
                assert!(!closes_cycle || !has_queue);
                if outer.is_empty() {
                    (known, cycles) = (known + 1, cycles + u64::from(closes_cycle));
                }
            }
            Event::Pushed { state } => {
                assert!(new.contains(&state));
                waiting.push_back(state);
            }
            Event::Popped { state } => assert_eq!(waiting.pop_back(), Some(state), "the last one leaves"),
            Event::Taken { state } => {
                assert_eq!(waiting.pop_front(), Some(state), "the first one is taken");
                expanded = Some(state);
            }
            Event::Tried { from, step, to, .. } => {
                let at = if has_queue { expanded } else { waiting.back().copied() };
                assert_eq!(at, Some(from));
                assert!(step.is_some(), "{to:?}");
            }
            Event::Inside { begins: true } => outer.push(waiting.len()),
            Event::Inside { begins: false } => assert_eq!(outer.pop(), Some(waiting.len())),
            Event::Accepted { .. } => accepted += 1,
            Event::Wrong { .. } => wrong += 1,
        }
    }
    Told { new, known, cycles, wrong, accepted, waiting }
}

/// The number of logged steps to stable states.
fn tried<S>(events: &[Event<S>]) -> u64 {
    events.iter().filter(|event| matches!(event, Event::Tried { to: EventTarget::Stable(_), .. })).count() as u64
}

fn same<S: PartialEq + Debug>(heard: &Outcome<S>, unheard: &Outcome<S>) {
    assert_eq!((heard.end, heard.stats, heard.errors), (unheard.end, unheard.stats, unheard.errors));
    assert_eq!(heard.counterexample, unheard.counterexample);
}

#[test]
fn a_search_for_mistakes_tells_all_that_it_counts() {
    for seed in 0..3000 {
        let graph = Graph::random(&mut Rng::new(seed));
        for has_queue in [true, false] {
            let search = |observer: &mut dyn Observer<_>| {
                let (store, limits) = (&mut RecordingStore::default(), Limits::default());
                let search = if has_queue { breadth_first } else { depth_first };
                search(&graph, store, &ALL, &limits, observer)
            };
            let mut heard = Heard(Vec::new());
            let outcome = search(&mut heard);
            same(&outcome, &search(&mut ()));
            let told = follow(&heard.0, has_queue);
            assert_eq!(told.new.len() as u64, outcome.stats.stored);
            assert_eq!(told.known, outcome.stats.matched);
            assert_eq!(told.cycles, outcome.stats.loops.unwrap_or(0));
            assert_eq!(told.wrong > 0, outcome.errors > 0);
            assert!(told.waiting.is_empty(), "all is done");
            let initial = common::initial_states(&graph).into_iter().collect::<HashSet<_>>().len() as u64;
            assert_eq!(tried(&heard.0) + initial, outcome.stats.transitions());
        }
    }
}

#[test]
fn a_search_for_infinite_runs_tells_which_circle_is_accepted() {
    let (mut rng, mut found) = (Rng::new(5), 0);
    for _ in 0..3000 {
        let rings = Rings::with_one_set(&mut rng);
        let by_components = |observer: &mut dyn Observer<u32>| {
            scc(&rings, &mut NumberMap::new(ExactWordSet::new(8)), &Limits::default(), observer)
        };
        let by_nesting = |observer: &mut dyn Observer<u32>| {
            let mut outer = ExactWordSet::new(8);
            let mut inner = outer.key_set();
            nested(&rings, &mut outer, &mut inner, &Limits::default(), observer)
        };
        let (mut first, mut second) = (Heard(Vec::new()), Heard(Vec::new()));
        for (outcome, unheard, heard) in [
            (by_components(&mut first), by_components(&mut ()), first),
            (by_nesting(&mut second), by_nesting(&mut ()), second),
        ] {
            same(&outcome, &unheard);
            let told = follow(&heard.0, false);
            assert_eq!(told.new.len() as u64, outcome.stats.stored);
            assert_eq!(told.known, outcome.stats.matched);
            assert_eq!(told.accepted + told.wrong, outcome.errors, "{rings:?}");
            found += told.accepted;
        }
    }
    assert!(found > 1000, "{found}");
}
