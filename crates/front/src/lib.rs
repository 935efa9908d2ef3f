//! Languages: from the text a person wrote to the automata of `entail-ir`.
//!
//! A front end never stops at the first problem: it returns what it could read and every problem it met.

pub mod bir;
pub mod diagnostic;
pub mod esml;
pub mod kit;
pub mod legible;
pub mod promela;
pub mod source;
pub mod suggest;

use diagnostic::Diagnostic;
use entail_ir::{Expr, Monitor, StatementId, System};
use entail_temporal::{Claim, Ctl, Fairness, Formula, Formulas};
use promela::slice::{Aim, Sliced};
use source::Sources;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How a model is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text of the model, if it is not the one in its file.
    pub text: Option<String>,
    /// By the file's ending if none is given.
    pub language: Option<Language>,
    /// As given to `-D`: macros for a language with a preprocessor, else values for constants: `NAME=VALUE`.
    pub defines: Vec<String>,
    /// As given to `--for`: `NAME=VALUE`, whatever the model defines. It must use the name.
    pub fixed: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    /// Whether files outside of the model's directory and of `include_dirs` may be included.
    pub allow_include: bool,
    /// What is asked of the model besides what it says itself.
    pub asked: Vec<Asked>,
    pub granularity: Granularity,
}

impl Options {
    /// The values of constants, in a language where each replaces what the model says and must name one.
    fn constants(&self) -> Vec<String> {
        [&self.defines[..], &self.fixed].concat()
    }
}

/// Something to be checked of a model that does not stand in it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: AskedKind,
    /// Where it comes from, for messages.
    pub source: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedKind {
    /// A formula of linear time, which all runs satisfy.
    Formula,
    /// A formula of branching time, which is true where runs begin.
    Ctl,
    /// A never claim.
    Never,
    /// An automaton in the HOA format; there are no runs that it accepts.
    Hoa,
}

impl Asked {
    /// The name of the property.
    pub fn name(&self) -> String {
        match self.kind {
            AskedKind::Formula => PropertyKind::Ltl.name_of(self.text.trim()),
            AskedKind::Ctl => PropertyKind::Ctl.name_of(self.text.trim()),
            AskedKind::Never | AskedKind::Hoa => PropertyKind::Never.name_of(&self.source),
        }
    }
}

/// How much of a model is one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// As the language defines it.
    #[default]
    Exact,
    /// One statement, together with what leads to it and no other process can see.
    Statement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Promela,
    Esml,
    Bir,
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
    /// Steps by which a process only looks once more, because the language's own tools counted them. Each is the last one
    /// of its location.
    pub retries: HashSet<StatementId>,
    pub properties: Vec<Property>,
    /// The model in the code of the language's own tools, if they have one.
    pub listing: Option<String>,
    /// A hash of the model's text, after preprocessing and without what is asked of it.
    pub fingerprint: u64,
}

impl ModelSource {
    /// The system whose runs properties are about: who only looks once more has not moved.
    pub fn in_motion(&self) -> System {
        let mut system = self.system.clone();
        let System { process_types, edges, .. } = &mut system;
        for location in process_types.iter_mut().flat_map(|process| &mut process.locations) {
            let retries = |edge: u32| self.retries.contains(&edges[edge as usize].statement);
            if location.count > 0 && retries(location.first + location.count - 1) {
                location.count -= 1;
            }
        }
        system
    }
}

/// Something the model says about itself, beyond assertions and end states.
#[derive(Clone, Debug)]
pub struct Property {
    pub name: String,
    pub kind: PropertyKind,
    pub text: String,
    pub line: u32,
    /// Whether it is checked if nobody says what to check.
    pub by_default: bool,
    pub meaning: Option<Meaning>,
}

/// What a property says about the runs of a system.
#[derive(Clone, Debug)]
pub struct Meaning {
    pub says: Says,
    /// What is asked of states, and where in the model.
    pub propositions: Vec<(Expr, StatementId)>,
    /// What must be true somewhere if it is to say anything at all, and where in the model that stands.
    pub antecedents: Vec<(Expr, StatementId)>,
}

#[derive(Clone, Debug)]
pub enum Says {
    /// All runs satisfy this.
    Always(Formulas, Formula),
    /// There are no such runs. If SPIN knows the claim too, how it stands there.
    Never(Claim, Option<Written>),
    /// This is true where runs begin.
    Branching(Ctl),
    /// A monitor has nothing against what is sent and received.
    Watched(Monitor),
}

/// A never claim, as SPIN numbers its parts.
#[derive(Clone, Debug)]
pub struct Written {
    /// Among the process types and claims.
    pub number: u32,
    /// By what statements it takes each edge of the automaton, one state's edges after the other's.
    pub statements: Vec<Vec<StatementId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    Ltl,
    Never,
    /// That no acceptance state is passed again and again.
    Acceptance,
    /// That progress states are passed again and again.
    Progress,
    Trace,
    Notrace,
    Ctl,
}

