//! What searches need of a set of visited states.

use crate::{State, StateBuf};

/// A set of visited states.
///
/// A state is first reduced to a key, without loss, and then the key is looked up. The two are apart so that a
/// search can reduce many states, let the memory they need be fetched meanwhile, and only then look them up; and so
/// that what waits to be explored takes 8 bytes a state.
///
/// Only [`Store::reserve`] changes the layout of a store. All else may be done by many threads at once.
pub trait Store: Sync {
    /// What is remembered of an opened state, so that the keys of states that differ little from it are found
    /// quickly.
    type Opened: Default;

    /// Makes room for `count` more calls of [`Store::key`] and as many of [`Store::insert`], if that is possible
    /// within `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;

    /// The key of a state, visited or not. Any opened state will do for `near`: it only matters for speed.
    fn key(&self, state: &State, near: &Self::Opened) -> Key;

    /// Writes the state that a key stands for into `state`.
    fn open(&self, key: Key, state: &mut StateBuf, opened: &mut Self::Opened);

    /// Says that the key will soon be looked up.
    fn prefetch(&self, key: Key);

    fn insert(&self, key: Key) -> Visit;

    fn guarantee(&self) -> Guarantee;

    /// How many states are kept.
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes the store occupies.
    fn bytes(&self) -> u64;
}

/// Names one state of a store for as long as the store lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// What a store answers to "have you seen this state?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    New,
    Seen,
}

/// How far a store's `Seen` can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// `Seen` is said of seen states only.
    Exact,
    /// `Seen` may be said of a new state, with a known small probability.
    Probable,
    /// States may be forgotten or taken for others.
    Partial,
}
