//! How much may be spent on a formula.

use std::fmt;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: usize,
    pub edges: usize,
    /// Elementary steps, of which some hundred million take a second.
    pub steps: u64,
}

impl Default for Limits {
    /// Far more than a useful formula needs, and a few seconds at most.
    fn default() -> Limits {
        Limits { states: 20_000, edges: 400_000, steps: 200_000_000 }
    }
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    States(usize),
    Edges(usize),
    Steps(u64),
    /// Operators above one another.
    Height(u32),
    /// Different formulas inside the formula.
    Parts(usize),
    Propositions,
    AcceptanceSets,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Limit::States(limit) => write!(f, "its automaton has more than {limit} states"),
            Limit::Edges(limit) => write!(f, "its automaton has more than {limit} edges"),
            Limit::Steps(limit) => write!(f, "its automaton takes more than {limit} steps to build"),
            Limit::Height(limit) => write!(f, "more than {limit} operators stand above one another"),
            Limit::Parts(limit) => write!(f, "it has more than {limit} different parts"),
            Limit::Propositions => write!(f, "it has more than {} propositions", crate::formula::MAX_PROPOSITIONS),
            Limit::AcceptanceSets => write!(f, "its automaton has more than 64 acceptance sets"),
        }
    }
}

impl std::error::Error for Limit {}

/// Steps that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
    limit: u64,
}

impl Budget {
    pub fn new(limit: u64) -> Budget {
        Budget { left: limit, limit }
    }

    pub fn spend(&mut self, steps: u64) -> Result<(), Limit> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Limit::Steps(self.limit))
    }

    pub fn is_spent(&self) -> bool {
        self.left == 0
    }
}
