//! BIR, the language of Bandera and Bogor. Threads consist of locations, connected by guarded transformations.
//!
//! This is the subset of BIR that hand-written models need: values, locks and threads, but no heap. The
//! parser recognises other constructs, and reports them with a hint.

mod ast;
mod lower;
mod parse;
mod token;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::{Language, ModelSource, Options};

/// Loads a model from its text. If there is none, the problems contain errors.
pub fn load_text(
    name: &str,
    text: &str,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let file = sources.add(name, text);
    let before = problems.len();
    let system = parse::model(file, text, problems)
        .filter(|_| !problems[before..].iter().any(Diagnostic::is_error))
        .and_then(|model| lower::system(&model, &options.constants(), sources, problems));
    // Several passes report problems; sort them by position.
    problems[before..].sort_by_key(|problem| (problem.span.is_none(), problem.span));
    let system = system?;
    debug_assert_eq!(entail_ir::verify::verify(&system), Ok(()));
    Some(ModelSource {
        language: Language::Bir,
        system,
        retries: Default::default(),
        properties: Vec::new(),
        listing: None,
        fingerprint: crate::fingerprint(&[text, &options.constants().join(" ")]),
    })
}
