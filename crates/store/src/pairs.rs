//! A set of pairs of words.
//!
//! A pair is scattered like a number of a [`Table`](crate::table::Table): a part of its first word determines its line,
//! and the line stores the rest of the first word, and the whole second word. A line has room for four pairs:
//!
//! ```text
//! ├ first ┼ first ┼ first ┼ first ┼ second ┼ second ┼ second ┼ second ┤
//! ```
//!
//! A thread that inserts a pair claims the place of its first word by a compare-and-swap, writes the second word, and
//! then the first one. Another thread that reads the place waits meanwhile, for a few instructions.

use std::collections::BTreeSet;
use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};
use entail_model::{Full, Growth, Visit};

use crate::counter::Counter;
use crate::memory::{Zero, Zeroed};
use crate::mix::Mix;
use crate::sync::{AtomicU64, Mutex, Ordering, wait};
use crate::table::shape::{FARTHEST, Shape};

/// The number of pairs in a line.
const PAIRS: usize = if cfg!(loom) { 1 } else { 4 };
/// Marks the place of a first word that a thread is about to write. No first word has this value, because it would be
/// too far from its line.
const TAKEN: u64 = u64::MAX;
const FEWEST_HOMES: usize = 16;
/// With more, the shape of a line would have more slots than the line.
const MOST_HOMES: usize = 1 << 34;
/// The binary logarithm of more sets than any machine has threads.
const MOST_PARTS: u32 = 12;
/// The load, in percent, above which the set grows.
const CROWDED: u64 = 75;
/// The load that is tolerated when the set may not grow.
const BEARABLE: u64 = 88;
/// From this size in bytes on, the set grows by half; a smaller one doubles.
const LARGE: usize = 32 << 20;
/// An estimate of the bytes of a pair in the overflow.
const OVERFLOW_BYTES: usize = 40;
/// Growth by a smaller share than one in this number costs more time than it is worth.
const WORTH_A_PASS: usize = 32;
/// One in this many bytes is left for the overflow.
const SPARED: u64 = 32;

#[derive(Debug)]
pub struct Pairs {
    mix: Mix,
    /// The shape of a table with one first word in each word of a line.
    shape: Shape,
    lines: Zeroed<Line>,
    /// Scattered pairs that found no room near their lines.
    overflow: Mutex<BTreeSet<Scattered>>,
    len: Counter,
    /// The binary logarithm of the number of such sets that make up one.
    parts: u32,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Line {
    firsts: [AtomicU64; PAIRS],
    seconds: [AtomicU64; PAIRS],
}

// SAFETY: it consists of arrays of atomics.
#[expect(unsafe_code)]
unsafe impl Zero for Line {
    /// Unused places may have a second word.
    fn is_zero(&self) -> bool {
        self.firsts.iter().all(Zero::is_zero)
    }

    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.firsts.iter().chain(&self.seconds).try_for_each(|word| word.save(to))
    }

    fn restore(&self, from: &mut Reader) -> io::Result<()> {
        self.firsts.iter().chain(&self.seconds).try_for_each(|word| word.restore(from))
    }
}

snapshot!(Scattered(first, second));

impl Snapshot for Pairs {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.shape.homes.save(to)?;
        self.lines.save(to)?;
        self.overflow().save(to)?;
        self.len().save(to)?;
        self.parts.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Pairs> {
        let homes = usize::load(from)?;
        if !(FEWEST_HOMES..=MOST_HOMES).contains(&homes) {
            return Err(damaged("a set of pairs of an impossible size"));
        }
        let (shape, lines) = (Shape::new(64, homes), Zeroed::load(from)?);
        if lines.len() != shape.lines() {
            return Err(damaged("a set of pairs whose size does not match its lines"));
        }
        let (overflow, len) = (Mutex::new(BTreeSet::load(from)?), Snapshot::load(from)?);
        let parts = u32::load(from)?;
        if parts > MOST_PARTS {
            return Err(damaged("a set of pairs in impossibly many parts"));
        }
        Ok(Pairs { mix: Mix::new(64), shape, lines, overflow, len, parts })
    }
}

/// A pair whose first word is scattered over all words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scattered(u64, u64);

/// No place is free, and none has the pair.
struct LineFull;

impl Default for Pairs {
    fn default() -> Pairs {
        let shape = Shape::of_words(64, FEWEST_HOMES);
        let lines = Zeroed::new(shape.lines()).expect("room for a few cache lines");
        Pairs { mix: Mix::new(64), shape, lines, overflow: Mutex::default(), len: Counter::default(), parts: 0 }
    }
}

