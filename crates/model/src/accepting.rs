//! Infinite runs, which of them are accepted, and what holds in their states.

use crate::{Model, State, Successors};

/// A model some of whose infinite runs are accepted: those that take steps of every set again and again. (Generalised
/// Büchi acceptance, on steps.)
pub trait Accepting: Model {
    /// All sets there are.
    fn sets(&self) -> Sets;

    /// The sets to which every step out of a stable state belongs, given all that can happen there.
    fn sets_at(&self, _state: &State, _successors: &Successors<Self::Step>) -> Sets {
        Sets::default()
    }

    /// The sets to which a step belongs wherever it is taken.
    fn sets_of(&self, _step: Self::Step) -> Sets {
        Sets::default()
    }
}

/// A model that says what is true in its states.
pub trait Propositional: Model {
    /// Which propositions hold in a stable state, a bit for each.
    fn valuation(&self, state: &State) -> u64;
}

/// Some of the sets of a model, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sets(pub u128);

impl Sets {
    /// How many there can be.
    pub const MOST: u32 = u128::BITS;

    /// The first so many.
    pub fn first(count: u32) -> Sets {
        Sets(u128::MAX.checked_shr(Sets::MOST - count).unwrap_or(0))
    }

    #[must_use]
    pub fn and(self, other: Sets) -> Sets {
        Sets(self.0 | other.0)
    }

    /// Whether all of the others are among these.
    pub fn contain(self, others: Sets) -> bool {
        others.0 & !self.0 == 0
    }
}
