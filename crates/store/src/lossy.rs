//! Lossy sets: a hash collision can hide a state and everything reachable only through it.

use entail_disk::snapshot;
use entail_model::{Full, Growth, Visit};

use crate::bitstate::BitstateSet;
use crate::compact::CompactSet;
use crate::hash::Hash;

/// A set that stores a hash of each state, or some bits of an array for it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a search has one at most")]
pub enum LossySet {
    Compact(CompactSet),
    Bitstate(BitstateSet),
}

snapshot!(enum LossySet { 0 => Compact(set), 1 => Bitstate(set) });

/// The same for either set.
macro_rules! either {
    ($self:ident, $set:ident => $value:expr) => {
        match $self {
            LossySet::Compact($set) => $value,
            LossySet::Bitstate($set) => $value,
        }
    };
}

impl LossySet {
    #[inline]
    pub(crate) fn insert(&self, hash: Hash) -> Visit {
        either!(self, set => set.insert(hash))
    }

    #[inline]
    pub(crate) fn insert_alone(&mut self, hash: Hash) -> Visit {
        match self {
            LossySet::Compact(compact) => compact.insert_alone(hash),
            LossySet::Bitstate(bitstate) => bitstate.insert(hash),
        }
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: Hash) {
        either!(self, set => set.prefetch(hash))
    }

    pub(crate) fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        match self {
            LossySet::Compact(compact) => compact.reserve(count, limit),
            // The array does not grow.
            LossySet::Bitstate(bitstate) if bitstate.is_overfull() => Err(Full),
            LossySet::Bitstate(bitstate) => (bitstate.bytes() <= limit).then_some(()).ok_or(Full),
        }
    }

    pub(crate) fn growth(&self) -> Option<Growth> {
        match self {
            LossySet::Compact(compact) => Some(compact.growth()),
            LossySet::Bitstate(_) => None,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        either!(self, set => set.len())
    }

    pub(crate) fn bytes(&self) -> u64 {
        either!(self, set => set.bytes())
    }

    /// The expected number of omitted states.
    pub(crate) fn omitted(&self) -> f64 {
        either!(self, set => set.omitted())
    }

    /// The probability that the next new state is omitted.
    pub(crate) fn confused(&self) -> f64 {
        either!(self, set => set.confused())
    }

    /// The formula of that estimate.
    pub(crate) fn formula(&self) -> String {
        either!(self, set => set.formula())
    }
}