impl Pairs {
    /// An empty set for one of `2^bits` parts of the pairs: all of them together grow as this one would.
    pub fn part(&self, bits: u32, limit: u64) -> Result<Pairs, Full> {
        let mut part = Pairs { parts: bits, ..Pairs::default() };
        let homes = (self.shape.homes >> bits).min(part.most_homes(limit));
        if homes > part.shape.homes {
            part.shape = Shape::of_words(64, homes);
            part.lines.grow(part.shape.lines())?;
        }
        Ok(part)
    }

    #[inline]
    pub fn insert(&self, pair: [u64; 2]) -> Visit {
        let visit = self.insert_scattered(self.scatter(pair), Line::insert);
        if visit == Visit::New {
            self.len.add_one();
        }
        visit
    }

    /// The same, faster, without interference from other threads.
    #[inline]
    pub fn insert_alone(&mut self, pair: [u64; 2]) -> Visit {
        let visit = self.insert_scattered(self.scatter(pair), Line::insert_alone);
        if visit == Visit::New {
            self.len.add_alone(1);
        }
        visit
    }

    #[inline]
    pub fn prefetch(&self, pair: [u64; 2]) {
        crate::prefetch(&self.lines[self.shape.home(self.scatter(pair).0)]);
    }

    pub fn len(&self) -> u64 {
        self.len.sum()
    }

    pub fn bytes(&self) -> u64 {
        (size_of::<Pairs>() + self.lines.bytes() + self.overflow().len() * OVERFLOW_BYTES) as u64
    }

    /// The number of pairs at which the set grows, and the number of bytes by which it does.
    pub fn growth(&self) -> Growth {
        Growth {
            states: (self.shape.homes * PAIRS) as u64 * CROWDED / 100,
            bytes: ((self.next_homes() - self.shape.homes) * size_of::<Line>()) as u64,
        }
    }

    /// Makes room for `count` more pairs, within `limit` bytes.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.bytes() > limit {
            return Err(Full);
        }
        let wanted = self.len() + count as u64;
        while self.is_loaded(CROWDED, wanted) {
            let homes = self.next_homes().min(self.most_homes(limit));
            let grown = if homes > self.shape.homes + self.shape.homes / WORTH_A_PASS {
                self.grow(homes)
            } else {
                Err(Full)
            };
            if grown.is_err() {
                return if self.is_loaded(BEARABLE, wanted) { Err(Full) } else { Ok(()) };
            }
        }
        Ok(())
    }

    /// Every pair, in no particular order.
    pub fn each(&self, mut each: impl FnMut([u64; 2])) {
        let gather = |Scattered(first, second)| [self.mix.gather(first) ^ self.shuffled(second), second];
        let mut firsts = self.shape.firsts();
        for line in (0..self.shape.lines()).rev() {
            firsts.reach(line);
            for (slot, second) in self.lines[line].pairs() {
                let first = self.shape.number(slot, firsts.of(line - self.shape.displacement(slot)));
                each(gather(Scattered(first, second)));
            }
        }
        self.overflow().iter().for_each(|&pair| each(gather(pair)));
    }

    /// The place of the first word also depends on the second word, from which the first word can be recovered.
    #[inline]
    fn scatter(&self, [first, second]: [u64; 2]) -> Scattered {
        Scattered(self.mix.scatter(first ^ self.shuffled(second)), second)
    }

    #[inline]
    fn shuffled(&self, second: u64) -> u64 {
        self.mix.scatter(second)
    }

    #[inline]
    fn insert_scattered(
        &self,
        Scattered(first, second): Scattered,
        insert: impl Fn(&Line, u64, u64) -> Result<Visit, LineFull>,
    ) -> Visit {
        let home = self.shape.home(first);
        for displacement in self.displacements() {
            let slot = self.shape.slot(first, displacement);
            if let Ok(visit) = insert(&self.lines[home + displacement], slot, second) {
                return visit;
            }
        }
        self.insert_overflow(Scattered(first, second))
    }

    #[cold]
    fn insert_overflow(&self, pair: Scattered) -> Visit {
        if self.overflow().insert(pair) { Visit::New } else { Visit::Seen }
    }

    fn overflow(&self) -> impl std::ops::DerefMut<Target = BTreeSet<Scattered>> {
        self.overflow.lock().expect("no thread panics while it holds the lock")
    }

    /// All displacements but the farthest, which is reserved for [`TAKEN`].
    #[inline]
    fn displacements(&self) -> std::ops::Range<usize> {
        let all = self.shape.displacements();
        all.start..all.end - 1
    }

    fn is_loaded(&self, percent: u64, wanted: u64) -> bool {
        u128::from(wanted) * 100 > (self.shape.homes * PAIRS) as u128 * u128::from(percent)
    }

    fn next_homes(&self) -> usize {
        let homes = self.shape.homes;
        if homes * size_of::<Line>() >= LARGE >> self.parts { homes / 2 * 3 } else { homes * 2 }
    }

    /// The maximal number of home lines such that the limit is never exceeded, not even during growth.
    fn most_homes(&self, limit: u64) -> usize {
        let others = size_of::<Pairs>() + self.lines.extra_to_grow();
        let lines = (limit - limit / SPARED).saturating_sub(others as u64) / size_of::<Line>() as u64;
        (lines as usize).saturating_sub(FARTHEST).min(MOST_HOMES)
    }

    /// Grows to at most twice as many lines, in place: a larger set has the pairs in the same order, in lines farther
    /// apart. So when lines are emptied from the last to the first, their pairs go into lines behind them. Only pairs
    /// that overflowed their line near the beginning may have to move forward; they are inserted at the end.
    fn grow(&mut self, homes: usize) -> Result<(), Full> {
        let shape = Shape::of_words(64, homes);
        self.lines.grow(shape.lines())?;
        let old = std::mem::replace(&mut self.shape, shape);
        let mut waiting: Vec<_> = std::mem::take(&mut *self.overflow()).into_iter().collect();
        let mut firsts = old.firsts();
        for line in (0..old.lines()).rev() {
            firsts.reach(line);
            for (slot, second) in self.lines[line].take() {
                let first = old.number(slot, firsts.of(line - old.displacement(slot)));
                let pair = Scattered(first, second);
                if shape.home(first) < line {
                    waiting.push(pair);
                } else {
                    let _ = self.insert_scattered(pair, Line::insert_alone);
                }
            }
        }
        for pair in waiting {
            let _ = self.insert_scattered(pair, Line::insert_alone);
        }
        Ok(())
    }
}

