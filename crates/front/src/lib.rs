//! Languages: from the text a person wrote to the automata of `entail-ir`.
//!
//! A front end never stops at the first problem: it returns what it could read and every problem it met.

pub mod diagnostic;
pub mod promela;
pub mod source;
pub mod suggest;

use diagnostic::Diagnostic;
use entail_ir::System;
use source::Sources;
use std::path::{Path, PathBuf};

/// How a model is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// By the file's ending if none is given.
    pub language: Option<Language>,
    /// As given to `-D`: `NAME`, `NAME=VALUE` or `NAME(ARGS)=VALUE`.
    pub defines: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Promela,
}

/// What came of reading a model.
#[derive(Debug)]
pub struct Loaded {
    pub sources: Sources,
    /// Errors and warnings.
    pub problems: Vec<Diagnostic>,
    /// `None` if there are errors.
    pub model: Option<ModelSource>,
}

#[derive(Debug)]
pub struct ModelSource {
    pub language: Language,
    pub system: System,
    pub properties: Vec<Property>,
}

/// Something the model says about itself, beyond assertions and end states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub name: String,
    pub kind: PropertyKind,
    pub text: String,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    Ltl,
    Never,
    Trace,
    Notrace,
}

/// Reads the model in the file `path`.
pub fn load(path: &Path, options: &Options) -> Loaded {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let model = match options.language.or_else(|| Language::of(path)) {
        Some(Language::Promela) => promela::load(path, options, &mut sources, &mut problems),
        None => {
            let message = format!("cannot tell the language of `{}` from its ending", path.display());
            problems.push(Diagnostic::general(message).hint("name it with `--lang`, as in `--lang promela`"));
            None
        }
    };
    let model = model.filter(|_| !problems.iter().any(Diagnostic::is_error));
    Loaded { sources, problems, model }
}

impl Language {
    /// The language that files with this ending are written in.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "pml" | "prom" | "promela" | "pm" | "pr" | "spin" => Some(Language::Promela),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Promela => "promela",
        }
    }
}

impl PropertyKind {
    pub fn name(self) -> &'static str {
        match self {
            PropertyKind::Ltl => "ltl",
            PropertyKind::Never => "never",
            PropertyKind::Trace => "trace",
            PropertyKind::Notrace => "notrace",
        }
    }
}
