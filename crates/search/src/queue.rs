//! The queue of states to expand.

use std::collections::VecDeque;
use std::io;
use std::mem::size_of;

use entail_disk::{Reader, Scratch, Snapshot, SpillQueue, Writer};
use entail_model::StateKey;

/// A queue of keys in blocks. Expanded blocks are freed, and growth moves nothing.
///
/// ```text
/// blocks:  │▒▒▒▒██│        │██████│██████│  last:  │███   │
///                  ╰ spill ╯
/// ```
///
/// When memory is short, the blocks after the first one are spilled.
pub(crate) struct Queue<K> {
    /// Full blocks, except for the keys already taken from the first.
    blocks: VecDeque<Vec<K>>,
    /// The block that receives new keys.
    last: Vec<K>,
    /// How many keys of the first block have been taken; of the last one, if that is the only one.
    taken: usize,
    len: u64,
    /// The capacity of all blocks, in keys.
    held: usize,
    /// An empty block, kept for reuse.
    spare: Vec<K>,
    /// The number of keys in a block; a multiple of [`BLOCK`].
    block: usize,
    /// The spilled blocks, between the first block and all others. If there are any, there is a first block.
    spilled: Option<SpillQueue>,
    /// Spilled keys could not be read back.
    is_lost: bool,
}

const BLOCK: usize = 1 << 13;
/// From this number of keys on, blocks are so large that they are returned to the system when freed, if the allocator
/// is configured for it.
const MANY: u64 = 1 << 17;
const LARGE_BYTES: usize = 1 << 20;

/// When a snapshot is loaded, this many bytes stay in memory.
const LOADED: usize = 32 << 20;

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Queue {
            blocks: VecDeque::new(),
            last: Vec::new(),
            taken: 0,
            len: 0,
            held: 0,
            spare: Vec::new(),
            block: BLOCK,
            spilled: None,
            is_lost: false,
        }
    }
}

impl<K: StateKey> Queue<K> {
    #[inline]
    pub fn push(&mut self, key: K) {
        self.last.push(key);
        self.len += 1;
        if self.last.len() == self.block {
            self.add_block();
        }
    }

    #[cold]
    fn add_block(&mut self) {
        let is_large = self.len >= MANY && self.spilled.is_none();
        self.block = if is_large { LARGE_BYTES / size_of::<K>() } else { BLOCK };
        let mut empty = std::mem::take(&mut self.spare);
        // A large block is allocated at once; the system backs only the used pages with memory.
        if empty.capacity() != self.block {
            empty = if is_large { Vec::with_capacity(self.block) } else { Vec::new() };
        }
        self.held += self.last.len();
        self.blocks.push_back(std::mem::replace(&mut self.last, empty));
    }

    #[cfg(test)]
    pub fn pop(&mut self) -> Option<K> {
        let key = *self.next().first()?;
        self.skip(1);
        Some(key)
    }

    /// The next keys, or the first of them.
    #[inline]
    pub fn next(&self) -> &[K] {
        &self.blocks.front().unwrap_or(&self.last)[self.taken..]
    }

    /// Removes `count` keys of [`Queue::next`].
    #[inline]
    pub fn skip(&mut self, count: usize) {
        self.taken += count;
        self.len -= count as u64;
        if self.next().is_empty() {
            self.drop_block();
        }
    }

    fn drop_block(&mut self) {
        self.taken = 0;
        let Some(mut block) = self.blocks.pop_front() else { return self.last.clear() };
        self.held -= block.len();
        block.clear();
        if let Some(spilled) = self.spilled.as_mut().filter(|spilled| !spilled.is_empty()) {
            match read(spilled, &mut block) {
                Ok(()) => {
                    self.held += block.len();
                    self.blocks.push_front(block);
                }
                Err(_) => self.lose(),
            }
        } else {
            self.spare = block;
        }
    }

    /// Removes everything: without the keys that could not be read, the order is lost.
    fn lose(&mut self) {
        *self = Queue { is_lost: true, ..Queue::default() };
    }

    /// Whether spilled keys were lost; the queue is empty since then.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Spills all but the first keys, and less than a block of the last ones.
    pub fn spill(&mut self, scratch: &Scratch) -> io::Result<()> {
        let is_large = self.blocks.front().is_some_and(|front| front.len() > BLOCK);
        if self.blocks.len() < 2 && self.last.len() < 2 * BLOCK && !is_large {
            return Ok(());
        }
        if self.spilled.as_ref().is_none_or(SpillQueue::is_empty) {
            self.front_alone();
        }
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(scratch.spill_queue(BLOCK * size_of::<K>())?),
        };
        let moved = move_all(spilled, &mut self.blocks, &mut self.last);
        self.held = self.blocks.iter().map(Vec::len).sum();
        if moved.is_ok() {
            self.spare = Vec::new();
            self.last.shrink_to_fit();
            self.block = BLOCK;
        }
        moved
    }

    /// Moves the remaining first keys into a block of their own, so that whole small blocks follow.
    fn front_alone(&mut self) {
        let from_last = self.blocks.is_empty();
        let front = if from_last { &mut self.last } else { &mut self.blocks[0] };
        let rest = front.len() - self.taken;
        let alone = if from_last { BLOCK.min(rest) } else { (rest - 1) % BLOCK + 1 };
        let first = front[self.taken..self.taken + alone].to_vec();
        front.drain(..self.taken + alone);
        if !from_last && front.is_empty() {
            self.blocks.pop_front();
        }
        self.blocks.push_front(first);
        self.taken = 0;
    }

    /// Writes all keys in order.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len.save(to)?;
        let mut all = self.blocks.iter().chain([&self.last]).flatten().skip(self.taken);
        if let Some(spilled) = self.spilled.as_ref().filter(|spilled| !spilled.is_empty()) {
            let first = self.blocks.front().map_or(0, Vec::len) - self.taken;
            all.by_ref().take(first).try_for_each(|key| key.save(to))?;
            // In the format of saved keys: the words of each.
            spilled.each(|block| to.put(block))?;
        }
        all.try_for_each(|key| key.save(to))
    }

    /// The keys of a snapshot. With a scratch directory, most of them are spilled.
    pub fn load(from: &mut Reader, scratch: Option<&Scratch>) -> io::Result<Queue<K>> {
        let mut queue = Queue::default();
        let kept = if scratch.is_some() { 0 } else { size_of::<K>() };
        for _ in 0..from.count(8 * K::WORDS, kept)? {
            queue.push(K::load(from)?);
            if queue.held * size_of::<K>() > LOADED
                && let Some(scratch) = scratch
            {
                queue.spill(scratch)?;
            }
        }
        Ok(queue)
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn bytes(&self) -> u64 {
        // The unused part of a large block takes no memory.
        let last = if self.last.capacity() > BLOCK { self.last.len() } else { self.last.capacity() };
        let keys = self.held + last + self.spare.capacity();
        (keys * size_of::<K>()) as u64 + self.spilled.as_ref().map_or(0, SpillQueue::bytes)
    }
}

