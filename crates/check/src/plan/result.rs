//! The result of a search, as far as the plan knows it.

use super::kind::SearchKind;
use super::store::StoreOutcome;
use super::{Goal, Plan, Unreduced};
use crate::report::Searched;
use entail_ir::interpret::Step;
use entail_search::{End, Limit, Outcome, Stats};
use entail_temporal::Fairness;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

impl Plan {
    /// The result if the time limit was reached before the search.
    pub(super) fn unsearched(&self, goal: Goal, began: Instant, stop: &AtomicBool) -> Searched {
        let limit = if stop.load(Ordering::Relaxed) { Limit::Interrupted } else { Limit::Time };
        let outcome = Outcome {
            end: End::Limit(limit),
            stats: Stats::default(),
            errors: 0,
            bytes: 0,
            ignored_fault: None,
            workers: 1,
            no_threads: None,
            phases: None,
            is_probed: false,
            counterexample: None,
        };
        let kind = self.search_kind(goal);
        Searched {
            store: self.store_for(goal, &kind),
            compile: began.elapsed(),
            fairness: goal.fairness(self.config.fair),
            ..self.searched(outcome, StoreOutcome::EXACT, &kind)
        }
    }

    /// The result of a search, with defaults for details that the caller sets.
    pub(super) fn searched(&self, outcome: Outcome<Step>, stored: StoreOutcome, kind: &SearchKind) -> Searched {
        Searched {
            outcome,
            watched: None,
            propositions_seen: 0,
            process_limit: None,
            evidence: None,
            memory: self.memory_now(),
            no_files: None,
            seed: self.config.seed,
            counterexample: None,
            argument: None,
            cut_short: None,
            store: self.config.store,
            levels: stored.levels,
            guarantee: stored.guarantee,
            backend: self.config.backend,
            fallback: None,
            read: Duration::ZERO,
            compile: Duration::ZERO,
            search: Duration::ZERO,
            total: Duration::ZERO,
            peak_bytes: None,
            state_bytes: 0,
            state_bits: 0,
            algorithm: self.algorithm_for(kind),
            fairness: Fairness::None,
            reduction: Err(Unreduced::NotRequested),
            swarm: None,
            unread: Vec::new(),
            checkpoint: None,
        }
    }
}
