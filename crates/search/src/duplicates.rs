//! A filter for states that were reached recently.
//!
//! Two independent steps lead to the same state in either order, and a breadth-first search takes both paths soon after
//! each other. So many states were reached shortly before, and a small cache of recent states saves most of these
//! lookups.

use entail_disk::snapshot;
use entail_model::StateKey;

pub(crate) struct DuplicateFilter<K> {
    /// A direct-mapped cache: each key replaces the one with the same hash.
    keys: Vec<K>,
}

/// Small enough for the first-level cache of the processor.
const BITS: u32 = 11;

impl<K> Default for DuplicateFilter<K> {
    fn default() -> Self {
        DuplicateFilter { keys: Vec::new() }
    }
}

snapshot!(impl[K: StateKey] DuplicateFilter<K> { keys });

impl<K: StateKey> DuplicateFilter<K> {
    /// Forgets all keys but this one.
    pub fn begin(&mut self, key: K) {
        self.keys.clear();
        self.keys.resize(1 << BITS, key);
    }

    /// Whether the filter was never started.
    pub fn is_off(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether the key is in the filter. Inserts it, unless the filter was never started.
    #[inline]
    pub fn reach(&mut self, key: K) -> bool {
        let Some(slot) = self.keys.get_mut((key.hash() >> (u64::BITS - BITS)) as usize) else { return false };
        std::mem::replace(slot, key) == key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_model::Key;
    use entail_testkit::rng::Rng;
    use std::collections::HashSet;

    #[test]
    fn only_what_was_reached_is_remembered() {
        let mut rng = Rng::new(3);
        let (mut recent, mut reached) = (DuplicateFilter::default(), HashSet::new());
        assert!(!recent.reach(Key(0)), "nothing can be remembered before the beginning");
        recent.begin(Key(7));
        reached.insert(Key(7));
        let mut remembered = 0;
        for _ in 0..100_000 {
            let key = Key(rng.below(5000) as u64);
            let known = recent.reach(key);
            assert!(!known || reached.contains(&key), "{key:?} was never reached");
            assert!(recent.reach(key), "{key:?} is forgotten at once");
            remembered += usize::from(known);
            reached.insert(key);
        }
        assert!(remembered > 10_000, "{remembered}");
    }
}
