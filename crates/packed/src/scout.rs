//! A short excursion before the search: which values do the numbers of a system really have?
//!
//! The beginning of the state space is explored breadth first, and in between long walks are taken into the depth, as
//! long as there is something new to see. States are remembered by their hashes only. What is seen decides how states
//! are packed; what is not seen costs memory later, but is not lost.

use std::collections::VecDeque;

use entail_ir::interpret::{Engine, Source};
use entail_ir::{Interpreter, Ranges};
use entail_model::{Fired, Model, State, StateBuf};
use rapidhash::v3::rapidhash_v3;
use rapidhash::{RapidHashMap, RapidHashSet};

use crate::log::Log;

/// How many states are expanded breadth first in the first round; in each round after it, twice as many as before.
const BREADTH: usize = 2_000;
const ROUNDS: u32 = 3;
/// Of large states there are fewer: together they have no more than so many bytes.
const MOST_BYTES: usize = 1 << 24;
/// After so many rounds in which nothing was new, there are no more.
const QUIET: u32 = 2;

/// Everything that was seen, and whether that is all there is.
pub(crate) fn explore<E: Engine>(interpreter: &Interpreter, engine: &E, ranges: &Ranges) -> (Vec<Log>, bool) {
    let mut scout = Scout {
        engine,
        interpreter,
        ranges,
        logs: RapidHashMap::default(),
        walked: RapidHashSet::default(),
        desk: E::Scratch::default(),
        random: 1,
    };
    let mut front = Front::new(interpreter);
    let mut complete = false;
    let mut quiet = 0;
    let mut far = front.initial.clone();
    for round in 0..ROUNDS {
        let states = (BREADTH << round).min(MOST_BYTES / front.initial.len().max(1));
        let before = scout.growth();
        complete = scout.look_around(&mut front, states);
        if complete {
            break;
        }
        // One long walk, and a new one in every round.
        far = scout.walk(far, states / 2).unwrap_or_else(|| front.initial.clone());
        scout.walk(front.initial.clone(), states / 2);
        quiet = if scout.growth() == before { quiet + 1 } else { 0 };
        if quiet == QUIET {
            break;
        }
    }
    // What is only passed through has no short form.
    (scout.logs.into_values().filter(|log| log.states > 0).collect(), complete)
}

struct Scout<'a, E: Engine> {
    engine: &'a E,
    interpreter: &'a Interpreter<'a>,
    ranges: &'a Ranges,
    /// By the types of the processes.
    logs: RapidHashMap<Vec<u32>, Log>,
    /// The states of all walks.
    walked: RapidHashSet<u64>,
    desk: E::Scratch,
    random: u64,
}

/// The states to be expanded next.
#[derive(Default)]
struct Front {
    initial: StateBuf,
    known: RapidHashSet<u64>,
    queue: VecDeque<StateBuf>,
}

impl Front {
    fn new(interpreter: &Interpreter) -> Front {
        let mut front = Front::default();
        interpreter.initial_states(&mut |state| {
            front.initial = state.to_vec();
            front.known.insert(rapidhash_v3(state));
            front.queue.push_back(state.to_vec());
        });
        front
    }
}

impl<E: Engine> Scout<'_, E> {
    /// How often something was new.
    fn growth(&self) -> u64 {
        self.logs.values().map(Log::growth).sum()
    }

    /// Expands so many states; whether these were all there are.
    fn look_around(&mut self, front: &mut Front, states: usize) -> bool {
        for _ in 0..states {
            let Some(state) = front.queue.pop_front() else { return true };
            if self.interpreter.deadline().is_over() {
                return false;
            }
            self.expand(&state, |next| {
                if front.known.insert(rapidhash_v3(next)) {
                    front.queue.push_back(next.to_vec());
                }
            });
        }
        false
    }

    /// Takes a random walk, if possible to where no walk has been; returns where it ended, unless nothing leads on.
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

    /// Notes the state, and calls `each` for every successor of it.
    fn expand(&mut self, state: &State, mut each: impl FnMut(&State)) {
        let (interpreter, ranges) = (self.interpreter, self.ranges);
        let log = self.logs.entry(interpreter.layout().types_of(state)).or_insert_with(|| {
            Log::new(interpreter, ranges, interpreter.layout().process_vector(interpreter.system(), state))
        });
        if !interpreter.is_transient(state) {
            log.note(state);
        }
        let from = Source { state, vector: &log.outline, packed: None };
        self.engine.expand(from, &mut self.desk, &mut |_, fired: Fired, next: &State| {
            if !fired.is_broken() {
                each(next);
            }
        });
    }
}
