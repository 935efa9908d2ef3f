//! The graph of the reachable stable states, built breadth-first in memory.

use super::atomic_paths::{AtomicPath, atomic_paths};
use crate::console::Failure;
use entail_check::units::show_count;
use entail_check::violation::Violation;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Marks, Model, StateBuf};
use std::collections::HashMap;

/// The state graph. The first state is the initial one.
pub struct StateGraph {
    pub states: Vec<GraphState>,
    pub arrows: Vec<Arrow>,
}

/// A stable state, as a node of the graph.
pub struct GraphState {
    pub state: StateBuf,
    /// The number, in the order of discovery. In a tree, a state may occur several times.
    pub number: usize,
    /// The distance from the initial state.
    pub depth: usize,
    pub marks: Marks,
    pub end: End,
}

/// Whether a state ends runs.
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
    /// Several in an atomic sequence.
    pub steps: Vec<Step>,
    /// The fault in which the steps end.
    pub violation: Option<Violation>,
}

/// A graph, or why there is none.
pub enum Explored {
    Whole(StateGraph),
    /// The graph exceeds the limit.
    Larger(Size),
}

/// The number of states, as far as they were counted.
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
    let mut space = StateGraph::starting(interpreter);
    let mut numbers = HashMap::from([(space.states[0].state.clone(), 0)]);
    let (mut next, mut bytes) = (0, 0);
    while next < space.states.len() {
        for AtomicPath { steps, fault, to } in atomic_paths(interpreter, &space.states[next].state)? {
            let to = to.map(|state| {
                *numbers.entry(state).or_insert_with_key(|state| {
                    bytes += 2 * state.len();
                    let (number, depth) = (space.states.len(), space.states[next].depth + 1);
                    space.states.push(GraphState::new(interpreter, state.clone(), number, depth));
                    number
                })
            });
            if space.states.len() <= limit {
                let started = !space.states[next].state.is_empty();
                let violation = fault.map(|fault| Violation::fault(interpreter, fault, started));
                space.arrows.push(Arrow { from: next, to, steps, violation });
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

impl StateGraph {
    /// Only the initial state.
    pub fn starting(interpreter: &Interpreter) -> StateGraph {
        let mut states = Vec::new();
        interpreter.initial_states(&mut |state| states.push(GraphState::new(interpreter, state.to_vec(), 0, 0)));
        StateGraph { states, arrows: Vec::new() }
    }
}

impl GraphState {
    pub fn new(interpreter: &Interpreter, state: StateBuf, number: usize, depth: usize) -> GraphState {
        let mut steps = Vec::new();
        interpreter.enabled(&state, &mut steps);
        let end = match Violation::invalid_end(interpreter, &state) {
            Some(violation) => End::Invalid(violation),
            None if steps.is_empty() => End::Valid,
            None => End::Not,
        };
        GraphState { marks: interpreter.marks(&state), state, number, depth, end }
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
