//! Sets in partitions, so that each thread can insert into its own without interference from others.

use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged};
use entail_model::{Full, partition_of};

/// Sets of the same kind. The highest bits of a key's hash select the one that the key belongs to.
#[derive(Debug)]
pub(crate) struct Partitioned<T> {
    /// A power of two of them.
    all: Vec<T>,
}

/// More partitions than any machine has threads.
const MOST: usize = 1 << 12;

impl<T: Snapshot> Snapshot for Partitioned<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.all.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let all = Vec::load(from)?;
        if !all.len().is_power_of_two() || all.len() > MOST {
            return Err(damaged("an impossible number of partitions"));
        }
        Ok(Partitioned { all })
    }
}

impl<T> Partitioned<T> {
    /// One set of everything.
    pub fn whole(set: T) -> Self {
        Partitioned { all: vec![set] }
    }

    /// `2^bits` sets, if there is enough memory for them.
    pub fn try_new(bits: u32, mut set: impl FnMut() -> Result<T, Full>) -> Result<Self, Full> {
        Ok(Partitioned { all: (0..1usize << bits).map(|_| set()).collect::<Result<_, _>>()? })
    }

    pub fn try_map<U>(&self, change: impl FnMut(&T) -> Result<U, Full>) -> Result<Partitioned<U>, Full> {
        Ok(Partitioned { all: self.all.iter().map(change).collect::<Result<_, _>>()? })
    }

    /// The binary logarithm of the number of partitions.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.all.len().trailing_zeros()
    }

    /// Any of the sets.
    #[inline]
    pub fn first(&self) -> &T {
        &self.all[0]
    }

    #[inline]
    pub fn at(&self, index: usize) -> &T {
        &self.all[index]
    }

    #[inline]
    pub fn at_mut(&mut self, index: usize) -> &mut T {
        &mut self.all[index]
    }

    /// The set of keys with this hash.
    #[inline]
    pub fn of(&self, hash: u64) -> &T {
        &self.all[self.index(hash)]
    }

    /// The number of that set.
    #[inline]
    pub fn index(&self, hash: u64) -> usize {
        if self.all.len() == 1 { 0 } else { partition_of(hash, self.bits()) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut()
    }

    pub fn map(self, change: impl Fn(T) -> T) -> Self {
        Partitioned { all: self.all.into_iter().map(change).collect() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use entail_disk::Restore;
    use entail_model::{Keys, StateKey, Store, Visit, partition_of};
    use entail_testkit::rng::Rng;

    use super::*;
    use crate::exact::{ExactPairSet, ExactSet, ExactWordSet, ShortStateSet};

    /// States of one to four words, most of which come several times.
    fn state(rng: &mut Rng, most: usize) -> Vec<u8> {
        let word = (rng.below(most) as u64).to_le_bytes();
        word.repeat(*rng.pick(&[1, 2, 2, 3, 4]))
    }

    fn insert<S: ShortStateSet>(set: &mut ExactSet<S>, states: &[Vec<u8>], expected: &mut HashSet<Vec<u8>>) {
        set.reserve_keys(states.len(), u64::MAX).unwrap();
        let keys: Vec<_> = states.iter().map(|state| set.key(state, &Default::default())).collect();
        let bits = set.partitions().len().trailing_zeros();
        for (number, partition) in set.partitions().iter_mut().enumerate() {
            let own = |key: &S::Key| partition_of(key.hash(), bits) == number;
            let here: Vec<_> = keys.iter().copied().filter(own).collect();
            partition.reserve(here.len(), u64::MAX).unwrap();
            partition.prefetch_all(&here);
            let mut new = Vec::new();
            partition.insert_all(&here, &mut new);
            let states = states.iter().zip(&keys).filter(|(_, key)| own(key)).map(|(state, _)| state);
            let first: Vec<_> = (0..)
                .zip(states)
                .filter(|(_, state)| expected.insert(state.to_vec()))
                .map(|(index, _)| index)
                .collect();
            assert_eq!(new, first);
        }
    }

    fn check<S: ShortStateSet>(empty: impl Fn() -> ExactSet<S>) {
        let (rounds, most) = if cfg!(miri) { (6, 40) } else { (60, 4_000) };
        for bits in [1, 2, 4] {
            let (mut rng, mut set, mut expected) = (Rng::new(u64::from(bits)), empty(), HashSet::new());
            for _ in 0..rounds {
                let state = state(&mut rng, most);
                set.reserve(1, u64::MAX).unwrap();
                let key = set.key(&state, &Default::default());
                let visit = if expected.insert(state) { Visit::New } else { Visit::Seen };
                assert_eq!(set.insert_alone(key), visit);
            }
            set.partition(bits, u64::MAX);
            assert_eq!(set.partitions().len(), 1 << bits);
            for _ in 0..rounds {
                let states: Vec<_> = (0..rng.below(100)).map(|_| state(&mut rng, most)).collect();
                insert(&mut set, &states, &mut expected);
            }
            assert_eq!(set.len(), expected.len() as u64);
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes).unwrap();
            set.save(&mut writer).unwrap();
            writer.finish().unwrap();
            let mut loaded = empty();
            let mut reader = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
            loaded.restore(&mut reader).unwrap();
            let mut keys = HashSet::new();
            loaded.each_key(&mut |key| assert!(keys.insert(key), "{key:?} is in two partitions"));
            let (mut state, mut opened) = Default::default();
            let states: HashSet<_> = keys
                .into_iter()
                .map(|key| {
                    loaded.open(key, &mut state, &mut opened);
                    state.clone()
                })
                .collect();
            assert_eq!(states, expected);
            let all: Vec<_> = expected.iter().cloned().collect();
            insert(&mut loaded, &all, &mut expected);
        }
    }

    #[test]
    fn partitions_are_one_set_together() {
        check(|| ExactWordSet::new(40));
        check(ExactPairSet::new);
    }

    #[test]
    fn a_set_without_memory_for_partitions_stays_whole() {
        let mut set = ExactWordSet::new(40);
        set.partition(3, 100);
        assert!(set.partitions().is_empty());
    }
}
