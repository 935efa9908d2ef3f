//! Observers of a search.

use std::io;

use entail_disk::{Reader, Writer};

use crate::{Fault, Growth, StateKey};

/// Observes a search while it runs.
pub trait Observer<S> {
    /// A step was taken, whether or not its target is new.
    fn stepped(&mut self, _step: S) {}
    /// Called periodically, for progress displays.
    fn progress(&mut self, _progress: Progress) {}
    /// Whether the observer receives every event. This slows the search down, because it disables batches.
    fn listens(&self) -> bool {
        false
    }
    /// An event, for an observer that [listens](Observer::listens).
    fn happened(&mut self, _event: Event<S>) {}
    /// Saves its state, for [`Observer::restore`].
    fn save(&self, _to: &mut Writer) -> io::Result<()> {
        Ok(())
    }
    /// Restores a saved state.
    fn restore(&mut self, _from: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

/// The observer that ignores everything.
impl<S> Observer<S> for () {}

/// The progress of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Stored states.
    pub stored: u64,
    /// Transitions into known states.
    pub matched: u64,
    /// The depth reached.
    pub depth: u64,
    /// The memory that the search uses.
    pub bytes: u64,
    /// The next growth of the store, if it can be predicted.
    pub growth: Option<Growth>,
}

/// An event of a search. A depth-first search has a path, a breadth-first search has a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a variant documents its fields")]
pub enum Event<S> {
    /// A search begins. State names of earlier searches become invalid.
    Begun,
    /// A new state was found.
    New { state: StateName },
    /// A step led to a known state. If that state is on the path, the step closes a cycle.
    Known { state: StateName, closes_cycle: bool },
    /// A state was appended to the path, or to the queue.
    Pushed { state: StateName },
    /// A state whose steps were all tried was removed from the end of the path.
    Popped { state: StateName },
    /// A state was removed from the front of the queue to be expanded.
    Taken { state: StateName },
    /// A step was tried, out of a stable state or of a transient one after it. The step is `None` where a run of a
    /// product has ended and only its claim moves.
    Tried { from: StateName, passed: usize, step: Option<S>, to: EventTarget },
    /// A nested search, which has a path of its own, begins or ends.
    Inside { begins: bool },
    /// A cycle through this state is accepting.
    Accepted { state: StateName },
    /// An error: in the step tried last, or in a run that ends in this state.
    Wrong { state: StateName, fault: Option<Fault> },
}

/// The name of a state within one search: the words of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateName([u64; 2]);

impl StateName {
    /// The name of the state with this key.
    pub fn of(key: impl StateKey) -> StateName {
        StateName(key.words())
    }
}

/// The target of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// None: the step broke, or returned to a transient state of its own path.
    Nowhere,
    /// A state inside an atomic sequence.
    Transient,
    /// A stable state.
    Stable(StateName),
}

impl<S> Event<S> {
    /// Maps the step; `None` if the step has no image.
    pub fn of<T>(self, of: impl FnOnce(S) -> Option<T>) -> Event<T> {
        match self {
            Event::Begun => Event::Begun,
            Event::New { state } => Event::New { state },
            Event::Known { state, closes_cycle } => Event::Known { state, closes_cycle },
            Event::Pushed { state } => Event::Pushed { state },
            Event::Popped { state } => Event::Popped { state },
            Event::Taken { state } => Event::Taken { state },
            Event::Tried { from, passed, step, to } => Event::Tried { from, passed, step: step.and_then(of), to },
            Event::Inside { begins } => Event::Inside { begins },
            Event::Accepted { state } => Event::Accepted { state },
            Event::Wrong { state, fault } => Event::Wrong { state, fault },
        }
    }
}
