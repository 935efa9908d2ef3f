//! Stutter invariance of formulas.

use crate::automaton::{Automaton, Edge};
use crate::formula::{Formula, Formulas};
use crate::labels;
use crate::limits::{Budget, Limit, Limits};

/// Whether adding or removing repetitions of a letter never changes whether a word satisfies the formula. Then
/// partial-order reduction is sound for it.
///
/// After Michaud, Duret-Lutz: Practical stutter-invariance checks for ω-regular languages, SPIN 2015.
pub fn is_stutter_invariant(formulas: &mut Formulas, formula: Formula, limits: Limits) -> Result<bool, Limit> {
    let simple = formulas.simplify(formula);
    if !formulas.has_next(simple) {
        return Ok(true);
    }
    let negation = formulas.not(simple);
    let accepted = without_repetitions(crate::translate(formulas, simple, limits)?, limits)?;
    let refused = without_repetitions(crate::translate(formulas, negation, limits)?, limits)?;
    Ok(accepted.product(&refused, limits)?.is_empty())
}

/// Also accepts the words that result from accepted ones by removing repetitions of letters: two consecutive edges for
/// the same letter become one.
fn without_repetitions(mut automaton: Automaton, limits: Limits) -> Result<Automaton, Limit> {
    let mut budget = Budget::of(limits);
    loop {
        let mut shortcuts = Vec::new();
        let mut count = 0;
        for state in automaton.states() {
            let mut leaving: Vec<Edge> = automaton.leaving(state).to_vec();
            for first in automaton.leaving(state) {
                let seconds = automaton.leaving(first.target);
                budget.spend(seconds.len() as u64)?;
                leaving.extend(seconds.iter().filter_map(|second| {
                    let label = first.label.and(second.label)?;
                    Some(Edge { target: second.target, marks: first.marks.with(second.marks), label })
                }));
            }
            leaving.sort_unstable();
            leaving.dedup();
            labels::drop_covered(&mut leaving, |covered, by| covered.target == by.target, &mut budget);
            if budget.is_spent() {
                return Err(budget.excess());
            }
            count += leaving.len();
            if count > limits.edges {
                return Err(Limit::Edges(limits.edges));
            }
            shortcuts.push(leaving);
        }
        let same = shortcuts == automaton.edges;
        automaton.edges = shortcuts;
        if same {
            return Ok(automaton);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Proposition;

    /// `make` builds a formula over two propositions.
    fn is_invariant(make: impl Fn(&mut Formulas, Formula, Formula) -> Formula) -> bool {
        let mut formulas = Formulas::default();
        let (a, b) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let formula = make(&mut formulas, a, b);
        is_stutter_invariant(&mut formulas, formula, Limits::default()).unwrap()
    }

    #[test]
    fn without_next_it_cannot_tell() {
        assert!(is_invariant(|f, a, b| f.until(a, b)));
    }

    #[test]
    fn the_second_state_is_one_it_can_tell() {
        assert!(!is_invariant(|f, a, _| f.next(a)));
        assert!(!is_invariant(|f, a, b| {
            let then = f.next(b);
            let both = f.and([a, then]);
            f.eventually(both)
        }));
    }

    #[test]
    fn a_change_of_value_is_one_that_repetition_does_not_hide() {
        // F (a && X !a): a stops holding at some time.
        assert!(is_invariant(|f, a, _| {
            let not = f.not(a);
            let then = f.next(not);
            let both = f.and([a, then]);
            f.eventually(both)
        }));
        // G (a -> X a): once a holds, it always holds.
        assert!(is_invariant(|f, a, _| {
            let then = f.next(a);
            let goes_on = f.implies(a, then);
            f.always(goes_on)
        }));
        // F (a && X (!a && b)): b holds when a stops holding.
        assert!(is_invariant(|f, a, b| {
            let not = f.not(a);
            let after = f.and([not, b]);
            let then = f.next(after);
            let both = f.and([a, then]);
            f.eventually(both)
        }));
        // F (a && X (a && X !a)): a held at least twice before.
        assert!(!is_invariant(|f, a, _| {
            let not = f.not(a);
            let last = f.next(not);
            let twice = f.and([a, last]);
            let then = f.next(twice);
            let both = f.and([a, then]);
            f.eventually(both)
        }));
    }

    #[test]
    fn a_next_that_says_nothing_does_not_matter() {
        assert!(is_invariant(|f, a, _| {
            let not = f.not(a);
            let then = f.next(not);
            let also = f.next(a);
            f.and([then, also])
        }));
    }
}
