//! The set of visited states: exact, tree-compressed, hash-compacted or bitstate, and degrading from one to the next.
//!
//! Keys are always exact, so that the frontier can be expanded.

use std::io;

use entail_disk::{Reader, Restore, Snapshot, Writer};
use entail_model::{Full, Growth, Guarantee, Keys, Partition, Store, Visit, insert_each};

use crate::degradation::{Degradation, Level};
use crate::exact::{ExactSet, ShortStateSet, keys_of};
use crate::hash::{Hasher, Hashing};
use crate::kind::StateSet;
use crate::lossy::LossySet;
use crate::tree_set::TreeSet;

/// A set of visited states, exact unless it has a [`LossySet`].
#[derive(Debug)]
pub struct VisitedSet<S> {
    /// Makes and opens keys. Stores the states too, unless there is a lossy set.
    pub(crate) exact: TreeSet<S>,
    pub(crate) lossy: Option<LossySet>,
    pub(crate) hashing: Hashing,
    /// The levels to degrade to when memory runs out, if allowed.
    pub(crate) degradation: Option<Degradation>,
}

impl<S: ShortStateSet> VisitedSet<S> {
    /// `exact` must be empty; it makes the keys. Without a lossy set, it stores the states as well.
    pub fn new(exact: ExactSet<S>, lossy: Option<LossySet>) -> Self {
        VisitedSet::of(TreeSet::uncompressed(exact), lossy)
    }

    /// Tree compression from the beginning. Short states have `bits` bits.
    pub fn tree(exact: ExactSet<S>, bits: u32) -> Self {
        VisitedSet::of(TreeSet::new(exact, bits), None)
    }

    fn of(exact: TreeSet<S>, lossy: Option<LossySet>) -> Self {
        VisitedSet { exact, lossy, hashing: Hashing { hasher: Hasher::new(0), known: None }, degradation: None }
    }

    /// With another seed, other states collide.
    pub fn with_seed(self, seed: u64) -> Self {
        VisitedSet { hashing: Hashing { hasher: Hasher::new(seed), ..self.hashing }, ..self }
    }

    /// Degrades level by level when memory runs out.
    pub fn with_degradation(self, degradation: Degradation) -> Self {
        VisitedSet { degradation: Some(degradation), ..self }
    }
}

impl<S: ShortStateSet> StateSet for VisitedSet<S> {
    fn levels(&self) -> &[Level] {
        self.degradation.as_ref().map_or(&[], Degradation::levels)
    }

    fn is_overfull(&self) -> bool {
        matches!(&self.lossy, Some(LossySet::Bitstate(bitstate)) if bitstate.is_overfull())
    }
}

/// The snapshot may be at a lower level than this set.
impl<S: ShortStateSet> Restore for VisitedSet<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.exact.save(to)?;
        self.lossy.save(to)?;
        self.hashing.save(to)?;
        self.degradation.iter().try_for_each(|degradation| degradation.save(to))
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.exact.restore(from)?;
        (self.lossy, self.hashing) = (Option::load(from)?, Hashing::load(from)?);
        self.degradation.iter_mut().try_for_each(|degradation| degradation.restore(from))
    }
}

impl<S: ShortStateSet> Keys for VisitedSet<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.degradation.as_ref().is_some_and(Degradation::is_broken) {
            return Err(Full);
        }
        let Some(lossy) = &mut self.lossy else { return self.exact.reserve(count, limit) };
        self.exact.reserve_long(count, limit.saturating_sub(lossy.bytes()))?;
        lossy.reserve(count, limit.saturating_sub(self.exact.bytes()))
    }

    fn degrade(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        while self.degrade_once(limit).is_ok() {
            if self.reserve(count, limit).is_ok() {
                return Ok(());
            }
        }
        Err(Full)
    }

    keys_of!(exact);

    #[inline]
    fn prefetch(&self, key: S::Key) {
        match &self.lossy {
            Some(lossy) => lossy.prefetch(self.hashing.hash(key)),
            None => self.exact.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        let Some(lossy) = &self.lossy else { return self.exact.len() };
        lossy.len() + self.degradation.as_ref().map_or(0, Degradation::merged)
    }

    fn bytes(&self) -> u64 {
        self.exact.bytes() + self.lossy.as_ref().map_or(0, LossySet::bytes)
    }

    fn growth(&self) -> Option<Growth> {
        match &self.lossy {
            Some(lossy) => lossy.growth(),
            None => self.exact.growth(),
        }
    }
}

impl<S: ShortStateSet> Store for VisitedSet<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        match &self.lossy {
            Some(lossy) => lossy.insert(self.hashing.hash(key)),
            None => self.exact.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        match &mut self.lossy {
            Some(lossy) => lossy.insert_alone(self.hashing.hash(key)),
            None => self.exact.insert_alone(key),
        }
    }

    fn insert_all(&self, keys: &[S::Key], new: &mut Vec<u32>) {
        match &self.lossy {
            Some(lossy) => insert_each(keys, new, |key| lossy.insert(self.hashing.hash(key))),
            None => self.exact.insert_all(keys, new),
        }
    }

    fn insert_all_alone(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        match &mut self.lossy {
            Some(lossy) => insert_each(keys, new, |key| lossy.insert_alone(self.hashing.hash(key))),
            None => self.exact.insert_all_alone(keys, new),
        }
    }

    fn guarantee(&self) -> Guarantee {
        let Some(lossy) = &self.lossy else { return Guarantee::Exact };
        let (omitted, formula) = match &self.degradation {
            Some(degradation) => degradation.omitted(lossy, self.len()),
            None => (lossy.omitted(), lossy.formula()),
        };
        Guarantee::Probable { omitted, confused: lossy.confused(), formula }
    }

    fn partition(&mut self, bits: u32, limit: u64) {
        if self.lossy.is_none() {
            self.exact.partition(bits, limit);
        }
    }

    fn partitions(&mut self) -> Vec<Box<dyn Partition<S::Key> + '_>> {
        self.exact.partitions()
    }

    fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.lossy.is_some() || self.degradation.as_ref().is_some_and(Degradation::is_broken) {
            return self.reserve(count, limit);
        }
        self.exact.reserve_keys(count, limit)
    }
}
