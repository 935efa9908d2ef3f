//! The slots of one cache line.
//!
//! Slots are filled in order, and never emptied while threads share the table. So if a thread sees all lanes of a word
//! used, none with the head it searches for, it need not look at the word again. A thread puts a slot into the first
//! word that is not full by a compare-and-swap, which fails if another thread has changed the word.

use std::io;

use entail_disk::{Reader, Writer as SavedWriter};
use entail_model::Visit;

use super::WORDS;
use super::layout::{Layout, Written};
use super::scan::{Scan, Seen};
use crate::counter::Counter;
use crate::memory::Zero;
use crate::sync::{AtomicU64, Ordering, wait};

#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Line(pub [AtomicU64; WORDS]);

// SAFETY: an array of atomics.
#[expect(unsafe_code)]
unsafe impl Zero for Line {
    fn is_zero(&self) -> bool {
        self.0.iter().all(Zero::is_zero)
    }

    fn save(&self, to: &mut SavedWriter) -> io::Result<()> {
        self.0.iter().try_for_each(|word| word.save(to))
    }

    fn restore(&self, from: &mut Reader) -> io::Result<()> {
        self.0.iter().try_for_each(|word| word.restore(from))
    }
}

/// Every slot is used, and none has the number.
pub(super) struct LineFull;

impl Line {
    #[inline(always)]
    pub fn insert<S: Scan, W: Writer>(&self, slot: u64, layout: &Layout) -> Result<Visit, LineFull> {
        let written = layout.written(slot);
        let pattern = layout.pattern(written.head);
        let seen = S::scan(self, pattern, layout);
        if self.has(seen, written, pattern, layout) {
            return Ok(Visit::Seen);
        }
        for (index, shared) in self.0[..layout.heads].iter().enumerate().skip(seen.full) {
            let mut word = shared.load(Ordering::Acquire);
            loop {
                if self.has_in(index, layout.equal(word, pattern), written.tail, layout) {
                    return Ok(Visit::Seen);
                }
                if layout.is_full(word) {
                    break;
                }
                let lane = layout.free(word);
                match W::replace(shared, word, layout.with_head(word, lane, written.head)) {
                    Ok(_) => {
                        if !layout.is_whole() {
                            let (tails, shift) = layout.tail_place(index, lane);
                            W::add(&self.0[tails], written.tail << shift);
                        }
                        return Ok(Visit::New);
                    }
                    Err(now) => word = now,
                }
            }
        }
        Err(LineFull)
    }

    /// Writes a word of this line, with one more slot, into `into`, which may be the same line. The word must not be
    /// full. Requires that no other thread interferes.
    #[inline(always)]
    pub fn put_alone(&self, index: usize, written: Written, into: &Line, layout: &Layout) {
        let word = self.0[index].load(Ordering::Relaxed);
        let lane = layout.free(word);
        into.0[index].store(layout.with_head(word, lane, written.head), Ordering::Relaxed);
        if !layout.is_whole() {
            let (tails, shift) = layout.tail_place(index, lane);
            let word = self.0[tails].load(Ordering::Relaxed);
            into.0[tails].store(word | written.tail << shift, Ordering::Relaxed);
        }
    }

    /// Whether a slot is in the line, given the words with its head.
    #[inline(always)]
    pub fn has(&self, seen: Seen, written: Written, pattern: u64, layout: &Layout) -> bool {
        if layout.is_whole() {
            return seen.words != 0;
        }
        // Checks the one word that may have the head, without branches; an arbitrary one if there is none.
        let word = seen.words.trailing_zeros() as usize % WORDS;
        let equal = layout.equal(self.0[word].load(Ordering::Acquire), pattern);
        let (tails, shift) = layout.tail_place(word, layout.lane(equal | 1 << 63));
        let tail = layout.tail(self.0[tails].load(Ordering::Acquire), shift);
        let is_seen = seen.words != 0;
        let several = seen.words & seen.words.wrapping_sub(1) != 0 || equal & equal.wrapping_sub(1) != 0;
        if several || is_seen & (tail == 0) {
            return self.has_one_of(seen, written.tail, pattern, layout);
        }
        is_seen & (tail == written.tail)
    }

    #[cold]
    fn has_one_of(&self, seen: Seen, tail: u64, pattern: u64, layout: &Layout) -> bool {
        (0..layout.heads).filter(|index| seen.words >> index & 1 == 1).any(|index| {
            let equal = layout.equal(self.0[index].load(Ordering::Acquire), pattern);
            self.has_in(index, equal, tail, layout)
        })
    }

    /// Whether a slot is in a word, given the lanes with its head.
    #[inline(always)]
    fn has_in(&self, index: usize, mut equal: u64, tail: u64, layout: &Layout) -> bool {
        if layout.is_whole() {
            return equal != 0;
        }
        while equal != 0 {
            let (tails, shift) = layout.tail_place(index, layout.lane(equal));
            if self.tail(tails, shift, layout) == tail {
                return true;
            }
            equal &= equal - 1;
        }
        false
    }

    /// The tail of a slot that has a head.
    #[inline(always)]
    fn tail(&self, word: usize, shift: u32, layout: &Layout) -> u64 {
        loop {
            match layout.tail(self.0[word].load(Ordering::Acquire), shift) {
                0 => wait(),
                tail => return tail,
            }
        }
    }
}

/// How words are written.
pub(super) trait Writer {
    /// Whether no other thread writes.
    const IS_ALONE: bool;
    /// Replaces a word; returns its actual value if it is not the expected one.
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64>;
    /// Sets bits that no other thread sets.
    fn add(word: &AtomicU64, bits: u64);
    fn count(counter: &Counter, more: u64);
}

pub(super) struct Shared;

impl Writer for Shared {
    const IS_ALONE: bool = false;

    /// A thread that sees the new word also sees all earlier writes that this thread has seen.
    #[inline(always)]
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64> {
        word.compare_exchange(expected, with, Ordering::AcqRel, Ordering::Acquire)
    }

    #[inline(always)]
    fn add(word: &AtomicU64, bits: u64) {
        word.fetch_or(bits, Ordering::Release);
    }

    #[inline(always)]
    fn count(counter: &Counter, more: u64) {
        counter.add(more);
    }
}

/// For a thread with exclusive access to the table.
pub(super) struct Alone;

impl Writer for Alone {
    const IS_ALONE: bool = true;

    #[inline(always)]
    fn replace(word: &AtomicU64, expected: u64, with: u64) -> Result<u64, u64> {
        word.store(with, Ordering::Relaxed);
        Ok(expected)
    }

    #[inline(always)]
    fn add(word: &AtomicU64, bits: u64) {
        word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed);
    }

    #[inline(always)]
    fn count(counter: &Counter, more: u64) {
        counter.add_alone(more);
    }
}
