//! CTL model checking: the verdict on a formula, with its evidence.

use crate::witness::{Because, Evidence, Reasons, Run};
use entail_ir::interpret::Step;
use entail_model::{Accepting, Fault, FaultKind, Observer, Propositional, StartingAt};
use entail_search::{Counterexample, End, ErrorKind, Limits, Outcome, decide};
use entail_store::{ExactSet, NumberMap, ShortStateSet};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Asked, Ctl, Quantifier};
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
    pub fn run<M: Accepting + Propositional, S: ShortStateSet>(
        &self,
        model: &M,
        store: impl Fn() -> ExactSet<S>,
        observer: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Option<Evidence<M::Step>>) {
        let began = Instant::now();
        let store = || NumberMap::new(store());
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
