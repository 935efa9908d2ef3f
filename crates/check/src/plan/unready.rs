//! A search that there was no time to get ready for.

use super::{Algorithm, Goal, Plan, SearchKind, Unreduced};
use crate::config::Search;
use crate::report::Searched;
use entail_ir::interpret::Step;
use entail_model::Guarantee;
use entail_search::{End, Limit, Outcome, Stats};
use entail_temporal::Fairness;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

impl Plan {
    /// What is known if there was no time for more than to get ready.
    pub(super) fn unsearched(&self, goal: Goal, began: Instant, stop: &AtomicBool) -> Searched {
        let limit = if stop.load(Ordering::Relaxed) { Limit::Interrupted } else { Limit::Time };
        let outcome = Outcome {
            end: End::Limit(limit),
            stats: Stats::default(),
            errors: 0,
            bytes: 0,
            ignored_fault: None,
            is_probed: false,
            counterexample: None,
        };
        let way = self.way(goal);
        Searched {
            store: self.store_for(goal, &way),
            compile: began.elapsed(),
            fairness: goal.fairness(self.config.fair),
            ..self.searched(outcome, self.algorithm_for(&way))
        }
    }

    /// What a search has found, before it is known how it went.
    pub(super) fn searched(&self, outcome: Outcome<Step>, algorithm: Algorithm) -> Searched {
        Searched {
            outcome,
            watched: None,
            ever: 0,
            crowded: None,
            evidence: None,
            memory: self.memory_now(),
            no_files: None,
            seed: self.config.seed,
            counterexample: None,
            argument: None,
            cut_short: None,
            store: self.config.store,
            levels: Vec::new(),
            guarantee: Guarantee::Exact,
            backend: self.config.backend,
            fallback: None,
            read: Duration::ZERO,
            compile: Duration::ZERO,
            search: Duration::ZERO,
            total: Duration::ZERO,
            peak_bytes: None,
            state_bytes: 0,
            state_bits: 0,
            algorithm,
            fairness: Fairness::None,
            reduction: Err(Unreduced::NotWished),
            swarm: None,
            unread: Vec::new(),
            checkpoint: None,
        }
    }

    fn algorithm_for(&self, way: &SearchKind) -> Algorithm {
        match (way, self.config.search()) {
            (SearchKind::Reachability | SearchKind::SafetyClaim(_), Search::BreadthFirst) => {
                Algorithm::BreadthFirst
            }
            (SearchKind::Reachability | SearchKind::SafetyClaim(_), Search::DepthFirst | Search::Nested) => {
                Algorithm::DepthFirst
            }
            (SearchKind::Liveness(_), Search::BreadthFirst | Search::DepthFirst) => Algorithm::Components,
            (SearchKind::Liveness(_), Search::Nested) => Algorithm::Nested,
            (SearchKind::Ctl(..), _) => Algorithm::Branching,
        }
    }
}
