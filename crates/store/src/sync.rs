//! Atomics and locks: those of the standard library, or those of loom, which runs every interleaving of threads.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p entail-store --release --lib loom` runs the tests that need loom, in seconds,
//! because tables are then a few words small.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex,
    atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex,
    atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering},
};

/// Spins while another thread completes a few instructions.
#[inline]
pub(crate) fn wait() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Runs a test in every interleaving of `threads` threads; for three or more, with at most three preemptions, because
/// there are too many others.
#[cfg(all(test, loom))]
pub(crate) fn in_every_order(threads: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = if threads > 2 { Some(3) } else { None };
    builder.check(test);
}
