//! States that wait to be expanded, first come, first served.

use std::collections::VecDeque;
use std::mem::size_of;

use entail_model::StateKey;

/// Keys in blocks, so that what has been expanded gives its memory back, and growing moves nothing.
pub(crate) struct Queue<K> {
    /// All full, apart from what has been taken of the first.
    blocks: VecDeque<Vec<K>>,
    /// Where keys go in.
    last: Vec<K>,
    /// How many keys of the first block have been taken; of the last one, if that is the only one.
    taken: usize,
    len: u64,
    /// An empty block, kept for the next time one is needed.
    spare: Vec<K>,
}

const BLOCK: usize = 1 << 13;

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Queue { blocks: VecDeque::new(), last: Vec::new(), taken: 0, len: 0, spare: Vec::new() }
    }
}

impl<K: StateKey> Queue<K> {
    #[inline]
    pub fn push(&mut self, key: K) {
        self.last.push(key);
        self.len += 1;
        if self.last.len() == BLOCK {
            self.blocks.push_back(std::mem::replace(&mut self.last, std::mem::take(&mut self.spare)));
        }
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
        &self.blocks.front().unwrap_or(&self.last)[self.taken..]
    }

    /// Takes out so many of [`Queue::next`].
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.taken += count;
        self.len -= count as u64;
        if self.next().is_empty() {
            self.taken = 0;
            match self.blocks.pop_front() {
                Some(block) => {
                    self.spare = block;
                    self.spare.clear();
                }
                None => self.last.clear(),
            }
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn bytes(&self) -> u64 {
        let keys = self.blocks.len() * BLOCK + self.last.capacity() + self.spare.capacity();
        (keys * size_of::<K>()) as u64
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
