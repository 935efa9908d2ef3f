//! A set of numbers of a known width, in little more memory than the information in them.
//!
//! A quotient table after Cleary: Compact hash tables using bidirectional linear probing, 1984. A number is
//! scattered by a bijection; a part of the result says in which line of the table it is put, and only the rest of
//! it is written there (see [`shape`]). Lines are cache lines, so that most look-ups touch one; a full line overflows
//! into the next ones, and what finds no room there goes into a set beside the table.
//!
//! Slots are filled in order, and never emptied while threads share the table. So a word in which a thread saw all
//! slots used, but not the number it looks for, needs no second look; and a number is put into the first word that is
//! not full by a compare-and-swap, which fails if anything was put there in between.

mod growth;
#[cfg_attr(vectors, expect(unsafe_code))]
mod scan;
pub(crate) mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use entail_model::Visit;

use crate::counter::Counter;
use crate::memory::{Zero, Zeroed};
use crate::mix::Mix;
use crate::sync::{AtomicU64, Mutex, Ordering};
use scan::{Machine, Scan, Seen};
use shape::Shape;

/// In a line.
const WORDS: usize = if cfg!(loom) { 2 } else { 8 };

#[derive(Debug)]
pub(crate) struct Table {
    mix: Mix,
    shape: Shape,
    machine: Machine,
    lines: Zeroed<Line>,
    /// What found no room near its line; scattered.
    astray: Mutex<BTreeSet<u64>>,
    len: Counter,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Line([AtomicU64; WORDS]);

// SAFETY: an array of atomics.
#[expect(unsafe_code)]
unsafe impl Zero for Line {}

impl Table {
    /// For numbers of so many bits, between 2 and 64.
    pub fn new(bits: u32) -> Table {
        let shape = Shape::new(bits, growth::FEWEST_HOMES);
        let lines = Zeroed::new(shape.lines()).expect("room for a few cache lines");
        Table {
            mix: Mix::new(bits),
            shape,
            machine: Machine::this(),
            lines,
            astray: Mutex::default(),
            len: Counter::default(),
        }
    }

    #[inline]
    pub fn insert(&self, number: u64) -> Visit {
        self.insert_and_count::<Shared>(number)
    }

    /// The same, faster, where no other thread can interfere.
    #[inline]
    pub fn insert_alone(&mut self, number: u64) -> Visit {
        self.insert_and_count::<Alone>(number)
    }

    #[inline]
    fn insert_and_count<W: Writer>(&self, number: u64) -> Visit {
        let visit = self.insert_scattered::<W>(self.mix.scatter(number));
        if visit == Visit::New {
            W::add_one(&self.len);
        }
        visit
    }

    /// Appends the indices of those of which their own line does not say that they were seen; `number` may know that
    /// one is none of ours.
    #[inline]
    #[cfg_attr(vectors, expect(unsafe_code))]
    pub fn sift<K: Copy>(&self, keys: &[K], doubtful: &mut Vec<u32>, number: impl Fn(K) -> Option<u64>) {
        match self.machine {
            // SAFETY: this is what the processor can do.
            #[cfg(vectors)]
            Machine::Avx512 => unsafe { self.sift_avx512(keys, doubtful, number) },
            // SAFETY: this is what the processor can do.
            #[cfg(vectors)]
            Machine::Avx2 => unsafe { self.sift_avx2(keys, doubtful, number) },
            Machine::Portable => self.sift_by::<scan::Portable, K>(keys, doubtful, number),
        }
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx512f")]
    fn sift_avx512<K: Copy>(&self, keys: &[K], doubtful: &mut Vec<u32>, number: impl Fn(K) -> Option<u64>) {
        self.sift_by::<scan::vectors::Avx512, K>(keys, doubtful, number);
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx2")]
    fn sift_avx2<K: Copy>(&self, keys: &[K], doubtful: &mut Vec<u32>, number: impl Fn(K) -> Option<u64>) {
        self.sift_by::<scan::vectors::Avx2, K>(keys, doubtful, number);
    }

    /// Without branches that depend on what is found, so that many look-ups are under way at once.
    #[inline(always)]
    fn sift_by<S: Scan, K: Copy>(&self, keys: &[K], doubtful: &mut Vec<u32>, number: impl Fn(K) -> Option<u64>) {
        let first = doubtful.len();
        doubtful.resize(first + keys.len(), 0);
        let mut end = first;
        for (index, &key) in (0..).zip(keys) {
            // No closure: it would not be compiled for the same processor.
            let seen = match number(key) {
                Some(number) => {
                    let scattered = self.mix.scatter(number);
                    let pattern = self.shape.pattern(self.shape.slot(scattered, 0));
                    S::scan(&self.lines[self.shape.home(scattered)], pattern, &self.shape).found
                }
                None => false,
            };
            doubtful[end] = index;
            end += usize::from(!seen);
        }
        doubtful.truncate(end);
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
            // SAFETY: this is what the processor can do.
            #[cfg(vectors)]
            Machine::Avx512 => unsafe { self.insert_avx512::<W>(number) },
            // SAFETY: this is what the processor can do.
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
        let home = self.shape.home(number);
        for displacement in self.shape.displacements() {
            let slot = self.shape.slot(number, displacement);
            if let Ok(visit) = self.lines[home + displacement].insert::<S, W>(slot, &self.shape) {
                return visit;
            }
        }
        self.insert_astray(self.shape.exactly(number))
    }

    #[cold]
    fn insert_astray(&self, number: u64) -> Visit {
        let mut astray = self.astray.lock().expect("nobody panics with the lock");
        if astray.insert(number) { Visit::New } else { Visit::Seen }
    }
}

/// Every slot is in use, and none is the one looked for.
struct LineFull;

impl Line {
    #[inline(always)]
    fn insert<S: Scan, W: Writer>(&self, slot: u64, shape: &Shape) -> Result<Visit, LineFull> {
        let pattern = shape.pattern(slot);
        let Seen { found, full } = S::scan(self, pattern, shape);
        if found {
            return Ok(Visit::Seen);
        }
        for shared in &self.0[full..] {
            let mut word = shared.load(Ordering::Acquire);
            loop {
                if shape.equal(word, pattern) != 0 {
                    return Ok(Visit::Seen);
                }
                if shape.is_full(word) {
                    break;
                }
                match W::replace(shared, word, shape.with(word, slot)) {
                    Ok(_) => return Ok(Visit::New),
                    Err(now) => word = now,
                }
            }
        }
        Err(LineFull)
    }
}

/// How words are replaced.
trait Writer {
    /// Says what the word is now, if it is not as expected.
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64>;
    fn add_one(counter: &Counter);
}

struct Shared;

impl Writer for Shared {
    /// Who sees the new word also sees what this thread saw in the words before.
    #[inline(always)]
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64> {
        word.compare_exchange(expected, with, Ordering::AcqRel, Ordering::Acquire)
    }

    #[inline(always)]
    fn add_one(counter: &Counter) {
        counter.add_one();
    }
}

/// For a thread that has the table for itself.
struct Alone;

impl Writer for Alone {
    #[inline(always)]
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64> {
        word.store(with, Ordering::Relaxed);
        Ok(expected)
    }

    #[inline(always)]
    fn add_one(counter: &Counter) {
        counter.add_one_alone();
    }
}
