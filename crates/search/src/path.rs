//! The stable states on the path of a depth-first search.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::mem::size_of;

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::StateKey;

use crate::memory_estimate;

/// Distinguishes steps back to the path from others.
pub(crate) struct Path<K, N = ()> {
    /// From the first state on, each with its depth.
    states: Vec<(u64, K)>,
    /// The same states, each with its note.
    known: HashMap<K, N, BuildHasherDefault<Scatter>>,
}

impl<K, N> Default for Path<K, N> {
    fn default() -> Self {
        Path { states: Vec::new(), known: HashMap::default() }
    }
}

/// Notes are not saved.
impl<K: StateKey> Snapshot for Path<K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.states.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Path<K>> {
        let states: Vec<(u64, K)> = Vec::load(from)?;
        from.make_room(states.len() as u64, size_of::<K>())?;
        let known = states.iter().map(|(_, state)| (*state, ())).collect();
        Ok(Path { states, known })
    }
}

impl<K: StateKey, N: Copy> Path<K, N> {
    /// Appends a new state to the path.
    pub fn enter(&mut self, state: K, depth: u64, note: N) {
        self.states.push((depth, state));
        self.known.insert(state, note);
    }

    /// Removes all states at this depth or deeper, and calls `each` for each of them.
    pub fn retreat(&mut self, depth: u64, mut each: impl FnMut(K)) {
        while let Some(state) = self.leave(depth) {
            each(state);
        }
    }

    /// Removes the last state, if it is at this depth or deeper.
    pub fn leave(&mut self, depth: u64) -> Option<K> {
        let (_, state) = self.states.pop_if(|(deep, _)| *deep >= depth)?;
        self.known.remove(&state);
        Some(state)
    }

    pub fn contains(&self, state: K) -> bool {
        self.known.contains_key(&state)
    }

    /// The note of a state, if it is on the path.
    pub fn note(&self, state: K) -> Option<N> {
        self.known.get(&state).copied()
    }

    /// The bytes used now and after the next growth.
    pub fn bytes(&self) -> u64 {
        let (len, capacity) = (self.known.len(), self.known.capacity());
        let known = memory_estimate::table_bytes(len, capacity, size_of::<(K, N)>() + 2);
        (memory_estimate::bytes(&self.states) + known) as u64
    }
}

/// Keys differ in few bits; the hash table needs them spread over all bits.
#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole numbers are hashed")
    }

    fn write_u128(&mut self, number: u128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(number ^ self.0 ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
