//! Where visited states are kept: one file for each kind of store.

mod bitstate;
mod cache;
mod chosen;
mod collapse;
mod compact;
mod counter;
mod dfa;
mod dictionary;
mod hash;
mod ladder;
mod lossless;
#[expect(unsafe_code)]
mod memory;
mod mix;
mod numbered;
#[expect(unsafe_code)]
mod packing;
mod pairs;
mod parted;
mod plain;
mod strings;
mod sync;
mod table;
mod tapes;
mod tree;
mod visited;

pub use bitstate::Bitstate;
pub use cache::{CacheSize, Cached};
pub use chosen::Chosen;
pub use collapse::Collapse;
pub use compact::Compact;
pub use dfa::Minimal;
pub use ladder::{Ladder, Remains, Rung, Share};
pub use lossless::{Kept, Lossless, LosslessWide, Short};
pub use memory::{give_back_blocks_of, share_one_heap};
pub use numbered::Numbers;
pub use packing::{Field, Packing};
pub use parted::Parted;
pub use plain::Plain;
pub use visited::{Sieve, Visited};

/// Has a value fetched into the cache, without waiting for it.
#[inline]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code))]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of every x86-64, and harmless whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
