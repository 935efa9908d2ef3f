//! Hash compaction: the set stores a hash of each state, in a quotient table, which takes fewer bits than the hash.
//!
//! After Wolper, Leroy: Reliable hashing without collision detection, CAV 1993; Stern, Dill: A new scheme for
//! memory-efficient probabilistic verification, FORTE 1996.

use entail_disk::snapshot;
use entail_model::{Full, Growth, Visit};

use crate::hash::Hash;
use crate::table::{GrowthRate, Table};

/// A set of hashes. Two states with the same hash count as one.
#[derive(Debug)]
pub struct CompactSet {
    table: Table,
    bits: u32,
}

snapshot!(CompactSet { table, bits });

impl CompactSet {
    /// `bits` is between 2 and 64.
    pub fn new(bits: u32) -> CompactSet {
        CompactSet { table: Table::new(bits).with_growth_rate(GrowthRate::Slow), bits }
    }

    /// A set as large as `limit` permits.
    pub(crate) fn filling(bits: u32, limit: u64) -> Result<CompactSet, Full> {
        Ok(CompactSet { table: Table::filling(bits, limit)?, bits })
    }

    /// The maximal width, up to `most` bits, of hashes of which `states` fit into `limit` bytes.
    pub(crate) fn widest(states: u64, limit: u64, most: u32) -> Option<u32> {
        (2..=most).rev().find(|&bits| Table::capacity(bits, limit) >= states)
    }

    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Calls `each` with the stored bits of every hash.
    pub(crate) fn each(&self, each: impl FnMut(u64)) {
        self.table.each(each);
    }

    #[inline]
    fn number(&self, [hash, _]: Hash) -> u64 {
        hash >> (u64::BITS - self.bits)
    }

    #[inline]
    pub(crate) fn insert(&self, hash: Hash) -> Visit {
        self.table.insert(self.number(hash))
    }

    #[inline]
    pub(crate) fn insert_alone(&mut self, hash: Hash) -> Visit {
        self.table.insert_alone(self.number(hash))
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: Hash) {
        self.table.prefetch(self.number(hash));
    }

    pub(crate) fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.table.reserve(count, limit)
    }

    pub(crate) fn len(&self) -> u64 {
        self.table.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    pub(crate) fn growth(&self) -> Growth {
        self.table.growth()
    }

    /// With n of m hashes present, the expected number of inserted states is −m ln(1 − n/m).
    pub(crate) fn omitted(&self) -> f64 {
        let (hashes, seen) = (f64::from(self.bits).exp2(), self.len() as f64);
        let share = seen / hashes;
        // For small shares, the closed form would lose all digits to cancellation.
        if share < 1e-5 { seen * share / 2.0 } else { -hashes * (-share).ln_1p() - seen }
    }

    /// The share of hashes that are present.
    pub(crate) fn confused(&self) -> f64 {
        self.len() as f64 / f64::from(self.bits).exp2()
    }

    pub(crate) fn formula(&self) -> String {
        format!("-m ln(1 - n/m) - n, with m = 2^{} hashes", self.bits)
    }
}
