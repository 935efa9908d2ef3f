//! Tree-like witnesses and counterexamples for CTL formulas.
//!
//! A run shows that an existential formula holds or that a universal one fails. Subformulas in its states may need
//! further runs, which begin in those states. Only the whole search shows that an existential formula fails or that a
//! universal one holds.

mod argument;
pub mod dot;
#[cfg(test)]
mod tests;

pub use argument::{Argument, Explainer, ShownRun};

use entail_model::{Accepting, Model, Propositional, StartingAt, State, StateBuf};
use entail_search::{Answered, Witness};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Asked, Ctl, Path, Quantifier};

/// The reason why a formula is true or false in a state.
#[derive(Clone, Debug)]
pub struct Evidence<S> {
    pub formula: Ctl,
    pub holds: bool,
    pub because: Because<S>,
}

#[derive(Clone, Debug)]
pub enum Because<S> {
    /// The formula is a proposition.
    State,
    /// These subformulas, evaluated in the same state.
    Parts(Vec<Evidence<S>>),
    /// This run satisfies or violates the path formula.
    Run(Run<S>),
    /// There is no such run.
    NoRun,
}

#[derive(Clone, Debug)]
pub struct Run<S> {
    pub steps: Vec<S>,
    /// The number of steps before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// Evidence for subformulas, each with the number of steps before its state.
    pub stations: Vec<(usize, Evidence<S>)>,
    /// The number of further states whose evidence is omitted or unavailable.
    pub untold: usize,
}

/// The maximum number of runs for one formula: more would be unreadable, and each may take a search.
const MOST_RUNS: usize = 12;
/// The number of states of a run for which the same subformula is shown.
const MOST_ALONG: usize = 3;

/// Builds witnesses.
pub struct Reasons<'m, M, A> {
    model: &'m M,
    fairness: Fairness,
    /// Evaluates a path formula in a state.
    ask: A,
    left: usize,
}

impl<'m, M, A> Reasons<'m, M, A>
where
    M: Accepting + Propositional,
    A: FnMut(&StartingAt<M>, &Asked) -> Answered<M::Step>,
{
    pub fn new(model: &'m M, fairness: Fairness, ask: A) -> Self {
        Reasons { model, fairness, ask, left: MOST_RUNS }
    }

    /// Why a formula is true or false in a state; `None` if a limit is reached.
    pub fn of(&mut self, formula: &Ctl, state: &State) -> Option<Evidence<M::Step>> {
        if let Ctl::Runs(..) = formula {
            self.left = self.left.checked_sub(1)?;
            let asked = Asked::of(formula, self.fairness)?;
            let answered = (self.ask)(&StartingAt { model: self.model, state }, &asked);
            return self.by(formula, state, answered);
        }
        self.without_runs(formula, state)
    }

    /// The same if the truth value of the formula itself is known.
    pub fn by(&mut self, formula: &Ctl, state: &State, answered: Answered<M::Step>) -> Option<Evidence<M::Step>> {
        let Ctl::Runs(quantifier, path) = formula else { return self.without_runs(formula, state) };
        let holds = answered.holds?;
        let because = match (quantifier, holds) {
            (Quantifier::Some, true) | (Quantifier::All, false) => {
                Because::Run(self.run(path, holds, state, answered.witness?))
            }
            (Quantifier::Some, false) | (Quantifier::All, true) => Because::NoRun,
        };
        Some(Evidence { formula: formula.clone(), holds, because })
    }

    fn without_runs(&mut self, formula: &Ctl, state: &State) -> Option<Evidence<M::Step>> {
        let evidence = |holds, because| Some(Evidence { formula: formula.clone(), holds, because });
        if formula.is_of_state() {
            return evidence(self.is_true(formula, state), Because::State);
        }
        match formula {
            Ctl::Const(_) | Ctl::Proposition(_) | Ctl::Runs(..) => None,
            Ctl::Not(operand) => {
                let operand = self.of(operand, state)?;
                evidence(!operand.holds, Because::Parts(vec![operand]))
            }
            Ctl::And(left, right) => self.decide(formula, [(left, false), (right, false)], false, state),
            Ctl::Or(left, right) => self.decide(formula, [(left, true), (right, true)], true, state),
            Ctl::Implies(left, right) => self.decide(formula, [(left, false), (right, true)], true, state),
            Ctl::Equivalent(left, right) => {
                let (left, right) = (self.of(left, state)?, self.of(right, state)?);
                evidence(left.holds == right.holds, Because::Parts(vec![left, right]))
            }
        }
    }

    /// If one operand alone makes the formula `so`, it is the reason; otherwise both operands are.
    fn decide(
        &mut self,
        formula: &Ctl,
        sides: [(&Ctl, bool); 2],
        so: bool,
        state: &State,
    ) -> Option<Evidence<M::Step>> {
        let mut parts = Vec::new();
        let by_effort = if sides[1].0.is_of_state() { [1, 0] } else { [0, 1] };
        for (side, enough) in by_effort.map(|side| sides[side]) {
            // One operand may suffice even if the other is unknown.
            let Some(part) = self.of(side, state) else { continue };
            if part.holds == enough {
                return Some(Evidence { formula: formula.clone(), holds: so, because: Because::Parts(vec![part]) });
            }
            parts.push(part);
        }
        let is_known = parts.len() == sides.len();
        is_known.then(|| Evidence { formula: formula.clone(), holds: !so, because: Because::Parts(parts) })
    }

    /// The truth value of a proposition.
    fn is_true(&self, formula: &Ctl, state: &State) -> bool {
        let valuation = self.model.valuation(state, &mut M::Scratch::default());
        formula.is_true(valuation.holds)
    }

    /// The evidence of a run that satisfies or violates a path formula.
    fn run(&mut self, path: &Path, holds: bool, state: &State, witness: Witness<M::Step>) -> Run<M::Step> {
        let Witness { steps, cycle_start } = witness;
        let states = stable_states(self.model, state, &steps);
        let (shown, last) = (shown(path, holds, cycle_start.is_some()), states.len() - 1);
        let mut run = Run { steps, cycle_start, stations: Vec::new(), untold: 0 };
        for formula in shown.along.into_iter().filter(|formula| !formula.is_of_state()) {
            // The last state of a lasso is the first state of its cycle.
            let mut told = 0;
            for (after, state) in &states[..last] {
                let evidence = if told < MOST_ALONG { self.of(formula, state) } else { None };
                run.untold += usize::from(evidence.is_none());
                told += usize::from(evidence.is_some());
                run.stations.extend(evidence.map(|evidence| (*after, evidence)));
            }
        }
        for formula in shown.last.into_iter().filter(|formula| !formula.is_of_state()) {
            let (after, state) = &states[last];
            let evidence = self.of(formula, state);
            run.untold += usize::from(evidence.is_none());
            run.stations.extend(evidence.map(|evidence| (*after, evidence)));
        }
        run
    }
}

