//! The steps of a run, with saved states at intervals, for fast access to any state.

use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Fired, Model, State, StateBuf};

pub struct Timeline {
    steps: Vec<Step>,
    /// The states after 0, `spacing`, 2·`spacing`… steps.
    kept: Vec<StateBuf>,
    spacing: usize,
}

/// The maximum number of saved states. Beyond it, every second one is dropped, and the interval doubles.
const MOST_KEPT: usize = 1024;
const SPACING: usize = 16;

impl Timeline {
    pub fn new(start: StateBuf) -> Timeline {
        Timeline { steps: Vec::new(), kept: vec![start], spacing: SPACING }
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn step(&self, index: usize) -> Option<Step> {
        self.steps.get(index).copied()
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Removes all but the first `len` steps.
    pub fn truncate(&mut self, len: usize) {
        self.steps.truncate(len);
        self.kept.truncate(len / self.spacing + 1);
    }

    /// Appends a step, with its target state.
    pub fn push(&mut self, step: Step, state: &State) {
        self.steps.push(step);
        if self.steps.len() == self.kept.len() * self.spacing {
            self.kept.push(state.to_vec());
        }
        if self.kept.len() > MOST_KEPT {
            let mut even = false;
            self.kept.retain(|_| {
                even = !even;
                even
            });
            self.spacing *= 2;
        }
    }

    /// The state after this number of steps.
    pub fn state(&self, after: usize, interpreter: &Interpreter) -> StateBuf {
        let nearest = (after / self.spacing).min(self.kept.len() - 1);
        let mut state = self.kept[nearest].clone();
        for &step in &self.steps[nearest * self.spacing..after] {
            take(step, &mut state, interpreter);
        }
        state
    }
}

/// Takes a step. If it ends in a fault, the target state is undefined, and the run stays in the previous state.
pub fn take(step: Step, state: &mut StateBuf, interpreter: &Interpreter) {
    let mut after = state.clone();
    match interpreter.fire(step, &mut after) {
        Fired::Done | Fired::Failed(_) => *state = after,
        Fired::Broken(_) => {}
    }
}
