//! What a worker counts and finds.

use std::ops::ControlFlow;

use entail_disk::snapshot;
use entail_model::Fault;

use crate::stack::Turn;
use crate::{End, ErrorKind, Limits, Stats};

/// What a worker has counted and found so far.
#[derive(Default)]
pub(crate) struct Findings {
    pub stats: Stats,
    /// The state whose descent is explored at present, in the search's own numbering.
    pub origin: u64,
    pub errors: u64,
    pub first: Option<Found>,
    /// The first fault that ended a run and is no error.
    pub ignored_fault: Option<Fault>,
    /// Whether something was left unexplored because it lies too deep.
    is_cut: bool,
}

snapshot!(Findings { stats, origin, errors, first, ignored_fault, is_cut });

/// The first error.
pub(crate) struct Found {
    pub error: ErrorKind,
    /// The state whose descent met it.
    pub origin: u64,
    /// The turns made from there; the last one is the faulty one.
    pub turns: Vec<Turn>,
}

snapshot!(Found { error, origin, turns });

impl Findings {
    /// Whether states at this depth, which has been reached, are to be expanded.
    #[inline]
    pub fn may_expand(&mut self, depth: u64, limits: &Limits) -> bool {
        self.stats.depth = self.stats.depth.max(depth);
        let may = limits.depth.is_none_or(|limit| depth < limit);
        self.is_cut |= !may;
        may
    }

    pub fn add_error(&mut self, error: ErrorKind, times: u32, turns: impl FnOnce() -> Vec<Turn>) {
        self.errors += u64::from(times);
        let origin = self.origin;
        self.first.get_or_insert_with(|| Found { error, origin, turns: turns() });
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
