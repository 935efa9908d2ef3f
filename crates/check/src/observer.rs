//! Notifications during a check.

use entail_front::diagnostic::Diagnostic;
use entail_front::source::Sources;
use entail_model::Progress;

/// Receives notifications during a check. All methods do nothing by default.
pub trait Observer: Sync {
    /// A message for immediate display. Errors and warnings are in the report, too.
    fn message(&self, _message: Message<'_>) {}

    /// A search begins.
    fn search_begins(&self) {}

    /// The progress of the search, at intervals.
    fn progress(&self, _progress: Progress) {}

    /// The search is over.
    fn search_ends(&self) {}

    /// A line of the search log, if there is no log file.
    fn log(&self, _line: &str) {}
}

/// Ignores all notifications.
impl Observer for () {}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// The check cannot be carried out.
    Error(&'a str),
    /// The check continues.
    Warning(&'a str),
    /// For information.
    Note(&'a str),
    /// Problems in the text of a model.
    Problems(&'a [Diagnostic], &'a Sources),
}

impl dyn Observer + '_ {
    pub(crate) fn error(&self, text: impl AsRef<str>) {
        self.message(Message::Error(text.as_ref()));
    }

    /// Sends a warning.
    pub fn warning(&self, text: impl AsRef<str>) {
        self.message(Message::Warning(text.as_ref()));
    }

    /// Sends a note.
    pub fn note(&self, text: impl AsRef<str>) {
        self.message(Message::Note(text.as_ref()));
    }
}
