//! A search that there was no time to get ready for.

use super::{Algorithm, Done, Goal, Plan, Unreduced, Way};
use crate::args::Search;
use entail_model::Guarantee;
use entail_search::{End, Limit, Outcome, Stats};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

impl Plan {
    /// What is known if there was no time for more than to get ready.
    pub(super) fn unsearched(&self, goal: Goal, began: Instant, stop: &AtomicBool) -> Done {
        let limit = if stop.load(Ordering::Relaxed) { Limit::Interrupted } else { Limit::Time };
        Done {
            outcome: Outcome {
                end: End::Limit(limit),
                stats: Stats::default(),
                errors: 0,
                bytes: 0,
                ignored_fault: None,
                is_probed: false,
                counterexample: None,
            },
            watched: None,
            store: self.store_for(goal, &self.way(goal)),
            rungs: Vec::new(),
            no_files: None,
            guarantee: Guarantee::Exact,
            backend: self.backend,
            fallback: None,
            memory: self.memory_now(),
            compile: began.elapsed(),
            search: Duration::ZERO,
            state_bits: 0,
            algorithm: self.algorithm_for(&self.way(goal)),
            ever: 0,
            crowded: None,
            evidence: None,
            reduction: Err(Unreduced::NotWished),
            fairness: goal.fairness(self.fairness),
            seed: self.seed,
            swarm: None,
            unread: Vec::new(),
        }
    }

    fn algorithm_for(&self, way: &Way) -> Algorithm {
        match (way, self.search) {
            (Way::States | Way::Beginnings(_), Search::BreadthFirst) => Algorithm::BreadthFirst,
            (Way::States | Way::Beginnings(_), Search::DepthFirst | Search::Nested) => Algorithm::DepthFirst,
            (Way::Runs(_), Search::BreadthFirst | Search::DepthFirst) => Algorithm::Components,
            (Way::Runs(_), Search::Nested) => Algorithm::Nested,
            (Way::Questions(..), _) => Algorithm::Branching,
        }
    }
}
