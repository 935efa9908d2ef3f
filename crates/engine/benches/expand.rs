//! The cost of expanding a packed state, and of hashing one: `cargo bench -p entail-packed`.

use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use entail_engine::{Jit, Packed, Tuning};
use entail_front::{Options, load};
use entail_ir::Interpreter;
use entail_ir::interpret::Engine;
use entail_model::{Model, StateBuf, Successors};
use rapidhash::v3::rapidhash_v3;

/// The number of states to expand repeatedly.
const STATES: usize = 1_000;

/// By machine code and by the interpreter; time for each step.
fn expand(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expand");
    for name in ["peterson.pml", "leader.pml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let model = load(&path, &Options::default()).model.expect("an example that can be read");
        let interpreter = Interpreter::new(&model.system);
        let jit = Jit::compile(&interpreter, Tuning::default()).expect("an example that can be compiled");
        let (compiled, interpreted) = (Packed::new(&interpreter, jit), Packed::new(&interpreter, &interpreter));
        let (states, steps) = first_states(&compiled);
        group.throughput(Throughput::Elements(steps));
        group.bench_function(format!("{name}/compiled"), |bencher| bencher.iter(|| expand_all(&compiled, &states)));
        let (states, _) = first_states(&interpreted);
        group.bench_function(format!("{name}/interpreted"), |bencher| {
            bencher.iter(|| expand_all(&interpreted, &states));
        });
    }
}

/// The first stable states, breadth first, and their number of steps.
fn first_states<E: Engine>(model: &Packed<E>) -> (Vec<StateBuf>, u64) {
    let (mut queue, mut seen, mut states, mut steps) = (VecDeque::new(), HashSet::new(), Vec::new(), 0);
    model.initial_states(&mut |state| queue.push_back(state.to_vec()));
    while let Some(state) = queue.pop_front().filter(|_| states.len() < STATES) {
        let mut successors = Successors::default();
        model.expand(&state, &mut successors, &mut Default::default());
        steps += successors.len() as u64;
        let next = successors.iter().map(|successor| successor.state.to_vec());
        queue.extend(next.filter(|next| seen.insert(next.clone())));
        states.push(state);
    }
    (states, steps)
}

fn expand_all<E: Engine>(model: &Packed<E>, states: &[StateBuf]) {
    let (mut successors, mut scratch) = (Successors::default(), Default::default());
    for state in states {
        successors.clear();
        model.expand(state, &mut successors, &mut scratch);
        black_box(&successors);
    }
}

/// The hash that identifies transient states and those of the sample.
fn hash(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hash");
    for bytes in [8, 24, 512] {
        let state = vec![7; bytes];
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("{bytes} bytes"), |bencher| bencher.iter(|| rapidhash_v3(black_box(&state))));
    }
}

criterion_group!(benches, expand, hash);
criterion_main!(benches);
