//! Generalised Büchi automata with acceptance on edges.

use crate::cube::Cube;
use crate::limits::{Limit, Limits};
use crate::scc::Sccs;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State(pub u32);

/// A set of acceptance marks of an edge, as a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub target: State,
    pub marks: Marks,
    pub label: Cube,
}

/// A run is accepted if it takes edges of every acceptance set infinitely often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The edges that leave each state. The first state is the initial one, from which all others can be reached.
    pub edges: Vec<Vec<Edge>>,
    /// The number of acceptance sets, at most 64.
    pub sets: u32,
}

impl State {
    pub const INITIAL: State = State(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Marks {
    pub const NONE: Marks = Marks(0);

    /// All of `sets` acceptance sets.
    pub fn all(sets: u32) -> Marks {
        Marks(u64::MAX.checked_shr(64 - sets).unwrap_or(0))
    }

    pub fn contains(self, other: Marks) -> bool {
        other.0 & !self.0 == 0
    }

    pub fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..64).filter(move |set| self.0 >> set & 1 == 1)
    }
}

impl Automaton {
    /// An automaton that accepts no word.
    pub fn empty() -> Automaton {
        Automaton { edges: vec![Vec::new()], sets: 0 }
    }

    pub fn states(&self) -> impl Iterator<Item = State> + use<> {
        (0..self.edges.len() as u32).map(State)
    }

    pub fn len(&self) -> usize {
        self.edges.len()
    }

    pub fn leaving(&self, state: State) -> &[Edge] {
        &self.edges[state.index()]
    }

    /// Whether it accepts no word.
    pub fn is_empty(&self) -> bool {
        !Sccs::of(self).any_accepting()
    }

    /// Accepts the words that both accept.
    pub fn product(&self, other: &Automaton, limits: Limits) -> Result<Automaton, Limit> {
        if self.sets + other.sets > 64 {
            return Err(Limit::AcceptanceSets);
        }
        let mut numbers = HashMap::from([((State::INITIAL, State::INITIAL), State::INITIAL)]);
        let mut pairs = vec![(State::INITIAL, State::INITIAL)];
        let mut edges = Vec::new();
        let mut count = 0;
        while let Some(&(left, right)) = pairs.get(edges.len()) {
            let mut leaving = Vec::new();
            for one in self.leaving(left) {
                for two in other.leaving(right) {
                    let Some(label) = one.label.and(two.label) else { continue };
                    let pair = (one.target, two.target);
                    let target = *numbers.entry(pair).or_insert_with(|| {
                        pairs.push(pair);
                        State(pairs.len() as u32 - 1)
                    });
                    let marks = Marks(one.marks.0 | two.marks.0.checked_shl(self.sets).unwrap_or(0));
                    leaving.push(Edge { target, marks, label });
                }
            }
            count += leaving.len();
            if count > limits.edges {
                return Err(Limit::Edges(limits.edges));
            }
            if pairs.len() > limits.states {
                return Err(Limit::States(limits.states));
            }
            edges.push(leaving);
        }
        Ok(Automaton { edges, sets: self.sets + other.sets })
    }
}
