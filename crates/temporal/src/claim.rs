//! What runs of a model must not do.

use crate::automaton::{Automaton, Edge, Marks, State};
use crate::cube::Cube;
use crate::levels::{self, Unfolded};
use crate::limits::{Limit, Limits};
use crate::reduce;
use entail_model::{Fault, FaultKind};

/// Runs that must not be: those that the automaton accepts, and those that come to one of its ends, however they go on.
#[derive(Clone, Debug)]
pub struct Claim {
    pub automaton: Automaton,
    pub ends: Vec<End>,
    /// What its states are called by whoever made it; those without a name have a number.
    pub names: Vec<String>,
    /// It is known that a run is accepted however often its states are repeated, or else is not. Then it does not matter
    /// how many steps a run takes where nothing changes that the claim sees.
    pub ignores_repetition: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct End {
    pub state: State,
    /// What has gone wrong when it is reached.
    pub fault: Fault,
}

impl End {
    /// The last state of a never claim; `place` is the place in the model that says so.
    pub fn of_never(state: State, place: u32) -> End {
        End { state, fault: Fault { kind: FaultKind::ClaimEnd, place, times: 1 } }
    }

    fn settled(state: State) -> End {
        End { state, fault: Fault { kind: FaultKind::Refuted, place: u32::MAX, times: 1 } }
    }
}

impl Claim {
    /// Every run.
    pub fn anything() -> Claim {
        let stays = Edge { target: State::INITIAL, marks: Marks::NONE, label: Cube::TRUE };
        Claim::new(Automaton { edges: vec![vec![stays]], sets: 0 })
    }

    pub fn new(automaton: Automaton) -> Claim {
        Claim { automaton, ends: Vec::new(), names: Vec::new(), ignores_repetition: false }
    }

    /// The same for runs of which every beginning counts: a state that accepts whatever follows is an end.
    #[must_use]
    pub fn settled(&self) -> Claim {
        let all = Marks::all(self.automaton.sets);
        let accepts_all = |state: &State| {
            let for_ever = Edge { target: *state, marks: all, label: Cube::TRUE };
            self.automaton.leaving(*state).contains(&for_ever)
        };
        let settled = self.automaton.states().filter(accepts_all).map(End::settled);
        Claim { ends: self.ends.iter().copied().chain(settled).collect(), ..self.clone() }
    }

    /// The same with one acceptance set, or none.
    pub fn with_one_set(&self, limits: Limits) -> Result<Claim, Limit> {
        if self.automaton.sets <= 1 {
            return Ok(self.clone());
        }
        let Unfolded { edges, origins } = levels::count_sets(&self.automaton, limits)?;
        let mut automaton = Automaton { edges, sets: 1 };
        if self.ends.is_empty() {
            // States are numbered anew.
            reduce(&mut automaton, limits);
        }
        let ends = automaton.states().zip(origins);
        let ends = ends.filter_map(|(state, origin)| Some(End { state, fault: self.end(origin)? })).collect();
        Ok(Claim { automaton, ends, names: Vec::new(), ignores_repetition: self.ignores_repetition })
    }

    /// Whether all runs that it forbids come to an end of it: then there is no need to look for cycles.
    pub fn is_about_beginnings(&self) -> bool {
        let mut others = self.automaton.clone();
        others.edges.iter_mut().for_each(|edges| edges.retain(|edge| self.end(edge.target).is_none()));
        others.is_empty()
    }

    /// What has gone wrong when this state is reached.
    pub fn end(&self, state: State) -> Option<Fault> {
        self.ends.iter().find(|end| end.state == state).map(|end| end.fault)
    }

    pub fn name(&self, state: State) -> String {
        let given = self.names.get(state.index()).filter(|name| !name.is_empty());
        given.cloned().unwrap_or_else(|| format!("state {}", state.0))
    }

    /// As many as it takes to tell the automaton's states apart.
    pub fn bits(&self) -> u32 {
        usize::BITS - self.automaton.len().saturating_sub(1).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formulas, Proposition, translate};

    /// Whether the words that break a formula are known by their beginnings.
    fn is_safety(formula: impl Fn(&mut Formulas, crate::Formula, crate::Formula) -> crate::Formula) -> bool {
        let mut formulas = Formulas::default();
        let (p, q) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let formula = formula(&mut formulas, p, q);
        let broken = formulas.not(formula);
        let automaton = translate(&mut formulas, broken, Limits::default()).expect("a small formula");
        Claim::new(automaton).settled().is_about_beginnings()
    }

    #[test]
    fn safety_formulas_are_about_beginnings() {
        assert!(is_safety(|formulas, p, _| formulas.always(p)));
        assert!(is_safety(|formulas, p, q| formulas.weak_until(p, q)));
        assert!(is_safety(|formulas, p, q| {
            let next = formulas.next(q);
            let implies = formulas.implies(p, next);
            formulas.always(implies)
        }));
    }

    #[test]
    fn other_formulas_are_not() {
        assert!(!is_safety(|formulas, p, _| formulas.eventually(p)));
        assert!(!is_safety(|formulas, p, q| formulas.until(p, q)));
        assert!(!is_safety(|formulas, p, q| {
            let (always, eventually) = (formulas.always(p), formulas.eventually(q));
            formulas.and([always, eventually])
        }));
    }
}
