//! Where a number belongs in a table of a given size, and what of it is written there.
//!
//! ```text
//! number:   ├── line ──┬───── rest ─────┤     bits wide; the size of the table decides where the line ends
//! slot:     ├ displacement + 1 ┼─ rest ─┤     one lane of a word; 0 is an empty slot
//! ```
//!
//! The line is the number scaled down to the number of lines, which need not be a power of two; and the larger the
//! number, the later its line. As the numbers of one line are consecutive, their low bits tell them apart, and
//! nothing else of them needs to be kept.

use std::ops::Range;

use super::WORDS;

/// How far, at most, a number is put behind its line when that is full.
pub(crate) const FARTHEST: usize = if cfg!(loom) { 1 } else { 15 };
/// At least so many bits of a slot are for the displacement, and for the mark that it is in use.
const DISPLACEMENT_BITS: u32 = 3;
/// In a word.
const MOST_LANES: u32 = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub bits: u32,
    /// How many lines are home to numbers; [`FARTHEST`] more follow, for what does not fit into the last ones.
    pub homes: usize,
    /// From the width of numbers to that of words.
    lift: u32,
    rest_bits: u32,
    rest_mask: u64,
    /// How far behind its line a number may lie.
    reach: usize,
    pub lanes: u32,
    pub lane_bits: u32,
    /// In every lane: the lowest bit, the highest, and all but the highest.
    lowest: u64,
    pub highest: u64,
    pub others: u64,
    /// The bits of the last lane, and those that are left over.
    pub last: u64,
}

impl Shape {
    /// As many lanes as there can be.
    pub fn new(bits: u32, homes: usize) -> Shape {
        let interval = (1u128 << bits).div_ceil(homes as u128);
        let rest_bits = u128::BITS - (interval - 1).leading_zeros();
        let lanes = (1..=MOST_LANES).rev().find(|lanes| rest_bits + DISPLACEMENT_BITS <= 64 / lanes);
        let lanes = lanes.expect("a table of 64-bit numbers has at least 8 lines");
        let lane_bits = 64 / lanes;
        let lowest = (0..lanes).map(|lane| 1 << (lane * lane_bits)).sum();
        let highest = lowest << (lane_bits - 1);
        // The code 0 is that of an empty slot.
        let codes = 1usize << (lane_bits - rest_bits).min(16);
        Shape {
            bits,
            homes,
            lift: 64 - bits,
            rest_bits,
            rest_mask: (1 << rest_bits) - 1,
            reach: FARTHEST.min(codes - 2),
            lanes,
            lane_bits,
            lowest,
            highest,
            others: highest - lowest,
            last: u64::MAX << ((lanes - 1) * lane_bits),
        }
    }

    pub fn lines(&self) -> usize {
        self.homes + FARTHEST
    }

    pub fn slots(&self) -> usize {
        self.homes * WORDS * self.lanes as usize
    }

    /// The line a scattered number belongs to; what is above its width does not matter.
    #[inline]
    pub fn home(&self, number: u64) -> usize {
        let scaled = u128::from(number << self.lift) * self.homes as u128;
        (scaled >> 64) as usize
    }

    /// The least number whose home is this line.
    #[cfg(all(test, not(loom)))]
    pub fn first(&self, line: usize) -> u64 {
        ((line as u128) << self.bits).div_ceil(self.homes as u128) as u64
    }

    /// The first numbers of lines, from the last line to the first.
    pub fn firsts(&self) -> Firsts {
        let (interval, homes) = (1u128 << self.bits, self.homes as u128);
        let after = self.lines() as u128 * interval;
        Firsts {
            quotient: (after / homes) as u64,
            remainder: (after % homes) as u64,
            step: ((interval / homes) as u64, (interval % homes) as u64),
            homes: self.homes as u64,
            known: [0; FARTHEST + 1],
            next: self.lines(),
        }
    }

    /// Without what is above its width.
    pub fn exactly(&self, number: u64) -> u64 {
        number & u64::MAX >> self.lift
    }

