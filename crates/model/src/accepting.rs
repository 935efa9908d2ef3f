//! Acceptance of infinite runs, and valuations of states.

use crate::{Fault, Model, State};

/// A model some of whose infinite runs are accepted, by generalised Büchi and Streett acceptance on transitions.
pub trait Accepting: Model {
    /// The marks that an accepted run must carry infinitely often (generalised Büchi).
    fn acceptance(&self) -> AcceptanceMarks;

    /// The marks on every transition out of a stable state, given all steps.
    fn acceptance_at(&self, _state: &State, _steps: &[Self::Step]) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }

    /// The marks on a step, whichever state it is taken in.
    fn acceptance_of(&self, _step: Self::Step) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }

    /// The Streett requests of a stable state, given all steps out of it: a run that visits the state infinitely often is
    /// accepted only if it carries these marks infinitely often.
    fn streett_requests(&self, _state: &State, _steps: &[Self::Step]) -> AcceptanceMarks {
        AcceptanceMarks::default()
    }
}

/// A model with propositions.
pub trait Propositional: Model {
    /// The valuation of a stable state.
    fn valuation(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation;

    /// Whether the valuation of the last state may change when a run ends.
    fn sees_end(&self) -> bool {
        false
    }

    /// The valuation of the last state of a run that has ended.
    fn valuation_after_end(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        self.valuation(state, scratch)
    }
}

/// The truth values of propositions, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Valuation {
    /// The propositions that hold.
    pub holds: u64,
    /// The propositions that cannot be evaluated.
    pub unknown: u64,
    /// The fault in the first of these.
    pub fault: Option<Fault>,
}

/// A model of concurrent processes.
pub trait Concurrent: Model {
    /// The number of processes in a state. Processes are numbered from 0.
    fn processes(&self, state: &State) -> usize;

    /// The process that takes the step; of the two processes of a rendezvous, the one that initiates it.
    fn owner(&self, step: Self::Step) -> usize;
}

/// A set of acceptance marks, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AcceptanceMarks(pub u64);

impl AcceptanceMarks {
    /// The maximal number of marks.
    pub const MOST: u32 = u64::BITS;

    /// The first `count` marks, or all.
    pub fn first(count: u32) -> AcceptanceMarks {
        AcceptanceMarks(u64::MAX.checked_shr(AcceptanceMarks::MOST.saturating_sub(count)).unwrap_or(0))
    }

    /// The mark with this number, or `None` if it is too large.
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

    /// Whether the sets intersect.
    pub fn meet(self, others: AcceptanceMarks) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this is a superset of `others`.
    pub fn contain(self, others: AcceptanceMarks) -> bool {
        others.0 & !self.0 == 0
    }
}
