//! ESML.

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::{ModelSource, Options, source};
use std::path::Path;

/// Reads a model; without one there are errors among the problems.
pub(crate) fn load(
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let name = path.display().to_string();
    let text = source::read(path).and_then(|bytes| source::text_of(&name, bytes));
    match text {
        Ok(text) => load_text(&name, &text, options, sources, problems),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Reads a model from its text.
pub fn load_text(
    name: &str,
    text: &str,
    _options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    sources.add(name, text);
    problems.push(Diagnostic::general("this language cannot be read yet"));
    None
}
