//! A set of numbers of a known width, with little more memory than their information content.
//!
//! A quotient table after Cleary: Compact hash tables using bidirectional linear probing, 1984. A bijection scatters a
//! number; one part of the result determines its line in the table, and only the rest is written there (see [`shape`],
//! [`layout`] and [`line`]). Lines are cache lines, so that most lookups touch one; a full line overflows into the next
//! ones, and a number without room there goes into a set besides the table.

mod growth;
mod layout;
mod line;
#[cfg_attr(vectors, expect(unsafe_code))]
mod scan;
pub(crate) mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;

use entail_disk::{Reader, Snapshot, damaged};
use entail_model::{Visit, insert_each};

use crate::counter::Counter;
use crate::memory::Zeroed;
use crate::mix::Mix;
use crate::sync::Mutex;
use line::{Alone, Line, Shared, Writer};
use scan::{Machine, Scan};
use shape::Shape;

/// The number of words in a line.
const WORDS: usize = if cfg!(loom) { 2 } else { 8 };

/// More lines than fit into any memory.
const MOST_HOMES: usize = 1 << 40;
/// The binary logarithm of more tables than any machine has threads.
const MOST_PARTS: u32 = 12;

#[derive(Debug)]
pub(crate) struct Table {
    mix: Mix,
    shape: Shape,
    machine: Machine,
    lines: Zeroed<Line>,
    /// Scattered numbers that found no room near their lines.
    overflow: Mutex<BTreeSet<u64>>,
    len: Counter,
    growth_rate: GrowthRate,
    /// The binary logarithm of the number of such tables that make up one set.
    parts: u32,
}

/// How a table grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowthRate {
    /// In large steps, so that it grows rarely.
    Fast,
    /// In small steps, so that little of it is empty.
    Slow,
}

impl Snapshot for Table {
    fn save(&self, to: &mut entail_disk::Writer) -> io::Result<()> {
        (self.growth_rate == GrowthRate::Slow).save(to)?;
        self.parts.save(to)?;
        self.shape.bits.save(to)?;
        self.shape.homes.save(to)?;
        self.lines.save(to)?;
        self.overflow.lock().expect("no thread panics while it holds the lock").save(to)?;
        self.len().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Table> {
        let growth_rate = if bool::load(from)? { GrowthRate::Slow } else { GrowthRate::Fast };
        let parts = u32::load(from)?;
        let (bits, homes) = (u32::load(from)?, usize::load(from)?);
        if !(2..=64).contains(&bits) || !(growth::FEWEST_HOMES..=MOST_HOMES).contains(&homes) || parts > MOST_PARTS
        {
            return Err(damaged("a table of an impossible size"));
        }
        let shape = Shape::new(bits, homes);
        let lines = Zeroed::load(from)?;
        if lines.len() != shape.lines() {
            return Err(damaged("a table whose size does not match its lines"));
        }
        Ok(Table {
            mix: Mix::new(bits),
            shape,
            machine: Machine::this(),
            lines,
            overflow: Mutex::new(BTreeSet::load(from)?),
            len: Snapshot::load(from)?,
            growth_rate,
            parts,
        })
    }
}

impl Table {
    /// A table of numbers of `bits` bits, between 2 and 64.
    pub fn new(bits: u32) -> Table {
        let shape = Shape::new(bits, growth::FEWEST_HOMES);
        let lines = Zeroed::new(shape.lines()).expect("room for a few cache lines");
        Table {
            mix: Mix::new(bits),
            shape,
            machine: Machine::this(),
            lines,
            overflow: Mutex::default(),
            len: Counter::default(),
            growth_rate: GrowthRate::Fast,
            parts: 0,
        }
    }

    pub fn with_growth_rate(self, growth_rate: GrowthRate) -> Table {
        Table { growth_rate, ..self }
    }

    #[inline]
    pub fn insert(&self, number: u64) -> Visit {
        self.insert_and_count::<Shared>(number)
    }

    /// The same, faster, without interference from other threads.
    #[inline]
    pub fn insert_alone(&mut self, number: u64) -> Visit {
        self.insert_and_count::<Alone>(number)
    }

    #[inline]
    fn insert_and_count<W: Writer>(&self, number: u64) -> Visit {
        let visit = self.insert_scattered::<W>(self.mix.scatter(number));
        if visit == Visit::New {
            W::count(&self.len, 1);
        }
        visit
    }

    /// Inserts numbers in order; appends the indices of the new ones.
    #[inline]
    pub fn insert_all<K: Copy>(&self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_with::<Shared, K>(keys, new, number);
    }

    /// The same, faster, without interference from other threads.
    #[inline]
    pub fn insert_all_alone<K: Copy>(&mut self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_with::<Alone, K>(keys, new, number);
    }

