//! CTL model checking, and the projection of counterexamples of a product to the model.

use crate::progress::Watch;
use crate::witness::{Because, Evidence, Reasons, Run};
use entail_disk::{Reader, Writer};
use entail_ir::interpret::Step;
use entail_model::{Accepting, Concurrent, Event, Fault, FaultKind, Observer, Progress, Propositional, StartingAt};
use entail_search::{Counterexample, End, ErrorKind, Limits, Outcome, decide};
use entail_store::{ExactSet, Numbers, ShortSet};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Asked, Ctl, Quantifier};
use entail_temporal::product::{Product, ProductStep};
use std::io;
use std::time::Instant;

/// The verdict on a formula, with its evidence, after a search for a run that decides it.
pub(super) fn answer_of(formula: &Ctl, outcome: Outcome<Step>) -> (Outcome<Step>, Option<Evidence<Step>>) {
    let (is_found, run) = match (&outcome.counterexample, outcome.end) {
        (
            Some(Counterexample { error: ErrorKind::Fault(Fault { kind: FaultKind::Refuted, .. }), steps, .. }),
            _,
        ) => (true, Because::Run(Run { steps: steps.clone(), cycle_start: None, stations: Vec::new(), untold: 0 })),
        // A run that ends in a fault might have decided the formula.
        (None, End::Complete) if outcome.ignored_fault.is_none() => (false, Because::NoRun),
        _ => return (outcome, None),
    };
    let holds = is_found == matches!(formula, Ctl::Runs(Quantifier::Some, _));
    let evidence = Some(Evidence { formula: formula.clone(), holds, because: run });
    let outcome = match (holds, is_found) {
        (true, _) => Outcome { errors: 0, counterexample: None, ignored_fault: None, ..outcome },
        (false, true) => outcome,
        (false, false) => Outcome { errors: 1, ..outcome },
    };
    (outcome, evidence)
}

/// Evaluates a formula in the initial states.
pub(super) struct CtlSearch<'a> {
    pub formula: &'a Ctl,
    pub asked: &'a Asked,
    pub fairness: Fairness,
    pub limits: &'a Limits<'a>,
}

impl CtlSearch<'_> {
    /// The verdict, with its evidence.
    pub fn run<M: Accepting + Propositional, S: ShortSet>(
        &self,
        model: &M,
        store: impl Fn() -> ExactSet<S>,
        observer: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Option<Evidence<M::Step>>) {
        let began = Instant::now();
        let store = || Numbers::new(store());
        let answered = decide(model, store, self.asked.both(), self.limits, observer);
        let (outcome, holds) = (answered.outcome.clone(), answered.holds);
        if holds.is_none() {
            return (outcome, None);
        }
        let mut reasons = Reasons::new(model, self.fairness, |model: &StartingAt<M>, asked: &Asked| {
            let time = self.limits.time.map(|time| time.saturating_sub(began.elapsed()));
            let limits = Limits { time, ..*self.limits };
            decide(model, store, asked.both(), &limits, &mut ())
        });
        let mut start = Vec::new();
        model.initial_states(&mut |state| start = state.to_vec());
        let evidence = reasons.by(self.formula, &start, answered);
        if holds == Some(true) {
            return (outcome, evidence);
        }
        let counterexample = evidence.as_ref().and_then(Evidence::first_run).map(|run| {
            let refuted = Fault { kind: FaultKind::Refuted, place: u32::MAX, times: 1 };
            let error = run.cycle_start.map_or(ErrorKind::Fault(refuted), |begins| ErrorKind::Cycle { begins });
            Counterexample { error, start, steps: run.steps.clone() }
        });
        (Outcome { end: End::Error, errors: 1, counterexample, ..outcome }, evidence)
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
