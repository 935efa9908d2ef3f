//! Promela, the language of SPIN.
//!
//! The text becomes tokens (`preprocess`), the tokens a syntax tree (`parse`), and the tree automata (`lower`).

pub mod ast;
pub mod ctl;
mod external;
pub mod formula;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod print;
mod propositions;
pub mod slice;
pub mod text;
pub mod token;
pub mod walk;

use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use crate::{Language, Meaning, ModelSource, Options, Property, PropertyKind, is_built_in};
use ast::{Formula, Ident, Program, Unit};
use entail_temporal::Fairness;
use external::ExternalProperties;
use slice::{Aim, Sliced};
use std::collections::HashMap;
use std::path::Path;

/// Reads a model; `None` if there are errors.
pub(crate) fn load(
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let program = read(path, options, sources, problems)?;
    let model = model_of(&program, sources, problems);
    // An error in a property from the command line is an error of the whole model.
    for problem in problems.iter_mut() {
        problem.property.take_if(|name| options.asked.iter().any(|external| *external.name() == **name));
    }
    model
}

/// Parses a model and external properties, which may need the names of its proctypes; `None` if there are errors.
fn read(path: &Path, options: &Options, sources: &mut Sources, problems: &mut Vec<Diagnostic>) -> Option<Program> {
    let external = ExternalProperties::prepare(&options.asked, sources, problems);
    let (tokens, texts) = preprocess::preprocess_with(path, &external.texts, options, sources, problems);
    let proctypes = parse::proctypes_of(&tokens);
    let mut program = parse::parse(tokens, problems);
    check_names(&program, problems);
    program.units.extend(external.units(texts, &proctypes, problems));
    // After a syntax error the rest may be misread; further problems would be misleading.
    if problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    Some(program)
}

