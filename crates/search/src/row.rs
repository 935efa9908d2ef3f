//! Rows of numbers that only grow at one end, and shrink at the other. They are in blocks: a vector would be there twice
//! for a moment whenever it grows, and half empty afterwards.

use std::collections::VecDeque;
use std::mem::size_of;

use crate::footprint;

/// Numbers as they are.
pub(crate) struct Row<T> {
    /// All full.
    blocks: VecDeque<Box<[T]>>,
    /// Where numbers go in.
    last: Vec<T>,
}

/// Small numbers, most of them in half a byte.
#[derive(Default)]
pub(crate) struct SmallRow {
    blocks: VecDeque<Small>,
    last: Vec<u8>,
    /// How many bytes the blocks take.
    held: usize,
}

enum Small {
    Halves(Box<[u8]>),
    Bytes(Box<[u8]>),
}

/// So large that their memory is given back to the system with them, and not kept for others, if the allocator was told so.
const BLOCK_BYTES: usize = 1 << 18;
const HALF: u32 = u8::BITS / 2;

impl<T> Default for Row<T> {
    fn default() -> Self {
        Row { blocks: VecDeque::new(), last: Vec::new() }
    }
}

impl<T: Copy> Row<T> {
    pub const BLOCK: usize = BLOCK_BYTES / size_of::<T>();

    #[inline]
    pub fn push(&mut self, number: T) {
        if self.last.len() == Self::BLOCK {
            self.add_block();
        }
        self.last.push(number);
    }

    #[cold]
    fn add_block(&mut self) {
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(Self::BLOCK));
        self.blocks.push_back(full.into());
    }

    pub fn len(&self) -> usize {
        self.blocks.len() * Self::BLOCK + self.last.len()
    }

    /// The one that was pushed last.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }

    /// Those from a place on, up to the end of its block.
    pub fn from(&self, at: usize) -> &[T] {
        &self.blocks.get(at / Self::BLOCK).map_or(&self.last[..], |block| block)[at % Self::BLOCK..]
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten().chain(&self.last)
    }

    /// Drops the first ones: a whole block if there is one, otherwise so many as are wanted.
    pub fn drop_front(&mut self, count: usize) {
        match self.blocks.pop_front() {
            Some(block) => assert_eq!(block.len(), count, "whole blocks"),
            None => {
                self.last.drain(..count);
                self.last.shrink_to_fit();
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES + bytes_within_a_block(&self.last, Self::BLOCK)
    }
}

/// What a vector takes, or soon will, that does not grow beyond a block.
fn bytes_within_a_block<T>(last: &Vec<T>, block: usize) -> usize {
    if last.capacity() < block { footprint::bytes(last) } else { last.capacity() * size_of::<T>() }
}

impl SmallRow {
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
        let block = Small::new(&self.last);
        self.held += block.bytes();
        self.blocks.push_back(block);
        self.last.clear();
    }

    pub fn len(&self) -> usize {
        self.blocks.len() * Self::BLOCK + self.last.len()
    }

    pub fn get(&self, at: usize) -> u8 {
        match self.blocks.get(at / Self::BLOCK) {
            Some(block) => block.get(at % Self::BLOCK),
            None => self.last[at % Self::BLOCK],
        }
    }

    /// All of them, piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> {
        let last = Some(&self.last).filter(|last| !last.is_empty());
        self.blocks.iter().map(Small::numbers).chain(last.cloned())
    }

    /// The first piece.
    pub fn front(&self) -> Option<Vec<u8>> {
        self.pieces().next()
    }

    pub fn drop_front(&mut self) {
        match self.blocks.pop_front() {
            Some(block) => self.held -= block.bytes(),
            None => self.last = Vec::new(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.held + bytes_within_a_block(&self.last, Self::BLOCK)
    }
}

impl Small {
    fn new(numbers: &[u8]) -> Small {
        if numbers.iter().any(|number| number >> HALF > 0) {
            return Small::Bytes(numbers.into());
        }
        Small::Halves(numbers.chunks(2).map(|two| two[0] | two[1] << HALF).collect())
    }

    fn get(&self, at: usize) -> u8 {
        match self {
            Small::Halves(halves) => halves[at / 2] >> (at % 2 * HALF as usize) & ((1 << HALF) - 1),
            Small::Bytes(bytes) => bytes[at],
        }
    }

    fn numbers(&self) -> Vec<u8> {
        (0..SmallRow::BLOCK).map(|at| self.get(at)).collect()
    }

    fn bytes(&self) -> usize {
        let (Small::Halves(bytes) | Small::Bytes(bytes)) = self;
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::rng::Rng;

    #[test]
    fn numbers_are_where_they_were_put() {
        let mut row = Row::default();
        let all: Vec<u64> = (0..120_000).map(|number| number * number).collect();
        for (before, &number) in all.iter().enumerate() {
            row.push(number);
            assert_eq!((row.len(), row.last_mut()), (before + 1, Some(&mut all[before].clone())));
        }
        assert!(row.iter().eq(&all));
        for at in (0..all.len()).step_by(777) {
            assert!(all[at..].starts_with(row.from(at)) && !row.from(at).is_empty());
        }
        row.drop_front(Row::<u64>::BLOCK);
        assert!(row.iter().eq(&all[Row::<u64>::BLOCK..]));
        while row.len() > Row::<u64>::BLOCK {
            row.drop_front(Row::<u64>::BLOCK);
        }
        row.drop_front(5);
        assert!(row.iter().eq(&all[all.len() - row.len()..]));
    }

    #[test]
    fn small_numbers_are_where_they_were_put() {
        let mut rng = Rng::new(3);
        let (mut row, mut all) = (SmallRow::default(), Vec::new());
        for block in 0..7 {
            // Some blocks have only small ones; some only one that is not.
            let most = if block % 3 == 1 { 256 } else { 16 };
            for at in 0..SmallRow::BLOCK - usize::from(block == 6) {
                let number = if block % 3 == 2 && at == 70 { 16 } else { rng.below(most) as u8 };
                row.push(number);
                all.push(number);
            }
        }
        assert_eq!(row.len(), all.len());
        assert!((0..all.len()).all(|at| row.get(at) == all[at]));
        assert_eq!(row.pieces().flatten().collect::<Vec<_>>(), all);
        let mut dropped = Vec::new();
        while let Some(piece) = row.front() {
            dropped.extend(piece);
            row.drop_front();
        }
        assert!(dropped == all && row.len() == 0 && row.bytes() == 0);
    }

    #[test]
    fn most_small_numbers_take_half_a_byte() {
        let mut row = SmallRow::default();
        (0..5_000_000).for_each(|number| row.push(number as u8 % 16));
        assert!(row.bytes() < 3_000_000, "{}", row.bytes());
    }
}
