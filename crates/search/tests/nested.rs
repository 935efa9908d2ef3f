//! Accepted runs, found by nested depth-first search.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use Kind::{Accepted, Ends, Plain};
use common::rings::{Kind, Rings};
use entail_model::{
    AcceptanceMarks, Accepting, Fired, KeySet, Keys, LosslessStore, Marks, Model, Observer, State, StateBuf,
};
use entail_search::{End, ErrorKind, Limit, Limits, Outcome, nested};
use entail_store::ExactWordSet;
use entail_testkit::recording_store::RecordingStore;
use entail_testkit::rng::Rng;

fn search(rings: &Rings, limits: &Limits) -> Outcome<u32> {
    let mut outer = ExactWordSet::new(8);
    let mut inner = outer.key_set();
    nested(rings, &mut outer, &mut inner, limits, &mut ())
}

#[test]
fn accepted_runs_are_found_where_there_are_some() {
    let mut rng = Rng::new(12);
    let (mut cycles, mut faults, mut missing) = (0, 0, 0);
    for _ in 0..20_000 {
        let rings = Rings::with_one_set(&mut rng);
        let outcome = search(&rings, &Limits::default());
        let is_wrong = rings.has_end() || rings.has_accepted_run();
        assert_eq!(outcome.end == End::Error, is_wrong, "{rings:?}");
        assert_eq!((outcome.errors, outcome.counterexample.is_some()), (u64::from(is_wrong), is_wrong));
        match outcome.counterexample {
            Some(found) => {
                rings.check(&found);
                match found.error {
                    ErrorKind::Cycle { .. } => cycles += 1,
                    ErrorKind::Fault(_) | ErrorKind::InvalidEnd => faults += 1,
                }
            }
            None => {
                missing += 1;
                assert_eq!(outcome.stats.stored, rings.reachable().len() as u64);
            }
        }
    }
    assert!(cycles > 2000 && faults > 500 && missing > 2000, "{cycles}, {faults} and {missing}");
}

#[test]
fn a_limit_never_gives_a_false_verdict() {
    let mut rng = Rng::new(13);
    let (mut cut, mut faults) = (0, 0);
    for _ in 0..20_000 {
        let rings = Rings::with_one_set(&mut rng);
        let outcome = search(&rings, &Limits { depth: Some(rng.below(8) as u64), ..Limits::default() });
        match outcome.end {
            End::Complete => assert!(!rings.has_end() && !rings.has_accepted_run(), "{rings:?}"),
            End::Error => {
                let found = outcome.counterexample.expect("what was found is told");
                faults += u32::from(matches!(found.error, ErrorKind::Fault(_)));
                rings.check(&found);
            }
            End::Limit(limit) => {
                cut += 1;
                assert_eq!((limit, outcome.errors), (Limit::Depth, 0));
            }
        }
    }
    assert!(cut > 2000 && faults > 200, "{cut} and {faults}");
}

fn told(rings: &Rings) -> (ErrorKind, Vec<u32>) {
    let found = search(rings, &Limits::default()).counterexample.expect("there is an accepted run");
    rings.check(&found);
    (found.error, found.steps)
}

#[test]
fn a_step_that_closes_a_circle_is_enough() {
    let rings = Rings::of(&[(0, 1, Plain), (1, 2, Accepted), (2, 1, Plain), (2, 3, Plain)]);
    assert_eq!(told(&rings), (ErrorKind::Cycle { begins: 1 }, vec![0, 1, 2]));
    assert_eq!(search(&rings, &Limits::default()).stats.stored, 3, "node 3 was not looked at");
}

#[test]
fn the_inner_search_finds_a_way_back_to_the_path() {
    // When the search backtracks over 0 → 2, 1 is known, and so is the path from there.
    let rings = Rings::of(&[(0, 1, Plain), (1, 0, Plain), (0, 2, Accepted), (2, 1, Plain)]);
    assert_eq!(told(&rings), (ErrorKind::Cycle { begins: 0 }, vec![2, 3, 1]));
}

#[test]
fn a_circle_without_an_accepted_step_is_none() {
    let rings = Rings::of(&[(0, 1, Accepted), (1, 2, Plain), (2, 1, Plain), (0, 2, Accepted)]);
    let outcome = search(&rings, &Limits::default());
    assert_eq!((outcome.end, outcome.counterexample), (End::Complete, None));
    assert_eq!((outcome.stats.stored, outcome.stats.matched, outcome.stats.loops), (3, 2, Some(1)));
}

#[test]
fn without_a_set_every_circle_will_do() {
    let rings = Rings { sets: 0, ..Rings::of(&[(0, 1, Plain), (0, 2, Plain), (2, 1, Plain), (2, 0, Plain)]) };
    assert_eq!(told(&rings), (ErrorKind::Cycle { begins: 0 }, vec![1, 3]));
    let rings = Rings { sets: 0, ..Rings::of(&[(0, 1, Plain), (0, 2, Plain), (2, 1, Plain)]) };
    let (mut outer, mut counter) = (ExactWordSet::new(8), Counter::default());
    let mut inner = outer.key_set();
    let outcome = nested(&rings, &mut outer, &mut inner, &Limits::default(), &mut counter);
    assert_eq!((outcome.end, counter.steps), (End::Complete, 3), "there is nothing to look for twice");
}

