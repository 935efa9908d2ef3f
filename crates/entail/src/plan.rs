//! From options to a search: the only place that names combinations of model, search and store.

use crate::args::{Backend, CheckArgs, Reduction, Search, Store};
use crate::machine;
use crate::progress::Watch;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Guarantee, Store as _};
use entail_search::{Checks, Errors, Limits, Outcome, breadth_first, depth_first};
use entail_store::Exact;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How a model is to be searched, and for what.
#[derive(Clone, Debug)]
pub struct Plan {
    pub search: Search,
    pub store: Store,
    pub reduction: Reduction,
    pub backend: Backend,
    pub threads: u32,
    /// Whether the model is changed before it is searched.
    pub optimised: bool,
    pub checks: Checks,
    pub memory: Memory,
    pub depth: Option<u64>,
    pub time: Option<Duration>,
}

/// How many bytes the visited states may take.
#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// As somebody wished.
    Given(u64),
    /// As much as the machine can spare.
    Spare(u64),
}

/// What the store was like in the end.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    pub guarantee: Guarantee,
    pub states: u64,
    pub bytes: u64,
}

impl Plan {
    pub fn of(args: &CheckArgs) -> Plan {
        let errors = if args.what.all_errors { Errors::All } else { Errors::First };
        Plan {
            search: args.how.search,
            store: args.how.store,
            reduction: args.how.reduce,
            backend: args.how.backend,
            threads: args.how.threads,
            // Nothing is optimised yet, so `--no-opt` has nothing to forbid.
            optimised: false,
            checks: Checks { assertions: !args.what.no_assert, end_states: !args.what.no_end, errors },
            memory: args.limits.memory.map_or_else(|| Memory::Spare(machine::spare_memory()), Memory::Given),
            depth: args.limits.depth,
            time: args.limits.time,
        }
    }

    pub fn run(&self, model: &Interpreter, stop: &AtomicBool, watch: &mut Watch) -> (Outcome<Step>, Stored) {
        let limits = Limits { depth: self.depth, time: self.time, stop: Some(stop) };
        let Plan { reduction: Reduction::None, backend: Backend::Interpret, .. } = self;
        let mut store = match self.store {
            Store::Exact => Exact::with_limit(self.memory.bytes()),
        };
        let outcome = match self.search {
            Search::BreadthFirst => breadth_first(model, &mut store, &self.checks, &limits, watch),
            Search::DepthFirst => depth_first(model, &mut store, &self.checks, &limits, watch),
        };
        (outcome, Stored { guarantee: store.guarantee(), states: store.len(), bytes: store.bytes() })
    }
}

impl Memory {
    pub fn bytes(self) -> u64 {
        match self {
            Memory::Given(bytes) | Memory::Spare(bytes) => bytes,
        }
    }
}
