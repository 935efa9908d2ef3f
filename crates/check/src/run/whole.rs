//! Joins the pieces of an atomic step of the model into one step.

use super::{Ending, TraceSource, TraceStep};
use entail_ir::Interpreter;
use entail_model::{Model, State};

/// The atomic steps of a run.
pub struct Whole<'a, 's> {
    pieces: &'a mut dyn TraceSource<'s>,
    taken: usize,
    brief: bool,
}

impl<'a, 's> Whole<'a, 's> {
    /// Joins the pieces of each step.
    pub fn of(pieces: &'a mut dyn TraceSource<'s>) -> Self {
        Whole { pieces, taken: 0, brief: false }
    }
}

/// Whether the step continues from this state.
pub fn goes_on(interpreter: &Interpreter, told: &TraceStep, state: &State) -> bool {
    interpreter.system().joins_atomic && told.goes_on && interpreter.is_transient(state)
}

impl<'s> TraceStep<'s> {
    /// Adds a piece to a step.
    pub fn join(&mut self, more: TraceStep<'s>) {
        if let (Some(explained), Some(more)) = (&mut self.explained, &more.explained) {
            explained.join(more);
        }
        self.truths.extend(more.truths);
        self.claim = self.claim.take().or(more.claim);
        self.violation = self.violation.take().or(more.violation);
        self.goes_on = more.goes_on;
    }
}

impl<'s> TraceSource<'s> for Whole<'_, 's> {
    fn interpreter(&self) -> &Interpreter<'s> {
        self.pieces.interpreter()
    }

    fn state(&self) -> &State {
        self.pieces.state()
    }

    fn next(&mut self) -> Result<Option<TraceStep<'s>>, String> {
        let before = self.pieces.state().to_vec();
        let Some(mut told) = self.pieces.next()? else { return Ok(None) };
        let mut is_joined = false;
        while goes_on(self.pieces.interpreter(), &told, self.pieces.state()) {
            let Some(more) = self.pieces.next()? else { break };
            told.join(more);
            is_joined = true;
        }
        if is_joined && !self.brief {
            told.changes = self.pieces.interpreter().changes(&before, self.pieces.state());
        }
        if self.pieces.interpreter().system().joins_atomic {
            self.taken += 1;
            told.number = self.taken;
        }
        Ok(Some(told))
    }

    fn be_brief(&mut self) {
        self.brief = true;
        self.pieces.be_brief();
    }

    fn is_at_cycle(&self) -> bool {
        self.pieces.is_at_cycle()
    }

    fn ending(&self) -> Ending {
        self.pieces.ending()
    }
}
