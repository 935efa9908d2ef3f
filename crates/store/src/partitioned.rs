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
