//! Never claims: automata for the runs that a model must not have.

use crate::automaton::{Automaton, Edge, Marks, State};
use crate::cube::Cube;
use crate::degeneralise::{Unfolded, degeneralise};
use crate::limits::{Limit, Limits};
use crate::reduce;
use entail_model::{Fault, FaultKind};

/// Forbidden runs: those that the automaton accepts, and those that reach one of its end states, however they continue.
#[derive(Clone, Debug)]
pub struct Claim {
    pub automaton: Automaton,
    pub ends: Vec<End>,
    /// The names of its states in the source; a state without a name has a number.
    pub names: Vec<String>,
    /// The claim is known to be stutter-invariant, so that partial-order reduction is sound.
    pub is_stutter_invariant: bool,
}

/// A state of the automaton in which every run is a violation.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub state: State,
    /// The violation.
    pub fault: Fault,
}

impl End {
    /// The last state of a never claim; `place` is its place in the model.
    pub fn of_never(state: State, place: u32) -> End {
        End { state, fault: Fault { kind: FaultKind::ClaimEnd, place, times: 1 } }
    }

    fn bad_prefix(state: State) -> End {
        End { state, fault: Fault { kind: FaultKind::Refuted, place: u32::MAX, times: 1 } }
    }
}

impl Claim {
    /// Forbids every run.
    pub fn anything() -> Claim {
        let stays = Edge { target: State::INITIAL, marks: Marks::NONE, label: Cube::TRUE };
        Claim::new(Automaton { edges: vec![vec![stays]], sets: 0 })
    }

    pub fn new(automaton: Automaton) -> Claim {
        Claim { automaton, ends: Vec::new(), names: Vec::new(), is_stutter_invariant: false }
    }

    /// Makes every state that accepts all continuations an end state: its prefixes are bad prefixes. Sound if every
    /// finite run can be extended to a fair one.
    #[must_use]
    pub fn with_bad_prefixes(&self) -> Claim {
        let all = Marks::all(self.automaton.sets);
        let accepts_all = |state: &State| {
            let self_loop = Edge { target: *state, marks: all, label: Cube::TRUE };
            self.automaton.leaving(*state).contains(&self_loop)
        };
        let bad_prefixes = self.automaton.states().filter(accepts_all).map(End::bad_prefix);
        Claim { ends: self.ends.iter().copied().chain(bad_prefixes).collect(), ..self.clone() }
    }

    /// The same runs with one acceptance set, or none.
    pub fn degeneralised(&self, limits: Limits) -> Result<Claim, Limit> {
        if self.automaton.sets <= 1 {
            return Ok(self.clone());
        }
        let Unfolded { edges, origins } = degeneralise(&self.automaton, limits)?;
        let mut automaton = Automaton { edges, sets: 1 };
        if self.ends.is_empty() {
            // Reduction renumbers the states.
            reduce(&mut automaton, limits);
        }
        let ends = automaton.states().zip(origins);
        let ends = ends.filter_map(|(state, origin)| Some(End { state, fault: self.end(origin)? })).collect();
        Ok(Claim { automaton, ends, names: Vec::new(), is_stutter_invariant: self.is_stutter_invariant })
    }

    /// Whether all forbidden runs reach an end state: then the claim is a safety property, and a search for cycles is
    /// unnecessary.
    pub fn is_safety(&self) -> bool {
        let mut others = self.automaton.clone();
        others.edges.iter_mut().for_each(|edges| edges.retain(|edge| self.end(edge.target).is_none()));
        others.is_empty()
    }

    /// The violation in this state, if it is an end state.
    pub fn end(&self, state: State) -> Option<Fault> {
        self.ends.iter().find(|end| end.state == state).map(|end| end.fault)
    }

    pub fn name(&self, state: State) -> String {
        let given = self.names.get(state.index()).filter(|name| !name.is_empty());
        given.cloned().unwrap_or_else(|| format!("state {}", state.0))
    }

    /// The number of bits of a state of the automaton.
    pub fn bits(&self) -> u32 {
        usize::BITS - self.automaton.len().saturating_sub(1).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formulas, Proposition, translate};

    /// Whether every word that violates a formula has a bad prefix.
    fn is_safety(formula: impl Fn(&mut Formulas, crate::Formula, crate::Formula) -> crate::Formula) -> bool {
        let mut formulas = Formulas::default();
        let (p, q) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let formula = formula(&mut formulas, p, q);
        let broken = formulas.not(formula);
        let automaton = translate(&mut formulas, broken, Limits::default()).expect("a small formula");
        Claim::new(automaton).with_bad_prefixes().is_safety()
    }

    #[test]
    fn safety_formulas_have_bad_prefixes() {
        assert!(is_safety(|formulas, p, _| formulas.always(p)));
        assert!(is_safety(|formulas, p, q| formulas.weak_until(p, q)));
        assert!(is_safety(|formulas, p, q| {
            let next = formulas.next(q);
            let implies = formulas.implies(p, next);
            formulas.always(implies)
        }));
    }

    #[test]
    fn other_formulas_do_not() {
        assert!(!is_safety(|formulas, p, _| formulas.eventually(p)));
        assert!(!is_safety(|formulas, p, q| formulas.until(p, q)));
        assert!(!is_safety(|formulas, p, q| {
            let (always, eventually) = (formulas.always(p), formulas.eventually(q));
            formulas.and([always, eventually])
        }));
    }
}
