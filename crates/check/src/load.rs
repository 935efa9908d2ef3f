//! Reads models, and reports their errors.

use crate::config::{self, Reading};
use crate::observer::{Message, Observer};
use entail_front::diagnostic::{Diagnostic, Severity};
use entail_front::promela::slice::{Aim, Sliced};
use entail_front::source::Sources;
use entail_front::{Asked, AskedKind, Loaded, LoadedSlice, ModelSource, Options, Property, PropertyKind};
use entail_temporal::Fairness;
use std::fs;
use std::path::{Path, PathBuf};

/// The text of a model, with its file name.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    /// `None` for the content of the file.
    text: Option<String>,
}

impl Input {
    /// The model in a file.
    pub fn file(path: impl Into<PathBuf>) -> Input {
        Input { path: path.into(), text: None }
    }

    /// A text, which need not be in a file. Its name determines the language and the directory of included files.
    pub fn text(name: impl Into<PathBuf>, text: impl Into<String>) -> Input {
        Input { path: name.into(), text: Some(text.into()) }
    }

    /// The file, or the name of the text.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn options(&self, reading: &Reading, asked: &[Asked]) -> Options {
        Options {
            text: self.text.clone(),
            language: reading.language,
            defines: reading.defines.clone(),
            fixed: reading.fixed.clone(),
            include_dirs: reading.include_dirs.clone(),
            allow_include: reading.allow_include,
            asked: asked.to_vec(),
            granularity: reading.granularity,
        }
    }
}

/// A model, or the problems in its text, which the observer has received.
pub struct ReadModel {
    /// `None` if there are errors.
    pub model: Option<ModelSource>,
    /// The model's files.
    pub sources: Sources,
    /// A line for each warning.
    pub warnings: Vec<String>,
    /// A line for each error.
    pub errors: Vec<String>,
}

/// Reads a model. A property with errors is an error if it is selected, otherwise a warning.
pub fn read(
    input: &Input,
    reading: &Reading,
    asked: &[Asked],
    is_wanted: impl Fn(&str) -> bool,
    observer: &dyn Observer,
) -> ReadModel {
    let options = input.options(reading, asked);
    let Loaded { sources, mut problems, model } = entail_front::load(&input.path, &options);
    for problem in &mut problems {
        if problem.property.as_ref().is_some_and(|property| !is_wanted(property)) {
            problem.severity = Severity::Warning;
        }
    }
    if !problems.is_empty() {
        observer.message(Message::Problems(&problems, &sources));
    }
    let of = |severity| -> Vec<String> {
        let problems = problems.iter().filter(|problem| problem.severity == severity);
        problems.map(|problem| line(problem, &sources)).collect()
    };
    let (warnings, errors) = (of(Severity::Warning), of(Severity::Error));
    ReadModel { model, sources, warnings, errors }
}

/// Reads the slice of a model for some properties; `None` if there are errors, which the observer receives.
pub fn read_slice(
    input: &Input,
    reading: &Reading,
    asked: &[Asked],
    aims: &[Aim],
    observer: &dyn Observer,
) -> Option<(ModelSource, Sliced)> {
    let options = input.options(reading, asked);
    let LoadedSlice { loaded, sliced } = entail_front::load_slice(&input.path, &options, aims, Fairness::None);
    let found = loaded.model.zip(sliced);
    if found.is_none() {
        observer.message(Message::Problems(&loaded.problems, &loaded.sources));
    }
    found
}

/// The slicing criterion of a property, or of safety if there is none. It always includes all safety checks, so that
/// a trail can be replayed on the same slice.
pub fn aim(property: Option<&Property>) -> Aim {
    match property {
        None => Aim::Safety { assertions: true, ends: true },
        Some(property) => match property.kind {
            PropertyKind::Acceptance | PropertyKind::Progress => Aim::Labels(property.kind),
            PropertyKind::Ltl
            | PropertyKind::Never
            | PropertyKind::Trace
            | PropertyKind::Notrace
            | PropertyKind::Ctl => Aim::Property(property.name.clone()),
        },
    }
}

/// The options for formulas.
const LTL: &str = "--ltl";
const CTL: &str = "--ctl";
pub(crate) const OPTIONS: [&str; 2] = [LTL, CTL];

/// The properties that are not part of the model, with the texts of their files.
pub fn asked(args: &config::Asked) -> Result<Vec<Asked>, String> {
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
