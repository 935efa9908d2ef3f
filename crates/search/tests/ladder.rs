//! A search with little memory spills, then stores less of each state, and never gives a wrong result.

mod common;

use std::collections::HashSet;

use common::{ALL, prove};
use entail_disk::Scratch;
use entail_model::{Fault, FaultKind, Fired, Guarantee, Marks, Model, State, StateBuf, Store};
use entail_search::{Checks, End, ErrorKind, Limit, Limits, Outcome, breadth_first, depth_first};
use entail_store::{
    BitstateSet, Degradation, ExactPairSet, ExactSet, ExactWordSet, Level, LossySet, Share, ShortStateSet,
    StateSet, VisitedSet,
};

/// Nodes are numbers with random edges, or a tree; one of them is faulty.
struct Maze {
    size: u64,
    words: usize,
    shallow: bool,
    faulty: Option<u64>,
}

impl Maze {
    fn next(&self, number: u64, way: u8) -> u64 {
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ u64::from(way);
        let below = u64::from(WAYS) * number + 1 + u64::from(way);
        match self.shallow {
            true if below < self.size => below,
            true => 0,
            false => mixed.wrapping_mul(0xd6e8_feb8_6659_fd93) % self.size,
        }
    }

    fn state(&self, number: u64) -> StateBuf {
        // Long states share their words.
        let word = |at: usize| if self.words < 3 { number } else { number >> (4 * at) & 15 };
        (0..self.words).flat_map(|at| word(at).to_le_bytes()).collect()
    }

    fn number(&self, state: &State) -> u64 {
        let (words, _) = state.as_chunks();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        if self.words < 3 {
            words.next_back().unwrap_or(0)
        } else {
            words.rev().fold(0, |all, word| all << 4 | word)
        }
    }

    fn reachable(&self) -> HashSet<u64> {
        let (mut known, mut waiting) = (HashSet::from([0]), vec![0]);
        while let Some(number) = waiting.pop() {
            waiting.extend((0..WAYS).map(|way| self.next(number, way)).filter(|next| known.insert(*next)));
        }
        known
    }
}

const WAYS: u8 = 3;

impl Model for Maze {
    type Step = u8;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&self.state(0));
    }

    fn enabled(&self, _: &State, steps: &mut Vec<u8>) {
        steps.extend(0..WAYS);
    }

    fn fire(&self, way: u8, state: &mut StateBuf) -> Fired {
        let next = self.next(self.number(state), way);
        *state = self.state(next);
        let fault = Fault { kind: FaultKind::Assertion, place: 0, times: 1 };
        if Some(next) == self.faulty { Fired::Failed(fault) } else { Fired::Done }
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

/// The result of a search.
struct Searched {
    outcome: Outcome<u8>,
    guarantee: Guarantee,
    rungs: Vec<Level>,
}

fn search<S: ShortStateSet>(
    maze: &Maze,
    kept: ExactSet<S>,
    memory: u64,
    wide: bool,
    scratch: &Scratch,
) -> Searched {
    let share = if wide { Share::Most } else { Share::Half };
    let mut store = VisitedSet::new(kept, None).with_degradation(Degradation::new(scratch.clone(), share));
    let limits = Limits { memory: Some(memory), scratch: Some(scratch), ..Limits::default() };
    let checks = Checks { end_states: false, ..Checks::default() };
    let search = if wide { breadth_first } else { depth_first };
    let outcome = search(maze, &mut store, &checks, &limits, &mut ());
    Searched { outcome, guarantee: store.guarantee(), rungs: store.levels().to_vec() }
}

const SIZE: u64 = 150_000;

/// Searches with decreasing memory. Returns the maximal number of levels reached, and how often the result was exact.
fn with_less_and_less<S: ShortStateSet>(
    words: usize,
    wide: bool,
    kept: impl Fn() -> ExactSet<S>,
) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    // In a deep graph, the path would need more memory than the states.
    let whole = Maze { size: SIZE, words, shallow: !wide, faulty: None };
    let states = whole.reachable();
    let faulty = *states.iter().max().unwrap();
    let (mut most, mut exact) = (0, 0);
    for memory in [1 << 26, 4 << 20, 3 << 20, 2 << 20, 1 << 20, 500_000, 250_000, 120_000, 60_000, 20_000, 1000] {
        let scratch = Scratch::new(folder.path());
        let Searched { outcome, guarantee, rungs } = search(&whole, kept(), memory, wide, &scratch);
        println!("{words} words, {memory}: {:?}, {} states, {rungs:?}", outcome.end, outcome.stats.stored);
        assert!(outcome.stats.stored <= states.len() as u64 && outcome.errors == 0);
        assert_eq!(rungs.is_empty(), guarantee == Guarantee::Exact);
        if outcome.end == End::Complete && guarantee == Guarantee::Exact {
            assert_eq!(outcome.stats.stored, states.len() as u64);
            exact += 1;
        }
        assert!(matches!(outcome.end, End::Complete | End::Limit(Limit::Memory)));
        // Queue blocks are large compared with the smallest limits.
        assert!(outcome.bytes <= memory + memory / 20 || memory < 1 << 19, "{} of {memory}", outcome.bytes);
        assert_eq!(scratch.failure(), None);
        most = most.max(rungs.len());

        let maze = Maze { faulty: Some(faulty), ..whole };
        let Searched { outcome, guarantee, .. } = search(&maze, kept(), memory, wide, &scratch);
        match outcome.end {
            End::Error => {
                let found = outcome.counterexample.expect("the way is in files");
                assert!(matches!(found.error, ErrorKind::Fault(_)));
                prove(&maze, &found);
            }
            End::Complete => assert_ne!(guarantee, Guarantee::Exact),
            End::Limit(limit) => assert_eq!(limit, Limit::Memory),
        }
    }
    (most, exact)
}

