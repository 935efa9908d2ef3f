//! Growth of a table, in place, in one pass from its end.
//!
//! A larger table has the numbers in the same order, in lines farther apart. So when lines are emptied from the last to
//! the first, their numbers go into lines that are already empty. Only numbers that overflowed their line near the
//! beginning of the table may have to move forward; they are inserted at the end.

use super::layout::{Place, Places, Written};
use super::line::{Alone, Line, Writer};
use super::{GrowthRate, Table, WORDS};
use crate::sync::Ordering::Relaxed;
use crate::table::shape::{self, FARTHEST, Shape};
use entail_model::{Full, Growth};

/// A few states should take little memory; and with fewer lines, slots could not hold the rest of 64-bit numbers.
pub(super) const FEWEST_HOMES: usize = if cfg!(loom) { 1 } else { 8 };
/// The loads, in percent, above which a table grows: with fast growth, and with slow growth.
const CROWDED: u64 = 80;
const CROWDED_IF_SLOW: u64 = 86;
/// The load that is tolerated when the table may not grow.
const BEARABLE: u64 = 92;
/// The least load at which growth reduces the overflow.
const SPARSE: u64 = 40;
/// At most one in this many numbers may overflow.
const FEW: u64 = 256;
/// From this size in bytes on, a table grows by half, or by an eighth; a smaller one doubles.
const LARGE: usize = 4 << 20;
const LARGE_IF_SLOW: usize = 1 << 20;
/// If this many times as many numbers are expected, they get a new table, instead of one that grows step by step.
const MANY_MORE: u64 = 4;
/// An estimate of the bytes of a number in the overflow.
const OVERFLOW_BYTES: usize = 20;
/// Growth by a smaller share than one in this number costs more time than it is worth.
const WORTH_A_PASS: usize = 32;
/// One in this many bytes is left for the overflow.
const SPARED: u64 = 32;
/// Below this size, in bytes, the memory for each number does not matter.
const WORTHWHILE: usize = 1 << 20;
/// The initial load, in percent, of a table for a known number of numbers.
const ROOMY: usize = 60;
/// The number of keys looked up at a time, so that their memory latencies overlap.
const BATCH: usize = 256;

