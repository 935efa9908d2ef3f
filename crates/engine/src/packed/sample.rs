//! A sample of the state space before the search, to observe the values of a system's numbers.
//!
//! Explores the beginning of the state space breadth first, and takes long random walks in between, as long as these
//! observe new values. Stores only hashes of states. The sample determines how states are packed; unobserved values
//! cost memory later, but are not lost.

use std::collections::VecDeque;

use entail_ir::interpret::{Engine, Source};
use entail_ir::{Interpreter, Ranges};
use entail_model::{Fired, Model, State, StateBuf};
use rapidhash::v3::rapidhash_v3;
use rapidhash::{RapidHashMap, RapidHashSet};

use crate::packed::observed::Observed;

/// The number of states expanded breadth first in the first round; it doubles with each round.
const BREADTH: usize = 2_000;
const ROUNDS: u32 = 3;
/// Large states are expanded in smaller numbers: the limit of their total size in bytes.
const MOST_BYTES: usize = 1 << 24;
/// The sample ends after this many rounds without new observations.
const QUIET: u32 = 2;

/// The observed values, and whether the whole state space was explored.
pub(crate) fn explore<E: Engine>(interpreter: &Interpreter, engine: &E, ranges: &Ranges) -> (Vec<Observed>, bool) {
    let mut sampler = Sampler {
        engine,
        interpreter,
        ranges,
        observed: RapidHashMap::default(),
        walked: RapidHashSet::default(),
        desk: E::Scratch::default(),
        random: 1,
    };
    let mut frontier = Frontier::new(interpreter);
    let mut complete = false;
    let mut quiet = 0;
    let mut far = frontier.initial.clone();
    for round in 0..ROUNDS {
        let states = (BREADTH << round).min(MOST_BYTES / frontier.initial.len().max(1));
        let before = sampler.growth();
        complete = sampler.look_around(&mut frontier, states);
        if complete {
            break;
        }
        // One long walk, and a new one in every round.
        far = sampler.walk(far, states / 2).unwrap_or_else(|| frontier.initial.clone());
        sampler.walk(frontier.initial.clone(), states / 2);
        quiet = if sampler.growth() == before { quiet + 1 } else { 0 };
        if quiet == QUIET {
            break;
        }
    }
    // A process vector that occurs only in transient states gets no short layout.
    (sampler.observed.into_values().filter(|observed| observed.states > 0).collect(), complete)
}

struct Sampler<'a, E: Engine> {
    engine: &'a E,
    interpreter: &'a Interpreter<'a>,
    ranges: &'a Ranges,
    /// By the types of the processes.
    observed: RapidHashMap<Vec<u32>, Observed>,
    /// The states of all walks.
    walked: RapidHashSet<u64>,
    desk: E::Scratch,
    random: u64,
}

/// The states to expand next.
#[derive(Default)]
struct Frontier {
    initial: StateBuf,
    known: RapidHashSet<u64>,
    queue: VecDeque<StateBuf>,
}

impl Frontier {
    fn new(interpreter: &Interpreter) -> Frontier {
        let mut frontier = Frontier::default();
        interpreter.initial_states(&mut |state| {
            frontier.initial = state.to_vec();
            frontier.known.insert(rapidhash_v3(state));
            frontier.queue.push_back(state.to_vec());
        });
        frontier
    }
}

impl<E: Engine> Sampler<'_, E> {
    /// The number of observations that were new.
    fn growth(&self) -> u64 {
        self.observed.values().map(Observed::growth).sum()
    }

    /// Expands up to `states` states; returns whether these were all.
    fn look_around(&mut self, frontier: &mut Frontier, states: usize) -> bool {
        for _ in 0..states {
            let Some(state) = frontier.queue.pop_front() else { return true };
            if self.interpreter.deadline().is_over() {
                return false;
            }
            self.expand(&state, |next| {
                if frontier.known.insert(rapidhash_v3(next)) {
                    frontier.queue.push_back(next.to_vec());
                }
            });
        }
        false
    }

    /// Takes a random walk, through states without earlier walks if possible. Returns its last state, unless that has
    /// no successors.
    fn walk(&mut self, mut state: StateBuf, steps: usize) -> Option<StateBuf> {
        let (mut successors, mut spans) = (StateBuf::new(), Vec::new());
        for _ in 0..steps {
            if self.interpreter.deadline().is_over() {
                return None;
            }
            self.walked.insert(rapidhash_v3(&state));
            successors.clear();
            spans.clear();
            self.expand(&state, |next| {
                let start = successors.len();
                successors.extend_from_slice(next);
                spans.push(start..successors.len());
            });
            let is_new =
                |span: &std::ops::Range<usize>| !self.walked.contains(&rapidhash_v3(&successors[span.clone()]));
            if spans.iter().any(is_new) {
                spans.retain(is_new);
            }
            self.random = self.random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let choice = ((self.random >> 33) as usize).checked_rem(spans.len())?;
            state.clear();
            state.extend_from_slice(&successors[spans[choice].clone()]);
        }
        Some(state)
    }

    /// Observes the state, and calls `each` for every successor.
    fn expand(&mut self, state: &State, mut each: impl FnMut(&State)) {
        let (interpreter, ranges) = (self.interpreter, self.ranges);
        let observed = self.observed.entry(interpreter.layout().types_of(state)).or_insert_with(|| {
            Observed::new(interpreter, ranges, interpreter.layout().process_vector(interpreter.system(), state))
        });
        if !interpreter.is_transient(state) {
            observed.note(state);
        }
        let from = Source { state, vector: &observed.vector, packed: None };
        self.engine.expand(from, &mut self.desk, &mut |_, fired: Fired, next: &State| {
            if !fired.is_broken() {
                each(next);
            }
        });
    }
}
