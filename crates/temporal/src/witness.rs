//! Witness paths: the run of a claim's automaton on a word that it forbids.

use crate::automaton::{Automaton, Marks, State};
use crate::claim::Claim;
use std::collections::BTreeMap;

/// A finite word, or an infinite one of the form u v^ω.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub all: Vec<u64>,
    /// The index of the first letter of v, if the word is infinite.
    pub repeated_from: Option<usize>,
}

/// The states reached by reading a prefix, with the acceptance marks on the path; and the predecessor of each.
type Layer = BTreeMap<(State, Marks), (State, Marks)>;

/// Longer words would take too much time and memory.
const MOST_STEPS: usize = 1 << 20;

impl Claim {
    /// The states of an accepting run on the word, or of one that reaches an end state with the last letter. `None` if
    /// there is no such run, or the word is too long.
    pub fn path(&self, letters: &Word) -> Option<Vec<State>> {
        match letters.repeated_from {
            None => self.path_to_end(&letters.all),
            Some(first) => {
                let (stem, cycle) = letters.all.split_at_checked(first).filter(|(_, cycle)| !cycle.is_empty())?;
                self.path_around(stem, cycle)
            }
        }
    }

    fn path_to_end(&self, letters: &[u64]) -> Option<Vec<State>> {
        let layers = layers(&self.automaton, State::INITIAL, letters)?;
        let last = layers.last()?.keys().find(|(state, _)| self.end(*state).is_some())?;
        Some(backwards(&layers, *last))
    }

    /// The automaton may need several rounds of the cycle to return to a state; the path has only the first.
    fn path_around(&self, stem: &[u64], cycle: &[u64]) -> Option<Vec<State>> {
        let all = Marks::all(self.automaton.sets);
        let before = layers(&self.automaton, State::INITIAL, stem)?;
        for rounds in 1..=self.automaton.len() {
            let letters = cycle.repeat(rounds);
            for &(state, marks) in before.last()?.keys() {
                let around = layers(&self.automaton, state, &letters)?;
                if around.last()?.contains_key(&(state, all)) {
                    let mut path = backwards(&before, (state, marks));
                    path.extend(backwards(&around, (state, all)).into_iter().take(cycle.len()));
                    return Some(path);
                }
            }
        }
        None
    }
}

/// The layers before the first letter and after each letter.
fn layers(automaton: &Automaton, start: State, letters: &[u64]) -> Option<Vec<Layer>> {
    let first = (start, Marks::NONE);
    let mut layers = vec![Layer::from([(first, first)])];
    let mut steps = 0;
    for &letter in letters {
        let mut next = Layer::new();
        for &(state, marks) in layers.last()?.keys() {
            for edge in automaton.leaving(state).iter().filter(|edge| edge.label.holds(letter)) {
                next.entry((edge.target, marks.with(edge.marks))).or_insert((state, marks));
                steps += 1;
            }
        }
        layers.push(next);
        if steps > MOST_STEPS {
            return None;
        }
    }
    Some(layers)
}

/// The states before each letter on the path to the last one.
fn backwards(layers: &[Layer], last: (State, Marks)) -> Vec<State> {
    let mut at = last;
    let mut path: Vec<State> = layers
        .iter()
        .skip(1)
        .rev()
        .map(|layer| {
            at = layer[&at];
            at.0
        })
        .collect();
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formulas, Limits, Proposition, translate};

    /// A claim for the violations of `[] (p -> <> q)`.
    fn unanswered() -> Claim {
        let mut formulas = Formulas::default();
        let (p, q) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let answered = formulas.eventually(q);
        let implies = formulas.implies(p, answered);
        let formula = formulas.always(implies);
        let broken = formulas.not(formula);
        Claim::new(translate(&mut formulas, broken, Limits::default()).expect("a small formula"))
    }

    #[test]
    fn a_forbidden_word_has_a_witness_path() {
        let (claim, p, q) = (unanswered(), 1, 2);
        let letters = Word { all: vec![q, p, 0, p], repeated_from: Some(2) };
        let way = claim.path(&letters).expect("p without q");
        assert_eq!(way.len(), 4);
        assert_eq!(way[0], State::INITIAL);
        assert_ne!(way[2], State::INITIAL);
        assert_eq!(way[2], way[3]);
    }

    #[test]
    fn other_words_have_no_witness_path() {
        let (claim, p, q) = (unanswered(), 1, 2);
        assert_eq!(claim.path(&Word { all: vec![p, 0, q], repeated_from: Some(1) }), None);
        assert_eq!(claim.path(&Word { all: vec![p, 0, 0], repeated_from: None }), None);
        assert_eq!(claim.path(&Word { all: vec![p], repeated_from: Some(1) }), None);
    }

    #[test]
    fn a_run_may_need_several_rounds_of_the_cycle() {
        // Even positions are accepting, and there is only one letter.
        let edge = |target| crate::automaton::Edge { target, marks: Marks::NONE, label: crate::cube::Cube::TRUE };
        let accepting = crate::automaton::Edge { marks: Marks::all(1), ..edge(State(1)) };
        let automaton = Automaton { edges: vec![vec![accepting], vec![edge(State(0))]], sets: 1 };
        let way = Claim::new(automaton).path(&Word { all: vec![0], repeated_from: Some(0) });
        assert_eq!(way, Some(vec![State(0)]));
    }
}