#[test]
fn what_must_not_happen_is_told_although_only_the_inner_search_gets_there() {
    // The outer search reaches 3 at the depth limit; the inner one begins in 4, and reaches 3 soon.
    let edges = [(0, 1, Plain), (1, 2, Plain), (2, 3, Plain), (0, 4, Accepted), (4, 3, Plain), (3, 3, Ends)];
    let limits = Limits { depth: Some(3), ..Limits::default() };
    let outcome = search(&Rings::of(&edges), &limits);
    assert_eq!(outcome.counterexample.expect("an error").steps, [3, 4, 5]);
    let limits = Limits { depth: Some(2), ..Limits::default() };
    assert_eq!(search(&Rings::of(&edges), &limits).end, End::Limit(Limit::Depth));
}

#[test]
fn where_no_room_is_left_the_run_is_told_as_it_was_found() {
    let mut edges: Vec<_> = (1..=40).map(|node| (0, node, Plain)).collect();
    edges.push((0, 0, Accepted));
    let rings = Rings::of(&edges);
    // For all states, but not for a second visit of the first one's successors.
    let mut outer = RecordingStore::with_room_for(45);
    let outcome = nested(&rings, &mut outer, &mut ExactWordSet::new(8).key_set(), &Limits::default(), &mut ());
    let found = outcome.counterexample.expect("there is an accepted run");
    assert_eq!((found.error, found.steps), (ErrorKind::Cycle { begins: 0 }, vec![40]));
}

/// Numbers from 0 up to a last one: a line, or a tree. One step is accepting, so an inner search starts there.
struct Numbers {
    last: u64,
    branches: u64,
    /// The target of that step.
    accepted: u64,
}

impl Model for Numbers {
    type Step = u64;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&0u64.to_le_bytes());
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u64>) {
        let first = self.branches * number(state) + 1;
        steps.extend((first..first + self.branches).take_while(|next| *next <= self.last));
    }

    fn fire(&self, next: u64, state: &mut StateBuf) -> Fired {
        state.copy_from_slice(&next.to_le_bytes());
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Accepting for Numbers {
    fn acceptance(&self) -> AcceptanceMarks {
        AcceptanceMarks::first(1)
    }

    fn acceptance_of(&self, step: u64) -> AcceptanceMarks {
        AcceptanceMarks::first(u32::from(step == self.accepted))
    }
}

fn number(state: &State) -> u64 {
    u64::from_le_bytes(state.try_into().expect("eight bytes"))
}

/// Counts steps, and stops a search after a number of them.
#[derive(Default)]
struct Counter<'s> {
    steps: u64,
    stop: Option<(u64, &'s AtomicBool)>,
}

impl<S> Observer<S> for Counter<'_> {
    fn stepped(&mut self, _: S) {
        self.steps += 1;
        if let Some((last, stop)) = self.stop {
            stop.store(self.steps >= last, Ordering::Relaxed);
        }
    }
}

/// Searches for accepted runs; also returns the final sizes of the stores.
fn count(numbers: Numbers, limits: &Limits, observer: &mut Counter) -> (Outcome<u64>, [u64; 2]) {
    let mut outer = ExactWordSet::new(40);
    let mut inner = outer.key_set();
    let outcome = nested(&numbers, &mut outer, &mut inner, limits, observer);
    (outcome, [outer.bytes(), inner.bytes()])
}

fn line(last: u64) -> Numbers {
    Numbers { last, branches: 1, accepted: 1 }
}

#[test]
fn a_million_states_on_both_paths_are_no_problem() {
    let mut counter = Counter::default();
    let (outcome, stores) = count(line(1_000_000), &Limits::default(), &mut counter);
    assert_eq!((outcome.end, outcome.stats.stored), (End::Complete, 1_000_001));
    assert_eq!((outcome.stats.depth, counter.steps), (1_000_000, 1_999_999));
    let paths = 2 * 1_000_000 * size_of::<u64>() as u64;
    assert!(outcome.bytes > stores.iter().sum::<u64>() + paths, "{} besides {stores:?}", outcome.bytes);
}

#[test]
fn both_sets_must_find_room() {
    // All of a tree is explored before the inner search visits its second half; or half of it, and then the inner
    // search visits the first half.
    for accepted in [2, 1] {
        let tree = || Numbers { last: 1 << 18, branches: 2, accepted };
        let (all, [outer, inner]) = count(tree(), &Limits::default(), &mut Counter::default());
        assert_eq!(all.end, End::Complete);
        // Tables may be fuller than usual, but not twice as full.
        let memory = (outer + inner) / 2;
        let limits = Limits { memory: Some(memory), ..Limits::default() };
        let (outcome, _) = count(tree(), &limits, &mut Counter::default());
        assert_eq!(outcome.end, End::Limit(Limit::Memory), "{memory} for {outer} and {inner}, {accepted}");
        assert!(outcome.bytes <= memory, "{} of {memory}", outcome.bytes);
        let limits = Limits { memory: Some(2 * all.bytes), ..Limits::default() };
        assert_eq!(count(tree(), &limits, &mut Counter::default()).0.end, End::Complete);
    }
}

#[test]
fn time_ends_the_search() {
    for time in [Duration::ZERO, Duration::from_millis(20)] {
        let limits = Limits { time: Some(time), ..Limits::default() };
        let (outcome, _) = count(line(u64::MAX), &limits, &mut Counter::default());
        assert_eq!(outcome.end, End::Limit(Limit::Time));
    }
}

#[test]
fn an_interruption_ends_the_inner_search_too() {
    let interrupted = End::Limit(Limit::Interrupted);
    for (last, end) in [(1, interrupted), (15_000, interrupted), (100_000, End::Complete)] {
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: Some(&stop), ..Limits::default() };
        let (outcome, _) = count(line(10_000), &limits, &mut Counter { steps: 0, stop: Some((last, &stop)) });
        assert_eq!(outcome.end, end, "after {last} steps");
        assert_eq!(outcome.stats.stored == 10_001, last > 10_000);
    }
}
