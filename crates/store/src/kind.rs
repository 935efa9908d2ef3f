//! The kinds of stores that a user can choose: their names, their properties, and how to make them.

use entail_model::{Key, Part, State, Store, WideKey, named};

use crate::bitstate::BitstateSet;
use crate::cache::{CacheSet, CacheSize};
use crate::collapse::CollapseSet;
use crate::compact::CompactSet;
use crate::degradation::{Degradation, Level, LevelKind};
use crate::dfa::DfaSet;
use crate::exact::{ExactPairSet, ExactSet, ExactWordSet, ShortStateSet};
use crate::lossy::LossySet;
use crate::plain::PlainSet;
use crate::visited::VisitedSet;

/// How visited states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// Lossless: short states are their own keys, longer ones use tree compression.
    #[default]
    Exact,
    /// Tree compression.
    Tree,
    /// Uncompressed states.
    Plain,
    /// Collapse compression.
    Collapse,
    /// A minimised automaton that accepts the visited states.
    Dfa,
    /// Hash compaction. A hash collision can hide a state.
    Compact,
    /// Bitstate hashing. A hash collision can hide a state.
    Bitstate,
    /// State-space caching, for depth-first searches only. A full cache replaces states, which may be explored again.
    Cache,
}

named!(StoreKind { "exact" => Exact, "tree" => Tree, "plain" => Plain, "collapse" => Collapse, "dfa" => Dfa,
    "compact" => Compact, "bitstate" => Bitstate, "cache" => Cache });

/// What distinguishes a kind of store.
struct Properties {
    hash_bits: Option<u32>,
    has_array: bool,
    forgets: bool,
}

/// The parameters of a store.
#[derive(Debug, Default)]
pub struct StoreOptions {
    /// The number of bits of a state. States of fewer than 128 bits may be their own keys.
    pub bits: u32,
    /// The bits per state in a lossy store.
    pub hash_bits: Option<u32>,
    /// The bytes of the array of a bitstate store.
    pub array: Option<u64>,
    /// The capacity of a cache in states.
    pub slots: Option<u64>,
    /// The number of cache slots in which a state may be stored.
    pub probes: Option<u32>,
    /// The number of candidates for replacement in a cache.
    pub collisions: Option<u32>,
    /// The bytes of an array or a cache whose size is not given.
    pub bytes: u64,
    /// The seed of hash functions.
    pub seed: u64,
    /// How the store degrades when memory runs out, if it may.
    pub degradation: Option<Degradation>,
}

