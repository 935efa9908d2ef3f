//! Visited states: as they are, or by a hash, where they are too many.
//!
//! States become keys without loss in any case, so that what waits to be explored can be opened.

use entail_model::{Full, Growth, Guarantee, Keys, State, StateBuf, Store, Visit};

use crate::bitstate::Bitstate;
use crate::compact::Compact;
use crate::hash::{Hash, Hasher};
use crate::lossless::{Kept, Short};
use crate::tree::Opened;

/// A set of visited states, of which something may be lost.
#[derive(Debug)]
pub struct Visited<S> {
    /// Makes keys, and opens them; and keeps the states if there is no sieve.
    kept: Kept<S>,
    sieve: Option<Sieve>,
    hasher: Hasher,
}

/// A set of which the members are known by their hashes only.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a search has one at most")]
pub enum Sieve {
    Compact(Compact),
    Bitstate(Bitstate),
}

impl<S: Short> Visited<S> {
    /// With the keys of such a store, which is empty. Without a sieve, nothing is lost.
    pub fn new(kept: Kept<S>, sieve: Option<Sieve>) -> Self {
        Visited { kept, sieve, hasher: Hasher::new(0) }
    }

    /// With another seed, other states are taken for each other.
    pub fn with_seed(self, seed: u64) -> Self {
        Visited { hasher: Hasher::new(seed), ..self }
    }
}

impl<S: Short> Keys for Visited<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let Some(sieve) = &mut self.sieve else { return self.kept.reserve(count, limit) };
        self.kept.reserve_keys(count, limit.saturating_sub(sieve.bytes()))?;
        sieve.reserve(count, limit.saturating_sub(self.kept.bytes()))
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.kept.key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.kept.is_state(key)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.kept.open(key, state, opened);
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        match &self.sieve {
            Some(sieve) => sieve.prefetch(self.hasher.hash(key)),
            None => self.kept.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        self.sieve.as_ref().map_or_else(|| self.kept.len(), Sieve::len)
    }

    fn bytes(&self) -> u64 {
        self.kept.bytes() + self.sieve.as_ref().map_or(0, Sieve::bytes)
    }

    fn growth(&self) -> Option<Growth> {
        match &self.sieve {
            Some(sieve) => sieve.growth(),
            None => self.kept.growth(),
        }
    }
}

impl<S: Short> Store for Visited<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        match &self.sieve {
            Some(sieve) => sieve.insert(self.hasher.hash(key)),
            None => self.kept.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        match &mut self.sieve {
            Some(sieve) => sieve.insert_alone(self.hasher.hash(key)),
            None => self.kept.insert_alone(key),
        }
    }

    fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        let Some(sieve) = &mut self.sieve else { return self.kept.insert_all(keys, new) };
        let mut is_new = |key: &S::Key| sieve.insert_alone(self.hasher.hash(*key)) == Visit::New;
        new.extend((0..).zip(keys).filter_map(|(index, key)| is_new(key).then_some(index)));
    }

    fn guarantee(&self) -> Guarantee {
        match &self.sieve {
            Some(sieve) => Guarantee::Probable { omitted: sieve.omitted(), formula: sieve.formula() },
            None => Guarantee::Exact,
        }
    }
}

impl Sieve {
    #[inline]
    fn insert(&self, hash: Hash) -> Visit {
        match self {
            Sieve::Compact(compact) => compact.insert(hash),
            Sieve::Bitstate(bitstate) => bitstate.insert(hash),
        }
    }

    #[inline]
    fn insert_alone(&mut self, hash: Hash) -> Visit {
        match self {
            Sieve::Compact(compact) => compact.insert_alone(hash),
            Sieve::Bitstate(bitstate) => bitstate.insert(hash),
        }
    }

    #[inline]
    fn prefetch(&self, hash: Hash) {
        match self {
            Sieve::Compact(compact) => compact.prefetch(hash),
            Sieve::Bitstate(bitstate) => bitstate.prefetch(hash),
        }
    }

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        match self {
            Sieve::Compact(compact) => compact.reserve(count, limit),
            // It does not grow.
            Sieve::Bitstate(bitstate) => (bitstate.bytes() <= limit).then_some(()).ok_or(Full),
        }
    }

    fn growth(&self) -> Option<Growth> {
        match self {
            Sieve::Compact(compact) => Some(compact.growth()),
            Sieve::Bitstate(_) => None,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Sieve::Compact(compact) => compact.len(),
            Sieve::Bitstate(bitstate) => bitstate.len(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Sieve::Compact(compact) => compact.bytes(),
            Sieve::Bitstate(bitstate) => bitstate.bytes(),
        }
    }

    /// How many were probably taken for others.
    fn omitted(&self) -> f64 {
        match self {
            Sieve::Compact(compact) => compact.omitted(),
            Sieve::Bitstate(bitstate) => bitstate.omitted(),
        }
    }

    /// How that is found out.
    fn formula(&self) -> String {
        match self {
            Sieve::Compact(compact) => compact.formula(),
            Sieve::Bitstate(bitstate) => bitstate.formula(),
        }
    }
}
