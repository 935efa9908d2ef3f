//! A cache of states that are certainly not expanded yet.
//!
//! States are expanded in the order of their numbers. The cache holds states found recently. A state that is not in it
//! counts as expanded, which is safe.

use std::mem::size_of;

use entail_disk::snapshot;
use entail_model::StateKey;

pub(crate) struct OpenSetCache<K> {
    /// A direct-mapped cache of states and their numbers: an entry replaces the one with the same hash. The length is a
    /// power of two.
    slots: Vec<Option<(K, u64)>>,
    most: usize,
}

const FEWEST: usize = 1 << 10;
const MOST: usize = 1 << 20;

impl<K> Default for OpenSetCache<K> {
    fn default() -> Self {
        OpenSetCache { slots: Vec::new(), most: MOST }
    }
}

snapshot!(impl[K: StateKey] OpenSetCache<K> { slots, most }
    if |it| it.slots.is_empty() || it.slots.len().is_power_of_two(), "the number of slots of a cache is not a power of two");

impl<K: StateKey> OpenSetCache<K> {
    /// A cache of at most this many bytes.
    pub fn within(bytes: u64) -> OpenSetCache<K> {
        let slots = bytes / size_of::<Option<(K, u64)>>() as u64;
        let most = if slots < MOST as u64 { (slots as usize / 2 + 1).next_power_of_two() } else { MOST };
        OpenSetCache { most: most.max(FEWEST), ..OpenSetCache::default() }
    }

    /// The number of states for which there is memory.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Inserts a state that was found when `waiting` states were in the queue.
    pub fn note(&mut self, key: K, number: u64, waiting: u64) {
        if self.slots.len() < self.most && (self.slots.len() as u64) < waiting.max(FEWEST as u64) {
            self.grow();
        }
        self.put(key, number);
    }

    #[cold]
    fn grow(&mut self) {
        let wanted = (2 * self.slots.len()).max(FEWEST);
        let old = std::mem::replace(&mut self.slots, vec![None; wanted]);
        old.into_iter().flatten().for_each(|(key, number)| self.put(key, number));
    }

    fn put(&mut self, key: K, number: u64) {
        let at = self.at(key);
        self.slots[at] = Some((key, number));
    }

    /// Whether the state will certainly be expanded after the one with this number.
    pub fn comes_after(&self, key: K, number: u64) -> bool {
        let found = if self.slots.is_empty() { None } else { self.slots[self.at(key)] };
        found.is_some_and(|(found, later)| found == key && later > number)
    }

    fn at(&self, key: K) -> usize {
        (key.hash() >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    pub fn bytes(&self) -> u64 {
        (self.slots.len() * size_of::<Option<(K, u64)>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_model::Key;
    use entail_testkit::rng::Rng;
    use std::collections::HashMap;

    #[test]
    fn no_expanded_state_counts_as_open() {
        let (mut rng, mut pending, mut numbers) = (Rng::new(5), OpenSetCache::default(), HashMap::new());
        let mut remembered = 0;
        for number in 1..20_000 {
            let key = Key(rng.below(1 << 30) as u64);
            pending.note(key, number, number / 4);
            numbers.insert(key, number);
            let asked = Key(rng.below(1 << 30) as u64);
            for key in [key, asked] {
                let since = rng.below(number as usize) as u64;
                let comes = pending.comes_after(key, since);
                assert!(!comes || numbers.get(&key).is_some_and(|found| *found > since));
                remembered += usize::from(comes);
            }
        }
        assert!(remembered > 10_000, "{remembered}");
    }
}
