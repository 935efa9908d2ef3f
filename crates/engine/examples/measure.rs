//! The time of a step, interpreted and compiled, and of compilation: `cargo run --release -p entail-jit --example
//! measure -- MODEL…`

use entail_engine::{Jit, Tuning};
use entail_front::{Options, load};
use entail_ir::Interpreter;
use entail_ir::interpret::{Engine, ProcessVector, Source, Step};
use entail_model::{Fired, Model, State};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of states to expand repeatedly.
const STATES: usize = 20_000;
/// The time of a measurement.
const TIME: Duration = Duration::from_millis(300);

fn main() {
    println!(
        "{:24} {:>6} {:>7} {:>12} {:>10} {:>9} {:>10} {:>9} {:>7}",
        "model", "edges", "bytes", "interpreted", "plain", "made in", "optimised", "made in", "code"
    );
    for path in std::env::args().skip(1) {
        measure(Path::new(&path));
    }
}

fn measure(path: &Path) {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let Some(model) = load(path, &Options::default()).model else { return println!("{name:24} cannot be read") };
    let interpreter = Interpreter::new(&model.system);
    let states = explore(&interpreter);
    let interpreted = per_step(&interpreter, &states);
    let compile = |optimise| {
        // The fastest of several runs: the first includes loading the compiler itself.
        let tries = (0..5).map(|_| {
            Jit::compile(&interpreter, Tuning { optimise, ..Tuning::default() }).map_err(|why| why.to_string())
        });
        tries
            .collect::<Result<Vec<_>, _>>()
            .map(|all| all.into_iter().min_by_key(Jit::compile_time).expect("several"))
    };
    match (compile(false), compile(true)) {
        (Ok(plain), Ok(optimised)) => println!(
            "{name:24} {:6} {:7} {interpreted:9.1} ns {:7.1} ns {:6.2} ms {:7.1} ns {:6.2} ms {:7}",
            model.system.edges.len(),
            states.first().map_or(0, |(state, _)| state.len()),
            per_step(&plain, &states),
            plain.compile_time().as_secs_f64() * 1e3,
            per_step(&optimised, &states),
            optimised.compile_time().as_secs_f64() * 1e3,
            plain.code_bytes(),
        ),
        (Err(why), _) | (_, Err(why)) => println!("{name:24} {interpreted:9.1} ns; {why}"),
    }
}

/// The first states, breadth first, with their process vectors.
fn explore(interpreter: &Interpreter<'_>) -> Vec<(Vec<u8>, usize)> {
    let mut states = Vec::new();
    let mut queue = VecDeque::new();
    let mut seen = HashSet::new();
    interpreter.initial_states(&mut |state| queue.push_back(state.to_vec()));
    while let Some(state) = queue.pop_front() {
        let from = Source { state: &state, vector: &ProcessVector::default(), packed: None };
        Engine::expand(&interpreter, from, &mut (), &mut |_, fired, successor: &State| {
            let goes_on = !matches!(fired, Fired::Broken(_));
            if goes_on && seen.len() < STATES && seen.insert(successor.to_vec()) {
                queue.push_back(successor.to_vec());
            }
        });
        states.push((state, 0));
    }
    states
}

/// Nanoseconds per step, in the fastest of many rounds.
fn per_step(engine: &impl WithOutlines, states: &[(Vec<u8>, usize)]) -> f64 {
    let mut vectors: Vec<ProcessVector> = Vec::new();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let states: Vec<_> = states
        .iter()
        .filter(|(state, _)| !state.is_empty())
        .map(|(state, _)| {
            let vector = engine.vector(state);
            let index = *known.entry(vector.types.clone()).or_insert_with(|| {
                vectors.push(vector);
                vectors.len() - 1
            });
            (state, index)
        })
        .collect();
    // One after the other, as in a queue.
    let mut bytes = Vec::new();
    let states: Vec<_> = states
        .iter()
        .map(|(state, vector)| {
            let begin = bytes.len();
            bytes.extend_from_slice(state);
            (begin..bytes.len(), *vector)
        })
        .collect();
    let mut desk = Default::default();
    let mut fastest = f64::INFINITY;
    let all = Instant::now();
    while all.elapsed() < TIME {
        let (mut steps, mut sum) = (0_u64, 0_u64);
        let begun = Instant::now();
        for (state, vector) in &states {
            let from = Source { state: &bytes[state.clone()], vector: &vectors[*vector], packed: None };
            engine.expand(from, &mut desk, &mut |step: Step, _, successor: &State| {
                steps += 1;
                sum =
                    sum.wrapping_add(step.bits()).wrapping_add(u64::from(successor.first().copied().unwrap_or(0)));
            });
        }
        std::hint::black_box(sum);
        fastest = fastest.min(begun.elapsed().as_secs_f64() * 1e9 / steps.max(1) as f64);
    }
    fastest
}

trait WithOutlines: Engine {
    fn vector(&self, state: &[u8]) -> ProcessVector;
}

impl WithOutlines for Interpreter<'_> {
    fn vector(&self, state: &[u8]) -> ProcessVector {
        self.layout().process_vector(self.system(), state)
    }
}

impl WithOutlines for Jit<'_> {
    fn vector(&self, state: &[u8]) -> ProcessVector {
        Interpreter::new(self.system()).layout().process_vector(self.system(), state)
    }
}
