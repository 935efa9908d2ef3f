//! Resource limits of the translation.

use entail_model::Deadline;
use std::fmt;

#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    pub states: usize,
    pub edges: usize,
    /// Elementary steps; some hundred million take a second.
    pub steps: u64,
    pub deadline: Deadline<'a>,
}

impl Limits<'_> {
    /// Checks the size of an automaton.
    pub(crate) fn check(self, states: usize, edges: usize) -> Result<(), Limit> {
        if states > self.states {
            return Err(Limit::States(self.states));
        }
        if edges > self.edges { Err(Limit::Edges(self.edges)) } else { Ok(()) }
    }
}

impl Default for Limits<'_> {
    /// Far more than a useful formula needs, and a few seconds at most.
    fn default() -> Self {
        Limits { states: 20_000, edges: 400_000, steps: 200_000_000, deadline: Deadline::NEVER }
    }
}

/// A limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    States(usize),
    Edges(usize),
    Steps(u64),
    /// The deadline has passed.
    Time,
    /// The height of the formula.
    Height(u32),
    /// The number of distinct subformulas.
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
            Limit::Time => write!(f, "there is no time to build its automaton"),
            Limit::Height(limit) => write!(f, "more than {limit} operators stand above one another"),
            Limit::Parts(limit) => write!(f, "it has more than {limit} different parts"),
            Limit::Propositions => write!(f, "it has more than {} propositions", crate::formula::MAX_PROPOSITIONS),
            Limit::AcceptanceSets => write!(f, "its automaton has more than 64 acceptance sets"),
        }
    }
}

impl std::error::Error for Limit {}

/// The remaining steps.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    left: u64,
    /// The limit to report when the budget is exhausted.
    excess: Limit,
    deadline: Deadline<'a>,
}

/// The clock is read after this many steps, a power of two.
const BETWEEN_LOOKS: u64 = 1 << 14;

impl<'a> Budget<'a> {
    pub fn of(limits: Limits<'a>) -> Budget<'a> {
        Budget { left: limits.steps, excess: Limit::Steps(limits.steps), deadline: limits.deadline }
    }

    pub fn spend(&mut self, steps: u64) -> Result<(), Limit> {
        let Some(left) = self.left.checked_sub(steps) else {
            self.left = 0;
            return Err(self.excess);
        };
        if left / BETWEEN_LOOKS != self.left / BETWEEN_LOOKS && self.deadline.is_over() {
            (self.left, self.excess) = (0, Limit::Time);
            return Err(self.excess);
        }
        self.left = left;
        Ok(())
    }

    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub fn deadline(&self) -> Deadline<'a> {
        self.deadline
    }

    /// The limit that was exceeded.
    pub fn excess(&self) -> Limit {
        self.excess
    }
}
