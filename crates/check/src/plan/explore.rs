//! Combines a store with a search.

use super::{Plan, Task};
use crate::config::{Cache, Config};
use entail_disk::Reader;
use entail_model::{Guarantee, Model, Observer, Part, State, StateKey};
use entail_search::{End, Limit, Limits, Outcome, Start};
use entail_store::{AnyStore, Degradation, Level, Share, StateSet, StoreOptions};
use std::io;
use std::time::Instant;

/// The assumed memory for the default size of an array or cache: initialising a larger one would take too long.
const DEFAULT_MEMORY: u64 = PROCESS + (512 << 20);
/// An upper bound for the size of the process without states, with a model of moderate size.
const PROCESS: u64 = 24 << 20;

/// The outcome of a store.
pub(super) struct StoreOutcome {
    pub guarantee: Guarantee,
    pub levels: Vec<Level>,
    /// Whether the search was cut off because the store was configured for fewer states.
    is_overfull: bool,
}

impl StoreOutcome {
    pub const EXACT: StoreOutcome =
        StoreOutcome { guarantee: Guarantee::Exact, levels: Vec::new(), is_overfull: false };
}

impl Plan {
    /// Searches for a safety violation. States have this many bits.
    pub(super) fn explore<M: Model>(
        &self,
        model: &M,
        bits: u32,
        task: Task,
        watch: &mut impl Observer<M::Step>,
        mut saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome)> {
        let began = Instant::now();
        let (mut limits, mut options) = (*task.limits, self.store_options(bits, task));
        loop {
            let once = Task { limits: &limits, ..task };
            let cut = |state: &State, parts: &mut Vec<Part>| model.parts(state, parts);
            let explored = match task.store.make(options, cut) {
                AnyStore::Words(mut store) => self.explore_in(&mut *store, model, once, watch, saved.take())?,
                AnyStore::Pairs(mut store) => self.explore_in(&mut *store, model, once, watch, saved.take())?,
            };
            if !explored.1.is_overfull {
                return Ok(explored);
            }
            // Repeats the search with fewer bits per state, which is better for a full array.
            limits.time = task.limits.time.map(|time| time.saturating_sub(began.elapsed()));
            options = StoreOptions { hash_bits: task.store.hash_bits(), ..self.store_options(bits, task) };
        }
    }

    fn store_options(&self, bits: u32, Task { limits, may_lose, .. }: Task) -> StoreOptions {
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

    fn explore_in<M: Model, K: StateKey>(
        &self,
        store: &mut dyn StateSet<Key = K>,
        model: &M,
        Task { checks, limits, .. }: Task,
        watch: &mut impl Observer<M::Step>,
        saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome)> {
        let start = Start { seed: self.config.seed, saved };
        let outcome = self.config.search().explore(model, store, checks, limits, watch, start)?;
        let is_overfull = outcome.end == End::Limit(Limit::Memory) && store.is_overfull();
        let (guarantee, levels) = (store.guarantee(), store.levels().to_vec());
        Ok((outcome, StoreOutcome { guarantee, levels, is_overfull }))
    }
}