/// Spills all but the first block. Each block is freed as soon as it is written, so that no key is in both places after
/// an error.
fn move_all<K: StateKey>(
    spilled: &mut SpillQueue,
    blocks: &mut VecDeque<Vec<K>>,
    last: &mut Vec<K>,
) -> io::Result<()> {
    while let Some(block) = blocks.get_mut(1) {
        write(spilled, block)?;
        blocks.remove(1);
    }
    write(spilled, last)
}

/// Spills whole small blocks from the front of a block, as many as find room.
fn write<K: StateKey>(spilled: &mut SpillQueue, block: &mut Vec<K>) -> io::Result<()> {
    let mut written = 0;
    let mut bytes = Vec::with_capacity(BLOCK * size_of::<K>());
    let result = block.chunks_exact(BLOCK).try_for_each(|keys| {
        bytes.clear();
        for key in keys {
            let words = key.words();
            words[..K::WORDS].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
        spilled.push(&bytes)?;
        written += BLOCK;
        io::Result::Ok(())
    });
    block.drain(..written);
    result
}

/// Fills an empty block with the next keys of a file.
fn read<K: StateKey>(spilled: &mut SpillQueue, block: &mut Vec<K>) -> io::Result<()> {
    let mut bytes = vec![0; BLOCK * size_of::<K>()];
    spilled.pop(&mut bytes)?;
    let (words, _) = bytes.as_chunks();
    block.extend(words.chunks_exact(K::WORDS).map(|words| {
        let mut key = [0; 2];
        key.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        K::from_words(key)
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_model::{Key, WideKey};
    use entail_testkit::rng::Rng;
    use std::collections::VecDeque;

    /// Keys go in and out, `most` at a time; now and then, they are spilled.
    fn compare<K: StateKey>(
        rounds: usize,
        most: usize,
        scratch: Option<&Scratch>,
        key: impl Fn(u64) -> K,
    ) -> usize {
        let (mut queue, mut naive, mut rng) = (Queue::default(), VecDeque::new(), Rng::new(11));
        let (mut next, mut spilled) = (0, 0);
        for _ in 0..rounds {
            for _ in 0..rng.below(most) {
                queue.push(key(next));
                naive.push_back(key(next));
                next += 1;
            }
            if let Some(scratch) = scratch.filter(|_| rng.chance(0.3)) {
                let before = queue.bytes();
                let is_moved = queue.spill(scratch).is_ok() && queue.bytes() < before / 2;
                spilled += usize::from(is_moved);
            }
            for _ in 0..rng.below(most) {
                assert_eq!(queue.pop(), naive.pop_front());
                assert_eq!(queue.len(), naive.len() as u64);
            }
        }
        while let Some(key) = naive.pop_front() {
            assert_eq!(queue.pop(), Some(key));
        }
        assert_eq!((queue.pop(), queue.is_lost()), (None, false));
        spilled
    }

    #[test]
    fn keys_come_out_as_they_went_in() {
        compare(200, 1000, None, Key);
        compare(10, 2_000_000, None, Key);
    }

    #[test]
    fn keys_come_out_of_files_as_they_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path());
        let wide = |number: u64| WideKey(u128::from(number) << 64 | u128::from(!number));
        assert!(compare(300, 30_000, Some(&scratch), Key) > 10);
        assert!(compare(300, 30_000, Some(&scratch), wide) > 10);
        assert!(compare(20, 3_000_000, Some(&scratch), Key) > 1);
        assert_eq!(scratch.failure(), None);
    }

    #[test]
    fn where_files_find_no_room_keys_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [0, 100_000, 1_000_000, 20_000_000] {
            let scratch = Scratch::with_room(folder.path(), bytes);
            compare(200, 30_000, Some(&scratch), Key);
            compare(20, 3_000_000, Some(&scratch), Key);
            assert!(scratch.failure().is_some());
        }
        assert_eq!(compare(30, 30_000, Some(&Scratch::new("/nowhere/at/all")), Key), 0);
    }

    #[test]
    fn little_is_left_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = Queue::default();
        (0..10_000_000).for_each(|number| queue.push(Key(number)));
        assert!(queue.bytes() >= 80_000_000);
        queue.spill(&Scratch::new(folder.path())).unwrap();
        assert!(queue.bytes() < 3 * (BLOCK * 8) as u64, "{}", queue.bytes());
    }
}
