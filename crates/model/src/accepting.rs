//! Infinite runs, which of them are accepted, and what holds in their states.

use crate::{Fault, Model, State};

/// A model some of whose infinite runs are accepted, by generalised Büchi and Streett acceptance on transitions.
pub trait Accepting: Model {
    /// The marks that an accepted run must carry infinitely often (generalised Büchi).
    fn acceptance(&self) -> AcceptanceMarks;

    /// The marks on every transition out of a stable state, given all steps.
    fn acceptance_at(&self, _state: &State, _steps: &[Self::Step]) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }

    /// The marks on a step, in whatever state it is taken.
    fn acceptance_of(&self, _step: Self::Step) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }

    /// The Streett requests of a stable state, given all steps out of it: a run that visits the state infinitely often is
    /// accepted only if it carries these marks infinitely often.
    fn streett_requests(&self, _state: &State, _steps: &[Self::Step]) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }
}

/// A model that says what is true in its states.
pub trait Propositional: Model {
    /// What is true in a stable state.
    fn valuation(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation;

    /// Whether something else may be true in the last state of a run once the run has ended.
    fn sees_end(&self) -> bool {
        false
    }

    /// What is true in the last state of a run once the run has ended.
    fn valuation_after_end(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        self.valuation(state, scratch)
    }
}

/// The truth of propositions, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Valuation {
    /// The propositions that are true.
    pub holds: u64,
    /// Those that cannot be evaluated.
    pub unknown: u64,
    /// Why the first of these cannot.
    pub fault: Option<Fault>,
}

/// A model of processes that move.
pub trait Concurrent: Model {
    /// How many processes there are in a state. They are numbered from 0 on.
    fn processes(&self, state: &State) -> usize;

    /// The process that takes the step; where two take it together, the one without whose wish it would not be.
    fn owner(&self, step: Self::Step) -> usize;
}

/// A set of acceptance marks, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AcceptanceMarks(pub u64);

impl AcceptanceMarks {
    /// How many there can be.
    pub const MOST: u32 = u64::BITS;

    /// The first so many, or all.
    pub fn first(count: u32) -> AcceptanceMarks {
        AcceptanceMarks(u64::MAX.checked_shr(AcceptanceMarks::MOST.saturating_sub(count)).unwrap_or(0))
    }

    /// The one with this number, if there can be so many.
    pub fn one(number: usize) -> Option<AcceptanceMarks> {
        1u64.checked_shl(number as u32).map(AcceptanceMarks)
    }

    /// The union.
    #[must_use]
    pub fn and(self, other: AcceptanceMarks) -> AcceptanceMarks {
        AcceptanceMarks(self.0 | other.0)
    }

    /// The difference.
    #[must_use]
    pub fn without(self, other: AcceptanceMarks) -> AcceptanceMarks {
        AcceptanceMarks(self.0 & !other.0)
    }

    /// Whether some of these are among the others.
    pub fn meet(self, others: AcceptanceMarks) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the others are among these.
    pub fn contain(self, others: AcceptanceMarks) -> bool {
        others.0 & !self.0 == 0
    }
}