    #[inline]
    #[cfg_attr(vectors, expect(unsafe_code))]
    fn insert_all_with<W: Writer, K: Copy>(&self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        match self.machine {
            // SAFETY: the processor has this feature.
            #[cfg(vectors)]
            Machine::Avx512 => unsafe { self.insert_all_avx512::<W, K>(keys, new, number) },
            // SAFETY: the processor has this feature.
            #[cfg(vectors)]
            Machine::Avx2 => unsafe { self.insert_all_avx2::<W, K>(keys, new, number) },
            Machine::Portable => self.insert_all_by::<scan::Portable, W, K>(keys, new, number),
        }
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx512f")]
    fn insert_all_avx512<W: Writer, K: Copy>(&self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_by::<scan::vectors::Avx512, W, K>(keys, new, number);
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx2")]
    fn insert_all_avx2<W: Writer, K: Copy>(&self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_by::<scan::vectors::Avx2, W, K>(keys, new, number);
    }

    #[inline(always)]
    fn insert_all_by<S: Scan, W: Writer, K: Copy>(
        &self,
        keys: &[K],
        new: &mut Vec<u32>,
        number: impl Fn(K) -> u64,
    ) {
        let before = new.len();
        match W::IS_ALONE {
            true => self.insert_all_without_branches::<S, K>(keys, new, number),
            false => insert_each(keys, new, |key| self.insert_by::<S, W>(self.mix.scatter(number(key)))),
        }
        W::count(&self.len, (new.len() - before) as u64);
    }

    /// As long as lines are not full, the contents of a line determine only where a number is written, so that many
    /// lookups overlap. Requires that no other thread interferes.
    #[inline(always)]
    fn insert_all_without_branches<S: Scan, K: Copy>(
        &self,
        keys: &[K],
        new: &mut Vec<u32>,
        number: impl Fn(K) -> u64,
    ) {
        // Local copies: the compiler knows that no write below changes them.
        let (mix, shape, layout) = (self.mix, self.shape, self.shape.layout);
        let lines = &self.lines[..];
        let first = new.len();
        new.resize(first + keys.len(), 0);
        let mut end = first;
        let nowhere = Line::default();
        for (index, &key) in (0..).zip(keys) {
            let scattered = mix.scatter(number(key));
            let written = layout.written(shape.slot(scattered, 0));
            let pattern = layout.pattern(written.head);
            let line = &lines[shape.home(scattered)];
            let seen = S::scan(line, pattern, &layout);
            let is_there = line.has(seen, written, pattern, &layout);
            let is_new = if seen.full < layout.heads {
                let into = if is_there { &nowhere } else { line };
                line.put_alone(seen.full, written, into, &layout);
                !is_there
            } else {
                !is_there && self.insert_behind::<S, Alone>(scattered, 1) == Visit::New
            };
            new[end] = index;
            end += usize::from(is_new);
        }
        new.truncate(end);
    }

    #[inline]
    pub fn prefetch(&self, number: u64) {
        let home = self.shape.home(self.mix.scatter(number));
        crate::prefetch(&self.lines[home]);
    }

    pub fn len(&self) -> u64 {
        self.len.sum()
    }

    #[inline]
    #[cfg_attr(vectors, expect(unsafe_code))]
    fn insert_scattered<W: Writer>(&self, number: u64) -> Visit {
        match self.machine {
            // SAFETY: the processor has this feature.
            #[cfg(vectors)]
            Machine::Avx512 => unsafe { self.insert_avx512::<W>(number) },
            // SAFETY: the processor has this feature.
            #[cfg(vectors)]
            Machine::Avx2 => unsafe { self.insert_avx2::<W>(number) },
            Machine::Portable => self.insert_by::<scan::Portable, W>(number),
        }
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx512f")]
    fn insert_avx512<W: Writer>(&self, number: u64) -> Visit {
        self.insert_by::<scan::vectors::Avx512, W>(number)
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx2")]
    fn insert_avx2<W: Writer>(&self, number: u64) -> Visit {
        self.insert_by::<scan::vectors::Avx2, W>(number)
    }

    #[inline(always)]
    fn insert_by<S: Scan, W: Writer>(&self, number: u64) -> Visit {
        self.insert_behind::<S, W>(number, 0)
    }

    /// Inserts a number that is not in the lines before this displacement, which are full.
    #[inline(always)]
    fn insert_behind<S: Scan, W: Writer>(&self, number: u64, nearest: usize) -> Visit {
        let home = self.shape.home(number);
        for displacement in self.shape.displacements().skip(nearest) {
            let slot = self.shape.slot(number, displacement);
            if let Ok(visit) = self.lines[home + displacement].insert::<S, W>(slot, &self.shape.layout) {
                return visit;
            }
        }
        self.insert_overflow(self.shape.exactly(number))
    }

    #[cold]
    fn insert_overflow(&self, number: u64) -> Visit {
        let mut overflow = self.overflow.lock().expect("no thread panics while it holds the lock");
        if overflow.insert(number) { Visit::New } else { Visit::Seen }
    }
}
