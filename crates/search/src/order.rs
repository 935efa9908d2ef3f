//! The search orders that a user can choose: their names, their properties and their algorithms.

use std::io;

use entail_disk::Reader;
use entail_model::{Accepting, LosslessStore, Model, Observer, Shuffled, StateKey, Store, named};

use crate::{
    Checks, Limits, Outcome, breadth_first, depth_first, nested, resume_breadth_first, resume_depth_first,
    scc_by_workers,
};

/// The search order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// Breadth-first search: counterexamples are as short as possible. Accepting cycles are found by an SCC search.
    #[default]
    BreadthFirst,
    /// Depth-first search. Accepting cycles are found by an SCC search.
    DepthFirst,
    /// Depth-first search, with a nested depth-first search for accepting cycles. Does not support fairness.
    Nested,
}

/// The search algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Breadth-first search.
    BreadthFirst,
    /// Depth-first search.
    DepthFirst,
    /// SCC search for accepting cycles.
    Scc,
    /// Nested depth-first search for accepting cycles.
    Nested,
    /// CTL model checking, subformula by subformula.
    Ctl,
}

named!(SearchOrder { "bfs" => BreadthFirst, "dfs" => DepthFirst, "nested" => Nested });
named!(Algorithm { "bfs" => BreadthFirst, "dfs" => DepthFirst, "components" => Scc, "nested" => Nested,
    "branching" => Ctl });

/// How a search of all states starts.
#[derive(Default)]
pub struct Start<'a> {
    /// The seed of the order of steps, if the algorithm shuffles them; 0 keeps the model's order.
    pub seed: u64,
    /// The snapshot to resume from.
    pub saved: Option<Reader<'a>>,
}

impl SearchOrder {
    /// The algorithm of [`SearchOrder::explore`].
    pub const fn exploration(self) -> Algorithm {
        match self {
            SearchOrder::BreadthFirst => Algorithm::BreadthFirst,
            SearchOrder::DepthFirst | SearchOrder::Nested => Algorithm::DepthFirst,
        }
    }

    /// The algorithm of [`SearchOrder::find_accepting_run`].
    pub const fn cycle_search(self) -> Algorithm {
        match self {
            SearchOrder::BreadthFirst | SearchOrder::DepthFirst => Algorithm::Scc,
            SearchOrder::Nested => Algorithm::Nested,
        }
    }

    /// Whether states are explored in the order of their distance from the initial states. Then most of the frontier
    /// can be spilled, and the search can tell whether a successor is still in its queue.
    pub fn is_breadth_first(self) -> bool {
        self.exploration() == Algorithm::BreadthFirst
    }

    /// Whether the search for accepting runs supports several acceptance conditions, and so fairness.
    pub const fn is_generalised(self) -> bool {
        match self {
            SearchOrder::BreadthFirst | SearchOrder::DepthFirst => true,
            SearchOrder::Nested => false,
        }
    }

    /// Explores all states in this order. Fails only if it cannot be resumed.
    pub fn explore<M: Model, K: StateKey>(
        self,
        model: &M,
        store: &mut dyn Store<Key = K>,
        checks: &Checks,
        limits: &Limits,
        observer: &mut impl Observer<M::Step>,
        Start { seed, saved }: Start,
    ) -> io::Result<Outcome<M::Step>> {
        match (self, saved) {
            (SearchOrder::BreadthFirst, Some(from)) => {
                resume_breadth_first(model, store, checks, limits, observer, from)
            }
            (SearchOrder::BreadthFirst, None) => Ok(breadth_first(model, store, checks, limits, observer)),
            (SearchOrder::DepthFirst | SearchOrder::Nested, Some(from)) => {
                resume_depth_first(&Shuffled { model, seed }, store, checks, limits, observer, from)
            }
            (SearchOrder::DepthFirst | SearchOrder::Nested, None) => {
                Ok(depth_first(&Shuffled { model, seed }, store, checks, limits, observer))
            }
        }
    }

    /// Searches for an accepted infinite run of `model`, a counterexample. Unless the order
    /// [is generalised](SearchOrder::is_generalised), the model must have at most one acceptance set and no requests.
    pub fn find_accepting_run<M: Accepting>(
        self,
        model: &M,
        mut store: impl LosslessStore,
        limits: &Limits,
        observer: &mut impl Observer<M::Step>,
    ) -> Outcome<M::Step> {
        match self {
            SearchOrder::BreadthFirst | SearchOrder::DepthFirst => scc_by_workers(model, store, limits, observer),
            SearchOrder::Nested => {
                let mut inner = store.key_set();
                nested(model, &mut store, &mut inner, limits, observer)
            }
        }
    }
}

impl Algorithm {
    /// The name in reports for people.
    pub const fn title(self) -> &'static str {
        match self {
            Algorithm::BreadthFirst => "breadth-first search",
            Algorithm::DepthFirst => "depth-first search",
            Algorithm::Scc => "SCC search",
            Algorithm::Nested => "nested depth-first search",
            Algorithm::Ctl => "CTL search by subformulas",
        }
    }
}
