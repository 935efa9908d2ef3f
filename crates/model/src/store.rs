//! The interface between searches and sets of visited states.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;

use entail_disk::{Restore, Snapshot, snapshot};

use crate::{AcceptanceMarks, State, StateBuf, Transition, TransitionBuffers};

/// A lossless mapping between states and short keys.
///
/// A store identifies a state by its key. Computing keys and looking them up are separate operations, so that a search
/// can compute many keys, prefetch the memory they need, and only then look them up. In the frontier, a key takes 8 or
/// 16 bytes.
///
/// Operations that take `&mut self` (growth, degradation, snapshots) run at safepoints of a search, at which it has
/// exclusive access to the store. All others may be called by many threads at once.
pub trait Keys: Sync {
    /// The type of keys.
    type Key: StateKey;

    /// Makes room for `count` more calls of [`Keys::key`] and for as many more states, if that is possible within
    /// `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// Makes that room by storing less of every state, those already stored included. Lookups may become inexact.
    fn degrade(&mut self, _count: usize, _limit: u64) -> Result<(), Full> {
        Err(Full)
    }

    /// The key of a state, visited or not. `near` may be any opened state; a similar one makes this faster.
    fn key(&self, state: &State, near: &Opened) -> Self::Key;

    /// Whether the key consists of the words of its state.
    fn is_state(&self, _key: Self::Key) -> bool {
        false
    }

    /// How many of the first keys, without a gap, consist of the words of their states.
    fn leading_states(&self, keys: &[Self::Key]) -> usize {
        keys.iter().take_while(|key| self.is_state(**key)).count()
    }

    /// Writes the state of a key into `state`.
    fn open(&self, key: Self::Key, state: &mut StateBuf, opened: &mut Opened);

    /// Prefetches the memory for a lookup of the key.
    fn prefetch(&self, key: Self::Key);

    /// Prefetches the memory for lookups of many keys.
    fn prefetch_all(&self, keys: &[Self::Key]) {
        keys.iter().for_each(|key| self.prefetch(*key));
    }

    /// The number of stored states.
    fn len(&self) -> u64;

    /// Whether no state is stored.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in use.
    fn bytes(&self) -> u64;

    /// The next growth, if it can be predicted.
    fn growth(&self) -> Option<Growth> {
        None
    }
}

/// A state that was opened, in the store's representation, which makes keys of similar states faster to compute.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// The words of the state.
    pub words: Vec<u64>,
    /// The ids that the store gives to parts of the state.
    pub ids: Vec<u32>,
}

/// A set of visited states. There is one search for all stores with the same type of keys: it uses one store at a time,
/// and looks up states in batches where it can.
pub trait Store: Keys + Restore {
    /// Inserts a state by its key, from any thread.
    fn insert(&self, key: Self::Key) -> Visit;

    /// The same, possibly faster, without interference from other threads.
    fn insert_alone(&mut self, key: Self::Key) -> Visit {
        self.insert(key)
    }

    /// Inserts keys in order, from any thread; appends the indices of the new ones.
    fn insert_all(&self, keys: &[Self::Key], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert(key));
    }

    /// The same, possibly faster, without interference from other threads.
    fn insert_all_alone(&mut self, keys: &[Self::Key], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert_alone(key));
    }

    /// A state has left the path of a depth-first search. A store that forgets states may forget it from now on, but
    /// not earlier; this ensures that the search terminates.
    fn leave(&mut self, _key: Self::Key) {}

    /// The number of forgotten states. A forgotten state is new when it is reached again.
    fn forgotten(&self) -> u64 {
        0
    }

    /// How reliable the answers are.
    fn guarantee(&self) -> Guarantee;

    /// Divides the set into `2^bits` partitions, within `limit` bytes. A store that cannot be divided stays whole, and
    /// so does one without enough memory.
    fn partition(&mut self, _bits: u32, _limit: u64) {}

    /// The partitions, each for one thread; none if the set is whole. A key belongs to the partition that
    /// [`partition_of`] gives for its hash.
    fn partitions(&mut self) -> Vec<Box<dyn Partition<Self::Key> + '_>> {
        Vec::new()
    }

    /// Makes room for `count` more keys, but for states only if the set is whole.
    fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.reserve(count, limit)
    }
}

/// A part of a store that belongs to one thread for a while. It holds the states whose keys have hashes that begin with
/// its number.
pub trait Partition<K>: Send {
    /// Makes room for `count` more states, if that is possible within `limit` bytes of this partition.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// The bytes in use.
    fn bytes(&self) -> u64;

    /// Prefetches the memory for lookups of keys of this partition.
    fn prefetch_all(&self, keys: &[K]);

    /// Inserts keys of this partition in order, and appends the indices of the new ones.
    fn insert_all(&mut self, keys: &[K], new: &mut Vec<u32>);
}