/// Loads a model and slices it. Problems refer to the whole model.
pub(crate) fn load_slice(
    path: &Path,
    options: &Options,
    aims: &[Aim],
    fairness: Fairness,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<(ModelSource, Sliced)> {
    let program = read(path, options, sources, problems)?;
    model_of(&program, sources, problems)?;
    slice_of(&program, aims, fairness, sources, problems)
}

/// The slice of a valid program. Warnings have been reported for the whole program.
pub fn slice_of(
    program: &Program,
    aims: &[Aim],
    fairness: Fairness,
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<(ModelSource, Sliced)> {
    let sliced = slice::slice(program, aims, fairness, sources);
    let mut about_slice = Vec::new();
    let model = model_of(&sliced.program, sources, &mut about_slice);
    problems.extend(about_slice.into_iter().filter(Diagnostic::is_error));
    model.map(|model| (model, sliced))
}

/// Loads a model from its text.
pub fn load_text(
    name: &str,
    text: &str,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let program = read_text(name, text, sources, problems)?;
    model_of(&program, sources, problems)
}

/// Parses a model from its text; `None` if there are errors.
pub fn read_text(name: &str, text: &str, sources: &mut Sources, problems: &mut Vec<Diagnostic>) -> Option<Program> {
    let options = Options { text: Some(text.to_owned()), ..Options::default() };
    read(Path::new(name), &options, sources, problems)
}

/// Lowers a program; `None` if there are errors.
fn model_of(program: &Program, sources: &Sources, problems: &mut Vec<Diagnostic>) -> Option<ModelSource> {
    let lower::Lowered { system, meanings, of_labels } = lower::lower(program, sources, problems)?;
    debug_assert_eq!(entail_ir::verify::verify(&system), Ok(()));
    let mut properties = properties(program, meanings, &|span| sources.place(span).line);
    properties.extend(of_labels.into_iter().map(|(kind, meaning, by_default)| {
        let name = kind.name().to_owned();
        Property { name, kind, text: String::new(), line: 0, by_default, meaning: Some(meaning) }
    }));
    Some(ModelSource {
        language: Language::Promela,
        system,
        retries: Default::default(),
        properties,
        listing: None,
        fingerprint: fingerprint(program),
    })
}

/// The fingerprint of the processes and their data, without properties.
fn fingerprint(program: &Program) -> u64 {
    let is_watched = |unit: &&Unit| match unit {
        Unit::Proctype(_) | Unit::Init(_) | Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => true,
        Unit::Ltl(_) | Unit::Ctl(_) | Unit::Never(_) | Unit::Trace(_) | Unit::HoaClaim(_) => false,
    };
    let units = program.units.iter().filter(is_watched).cloned().collect();
    crate::fingerprint(&[&print::program(&Program { units })])
}

/// Properties are selected by name. SPIN allows claims of the same name; CTL formulas, which it does not know, need
/// unique names.
fn check_names(program: &Program, problems: &mut Vec<Diagnostic>) {
    let mut known: HashMap<&str, (Span, bool)> = HashMap::new();
    for unit in &program.units {
        let (name, kind) = match unit {
            Unit::Ctl(formula) => (&formula.name, PropertyKind::Ctl),
            Unit::Ltl(formula) => (&formula.name, PropertyKind::Ltl),
            Unit::Never(claim) => (&claim.name, PropertyKind::Never),
            Unit::Proctype(_)
            | Unit::Init(_)
            | Unit::Trace(_)
            | Unit::HoaClaim(_)
            | Unit::Typedef(_)
            | Unit::Mtype(_)
            | Unit::Decl(_) => continue,
        };
        let Some(name) = name else { continue };
        let is_ours = kind == PropertyKind::Ctl;
        if is_built_in(&name.name) {
            let problem = format!("`{}` is also the name of a built-in property", name.name);
            let hint = format!("to check this one alone, write `--property {}`", kind.name_of(&name.name));
            problems.push(Diagnostic::warning(name.span, problem).hint(hint));
        }
        match known.get(&*name.name) {
            Some((first, first_is_ours)) if is_ours || *first_is_ours => {
                let problem = format!("the property `{}` is declared twice", name.name);
                problems.push(Diagnostic::error(name.span, problem).related(*first, "first declared here"));
            }
            Some(_) => {}
            None => {
                known.insert(&name.name, (name.span, is_ours));
            }
        }
    }
}

fn text_of(formula: &Formula) -> String {
    formula.expr.as_ref().map_or_else(String::new, text::expression)
}

/// The names of the properties of a program, in the order of the text.
fn property_names(program: &Program) -> Vec<String> {
    let meanings = std::iter::repeat_n(None, program.units.len()).collect();
    properties(program, meanings, &|_| 0).into_iter().map(|property| property.name).collect()
}

/// The properties of the model; unnamed ones get the names that SPIN would give them.
fn properties(program: &Program, meanings: Vec<Option<Meaning>>, line: &dyn Fn(Span) -> u32) -> Vec<Property> {
    let mut properties = Vec::new();
    let mut meanings = meanings.into_iter();
    let (mut linear, mut ctl, mut claims) = (0, 0, 0);
    let name = |name: &Option<Ident>, kind: PropertyKind, number: &mut usize| match name {
        Some(name) => kind.name_of(&name.name),
        None => {
            *number += 1;
            format!("{}_{}", kind.name(), *number - 1)
        }
    };
    for unit in &program.units {
        let (name, kind, text, span) = match unit {
            Unit::Ltl(formula) => {
                let name = name(&formula.name, PropertyKind::Ltl, &mut linear);
                (name, PropertyKind::Ltl, text_of(formula), formula.span)
            }
            Unit::Ctl(formula) => {
                let name = name(&formula.name, PropertyKind::Ctl, &mut ctl);
                (name, PropertyKind::Ctl, text_of(formula), formula.span)
            }
            Unit::HoaClaim(hoa_claim) => (
                PropertyKind::Never.name_of(&hoa_claim.name.name),
                PropertyKind::Never,
                String::new(),
                hoa_claim.span,
            ),
            Unit::Never(claim) => {
                let named = claim.name.as_ref().map(|name| PropertyKind::Never.name_of(&name.name));
                let name = named.unwrap_or_else(|| format!("never_{claims}"));
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
        properties.push(Property { name, kind, text, line: line(span), by_default: true, meaning });
    }
    properties
}
