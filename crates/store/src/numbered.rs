//! Numbers of states.

use entail_model::{Full, Growth, Keys, Numbered, State, StateBuf, StateKey};

use crate::lossless::{Kept, Short};
use crate::tree::Opened;

/// States become keys as in [`Kept`]; their keys and numbers lie in one table, a key right beside its number.
#[derive(Debug)]
pub struct Numbers<S: Short> {
    /// Only makes keys, and opens them.
    keys: Kept<S>,
    /// A power of two of them.
    slots: Vec<Slot<S::Key>>,
    len: usize,
}

/// Empty if the number is 0.
#[derive(Clone, Copy, Debug)]
struct Slot<K> {
    key: K,
    number: u64,
}

const FEWEST_SLOTS: usize = 64;
/// The load, in percent, above which the table grows.
const CROWDED: usize = 70;

impl<S: Short> Numbers<S> {
    /// With the keys of such a store, which is empty.
    pub fn new(keys: Kept<S>) -> Self {
        Numbers { keys, slots: vec![Slot::empty(); FEWEST_SLOTS], len: 0 }
    }

    /// Where a key is, or would be.
    #[inline]
    fn find(&self, key: S::Key) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = home(key, self.slots.len());
        while self.slots[at].number != 0 && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self, slots: usize) -> Result<(), Full> {
        let mut grown = Vec::new();
        grown.try_reserve_exact(slots).map_err(|_| Full)?;
        grown.resize(slots, Slot::empty());
        let old = std::mem::replace(&mut self.slots, grown);
        for slot in old.into_iter().filter(|slot| slot.number != 0) {
            let at = self.find(slot.key);
            self.slots[at] = slot;
        }
        Ok(())
    }

    fn slot_bytes(&self) -> u64 {
        (self.slots.len() * size_of::<Slot<S::Key>>()) as u64
    }

    fn capacity(&self) -> usize {
        self.slots.len() / 100 * CROWDED + self.slots.len() % 100 * CROWDED / 100
    }
}

impl<K: StateKey> Slot<K> {
    fn empty() -> Self {
        Slot { key: K::from_words([0; 2]), number: 0 }
    }
}

#[inline]
fn home<K: StateKey>(key: K, slots: usize) -> usize {
    (key.hash() >> (u64::BITS - slots.ilog2())) as usize
}

impl<S: Short> Keys for Numbers<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.keys.reserve(count, limit.saturating_sub(self.slot_bytes()))?;
        while self.len + count > self.capacity() {
            // Both tables are there for a while.
            let slots = 2 * self.slots.len();
            if 3 * self.slot_bytes() + self.keys.bytes() > limit {
                return Err(Full);
            }
            self.grow(slots)?;
        }
        Ok(())
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.keys.key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.keys.is_state(key)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.keys.open(key, state, opened);
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        crate::prefetch(&self.slots[home(key, self.slots.len())]);
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.keys.bytes() + self.slot_bytes()
    }

    fn growth(&self) -> Option<Growth> {
        Some(Growth { states: self.capacity() as u64, bytes: self.slot_bytes() })
    }
}

impl<S: Short> Numbered for Numbers<S> {
    #[inline]
    fn number(&self, key: S::Key) -> u64 {
        self.slots[self.find(key)].number
    }

    #[inline]
    fn set_number(&mut self, key: S::Key, number: u64) {
        debug_assert!(number != 0, "0 is that of no state");
        let at = self.find(key);
        self.len += usize::from(self.slots[at].number == 0);
        self.slots[at] = Slot { key, number };
    }
}
