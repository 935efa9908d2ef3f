//! Hash compaction: of each state a hash of some bits is kept, in a quotient table, so that it takes fewer than these.
//!
//! After Wolper, Leroy: Reliable hashing without collision detection, CAV 1993; Stern, Dill: A new scheme for
//! memory-efficient probabilistic verification, FORTE 1996.

use entail_disk::snapshot;
use entail_model::{Full, Growth, Visit};

use crate::hash::Hash;
use crate::table::{Pace, Table};

/// Hashes of so many bits. Two states with the same one count as one.
#[derive(Debug)]
pub struct Compact {
    table: Table,
    bits: u32,
}

snapshot!(Compact { table, bits });

impl Compact {
    /// Between 2 and 64 bits.
    pub fn new(bits: u32) -> Compact {
        Compact { table: Table::new(bits).with_pace(Pace::Thrifty), bits }
    }

    /// With all the memory that there is.
    pub(crate) fn spacious(bits: u32, limit: u64) -> Result<Compact, Full> {
        Ok(Compact { table: Table::spacious(bits, limit)?, bits })
    }

    /// How many bits hashes can have, but no more than `most`, if so many are to find room.
    pub(crate) fn widest(states: u64, limit: u64, most: u32) -> Option<u32> {
        (2..=most).rev().find(|&bits| Table::capacity(bits, limit) >= states)
    }

    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// The hash of every state, as far as it is known.
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

    /// If so many of all hashes are there, so many states must have come: −m ln(1 − n/m).
    pub(crate) fn omitted(&self) -> f64 {
        let (hashes, seen) = (f64::from(self.bits).exp2(), self.len() as f64);
        let share = seen / hashes;
        // For small shares, all digits would cancel out.
        if share < 1e-5 { seen * share / 2.0 } else { -hashes * (-share).ln_1p() - seen }
    }

    /// The share of hashes that are there.
    pub(crate) fn confused(&self) -> f64 {
        self.len() as f64 / f64::from(self.bits).exp2()
    }

    pub(crate) fn formula(&self) -> String {
        format!("-m ln(1 - n/m) - n, with m = 2^{} hashes", self.bits)
    }
}
