//! Simulation-based reduction: merges states and removes edges.
//!
//! After Etessami, Holzmann (CONCUR 2000), Somenzi, Bloem (CAV 2000) and Babiak, Badie, Duret-Lutz, Křetínský,
//! Strejček: Compositional approach to suspension and other improvements to LTL translation, SPIN 2013. A state
//! simulates another if it can answer each of its edges by edges for the same letters, with at least the same marks, to
//! states that simulate the targets; backwards likewise.

use crate::automaton::{Automaton, Edge, State};
use crate::labels::{self, drop_covered};
use crate::limits::{Budget, Limit, Limits};
use crate::prune::{keep_reachable, prune};

/// Reduces to a fixpoint. If the budget is exhausted, the result so far is also correct.
pub fn reduce(automaton: &mut Automaton, limits: Limits) {
    let mut budget = Budget::of(limits);
    loop {
        let size = size(automaton);
        let done = forward(automaton, &mut budget).and_then(|()| backward(automaton, &|_, _| true, &mut budget));
        prune(automaton);
        labels::merge(automaton, limits.deadline);
        if done.is_err() || self::size(automaton) >= size {
            // An automaton with superfluous choices is also correct.
            let _ = trim(automaton, &mut budget);
            return;
        }
    }
}

/// The number of states and of edges.
pub fn size(automaton: &Automaton) -> (usize, usize) {
    (automaton.len(), automaton.edges.iter().map(Vec::len).sum())
}

pub fn forward(automaton: &mut Automaton, budget: &mut Budget) -> Result<(), Limit> {
    let relation = Relation::of(&automaton.edges, &|_, _| true, budget)?;
    let chosen: Vec<State> = automaton.states().map(|state| relation.representative(state)).collect();
    for state in automaton.states() {
        let leaving = &mut automaton.edges[state.index()];
        leaving.iter_mut().for_each(|edge| edge.target = chosen[edge.target.index()]);
        leaving.sort_unstable();
        leaving.dedup();
        drop_covered(leaving, |covered, by| relation.simulates(by.target, covered.target), budget);
    }
    keep_reachable(automaton);
    Ok(())
}

/// `alike` returns whether two states may be merged, apart from their incoming edges.
pub fn backward(
    automaton: &mut Automaton,
    alike: &dyn Fn(State, State) -> bool,
    budget: &mut Budget,
) -> Result<(), Limit> {
    let arriving = reversed(&automaton.edges);
    // Only the initial state is reached by the empty word.
    let may = |one: State, other: State| (one != State::INITIAL || other == State::INITIAL) && alike(one, other);
    let relation = Relation::of(&arriving, &may, budget)?;
    let chosen: Vec<State> = automaton.states().map(|state| relation.representative(state)).collect();
    let mut kept = vec![Vec::new(); automaton.len()];
    for state in automaton.states().filter(|&state| chosen[state.index()] == state) {
        let mut arriving = arriving[state.index()].clone();
        arriving.iter_mut().for_each(|edge| edge.target = chosen[edge.target.index()]);
        arriving.sort_unstable();
        arriving.dedup();
        drop_covered(&mut arriving, |covered, by| relation.simulates(by.target, covered.target), budget);
        kept[state.index()] = arriving;
    }
    automaton.edges = reversed(&kept);
    keep_reachable(automaton);
    Ok(())
}

/// Reduces nondeterminism: if one edge is at least as good as another for a letter, removes the letter from the other,
/// as long as its label remains a cube. Fewer choices make the product with a model smaller.
pub fn trim(automaton: &mut Automaton, budget: &mut Budget) -> Result<(), Limit> {
    let relation = Relation::of(&automaton.edges, &|_, _| true, budget)?;
    let is_better = |better: &Edge, edge: &Edge| {
        better.marks.contains(edge.marks)
            && relation.simulates(better.target, edge.target)
            && (better.target, better.marks) != (edge.target, edge.marks)
    };
    for leaving in &mut automaton.edges {
        for at in 0..leaving.len() {
            budget.spend(leaving.len() as u64)?;
            for other in 0..leaving.len() {
                if is_better(&leaving[other], &leaving[at]) {
                    leaving[at].label = leaving[at].label.outside(leaving[other].label);
                }
            }
        }
    }
    Ok(())
}

fn reversed(edges: &[Vec<Edge>]) -> Vec<Vec<Edge>> {
    let mut reversed = vec![Vec::new(); edges.len()];
    for (source, leaving) in edges.iter().enumerate() {
        for edge in leaving {
            reversed[edge.target.index()].push(Edge { target: State(source as u32), ..*edge });
        }
    }
    reversed
}

/// A simulation relation.
struct Relation {
    count: usize,
    /// `[one * count + other]`: whether `other` simulates `one`.
    simulated: Vec<bool>,
}

impl Relation {
    /// The largest simulation among the pairs that `may` permits.
    fn of(edges: &[Vec<Edge>], may: &dyn Fn(State, State) -> bool, budget: &mut Budget) -> Result<Relation, Limit> {
        let count = edges.len();
        budget.spend((count * count) as u64)?;
        let states = || (0..count as u32).map(State);
        let simulated = states().flat_map(|one| states().map(move |other| may(one, other))).collect();
        let mut relation = Relation { count, simulated };
        let mut changed = true;
        while changed {
            changed = false;
            for (one, other) in states().flat_map(|one| states().map(move |other| (one, other))) {
                if one != other
                    && relation.simulates(other, one)
                    && !relation.answers(&edges[one.index()], &edges[other.index()], budget)?
                {
                    relation.simulated[one.index() * count + other.index()] = false;
                    changed = true;
                }
            }
        }
        Ok(relation)
    }

    fn answers(&self, calls: &[Edge], answers: &[Edge], budget: &mut Budget) -> Result<bool, Limit> {
        for call in calls {
            budget.spend(1 + answers.len() as u64)?;
            let fits =
                |answer: &&Edge| answer.marks.contains(call.marks) && self.simulates(answer.target, call.target);
            let labels: Vec<_> = answers.iter().filter(fits).map(|answer| answer.label).collect();
            if !call.label.is_covered(&labels, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn simulates(&self, one: State, other: State) -> bool {
        self.simulated[other.index() * self.count + one.index()]
    }

    /// The first state that is simulation-equivalent to this one.
    fn representative(&self, state: State) -> State {
        let equivalent = |&other: &State| self.simulates(state, other) && self.simulates(other, state);
        (0..state.0).map(State).find(equivalent).unwrap_or(state)
    }
}
