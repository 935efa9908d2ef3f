//! Sets of visited states: a file for each, `kind.rs` with all kinds that a user can choose, and the tables that
//! implement them.

mod bitstate;
mod byte_interner;
mod cache;
mod collapse;
mod compact;
mod components;
mod counter;
mod degradation;
mod dfa;
mod dictionary;
mod exact;
mod hash;
mod key_subset;
mod kind;
mod lossy;
#[expect(unsafe_code)]
mod memory;
mod mix;
mod numbered;
#[expect(unsafe_code)]
mod packing;
mod pairs;
mod partitioned;
mod plain;
mod spill;
mod sync;
mod table;
mod tree;
mod tree_set;
mod visited;

pub use bitstate::BitstateSet;
pub use cache::{CacheSet, CacheSize};
pub use collapse::CollapseSet;
pub use compact::CompactSet;
pub use components::ComponentMap;
pub use degradation::{Degradation, Level, LevelKind, Share};
pub use dfa::DfaSet;
pub use exact::{ExactPairSet, ExactSet, ExactWordSet, ShortStateSet};
pub use key_subset::KeySubset;
pub use kind::{AnyStore, StateSet, StoreKind, StoreOptions};
pub use lossy::LossySet;
pub use memory::{set_mmap_threshold, use_one_arena};
pub use numbered::NumberMap;
pub use packing::{Field, Packing};
pub use plain::PlainSet;
pub use tree_set::TreeSet;
pub use visited::VisitedSet;

/// Prefetches a value into the processor's cache.
#[inline]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code))]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64, and harmless for any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