/// The stable states of a run, each with the number of steps before it.
fn stable_states<M: Model>(model: &M, start: &State, steps: &[M::Step]) -> Vec<(usize, StateBuf)> {
    let (mut state, mut states) = (start.to_vec(), vec![(0, start.to_vec())]);
    for (after, &step) in (1..).zip(steps) {
        let _ = model.fire(step, &mut state);
        if !model.is_transient(&state) {
            states.push((after, state.clone()));
        }
    }
    states
}

/// The subformulas that need evidence on a run.
pub struct Shown<'f> {
    /// In all states, but in the last one only if the run is a lasso.
    pub along: Option<&'f Ctl>,
    /// In the last state of a finite run.
    pub last: Vec<&'f Ctl>,
}

/// The subformulas that show why a run, a lasso or finite, satisfies or violates the path formula.
pub fn shown(path: &Path, holds: bool, goes_round: bool) -> Shown<'_> {
    let (along, last) = match (path, holds) {
        (Path::Next(operand), _) | (Path::Always(operand), false) | (Path::Eventually(operand), true) => {
            (None, vec![operand])
        }
        (Path::Always(operand), true) | (Path::Eventually(operand), false) => (Some(operand), vec![]),
        (Path::Until(left, right) | Path::WeakUntil(left, right), true) => (Some(left), vec![right]),
        (Path::Until(left, right) | Path::WeakUntil(left, right), false) => (Some(right), vec![left, right]),
        (Path::Release(left, right), true) => (Some(right), vec![left, right]),
        (Path::Release(left, right), false) => (Some(left), vec![right]),
    };
    Shown { along, last: if goes_round { Vec::new() } else { last } }
}

impl<S: Copy> Evidence<S> {
    /// Maps the steps; `None` removes a step.
    pub fn map<T: Copy>(self, step: impl Fn(S) -> Option<T> + Copy) -> Evidence<T> {
        let because = match self.because {
            Because::State => Because::State,
            Because::NoRun => Because::NoRun,
            Because::Parts(parts) => Because::Parts(parts.into_iter().map(|part| part.map(step)).collect()),
            Because::Run(Run { steps, cycle_start, stations, untold }) => {
                let so_far = |count: usize| steps[..count].iter().filter_map(|&one| step(one)).count();
                Because::Run(Run {
                    steps: steps.iter().filter_map(|&one| step(one)).collect(),
                    cycle_start: cycle_start.map(so_far),
                    stations: stations.into_iter().map(|(after, part)| (so_far(after), part.map(step))).collect(),
                    untold,
                })
            }
        };
        Evidence { formula: self.formula, holds: self.holds, because }
    }

    /// The first run that begins in the state of the whole formula.
    pub fn first_run(&self) -> Option<&Run<S>> {
        match &self.because {
            Because::State | Because::NoRun => None,
            Because::Parts(parts) => parts.iter().find_map(Evidence::first_run),
            Because::Run(run) => Some(run),
        }
    }
}