    #[inline]
    pub fn displacements(&self) -> Range<usize> {
        0..self.reach + 1
    }

    /// What is written so many lines behind the number's own line.
    #[inline]
    pub fn slot(&self, number: u64, displacement: usize) -> u64 {
        (displacement as u64 + 1) << self.rest_bits | number & self.rest_mask
    }

    #[inline]
    pub fn displacement(&self, slot: u64) -> usize {
        (slot >> self.rest_bits) as usize - 1
    }

    /// The number that a slot stands for, given the first one of the line it belongs to.
    #[inline]
    pub fn number(&self, slot: u64, first: u64) -> u64 {
        first + (slot.wrapping_sub(first) & self.rest_mask)
    }

    /// A word with the same slot in every lane.
    #[inline]
    pub fn pattern(&self, slot: u64) -> u64 {
        slot * self.lowest
    }

    /// The highest bit of every lane in which two words agree.
    #[inline]
    pub fn equal(&self, word: u64, pattern: u64) -> u64 {
        let differences = word ^ pattern;
        // In a lane without differences, and in no other, the highest bit neither is one nor gets one carried.
        !(((differences & self.others) + self.others) | differences) & self.highest
    }

    #[inline]
    pub fn is_full(&self, word: u64) -> bool {
        word & self.last != 0
    }

    /// A word that is not full, with one more slot.
    #[inline]
    pub fn with(&self, word: u64, slot: u64) -> u64 {
        let free = self.equal(word, 0).trailing_zeros() + 1 - self.lane_bits;
        word | slot << free
    }

    /// The word of a line, and the shift within it, of the slot after so many used ones; nothing if that are all.
    #[inline]
    pub fn place(&self, used: u8) -> Option<(usize, u32)> {
        // Rounds down exactly for the few slots of a line.
        let word = (u32::from(used) * 256u32.div_ceil(self.lanes)) >> 8;
        let shift = (u32::from(used) - word * self.lanes) * self.lane_bits;
        ((word as usize) < WORDS).then_some((word as usize, shift))
    }

    /// The slots in use.
    #[inline]
    pub fn used(&self, word: u64) -> impl Iterator<Item = u64> + use<> {
        let (lanes, lane_bits) = (self.lanes, self.lane_bits);
        let mask = u64::MAX >> (64 - lane_bits);
        (0..lanes).map(move |lane| word >> (lane * lane_bits) & mask).take_while(|&slot| slot != 0)
    }
}

/// Like [`Shape::first`], but without dividing every time: the lines are asked for from the last to the first, each
/// with the [`FARTHEST`] before it.
pub(crate) struct Firsts {
    /// Of the line that was reached last: where it begins, rounded down, and what was lost by that.
    quotient: u64,
    remainder: u64,
    /// The same from line to line.
    step: (u64, u64),
    homes: u64,
    /// By line, as far as they are asked for.
    known: [u64; FARTHEST + 1],
    /// The line that was reached last.
    next: usize,
}

impl Firsts {
    /// Goes on to a line.
    #[inline]
    pub fn reach(&mut self, line: usize) {
        while self.next > line.saturating_sub(FARTHEST) {
            self.next -= 1;
            self.quotient = self.quotient.wrapping_sub(self.step.0);
            if self.remainder < self.step.1 {
                self.quotient = self.quotient.wrapping_sub(1);
                self.remainder += self.homes;
            }
            self.remainder -= self.step.1;
            self.known[self.next % (FARTHEST + 1)] = self.quotient.wrapping_add(u64::from(self.remainder > 0));
        }
    }

    /// The first number of the line reached, or of one of those before it.
    #[inline]
    pub fn of(&self, line: usize) -> u64 {
        self.known[line % (FARTHEST + 1)]
    }
}

