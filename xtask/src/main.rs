//! Development tasks of the project: `cargo xtask help`.

mod bench;
mod cache;
mod compare;
mod coverage;
mod entail;
mod fuzz_d_steps;
mod fuzz_ltl;
mod fuzz_progress;
mod fuzz_spin;
mod fuzz_trace;
mod kill;
mod ladder;
mod ltl_sizes;
mod ltl_words;
mod nightly;
mod oracle;
mod oracle_liveness;
mod oracle_reduced;
mod plot;
mod pool;
mod probe;
mod record;
mod scaling;
mod setup;
mod spin_examples;
mod thesis;
mod threads;
mod trails;
mod words;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the project")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
    /// Use this entail binary instead of building one
    #[arg(long, global = true)]
    entail: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Chore {
    /// Compare entail with SPIN's recorded answers on the benchmark models
    Oracle(oracle::Options),
    /// Compare entail with SPIN, or with its recorded answers, on random models
    FuzzSpin(fuzz_spin::Options),
    /// Compare entail with SPIN on SPIN's own examples
    SpinExamples(spin_examples::Options),
    /// Exchange trails with SPIN, in both directions, and compare the last states
    Trails(trails::Options),
    /// Compare entail with the published counts of ESML's model checker
    Thesis(thesis::Options),
    /// Measure entail and SPIN on the same models, in turns
    Bench(bench::Options),
    /// Kill searches at random moments, resume them, and compare the results with undisturbed searches
    Kill(kill::Options),
    /// Measure the speed of several threads, and predict it for more cores
    Threads(threads::Options),
    /// Measure and plot the cost of a transition as the number of states grows
    Scaling(scaling::Options),
    /// Measure and plot the cost of state-space caching as the cache becomes smaller
    Cache(cache::Options),
    /// Measure and plot the coverage of searches with less memory than the states need
    Coverage(coverage::Options),
    /// Test that searches with too little memory continue within their budget
    Ladder(ladder::Options),
    /// Run all long test campaigns, and print a table of the results
    Nightly(nightly::Options),
    /// Measure the benefit and the cost of depth-first probes in breadth-first searches
    Probe(probe::Options),
    /// Test that models with an expensive setup have an answer in time
    Setup(setup::Options),
    /// Count the states of automata for published formulas: entail's and SPIN's
    LtlSizes(ltl_sizes::Options),
    /// Test automata of random formulas against the semantics of LTL, on random words
    LtlWords(ltl_words::Options),
    /// Find words and phrases that have a better term in the field
    Words(words::Options),
}

/// The result of a task; an error means that it could not be completed.
enum Outcome {
    Agreement,
    Difference,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let Arguments { chore, entail } = Arguments::parse();
    let binary = entail.as_deref();
    let outcome = match chore {
        Chore::Oracle(options) => oracle::run(&options, binary),
        Chore::FuzzSpin(options) => fuzz_spin::run(&options, binary),
        Chore::SpinExamples(options) => spin_examples::run(&options, binary),
        Chore::Trails(options) => trails::run(&options, binary),
        Chore::Thesis(options) => thesis::run(&options, binary),
        Chore::Bench(options) => bench::run(&options, binary),
        Chore::Kill(options) => kill::run(&options, binary),
        Chore::Threads(options) => threads::run(&options, binary),
        Chore::Scaling(options) => scaling::run(&options, binary),
        Chore::Cache(options) => cache::run(&options, binary),
        Chore::Coverage(options) => coverage::run(&options, binary),
        Chore::Ladder(options) => ladder::run(&options, binary),
        Chore::Nightly(options) => nightly::run(&options, binary),
        Chore::Probe(options) => probe::run(&options, binary),
        Chore::Setup(options) => setup::run(&options, binary),
        Chore::LtlSizes(options) => ltl_sizes::run(&options),
        Chore::LtlWords(options) => ltl_words::run(&options),
        Chore::Words(options) => words::run(&options),
    };
    match outcome {
        Ok(Outcome::Agreement) => ExitCode::SUCCESS,
        Ok(Outcome::Difference) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::from(2)
        }
    }
}

/// The root folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}
