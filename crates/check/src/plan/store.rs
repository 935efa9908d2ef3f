//! The store of a search: its parameters, and its outcome.

use super::{Plan, Task};
use crate::config::{Cache, Config};
use entail_model::Guarantee;
use entail_search::Limits;
use entail_store::{Degradation, Level, Share, StateSet, StoreOptions};

/// The assumed memory for the default size of an array or cache: initialising a larger one would take too long.
const DEFAULT_MEMORY: u64 = PROCESS + (512 << 20);
/// An upper bound for the size of the process without states, with a model of moderate size.
const PROCESS: u64 = 24 << 20;

/// The outcome of a store.
pub(super) struct StoreOutcome {
    pub guarantee: Guarantee,
    pub levels: Vec<Level>,
    /// Whether the store was configured for fewer states.
    pub is_overfull: bool,
}

impl StoreOutcome {
    pub const EXACT: StoreOutcome =
        StoreOutcome { guarantee: Guarantee::Exact, levels: Vec::new(), is_overfull: false };

    /// The outcome of the store after a search.
    pub fn of(store: &(impl StateSet + ?Sized)) -> StoreOutcome {
        let (guarantee, levels) = (store.guarantee(), store.levels().to_vec());
        StoreOutcome { guarantee, levels, is_overfull: store.is_overfull() }
    }
}

impl Plan {
    /// The parameters of a store for states of this many bits.
    pub(super) fn store_options(&self, bits: u32, Task { limits, may_lose, .. }: Task) -> StoreOptions {
        let Config { hash_bits, array, cache: Cache { slots, probes, collisions }, seed, .. } = self.config;
        // The stack of a depth-first search stays in memory.
        let share = if self.config.search().is_breadth_first() { Share::Most } else { Share::Half };
        let scratch = limits.scratch.filter(|_| may_lose);
        let degradation = scratch.map(|scratch| Degradation::new(scratch.clone(), share));
        let bytes = self.array_bytes(limits);
        StoreOptions { bits, hash_bits, array, slots, probes, collisions, bytes, seed, degradation }
    }

    /// The size of an array of fixed size: half of the memory. The other half is for the frontier and the parent log.
    fn array_bytes(&self, limits: &Limits) -> u64 {
        let most = self.memory.map_or(DEFAULT_MEMORY, |memory| memory.shared(self.share).bytes());
        // A fixed estimate of the process size, so that omissions are reproducible.
        let array = most.saturating_sub(PROCESS).max(most / 4) / 2;
        array.min(limits.memory.unwrap_or(u64::MAX) / 4 * 3)
    }
}
