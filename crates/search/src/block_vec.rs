//! Vectors of numbers, stored in blocks, that grow at the end and shrink at the front. When a `Vec` grows, both copies
//! exist for a moment, and the new one is half empty.

use std::collections::VecDeque;
use std::mem::{replace, size_of, take};

/// Numbers at full width.
pub(crate) struct BlockVec<T> {
    /// Full blocks.
    blocks: VecDeque<Vec<T>>,
    /// The block that receives new numbers. It is allocated in full; the system backs only the used pages with memory.
    last: Vec<T>,
}

/// Small numbers, most of them in half a byte.
#[derive(Default)]
pub(crate) struct NibbleVec {
    blocks: VecDeque<Small>,
    last: Small,
    /// The bytes of all blocks.
    held: usize,
}

/// A block of small numbers.
enum Small {
    /// All numbers fit into half a byte: two in each byte, the first in the low half; and their count.
    Halves(Vec<u8>, usize),
    Bytes(Vec<u8>),
}

/// Blocks of this size are returned to the system when freed, if the allocator is configured for it.
const BLOCK_BYTES: usize = 1 << 18;
const HALF: u32 = u8::BITS / 2;

impl<T> Default for BlockVec<T> {
    fn default() -> Self {
        BlockVec { blocks: VecDeque::new(), last: Vec::new() }
    }
}

impl<T: Copy> BlockVec<T> {
    pub const BLOCK: usize = BLOCK_BYTES / size_of::<T>();

    #[inline]
    pub fn push(&mut self, number: T) {
        if self.last.len() == self.last.capacity() {
            self.make_room();
        }
        self.last.push(number);
    }

    #[cold]
    fn make_room(&mut self) {
        let before = replace(&mut self.last, Vec::with_capacity(Self::BLOCK));
        if before.len() == Self::BLOCK {
            self.blocks.push_back(before);
        } else {
            self.last.extend_from_slice(&before);
        }
    }

    pub fn len(&self) -> usize {
        self.blocks.len() * Self::BLOCK + self.last.len()
    }

    /// The last number.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }

    /// The numbers from an index to the end of its block.
    pub fn from(&self, at: usize) -> &[T] {
        &self.blocks.get(at / Self::BLOCK).unwrap_or(&self.last)[at % Self::BLOCK..]
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().chain([&self.last]).flatten()
    }

    /// Drops numbers from the front: the first whole block if there is one, otherwise `count` numbers.
    pub fn drop_front(&mut self, count: usize) {
        match self.blocks.pop_front() {
            Some(block) => assert_eq!(block.len(), count, "whole blocks"),
            None => self.last = self.last.split_off(count),
        }
    }

    pub fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

impl NibbleVec {
    const BLOCK: usize = 2 * BLOCK_BYTES;

    #[inline]
    pub fn push(&mut self, number: u8) {
        if self.last.len() == Self::BLOCK {
            self.add_block();
        }
        self.last.push(number);
    }

    #[cold]
    fn add_block(&mut self) {
        let full = take(&mut self.last);
        self.held += full.bytes();
        self.blocks.push_back(full);
    }

    pub fn len(&self) -> usize {
        self.blocks.len() * Self::BLOCK + self.last.len()
    }

    pub fn get(&self, at: usize) -> u8 {
        self.blocks.get(at / Self::BLOCK).unwrap_or(&self.last).get(at % Self::BLOCK)
    }

    /// All numbers, encoded block by block.
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> {
        let last = Some(&self.last).filter(|last| last.len() > 0);
        self.blocks.iter().chain(last).map(Small::numbers)
    }

    /// The first block, encoded.
    pub fn front_block(&self) -> Option<Vec<u8>> {
        self.pieces().next()
    }

