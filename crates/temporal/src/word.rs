//! Lasso words.

use crate::automaton::{Automaton, Edge, State};
use crate::cube::Cube;

/// The infinite word that has the letters of `stem` and then repeats those of `cycle`, which is not empty. A letter is the set of
/// propositions that hold, as a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    pub stem: Vec<u64>,
    pub cycle: Vec<u64>,
}

impl Lasso {
    pub fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn letter(&self, position: usize) -> u64 {
        self.stem.iter().chain(&self.cycle).nth(position).copied().unwrap_or(0)
    }

    /// The next position.
    pub fn next(&self, position: usize) -> usize {
        if position + 1 < self.len() { position + 1 } else { self.stem.len() }
    }
}

impl Automaton {
    pub fn accepts(&self, word: &Lasso) -> bool {
        let at = |state: State, position: usize| State((state.index() * word.len() + position) as u32);
        let mut edges = vec![Vec::new(); self.len() * word.len()];
        for state in self.states() {
            for position in 0..word.len() {
                let possible = self.leaving(state).iter().filter(|edge| edge.label.holds(word.letter(position)));
                edges[at(state, position).index()] = possible
                    .map(|edge| Edge { target: at(edge.target, word.next(position)), label: Cube::TRUE, ..*edge })
                    .collect();
            }
        }
        let mut run = Automaton { edges, sets: self.sets };
        crate::prune::keep_reachable(&mut run);
        !run.is_empty()
    }
}
