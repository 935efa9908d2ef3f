//! Signs of life while a search runs.

use entail_check::coverage::Coverage;
use entail_check::units::{show_bytes, show_count, show_duration};
use entail_disk::{Lasting, Reader, Writer};
use entail_ir::interpret::Step;
use entail_model::{Event, Growth, Observer, Progress};
use std::io::{self, Write as _, stderr};
use std::time::{Duration, Instant};

/// Watches a search: notes where it has been, and tells how it goes if someone looks.
pub struct Watch<'s> {
    pub coverage: Coverage,
    line: Option<Line>,
    listener: Option<&'s mut (dyn Listener + Send)>,
}

/// Who is told of all that happens.
pub trait Listener {
    fn happened(&mut self, event: Event<Step>);
}

/// A line on the terminal that is written over and over.
struct Line {
    started: Instant,
    shown: Option<Instant>,
}

const PAUSE: Duration = Duration::from_millis(100);

impl<'s> Watch<'s> {
    pub fn new(coverage: Coverage, show: bool) -> Watch<'s> {
        let line = show.then(|| Line { started: Instant::now(), shown: None });
        Watch { coverage, line, listener: None }
    }

    /// Tells somebody of all that happens.
    pub fn heard_by(self, listener: Option<&'s mut (dyn Listener + Send)>) -> Watch<'s> {
        Watch { listener, ..self }
    }

    /// Leaves the terminal as it was.
    pub fn finish(self) -> Coverage {
        if self.line.is_some_and(|line| line.shown.is_some()) {
            // A terminal that went away wants no progress.
            let _ = write!(stderr(), "\r\x1b[K");
        }
        self.coverage
    }
}

impl Observer<Step> for Watch<'_> {
    #[inline]
    fn stepped(&mut self, step: Step) {
        self.coverage.mark(step);
    }

    fn progress(&mut self, progress: Progress) {
        if let Some(line) = &mut self.line {
            line.show(progress);
        }
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

impl Line {
    fn show(&mut self, progress: Progress) {
        if self.shown.is_some_and(|shown| shown.elapsed() < PAUSE) {
            return;
        }
        self.shown = Some(Instant::now());
        let elapsed = self.started.elapsed();
        let rate = progress.stored as f64 / elapsed.as_secs_f64().max(0.001);
        let (stored, rate, depth) =
            (show_count(progress.stored), show_count(rate as u64), show_count(progress.depth));
        let (bytes, time) = (show_bytes(progress.bytes), show_duration(elapsed));
        let growth = progress
            .growth
            .map(|Growth { states, bytes }| format!(" (+{} at {} states)", show_bytes(bytes), show_count(states)));
        let growth = growth.unwrap_or_default();
        let _ = write!(stderr(), "\r{stored} states ({rate}/s), depth {depth}, {bytes}{growth}, {time}\x1b[K");
    }
}
