//! The graph of stable states.

use super::atomic_paths::{AtomicPath, atomic_paths};
use crate::console::Failure;
use entail_check::units::show_count;
use entail_check::violation::Violation;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Marks, Model, StateBuf};
use std::collections::HashMap;

/// The state graph. The first state is the initial one.
pub struct Space {
    pub states: Vec<Found>,
    pub arrows: Vec<Arrow>,
}

pub struct Found {
    pub state: StateBuf,
    /// The number, in the order of discovery. In a tree, a state may occur several times.
    pub number: usize,
    /// The distance from the initial state.
    pub depth: usize,
    pub marks: Marks,
    pub end: End,
}

pub enum End {
    /// The state has successors.
    Not,
    Valid,
    Invalid(Violation),
    /// The graph omits the successors.
    Cut,
}

/// An edge between states.
pub struct Arrow {
    pub from: usize,
    /// The target; `None` after a fault.
    pub to: Option<usize>,
    pub steps: Vec<Step>,
    pub wrong: Option<Violation>,
}

pub enum Explored {
    Whole(Space),
    /// The graph exceeds the limit.
    Larger(Size),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Exactly(usize),
    MoreThan(usize),
}

/// The maximum number of states to count, if they are too many to draw.
const MOST_COUNTED: usize = 200_000;
/// The maximum memory for states in bytes.
const MOST_BYTES: usize = 256 << 20;

/// Explores the unoptimised model breadth-first.
pub fn explore(interpreter: &Interpreter, limit: usize) -> Result<Explored, Failure> {
    let mut space = Space::starting(interpreter);
    let mut numbers = HashMap::from([(space.states[0].state.clone(), 0)]);
    let (mut next, mut bytes) = (0, 0);
    while next < space.states.len() {
        for AtomicPath { steps, fault, to } in atomic_paths(interpreter, &space.states[next].state)? {
            let to = to.map(|state| {
                *numbers.entry(state).or_insert_with_key(|state| {
                    bytes += 2 * state.len();
                    let (number, depth) = (space.states.len(), space.states[next].depth + 1);
                    space.states.push(Found::new(interpreter, state.clone(), number, depth));
                    number
                })
            });
            if space.states.len() <= limit {
                let started = !space.states[next].state.is_empty();
                let wrong = fault.map(|fault| Violation::fault(interpreter, fault, started));
                space.arrows.push(Arrow { from: next, to, steps, wrong });
            }
        }
        next += 1;
        if space.states.len() > limit.max(MOST_COUNTED) || bytes > MOST_BYTES {
            return Ok(Explored::Larger(Size::MoreThan(space.states.len() - 1)));
        }
    }
    Ok(match space.states.len() {
        count if count > limit => Explored::Larger(Size::Exactly(count)),
        _ => Explored::Whole(space),
    })
}

impl Space {
    /// Only the initial state.
    pub fn starting(interpreter: &Interpreter) -> Space {
        let mut states = Vec::new();
        interpreter.initial_states(&mut |state| states.push(Found::new(interpreter, state.to_vec(), 0, 0)));
        Space { states, arrows: Vec::new() }
    }
}

impl Found {
    pub fn new(interpreter: &Interpreter, state: StateBuf, number: usize, depth: usize) -> Found {
        let mut steps = Vec::new();
        interpreter.enabled(&state, &mut steps);
        let end = match Violation::invalid_end(interpreter, &state) {
            Some(violation) => End::Invalid(violation),
            None if steps.is_empty() => End::Valid,
            None => End::Not,
        };
        Found { marks: interpreter.marks(&state), state, number, depth, end }
    }
}

impl Size {
    pub fn words(self) -> String {
        match self {
            Size::Exactly(count) => show_count(count as u64),
            Size::MoreThan(count) => format!("more than {}", show_count(count as u64)),
        }
    }
}
