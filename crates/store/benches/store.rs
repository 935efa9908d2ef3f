//! The cost of single operations: `cargo bench -p entail-store`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use entail_model::{Key, Keys, Store};
use entail_store::{ExactWordSet, Field, Packing};

const BATCH: usize = 256;
const UNLIMITED: u64 = u64::MAX;

/// 48 random bits.
fn key(i: u64) -> Key {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Key((x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16)
}

fn filled(count: u64) -> ExactWordSet {
    let mut store = ExactWordSet::new(48);
    store.reserve(2 * count as usize, UNLIMITED).expect("memory");
    (0..count).for_each(|i| _ = store.insert(key(i)));
    store
}

/// Inserted and absent keys, one by one and in prefetched batches.
fn table(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("table");
    for bits in [16, 22] {
        let count = 1u64 << bits;
        group.throughput(Throughput::Elements(BATCH as u64));
        let store = filled(count);
        let mut at = 0;
        let mut seen = move || {
            at += BATCH as u64;
            (at..at + BATCH as u64).map(|i| key(i.wrapping_mul(0x9e37_79b1) % count)).collect::<Vec<_>>()
        };
        group.bench_function(format!("seen/2^{bits}"), |bencher| {
            bencher.iter_batched(&mut seen, |keys| insert(&store, &keys, false), BatchSize::SmallInput);
        });
        group.bench_function(format!("seen/2^{bits}/fetched"), |bencher| {
            bencher.iter_batched(&mut seen, |keys| insert(&store, &keys, true), BatchSize::SmallInput);
        });
        for fetched in [false, true] {
            let name = if fetched { "/fetched" } else { "" };
            group.throughput(Throughput::Elements(count));
            group.bench_function(format!("new/2^{bits}{name}"), |bencher| {
                let keys: Vec<Key> = (count..2 * count).map(key).collect();
                let fill = |store: ExactWordSet| keys.chunks(BATCH).for_each(|keys| insert(&store, keys, fetched));
                bencher.iter_batched(|| filled(count), fill, BatchSize::PerIteration);
            });
        }
    }
}

fn insert(store: &ExactWordSet, keys: &[Key], fetched: bool) {
    if fetched {
        keys.iter().for_each(|&key| store.prefetch(key));
    }
    for &key in keys {
        black_box(store.insert(key));
    }
}

/// Keys of states of a few words, whose successors differ in one word.
fn tree(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tree");
    for words in [3usize, 8, 32] {
        let mut store = ExactWordSet::new(64);
        let mut state = vec![0; 8 * words];
        let mut opened = Default::default();
        let mut i = 0;
        group.bench_function(format!("{words} words"), |bencher| {
            bencher.iter(|| {
                i += 1;
                if i % 16 == 1 {
                    store.reserve(17, UNLIMITED).expect("memory");
                    store.open(store.key(&state, &opened), &mut state, &mut opened);
                }
                state[8 * (i % words)] = (key(i as u64).0 >> 16) as u8 % 64;
                store.key(black_box(&state), &opened)
            });
        });
    }
}

/// States in which numbers take a quarter of their bits.
fn packing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packing");
    for length in [32, 64, 256] {
        let bits = |offset: u32| [0, 4, 2, 1, 0, 0, 8, 1][offset as usize % 8];
        let fields: Vec<Field> =
            (0..length).map(|offset| Field { offset, bytes: 1, low: 0, bits: bits(offset) }).collect();
        let mut state = vec![0; length as usize];
        let packing = Packing::new(&state, &fields);
        let mut packed = Vec::new();
        group.bench_function(format!("pack {length} bytes"), |bencher| {
            bencher.iter(|| {
                packed.clear();
                packing.pack(black_box(&state), &mut packed);
                black_box(packed.last().copied())
            });
        });
        group.bench_function(format!("unpack {length} bytes"), |bencher| {
            bencher.iter(|| {
                packing.unpack(black_box(&packed), &mut state);
                black_box(state.last().copied())
            });
        });
    }
}

criterion_group!(benches, table, tree, packing);
criterion_main!(benches);
