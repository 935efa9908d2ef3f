//! Promela, the language of SPIN.
//!
//! Text becomes tokens (`preprocess`), tokens a syntax tree (`parse`), the tree automata (`lower`).

mod asked;
pub mod ast;
pub mod formula;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod text;
pub mod token;
pub mod walk;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::{Language, Meaning, ModelSource, Options, Property, PropertyKind};
use asked::Questions;
use ast::{Program, Unit};
use std::path::Path;
use std::sync::Arc;
use token::Token;

/// Reads a model; without one there are errors among the problems.
pub(crate) fn load(
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let questions = Questions::prepare(&options.asked, sources, problems);
    let options =
        preprocess::Options { defines: options.defines.clone(), include_dirs: options.include_dirs.clone() };
    let (tokens, texts) = preprocess::preprocess_with(path, &questions.texts, &options, sources, problems);
    let questions = |proctypes: &[Arc<str>], problems: &mut _| questions.units(texts, proctypes, problems);
    from_tokens(tokens, questions, sources, problems)
}

/// Reads a model from its text.
pub fn load_text(
    name: &str,
    text: &str,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let tokens = preprocess::preprocess_text(name, text, &preprocess::Options::default(), sources, problems);
    from_tokens(tokens, |_, _| Vec::new(), sources, problems)
}

/// Reads a model, and what is asked of it, which may need the names of its proctypes.
fn from_tokens(
    tokens: Vec<Token>,
    asked: impl FnOnce(&[Arc<str>], &mut Vec<Diagnostic>) -> Vec<Unit>,
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let proctypes = parse::proctypes_of(&tokens);
    let mut program = parse::parse(tokens, problems);
    program.units.extend(asked(&proctypes, problems));
    // What follows a syntax error may have been read wrongly; complaints about it would mislead.
    if problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    let lower::Lowered { system, meanings, of_labels } = lower::lower(&program, sources, problems)?;
    debug_assert_eq!(entail_ir::verify::verify(&system), Ok(()));
    let mut properties = properties(&program, meanings, sources);
    properties.extend(of_labels.into_iter().map(|(kind, meaning, by_default)| {
        let name = kind.name().to_owned();
        Property { name, kind, text: String::new(), line: 0, by_default, meaning: Some(meaning) }
    }));
    Some(ModelSource { language: Language::Promela, system, properties, listing: None })
}

/// The claims the model makes; unnamed ones get the names SPIN would give them.
fn properties(program: &Program, meanings: Vec<Option<Meaning>>, sources: &Sources) -> Vec<Property> {
    let mut properties = Vec::new();
    let mut meanings = meanings.into_iter();
    let (mut unnamed, mut claims) = (0, 0);
    for unit in &program.units {
        let (name, kind, text, span) = match unit {
            Unit::Ltl(ltl) => {
                let name = ltl.name.as_ref().map_or(format!("ltl_{unnamed}"), |name| name.name.to_string());
                unnamed += usize::from(ltl.name.is_none());
                (name, PropertyKind::Ltl, text::expression(&ltl.formula), ltl.span)
            }
            Unit::Watcher(watcher) => {
                (watcher.name.name.to_string(), PropertyKind::Never, String::new(), watcher.span)
            }
            Unit::Never(claim) => {
                let name = claim.name.as_ref().map_or(format!("never_{claims}"), |name| name.name.to_string());
                claims += 1;
                (name, PropertyKind::Never, String::new(), claim.span)
            }
            Unit::Trace(trace) => {
                let kind = if trace.negated { PropertyKind::Notrace } else { PropertyKind::Trace };
                (kind.name().to_string(), kind, String::new(), trace.span)
            }
            Unit::Proctype(_) | Unit::Init(_) | Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => continue,
        };
        let meaning = meanings.next().flatten();
        properties.push(Property { name, kind, text, line: sources.place(span).line, by_default: true, meaning });
    }
    properties
}
