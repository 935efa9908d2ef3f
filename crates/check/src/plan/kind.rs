//! The kind of search that a goal needs, and what may be combined with it: passes, a reduction, a store.

use super::{Goal, Plan, Unreduced};
use crate::config::{Reduction, Store};
use entail_engine::ReductionMode;
use entail_ir::stubborn::{Proviso, Rule};
use entail_ir::{Interpreter, Passes};
use entail_search::Algorithm;
use entail_temporal::ctl::{Asked, Ctl};
use entail_temporal::{self as temporal, Claim, Fairness, Formulas, translate};

/// The kind of a search.
pub(super) enum SearchKind<'a> {
    /// Visits all reachable states and steps.
    Reachability,
    /// Visits the product with a claim that accepts bad prefixes.
    SafetyClaim(Claim),
    /// Searches for infinite runs that a claim accepts.
    Liveness(Claim),
    /// Evaluates a CTL formula by subformulas.
    Ctl(&'a Ctl, &'a Asked),
}

impl SearchKind<'_> {
    /// Whether a lossy search still gives a result.
    pub fn may_lose(&self, goal: Goal) -> bool {
        match (goal, self) {
            (
                Goal::Safety | Goal::Trace | Goal::Claim(_),
                SearchKind::Reachability | SearchKind::SafetyClaim(_),
            ) => true,
            (Goal::Ctl(..), _) | (_, SearchKind::Liveness(_) | SearchKind::Ctl(..)) => false,
        }
    }

    /// The claim in the product, if there is one.
    pub fn claim(&self) -> Option<Claim> {
        match self {
            SearchKind::Reachability => None,
            SearchKind::SafetyClaim(claim) | SearchKind::Liveness(claim) => Some(claim.clone()),
            // Accepts all fair runs.
            SearchKind::Ctl(..) => Some(Claim::anything()),
        }
    }

    /// A text that determines the state space and the property; or the reason why the search cannot be saved.
    pub fn identity(&self, interpreter: &Interpreter) -> Result<String, String> {
        let claim = match self {
            SearchKind::Reachability => String::new(),
            SearchKind::SafetyClaim(claim) => format!("{claim:?}"),
            SearchKind::Liveness(_) | SearchKind::Ctl(..) => {
                let kinds = "only searches for safety properties can be saved";
                return Err(format!("{kinds}; leave out `--checkpoint`"));
            }
        };
        Ok(entail_ir::text::print(interpreter.system()) + &claim)
    }
}

impl Plan {
    /// The kind of search for a goal.
    pub(super) fn search_kind<'a>(&self, goal: Goal<'a>) -> SearchKind<'a> {
        match goal {
            Goal::Safety | Goal::Trace => SearchKind::Reachability,
            Goal::Claim(claim) => {
                let claim = self.prepare_search(claim);
                if claim.is_safety() { SearchKind::SafetyClaim(claim) } else { SearchKind::Liveness(claim) }
            }
            Goal::Ctl(formula, asked) => {
                let mut formulas = Formulas::default();
                let limits = temporal::Limits::default();
                let decides = formula.deciding(&mut formulas);
                let automaton = decides.and_then(|runs| translate(&mut formulas, runs, limits).ok());
                let claim = automaton.map(|automaton| self.prepare_search(&Claim::new(automaton)));
                let claim = claim.filter(Claim::is_safety);
                claim.map_or(SearchKind::Ctl(formula, asked), SearchKind::SafetyClaim)
            }
        }
    }

    /// The claim with bad prefixes as errors, where fairness permits.
    fn prepare_search(&self, claim: &Claim) -> Claim {
        if self.config.fair.is_realizable() { claim.with_bad_prefixes() } else { claim.clone() }
    }

    /// The search algorithm.
    pub(super) fn algorithm_for(&self, kind: &SearchKind) -> Algorithm {
        match kind {
            SearchKind::Reachability | SearchKind::SafetyClaim(_) => self.config.search().exploration(),
            SearchKind::Liveness(_) => self.config.search().cycle_search(),
            SearchKind::Ctl(..) => Algorithm::Ctl,
        }
    }

    /// The passes that preserve the goal.
    pub(super) fn passes_for(&self, goal: Goal) -> Passes {
        let merge = match goal {
            // A monitor observes every message.
            Goal::Trace => return Passes::NONE,
            Goal::Safety => true,
            Goal::Claim(claim) => claim.is_stutter_invariant,
            // Passes may merge states of different components.
            Goal::Ctl(..) if self.config.fair == Fairness::Component => return Passes::NONE,
            // Merging changes the branching structure: a process would choose before others can move.
            Goal::Ctl(..) => false,
        };
        let passes = self.config.passes();
        Passes { merge: passes.merge && merge, ..passes }
    }

    /// The store for the search. Liveness and CTL need an exact store, which also holds data for each state.
    pub(super) fn store_for(&self, goal: Goal, kind: &SearchKind) -> Store {
        match (goal, kind) {
            (_, SearchKind::Liveness(_) | SearchKind::Ctl(..)) => Store::Exact,
            (Goal::Ctl(..), SearchKind::Reachability | SearchKind::SafetyClaim(_))
                if self.config.store.is_lossy() =>
            {
                Store::Exact
            }
            (_, SearchKind::Reachability | SearchKind::SafetyClaim(_)) => self.config.store,
        }
    }

    /// The rule for reduced sets of steps, or why reduction does not apply.
    pub(super) fn rule(&self, kind: &SearchKind) -> Result<Rule, Unreduced> {
        let rule = match self.config.reduction() {
            Reduction::IfWorthIt | Reduction::Stubborn => Rule::AnySet,
            Reduction::Ample => Rule::OneProcess,
            Reduction::None => return Err(Unreduced::NotRequested),
        };
        match kind {
            SearchKind::Reachability => Ok(rule),
            SearchKind::SafetyClaim(claim) | SearchKind::Liveness(claim) => {
                if matches!(kind, SearchKind::Liveness(_)) && self.config.fair != Fairness::None {
                    Err(Unreduced::Fairness)
                } else if !claim.is_stutter_invariant {
                    Err(Unreduced::NotStutterInvariant)
                } else {
                    Ok(rule)
                }
            }
            SearchKind::Ctl(..) => Err(Unreduced::Ctl),
        }
    }

    pub(super) fn reduction_mode(&self) -> ReductionMode {
        match self.config.reduction() {
            Reduction::IfWorthIt => ReductionMode::Auto,
            Reduction::Stubborn | Reduction::Ample | Reduction::None => ReductionMode::Always,
        }
    }

    /// The provisos against the ignoring problem. A breadth-first search can check its queue; other searches solve
    /// the problem statically.
    pub(super) fn provisos(&self, kind: &SearchKind) -> &'static [Proviso] {
        match kind {
            SearchKind::Reachability if self.config.search().is_breadth_first() => {
                &[Proviso::Search, Proviso::Automata]
            }
            SearchKind::Reachability
            | SearchKind::SafetyClaim(_)
            | SearchKind::Liveness(_)
            | SearchKind::Ctl(..) => &[Proviso::Automata],
        }
    }
}
