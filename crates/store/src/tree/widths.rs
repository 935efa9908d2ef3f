//! Squeezing of tree keys into the minimal number of bits.
//!
//! ```text
//! key:       size (6) │ left (28)            │ right (28)
//! squeezed:  the number of the size, left, right: with the bits that sizes and ids need, and some extra
//! ```

use super::nodes::Size;
use crate::dictionary::ID_BITS;
use entail_disk::{Reader, Snapshot, Writer, damaged};
use entail_model::Key;
use std::io;

/// The parts of a key: the size of a tree and the ids of its root's two children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub size: Size,
    pub left: u32,
    pub right: u32,
}

impl Parts {
    #[inline]
    pub fn key(self) -> Key {
        let size = u64::from(self.size.code());
        Key(size << (2 * ID_BITS) | u64::from(self.left) << ID_BITS | u64::from(self.right))
    }

    #[inline]
    pub fn of(Key(key): Key) -> Parts {
        let mask = (1 << ID_BITS) - 1;
        Parts {
            size: Size::from_code((key >> (2 * ID_BITS)) as u32),
            left: (key >> ID_BITS & mask) as u32,
            right: (key & mask) as u32,
        }
    }
}

/// The number of bits for every part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    left: u32,
    right: u32,
    sizes: Sizes,
    /// The number of every size among those in use.
    numbers: [u8; Size::COUNT],
}

const NO_NUMBER: u8 = u8::MAX;

impl Snapshot for Widths {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.left.save(to)?;
        self.right.save(to)?;
        self.sizes.0.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Widths> {
        let (left, right, sizes) = (u32::load(from)?, u32::load(from)?, Sizes(u64::load(from)?));
        if left > ID_BITS || right > ID_BITS {
            return Err(damaged("keys of more bits than there are"));
        }
        Ok(Widths::with_bits(left, right, sizes))
    }
}

impl Widths {
    /// Widths that every key fits into.
    pub fn all() -> Widths {
        Widths::with_bits(ID_BITS, ID_BITS, Sizes(u64::MAX))
    }

    /// Widths for ids smaller than these.
    pub fn new(left: u32, right: u32, sizes: Sizes) -> Widths {
        Widths::with_bits(bits_below(left), bits_below(right), sizes)
    }

    fn with_bits(left: u32, right: u32, sizes: Sizes) -> Widths {
        let mut numbers = [NO_NUMBER; Size::COUNT];
        for (number, size) in (0..).zip(sizes.iter()) {
            numbers[size.code() as usize] = number;
        }
        Widths { left, right, sizes, numbers }
    }

    /// The same, extended to use all of `bits` bits.
    pub fn stretched(self, bits: u32) -> Widths {
        let spare = bits.saturating_sub(self.bits());
        let right = (self.right + spare / 2).min(ID_BITS);
        let left = (self.left + spare - spare / 2).min(ID_BITS);
        Widths { left, right, ..self }
    }

    /// The number of bits of a squeezed key.
    pub fn bits(self) -> u32 {
        bits_below(self.sizes.0.count_ones()) + self.left + self.right
    }

    /// Whether every key fits that fits into `other`.
    pub fn covers(self, other: Widths) -> bool {
        self.left >= other.left && self.right >= other.right && other.sizes.0 & !self.sizes.0 == 0
    }

    #[inline]
    pub fn squeeze(&self, key: Key) -> Option<u64> {
        let Parts { size, left, right } = Parts::of(key);
        let number = self.numbers[size.code() as usize];
        let fits = left >> self.left == 0 && right >> self.right == 0 && number != NO_NUMBER;
        let squeezed = (u64::from(number) << self.left | u64::from(left)) << self.right | u64::from(right);
        fits.then_some(squeezed)
    }

    pub fn unsqueeze(&self, squeezed: u64) -> Key {
        let right = (squeezed & ((1 << self.right) - 1)) as u32;
        let left = (squeezed >> self.right & ((1 << self.left) - 1)) as u32;
        let number = (squeezed >> self.left >> self.right) as usize;
        let size = self.sizes.iter().nth(number).expect("a number of one of them");
        Parts { size, left, right }.key()
    }
}

/// The sizes of the trees in use, as one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes(pub u64);

impl Sizes {
    pub fn iter(self) -> impl Iterator<Item = Size> {
        (0..Size::COUNT as u32).map(Size::from_code).filter(move |&size| self.contains(size))
    }

    #[inline]
    pub fn contains(self, size: Size) -> bool {
        self.0 >> size.code() & 1 == 1
    }
}

/// The number of bits of numbers smaller than this.
fn bits_below(end: u32) -> u32 {
    u32::BITS - end.saturating_sub(1).leading_zeros()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_that_fit_are_squeezed_without_loss(
            ends in (1u32..=1 << ID_BITS, 1u32..=1 << ID_BITS),
            sizes in 1u64..,
            spare in 0u32..64,
            parts in (0..Size::COUNT as u32, 0u32..1 << ID_BITS, 0u32..1 << ID_BITS),
        ) {
            let sizes = Sizes(sizes);
            let widths = Widths::new(ends.0, ends.1, sizes);
            let stretched = widths.stretched((widths.bits() + spare).min(64));
            prop_assert!(stretched.covers(widths) && stretched.bits() <= 64.min(widths.bits() + spare));
            let parts = Parts { size: Size::from_code(parts.0), left: parts.1, right: parts.2 };
            prop_assert_eq!(Parts::of(parts.key()), parts);
            for widths in [widths, stretched, Widths::all()] {
                match widths.squeeze(parts.key()) {
                    Some(squeezed) => {
                        prop_assert!(widths.bits() == 64 || squeezed >> widths.bits() == 0);
                        prop_assert_eq!(widths.unsqueeze(squeezed), parts.key());
                    }
                    None => prop_assert!(
                        parts.left >= ends.0 || parts.right >= ends.1 || !sizes.contains(parts.size)
                    ),
                }
            }
        }
    }
}
