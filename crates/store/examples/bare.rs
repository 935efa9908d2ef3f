//! The lower limit of search time: the cost of lookups alone.
//!
//! `cargo run --release -p entail-store --example bare -- STATES OPERATIONS [BITS]` inserts OPERATIONS keys, of which
//! about STATES are different, into a table that starts empty, as a search does: in prefetched batches. Prints
//! nanoseconds per operation, and the bytes per state to standard error.

use std::time::{Duration, Instant};

use entail_model::{Key, Keys, Store};
use entail_store::ExactWordSet;

const BATCH: usize = 256;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let mut next = |otherwise| numbers.next().unwrap_or(otherwise);
    let (states, operations, bits) = (next(10_000_000), next(20_000_000), next(48) as u32);

    let mut store = ExactWordSet::new(bits);
    let mut keys = Vec::with_capacity(BATCH);
    let mut time = Duration::ZERO;
    let mut chance = Chance { states, operations, known: 0, due: 0 };
    for first in (0..operations).step_by(BATCH) {
        let batch = first..operations.min(first + BATCH as u64);
        keys.clear();
        keys.extend(batch.map(|operation| Key(chance.key(operation) >> (64 - bits))));

        let begin = Instant::now();
        store.reserve(keys.len(), u64::MAX).expect("memory");
        keys.iter().for_each(|&key| store.prefetch(key));
        for &key in &keys {
            let _ = store.insert(key);
        }
        time += begin.elapsed();
    }
    println!("{:.1}", time.as_nanos() as f64 / operations as f64);
    eprintln!("{} states, {:.2} bytes each", store.len(), store.bytes() as f64 / store.len() as f64);
}

/// New states arrive at a uniform rate, as in most of a search; in between, random old ones are inserted again.
struct Chance {
    states: u64,
    operations: u64,
    known: u64,
    due: u64,
}

impl Chance {
    fn key(&mut self, operation: u64) -> u64 {
        self.due += self.states;
        if self.due >= self.operations {
            self.due -= self.operations;
            self.known += 1;
            return random(self.known - 1);
        }
        random(((u128::from(random(!operation)) * u128::from(self.known)) >> 64) as u64)
    }
}

/// SplitMix64's output function.
fn random(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
