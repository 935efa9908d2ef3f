//! States in components: a map from states to disjoint sets that many threads merge.

mod sets;
#[cfg(test)]
mod tests;

use entail_model::{AcceptanceMarks, Components, Entry, Full, Growth, Keys, Node, SpareNodes};

use crate::exact::{ExactSet, ShortStateSet, keys_of};
use sets::{Sets, WORKERS};

/// A map from states to disjoint sets, with exact keys.
#[derive(Debug)]
pub struct ComponentMap<S: ShortStateSet> {
    /// Only makes and opens keys.
    keys: ExactSet<S>,
    sets: Sets<S::Key>,
}

impl<S: ShortStateSet> ComponentMap<S> {
    /// `keys` must be empty; it only makes keys.
    pub fn new(keys: ExactSet<S>, acceptance: AcceptanceMarks, workers: usize) -> Self {
        ComponentMap { keys, sets: Sets::new(acceptance, workers) }
    }
}

impl<S: ShortStateSet> Keys for ComponentMap<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.keys.reserve_long(count, limit.saturating_sub(self.sets.bytes()))?;
        self.sets.reserve(count, limit.saturating_sub(self.keys.bytes()))
    }

    keys_of!(keys);

    #[inline]
    fn prefetch(&self, key: S::Key) {
        self.sets.prefetch(key);
    }

    fn len(&self) -> u64 {
        self.sets.len()
    }

    fn bytes(&self) -> u64 {
        self.keys.bytes() + self.sets.bytes()
    }

    fn growth(&self) -> Option<Growth> {
        let (states, bytes) = self.sets.growth();
        Some(Growth { states: states as u64, bytes: bytes as u64 })
    }
}

impl<S: ShortStateSet> Components for ComponentMap<S> {
    const MOST_WORKERS: usize = WORKERS as usize;

    #[inline]
    fn enter(&self, key: S::Key, worker: usize, spare: &mut SpareNodes) -> Entry {
        self.sets.enter(key, worker, spare)
    }

    #[inline]
    fn are_joined(&self, one: Node, other: Node) -> bool {
        self.sets.are_joined(one, other)
    }

    fn join(&self, one: Node, other: Node) {
        self.sets.join(one, other);
    }

    #[inline]
    fn add_marks(&self, node: Node, marks: AcceptanceMarks, all: AcceptanceMarks) -> bool {
        self.sets.add_marks(node, marks, all)
    }

    #[inline]
    fn finish(&self, node: Node) -> bool {
        self.sets.finish(node)
    }

    #[inline]
    fn is_finished(&self, node: Node) -> bool {
        self.sets.is_finished(node)
    }

    fn unfinished(&self, node: Node, after: usize) -> Option<(Node, S::Key)> {
        self.sets.unfinished(node, after)
    }
}
