//! A map from states to numbers.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;

use entail_model::{Full, Growth, Keys, Numbered, StateKey};

use crate::exact::{ExactSet, ShortStateSet, keys_of};
use crate::memory::Zeroed;
use crate::sync::AtomicU64;

/// A map from states to numbers, with exact keys. Keys and numbers are in one table, each key next to its number.
#[derive(Debug)]
pub struct NumberMap<S: ShortStateSet> {
    /// Only makes and opens keys.
    keys: ExactSet<S>,
    slots: Slots<S::Key>,
    len: usize,
}

/// Slots, each with the words of a key and its number, which is 0 in an empty slot. Their count is a power of two.
#[derive(Debug)]
struct Slots<K> {
    words: Zeroed<AtomicU64>,
    count: usize,
    of: PhantomData<K>,
}

const FEWEST_SLOTS: usize = 64;
/// The load, in percent, above which the table grows.
const CROWDED: usize = 70;

impl<K: StateKey> Slots<K> {
    const STRIDE: usize = K::WORDS + 1;

    fn new(count: usize) -> Result<Self, Full> {
        Ok(Slots { words: Zeroed::new(count * Self::STRIDE)?, count, of: PhantomData })
    }

    #[inline]
    fn number(&self, slot: usize) -> u64 {
        self.words[slot * Self::STRIDE + K::WORDS].load(Relaxed)
    }

    #[inline]
    fn key(&self, slot: usize) -> K {
        let word =
            |word: usize| if word < K::WORDS { self.words[slot * Self::STRIDE + word].load(Relaxed) } else { 0 };
        K::from_words([word(0), word(1)])
    }

    #[inline]
    fn set(&self, slot: usize, key: K, number: u64) {
        let words = key.words();
        let at = slot * Self::STRIDE;
        words.iter().take(K::WORDS).zip(&self.words[at..]).for_each(|(word, place)| place.store(*word, Relaxed));
        self.words[at + K::WORDS].store(number, Relaxed);
    }

    #[inline]
    fn home(&self, key: K) -> usize {
        (key.hash() >> (u64::BITS - self.count.ilog2())) as usize
    }

    /// The slot of a key, or the empty slot for it.
    #[inline]
    fn find(&self, key: K) -> usize {
        let mut slot = self.home(key);
        while self.number(slot) != 0 && self.key(slot) != key {
            slot = (slot + 1) & (self.count - 1);
        }
        slot
    }

    /// The same entries in a table of another size.
    fn resized(&self, count: usize) -> Result<Self, Full> {
        let larger = Slots::new(count)?;
        for slot in (0..self.count).filter(|&slot| self.number(slot) != 0) {
            let key = self.key(slot);
            larger.set(larger.find(key), key, self.number(slot));
        }
        Ok(larger)
    }

    fn bytes(&self) -> u64 {
        self.words.bytes() as u64
    }

    fn capacity(&self) -> usize {
        self.count / 100 * CROWDED + self.count % 100 * CROWDED / 100
    }
}

impl<S: ShortStateSet> NumberMap<S> {
    /// `keys` must be empty; it only makes keys.
    pub fn new(keys: ExactSet<S>) -> Self {
        let slots = Slots { words: Zeroed::default(), count: 0, of: PhantomData };
        NumberMap { keys, slots, len: 0 }
    }
}

impl<S: ShortStateSet> Keys for NumberMap<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.keys.reserve_long(count, limit.saturating_sub(self.slots.bytes()))?;
        while self.len + count > self.slots.capacity() {
            // Both tables exist while the entries move.
            if 3 * self.slots.bytes() + self.keys.bytes() > limit {
                return Err(Full);
            }
            self.slots = self.slots.resized((2 * self.slots.count).max(FEWEST_SLOTS))?;
        }
        Ok(())
    }

    keys_of!(keys);

    #[inline]
    fn prefetch(&self, key: S::Key) {
        crate::prefetch(&self.slots.words[self.slots.home(key) * Slots::<S::Key>::STRIDE]);
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.keys.bytes() + self.slots.bytes()
    }

    fn growth(&self) -> Option<Growth> {
        Some(Growth { states: self.slots.capacity() as u64, bytes: self.slots.bytes() })
    }
}

impl<S: ShortStateSet> Numbered for NumberMap<S> {
    #[inline]
    fn number(&self, key: S::Key) -> u64 {
        self.slots.number(self.slots.find(key))
    }

    #[inline]
    fn set_number(&mut self, key: S::Key, number: u64) {
        debug_assert!(number != 0, "0 is that of no state");
        let slot = self.slots.find(key);
        self.len += usize::from(self.slots.number(slot) == 0);
        self.slots.set(slot, key, number);
    }
}