/// A store of some kind, with keys of one or two words.
pub enum AnyStore<'a> {
    Words(Box<dyn StateSet<Key = Key> + 'a>),
    Pairs(Box<dyn StateSet<Key = WideKey> + 'a>),
}

/// A store that can be asked about its degradation after a search.
pub trait StateSet: Store {
    /// The levels of degradation reached.
    fn levels(&self) -> &[Level] {
        &[]
    }

    /// Whether there are more states than the store was sized for.
    fn is_overfull(&self) -> bool {
        false
    }
}

/// The default hash size of hash compaction.
const COMPACT_BITS: u32 = 40;
/// The bits per state in an array that fills up.
const FULL_ARRAY_BITS: u32 = 3;
/// The default number of cache slots for a state, and of candidates for replacement.
const CACHE_WAYS: u32 = 16;

/// A store over an exact one for states of this many bits.
macro_rules! over {
    ($bits:expr, $exact:ident => $store:expr) => {
        match $bits {
            64..128 => {
                let $exact = ExactPairSet::new();
                AnyStore::Pairs(Box::new($store))
            }
            bits => {
                let $exact = ExactWordSet::new(bits);
                AnyStore::Words(Box::new($store))
            }
        }
    };
}

impl StoreKind {
    /// Makes an empty store. `cut` appends the parts of a state.
    pub fn make<'a>(self, options: StoreOptions, cut: impl Fn(&State, &mut Vec<Part>) + Sync + 'a) -> AnyStore<'a> {
        let bits = options.bits;
        match self {
            StoreKind::Exact => over!(bits, exact => options.visited(VisitedSet::new(exact, None))),
            StoreKind::Tree => over!(bits, exact => options.visited(VisitedSet::tree(exact, bits))),
            StoreKind::Plain => AnyStore::Words(Box::new(PlainSet::default())),
            StoreKind::Collapse => AnyStore::Words(Box::new(CollapseSet::new(cut))),
            StoreKind::Dfa => over!(bits, exact => DfaSet::new(exact)),
            StoreKind::Compact => {
                let kept = options.hash_bits.unwrap_or(COMPACT_BITS).max(2);
                // States with no more bits than the hash are stored exactly.
                let hashes = (kept < bits).then(|| LossySet::Compact(CompactSet::new(kept)));
                over!(bits, exact => options.visited(VisitedSet::new(exact.growing_slowly(), hashes)))
            }
            StoreKind::Bitstate => {
                let bytes = options.array.unwrap_or(options.bytes);
                let array = match options.hash_bits {
                    Some(bits) => BitstateSet::new(bytes, bits),
                    None => BitstateSet::optimistic(bytes),
                };
                // If the array cannot be allocated, states are stored exactly as long as memory suffices.
                let array = array.ok().map(LossySet::Bitstate);
                over!(bits, exact => options.visited(VisitedSet::new(exact, array)))
            }
            StoreKind::Cache => over!(bits, exact => options.cached(exact)),
        }
    }

    const fn properties(self) -> Properties {
        const LOSSLESS: Properties = Properties { hash_bits: None, has_array: false, forgets: false };
        match self {
            Self::Exact | Self::Tree | Self::Plain | Self::Collapse | Self::Dfa => LOSSLESS,
            Self::Compact => Properties { hash_bits: Some(COMPACT_BITS), ..LOSSLESS },
            Self::Bitstate => Properties { hash_bits: Some(FULL_ARRAY_BITS), has_array: true, ..LOSSLESS },
            Self::Cache => Properties { forgets: true, ..LOSSLESS },
        }
    }

    /// The bits per state in a lossy store that fills up, unless they are given; `None` if the store is lossless.
    pub const fn hash_bits(self) -> Option<u32> {
        self.properties().hash_bits
    }

    /// Whether the store may omit a state because of a hash collision.
    pub const fn is_lossy(self) -> bool {
        self.hash_bits().is_some()
    }

    /// Whether states are bits of an array.
    pub const fn has_array(self) -> bool {
        self.properties().has_array
    }

    /// Whether the store forgets states. Then only a depth-first search terminates: it detects cycles on its stack.
    pub const fn forgets(self) -> bool {
        self.properties().forgets
    }
}

impl StoreOptions {
    fn visited<S: ShortStateSet>(self, set: VisitedSet<S>) -> VisitedSet<S> {
        let set = set.with_seed(self.seed);
        match self.degradation {
            Some(degradation) => set.with_degradation(degradation.tree_first(self.bits)),
            None => set,
        }
    }

    fn cached<S: ShortStateSet>(&self, exact: ExactSet<S>) -> CacheSet<S> {
        let slots = self.slots.unwrap_or_else(|| CacheSet::<S>::slots_in(self.bytes));
        let [probes, collisions] = [self.probes, self.collisions].map(|given| given.unwrap_or(CACHE_WAYS));
        CacheSet::new(exact, CacheSize { slots, probes, collisions })
    }
}

impl StateSet for PlainSet {}
impl<C: Fn(&State, &mut Vec<Part>) + Sync> StateSet for CollapseSet<C> {}
impl<S: ShortStateSet> StateSet for DfaSet<S> {}
impl<S: ShortStateSet> StateSet for CacheSet<S> {}

impl LevelKind {
    /// The kind of store at this level.
    pub const fn store(self) -> StoreKind {
        match self {
            LevelKind::Tree => StoreKind::Tree,
            LevelKind::Compact { .. } => StoreKind::Compact,
            LevelKind::Bitstate { .. } => StoreKind::Bitstate,
        }
    }
}
