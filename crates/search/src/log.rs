//! The event log of a search, for an observer that listens.

use entail_model::{Event, EventTarget, Keys, Model, Observer, StateName};

use crate::ErrorKind;
use crate::context::SearchContext;
use crate::stack::{Advance, Destination, SearchStack};

/// The names of the states on the path, and the steps out of them, which the search stack does not hold.
pub(crate) struct Log<S> {
    /// Whether the search has a path, whose states are pushed and popped; otherwise it has a queue.
    pub tells_path: bool,
    frames: Vec<Frame<S>>,
}

struct Frame<S> {
    /// The stable state itself, or the last stable one before a transient state.
    state: StateName,
    /// The number of transient states since then, this one included.
    passed: usize,
    steps: std::vec::IntoIter<S>,
}

impl<S> Default for Log<S> {
    fn default() -> Self {
        Log { tells_path: true, frames: Vec::new() }
    }
}

impl<S> Log<S> {
    /// Enters a stable state, or a transient one, with these steps.
    pub fn enter(&mut self, stable: Option<StateName>, steps: Vec<S>) -> Option<Event<S>> {
        let (state, passed) = match (stable, self.frames.last()) {
            (Some(state), _) => (state, 0),
            (None, Some(frame)) => (frame.state, frame.passed + 1),
            (None, None) => return None,
        };
        self.frames.push(Frame { state, passed, steps: steps.into_iter() });
        (self.tells_path && passed == 0).then_some(Event::Pushed { state })
    }

    /// Takes the next step.
    pub fn go(&mut self, to: EventTarget) -> Option<Event<S>> {
        let Frame { state, passed, steps } = self.frames.last_mut()?;
        Some(Event::Tried { from: *state, passed: *passed, step: steps.next(), to })
    }

    /// Leaves the last state.
    pub fn leave(&mut self) -> Option<Event<S>> {
        let Frame { state, passed, .. } = self.frames.pop()?;
        (self.tells_path && passed == 0).then_some(Event::Popped { state })
    }

    /// The last stable state.
    pub fn last(&self) -> Option<StateName> {
        self.frames.last().map(|frame| frame.state)
    }
}

impl<M: Model, S: Keys + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'_, M, S, O> {
    /// The same, for a search with a queue.
    pub fn queued(mut self) -> Self {
        self.worker.log.iter_mut().for_each(|log| log.tells_path = false);
        self
    }

    /// Whether an observer logs events.
    #[inline]
    pub fn is_logging(&self) -> bool {
        self.worker.log.is_some()
    }

    /// Logs an event of a state.
    #[inline]
    pub fn log_event(&mut self, event: impl FnOnce(StateName) -> Event<M::Step>, key: S::Key) {
        if self.is_logging() {
            self.observer.happened(event(StateName::of(key)));
        }
    }

    #[inline]
    pub fn log_known(&mut self, key: S::Key, closes_cycle: bool) {
        self.log_event(|state| Event::Known { state, closes_cycle }, key);
    }

    pub fn log_inside(&mut self, begins: bool) {
        if self.is_logging() {
            self.observer.happened(Event::Inside { begins });
        }
    }

    /// Logs that the state just expanded is entered, a stable or a transient one.
    #[inline]
    pub fn log_entered(&mut self, stable: Option<S::Key>) {
        if let Some(log) = &mut self.worker.log {
            let mut steps = Vec::new();
            self.worker.expander.successors.for_each_step(|step| steps.push(step));
            let event = log.enter(stable.map(StateName::of), steps);
            event.into_iter().for_each(|event| self.observer.happened(event));
        }
    }

    pub fn log_wrong(&mut self, error: ErrorKind) {
        if let Some(state) = self.worker.log.as_ref().and_then(Log::last) {
            let fault = match error {
                ErrorKind::Fault(fault) => Some(fault),
                ErrorKind::InvalidEnd | ErrorKind::Cycle { .. } => None,
            };
            self.observer.happened(Event::Wrong { state, fault });
        }
    }

    /// Takes the next choice and logs it, together with the states left on the way.
    #[cold]
    pub fn advance_logged<N: Copy>(&mut self, stack: &mut SearchStack<S::Key, N>) -> Option<Advance<S::Key, N>> {
        while stack.is_spent() {
            self.leave(stack);
        }
        let taken = stack.advance()?;
        let to = match taken.destination {
            Destination::Nowhere => EventTarget::Nowhere,
            Destination::Transient => EventTarget::Transient,
            Destination::Stable(key) => EventTarget::Stable(StateName::of(key)),
        };
        let event = self.worker.log.as_mut().and_then(|log| log.go(to));
        event.into_iter().for_each(|event| self.observer.happened(event));
        Some(taken)
    }

    /// Leaves the state entered last.
    pub fn leave<N: Copy>(&mut self, stack: &mut SearchStack<S::Key, N>) {
        stack.leave();
        let event = self.worker.log.as_mut().and_then(Log::leave);
        event.into_iter().for_each(|event| self.observer.happened(event));
    }

    /// Leaves all states of the path.
    pub fn clear<N: Copy>(&mut self, stack: &mut SearchStack<S::Key, N>) {
        while !stack.is_empty() {
            self.leave(stack);
        }
        stack.clear();
    }
}
