//! Search algorithms over any model and store.
//!
//! Each algorithm is a function in a file of its own and only decides which state to expand next. They share a
//! `SearchContext`, which expands states, takes steps, looks up states and counts. It has two parts: `Shared`, with the
//! data common to all workers of a search (the store, the account of memory, the limits), and `Worker`, with the
//! buffers and counts of one worker. Operations that need exclusive access to the store (growth, degradation,
//! snapshots) take place at safepoints, between two expansions. The frontier holds keys of the store. A `SearchStack`
//! is a path; it follows transient states by itself until they reach stable ones.
//!
//! A breadth-first search may have several workers, each with a `Frontier` and a `Worker` of its own: `workers.rs` runs
//! them in phases, between which are its safepoints. The workers of an SCC search (`scc_workers.rs`) share a `Joint` store;
//! each searches on its own, and a safepoint is where one of them has it exclusively.

mod backoff;
mod block_vec;
mod breadth_first;
mod checkpointer;
mod context;
mod cores;
mod ctl;
mod depth_first;
mod duplicates;
mod expander;
mod expansions;
mod explorer;
mod findings;
mod frontier;
mod joint;
mod lasso;
mod log;
mod lookups;
mod memory_estimate;
mod minimise;
mod nested;
mod open_set;
mod order;
mod path;
mod phases;
mod poll;
mod pool;
mod probe;
mod queue;
mod recent_steps;
mod replay;
mod scc;
mod scc_workers;
mod shared;
mod stack;
mod team;
mod trace;
mod transient_index;
mod workers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use entail_disk::Scratch;
use entail_model::{Fault, State, StateBuf};

pub use breadth_first::{breadth_first, resume_breadth_first};
pub use checkpointer::Checkpointer;
pub use cores::available_cores;
pub use ctl::{CtlResult, Witness, ctl, decide};
pub use depth_first::{depth_first, resume_depth_first};
pub use minimise::{EFFORT, context_switches, minimised};
pub use nested::nested;
pub use order::{Algorithm, SearchOrder, Start};
pub use phases::{Phase, PhaseTime, Phases, Timing};
pub use scc::scc;
pub use scc_workers::scc_by_workers;

/// Which faults count as errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Faults other than violated claims of the model.
    pub faults: bool,
    /// Violated claims of the model: see [`FaultKind::is_claim`](entail_model::FaultKind::is_claim).
    pub assertions: bool,
    /// Invalid end states.
    pub end_states: bool,
    pub errors: Errors,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks { faults: true, assertions: true, end_states: true, errors: Errors::First }
    }
}

impl Checks {
    /// Only results of a claim: a proposition that cannot be evaluated, or the end of the claim.
    pub const OF_CLAIMS: Checks =
        Checks { faults: false, assertions: false, end_states: false, errors: Errors::First };

    fn count(&self, fault: &Fault) -> bool {
        match fault.kind {
            kind if kind.is_limit() => false,
            kind if kind.is_answer() => true,
            kind if kind.is_claim() => self.assertions,
            _ => self.faults,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// Stop at the first error.
    First,
    /// The same, but a breadth-first search also runs depth-first probes. A probe may find an error much sooner, by a
    /// run that is not a shortest one.
    Soonest,
    /// Continue, and count all errors.
    All,
}

/// The limits of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// States at this depth are not expanded. Each search defines its depth.
    pub depth: Option<u64>,
    pub time: Option<Duration>,
    pub threads: Threads,
    /// The memory limit in bytes, for the store and everything besides.
    pub memory: Option<u64>,
    /// The directory for spill files.
    pub scratch: Option<&'a Scratch>,
    /// Interrupts the search when set.
    pub stop: Option<&'a AtomicBool>,
    /// Takes a snapshot of the search periodically, and before it ends because of time or an interrupt. Only breadth-first and
    /// depth-first searches support this.
    pub keeper: Option<&'a dyn Checkpointer>,
}

/// The threads of a search. Only breadth-first and SCC searches without an event log use several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Their number.
    pub count: usize,
    /// A breadth-first search begins with one thread, and gets the others when this many states have the same depth. An
    /// SCC search begins with one thread, and begins again with all when it has found some times as many states.
    pub worthwhile: u64,
    /// The stack of each in bytes: models may recurse. Unused stack takes no memory.
    pub stack: usize,
    /// Measures the phases of the search.
    pub timing: Option<Timing>,
}

