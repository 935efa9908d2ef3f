//! Infinite runs, which of them are accepted, and what holds in their states.

use crate::{Fault, Model, State};

/// A model some of whose infinite runs are accepted: those that take steps of certain sets again and again. (Acceptance
/// as of Büchi, generalised, and as of Streett, on steps.)
pub trait Accepting: Model {
    /// The sets of which every accepted run takes steps again and again.
    fn sets(&self) -> Sets;

    /// The sets to which every step out of a stable state belongs, given all steps.
    fn sets_at(&self, _state: &State, _steps: &[Self::Step]) -> Sets {
        Sets::default()
    }

    /// The sets to which a step belongs wherever it is taken.
    fn sets_of(&self, _step: Self::Step) -> Sets {
        Sets::default()
    }

    /// The sets that a stable state demands, given all steps out of it: an accepted run that comes to such states again
    /// and again takes steps of these sets again and again.
    fn demands(&self, _state: &State, _steps: &[Self::Step]) -> Sets {
        Sets::default()
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

/// Some of the sets of a model, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sets(pub u64);

impl Sets {
    /// How many there can be.
    pub const MOST: u32 = u64::BITS;

    /// The first so many, or all.
    pub fn first(count: u32) -> Sets {
        Sets(u64::MAX.checked_shr(Sets::MOST.saturating_sub(count)).unwrap_or(0))
    }

    /// The one with this number, if there can be so many.
    pub fn one(number: usize) -> Option<Sets> {
        1u64.checked_shl(number as u32).map(Sets)
    }

    #[must_use]
    pub fn and(self, other: Sets) -> Sets {
        Sets(self.0 | other.0)
    }

    #[must_use]
    pub fn without(self, other: Sets) -> Sets {
        Sets(self.0 & !other.0)
    }

    /// Whether some of these are among the others.
    pub fn meet(self, others: Sets) -> bool {
        self.0 & others.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the others are among these.
    pub fn contain(self, others: Sets) -> bool {
        others.0 & !self.0 == 0
    }
}
