//! Searches of the product of a model and a claim, with their counterexamples projected to the model.

use super::ctl::CtlSearch;
use super::kind::SearchKind;
use super::store::StoreOutcome;
use super::{Plan, Task};
use crate::keep::Before;
use crate::progress::Watch;
use crate::report::Searched;
use entail_disk::{Reader, Restore, Writer};
use entail_ir::interpret::Step;
use entail_model::{Concurrent, Event, Observer, Progress, Propositional};
use entail_search::{Checkpointer, Checks, ErrorKind, Errors, Limits, Outcome};
use entail_store::{ExactPairSet, ExactWordSet};
use entail_temporal::product::{Product, ProductStep};
use entail_temporal::{Claim, Fairness};
use std::io;

impl Plan {
    /// Searches the product of a model and a claim. States of the model have this many bits.
    pub(super) fn search_product<M: Propositional<Step = Step> + Concurrent>(
        &self,
        model: &M,
        claim: &Claim,
        bits: u32,
        task: Task,
        watch: &mut Watch,
        mut saved: Option<Reader>,
    ) -> io::Result<Searched> {
        let Task { kind, limits, .. } = task;
        // Fairness concerns only infinite runs.
        let fairness = match kind {
            SearchKind::Reachability | SearchKind::SafetyClaim(_) => Fairness::None,
            SearchKind::Liveness(_) | SearchKind::Ctl(..) => self.config.fair,
        };
        let mut product = Product::new(model, claim, fairness);
        if let Some(from) = &mut saved {
            product.restore(from)?;
        }
        let keep = |to: &mut Writer| product.save(to);
        let before = limits.keeper.map(|keeper| Before { part: &keep, keeper });
        let limits = &Limits { keeper: before.as_ref().map(|before| before as &dyn Checkpointer), ..*limits };
        // If the automaton's state does not fit into the first word, keys have two words.
        let bits = product.bits().unwrap_or(bits + u64::BITS);
        let watch = &mut OfModel(watch);
        let mut evidence = None;
        let (outcome, stored) = match kind {
            SearchKind::Reachability | SearchKind::SafetyClaim(_) => {
                let checks = &Checks { errors: self.errors_of_claims(), ..Checks::OF_CLAIMS };
                let task = Task { checks, limits, ..task };
                self.explore(&product, bits, task, watch, saved)?
            }
            SearchKind::Liveness(_) => {
                let order = self.config.search();
                let outcome = match bits {
                    64..128 => order.find_accepting_run(&product, ExactPairSet::new(), limits, watch),
                    _ => order.find_accepting_run(&product, ExactWordSet::new(bits), limits, watch),
                };
                (outcome, StoreOutcome::EXACT)
            }
            SearchKind::Ctl(formula, asked) => {
                let search = CtlSearch { formula, asked, fairness, limits };
                let (outcome, reasons) = match bits {
                    64..128 => search.run(&product, ExactPairSet::new, watch),
                    _ => search.run(&product, || ExactWordSet::new(bits), watch),
                };
                evidence = reasons.map(|reasons| reasons.map(|one| one.step));
                (outcome, StoreOutcome::EXACT)
            }
        };
        let (outcome, watched) = of_model(&product, outcome);
        Ok(Searched {
            watched,
            process_limit: product.is_crowded().then(|| product.most_processes()),
            propositions_seen: product.ever(),
            evidence,
            ..self.searched(outcome, stored, kind)
        })
    }

    /// A search for a claim ends at its first error.
    fn errors_of_claims(&self) -> Errors {
        match self.checks.errors {
            Errors::Soonest => Errors::Soonest,
            Errors::First | Errors::All => Errors::First,
        }
    }
}

/// Projects the events of a product to the model.
pub(super) struct OfModel<'w, 's>(pub &'w mut Watch<'s>);

impl Observer<ProductStep<Step>> for OfModel<'_, '_> {
    fn stepped(&mut self, step: ProductStep<Step>) {
        if let Some(step) = step.step {
            self.0.stepped(step);
        }
    }

    fn progress(&mut self, progress: Progress) {
        self.0.progress(progress);
    }

    fn listens(&self) -> bool {
        self.0.listens()
    }

    fn happened(&mut self, event: Event<ProductStep<Step>>) {
        self.0.happened(event.of(|step| step.step));
    }

    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.0.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.0.restore(from)
    }
}

/// A run of the product of model and claim.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The steps. Edges of the claim's automaton are numbered state by state.
    pub moves: Vec<ProductStep<Step>>,
    /// The number of moves before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
}

/// The outcome of a search of a product, projected to the model, and the run of the product.
pub(super) fn of_model<M: Propositional<Step = Step> + Concurrent>(
    product: &Product<M>,
    outcome: Outcome<ProductStep<Step>>,
) -> (Outcome<Step>, Option<Watched>) {
    let of_model = outcome.projected(|one| one.step, |state| product.model_state(state));
    let watched = outcome.counterexample.map(|found| Watched {
        cycle_start: match found.error {
            ErrorKind::Cycle { begins } => Some(begins),
            ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
        },
        moves: found.steps,
    });
    (of_model, watched)
}
