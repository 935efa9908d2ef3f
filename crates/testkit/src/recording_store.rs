//! The simplest store, as the oracle of the others.

use entail_disk::{Reader, Restore, Snapshot, Writer};
use entail_model::{Full, Guarantee, Key, Keys, Opened, State, StateBuf, Store, Visit};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stores whole states, and records all lookups.
#[derive(Default)]
pub struct RecordingStore {
    pages: Mutex<Pages>,
    room: Option<usize>,
}

#[derive(Default)]
struct Pages {
    /// The states by key.
    states: Vec<StateBuf>,
    keys: HashMap<StateBuf, Key>,
    visited: HashSet<Key>,
    visits: Vec<(Key, Visit)>,
}

impl RecordingStore {
    pub fn with_room_for(states: usize) -> RecordingStore {
        RecordingStore { room: Some(states), ..RecordingStore::default() }
    }

    /// The recorded lookups, in order.
    pub fn visits(&self) -> Vec<(StateBuf, Visit)> {
        let pages = self.pages();
        pages.visits.iter().map(|&(key, visit)| (pages.states[key.0 as usize].clone(), visit)).collect()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Restore for RecordingStore {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        let pages = self.pages();
        pages.states.save(to)?;
        let visits: Vec<_> = pages.visits.iter().map(|(key, visit)| (*key, *visit == Visit::New)).collect();
        visits.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        let states: Vec<StateBuf> = Vec::load(from)?;
        let visits: Vec<(Key, bool)> = Vec::load(from)?;
        *self.pages() = Pages {
            keys: (0..).zip(&states).map(|(number, state)| (state.clone(), Key(number))).collect(),
            states,
            visited: visits.iter().map(|(key, _)| *key).collect(),
            visits: visits
                .into_iter()
                .map(|(key, new)| (key, if new { Visit::New } else { Visit::Seen }))
                .collect(),
        };
        Ok(())
    }
}

impl Keys for RecordingStore {
    type Key = Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let states = self.len() as usize + count;
        let fits = self.room.is_none_or(|room| states <= room) && self.bytes() <= limit;
        if fits { Ok(()) } else { Err(Full) }
    }

    fn key(&self, state: &State, _: &Opened) -> Key {
        let mut pages = self.pages();
        let next = Key(pages.states.len() as u64);
        let key = *pages.keys.entry(state.to_vec()).or_insert(next);
        if key == next {
            pages.states.push(state.to_vec());
        }
        key
    }

    fn open(&self, key: Key, state: &mut StateBuf, _: &mut Opened) {
        state.clone_from(&self.pages().states[key.0 as usize]);
    }

    fn prefetch(&self, _: Key) {}

    fn len(&self) -> u64 {
        self.pages().visited.len() as u64
    }

    /// A round number per state.
    fn bytes(&self) -> u64 {
        100 * self.len()
    }
}

impl Store for RecordingStore {
    fn insert(&self, key: Key) -> Visit {
        let mut pages = self.pages();
        let visit = if pages.visited.insert(key) { Visit::New } else { Visit::Seen };
        pages.visits.push((key, visit));
        visit
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