impl Table {
    /// Makes room for `count` more numbers, within `limit` bytes.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.bytes() > limit {
            return Err(Full);
        }
        let wanted = self.wanted(count);
        if self.is_crowded(wanted) && wanted > MANY_MORE * self.len() {
            *self = self.rekeyed(self.shape.bits, wanted, limit, |number| number)?;
        }
        while self.is_crowded(wanted) {
            let homes = self.next_homes().min(self.most_homes(limit));
            let grown = if is_worth_a_pass(&self.shape, homes) { self.grow(homes) } else { Err(Full) };
            if grown.is_err() {
                return if self.shape.is_loaded(BEARABLE, wanted) { Err(Full) } else { Ok(()) };
            }
        }
        Ok(())
    }

    /// A table of the numbers that `rekey` maps those of this one to, with room for `numbers`. The limit is for both
    /// tables, because both exist for a while.
    pub fn rekeyed(&self, bits: u32, numbers: u64, limit: u64, rekey: impl Fn(u64) -> u64) -> Result<Table, Full> {
        let Table { growth_rate, parts, .. } = *self;
        let table = Table::with_room(bits, numbers, limit.saturating_sub(self.bytes()))?;
        let table = Table { growth_rate, parts, ..table };
        let mut batch = Vec::with_capacity(BATCH);
        let insert = |batch: &mut Vec<u64>| batch.drain(..).for_each(|number| _ = table.insert(number));
        self.each(|number| {
            let number = rekey(number);
            table.prefetch(number);
            batch.push(number);
            if batch.len() == BATCH {
                insert(&mut batch);
            }
        });
        insert(&mut batch);
        Ok(table)
    }

    /// An empty table with room for `numbers` numbers, and some more.
    pub fn with_room(bits: u32, numbers: u64, limit: u64) -> Result<Table, Full> {
        Table::of_size(bits, roomy(bits, numbers).homes, numbers, limit)
    }

    /// An empty table for one of `2^bits` parts of the numbers: all of them together grow as this one would.
    pub fn part(&self, bits: u32, limit: u64) -> Result<Table, Full> {
        let table = Table::of_size(self.shape.bits, self.shape.homes >> bits, 0, limit)?;
        Ok(Table { growth_rate: self.growth_rate, parts: bits, ..table })
    }

    /// An empty table with room for exactly `numbers` numbers.
    pub fn tight(bits: u32, numbers: u64, limit: u64) -> Result<Table, Full> {
        Table::of_size(bits, loaded(bits, numbers, CROWDED as usize).homes, numbers, limit)
    }

    fn of_size(bits: u32, homes: usize, numbers: u64, limit: u64) -> Result<Table, Full> {
        let mut table = Table::new(bits);
        let homes = homes.min(table.most_homes(limit));
        if homes > table.shape.homes {
            table.shape = Shape::new(bits, homes);
            table.lines.grow(table.shape.lines())?;
        }
        if table.shape.is_loaded(BEARABLE, numbers) { Err(Full) } else { Ok(table) }
    }

    /// An empty table as large as `limit` bytes permit.
    pub fn filling(bits: u32, limit: u64) -> Result<Table, Full> {
        let mut table = Table::new(bits);
        let homes = most_useful_homes(bits, table.most_homes(limit));
        if homes > table.shape.homes {
            table.shape = Shape::new(bits, homes);
            table.lines.grow(table.shape.lines())?;
        }
        Ok(table)
    }

    /// How many numbers of `bits` bits fit into `limit` bytes.
    pub fn capacity(bits: u32, limit: u64) -> u64 {
        let lines = (limit - limit / SPARED) as usize / size_of::<Line>();
        let homes = most_useful_homes(bits, lines.saturating_sub(FARTHEST)).max(FEWEST_HOMES);
        Shape::new(bits, homes).slots() as u64 * BEARABLE / 100
    }

    /// Whether the table must grow for `count` more numbers, and would hold more in a line if they had `bits` bits.
    pub fn gains_from(&self, bits: u32, count: usize) -> bool {
        let wanted = self.wanted(count);
        self.is_crowded(wanted)
            && self.lines.bytes() >= WORTHWHILE
            && roomy(bits, wanted).layout.slots() > Shape::new(self.shape.bits, self.next_homes()).layout.slots()
    }

    /// The maximal width that `numbers` numbers can have without taking more memory than with `bits` bits.
    pub fn widest(bits: u32, numbers: u64) -> u32 {
        let shape = roomy(bits, numbers);
        let slots = |bits| Shape::new(bits, shape.homes).layout.slots();
        (bits..=64).rev().find(|&bits| slots(bits) == shape.layout.slots()).unwrap_or(bits)
    }

    pub fn bytes(&self) -> u64 {
        (size_of::<Table>() + self.lines.bytes() + self.overflow().len() * OVERFLOW_BYTES) as u64
    }

    /// The number of numbers at which the table grows, and the number of bytes by which it does.
    pub fn growth(&self) -> Growth {
        Growth {
            states: self.shape.slots() as u64 * self.crowded() / 100,
            bytes: ((self.next_homes() - self.shape.homes) * size_of::<Line>()) as u64,
        }
    }

    /// Every number, in no particular order.
    pub fn each(&self, mut each: impl FnMut(u64)) {
        backwards(&self.shape, |line| self.lines[line].words(), |_, number| each(self.mix.gather(number)));
        self.overflow().iter().for_each(|&number| each(self.mix.gather(number)));
    }

    /// The number of numbers expected soon, limited by the width.
    fn wanted(&self, count: usize) -> u64 {
        let all = if self.shape.bits < 64 { 1 << self.shape.bits } else { u64::MAX };
        (self.len() + count as u64).min(all)
    }

    fn is_crowded(&self, wanted: u64) -> bool {
        let strays = self.overflow().len() as u64;
        self.shape.is_loaded(self.crowded(), wanted)
            || strays * FEW > wanted && self.shape.is_loaded(SPARSE, wanted)
    }

    fn crowded(&self) -> u64 {
        match self.growth_rate {
            GrowthRate::Fast => CROWDED,
            GrowthRate::Slow => CROWDED_IF_SLOW,
        }
    }

    fn next_homes(&self) -> usize {
        next_homes(&self.shape, self.growth_rate, self.parts)
    }

    /// The maximal number of home lines such that the limit is never exceeded, not even during growth.
    fn most_homes(&self, limit: u64) -> usize {
        let others = size_of::<Table>() + self.lines.extra_to_grow();
        let lines = (limit - limit / SPARED).saturating_sub(others as u64) / size_of::<Line>() as u64;
        (lines as usize).saturating_sub(FARTHEST)
    }

    /// Grows to at most twice as many lines.
    fn grow(&mut self, homes: usize) -> Result<(), Full> {
        debug_assert!(self.shape.homes < homes && homes <= 2 * self.shape.homes);
        let shape = Shape::new(self.shape.bits, homes);
        self.lines.grow(shape.lines())?;
        let old = std::mem::replace(&mut self.shape, shape);
        let mut waiting = std::mem::take(&mut *self.overflow());
        let mut levels = Levels { used: [0; RING], lowest: shape.lines() };
        let places = shape.layout.places();
        let take = |line: usize| self.lines[line].take();
        backwards(&old, take, |line, number| {
            if shape.home(number) < line || !self.settle(number, &mut levels, &places) {
                waiting.insert(number);
            }
        });
        for number in waiting {
            let _ = self.insert_scattered::<Alone>(number);
        }
        Ok(())
    }

    /// Puts a number that is not in the table into the first free slot; returns whether there was one.
    #[inline]
    fn settle(&self, number: u64, levels: &mut Levels, places: &Places) -> bool {
        let home = self.shape.home(number);
        levels.reach_down_to(home);
        for displacement in self.shape.displacements() {
            let used = levels.of(home + displacement);
            if let Some(&place) = places.get(usize::from(*used)) {
                *used += 1;
                let written = self.shape.layout.written(self.shape.slot(number, displacement));
                self.lines[home + displacement].settle(place, written);
                return true;
            }
        }
        false
    }

    fn overflow(&self) -> impl std::ops::DerefMut<Target = std::collections::BTreeSet<u64>> {
        self.overflow.lock().expect("no thread panics while it holds the lock")
    }
}

