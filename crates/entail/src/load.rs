//! Reading a model, and saying what is wrong with it.

use crate::args::{AskedArgs, ReadingArgs};
use crate::console::{Console, Failure};
use entail_front::diagnostic::{Diagnostic, Severity, render};
use entail_front::source::Sources;
use entail_front::{Asked, AskedKind, Loaded, ModelSource, Options};
use std::fs;
use std::path::Path;

/// A model, or what is wrong with it. Everything worth saying has been said on stderr.
pub struct Reading {
    pub model: Option<ModelSource>,
    pub sources: Sources,
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

/// A property that cannot be read is an error if it is wanted, else worth a warning.
pub fn read(
    path: &Path,
    args: &ReadingArgs,
    asked: &[Asked],
    is_wanted: impl Fn(&str) -> bool,
    console: &Console,
) -> Reading {
    let options = Options { asked: asked.to_vec(), ..args.options() };
    let Loaded { sources, mut problems, model } = entail_front::load(path, &options);
    for problem in &mut problems {
        if problem.property.as_ref().is_some_and(|property| !is_wanted(property)) {
            problem.severity = Severity::Warning;
        }
    }
    if !problems.is_empty() {
        console.complain_styled(&render(&problems, &sources, console.colour_errors));
    }
    let of = |severity| -> Vec<String> {
        let problems = problems.iter().filter(|problem| problem.severity == severity);
        problems.map(|problem| line(problem, &sources)).collect()
    };
    let (warnings, errors) = (of(Severity::Warning), of(Severity::Error));
    Reading { model, sources, warnings, errors }
}

/// For commands that can do nothing without a model.
pub fn read_or_fail(
    path: &Path,
    args: &ReadingArgs,
    asked: &[Asked],
    console: &Console,
) -> Result<ModelSource, Failure> {
    read(path, args, asked, |_| false, console).model.ok_or(Failure(None))
}

/// The options that give formulas.
pub const LTL: &str = "--ltl";
pub const CTL: &str = "--ctl";

/// What is asked of a model besides what it says itself.
pub fn asked(args: &AskedArgs) -> Result<Vec<Asked>, String> {
    let linear = args.ltl.iter().map(|text| (AskedKind::Formula, LTL, text));
    let branching = args.ctl.iter().map(|text| (AskedKind::Ctl, CTL, text));
    let given = linear
        .chain(branching)
        .map(|(kind, option, text)| Ok(Asked { kind, source: option.to_owned(), text: text.clone() }));
    let formulas = args.formula_files.iter().map(|path| (AskedKind::Formula, path));
    let claims = args.claim_files.iter().map(|path| {
        let is_hoa = path.extension().is_some_and(|ending| ending == "hoa");
        (if is_hoa { AskedKind::Hoa } else { AskedKind::Never }, path)
    });
    let read = formulas.chain(claims).map(|(kind, path)| {
        let source = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {source}: {error}"))?;
        Ok(Asked { kind, source, text })
    });
    given.chain(read).collect()
}

fn line(problem: &Diagnostic, sources: &Sources) -> String {
    match problem.span.map(|span| sources.place(span)) {
        Some(place) => format!("{}:{}:{}: {}", place.file, place.line, place.column, problem.message),
        None => problem.message.clone(),
    }
}
