//! Where visited states are kept: one file for each kind of store.

mod bitstate;
mod chosen;
mod compact;
mod counter;
mod dictionary;
mod hash;
mod lossless;
#[expect(unsafe_code)]
mod memory;
mod mix;
mod numbered;
#[expect(unsafe_code)]
mod packing;
mod pairs;
mod sync;
mod table;
mod tree;
mod visited;

pub use bitstate::Bitstate;
pub use chosen::Chosen;
pub use compact::Compact;
pub use lossless::{Kept, Lossless, LosslessWide, Short};
pub use numbered::Numbers;
pub use packing::{Field, Packing};
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
