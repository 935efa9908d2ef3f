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

    /// Inserts numbers one after the other, where no other thread can interfere; appends the indices of those that are
    /// new.
    #[inline]
    #[cfg_attr(vectors, expect(unsafe_code))]
    pub fn insert_all_alone<K: Copy>(&mut self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        match self.machine {
            // SAFETY: this is what the processor can do.
            #[cfg(vectors)]
            Machine::Avx512 => unsafe { self.insert_all_avx512(keys, new, number) },
            // SAFETY: this is what the processor can do.
            #[cfg(vectors)]
            Machine::Avx2 => unsafe { self.insert_all_avx2(keys, new, number) },
            Machine::Portable => self.insert_all_by::<scan::Portable, K>(keys, new, number),
        }
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx512f")]
    fn insert_all_avx512<K: Copy>(&mut self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_by::<scan::vectors::Avx512, K>(keys, new, number);
    }

    #[cfg(vectors)]
    #[target_feature(enable = "avx2")]
    fn insert_all_avx2<K: Copy>(&mut self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        self.insert_all_by::<scan::vectors::Avx2, K>(keys, new, number);
    }

    /// As long as lines are not full, nothing depends on what is found there but where something is written, so that
    /// many look-ups are under way at once.
    #[inline(always)]
    fn insert_all_by<S: Scan, K: Copy>(&mut self, keys: &[K], new: &mut Vec<u32>, number: impl Fn(K) -> u64) {
        // Copies, of which it is known that nothing written here changes them.
        let (mix, shape) = (self.mix, self.shape);
        let lines = &self.lines[..];
        let first = new.len();
        new.resize(first + keys.len(), 0);
        let mut end = first;
        let nowhere = AtomicU64::new(0);
        for (index, &key) in (0..).zip(keys) {
            let scattered = mix.scatter(number(key));
            let slot = shape.slot(scattered, 0);
            let line = &lines[shape.home(scattered)];
            let Seen { found, full } = S::scan(line, shape.pattern(slot), &shape);
            let is_new = match line.0.get(full) {
                Some(word) => {
                    let with = shape.with(word.load(Ordering::Relaxed), slot);
                    let target = if found { &nowhere } else { word };
                    target.store(with, Ordering::Relaxed);
                    !found
                }
                None => !found && self.insert_by::<S, Alone>(scattered) == Visit::New,
            };
            new[end] = index;
            end += usize::from(is_new);
        }
        new.truncate(end);
        self.len.add_alone((end - first) as u64);
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
        counter.add_alone(1);
    }
}
