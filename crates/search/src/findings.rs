//! The counts and findings of a worker.

use std::ops::ControlFlow;

use entail_disk::snapshot;
use entail_model::Fault;

use crate::stack::PathStep;
use crate::{End, ErrorKind, Limits, Stats};

/// The counts and findings so far.
#[derive(Default)]
pub(crate) struct Findings {
    pub stats: Stats,
    /// The number of the state whose descendants are being explored, in the search's own numbering.
    pub origin: u64,
    pub errors: u64,
    pub first: Option<Found>,
    /// The first fault that ended a run and that no check counts as an error.
    pub ignored_fault: Option<Fault>,
    /// Whether the depth limit left states unexplored.
    is_cut: bool,
}

snapshot!(Findings { stats, origin, errors, first, ignored_fault, is_cut });

/// The first error.
pub(crate) struct Found {
    pub error: ErrorKind,
    /// The number of the state from which the error was found.
    pub origin: u64,
    /// The path from there; its last step is the faulty one.
    pub path_steps: Vec<PathStep>,
}

snapshot!(Found { error, origin, path_steps });

impl Findings {
    /// Whether the depth limit permits expanding states at this depth. Records the depth as reached.
    #[inline]
    pub fn may_expand(&mut self, depth: u64, limits: &Limits) -> bool {
        self.stats.depth = self.stats.depth.max(depth);
        let may = limits.depth.is_none_or(|limit| depth < limit);
        self.is_cut |= !may;
        may
    }

    pub fn add_error(&mut self, error: ErrorKind, times: u32, path_steps: impl FnOnce() -> Vec<PathStep>) {
        self.errors += u64::from(times);
        let origin = self.origin;
        self.first.get_or_insert_with(|| Found { error, origin, path_steps: path_steps() });
    }

    /// Why the search ended.
    pub fn end(&self, explored: ControlFlow<End>) -> End {
        match explored {
            ControlFlow::Break(end) => end,
            ControlFlow::Continue(()) if self.is_cut => End::Limit(crate::Limit::Depth),
            ControlFlow::Continue(()) => End::Complete,
        }
    }
}
