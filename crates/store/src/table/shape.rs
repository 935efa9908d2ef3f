//! Shapes: the mapping of numbers to slots in a table of a given size.
//!
//! ```text
//! number:   ├── line ──┬───── rest ─────┤     `bits` bits; the size of the table determines their division
//! slot:     ├ displacement + 1 ┼─ rest ─┤     the width depends on the line's layout; 0 is an empty slot
//! ```
//!
//! The line is the number scaled down to the number of lines, which need not be a power of two; it increases
//! monotonically with the number. The numbers of one line are consecutive, so their low bits distinguish them and are
//! sufficient.

use std::ops::Range;

use super::layout::Layout;

/// The maximal displacement of a number behind its home line, when that is full.
pub(crate) const FARTHEST: usize = if cfg!(loom) { 1 } else { 15 };
/// The minimal number of bits of a slot for the displacement, and for the mark that the slot is used.
const DISPLACEMENT_BITS: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub bits: u32,
    /// The number of home lines. [`FARTHEST`] more lines follow, for the overflow of the last ones.
    pub homes: usize,
    /// The difference between the width of words and that of numbers.
    lift: u32,
    rest_bits: u32,
    rest_mask: u64,
    /// The maximal displacement of a number in this table.
    reach: usize,
    pub layout: Layout,
}

impl Shape {
    /// The shape with the maximal number of slots in a line.
    pub fn new(bits: u32, homes: usize) -> Shape {
        Shape::with_layout(bits, homes, Layout::new(rest_bits(bits, homes) + DISPLACEMENT_BITS))
    }

    /// The shape with one slot in each word.
    pub fn of_words(bits: u32, homes: usize) -> Shape {
        Shape::with_layout(bits, homes, Layout::words())
    }

    fn with_layout(bits: u32, homes: usize, layout: Layout) -> Shape {
        let rest_bits = rest_bits(bits, homes);
        // Code 0 is that of an empty slot.
        let codes = 1usize << (layout.slot_bits() - rest_bits).min(16);
        Shape {
            bits,
            homes,
            lift: 64 - bits,
            rest_bits,
            rest_mask: (1 << rest_bits) - 1,
            reach: FARTHEST.min(codes - 2),
            layout,
        }
    }

    pub fn lines(&self) -> usize {
        self.homes + FARTHEST
    }

    pub fn slots(&self) -> usize {
        self.homes * self.layout.slots()
    }

    /// The home line of a scattered number; bits above its width do not matter.
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

    /// The number without the bits above its width.
    pub fn exactly(&self, number: u64) -> u64 {
        number & u64::MAX >> self.lift
    }

    #[inline]
    pub fn displacements(&self) -> Range<usize> {
        0..self.reach + 1
    }

    /// The content of the slot at a displacement from the number's home line.
    #[inline]
    pub fn slot(&self, number: u64, displacement: usize) -> u64 {
        (displacement as u64 + 1) << self.rest_bits | number & self.rest_mask
    }

    #[inline]
    pub fn displacement(&self, slot: u64) -> usize {
        (slot >> self.rest_bits) as usize - 1
    }

    /// The number of a slot, given the first number of its home line.
    #[inline]
    pub fn number(&self, slot: u64, first: u64) -> u64 {
        first + (slot.wrapping_sub(first) & self.rest_mask)
    }
}

/// The number of bits that distinguish the numbers of one line.
fn rest_bits(bits: u32, homes: usize) -> u32 {
    let interval = (1u128 << bits).div_ceil(homes as u128);
    u128::BITS - (interval - 1).leading_zeros()
}

/// Like [`Shape::first`], but without a division for each line: callers ask for lines from the last to the first, each
/// with the [`FARTHEST`] before it.
pub(crate) struct Firsts {
    /// For the last line reached: its first number, rounded down, and the remainder.
    quotient: u64,
    remainder: u64,
    /// The differences from line to line.
    step: (u64, u64),
    homes: u64,
    /// By line, as far as callers may ask for them.
    known: [u64; FARTHEST + 1],
    /// The last line reached.
    next: usize,
}

impl Firsts {
    /// Moves to a line.
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

    /// The first number of the line reached, or of one of the [`FARTHEST`] before it.
    #[inline]
    pub fn of(&self, line: usize) -> u64 {
        self.known[line % (FARTHEST + 1)]
    }
}

/// The least number of home lines with this many slots. More lines may have more slots each, because less of a number
/// is written.
pub(super) fn homes_for(bits: u32, slots: usize) -> usize {
    let with = |layout: Layout| {
        let rest_bits = layout.slot_bits() - DISPLACEMENT_BITS;
        let fewest = 1usize.checked_shl(bits.saturating_sub(rest_bits)).unwrap_or(usize::MAX);
        slots.div_ceil(layout.slots()).max(fewest)
    };
    Layout::all().map(with).min().expect("at least one layout")
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
                prop_assert!(slot != 0 && u128::from(slot) < 1 << shape.layout.slot_bits());
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
}
