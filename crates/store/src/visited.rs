//! Visited states: as they are, by their halves, or by a hash, where they are too many.
//!
//! States become keys without loss in any case, so that what waits to be explored can be opened.

use std::io;

use entail_disk::{Reader, Restore, Snapshot, Writer, damaged};
use entail_model::{Full, Growth, Guarantee, Keys, State, StateBuf, Store, Visit};

use crate::bitstate::Bitstate;
use crate::compact::Compact;
use crate::hash::{Hash, Hasher, Hashing};
use crate::ladder::{Ladder, Rung};
use crate::lossless::{Kept, Short};
use crate::parted::Parted;
use crate::tree::Opened;

/// A set of visited states, of which something may be lost.
#[derive(Debug)]
pub struct Visited<S> {
    /// Makes keys, and opens them; and keeps the states if there is no sieve.
    pub(crate) kept: Parted<S>,
    pub(crate) sieve: Option<Sieve>,
    pub(crate) hashing: Hashing,
    /// The way down when memory runs out, if there is one.
    pub(crate) ladder: Option<Ladder>,
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
        Visited::of(Parted::whole(kept), sieve)
    }

    /// With states kept by their halves from the beginning, without loss; short ones have so many bits.
    pub fn by_halves(kept: Kept<S>, bits: u32) -> Self {
        Visited::of(Parted::new(kept, bits), None)
    }

    fn of(kept: Parted<S>, sieve: Option<Sieve>) -> Self {
        Visited { kept, sieve, hashing: Hashing { hasher: Hasher::new(0), known: None }, ladder: None }
    }

    /// With another seed, other states are taken for each other.
    pub fn with_seed(self, seed: u64) -> Self {
        Visited { hashing: Hashing { hasher: Hasher::new(seed), ..self.hashing }, ..self }
    }

    /// Where there is no room for more, less is kept of each state, step by step.
    pub fn with_ladder(self, ladder: Ladder) -> Self {
        Visited { ladder: Some(ladder), ..self }
    }

    /// Whether there are more states than an array of bits was made for.
    pub fn is_overfull(&self) -> bool {
        matches!(&self.sieve, Some(Sieve::Bitstate(bitstate)) if bitstate.is_overfull())
    }

    /// The steps that were taken.
    pub fn rungs(&self) -> &[Rung] {
        self.ladder.as_ref().map_or(&[], Ladder::rungs)
    }
}

/// What is loaded was made in the same way; but since then, it may have gone down its ladder.
impl<S: Short> Restore for Visited<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.kept.save(to)?;
        self.sieve.save(to)?;
        self.hashing.save(to)?;
        self.ladder.iter().try_for_each(|ladder| ladder.save(to))
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.kept.restore(from)?;
        (self.sieve, self.hashing) = (Option::load(from)?, Hashing::load(from)?);
        self.ladder.iter_mut().try_for_each(|ladder| ladder.restore(from))
    }
}

impl Snapshot for Sieve {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        match self {
            Sieve::Compact(compact) => 0u8.save(to).and_then(|()| compact.save(to)),
            Sieve::Bitstate(bitstate) => 1u8.save(to).and_then(|()| bitstate.save(to)),
        }
    }

    fn load(from: &mut Reader) -> io::Result<Sieve> {
        match u8::load(from)? {
            0 => Compact::load(from).map(Sieve::Compact),
            1 => Bitstate::load(from).map(Sieve::Bitstate),
            _ => Err(damaged("a kind of store that there is not")),
        }
    }
}

impl<S: Short> Keys for Visited<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.ladder.as_ref().is_some_and(Ladder::is_broken) {
            return Err(Full);
        }
        let Some(sieve) = &mut self.sieve else { return self.kept.reserve(count, limit) };
        self.kept.reserve_keys(count, limit.saturating_sub(sieve.bytes()))?;
        sieve.reserve(count, limit.saturating_sub(self.kept.bytes()))
    }

    fn degrade(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        while self.descend(limit).is_ok() {
            if self.reserve(count, limit).is_ok() {
                return Ok(());
            }
        }
        Err(Full)
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
            Some(sieve) => sieve.prefetch(self.hashing.hash(key)),
            None => self.kept.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        let Some(sieve) = &self.sieve else { return self.kept.len() };
        sieve.len() + self.ladder.as_ref().map_or(0, Ladder::merged)
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
            Some(sieve) => sieve.insert(self.hashing.hash(key)),
            None => self.kept.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        match &mut self.sieve {
            Some(sieve) => sieve.insert_alone(self.hashing.hash(key)),
            None => self.kept.insert_alone(key),
        }
    }

    fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        let Some(sieve) = &mut self.sieve else { return self.kept.insert_all(keys, new) };
        let mut is_new = |key: &S::Key| sieve.insert_alone(self.hashing.hash(*key)) == Visit::New;
        new.extend((0..).zip(keys).filter_map(|(index, key)| is_new(key).then_some(index)));
    }

    fn guarantee(&self) -> Guarantee {
        let Some(sieve) = &self.sieve else { return Guarantee::Exact };
        let (omitted, formula) = match &self.ladder {
            Some(ladder) => ladder.omitted(sieve, self.len()),
            None => (sieve.omitted(), sieve.formula()),
        };
        Guarantee::Probable { omitted, confused: sieve.confused(), formula }
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
    pub(crate) fn insert_alone(&mut self, hash: Hash) -> Visit {
        match self {
            Sieve::Compact(compact) => compact.insert_alone(hash),
            Sieve::Bitstate(bitstate) => bitstate.insert(hash),
        }
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: Hash) {
        match self {
            Sieve::Compact(compact) => compact.prefetch(hash),
            Sieve::Bitstate(bitstate) => bitstate.prefetch(hash),
        }
    }

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        match self {
            Sieve::Compact(compact) => compact.reserve(count, limit),
            // It does not grow.
            Sieve::Bitstate(bitstate) if bitstate.is_overfull() => Err(Full),
            Sieve::Bitstate(bitstate) => (bitstate.bytes() <= limit).then_some(()).ok_or(Full),
        }
    }

    fn growth(&self) -> Option<Growth> {
        match self {
            Sieve::Compact(compact) => Some(compact.growth()),
            Sieve::Bitstate(_) => None,
        }
    }

    pub(crate) fn len(&self) -> u64 {
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
    pub(crate) fn omitted(&self) -> f64 {
        match self {
            Sieve::Compact(compact) => compact.omitted(),
            Sieve::Bitstate(bitstate) => bitstate.omitted(),
        }
    }

    /// How likely the next one is.
    fn confused(&self) -> f64 {
        match self {
            Sieve::Compact(compact) => compact.confused(),
            Sieve::Bitstate(bitstate) => bitstate.confused(),
        }
    }

    /// How that is found out.
    pub(crate) fn formula(&self) -> String {
        match self {
            Sieve::Compact(compact) => compact.formula(),
            Sieve::Bitstate(bitstate) => bitstate.formula(),
        }
    }
}