/// Reads the model in the file `path`.
pub fn load(path: &Path, options: &Options) -> Loaded {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let language = options.language.unwrap_or_else(|| Language::of(path));
    if options.granularity != Granularity::Exact && language != Language::Esml {
        problems
            .push(Diagnostic::general("only ESML has a choice of granularity").hint("leave out `--granularity`"));
    }
    problems.extend(unanswerable(&options.asked, language));
    let model = match language {
        Language::Promela => promela::load(path, options, &mut sources, &mut problems),
        Language::Esml => load_with(esml::load_text, path, options, &mut sources, &mut problems),
        Language::Bir => load_with(bir::load_text, path, options, &mut sources, &mut problems),
    };
    let model = model.filter(|_| !problems.iter().any(Diagnostic::is_error));
    Loaded { sources, problems, model }
}

/// A model without what some properties do not depend on, and why.
#[derive(Debug)]
pub struct LoadedSlice {
    /// Its model is the slice.
    pub loaded: Loaded,
    pub sliced: Option<Sliced>,
}

/// Reads the model in the file `path`, as far as the properties that are aimed at depend on it.
pub fn load_slice(path: &Path, options: &Options, aims: &[Aim], fairness: Fairness) -> LoadedSlice {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let found = match options.language.unwrap_or_else(|| Language::of(path)) {
        Language::Esml | Language::Bir => {
            problems.push(Diagnostic::general("only Promela models can be sliced so far"));
            None
        }
        Language::Promela => promela::load_slice(path, options, aims, fairness, &mut sources, &mut problems),
    };
    let (model, sliced) = found.filter(|_| !problems.iter().any(Diagnostic::is_error)).unzip();
    LoadedSlice { loaded: Loaded { sources, problems, model }, sliced }
}

/// What cannot be asked of a model in this language.
fn unanswerable(asked: &[Asked], language: Language) -> Option<Diagnostic> {
    let is_asked = |kinds: &[AskedKind]| asked.iter().any(|asked| kinds.contains(&asked.kind));
    let linear = is_asked(&[AskedKind::Formula, AskedKind::Never, AskedKind::Hoa]);
    let message = match language {
        Language::Promela => return None,
        Language::Esml | Language::Bir if linear => {
            "formulas of linear time, claims and automata can be given for Promela models only"
        }
        Language::Bir if is_asked(&[AskedKind::Ctl]) => {
            "formulas of branching time can be given for Promela and ESML models only"
        }
        Language::Esml | Language::Bir => return None,
    };
    Some(Diagnostic::general(message))
}

/// FNV-1a: trails keep it, so it is the same for every version.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a language without a preprocessor has to offer: a name, a text, and how to read it.
type LoadText = fn(&str, &str, &Options, &mut Sources, &mut Vec<Diagnostic>) -> Option<ModelSource>;

fn load_with(
    load_text: LoadText,
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<ModelSource> {
    let name = legible::shown(path);
    let bytes = options.text.as_ref().map_or_else(|| source::read(path), |text| Ok(text.as_bytes().to_vec()));
    match bytes.and_then(|bytes| source::text_of(&name, bytes)) {
        Ok(text) => load_text(&name, &text, options, sources, problems),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Whether properties that no formula or claim defines have this name.
pub fn is_built_in(name: &str) -> bool {
    let built_in = [PropertyKind::Acceptance, PropertyKind::Progress, PropertyKind::Trace, PropertyKind::Notrace];
    name == SAFETY || built_in.iter().any(|kind| kind.name() == name)
}

impl Language {
    /// The language that files with this ending are written in. SPIN reads files with any ending, or none.
    pub fn of(path: &Path) -> Language {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("esml") => Language::Esml,
            Some("bir") => Language::Bir,
            Some(_) | None => Language::Promela,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Promela => "promela",
            Language::Esml => "esml",
            Language::Bir => "bir",
        }
    }

    /// The depth of an initial state, as the language's own tools count: SPIN counts the steps that lead to a state,
    /// ESML's model checker the states on its stack.
    pub fn first_depth(self) -> u64 {
        match self {
            Language::Promela | Language::Bir => 0,
            Language::Esml => 1,
        }
    }
}

/// The name of the checks that every model has: assertions, invalid end states and run-time faults.
pub const SAFETY: &str = "safety";

impl PropertyKind {
    /// The name under which a property of this kind is checked. Those that every model has keep their names; another one
    /// that is called like one of them is told apart by its kind.
    pub fn name_of(self, name: &str) -> String {
        if is_built_in(name) { format!("{}:{name}", self.name()) } else { name.to_owned() }
    }

    pub fn name(self) -> &'static str {
        match self {
            PropertyKind::Ltl => "ltl",
            PropertyKind::Acceptance => "acceptance",
            PropertyKind::Progress => "progress",
            PropertyKind::Never => "never",
            PropertyKind::Trace => "trace",
            PropertyKind::Notrace => "notrace",
            PropertyKind::Ctl => "ctl",
        }
    }
}