#[test]
fn breadth_first_memory_may_run_out() {
    for (most, exact) in [
        with_less_and_less(1, true, || ExactWordSet::new(50)),
        with_less_and_less(2, true, ExactPairSet::new),
        with_less_and_less(5, true, || ExactWordSet::new(64)),
    ] {
        assert!(most == 2 && exact >= 1, "{most} {exact}");
    }
}

#[test]
fn depth_first_memory_may_run_out() {
    for (most, exact) in
        [with_less_and_less(1, false, || ExactWordSet::new(50)), with_less_and_less(2, false, ExactPairSet::new)]
    {
        assert!(most == 2 && exact >= 1, "{most} {exact}");
    }
    // The dictionaries of long states take most of so little memory.
    let (_, exact) = with_less_and_less(5, false, || ExactWordSet::new(64));
    assert!(exact >= 1);
}

#[test]
fn what_is_put_aside_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Most states are in the queue at the same time.
    let whole = Maze { size: SIZE, words: 1, shallow: true, faulty: None };
    let maze = Maze { faulty: whole.reachable().into_iter().max(), ..whole };
    let run = |memory, scratch: &Scratch| {
        let limits = Limits { memory: Some(memory), scratch: Some(scratch), ..Limits::default() };
        breadth_first(&maze, &mut ExactWordSet::new(50), &Checks { end_states: false, ..ALL }, &limits, &mut ())
    };
    let enough = run(1 << 30, &Scratch::new("/nowhere/at/all"));
    assert_eq!(enough.end, End::Complete);
    let mut least = enough.bytes;
    for percent in [90, 80, 70, 60] {
        let memory = enough.bytes * percent / 100;
        let scratch = Scratch::new(folder.path());
        let less = run(memory, &scratch);
        if less.end == End::Complete {
            assert!(less.bytes <= memory);
            assert_eq!(
                (less.stats, less.errors, &less.counterexample),
                (enough.stats, enough.errors, &enough.counterexample)
            );
            least = less.bytes;
        }
    }
    assert!(least < enough.bytes * 9 / 10, "{least} of {}", enough.bytes);
}

#[test]
fn without_room_in_files_it_is_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let maze = Maze { size: SIZE, words: 1, shallow: true, faulty: None };
    for scratch in [Scratch::new("/nowhere/at/all"), Scratch::with_room(folder.path(), 100_000)] {
        for wide in [true, false] {
            let Searched { outcome, guarantee, .. } = search(&maze, ExactWordSet::new(50), 500_000, wide, &scratch);
            assert_eq!((outcome.end, guarantee), (End::Limit(Limit::Memory), Guarantee::Exact));
            assert!(scratch.failure().is_some());
        }
    }
}

/// The queue and the parent log are spilled, and a bit array does not grow.
#[test]
fn beside_an_array_of_bits_little_memory_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = Scratch::new(folder.path());
    let maze = Maze { size: 3_000_000, words: 1, shallow: false, faulty: None };
    let array: u64 = 4 << 20;
    let bits = BitstateSet::optimistic(array).unwrap();
    let mut store = VisitedSet::new(ExactWordSet::new(40), Some(LossySet::Bitstate(bits)));
    let limits = Limits { memory: Some(array + (4 << 20)), scratch: Some(&scratch), ..Limits::default() };
    let outcome = breadth_first(&maze, &mut store, &ALL, &limits, &mut ());
    assert_eq!((outcome.end, scratch.failure()), (End::Complete, None), "{:?}", outcome.stats);
    assert!(outcome.stats.stored > 2_000_000, "{:?}", outcome.stats);
}
