//! Reduction of edges: fewer edges, with simpler labels, between the same states.

use crate::automaton::{Automaton, Edge};
use crate::cube::Cube;
use crate::limits::{Budget, Limits};
use entail_model::Deadline;

/// The budget for one state. Leaving edges unmerged is correct, too.
const STEPS: u64 = 200_000;

pub fn merge(automaton: &mut Automaton, deadline: Deadline) {
    for leaving in &mut automaton.edges {
        leaving.sort_unstable();
        leaving.dedup();
        if deadline.is_over() {
            continue;
        }
        let mut budget = Budget::of(Limits { steps: STEPS, deadline, ..Limits::default() });
        for at in 0..leaving.len() {
            leaving[at].label = widest(leaving, at, &mut budget);
        }
        drop_covered(leaving, |covered, by| covered.target == by.target, &mut budget);
    }
}

/// The label of an edge without the literals that other edges make superfluous.
fn widest(leaving: &[Edge], at: usize, budget: &mut Budget) -> Cube {
    let edge = leaving[at];
    let alike = |other: &&Edge| other.target == edge.target && other.marks.contains(edge.marks);
    let labels: Vec<Cube> = leaving.iter().filter(alike).map(|other| other.label).collect();
    let mut label = edge.label;
    for (proposition, _) in edge.label.literals() {
        let wider = label.without(proposition);
        if wider.is_covered(&labels, budget) == Ok(true) {
            label = wider;
        }
    }
    label
}

/// Removes an edge if other edges cover each of its letters, among those that have at least the same marks and that
/// `serves` permits.
pub fn drop_covered(leaving: &mut Vec<Edge>, serves: impl Fn(&Edge, &Edge) -> bool, budget: &mut Budget) {
    let mut at = 0;
    while at < leaving.len() {
        let edge = leaving[at];
        let others = leaving.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, other)| other);
        let serving = others.filter(|other| other.marks.contains(edge.marks) && serves(&edge, other));
        let labels: Vec<Cube> = serving.map(|other| other.label).collect();
        if !labels.is_empty() && edge.label.is_covered(&labels, budget) == Ok(true) {
            leaving.remove(at);
        } else {
            at += 1;
        }
    }
}
