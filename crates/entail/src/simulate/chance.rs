//! A random run, which may begin with given steps.

use super::ahead::Ahead;
use super::dice::Dice;
use crate::console::Status;
use crate::run::{Ending, TraceSource, TraceStep, Walk};
use entail_check::follow::Meant;
use entail_check::output::{self, Unfinished};
use entail_check::provenance::Provenance;
use entail_check::trail::Record;
use entail_check::violation::Violation;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::State;
use std::io::BufWriter;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Chance<'a, 's> {
    interpreter: &'a Interpreter<'s>,
    ahead: Ahead<'a>,
    dice: Dice,
    walk: Walk<'a, 's>,
    given: std::vec::IntoIter<Step>,
    /// The error if a given step is not enabled.
    misfit: Option<String>,
    pub taken: u64,
    limits: Limits<'a>,
    /// The violation of the last step.
    failure: Option<Violation>,
    record: Option<Record<BufWriter<Unfinished<'a>>>>,
}

/// The limits of a run.
pub struct Limits<'a> {
    pub steps: u64,
    /// Interrupts the run if set.
    pub stop: &'a AtomicBool,
}

impl<'a, 's> Chance<'a, 's> {
    pub fn new(interpreter: &'a Interpreter<'s>, ahead: Ahead<'a>, dice: Dice, limits: Limits<'a>) -> Self {
        let walk = Walk::from(interpreter, super::start(interpreter));
        let given = Vec::new().into_iter();
        Chance {
            interpreter,
            ahead,
            dice,
            walk,
            given,
            misfit: None,
            taken: 0,
            limits,
            failure: None,
            record: None,
        }
    }

    /// Takes these steps first.
    pub fn after(self, given: Meant) -> Self {
        Chance { given: given.steps.into_iter(), misfit: given.misfit, ..self }
    }

    /// Writes the trail of the run while it takes place.
    pub fn recorded(self, file: Unfinished<'a>, provenance: Provenance) -> Self {
        Chance { record: Some(Record::new(BufWriter::new(file), Some(provenance))), ..self }
    }

    /// Must be called at the end to finish the trail.
    pub fn finish(&mut self) -> Result<(), String> {
        self.record.take().map_or(Ok(()), output::finish_trail)
    }

    pub fn failure(&self) -> Option<&Violation> {
        self.failure.as_ref()
    }

    pub fn status(&self) -> Status {
        match self.ending() {
            Ending::InvalidEnd(_) | Ending::Error | Ending::Refuted | Ending::Cycle => Status::Violated,
            Ending::Limit if self.taken < self.limits.steps => Status::Inconclusive,
            Ending::End | Ending::Limit | Ending::Open => Status::Fine,
        }
    }

    /// Chooses the next step.
    fn choose(&mut self) -> Result<Option<usize>, String> {
        let steps = self.ahead.look(&self.walk.state);
        match (self.given.next(), self.misfit.take()) {
            (Some(step), misfit) => {
                self.misfit = misfit;
                let found = steps.iter().position(|known| *known == step);
                found.map(Some).ok_or_else(|| format!("at step {}: it is not possible there", self.taken + 1))
            }
            (None, Some(misfit)) => Err(misfit),
            (None, None) => Ok(self.dice.choose(steps)),
        }
    }
}

impl<'s> TraceSource<'s> for Chance<'_, 's> {
    fn interpreter(&self) -> &Interpreter<'s> {
        self.interpreter
    }

    fn state(&self) -> &State {
        &self.walk.state
    }

    fn next(&mut self) -> Result<Option<TraceStep<'s>>, String> {
        let stopped = self.limits.stop.load(Ordering::Relaxed);
        if self.failure.is_some() || stopped || self.taken == self.limits.steps {
            return Ok(None);
        }
        let Some(index) = self.choose()? else { return Ok(None) };
        self.taken += 1;
        let step = self.ahead.steps()[index];
        if let Some(record) = self.record.as_mut().filter(|_| !self.walk.state.is_empty()) {
            record.add(step, self.interpreter.system());
        }
        let (fired, state) = self.ahead.outcome(index);
        let told = self.walk.arrive(step, fired, state.to_vec());
        self.failure.clone_from(&told.violation);
        Ok(Some(told))
    }

    fn be_brief(&mut self) {
        self.walk.brief = true;
    }

    fn is_at_cycle(&self) -> bool {
        false
    }

    fn ending(&self) -> Ending {
        match Ending::in_state(self.interpreter, &self.walk.state) {
            _ if self.failure.is_some() => Ending::Error,
            Ending::Open => Ending::Limit,
            ending => ending,
        }
    }
}
