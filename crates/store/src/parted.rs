//! Short states in less memory than they have bits: their halves have numbers.
//!
//! A state of one or two words is its own key, so that it need not be opened; but what is remembered of it is a pair
//! of numbers, one for each half (see [`Tree`]). A model has far fewer halves of states than states, so that both
//! numbers together are shorter than the state, and so is what the table keeps of them.
//!
//! ```text
//! state:  ├───── high ─────┼───── low ─────┤
//! kept:   ├ number of high ┼ number of low ┤
//! ```

use std::io;

use entail_disk::{Lasting, Reader, Saved, Writer, damaged, saved};
use entail_model::{Full, Growth, Guarantee, Key, Keys, State, StateBuf, StateKey, Store, Visit};

use crate::lossless::{Kept, Short};
use crate::tree::{self, Opened, Tree};

/// A set of states of which the short ones are kept by their halves; and the others as they are otherwise.
#[derive(Debug)]
pub struct Parted<S> {
    /// Makes keys, and opens them, and has all states that are not short.
    kept: Kept<S>,
    halves: Tree,
    cut: Cut,
    /// The numbers of halves of states that are looked up together.
    batch: Vec<Key>,
}

/// Where the high half begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut(u32);

saved!(Cut(bit));

impl Cut {
    /// Of states of so many bits.
    fn of(bits: u32) -> Cut {
        Cut((bits / 2).min(u64::BITS))
    }

    #[inline]
    fn halves(self, key: impl StateKey) -> Option<[u64; 2]> {
        let [low, high] = key.words();
        let state = u128::from(high) << 64 | u128::from(low);
        let high = u64::try_from(state >> self.0).ok()?;
        Some([high, (state & ((1 << self.0) - 1)) as u64])
    }
}

impl<S: Short> Parted<S> {
    /// With the keys of such a store, which is empty; its short states have so many bits.
    pub fn new(kept: Kept<S>, bits: u32) -> Self {
        Parted { kept, halves: Tree::of_pairs(), cut: Cut::of(bits), batch: Vec::new() }
    }

    /// The halves of a short state. One of more bits than there should be is left to the other store.
    #[inline]
    fn halves(&self, key: S::Key) -> Option<[u64; 2]> {
        if self.kept.is_state(key) { self.cut.halves(key) } else { None }
    }
}

impl<S: Short> Lasting for Parted<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.kept.save(to)?;
        self.cut.save(to)?;
        self.halves.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.kept.restore(from)?;
        if Cut::load(from)? != self.cut {
            return Err(damaged("what was kept is of states of another length"));
        }
        self.halves = Tree::load(from)?;
        Ok(())
    }
}

impl<S: Short> Keys for Parted<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.kept.reserve_keys(count, limit.saturating_sub(self.halves.bytes()))?;
        self.halves.reserve(count, limit.saturating_sub(self.kept.bytes()))
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.kept.key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.kept.is_state(key)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.kept.open(key, state, opened);
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        match self.halves(key) {
            Some(halves) => self.halves.prefetch_pair(halves),
            None => self.kept.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        self.kept.len() + self.halves.len()
    }

    fn bytes(&self) -> u64 {
        self.kept.bytes() + self.halves.bytes()
    }

    /// That of the part which has more.
    fn growth(&self) -> Option<Growth> {
        if self.kept.len() > self.halves.len() { self.kept.growth() } else { Some(self.halves.growth()) }
    }
}

impl<S: Short> Store for Parted<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        match self.halves(key) {
            Some(halves) => self.halves.insert(self.halves.key_of_pair(halves)),
            None => self.kept.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        match self.halves(key) {
            Some(halves) => self.halves.insert_alone(self.halves.key_of_pair(halves)),
            None => self.kept.insert_alone(key),
        }
    }

    /// First the numbers of all halves, so that what is looked up with them is fetched meanwhile.
    fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        batch.extend(keys.iter().map_while(|key| self.halves(*key)).map(|halves| {
            let key = self.halves.key_of_pair(halves);
            self.halves.prefetch(key);
            key
        }));
        if batch.len() == keys.len() {
            self.halves.insert_all(&batch, new);
        } else {
            tree::one_by_one(keys, new, |key| self.insert_alone(key));
        }
        self.batch = batch;
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
