//! What searches need of a set of visited states.

use std::fmt::Debug;
use std::hash::Hash;

use entail_disk::{Restore, Snapshot, snapshot};

use crate::{State, StateBuf};

/// States reduced to keys, without loss.
///
/// What is remembered of a state is found by its key. The two are apart so that a search can reduce many states, let the
/// memory they need be fetched meanwhile, and only then look them up; and so that a state in the frontier takes 8 or 16 bytes.
///
/// What takes `&mut self` happens at a safepoint of a search, where it has the store for itself: growth, degradation, snapshots.
/// All else may be done by many threads at once.
pub trait Keys: Sync {
    /// The type of its keys.
    type Key: StateKey;

    /// Makes room for `count` more calls of [`Keys::key`] and for as many more states, if that is possible within
    /// `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// Makes that room by keeping less of every state from now on, of those that are there too. What was certain need not be
    /// so any more.
    fn degrade(&mut self, _count: usize, _limit: u64) -> Result<(), Full> {
        Err(Full)
    }

    /// The key of a state, visited or not. Any opened state will do for `near`: it only matters for speed.
    fn key(&self, state: &State, near: &Opened) -> Self::Key;

    /// Whether the words of a key are those of its state.
    fn is_state(&self, _key: Self::Key) -> bool {
        false
    }

    /// How many of the first keys are, without a gap.
    fn leading_states(&self, keys: &[Self::Key]) -> usize {
        keys.iter().take_while(|key| self.is_state(**key)).count()
    }

    /// Writes the state that a key stands for into `state`.
    fn open(&self, key: Self::Key, state: &mut StateBuf, opened: &mut Opened);

    /// Says that the key will soon be looked up.
    fn prefetch(&self, key: Self::Key);

    /// The same for many keys.
    fn prefetch_all(&self, keys: &[Self::Key]) {
        keys.iter().for_each(|key| self.prefetch(*key));
    }

    /// How many states are kept.
    fn len(&self) -> u64;

    /// Whether no state is kept.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes all of it occupies.
    fn bytes(&self) -> u64;

    /// When it will grow, and by how much.
    fn growth(&self) -> Option<Growth> {
        None
    }
}

/// A state that was opened, as a store remembers it: so the keys of states that differ little from it are found quickly.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// The words of the state.
    pub words: Vec<u64>,
    /// What the store calls parts of it.
    pub ids: Vec<u32>,
}

/// A set of visited states. A search meets one set at a time, and asks it for many states at once where it can: so there is one
/// search for all sets with the same keys.
pub trait Store: Keys + Restore {
    /// Inserts a state by its key, from any thread.
    fn insert(&self, key: Self::Key) -> Visit;

    /// The same, perhaps faster, as no other thread can interfere.
    fn insert_alone(&mut self, key: Self::Key) -> Visit {
        self.insert(key)
    }

    /// Inserts keys one after the other, from any thread; appends the indices of those that are new.
    fn insert_all(&self, keys: &[Self::Key], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert(key));
    }

    /// The same, perhaps faster, as no other thread can interfere.
    fn insert_all_alone(&mut self, keys: &[Self::Key], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert_alone(key));
    }

    /// A state that was new has left the path of a depth-first search. A store that forgets may forget it from now on, but
    /// not before: this is why such a search terminates.
    fn leave(&mut self, _key: Self::Key) {}

    /// How many states were forgotten, which are new when they come again.
    fn forgotten(&self) -> u64 {
        0
    }

    /// How far the answers can be trusted.
    fn guarantee(&self) -> Guarantee;
}

/// Inserts keys one after the other, and appends the indices of those that are new.
pub fn insert_each<K: Copy>(keys: &[K], new: &mut Vec<u32>, mut insert: impl FnMut(K) -> Visit) {
    new.extend((0..).zip(keys).filter(|(_, key)| insert(**key) == Visit::New).map(|(index, _)| index));
}

/// A set of keys that a store has made, beside that store.
pub trait KeySet<K> {
    /// Makes room for `count` more keys, if that is possible within `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// Inserts a key.
    fn insert(&mut self, key: K) -> Visit;

    /// How many bytes all of it occupies.
    fn bytes(&self) -> u64;
}

/// Numbers of states.
pub trait Numbered: Keys {
    /// The number of a state; 0 until it was given one.
    fn number(&self, key: Self::Key) -> u64;

    /// Gives a state a number, which is not 0.
    fn set_number(&mut self, key: Self::Key, number: u64);
}

/// What a store will do next to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// With so many states it grows.
    pub states: u64,
    /// By so many bytes.
    pub bytes: u64,
}

/// Names one state of a store for as long as the store lives. A short state may be its own key; so anything else of as
/// many words can be kept where otherwise there are keys.
pub trait StateKey: Copy + Eq + Hash + Debug + Send + Sync + Snapshot {
    /// One or two.
    const WORDS: usize;

    /// The key with these words.
    fn from_words(words: [u64; 2]) -> Self;

    /// The second one is 0 if there is only one.
    fn words(self) -> [u64; 2];

    /// A number whose highest bits are likely to be others for another key.
    fn hash(self) -> u64;
}

/// The golden ratio, as a fraction of 2⁶⁴.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

/// A key of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WideKey(pub u128);

snapshot!(Key(word));
snapshot!(WideKey(words));

impl StateKey for Key {
    const WORDS: usize = 1;

    #[inline]
    fn from_words([word, _]: [u64; 2]) -> Key {
        Key(word)
    }

    #[inline]
    fn words(self) -> [u64; 2] {
        [self.0, 0]
    }

    #[inline]
    fn hash(self) -> u64 {
        (self.0 ^ self.0 >> 32).wrapping_mul(GOLDEN)
    }
}

impl StateKey for WideKey {
    const WORDS: usize = 2;

    #[inline]
    fn from_words([low, high]: [u64; 2]) -> WideKey {
        WideKey(u128::from(high) << 64 | u128::from(low))
    }

    #[inline]
    fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    #[inline]
    fn hash(self) -> u64 {
        let [low, high] = self.words();
        Key(low ^ high.wrapping_mul(GOLDEN)).hash()
    }
}

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// What a store answers to "have you seen this state?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The state was not in the set.
    New,
    /// The state was in the set, or a lossy set takes it for one that was.
    Seen,
}

/// How far a store's `Seen` can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarantee {
    /// `Seen` is said of seen states only.
    Exact,
    /// It may be said of a new state.
    Probable {
        /// How many times, it is to be expected, that has happened. What can be reached only from there is not counted.
        omitted: f64,
        /// How likely it is by now, for each new state that comes.
        confused: f64,
        /// How that is found out.
        formula: String,
    },
}
