//! The way of a claim's automaton along a word that it forbids.

use crate::automaton::{Automaton, Marks, State};
use crate::claim::Claim;
use std::collections::BTreeMap;

/// What an automaton reads: letters, and if the word goes on for ever, which of them are repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    pub all: Vec<u64>,
    /// The first of those that are repeated.
    pub repeated_from: Option<usize>,
}

/// The states that can be reached by reading letters, with the sets met on the way; and where each was reached from.
type Layer = BTreeMap<(State, Marks), (State, Marks)>;

/// Layers for longer words would take too much time and memory.
const MOST_STEPS: usize = 1 << 20;

impl Claim {
    /// The states in which the automaton reads the letters, one after the other, so that it comes to an end with the last
    /// one, or accepts what is repeated for ever. `None` if there is no such way, or it is too long to be found.
    pub fn way(&self, letters: &Letters) -> Option<Vec<State>> {
        match letters.repeated_from {
            None => self.way_to_end(&letters.all),
            Some(first) => {
                let (stem, cycle) = letters.all.split_at_checked(first).filter(|(_, cycle)| !cycle.is_empty())?;
                self.way_round(stem, cycle)
            }
        }
    }

    fn way_to_end(&self, letters: &[u64]) -> Option<Vec<State>> {
        let layers = layers(&self.automaton, State::INITIAL, letters)?;
        let last = layers.last()?.keys().find(|(state, _)| self.end(*state).is_some())?;
        Some(backwards(&layers, *last))
    }

    /// It may take several rounds until the automaton is where it was; only the first one is told.
    fn way_round(&self, stem: &[u64], cycle: &[u64]) -> Option<Vec<State>> {
        let all = Marks::all(self.automaton.sets);
        let before = layers(&self.automaton, State::INITIAL, stem)?;
        for rounds in 1..=self.automaton.len() {
            let letters = cycle.repeat(rounds);
            for &(state, marks) in before.last()?.keys() {
                let around = layers(&self.automaton, state, &letters)?;
                if around.last()?.contains_key(&(state, all)) {
                    let mut way = backwards(&before, (state, marks));
                    way.extend(backwards(&around, (state, all)).into_iter().take(cycle.len()));
                    return Some(way);
                }
            }
        }
        None
    }
}

/// What can be reached before the first letter, and after each of them.
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

/// The states before each letter on the way to the last one.
fn backwards(layers: &[Layer], last: (State, Marks)) -> Vec<State> {
    let mut at = last;
    let mut way: Vec<State> = layers
        .iter()
        .skip(1)
        .rev()
        .map(|layer| {
            at = layer[&at];
            at.0
        })
        .collect();
    way.reverse();
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formulas, Limits, Proposition, translate};

    /// Of the runs that break `[] (p -> <> q)`.
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
    fn the_way_along_a_forbidden_word_ends_where_it_is_accepted() {
        let (claim, p, q) = (unanswered(), 1, 2);
        let letters = Letters { all: vec![q, p, 0, p], repeated_from: Some(2) };
        let way = claim.way(&letters).expect("p without q");
        assert_eq!(way.len(), 4);
        assert_eq!(way[0], State::INITIAL);
        assert_ne!(way[2], State::INITIAL);
        assert_eq!(way[2], way[3]);
    }

    #[test]
    fn there_is_no_way_along_other_words() {
        let (claim, p, q) = (unanswered(), 1, 2);
        assert_eq!(claim.way(&Letters { all: vec![p, 0, q], repeated_from: Some(1) }), None);
        assert_eq!(claim.way(&Letters { all: vec![p, 0, 0], repeated_from: None }), None);
        assert_eq!(claim.way(&Letters { all: vec![p], repeated_from: Some(1) }), None);
    }

    #[test]
    fn a_word_without_end_may_go_round_more_often_than_its_letters() {
        // Even positions are accepted, and there is only one letter.
        let edge = |target| crate::automaton::Edge { target, marks: Marks::NONE, label: crate::cube::Cube::TRUE };
        let accepting = crate::automaton::Edge { marks: Marks::all(1), ..edge(State(1)) };
        let automaton = Automaton { edges: vec![vec![accepting], vec![edge(State(0))]], sets: 1 };
        let way = Claim::new(automaton).way(&Letters { all: vec![0], repeated_from: Some(0) });
        assert_eq!(way, Some(vec![State(0)]));
    }
}
