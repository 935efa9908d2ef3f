//! The store that keeps every state as it is.

use entail_model::{Full, Guarantee, Key, State, StateBuf, Store, Visit};

use crate::table::Table;
use crate::tree::{Opened, Tree};

/// Keeps states of whole words. One that has a single word of a known width is its own key; all others are reduced to
/// keys by a tree, and marked.
#[derive(Debug)]
pub struct Lossless {
    /// The states of one word.
    short: Table,
    /// In the lowest of how many bits these may differ; 0 if there are none.
    bits: u32,
    long: Tree,
}

const WORD: usize = 8;
const LONG: u64 = 1 << 63;
const _: () = assert!(Tree::KEY_BITS < 64, "there is a bit to mark a key with");

impl Lossless {
    /// For states of one word that differ in their lowest `bits` bits only, and for longer ones. With more than 63
    /// bits, only for longer ones.
    pub fn new(bits: u32) -> Lossless {
        let bits = if bits < u64::BITS { bits } else { 0 };
        Lossless { short: Table::new(bits.max(2)), bits, long: Tree::default() }
    }
}

impl Store for Lossless {
    type Opened = Opened;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.bits > 0 {
            self.short.reserve(count, limit.saturating_sub(self.long.bytes()))?;
        }
        self.long.reserve(count, limit.saturating_sub(self.short.bytes()))
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> Key {
        match state.as_array::<WORD>() {
            Some(word) if self.bits > 0 => {
                let key = u64::from_le_bytes(*word);
                debug_assert!(key >> self.bits == 0, "{key:x} has more than {} bits", self.bits);
                Key(key)
            }
            Some(_) | None => Key(self.long.key(state, near).0 | LONG),
        }
    }

    #[inline]
    fn open(&self, key: Key, state: &mut StateBuf, opened: &mut Opened) {
        match long(key) {
            Some(key) => self.long.open(key, state, opened),
            None => {
                state.clear();
                state.extend_from_slice(&key.0.to_le_bytes());
            }
        }
    }

    #[inline]
    fn prefetch(&self, key: Key) {
        match long(key) {
            Some(key) => self.long.prefetch(key),
            None => self.short.prefetch(key.0),
        }
    }

    #[inline]
    fn insert(&self, key: Key) -> Visit {
        match long(key) {
            Some(key) => self.long.insert(key),
            None => self.short.insert(key.0),
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn len(&self) -> u64 {
        self.short.len() + self.long.len()
    }

    fn bytes(&self) -> u64 {
        self.short.bytes() + self.long.bytes()
    }
}

/// The tree's own key, if that is what it is.
#[inline]
fn long(key: Key) -> Option<Key> {
    (key.0 & LONG != 0).then_some(Key(key.0 & !LONG))
}
