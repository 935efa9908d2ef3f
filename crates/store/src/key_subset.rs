//! A subset of the keys of another store.

use entail_model::{Full, KeySet, Visit};

use crate::exact::ShortStateSet;
use crate::table::Table;
use crate::tree::Tree;

/// A set of keys of an [`ExactSet`](crate::ExactSet), which makes and opens them.
#[derive(Debug)]
pub struct KeySubset<S> {
    short: S,
    /// The tree's keys of longer states, at full width: only the tree knows how few bits they need.
    long: Table,
}

impl<S: ShortStateSet> KeySubset<S> {
    pub(crate) fn new(short: S) -> Self {
        KeySubset { short, long: Table::new(Tree::KEY_BITS) }
    }
}

impl<S: ShortStateSet> KeySet<S::Key> for KeySubset<S> {
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.short.reserve(count, limit.saturating_sub(self.long.bytes()))?;
        self.long.reserve(count, limit.saturating_sub(self.short.bytes()))
    }

    #[inline]
    fn insert(&mut self, key: S::Key) -> Visit {
        match S::unmarked(key) {
            Some(key) => self.long.insert_alone(key.0),
            None => self.short.insert_alone(key),
        }
    }

    fn bytes(&self) -> u64 {
        self.short.bytes() + self.long.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExactPairSet, ExactWordSet};
    use entail_model::{Keys, LosslessStore, Store};
    use entail_testkit::rng::Rng;
    use std::collections::HashSet;

    /// Inserts some of many states of one to four words, while their store grows.
    fn choose<S: ShortStateSet>(mut store: crate::ExactSet<S>) {
        let (mut rng, mut chosen) = (Rng::new(17), store.key_set());
        let (mut expected, mut again) = (HashSet::new(), 0);
        let count = if cfg!(miri) { 300 } else { 30_000 };
        for _ in 0..count {
            let word = (rng.below(count / 4) as u64).to_le_bytes();
            let state = word.repeat(*rng.pick(&[1, 2, 3, 4]));
            store.reserve(1, u64::MAX).unwrap();
            let key = store.key(&state, &Default::default());
            let _ = store.insert(key);
            if rng.chance(0.5) {
                chosen.reserve(1, u64::MAX).unwrap();
                let visit = if expected.insert(state) { Visit::New } else { Visit::Seen };
                again += usize::from(visit == Visit::Seen);
                assert_eq!(chosen.insert(key), visit);
            }
        }
        assert!(again > count / 20 && again < count / 2, "{again}");
        assert!(chosen.bytes() > 0 && chosen.reserve(1 << 20, 1 << 16) == Err(Full));
    }

    #[test]
    fn a_subset_keeps_its_keys_while_the_store_grows() {
        choose(ExactWordSet::new(40));
        choose(ExactPairSet::new());
    }
}
