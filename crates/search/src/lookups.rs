//! Lookups of the states that several workers have reached, in one partition of the store.

use std::io;

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{Partition, StateKey};
use rapidhash::RapidHashSet;

use crate::frontier::BATCH;

/// Looks up states in a partition.
pub(crate) struct Lookups<K> {
    /// For the states of each worker.
    pub answers: Vec<Answers>,
    /// With the cycle proviso: the states that were found at this depth, or the first of them. They will be expanded later
    /// than all states that lead to them.
    found: RapidHashSet<K>,
    most: usize,
}

/// The results for the states of one worker.
#[derive(Default)]
pub(crate) struct Answers {
    /// How many were looked up.
    pub done: usize,
    /// The indices of the new ones.
    pub new: Vec<u32>,
    /// The indices of those that were found at the same depth before.
    pub later: Vec<u32>,
}

/// For so many keys, a partition makes room at a time.
const ROOM: usize = 2 * BATCH;

impl<K: StateKey> Lookups<K> {
    /// Lookups that remember at most so many of the states found at a depth.
    pub fn remembering(most: usize) -> Self {
        Lookups { answers: Vec::new(), found: RapidHashSet::default(), most }
    }

    pub fn clear(&mut self) {
        for Answers { done, new, later } in &mut self.answers {
            *done = 0;
            new.clear();
            later.clear();
        }
    }

    /// From now on, states are found at another depth.
    pub fn begin_level(&mut self) {
        self.found.clear();
    }

    /// Looks up the keys of all workers in order within `limit` bytes, and prefetches the memory for the next ones
    /// meanwhile.
    pub fn insert<'k>(
        &mut self,
        partition: &mut dyn Partition<K>,
        limit: u64,
        keys: impl ExactSizeIterator<Item = &'k [K]>,
    ) where
        K: 'k,
    {
        self.answers.resize_with(keys.len(), Answers::default);
        let batches = |(worker, keys): (usize, &'k [K])| keys.chunks(BATCH).map(move |batch| (worker, batch));
        let mut batches = (0..).zip(keys).flat_map(batches).peekable();
        batches.peek().inspect(|(_, first)| partition.prefetch_all(first));
        let mut room = 0;
        while let Some((worker, batch)) = batches.next() {
            if room < batch.len() {
                let mut portions = [ROOM, batch.len()].into_iter();
                let Some(made) = portions.find(|&count| partition.reserve(count, limit).is_ok()) else { return };
                room = made;
            }
            room -= batch.len();
            batches.peek().inspect(|(_, next)| partition.prefetch_all(next));
            let Answers { done, new, .. } = &mut self.answers[worker];
            let before = new.len();
            partition.insert_all(batch, new);
            new[before..].iter_mut().for_each(|index| *index += *done as u32);
            if self.most > 0 {
                self.remember(worker, before, batch);
            }
            self.answers[worker].done += batch.len();
        }
    }

    /// Remembers the new states of a batch, and notes which others were found at the same depth.
    fn remember(&mut self, worker: usize, before: usize, batch: &[K]) {
        let Answers { done, new, later } = &mut self.answers[worker];
        let mut new = new[before..].iter().peekable();
        for (index, key) in (*done as u32..).zip(batch) {
            if new.next_if_eq(&&index).is_none() {
                later.extend(self.found.contains(key).then_some(index));
            } else if self.found.len() < self.most {
                self.found.insert(*key);
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.found.capacity() * (size_of::<K>() + 1)) as u64
    }

    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.most.save(to)?;
        self.found.iter().copied().collect::<Vec<K>>().save(to)
    }

    pub fn load(from: &mut Reader) -> io::Result<Self> {
        let most = usize::load(from)?;
        let found = Vec::load(from)?.into_iter().collect();
        Ok(Lookups { found, ..Lookups::remembering(most) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use entail_model::{Full, Key};

    use super::*;

    /// Has room for a number of states.
    struct Small {
        states: HashSet<Key>,
        room: usize,
    }

    impl Partition<Key> for Small {
        fn reserve(&mut self, count: usize, _: u64) -> Result<(), Full> {
            if self.states.len() + count <= self.room { Ok(()) } else { Err(Full) }
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn prefetch_all(&self, _: &[Key]) {}

        fn insert_all(&mut self, keys: &[Key], new: &mut Vec<u32>) {
            new.extend((0..).zip(keys).filter(|(_, key)| self.states.insert(**key)).map(|(index, _)| index));
        }
    }

    fn keys(numbers: impl IntoIterator<Item = u64>) -> Vec<Key> {
        numbers.into_iter().map(Key).collect()
    }

    #[test]
    fn states_found_at_the_same_depth_will_be_expanded_later() {
        let mut partition = Small { states: HashSet::new(), room: usize::MAX };
        let mut lookups = Lookups::remembering(4);
        let mut answers = |lookups: &mut Lookups<Key>, numbers: [&[u64]; 2]| {
            let all = numbers.map(|numbers| keys(numbers.iter().copied()));
            lookups.clear();
            lookups.insert(&mut partition, 0, all.iter().map(|keys| &keys[..]));
            let answers = lookups.answers.iter().map(|answers| (answers.new.clone(), answers.later.clone()));
            answers.collect::<Vec<_>>()
        };
        assert_eq!(answers(&mut lookups, [&[7, 8, 7], &[8, 9]]), [(vec![0, 1], vec![2]), (vec![1], vec![0])]);
        assert_eq!(answers(&mut lookups, [&[1, 9], &[]]), [(vec![0], vec![1]), (vec![], vec![])]);
        // There is no memory for the fifth state.
        assert_eq!(answers(&mut lookups, [&[2, 2, 1], &[]]), [(vec![0], vec![2]), (vec![], vec![])]);
        lookups.begin_level();
        assert_eq!(answers(&mut lookups, [&[1, 3], &[3]]), [(vec![1], vec![]), (vec![], vec![0])]);
    }

    #[test]
    fn lookups_end_where_there_is_no_room() {
        let mut partition = Small { states: HashSet::new(), room: 3 * BATCH };
        let mut lookups = Lookups::remembering(0);
        let all = [keys(0..700), keys(600..1000)];
        lookups.insert(&mut partition, 0, all.iter().map(|keys| &keys[..]));
        let [first, second] = &lookups.answers[..] else { panic!("two workers") };
        assert_eq!((first.done, first.new.len(), second.done, second.new.len()), (700, 700, 0, 0));
        assert!((0..).zip(&first.new).all(|(index, new)| index == *new));
    }
}