    pub fn drop_front(&mut self) {
        match self.blocks.pop_front() {
            Some(block) => self.held -= block.bytes(),
            None => self.last = Small::default(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.held + self.last.bytes()
    }
}

impl Default for Small {
    fn default() -> Small {
        Small::Halves(Vec::new(), 0)
    }
}

impl Small {
    #[inline]
    fn push(&mut self, number: u8) {
        match self {
            Small::Halves(halves, count) if number >> HALF == 0 => {
                match halves.last_mut().filter(|_| *count % 2 == 1) {
                    Some(last) => *last |= number << HALF,
                    None => push_within(halves, NibbleVec::BLOCK / 2, number),
                }
                *count += 1;
            }
            Small::Halves(..) => self.push_large(number),
            Small::Bytes(bytes) => push_within(bytes, NibbleVec::BLOCK, number),
        }
    }

    #[cold]
    fn push_large(&mut self, number: u8) {
        let mut bytes = Vec::with_capacity(NibbleVec::BLOCK);
        bytes.extend(self.numbers());
        bytes.push(number);
        *self = Small::Bytes(bytes);
    }

    fn len(&self) -> usize {
        match self {
            Small::Halves(_, count) => *count,
            Small::Bytes(bytes) => bytes.len(),
        }
    }

    fn get(&self, at: usize) -> u8 {
        match self {
            Small::Halves(halves, _) => halves[at / 2] >> (at % 2 * HALF as usize) & ((1 << HALF) - 1),
            Small::Bytes(bytes) => bytes[at],
        }
    }

    fn numbers(&self) -> Vec<u8> {
        (0..self.len()).map(|at| self.get(at)).collect()
    }

    fn bytes(&self) -> usize {
        let (Small::Halves(bytes, _) | Small::Bytes(bytes)) = self;
        bytes.len()
    }
}

/// Appends to a vector that is allocated with its maximal length at once, so that it never moves.
#[inline]
fn push_within(bytes: &mut Vec<u8>, most: usize, number: u8) {
    if bytes.capacity() == 0 {
        bytes.reserve_exact(most);
    }
    bytes.push(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::rng::Rng;

    #[test]
    fn numbers_are_where_they_were_put() {
        let mut row = BlockVec::default();
        let all: Vec<u64> = (0..120_000).map(|number| number * number).collect();
        for (before, &number) in all.iter().enumerate() {
            row.push(number);
            assert_eq!((row.len(), row.last_mut()), (before + 1, Some(&mut all[before].clone())));
        }
        assert!(row.iter().eq(&all));
        for at in (0..all.len()).step_by(777) {
            assert!(all[at..].starts_with(row.from(at)) && !row.from(at).is_empty());
        }
        row.drop_front(BlockVec::<u64>::BLOCK);
        assert!(row.iter().eq(&all[BlockVec::<u64>::BLOCK..]));
        while row.len() > BlockVec::<u64>::BLOCK {
            row.drop_front(BlockVec::<u64>::BLOCK);
        }
        row.drop_front(5);
        assert!(row.iter().eq(&all[all.len() - row.len()..]));
    }

    #[test]
    fn small_numbers_are_where_they_were_put() {
        let mut rng = Rng::new(3);
        let (mut row, mut all) = (NibbleVec::default(), Vec::new());
        for block in 0..7 {
            // Some blocks have only small numbers, others all but one.
            let most = if block % 3 == 1 { 256 } else { 16 };
            for at in 0..NibbleVec::BLOCK - usize::from(block == 6) {
                let number = if block % 3 == 2 && at == 70 { 16 } else { rng.below(most) as u8 };
                row.push(number);
                all.push(number);
            }
        }
        assert_eq!(row.len(), all.len());
        assert!((0..all.len()).all(|at| row.get(at) == all[at]));
        assert_eq!(row.pieces().flatten().collect::<Vec<_>>(), all);
        let mut dropped = Vec::new();
        while let Some(piece) = row.front_block() {
            dropped.extend(piece);
            row.drop_front();
        }
        assert!(dropped == all && row.len() == 0 && row.bytes() == 0);
    }

    #[test]
    fn most_small_numbers_take_half_a_byte() {
        let mut row = NibbleVec::default();
        (0..1_000_001).for_each(|number| row.push(number as u8 % 16));
        assert_eq!(row.bytes(), 500_001);
    }
}