impl Shape {
    fn is_loaded(&self, percent: u64, wanted: u64) -> bool {
        u128::from(wanted) * 100 > self.slots() as u128 * u128::from(percent)
    }
}

impl Line {
    fn words(&self) -> [u64; WORDS] {
        std::array::from_fn(|i| self.0[i].load(Relaxed))
    }

    /// Takes its words and leaves zeros.
    fn take(&self) -> [u64; WORDS] {
        let words = self.words();
        self.0.iter().for_each(|word| word.store(0, Relaxed));
        words
    }

    /// Writes a slot at a free place. A whole slot has no tail: that adds nothing to some word.
    #[inline]
    fn settle(&self, place: Place, written: Written) {
        Alone::add(&self.0[usize::from(place.word) % WORDS], written.head << place.shift);
        Alone::add(&self.0[usize::from(place.tails) % WORDS], written.tail << place.tail_shift);
    }
}

/// Calls `each` with every number and its line, from the last line to the first; `read` returns the words of a line.
#[inline]
fn backwards(shape: &Shape, read: impl Fn(usize) -> [u64; WORDS], mut each: impl FnMut(usize, u64)) {
    let (mut firsts, places) = (shape.firsts(), shape.layout.places());
    for line in (0..shape.lines()).rev() {
        firsts.reach(line);
        shape.layout.each_used(&read(line), &places, |slot| {
            each(line, shape.number(slot, firsts.of(line - shape.displacement(slot))));
        });
    }
}

/// The number of lines of a table, one of `2^parts`, after its next growth.
pub(super) fn next_homes(shape: &Shape, growth_rate: GrowthRate, parts: u32) -> usize {
    let (homes, slots) = (shape.homes, shape.slots());
    let (large, part) = match growth_rate {
        GrowthRate::Fast => (LARGE, 2),
        GrowthRate::Slow => (LARGE_IF_SLOW, 8),
    };
    let slots = if homes * size_of::<Line>() >= large >> parts { slots + slots / part } else { slots * 2 };
    shape::homes_for(shape.bits, slots).clamp(homes + 1, homes * 2)
}

/// A few more lines may give many more slots.
pub(super) fn is_worth_a_pass(shape: &Shape, homes: usize) -> bool {
    let (slots, more) = (shape.slots(), Shape::new(shape.bits, homes.max(shape.homes)).slots());
    more > slots + slots / WORTH_A_PASS
}

/// With more lines than numbers, some would stay empty.
fn most_useful_homes(bits: u32, homes: usize) -> usize {
    homes.min(1usize.checked_shl(bits).unwrap_or(usize::MAX))
}

/// A shape for `numbers` numbers, and some more.
fn roomy(bits: u32, numbers: u64) -> Shape {
    loaded(bits, numbers, ROOMY)
}

/// A shape for `numbers` numbers, at a load in percent.
fn loaded(bits: u32, numbers: u64, percent: usize) -> Shape {
    let slots = (numbers as usize).saturating_mul(100) / percent;
    Shape::new(bits, shape::homes_for(bits, slots).max(FEWEST_HOMES))
}

/// At least as many lines as may be written to while one is emptied: two lines for each number whose home is the line
/// or one of the [`FARTHEST`] before, and the [`FARTHEST`] behind.
const RING: usize = 64;

/// The number of used slots in the lines that may be written to.
struct Levels {
    used: [u8; RING],
    lowest: usize,
}

impl Levels {
    #[inline]
    fn reach_down_to(&mut self, line: usize) {
        while self.lowest > line {
            self.lowest -= 1;
            self.used[self.lowest % RING] = 0;
        }
    }

    #[inline]
    fn of(&mut self, line: usize) -> &mut u8 {
        debug_assert!((self.lowest..self.lowest + RING).contains(&line));
        &mut self.used[line % RING]
    }
}
