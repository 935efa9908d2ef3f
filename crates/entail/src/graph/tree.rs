//! The tree of all runs up to a depth.

use super::atomic_paths::{AtomicPath, atomic_paths};
use super::explore::{Arrow, End, Explored, GraphState, Size, StateGraph};
use crate::console::Failure;
use entail_check::violation::Violation;
use entail_ir::Interpreter;
use std::collections::HashMap;

/// Unfolds the state graph: a state occurs once for each run to it.
pub fn unfold(interpreter: &Interpreter, depth: usize, limit: usize) -> Result<Explored, Failure> {
    let mut tree = StateGraph::starting(interpreter);
    let mut numbers = HashMap::from([(tree.states[0].state.clone(), 0)]);
    let mut next = 0;
    while next < tree.states.len() {
        let below = tree.states[next].depth + 1;
        let goes_on = matches!(tree.states[next].end, End::Not);
        if goes_on && below > depth {
            tree.states[next].end = End::Cut;
        } else {
            for AtomicPath { steps, fault, to } in atomic_paths(interpreter, &tree.states[next].state)? {
                let started = !tree.states[next].state.is_empty();
                let violation = fault.map(|fault| Violation::fault(interpreter, fault, started));
                let to = to.map(|state| {
                    let count = numbers.len();
                    let number = *numbers.entry(state.clone()).or_insert(count);
                    tree.states.push(GraphState::new(interpreter, state, number, below));
                    tree.states.len() - 1
                });
                tree.arrows.push(Arrow { from: next, to, steps, violation });
            }
        }
        next += 1;
        if tree.states.len() > limit {
            return Ok(Explored::Larger(Size::MoreThan(limit)));
        }
    }
    Ok(Explored::Whole(tree))
}
