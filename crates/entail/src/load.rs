//! Reading a model, and saying what is wrong with it.

use crate::args::ReadingArgs;
use crate::console::{Console, Failure};
use entail_front::diagnostic::{Diagnostic, Severity, render};
use entail_front::source::Sources;
use entail_front::{Loaded, ModelSource, Options};
use std::path::Path;

/// A model, or what is wrong with it. Everything worth saying has been said on stderr.
pub struct Reading {
    pub model: Option<ModelSource>,
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

/// Formulas come with names for messages.
pub fn read(path: &Path, args: &ReadingArgs, formulas: &[(String, String)], console: &Console) -> Reading {
    let options = Options { formulas: formulas.to_vec(), ..args.options() };
    let Loaded { sources, problems, model } = entail_front::load(path, &options);
    if !problems.is_empty() {
        console.complain(&render(&problems, &sources, console.colour_errors));
    }
    let of = |severity| -> Vec<String> {
        let problems = problems.iter().filter(|problem| problem.severity == severity);
        problems.map(|problem| line(problem, &sources)).collect()
    };
    Reading { model, warnings: of(Severity::Warning), errors: of(Severity::Error) }
}

/// For commands that can do nothing without a model.
pub fn read_or_fail(path: &Path, args: &ReadingArgs, console: &Console) -> Result<ModelSource, Failure> {
    read(path, args, &[], console).model.ok_or(Failure(None))
}

fn line(problem: &Diagnostic, sources: &Sources) -> String {
    match problem.span.map(|span| sources.place(span)) {
        Some(place) => format!("{}:{}:{}: {}", place.file, place.line, place.column, problem.message),
        None => problem.message.clone(),
    }
}
