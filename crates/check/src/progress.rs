//! Observes a search while it runs.

use crate::coverage::Coverage;
use crate::observer::Observer as TraceStep;
use entail_disk::{Reader, Restore, Writer};
use entail_ir::interpret::Step;
use entail_model::{Event, Observer, Progress};
use std::io;

/// Observes a search: records coverage, and forwards progress and events.
pub struct Watch<'s> {
    pub coverage: Coverage,
    told: &'s dyn TraceStep,
    listener: Option<&'s mut (dyn Listener + Send)>,
}

/// Receives the events of a search.
pub trait Listener {
    /// An event.
    fn happened(&mut self, event: Event<Step>);
}

impl<'s> Watch<'s> {
    pub fn new(coverage: Coverage, told: &'s dyn TraceStep) -> Watch<'s> {
        Watch { coverage, told, listener: None }
    }

    /// Without an observer.
    pub fn silent(coverage: Coverage) -> Watch<'s> {
        Watch::new(coverage, &())
    }

    /// Forwards all events to a listener.
    pub fn heard_by(self, listener: Option<&'s mut (dyn Listener + Send)>) -> Watch<'s> {
        Watch { listener, ..self }
    }
}

impl Observer<Step> for Watch<'_> {
    #[inline]
    fn stepped(&mut self, step: Step) {
        self.coverage.mark(step);
    }

    fn progress(&mut self, progress: Progress) {
        self.told.progress(progress);
    }

    fn listens(&self) -> bool {
        self.listener.is_some()
    }

    fn happened(&mut self, event: Event<Step>) {
        if let Some(listener) = &mut self.listener {
            listener.happened(event);
        }
    }

    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.coverage.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.coverage.restore(from)
    }
}