impl Line {
    #[inline]
    fn insert(&self, first: u64, second: u64) -> Result<Visit, LineFull> {
        for (place, other) in self.firsts.iter().zip(&self.seconds) {
            let mut now = place.load(Ordering::Acquire);
            loop {
                if now == 0 {
                    match place.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Acquire) {
                        Ok(_) => {
                            other.store(second, Ordering::Relaxed);
                            place.store(first, Ordering::Release);
                            return Ok(Visit::New);
                        }
                        Err(found) => now = found,
                    }
                } else if now == TAKEN {
                    wait();
                    now = place.load(Ordering::Acquire);
                } else {
                    break;
                }
            }
            if now == first && other.load(Ordering::Relaxed) == second {
                return Ok(Visit::Seen);
            }
        }
        Err(LineFull)
    }

    #[inline]
    fn insert_alone(&self, first: u64, second: u64) -> Result<Visit, LineFull> {
        for (place, other) in self.firsts.iter().zip(&self.seconds) {
            let now = place.load(Ordering::Relaxed);
            if now == 0 {
                other.store(second, Ordering::Relaxed);
                place.store(first, Ordering::Relaxed);
                return Ok(Visit::New);
            }
            if now == first && other.load(Ordering::Relaxed) == second {
                return Ok(Visit::Seen);
            }
        }
        Err(LineFull)
    }

    /// The pairs in the line.
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let pairs: [(u64, u64); PAIRS] = std::array::from_fn(|i| (load(&self.firsts[i]), load(&self.seconds[i])));
        pairs.into_iter().filter(|(first, _)| *first != 0)
    }

    /// The same; empties the line.
    fn take(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let pairs = self.pairs();
        self.firsts.iter().for_each(|first| first.store(0, Ordering::Relaxed));
        pairs
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::*;

    fn expected(is_new: bool) -> Visit {
        if is_new { Visit::New } else { Visit::Seen }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 200 }))]

        #[test]
        fn says_of_every_pair_whether_it_is_new(seed: u64, many in 1..5000usize, step in 1..300usize, alone: bool) {
            let mut rng = Rng::new(seed);
            let (mut pairs, mut set) = (Pairs::default(), HashSet::new());
            let masks = [*rng.pick(&[u64::MAX, 0xff, 0x0f0f_0000]), *rng.pick(&[u64::MAX, 0x3, 0xff00_0000_0000_0000])];
            for i in 0..many {
                if i % step == 0 {
                    prop_assert_eq!(pairs.reserve(step, u64::MAX), Ok(()));
                    prop_assert_eq!(pairs.len(), set.len() as u64);
                }
                let pair = masks.map(|mask| rng.bits() & mask);
                pairs.prefetch(pair);
                let visit = if alone { pairs.insert_alone(pair) } else { pairs.insert(pair) };
                prop_assert_eq!(visit, expected(set.insert(pair)));
            }
            prop_assert_eq!(pairs.reserve(set.len(), u64::MAX), Ok(()));
            for pair in set {
                prop_assert_eq!(pairs.insert(pair), Visit::Seen);
            }
        }

        /// Without reserving room.
        #[test]
        fn pairs_that_find_no_room_are_not_lost(seed: u64) {
            let mut rng = Rng::new(seed);
            let (mut pairs, mut set) = (Pairs::default(), HashSet::new());
            // There is room for fewer than 130.
            let many = if cfg!(miri) { 200 } else { 600 };
            for i in 0..many {
                let pair = [rng.bits(), rng.bits() & 1];
                prop_assert_eq!(pairs.insert(pair), expected(set.insert(pair)));
                if i % 100 == 99 {
                    let strays = pairs.overflow().len();
                    prop_assert!(i < many - 100 || strays > 0);
                    prop_assert_eq!(pairs.len(), set.len() as u64);
                }
            }
            prop_assert_eq!(pairs.reserve(1, u64::MAX), Ok(()));
            prop_assert!(set.into_iter().all(|pair| pairs.insert_alone(pair) == Visit::Seen));
        }

        #[test]
        fn stays_within_its_limit(limit in 4000u64..200_000, step in 1..300usize) {
            let mut pairs = Pairs::default();
            let mut numbers = 0u64..;
            while pairs.reserve(step, limit) == Ok(()) {
                for number in numbers.by_ref().take(step) {
                    prop_assert_eq!(pairs.insert_alone([number, number << 32]), Visit::New);
                }
                prop_assert!(pairs.bytes() <= limit, "{} of {limit}", pairs.bytes());
            }
        }
    }

    /// Small sets double, large ones do not; four parts of a large one must not double either.
    #[test]
    fn parts_grow_as_the_whole() {
        for homes in [1 << 10, 1 << 17, 1 << 18, 1 << 19, 1 << 20] {
            let next = |homes: usize, parts: u32| {
                Pairs { shape: Shape::of_words(64, homes), parts, ..Pairs::default() }.next_homes()
            };
            assert_eq!(next(homes, 0), 4 * next(homes / 4, 2), "{homes}");
        }
    }

    #[test]
    fn threads_agree_on_who_was_first() {
        let count = if cfg!(miri) { 200 } else { 50_000u64 };
        let mut pairs = Pairs::default();
        pairs.reserve(count as usize, u64::MAX).unwrap();
        let visit = |thread: u64| {
            let order = (0..count).map(|i| if thread.is_multiple_of(2) { i } else { count - 1 - i });
            order.filter(|&i| pairs.insert([i << 20, i & 7]) == Visit::New).count()
        };
        let new: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || visit(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((new as u64, pairs.len()), (count, count));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::in_every_order;
    use loom::{sync::Arc, thread};

    /// The pairs are in the same line, which has room for one, and differ only in their second words.
    #[test]
    fn loom_of_two_that_bring_the_same_pair_one_is_first() {
        for [mine, yours] in [[[5, 7], [5, 7]], [[5, 7], [5, 8]]] {
            in_every_order(2, move || {
                let pairs = Arc::new(Pairs::default());
                let others = Arc::clone(&pairs);
                let there = thread::spawn(move || others.insert(yours));
                let here = pairs.insert(mine);
                let new = [here, there.join().unwrap()].iter().filter(|&&visit| visit == Visit::New).count();
                assert_eq!(new, if mine == yours { 1 } else { 2 });
                assert_eq!((pairs.insert(mine), pairs.insert(yours)), (Visit::Seen, Visit::Seen));
            });
        }
    }
}
