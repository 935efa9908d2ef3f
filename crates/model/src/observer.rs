//! Observers of a search.

use std::io;

use entail_disk::{Reader, Writer};

use crate::{Fault, Growth, StateKey};

/// Observes a search while it runs.
pub trait Observer<S> {
    /// A step has been taken, whether or not it led to a new state.
    fn stepped(&mut self, _step: S) {}
    /// Now and then, for progress displays.
    fn progress(&mut self, _progress: Progress) {}
    /// Whether it wants every event. This slows the search down: it does nothing in batches then.
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

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States stored.
    pub stored: u64,
    /// Transitions into known states.
    pub matched: u64,
    /// The depth reached.
    pub depth: u64,
    /// Of all that the search keeps.
    pub bytes: u64,
    /// When the store will need more, if that can be told.
    pub growth: Option<Growth>,
}

/// Something that happens in a search. A depth-first search has a path, a breadth-first one has a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a variant documents its fields")]
pub enum Event<S> {
    /// A search begins. It gives new names to states.
    Begun,
    /// A state that was not known before.
    New { state: StateName },
    /// A step has led to a known state; perhaps to one on the path, which closes a cycle.
    Known { state: StateName, closes_cycle: bool },
    /// To the end of the path, or of the queue.
    Pushed { state: StateName },
    /// From the end of the path, as all has been tried in it.
    Popped { state: StateName },
    /// From the front of the queue, to be expanded.
    Taken { state: StateName },
    /// A step out of a stable state, or out of a transient one after it. The step is `None` where a run of a product has ended and
    /// only its claim moves.
    Tried { from: StateName, passed: usize, step: Option<S>, to: EventTarget },
    /// A search inside the search, which has a path of its own.
    Inside { begins: bool },
    /// A cycle through this state is accepting.
    Accepted { state: StateName },
    /// Something is wrong: with the step tried last, or else with a run that ends in this state.
    Wrong { state: StateName, fault: Option<Fault> },
}

/// What a search calls a state, for as long as it lasts: the words of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateName([u64; 2]);

impl StateName {
    /// The name of the state with this key.
    pub fn of(key: impl StateKey) -> StateName {
        StateName(key.words())
    }
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTarget {
    /// It broke; or it came back to a transient state that it had passed.
    Nowhere,
    /// A state inside an atomic sequence.
    Transient,
    /// A stable state.
    Stable(StateName),
}

impl<S> Event<S> {
    /// The same of other steps, of which there need not be one for each.
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