impl Default for Threads {
    fn default() -> Threads {
        Threads { count: 1, worthwhile: 1 << 9, stack: 8 << 20, timing: None }
    }
}

impl Limits<'_> {
    /// The limit that a search started at this time has reached: an interrupt, or the time limit.
    fn reached(&self, began: Instant) -> Option<Limit> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        self.time.is_some_and(|time| began.elapsed() >= time).then_some(Limit::Time)
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<S> {
    pub end: End,
    pub stats: Stats,
    /// The number of errors. Unless [all](Errors::All) are counted, these are the errors of one step or state.
    pub errors: u64,
    /// The peak memory in bytes, of the store and everything besides.
    pub bytes: u64,
    /// The number of threads at the end of the search.
    pub workers: usize,
    /// Why several threads could not be started. Then one did all the work.
    pub no_threads: Option<String>,
    /// The time of the phases of the search, if [measured](Threads::timing).
    pub phases: Option<Box<Phases>>,
    /// The first fault that ended a run and that no check counts as an error. Such a run is inconclusive.
    pub ignored_fault: Option<Fault>,
    /// Whether a probe found the error ([`Errors::Soonest`]), so that a shorter run to an error may exist.
    pub is_probed: bool,
    /// The run to the first error.
    pub counterexample: Option<Counterexample<S>>,
}

impl<S> Outcome<S> {
    /// The outcome in terms of a model that this one is built from, such as a component of a product. `step` maps the
    /// steps that belong to that model; `start` gives its initial state.
    pub fn projected<T>(&self, step: impl Fn(&S) -> Option<T>, start: impl Fn(&State) -> StateBuf) -> Outcome<T> {
        let steps = |steps: &[S]| steps.iter().filter_map(&step).collect::<Vec<T>>();
        let counterexample = self.counterexample.as_ref().map(|found| Counterexample {
            error: match found.error {
                ErrorKind::Cycle { begins } => ErrorKind::Cycle { begins: steps(&found.steps[..begins]).len() },
                error @ (ErrorKind::Fault(_) | ErrorKind::InvalidEnd) => error,
            },
            start: start(&found.start),
            steps: steps(&found.steps),
        });
        let Outcome { end, stats, errors, bytes, workers, ignored_fault, is_probed, .. } = *self;
        let (no_threads, phases) = (self.no_threads.clone(), self.phases.clone());
        Outcome { end, stats, errors, bytes, workers, no_threads, phases, ignored_fault, is_probed, counterexample }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All reachable states were explored, as far as the store can tell.
    Complete,
    /// An error was found, and the search stops at the first one.
    Error,
    Limit(Limit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Depth,
    Time,
    Memory,
    Interrupted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct stable states.
    pub stored: u64,
    /// Steps into stable states that were already known.
    pub matched: u64,
    /// Matched steps that lead back to the path; only depth-first searches count these.
    pub loops: Option<u64>,
    /// The depth reached. Each search defines its depth.
    pub depth: u64,
    /// The number of times a state was entered, if a search may enter states more than once: once for each subformula
    /// that needs it.
    pub entered: Option<u64>,
    /// States that the store has forgotten. A forgotten state is counted again when it is reached again.
    pub forgotten: u64,
}

impl Stats {
    /// As SPIN counts them: initial states count, steps into transient states do not.
    pub fn transitions(&self) -> u64 {
        self.stored + self.matched
    }

    /// Matched steps that are not loops.
    pub fn revisits(&self) -> Option<u64> {
        self.loops.map(|loops| self.matched - loops)
    }
}

/// A run that ends in an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<S> {
    pub error: ErrorKind,
    /// The initial state of the run.
    pub start: StateBuf,
    /// All steps, those into and out of transient states included. The last one is the faulty one.
    pub steps: Vec<S>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A fault in the last step.
    Fault(Fault),
    /// An invalid end state after the last step.
    InvalidEnd,
    /// An infinite accepted run: after the last step, the run is in the state that it had reached after `begins` steps,
    /// and repeats the steps from there.
    Cycle { begins: usize },
}

impl ErrorKind {
    /// The number of times the error occurred in the step that shows it.
    fn times(self) -> u32 {
        match self {
            ErrorKind::Fault(fault) => fault.times,
            ErrorKind::InvalidEnd | ErrorKind::Cycle { .. } => 1,
        }
    }
}
