//! What a search tells somebody who listens to all it does.

use entail_model::{Event, StateName, Target};

/// A path, with all that its descent does not keep: what states are called, and which steps lead out of them.
pub(crate) struct Log<S> {
    /// Whether states are pushed and popped as the path goes on and back; otherwise there is a queue.
    pub tells_path: bool,
    frames: Vec<Frame<S>>,
}

struct Frame<S> {
    /// The stable state itself, or the one before it.
    state: StateName,
    /// How many transient states lie in between, with this one.
    passed: usize,
    steps: std::vec::IntoIter<S>,
}

impl<S> Default for Log<S> {
    fn default() -> Self {
        Log { tells_path: true, frames: Vec::new() }
    }
}

impl<S> Log<S> {
    /// Goes on in a stable state, or in a transient one, out of which these steps lead.
    pub fn enter(&mut self, stable: Option<StateName>, steps: Vec<S>) -> Option<Event<S>> {
        let (state, passed) = match (stable, self.frames.last()) {
            (Some(state), _) => (state, 0),
            (None, Some(frame)) => (frame.state, frame.passed + 1),
            (None, None) => return None,
        };
        self.frames.push(Frame { state, passed, steps: steps.into_iter() });
        (self.tells_path && passed == 0).then_some(Event::Pushed { state })
    }

    /// Tries the next step.
    pub fn go(&mut self, to: Target) -> Option<Event<S>> {
        let Frame { state, passed, steps } = self.frames.last_mut()?;
        Some(Event::Tried { from: *state, passed: *passed, step: steps.next(), to })
    }

    /// Goes back.
    pub fn leave(&mut self) -> Option<Event<S>> {
        let Frame { state, passed, .. } = self.frames.pop()?;
        (self.tells_path && passed == 0).then_some(Event::Popped { state })
    }

    /// The last stable state.
    pub fn last(&self) -> Option<StateName> {
        self.frames.last().map(|frame| frame.state)
    }
}
