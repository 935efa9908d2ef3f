//! Degeneralisation: one acceptance set instead of several, by a counter of the sets passed.

use crate::automaton::{Automaton, Edge, Marks, State};
use crate::limits::{Limit, Limits};
use crate::scc::{Kind, Sccs};
use std::collections::HashMap;

/// The product of an automaton and a counter.
pub(crate) struct Unfolded {
    /// The edges that leave each state.
    pub edges: Vec<Vec<Edge>>,
    /// The automaton state of each product state.
    pub origins: Vec<State>,
}

/// The part of the product that is reachable from the initial state at a level. `follow` returns, for an edge that leaves a
/// state at a level, the next level and the marks of the new edge.
pub(crate) fn unfold(
    automaton: &Automaton,
    initial: usize,
    limits: Limits,
    mut follow: impl FnMut(State, usize, &Edge) -> (usize, Marks),
) -> Result<Unfolded, Limit> {
    let mut numbers = HashMap::from([((State::INITIAL, initial), State::INITIAL)]);
    let mut order = vec![(State::INITIAL, initial)];
    let mut edges = Vec::new();
    let mut count = 0;
    while let Some(&(state, level)) = order.get(edges.len()) {
        let mut leaving = Vec::new();
        for edge in automaton.leaving(state) {
            let (next, marks) = follow(state, level, edge);
            let target = *numbers.entry((edge.target, next)).or_insert_with(|| {
                order.push((edge.target, next));
                State(order.len() as u32 - 1)
            });
            leaving.push(Edge { target, marks, label: edge.label });
        }
        count += leaving.len();
        limits.check(order.len(), count)?;
        edges.push(leaving);
    }
    Ok(Unfolded { edges, origins: order.into_iter().map(|(state, _)| state).collect() })
}

/// An automaton for the same words, with one acceptance set on edges. A run passes the sets in order. The edge that
/// completes a round is in the set, and may be the first one of the next round.
pub(crate) fn degeneralise(automaton: &Automaton, limits: Limits) -> Result<Unfolded, Limit> {
    let components = Sccs::of(automaton);
    let all = automaton.sets;
    let advance = |level: usize, marks: Marks| {
        (level..all as usize).find(|set| marks.0 >> set & 1 == 0).unwrap_or(all as usize)
    };
    unfold(automaton, 0, limits, |state, level, edge| match components.kind(state) {
        _ if !components.stays(state, edge) => (0, Marks::NONE),
        Kind::Transient | Kind::Rejecting => (0, Marks::NONE),
        Kind::Accepting => (0, Marks::all(1)),
        Kind::Mixed => match advance(level, edge.marks) {
            passed if passed < all as usize => (passed, Marks::NONE),
            _ => (advance(0, edge.marks) % all as usize, Marks::all(1)),
        },
    })
}
