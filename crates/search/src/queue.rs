//! States that wait to be expanded, first come, first served.

use std::collections::VecDeque;
use std::mem::size_of;

use entail_model::StateKey;

/// Keys in blocks, so that what has been expanded gives its memory back, and growing moves nothing.
pub(crate) struct Queue<K> {
    blocks: VecDeque<Vec<K>>,
    /// How many keys of the first block have been taken.
    taken: usize,
    len: u64,
    /// An empty block, kept for the next time one is needed.
    spare: Vec<K>,
}

const BLOCK: usize = 1 << 13;

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Queue { blocks: VecDeque::new(), taken: 0, len: 0, spare: Vec::new() }
    }
}

impl<K: StateKey> Queue<K> {
    #[inline]
    pub fn push(&mut self, key: K) {
        match self.blocks.back_mut() {
            // The first block grows as it needs to, so that a small model costs little.
            Some(block) if block.len() < BLOCK => block.push(key),
            _ => {
                let mut block = std::mem::take(&mut self.spare);
                block.push(key);
                self.blocks.push_back(block);
            }
        }
        self.len += 1;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<K> {
        let key = *self.next().first()?;
        self.skip(1);
        Some(key)
    }

    /// Those that come out next, or the first of them.
    #[inline]
    pub fn next(&self) -> &[K] {
        self.blocks.front().map_or(&[], |first| &first[self.taken..])
    }

    /// Takes out so many of [`Queue::next`].
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.taken += count;
        self.len -= count as u64;
        if self.taken == BLOCK || self.len == 0 {
            self.spare = self.blocks.pop_front().unwrap_or_default();
            self.spare.clear();
            self.taken = 0;
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn bytes(&self) -> u64 {
        // All blocks but the first ones are full, or will be.
        let keys = match self.blocks.len() {
            0 | 1 => self.blocks.front().map_or(0, Vec::capacity),
            blocks => blocks * BLOCK,
        };
        ((keys + self.spare.capacity()) * size_of::<K>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_model::Key;
    use std::collections::VecDeque;

    #[test]
    fn keys_come_out_as_they_went_in() {
        let (mut queue, mut naive) = (Queue::default(), VecDeque::new());
        let mut next = 0;
        for round in 0..200u64 {
            for _ in 0..(round * 7919) % 1000 {
                queue.push(Key(next));
                naive.push_back(Key(next));
                next += 1;
            }
            for _ in 0..(round * 104_729) % 1000 {
                assert_eq!(queue.pop(), naive.pop_front());
                assert_eq!(queue.len(), naive.len() as u64);
            }
        }
        while let Some(key) = naive.pop_front() {
            assert_eq!(queue.pop(), Some(key));
        }
        assert_eq!(queue.pop(), None);
    }
}
