//! Removal of superfluous states, edges and acceptance sets.

use crate::automaton::{Automaton, Marks, State};
use crate::scc::{Kind, Scc, Sccs};
use std::collections::{HashMap, HashSet};

/// Removes useless states, and marks that make no difference.
pub fn prune(automaton: &mut Automaton) {
    keep_useful_states(automaton);
    keep_useful_marks(automaton);
}

/// Removes states that are unreachable or from which no word is accepted.
pub fn keep_useful_states(automaton: &mut Automaton) {
    let components = Sccs::of(automaton);
    let mut sources: Vec<Vec<State>> = vec![Vec::new(); automaton.len()];
    for state in automaton.states() {
        automaton.leaving(state).iter().for_each(|edge| sources[edge.target.index()].push(state));
    }
    let mut useful: HashSet<State> =
        automaton.states().filter(|&state| components.kind(state).can_accept()).collect();
    let mut waiting: Vec<State> = useful.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        waiting.extend(sources[state.index()].iter().copied().filter(|&source| useful.insert(source)));
    }
    for leaving in &mut automaton.edges {
        leaving.retain(|edge| useful.contains(&edge.target));
    }
    keep_reachable(automaton);
}

/// Removes unreachable states and numbers the others in the order of discovery.
pub fn keep_reachable(automaton: &mut Automaton) {
    let mut numbers = HashMap::from([(State::INITIAL, State::INITIAL)]);
    let mut order = vec![State::INITIAL];
    let mut edges = Vec::new();
    while let Some(&state) = order.get(edges.len()) {
        let mut leaving = std::mem::take(&mut automaton.edges[state.index()]);
        for edge in &mut leaving {
            edge.target = *numbers.entry(edge.target).or_insert_with(|| {
                order.push(edge.target);
                State(order.len() as u32 - 1)
            });
        }
        edges.push(leaving);
    }
    automaton.edges = edges;
}

/// Minimises the number of sets in each component. Components share the sets.
fn keep_useful_marks(automaton: &mut Automaton) {
    let components = Sccs::of(automaton);
    let mut inside: HashMap<Scc, Vec<Marks>> = HashMap::new();
    for state in automaton.states() {
        if components.kind(state) == Kind::Mixed {
            let component = components.component(state);
            let staying = automaton.leaving(state).iter().filter(|edge| components.stays(state, edge));
            inside.entry(component).or_default().extend(staying.map(|edge| edge.marks));
        }
    }
    let needed: HashMap<Scc, Vec<u32>> =
        inside.iter().map(|(&component, marks)| (component, needed_sets(automaton.sets, marks))).collect();
    // A component that accepts nothing must lack at least one set.
    let least = u32::from(automaton.states().any(|state| components.kind(state) == Kind::Rejecting));
    let sets = needed.values().map(|sets| sets.len() as u32).max().unwrap_or(0).max(least);
    let renamed = |marks: Marks, kept: &[u32]| {
        let unused = Marks::all(sets).0 & !Marks::all(kept.len() as u32).0;
        let used = kept.iter().enumerate().map(|(to, from)| (marks.0 >> from & 1) << to);
        Marks(used.fold(unused, |all, one| all | one))
    };
    for state in automaton.states() {
        let component = components.component(state);
        for edge in &mut automaton.edges[state.index()] {
            edge.marks = match components.kind(state) {
                _ if !components.stays(state, edge) => Marks::NONE,
                Kind::Transient | Kind::Rejecting => Marks::NONE,
                Kind::Mixed => renamed(edge.marks, &needed[&component]),
                Kind::Accepting => Marks::all(sets),
            };
        }
    }
    automaton.sets = sets;
}

/// The sets that are not implied by another: a superset of another set is superfluous.
fn needed_sets(sets: u32, marks: &[Marks]) -> Vec<u32> {
    let contains =
        |large: u32, small: u32| marks.iter().all(|marks| marks.0 >> small & 1 == 0 || marks.0 >> large & 1 == 1);
    let mut needed: Vec<u32> = (0..sets).collect();
    let mut at = 0;
    while at < needed.len() {
        let one = needed[at];
        if needed.iter().any(|&other| other != one && contains(one, other)) {
            needed.remove(at);
        } else {
            at += 1;
        }
    }
    needed
}
