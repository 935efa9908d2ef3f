//! A counter that threads increment without contention.

use std::io;

use entail_disk::{Reader, Snapshot, Writer};

// Not the atomics of `crate::sync`: nothing depends on the order in which threads count.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PARTS: usize = 16;

/// A sum of several counts, each in its own cache line.
#[derive(Debug, Default)]
pub(crate) struct Counter([Part; PARTS]);

#[derive(Debug, Default)]
#[repr(align(64))]
struct Part(AtomicU64);

impl Snapshot for Counter {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.sum().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Counter> {
        u64::load(from).map(Counter::of)
    }
}

impl Counter {
    #[inline]
    pub fn add_one(&self) {
        self.add(1);
    }

    #[inline]
    pub fn add(&self, count: u64) {
        self.0[part()].0.fetch_add(count, Relaxed);
    }

    /// The same, without interference from other threads.
    #[inline]
    pub fn add_alone(&self, count: u64) {
        let Part(part) = &self.0[0];
        part.store(part.load(Relaxed) + count, Relaxed);
    }

    /// A counter with this value.
    fn of(count: u64) -> Counter {
        let counter = Counter::default();
        counter.add_alone(count);
        counter
    }

    pub fn sum(&self) -> u64 {
        self.0.iter().map(|part| part.0.load(Relaxed)).sum()
    }
}

/// Threads have separate stacks, megabytes apart, so the address of a local variable distinguishes most of them. Two
/// threads may have the same part, or a thread several; that costs time only.
#[inline]
fn part() -> usize {
    let here = 0u8;
    (std::ptr::from_ref(&here).addr() >> 21) % PARTS
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_sum_counts_what_all_threads_added() {
        let counter = Counter::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1000).for_each(|_| counter.add_one()));
            }
        });
        assert_eq!(counter.sum(), 8000);
    }
}
