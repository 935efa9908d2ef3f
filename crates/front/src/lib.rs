//! Front ends: they lower the text of a model to the automata of `entail-ir`.
//!
//! A front end does not stop at the first error. It returns all problems that it finds, and the parts of the
//! model that it could read.

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
use entail_model::named;
use entail_temporal::{Claim, Ctl, Fairness, Formula, Formulas};
use promela::slice::{Aim, Sliced};
use source::Sources;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Options of the front ends.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text of the model, if it is not the content of its file.
    pub text: Option<String>,
    /// By default, the file extension decides.
    pub language: Option<Language>,
    /// As given to `-D`: macros (`NAME`, `NAME=VALUE` or `NAME(ARGS)=VALUE`) for a language with a preprocessor, else
    /// values of constants (`NAME=VALUE`).
    pub defines: Vec<String>,
    /// As given to `--for`, `NAME=VALUE`. This overrides the definition in the model, which must use the name.
    pub fixed: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    /// Whether files outside the model's directory and `include_dirs` may be included.
    pub allow_include: bool,
    /// Properties that are not part of the model.
    pub asked: Vec<Asked>,
    pub granularity: Granularity,
}

impl Options {
    /// The values of constants, in a language where each must override one of the model.
    fn constants(&self) -> Vec<String> {
        [&self.defines[..], &self.fixed].concat()
    }
}

/// A property that is not part of the model.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: AskedKind,
    /// Its origin, for messages.
    pub source: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedKind {
    /// An LTL formula, which all runs must satisfy.
    Formula,
    /// A CTL formula, which must hold in the initial states.
    Ctl,
    /// A never claim.
    Never,
    /// An automaton in the HOA format, which must accept no run.
    Hoa,
}

named!(AskedKind { "ltl" => Formula, "ctl" => Ctl, "never" => Never, "hoa" => Hoa });

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

/// The granularity of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// That of the language.
    #[default]
    Exact,
    /// One statement, together with the invisible steps before it.
    Statement,
}

named!(Granularity { "exact" => Exact, "statement" => Statement });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Promela,
    Esml,
    Bir,
}

named!(Language { "promela" => Promela, "esml" => Esml, "bir" => Bir });

/// The result of reading a model.
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
    /// Steps in which a process only evaluates its guards again, which the language's own tools count. Each
    /// is the last edge of its location.
    pub retries: HashSet<StatementId>,
    pub properties: Vec<Property>,
    /// The model in the code of the language's own tools, if they have such a code.
    pub listing: Option<String>,
    /// A hash of the model's text, after preprocessing and without external properties.
    pub fingerprint: u64,
}

impl ModelSource {
    /// The system without retries, for properties of runs.
    pub fn without_retries(&self) -> System {
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

/// A property of the model, other than assertions and end states.
#[derive(Clone, Debug)]
pub struct Property {
    pub name: String,
    pub kind: PropertyKind,
    pub text: String,
    pub line: u32,
    /// Whether it is checked unless other properties are selected.
    pub by_default: bool,
    pub meaning: Option<Meaning>,
}

/// The meaning of a property.
#[derive(Clone, Debug)]
pub struct Meaning {
    pub says: Specification,
    /// Its atomic propositions, and their statements.
    pub propositions: Vec<(Expr, StatementId)>,
    /// Conditions for a non-vacuous result, and their statements: each must hold in some state.
    pub antecedents: Vec<(Expr, StatementId)>,
}

#[derive(Clone, Debug)]
pub enum Specification {
    /// All runs satisfy the formula.
    Ltl(Formulas, Formula),
    /// No run is accepted by the claim. A claim of the model also has its SPIN numbering.
    Never(Claim, Option<SpinClaim>),
    /// The formula holds in the initial states.
    Ctl(Ctl),
    /// The monitor of a `trace` or `notrace` reports no fault.
    Monitor(Monitor),
}

/// A never claim, as SPIN numbers its parts.
#[derive(Clone, Debug)]
pub struct SpinClaim {
    /// Its number among process types and claims.
    pub number: u32,
    /// The statements of each edge of the automaton, state by state.
    pub statements: Vec<Vec<StatementId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    Ltl,
    Never,
    /// No run visits an acceptance state infinitely often.
    Acceptance,
    /// Every infinite run visits progress states infinitely often.
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

/// A slice of a model for some properties, and its explanation.
#[derive(Debug)]
pub struct LoadedSlice {
    /// Its model is the slice.
    pub loaded: Loaded,
    pub sliced: Option<Sliced>,
}

/// Reads the model in the file `path`, and slices it for some properties.
pub fn load_slice(path: &Path, options: &Options, aims: &[Aim], fairness: Fairness) -> LoadedSlice {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let found = match options.language.unwrap_or_else(|| Language::of(path)) {
        Language::Esml | Language::Bir => {
            Diagnostic::general("only Promela models can be sliced so far").refuse(&mut problems)
        }
        Language::Promela => promela::load_slice(path, options, aims, fairness, &mut sources, &mut problems),
    };
    let (model, sliced) = found.filter(|_| !problems.iter().any(Diagnostic::is_error)).unzip();
    LoadedSlice { loaded: Loaded { sources, problems, model }, sliced }
}

/// Reports properties that are not supported for this language.
fn unanswerable(asked: &[Asked], language: Language) -> Option<Diagnostic> {
    let is_asked = |kinds: &[AskedKind]| asked.iter().any(|asked| kinds.contains(&asked.kind));
    let linear = is_asked(&[AskedKind::Formula, AskedKind::Never, AskedKind::Hoa]);
    let message = match language {
        Language::Promela => return None,
        Language::Esml | Language::Bir if linear => {
            "LTL formulas, never claims and automata are supported for Promela models only"
        }
        Language::Bir if is_asked(&[AskedKind::Ctl]) => {
            "CTL formulas are supported for Promela and ESML models only"
        }
        Language::Esml | Language::Bir => return None,
    };
    Some(Diagnostic::general(message))
}

/// FNV-1a. Trails contain it, so that it must not change.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// How a language without a preprocessor is loaded, given a name and a text.
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
        Err(problem) => problem.refuse(problems),
    }
}

/// Whether this is the name of a built-in property.
pub fn is_built_in(name: &str) -> bool {
    let built_in = [PropertyKind::Acceptance, PropertyKind::Progress, PropertyKind::Trace, PropertyKind::Notrace];
    name == SAFETY || built_in.iter().any(|kind| kind.name() == name)
}

impl Language {
    /// The language of a file, by its extension. SPIN reads files with any extension, or none.
    pub fn of(path: &Path) -> Language {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("esml") => Language::Esml,
            Some("bir") => Language::Bir,
            Some(_) | None => Language::Promela,
        }
    }

    /// The depth of an initial state in reports. It agrees with the language's own tools: SPIN counts steps,
    /// ESML's model checker counts states on its stack.
    pub fn first_depth(self) -> u64 {
        match self {
            Language::Promela | Language::Bir => 0,
            Language::Esml => 1,
        }
    }
}

/// The name of the built-in checks: assertions, invalid end states and run-time faults.
pub const SAFETY: &str = "safety";

impl PropertyKind {
    /// The name under which a property of this kind is checked. A property with the name of a built-in one is
    /// prefixed with its kind.
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
