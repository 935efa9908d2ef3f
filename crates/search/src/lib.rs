//! Searches over any model and store.
//!
//! Each algorithm is a function in a file of its own, and decides only where to go next. They share a `SearchContext`, which expands
//! states, takes steps, looks up and counts. It has two parts: `Shared`, what all workers of a search would share (the store,
//! the account of memory, limits), and a `Worker` with buffers and counts of its own. What needs the store for itself (growth,
//! degradation, snapshots) happens at safepoints, between two expansions. The frontier holds keys of the store; a `SearchStack`
//! is a path, and steps through transient states on their own until they are stable again.

mod backoff;
mod block_vec;
mod breadth_first;
mod chain;
mod checkpointer;
mod context;
mod ctl;
mod depth_first;
mod duplicates;
mod expander;
mod findings;
mod follow;
mod lasso;
mod log;
mod memory_estimate;
mod minimise;
mod nested;
mod open_set;
mod path;
mod probe;
mod pulse;
mod queue;
mod scc;
mod shared;
mod stack;
mod trace;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use entail_disk::Scratch;
use entail_model::{Fault, State, StateBuf};

pub use breadth_first::{breadth_first, resume_breadth_first};
pub use checkpointer::Checkpointer;
pub use ctl::{Answered, Witness, ctl, decide};
pub use depth_first::{depth_first, resume_depth_first};
pub use minimise::{EFFORT, minimised, turns};
pub use nested::nested;
pub use scc::scc;

/// What counts as an error, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Faults other than claims of the model.
    pub faults: bool,
    /// What the model claims: see [`FaultKind::is_claim`](entail_model::FaultKind::is_claim).
    pub assertions: bool,
    /// Stable states without a step, where the run may not end.
    pub end_states: bool,
    pub errors: Errors,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks { faults: true, assertions: true, end_states: true, errors: Errors::First }
    }
}

impl Checks {
    /// Only the answers to a claim: a proposition that cannot be evaluated, or the end of the claim.
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
    /// Stop at the first one.
    First,
    /// The same; but a breadth-first search also probes the depth now and then. That may meet an error much sooner, by a run that
    /// is not a shortest one.
    Soonest,
    /// Go on and count them all.
    All,
}

/// When to give up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// States at this depth are not expanded; each search says what its depth is.
    pub depth: Option<u64>,
    pub time: Option<Duration>,
    /// How many bytes the search may keep, in the store and beside it.
    pub memory: Option<u64>,
    /// Where a search may put what memory has no room for.
    pub scratch: Option<&'a Scratch>,
    /// Interrupts the search once it is set.
    pub stop: Option<&'a AtomicBool>,
    /// Takes a snapshot of the search periodically, and before it ends because of time or an interrupt. Only breadth-first and
    /// depth-first searches support this.
    pub keeper: Option<&'a dyn Checkpointer>,
}

impl Limits<'_> {
    /// The limit that a search has reached which began at that time: an interrupt, or time.
    fn reached(&self, began: Instant) -> Option<Limit> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Limit::Interrupted);
        }
        self.time.is_some_and(|time| began.elapsed() >= time).then_some(Limit::Time)
    }
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<S> {
    pub end: End,
    pub stats: Stats,
    /// How many errors were met. Unless [all](Errors::All) are counted, these are those of one step or state.
    pub errors: u64,
    /// The most bytes that were kept at a time, in the store and beside it.
    pub bytes: u64,
    /// The first fault that ended a run and that no check counts as an error. Such a run decides nothing.
    pub ignored_fault: Option<Fault>,
    /// Whether a probe has found the error ([`Errors::Soonest`]), so that there may be a shorter way to one.
    pub is_probed: bool,
    /// The way to the first error.
    pub counterexample: Option<Counterexample<S>>,
}

impl<S> Outcome<S> {
    /// The outcome in terms of a model that this one is built from, such as a component of a product. Only some steps are steps of
    /// that model; `start` gives its initial state.
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
        let Outcome { end, stats, errors, bytes, ignored_fault, is_probed, .. } = *self;
        Outcome { end, stats, errors, bytes, ignored_fault, is_probed, counterexample }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All there is has been explored, as far as the store can tell.
    Complete,
    /// An error was met, and one was enough.
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
    /// How many of the matched ones lay on the path that led there; only a depth-first search has one.
    pub loops: Option<u64>,
    /// Each search says what its depth is.
    pub depth: u64,
    /// How often a state was entered, if not once each: once for every question that led there.
    pub entered: Option<u64>,
    /// How many states the store has forgotten. Those that were met again are counted again.
    pub forgotten: u64,
}

impl Stats {
    /// As SPIN counts them: initial states count, steps into transient states do not.
    pub fn transitions(&self) -> u64 {
        self.stored + self.matched
    }

    /// The matched ones that are no loops.
    pub fn revisits(&self) -> Option<u64> {
        self.loops.map(|loops| self.matched - loops)
    }
}

/// A run that ends in an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample<S> {
    pub error: ErrorKind,
    /// The initial state the run starts in.
    pub start: StateBuf,
    /// All steps from there, those into and out of transient states too. The last one is the faulty one.
    pub steps: Vec<S>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// In the last step.
    Fault(Fault),
    /// After the last step.
    InvalidEnd,
    /// The run goes on forever, and is accepted: after the last step it is where it was after so many, and takes those
    /// behind them again.
    Cycle { begins: usize },
}

impl ErrorKind {
    /// How often it was met, by the one step that shows it.
    fn times(self) -> u32 {
        match self {
            ErrorKind::Fault(fault) => fault.times,
            ErrorKind::InvalidEnd | ErrorKind::Cycle { .. } => 1,
        }
    }
}
