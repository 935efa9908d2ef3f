//! ESML, the Extended State Machine Language of Stellenbosch: typed processes that share nothing but channels.
//!
//! After J. Geldenhuys: Efficiency issues in the design of a model checker, Stellenbosch 1999.
//!
//! Text becomes a syntax tree (`parse`), the tree a checked program in the instructions of ESML's abstract machine
//! (`check`), the instructions automata (`lower`).

mod ast;
mod check;
mod code;
mod listing;
mod lower;
mod parse;
mod token;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::{Language, ModelSource, Options, Property, PropertyKind};

/// Reads a model from its text; without one there are errors among the problems.
pub fn load_text(
    name: &str,
    text: &str,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let file = sources.add(name, text);
    let model = parse::parse(file, text, problems);
    // What follows a syntax error may have been read wrongly; complaints about it would mislead.
    let model = model.filter(|_| !problems.iter().any(Diagnostic::is_error))?;
    let program = check::check(&model, &options.defines, sources, problems);
    if problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    let system = lower::lower(&program, options.granularity, sources, problems)?;
    debug_assert_eq!(entail_ir::verify::verify(&system), Ok(()));
    let property = |span| Property {
        name: "assert".to_owned(),
        kind: PropertyKind::Ctl,
        text: sources.text(span).to_owned(),
        line: sources.place(span).line,
        by_default: true,
        meaning: None,
    };
    let properties = program.assertion.map(property).into_iter().collect();
    let listing = Some(listing::listing(&program));
    Some(ModelSource { language: Language::Esml, system, properties, listing })
}
