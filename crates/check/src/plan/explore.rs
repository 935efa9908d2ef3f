//! Combines a store with a search.

use super::{Algorithm, Plan, Task};
use crate::config::{Cache, Config, Search, Store};
use entail_disk::Reader;
use entail_model::{Accepting, Guarantee, Model, Observer, Part, Shuffled, State, StateKey};
use entail_search::{
    End, Limit, Limits, Outcome, breadth_first, depth_first, nested, resume_breadth_first, resume_depth_first, scc,
};
use entail_store::{
    BitstateSet, CacheSet, CacheSize, CollapseSet, CompactSet, Degradation, DfaSet, ExactPairSet, ExactSet,
    ExactWordSet, Level, LevelKind, LossySet, NumberMap, PlainSet, Share, ShortStateSet, VisitedSet,
};
use std::io;
use std::time::Instant;

/// The default hash size of hash compaction.
const COMPACT_BITS: u32 = 40;
/// Bits per state if the array fills up.
const FULL_ARRAY_BITS: u32 = 3;
/// The assumed memory for the default size of an array or cache: initialising a larger one would take too long.
const DEFAULT_MEMORY: u64 = PROCESS + (512 << 20);
/// The default number of cache slots for a state, and of candidates for replacement.
const DEFAULT_PROBES: u32 = 16;
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
        saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome, Algorithm)> {
        let began = Instant::now();
        let explored = self.explore_once(model, bits, task, watch, saved)?;
        if !explored.1.is_overfull {
            return Ok(explored);
        }
        // Repeats the search with fewer bits per state, which is better for a full array.
        let config = Config { hash_bits: Some(FULL_ARRAY_BITS), ..self.config.clone() };
        let plan = Plan { config, ..self.clone() };
        let limits =
            Limits { time: task.limits.time.map(|time| time.saturating_sub(began.elapsed())), ..*task.limits };
        plan.explore_once(model, bits, Task { limits: &limits, ..task }, watch, None)
    }

    /// The same with one configuration. States that fit into one or two words may be their own keys.
    fn explore_once<M: Model>(
        &self,
        model: &M,
        bits: u32,
        task: Task,
        watch: &mut impl Observer<M::Step>,
        saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome, Algorithm)> {
        match (task.store, bits) {
            (Store::Plain, _) => self.explore_in(&mut PlainSet::default(), model, task, watch, saved),
            (Store::Collapse, _) => {
                let cut = |state: &State, parts: &mut Vec<Part>| model.parts(state, parts);
                self.explore_in(&mut CollapseSet::new(cut), model, task, watch, saved)
            }
            (
                Store::Exact | Store::Tree | Store::Dfa | Store::Compact | Store::Bitstate | Store::Cache,
                64..128,
            ) => self.explore_keys(ExactPairSet::new(), bits, model, task, watch, saved),
            (Store::Exact | Store::Tree | Store::Dfa | Store::Compact | Store::Bitstate | Store::Cache, _) => {
                self.explore_keys(ExactWordSet::new(bits), bits, model, task, watch, saved)
            }
        }
    }

    /// The lossy set for states of this many bits, if the store is lossy.
    fn lossy_set(&self, store: Store, bits: u32, limits: &Limits) -> Option<LossySet> {
        match store {
            Store::Exact | Store::Tree | Store::Plain | Store::Collapse | Store::Dfa | Store::Cache => None,
            Store::Compact => {
                let kept = self.config.hash_bits.unwrap_or(COMPACT_BITS).max(2);
                // States with no more bits than the hash are stored exactly.
                (kept < bits).then(|| LossySet::Compact(CompactSet::new(kept)))
            }
            Store::Bitstate => {
                let bytes = self.config.array.unwrap_or_else(|| self.array_bytes(limits));
                let bitstate = self
                    .config
                    .hash_bits
                    .map_or_else(|| BitstateSet::optimistic(bytes), |bits| BitstateSet::new(bytes, bits));
                // If the array cannot be allocated, states are stored exactly as long as memory suffices.
                bitstate.ok().map(LossySet::Bitstate)
            }
        }
    }

    /// The size of an array of fixed size: half of the memory. The other half is for the frontier and the parent log.
    fn array_bytes(&self, limits: &Limits) -> u64 {
        let most = self.memory.map_or(DEFAULT_MEMORY, |memory| memory.shared(self.share).bytes());
        // A fixed estimate of the process size, so that omissions are reproducible.
        let array = most.saturating_sub(PROCESS).max(most / 4) / 2;
        array.min(limits.memory.unwrap_or(u64::MAX) / 4 * 3)
    }

    /// The same for stores that compute keys, with a separate set of visited keys.
    fn explore_keys<M: Model, S: ShortStateSet>(
        &self,
        kept: ExactSet<S>,
        bits: u32,
        model: &M,
        task: Task,
        watch: &mut impl Observer<M::Step>,
        saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome, Algorithm)> {
        match task.store {
            Store::Dfa => self.explore_in(&mut DfaSet::new(kept), model, task, watch, saved),
            Store::Cache => {
                let Cache { slots, probes, collisions } = self.config.cache;
                let [probes, collisions] = [probes, collisions].map(|given| given.unwrap_or(DEFAULT_PROBES));
                let slots = slots.unwrap_or_else(|| CacheSet::<S>::slots_in(self.array_bytes(task.limits)));
                let mut cached = CacheSet::new(kept, CacheSize { slots, probes, collisions });
                self.explore_in(&mut cached, model, task, watch, saved)
            }
            Store::Exact | Store::Tree | Store::Plain | Store::Collapse | Store::Compact | Store::Bitstate => {
                let mut visited = match task.store {
                    Store::Tree => VisitedSet::tree(kept, bits),
                    Store::Compact => {
                        VisitedSet::new(kept.growing_slowly(), self.lossy_set(Store::Compact, bits, task.limits))
                    }
                    store => VisitedSet::new(kept, self.lossy_set(store, bits, task.limits)),
                };
                visited = visited.with_seed(self.config.seed);
                if let Some(scratch) = task.limits.scratch.filter(|_| task.may_lose) {
                    let share = match self.config.search() {
                        Search::BreadthFirst => Share::Most,
                        // The stack stays in memory.
                        Search::DepthFirst | Search::Nested => Share::Half,
                    };
                    visited = visited.with_degradation(Degradation::new(scratch.clone(), share).tree_first(bits));
                }
                let (outcome, became, algorithm) = self.explore_in(&mut visited, model, task, watch, saved)?;
                let is_overfull = outcome.end == End::Limit(Limit::Memory) && visited.is_overfull();
                Ok((outcome, StoreOutcome { levels: visited.levels().to_vec(), is_overfull, ..became }, algorithm))
            }
        }
    }

    fn explore_in<M: Model, K: StateKey>(
        &self,
        store: &mut dyn entail_model::Store<Key = K>,
        model: &M,
        task: Task,
        watch: &mut impl Observer<M::Step>,
        saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome, Algorithm)> {
        let Task { checks, limits, .. } = task;
        let (outcome, algorithm) = match self.config.search() {
            Search::BreadthFirst => {
                let outcome = match saved {
                    Some(from) => resume_breadth_first(model, store, checks, limits, watch, from)?,
                    None => breadth_first(model, store, checks, limits, watch),
                };
                (outcome, Algorithm::BreadthFirst)
            }
            Search::DepthFirst | Search::Nested => {
                let model = Shuffled { model, seed: self.config.seed };
                (explore_deep(store, &model, task, watch, saved)?, Algorithm::DepthFirst)
            }
        };
        Ok((outcome, StoreOutcome { guarantee: store.guarantee(), ..StoreOutcome::EXACT }, algorithm))
    }

    pub(super) fn find_accepting_run<M: Accepting, S: ShortStateSet>(
        &self,
        model: &M,
        mut store: ExactSet<S>,
        limits: &Limits,
        observer: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, StoreOutcome, Algorithm) {
        let (outcome, algorithm) = match self.config.search() {
            Search::BreadthFirst | Search::DepthFirst => {
                (scc(model, &mut NumberMap::new(store), limits, observer), Algorithm::Scc)
            }
            Search::Nested => {
                let mut inner = store.key_set();
                (nested(model, &mut store, &mut inner, limits, observer), Algorithm::Nested)
            }
        };
        (outcome, StoreOutcome::EXACT, algorithm)
    }
}

/// Starts or resumes a depth-first search.
fn explore_deep<M: Model, K: StateKey>(
    store: &mut dyn entail_model::Store<Key = K>,
    model: &M,
    Task { checks, limits, .. }: Task,
    watch: &mut impl Observer<M::Step>,
    saved: Option<Reader>,
) -> io::Result<Outcome<M::Step>> {
    match saved {
        Some(from) => resume_depth_first(model, store, checks, limits, watch, from),
        None => Ok(depth_first(model, store, checks, limits, watch)),
    }
}

impl Store {
    pub(super) fn of(kept: LevelKind) -> Store {
        match kept {
            LevelKind::Tree => Store::Tree,
            LevelKind::Compact { .. } => Store::Compact,
            LevelKind::Bitstate { .. } => Store::Bitstate,
        }
    }
}
