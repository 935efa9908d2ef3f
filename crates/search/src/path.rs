//! Which stable states lie on the path of a depth-first search.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use entail_model::State;
use rapidhash::v3::rapidhash_v3;

/// Tells steps back into the path from others. It is for statistics only, so it keeps 64 bits of each state and
/// not the state: a step is miscounted with a probability of the length of the path in 2^64.
#[derive(Default)]
pub(crate) struct Path {
    /// From the origin on, each with its depth.
    states: Vec<(u64, u64)>,
    known: HashSet<u64, BuildHasherDefault<AsItIs>>,
}

impl Path {
    /// Puts `state` at the end of the path. It is on it only once, since it was new.
    pub fn enter(&mut self, state: &State, depth: u64) {
        let fingerprint = rapidhash_v3(state);
        self.states.push((depth, fingerprint));
        self.known.insert(fingerprint);
    }

    /// Forgets what lies deeper than `depth`.
    pub fn retreat(&mut self, depth: u64) {
        while let Some((_, fingerprint)) = self.states.pop_if(|(deep, _)| *deep > depth) {
            self.known.remove(&fingerprint);
        }
    }

    pub fn contains(&self, state: &State) -> bool {
        self.known.contains(&rapidhash_v3(state))
    }
}

/// What is hashed is a hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole numbers are hashed")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
