//! Problems of a model, up to a limit.

use super::cursor::MAX_PROBLEMS;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::did_you_mean;

/// The problems found so far, up to a limit.
#[derive(Debug)]
pub struct Problems<'p> {
    list: &'p mut Vec<Diagnostic>,
}

impl<'p> Problems<'p> {
    pub fn new(list: &'p mut Vec<Diagnostic>) -> Self {
        Problems { list }
    }

    pub fn report(&mut self, problem: Diagnostic) {
        if !self.are_many() {
            self.list.push(problem);
        }
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    /// Reports an error in something that has no meaning then.
    pub fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.error(span, message);
        None
    }

    /// Reports an unknown name, with a similar one.
    pub fn unknown<'a>(&mut self, problem: Diagnostic, name: &str, known: impl IntoIterator<Item = &'a str>) {
        // Only for problems that are displayed: this compares all names.
        if !self.are_many() {
            self.report(problem.or_similar(did_you_mean(name, known)));
        }
    }

    pub fn twice(&mut self, name: &str, span: Span, first: Span) {
        let problem = Diagnostic::error(span, format!("`{name}` is declared twice"));
        self.report(problem.related(first, "first declared here"));
    }

    pub fn are_many(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }
}
