//! ESML, the Extended State Machine Language of Stellenbosch: typed processes that communicate only through channels.
//!
//! After J. Geldenhuys: Efficiency issues in the design of a model checker, Stellenbosch 1999.
//!
//! The text becomes a syntax tree (`parse`), the tree a checked program in the instructions of ESML's
//! abstract machine (`check`), and the instructions become automata (`lower`).

mod ast;
mod check;
mod code;
mod listing;
mod lower;
mod parse;
mod token;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::{Asked, AskedKind, Language, ModelSource, Options, Property, PropertyKind};

/// Loads a model from its text. If there is none, the problems contain errors.
pub fn load_text(
    name: &str,
    text: &str,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let file = sources.add(name, text);
    let model = parse::parse(file, text, problems)?;
    let asked = options.asked.iter().filter(|asked| asked.kind == AskedKind::Ctl);
    let formulas: Vec<_> = asked.filter_map(|asked| formula(asked, sources, problems)).collect();
    let program = check::check(&model, &formulas, &options.constants(), sources, problems);
    if problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    let lower::Lowered { system, retries, meanings } =
        lower::lower(&program, options.granularity, sources, problems)?;
    debug_assert_eq!(entail_ir::verify::verify(&system), Ok(()));
    let formulas = program.formulas.iter().zip(meanings);
    let properties = formulas.map(|(formula, meaning)| Property {
        name: formula.name.clone(),
        kind: PropertyKind::Ctl,
        text: sources.text(formula.span).to_owned(),
        line: sources.place(formula.span).line,
        by_default: true,
        meaning: Some(meaning),
    });
    let properties = properties.collect();
    let listing = Some(listing::listing(&program));
    let fingerprint = crate::fingerprint(&[text, &options.constants().join(" ")]);
    Some(ModelSource { language: Language::Esml, system, retries, properties, listing, fingerprint })
}

/// A formula from the command line, with its name.
fn formula(asked: &Asked, sources: &mut Sources, problems: &mut Vec<Diagnostic>) -> Option<(String, ast::Expr)> {
    let file = sources.add(&*asked.source, &*asked.text);
    let formula = parse::parse_formula(file, &asked.text, problems)?;
    Some((asked.name(), formula))
}