/// How few home lines have so many slots. More lines may have more lanes each, as less of a number is written.
pub(super) fn homes_for(bits: u32, slots: usize) -> usize {
    let with = |lanes: u32| {
        let rest_bits = 64 / lanes - DISPLACEMENT_BITS;
        let fewest = 1usize.checked_shl(bits.saturating_sub(rest_bits)).unwrap_or(usize::MAX);
        slots.div_ceil(WORDS * lanes as usize).max(fewest)
    };
    (1..=MOST_LANES).map(with).min().expect("at least one lane")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_found_again_from_its_line_and_its_slot(bits in 2u32..=64, homes in 8usize..1 << 36, x: u64) {
            let shape = Shape::new(bits, homes);
            let number = shape.exactly(x);
            let home = shape.home(x);
            prop_assert!(home < homes);
            prop_assert_eq!(home, shape.home(number));
            prop_assert!(shape.first(home) <= number);
            for displacement in shape.displacements() {
                let slot = shape.slot(x, displacement);
                prop_assert!(slot != 0 && u128::from(slot) < 1 << shape.lane_bits);
                prop_assert_eq!(shape.displacement(slot), displacement);
                prop_assert_eq!(shape.number(slot, shape.first(home)), number);
            }
        }

        #[test]
        fn the_first_number_of_a_line_is_the_first(bits in 4u32..=64, homes in 8usize..1 << 36, line in 1usize..1 << 36) {
            let (shape, line) = (Shape::new(bits, homes), line % homes);
            let first = shape.first(line);
            if shape.home(first) == line && first > 0 {
                prop_assert!(shape.home(first - 1) < line);
            }
        }

        #[test]
        fn the_first_numbers_are_found_without_dividing(bits in 3u32..=64, homes in 8usize..1000) {
            let shape = Shape::new(bits, homes);
            let mut firsts = shape.firsts();
            for line in (0..shape.lines()).rev() {
                firsts.reach(line);
                for near in line.saturating_sub(FARTHEST)..=line {
                    prop_assert_eq!(firsts.of(near), shape.first(near));
                }
            }
        }

        #[test]
        fn words_are_compared_and_filled_lane_by_lane(lanes in 1u32..=4, slots: [u64; 4], x: u64, near: bool) {
            let shape = (2..=64).map(|bits| Shape::new(bits, 8)).find(|shape| shape.lanes == lanes).unwrap();
            let mask = u64::MAX >> (64 - shape.lane_bits);
            let slots: Vec<u64> = slots.iter().take(lanes as usize).map(|slot| (slot & mask).max(1)).collect();
            let x = if near { slots[0] ^ (x & 1) << (shape.lane_bits - 1) } else { x & mask };
            let mut word = 0;
            for used in 0..lanes as usize {
                prop_assert!(!shape.is_full(word));
                prop_assert_eq!(shape.used(word).collect::<Vec<_>>(), &slots[..used]);
                let there = slots[..used].iter().chain(std::iter::repeat(&0)).take(lanes as usize);
                let expected = there
                    .zip(1..)
                    .map(|(&slot, lane)| u64::from(slot == x) << (lane * shape.lane_bits - 1))
                    .sum::<u64>();
                prop_assert_eq!(shape.equal(word, shape.pattern(x)), expected);
                word = shape.with(word, slots[used]);
            }
            prop_assert!(shape.is_full(word));
        }
    }

    #[test]
    fn no_fewer_lines_have_so_many_slots() {
        for bits in 2..=64 {
            for slots in [64, 100, 1000, 4096, 100_000, 1 << 20, 3_000_000] {
                let homes = homes_for(bits, slots).max(8);
                assert!(Shape::new(bits, homes).slots() >= slots);
                assert!(homes == 8 || Shape::new(bits, homes - 1).slots() < slots, "{bits} bits, {slots} slots");
            }
        }
    }

    #[test]
    fn slots_of_a_line_are_placed_one_after_the_other() {
        for shape in (2..=64).map(|bits| Shape::new(bits, 8)) {
            let all: Vec<_> = (0..=255).map_while(|used| shape.place(used)).collect();
            let expected =
                (0..WORDS).flat_map(|word| (0..shape.lanes).map(move |lane| (word, lane * shape.lane_bits)));
            assert!(all.into_iter().eq(expected), "{} lanes", shape.lanes);
        }
    }
}
