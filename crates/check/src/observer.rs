//! What a check tells while it runs.

use entail_front::diagnostic::Diagnostic;
use entail_front::source::Sources;
use entail_model::Progress;

/// Is told what happens during a check. All methods do nothing by default.
pub trait Observer: Sync {
    /// Something that the caller should know at once. Errors and warnings are in the report, too.
    fn message(&self, _message: Message<'_>) {}

    /// A search begins.
    fn search_begins(&self) {}

    /// How far the search is, now and then.
    fn progress(&self, _progress: Progress) {}

    /// The search is over.
    fn search_ends(&self) {}

    /// A line of the log of the search, if that goes to no file.
    fn log(&self, _line: &str) {}
}

/// Watches nothing.
impl Observer for () {}

/// Something that the caller should know.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// The check cannot be carried out.
    Error(&'a str),
    /// The check goes on.
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

    /// Tells a warning.
    pub fn warning(&self, text: impl AsRef<str>) {
        self.message(Message::Warning(text.as_ref()));
    }

    /// Tells a note.
    pub fn note(&self, text: impl AsRef<str>) {
        self.message(Message::Note(text.as_ref()));
    }
}
