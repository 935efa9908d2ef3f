//! Standard error: messages and progress of a check.

use crate::console::Forgiving;
use entail_check::units::{show_bytes, show_count, show_duration};
use entail_check::{Message, Observer};
use entail_front::diagnostic::render;
use entail_front::legible::legible;
use entail_model::{Growth, Progress};
use std::io::{self, BufWriter, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub struct Stderr {
    /// Whether to use colours.
    pub colour: bool,
    /// Whether to show progress: stderr is a terminal.
    pub progress: bool,
    line: Mutex<Line>,
    log: Mutex<BufWriter<Forgiving<io::Stderr>>>,
}

/// A progress line, which is overwritten.
struct Line {
    started: Instant,
    shown: Option<Instant>,
}

const PAUSE: Duration = Duration::from_millis(100);

impl Line {
    fn new() -> Line {
        Line { started: Instant::now(), shown: None }
    }

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

impl Stderr {
    pub fn new(colour: bool, progress: bool) -> Stderr {
        let log = Mutex::new(BufWriter::new(Forgiving(stderr())));
        Stderr { colour, progress, line: Mutex::new(Line::new()), log }
    }

    /// Writes a text, and ignores errors.
    pub fn complain(&self, text: &str) {
        write_styled(&legible(text));
    }
}

/// Writes a text that is sanitised already, and may have colours.
fn write_styled(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

impl Observer for Stderr {
    fn message(&self, message: Message) {
        match message {
            Message::Error(text) => self.complain(&format!("error: {text}\n")),
            Message::Warning(text) => self.complain(&format!("warning: {text}\n")),
            Message::Note(text) => self.complain(&format!("note: {text}\n")),
            Message::Problems(problems, sources) => write_styled(&render(problems, sources, self.colour)),
        }
    }

    fn search_begins(&self) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Line::new();
    }

    fn progress(&self, progress: Progress) {
        if self.progress {
            self.line.lock().unwrap_or_else(PoisonError::into_inner).show(progress);
        }
    }

    /// Clears the progress line.
    fn search_ends(&self) {
        if self.line.lock().unwrap_or_else(PoisonError::into_inner).shown.is_some() {
            // Errors of the terminal are ignored.
            let _ = write!(stderr(), "\r\x1b[K");
        }
        let _ = self.log.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }

    fn log(&self, line: &str) {
        let _ = writeln!(self.log.lock().unwrap_or_else(PoisonError::into_inner), "{line}");
    }
}
