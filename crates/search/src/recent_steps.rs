//! A filter for steps that were observed recently.

use std::hash::{BuildHasher, Hash};

use entail_model::Observer;
use rapidhash::fast::RandomState;

/// The steps of a worker, most of which it observes often. The observer of the search receives each at least once.
pub(crate) struct RecentSteps<S> {
    /// A direct-mapped cache: each step replaces the one with the same hash.
    slots: Vec<Option<S>>,
    fresh: Vec<S>,
    hasher: RandomState,
}

const BITS: u32 = 9;

impl<S> Default for RecentSteps<S> {
    fn default() -> Self {
        RecentSteps { slots: Vec::new(), fresh: Vec::new(), hasher: RandomState::default() }
    }
}

impl<S: Copy + Eq + Hash> RecentSteps<S> {
    /// Passes on the steps since the last call.
    pub fn drain(&mut self, each: impl FnMut(S)) {
        self.fresh.drain(..).for_each(each);
    }

    /// The number of steps since the last call.
    pub fn fresh(&self) -> usize {
        self.fresh.len()
    }

    #[cold]
    fn observe(&mut self, at: usize, step: S) {
        self.slots.resize(1 << BITS, None);
        self.slots[at] = Some(step);
        self.fresh.push(step);
    }
}

impl<S: Copy + Eq + Hash> Observer<S> for RecentSteps<S> {
    #[inline]
    fn stepped(&mut self, step: S) {
        let at = (self.hasher.hash_one(step) >> (u64::BITS - BITS)) as usize;
        if self.slots.get(at).is_none_or(|slot| *slot != Some(step)) {
            self.observe(at, step);
        }
    }
}