/// The number of the partition, among `2^bits`, that keys with this hash belong to.
#[inline]
pub fn partition_of(hash: u64, bits: u32) -> usize {
    hash.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

/// Inserts keys in order, and appends the indices of the new ones.
pub fn insert_each<K: Copy>(keys: &[K], new: &mut Vec<u32>, mut insert: impl FnMut(K) -> Visit) {
    new.extend((0..).zip(keys).filter(|(_, key)| insert(**key) == Visit::New).map(|(index, _)| index));
}

/// A set of keys that a store has made, separate from that store.
pub trait KeySet<K> {
    /// Makes room for `count` more keys, if that is possible within `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// Inserts a key.
    fn insert(&mut self, key: K) -> Visit;

    /// The bytes in use.
    fn bytes(&self) -> u64;
}

/// A map from states to numbers.
pub trait Numbered: Keys {
    /// The number of a state; 0 if it has none.
    fn number(&self, key: Self::Key) -> u64;

    /// Sets the number of a state, which is not 0.
    fn set_number(&mut self, key: Self::Key, number: u64);
}

/// States in disjoint sets that many workers merge at once (a concurrent union-find), to find the strongly connected
/// components of a graph. Each set knows the workers that have entered it, the acceptance marks of the transitions inside
/// it, and which of its states are still to be explored.
pub trait Components: Keys + Send {
    /// The most workers that can be told apart.
    const MOST_WORKERS: usize;

    /// Enters the set of a state, for one of the workers. `spare` is the worker's own.
    fn enter(&self, key: Self::Key, worker: usize, spare: &mut SpareNodes) -> Entry;

    /// Whether two states are in the same set.
    fn are_joined(&self, one: Node, other: Node) -> bool;

    /// Merges the sets of two states.
    fn join(&self, one: Node, other: Node);

    /// Adds the marks of a transition inside the set of a state, as far as they are among `all`. Returns whether the set
    /// has them all.
    fn add_marks(&self, node: Node, marks: AcceptanceMarks, all: AcceptanceMarks) -> bool;

    /// All transitions of a state have been explored. Returns whether that is news.
    fn finish(&self, node: Node) -> bool;

    /// Whether all transitions of a state have been explored.
    fn is_finished(&self, node: Node) -> bool;

    /// A state of the set that is not finished, or, up to some number, one after it. If there is none, the set is complete,
    /// and the component is closed.
    fn unfinished(&self, node: Node, after: usize) -> Option<(Node, Self::Key)>;
}

/// The number of a state in [`Components`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(pub u64);

/// Numbers that one worker may give to new states.
#[derive(Debug, Default)]
pub struct SpareNodes(pub Range<u64>);

/// What a worker finds when it enters the set of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The state is new, and alone in its set.
    New(Node),
    /// The worker is the first time in this set, but not the first worker.
    First(Node),
    /// The worker has entered this set before.
    Again(Node),
    /// The set is a closed component.
    Closed,
}

/// A lossless store for searches that keep data for each state.
pub trait LosslessStore: Store + Sized {
    /// The store as a map.
    type Numbers: Numbered<Key = Self::Key>;
    /// A set of its keys.
    type KeySet: KeySet<Self::Key>;
    /// The store as disjoint sets.
    type Components: Components<Key = Self::Key>;

    /// Turns the store, which must be empty, into a map.
    fn numbered(self) -> Self::Numbers;

    /// An empty set for keys of this store.
    fn key_set(&self) -> Self::KeySet;

    /// Turns the store, which must be empty, into disjoint sets for these acceptance marks and so many workers.
    fn components(self, acceptance: AcceptanceMarks, workers: usize) -> Self::Components;

    /// An empty store for the same states.
    #[must_use]
    fn another(&self) -> Self;
}

/// The next growth of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The number of states at which it grows.
    pub states: u64,
    /// The number of bytes by which it grows.
    pub bytes: u64,
}

impl Growth {
    /// The next growths of all partitions together.
    pub fn sum(all: impl Iterator<Item = Growth>) -> Growth {
        let none = Growth { states: 0, bytes: 0 };
        all.fold(none, |one, other| Growth { states: one.states + other.states, bytes: one.bytes + other.bytes })
    }
}

/// Names a state of a store, for the lifetime of the store. A short state may be its own key, so a key type holds any
/// value of that many words.
pub trait StateKey: Copy + Eq + Hash + Debug + Send + Sync + Snapshot {
    /// The number of words, 1 or 2.
    const WORDS: usize;

    /// The key with these words.
    fn from_words(words: [u64; 2]) -> Self;

    /// The words; the second one is 0 if there is only one.
    fn words(self) -> [u64; 2];

    /// A hash whose highest bits are likely to differ for different keys.
    fn hash(self) -> u64;

    /// The buffer for transitions to keys of this type.
    fn buffer<S>(buffers: &mut TransitionBuffers<S>) -> &mut Vec<Transition<S, Self>>;
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

    fn buffer<S>(buffers: &mut TransitionBuffers<S>) -> &mut Vec<Transition<S, Key>> {
        &mut buffers.narrow
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

    fn buffer<S>(buffers: &mut TransitionBuffers<S>) -> &mut Vec<Transition<S, WideKey>> {
        &mut buffers.wide
    }
}

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The answer of a store to a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The state was not in the set.
    New,
    /// The state was in the set, or a lossy set confuses it with another one.
    Seen,
}

/// How reliable the answer `Seen` of a store is.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarantee {
    /// `Seen` is always right.
    Exact,
    /// `Seen` may be the answer for a new state.
    Probable {
        /// The expected number of such answers. It does not count states that are reachable only through the omitted
        /// ones.
        omitted: f64,
        /// The probability of such an answer for the next new state.
        confused: f64,
        /// The formula of the estimate.
        formula: String,
    },
}
