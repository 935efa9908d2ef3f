//! Uncompressed states, one after the other (`--store plain`).
//!
//! The simplest store, and the reference for all others: it shares no code with their tables and trees.

use std::io;

use entail_disk::{Reader, Restore, Snapshot, Writer, snapshot};
use entail_model::{Full, Growth, Guarantee, Key, Keys, Opened, State, StateBuf, Store, Visit};

use crate::byte_interner::{ByteInterner, Place};
use crate::counter::Counter;

/// A set of uncompressed states of any length. The key of a state is its place in the interner; visited states are
/// marked.
#[derive(Debug, Default)]
pub struct PlainSet {
    states: ByteInterner,
    visited: Counter,
}

snapshot!(PlainSet { states, visited });

impl Restore for PlainSet {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        Snapshot::save(self, to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        *self = PlainSet::load(from)?;
        Ok(())
    }
}

impl Keys for PlainSet {
    type Key = Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.states.reserve(count, limit)
    }

    fn key(&self, state: &State, _: &Opened) -> Key {
        Key(self.states.intern(state).into())
    }

    fn open(&self, Key(place): Key, state: &mut StateBuf, _: &mut Opened) {
        state.clear();
        self.states.read(place as Place, state);
    }

    fn prefetch(&self, Key(place): Key) {
        self.states.prefetch(place as Place);
    }

    fn len(&self) -> u64 {
        self.visited.sum()
    }

    fn bytes(&self) -> u64 {
        self.states.bytes()
    }

    fn growth(&self) -> Option<Growth> {
        Some(self.states.growth())
    }
}

impl Store for PlainSet {
    fn insert(&self, Key(place): Key) -> Visit {
        let visit = self.states.mark(place as Place);
        if visit == Visit::New {
            self.visited.add_one();
        }
        visit
    }

    fn insert_alone(&mut self, Key(place): Key) -> Visit {
        let visit = self.states.mark_alone(place as Place);
        if visit == Visit::New {
            self.visited.add_alone(1);
        }
        visit
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
