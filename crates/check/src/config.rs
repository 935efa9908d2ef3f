//! The options of a check, under their command-line names.

pub use crate::report::Format;
pub use entail_model::Named;
pub use entail_search::SearchOrder as Search;
pub use entail_search::Timing;
pub use entail_store::StoreKind as Store;

use crate::contradictions::{self, Contradiction};
use crate::names::option;
use entail_front::{Granularity, Language};
use entail_ir::Passes;
use entail_search::Errors;
use entail_temporal::Fairness;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The options of a check. The default checks safety and all properties of the model, and writes no files.
///
/// Options may contradict each other; [`Config::validate`] finds contradictions, and [`check`](crate::check())
/// returns them as errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Options for reading the model.
    pub reading: Reading,
    /// The properties to check, besides those in [`Config::asked`]: `safety`, `acceptance`, `progress` or a name from
    /// the model. If empty, safety and all properties of the model.
    pub properties: Vec<String>,
    /// Properties that are not part of the model.
    pub asked: Asked,
    /// The fairness assumption.
    #[serde(with = "crate::names")]
    pub fair: Fairness,
    /// Count all errors instead of stopping at the first.
    pub all_errors: bool,
    /// Do not check assertions.
    pub no_assert: bool,
    /// Do not check for invalid end states.
    pub no_end: bool,
    /// The search order; by default the one that suits the store.
    #[serde(with = "crate::names::optional")]
    pub search: Option<Search>,
    /// How visited states are stored.
    #[serde(with = "crate::names")]
    pub store: Store,
    /// The bits per state in lossy stores.
    pub hash_bits: Option<u32>,
    /// The size of the array of [`Store::Bitstate`] in bytes; by default half of the memory.
    pub array: Option<u64>,
    /// The size of a [`Store::Cache`].
    pub cache: Cache,
    /// The number of searches in a swarm, each with another seed; needs a lossy store.
    pub runs: u32,
    /// Random seed for hash functions and search order; 0 keeps the model's order of steps.
    pub seed: u64,
    /// Partial-order reduction.
    pub reduce: Reduction,
    /// How successors are computed.
    pub backend: Backend,
    /// Explore the model exactly as written.
    pub no_opt: bool,
    /// Check each property on the part of the model that it depends on.
    pub slice: bool,
    /// Disabled optimisation passes.
    pub without: Vec<Pass>,
    /// The number of threads of a breadth-first search, by default that of the available physical cores; or of concurrent
    /// searches of a swarm, by default 1.
    pub threads: Option<u32>,
    /// Measure the phases of a search by several threads.
    #[serde(with = "crate::names::optional")]
    pub phases: Option<Timing>,
    /// Bytes of memory for the whole process; by default most of the free memory.
    pub memory: Option<u64>,
    /// The directory for temporary files, which are written if memory runs out.
    pub scratch: Option<PathBuf>,
    /// The maximum search depth.
    pub depth: Option<u64>,
    /// The time limit for each property.
    pub time: Option<Duration>,
    /// Minimise finite counterexamples.
    pub minimise: bool,
    /// The destination of counterexamples.
    pub trail: TrailFile,
    /// The file for the witness or counterexample of a CTL formula, as a graph for Graphviz.
    pub evidence: Option<PathBuf>,
    /// The kinds of search events to log.
    pub log: Vec<LogKind>,
    /// The log file; by default the lines go to [`Observer::log`](crate::Observer::log).
    pub log_file: Option<PathBuf>,
    /// The checkpoint file.
    pub checkpoint: Option<PathBuf>,
    /// The interval between checkpoints; by default 10 minutes.
    pub every: Option<Duration>,
    /// Replace output files regardless of their content, including links and read-only files.
    pub force: bool,
    /// The format of the report.
    pub format: Format,
}

/// Options for reading the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Macros or values of constants: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Overridden constants: `NAME=VALUE`.
    pub fixed: Vec<String>,
    /// Directories of included files.
    pub include_dirs: Vec<PathBuf>,
    /// Allow includes from outside the model's directory and `include_dirs`.
    pub allow_include: bool,
    /// The model's language; by default determined by the file extension.
    #[serde(with = "crate::names::optional")]
    pub language: Option<Language>,
    /// The step granularity in ESML.
    #[serde(with = "crate::names")]
    pub granularity: Granularity,
}

/// Properties that are not part of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    /// LTL formulas.
    pub ltl: Vec<String>,
    /// CTL formulas.
    pub ctl: Vec<String>,
    /// Files with one formula each.
    pub formula_files: Vec<PathBuf>,
    /// Files with one never claim each, or an automaton if the name ends in `.hoa`.
    pub claim_files: Vec<PathBuf>,
}

/// The parameters of state-space caching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// The capacity in states; by default as many as fit into half of the memory.
    pub slots: Option<u64>,
    /// The number of slots in which a state may be stored; by default 16.
    pub probes: Option<u32>,
    /// The number of candidates for replacement; by default 16.
    pub collisions: Option<u32>,
}

/// The destination of counterexamples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrailFile {
    /// No file: only the report contains them.
    #[default]
    None,
    /// `MODEL.trail`, and files named after it.
    Beside,
    /// This file, and files named after it.
    File(PathBuf),
}

/// Partial-order reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Stubborn sets, where they pay off.
    #[default]
    IfWorthIt,
    /// Stubborn sets.
    Stubborn,
    /// Ample sets.
    Ample,
    /// No reduction.
    None,
}

/// How successors are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Machine code compiled for the model.
    #[default]
    Jit,
    /// An interpreter.
    Interpret,
}

/// An optimisation pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Constant propagation.
    Constants,
    /// Removal of irrelevant variables.
    Unread,
    /// Resetting of dead variables.
    Forget,
    /// Statement merging.
    Merge,
}

/// A kind of search event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// All kinds.
    Search,
    /// A new state.
    New,
    /// A step to a visited state.
    Match,
    /// A step that closes a cycle.
    Cycle,
    /// A state is pushed onto the stack, or appended to the queue.
    Push,
    /// A state is popped from the stack.
    Pop,
    /// A state is taken from the queue.
    Take,
    /// A step is tried.
    Try,
    /// A nested search begins or ends.
    Inside,
    /// A cycle is accepted.
    Accept,
    /// An error.
    Error,
}

option!(Reduction { "auto" => IfWorthIt, "por" => Stubborn, "ample" => Ample, "none" => None });
option!(Backend { "jit" => Jit, "interpret" => Interpret });
option!(Pass { "constants" => Constants, "unread" => Unread, "forget" => Forget, "merge" => Merge });
option!(LogKind { "search" => Search, "new" => New, "match" => Match, "cycle" => Cycle, "push" => Push, "pop" => Pop,
    "take" => Take, "try" => Try, "inside" => Inside, "accept" => Accept, "error" => Error });

impl Default for Config {
    fn default() -> Config {
        Config {
            reading: Reading::default(),
            properties: Vec::new(),
            asked: Asked::default(),
            fair: Fairness::None,
            all_errors: false,
            no_assert: false,
            no_end: false,
            search: None,
            store: Store::Exact,
            hash_bits: None,
            array: None,
            cache: Cache::default(),
            runs: 1,
            seed: 0,
            reduce: Reduction::IfWorthIt,
            backend: Backend::Jit,
            no_opt: false,
            slice: false,
            without: Vec::new(),
            threads: None,
            phases: None,
            memory: None,
            scratch: None,
            depth: None,
            time: None,
            minimise: false,
            trail: TrailFile::None,
            evidence: None,
            log: Vec::new(),
            log_file: None,
            checkpoint: None,
            every: None,
            force: false,
            format: Format::Text,
        }
    }
}

impl Config {
    /// Returns an error if options contradict each other or are out of range.
    pub fn validate(&self) -> Result<(), Contradiction> {
        contradictions::find(self).map_or(Ok(()), Err)
    }

    /// The requested search order, or the default.
    pub(crate) fn search(&self) -> Search {
        let usual = if self.store.forgets() { Search::DepthFirst } else { Search::default() };
        self.search.unwrap_or(usual)
    }

    /// The effective reduction.
    pub(crate) fn reduction(&self) -> Reduction {
        if self.no_opt { Reduction::None } else { self.reduce }
    }

    /// The enabled passes.
    pub(crate) fn passes(&self) -> Passes {
        if self.no_opt { Passes::NONE } else { passes_without(&self.without) }
    }

    /// When the search stops. An explicit search order, or `no_opt`, asks for a shortest counterexample.
    pub(crate) fn errors(&self) -> Errors {
        let is_free = self.search.is_none() && !self.no_opt && self.runs == 1;
        match self.all_errors {
            true => Errors::All,
            false if is_free => Errors::Soonest,
            false => Errors::First,
        }
    }

    /// The options that determine which runs are errors, in command-line syntax.
    pub(crate) fn words(&self) -> String {
        let fair = (self.fair != Fairness::None).then(|| format!("--fair {}", self.fair.name()));
        let no_assert = self.no_assert.then(|| "--no-assert".to_owned());
        let no_end = self.no_end.then(|| "--no-end".to_owned());
        fair.into_iter().chain(no_assert).chain(no_end).collect::<Vec<_>>().join(" ")
    }

    /// The options that determine what a search visits, with their values. They must not change when a search is
    /// resumed.
    pub fn fixed_options(&self) -> Vec<(&'static str, String)> {
        fn all<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
            values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
        }
        fn paths(values: &[PathBuf]) -> String {
            all(values.iter().map(|path| path.display()))
        }
        let Config { reading, asked, cache, .. } = self;
        vec![
            ("-D", all(&reading.defines)),
            ("-I", paths(&reading.include_dirs)),
            ("--allow-include", reading.allow_include.to_string()),
            ("--lang", all(reading.language.map(Named::name))),
            ("--granularity", reading.granularity.name().to_owned()),
            ("--property", all(&self.properties)),
            ("--ltl", all(&asked.ltl)),
            ("--ctl", all(&asked.ctl)),
            ("-F", paths(&asked.formula_files)),
            ("--claim", paths(&asked.claim_files)),
            ("--fair", self.fair.name().to_owned()),
            ("--all-errors", self.all_errors.to_string()),
            ("--no-assert", self.no_assert.to_string()),
            ("--no-end", self.no_end.to_string()),
            ("--search", all(self.search.map(Named::name))),
            ("--store", self.store.name().to_owned()),
            ("--hash-bits", all(self.hash_bits)),
            ("--array", all(self.array)),
            ("--cache-slots", all(cache.slots)),
            ("--cache-probes", all(cache.probes)),
            ("--cache-collisions", all(cache.collisions)),
            ("--runs", self.runs.to_string()),
            ("--seed", self.seed.to_string()),
            ("--reduce", self.reduce.name().to_owned()),
            ("--backend", self.backend.name().to_owned()),
            ("--no-opt", self.no_opt.to_string()),
            ("--slice", self.slice.to_string()),
            ("--without", all(self.without.iter().map(|pass| pass.name()))),
            ("--scratch", all(self.scratch.iter().map(|path| path.display()))),
            ("--depth", all(self.depth)),
            ("--minimise", self.minimise.to_string()),
        ]
    }
}

/// All passes but these.
pub fn passes_without(without: &[Pass]) -> Passes {
    let has = |pass: Pass| !without.contains(&pass);
    Passes {
        constants: has(Pass::Constants),
        unread: has(Pass::Unread),
        forget: has(Pass::Forget),
        merge: has(Pass::Merge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> Contradiction {
        let config: Config = serde_json::from_str(json).unwrap();
        config.validate().expect_err(json)
    }

    #[test]
    fn the_default_is_valid_and_is_read_from_nothing() {
        assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), Config::default());
        assert_eq!(Config::default().validate(), Ok(()));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let config = Config {
            reading: Reading {
                language: Some(Language::Esml),
                granularity: Granularity::Statement,
                ..Reading::default()
            },
            fair: Fairness::Strong,
            search: Some(Search::Nested),
            store: Store::Plain,
            without: vec![Pass::Merge, Pass::Unread],
            time: Some(Duration::from_millis(1500)),
            trail: TrailFile::File("run.trail".into()),
            log: vec![LogKind::Error],
            format: Format::Spin,
            ..Config::default()
        };
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), config, "{json}");
        assert!(json.contains(r#""store":"plain""#) && json.contains(r#""search":"nested""#), "{json}");
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_both_options_named() {
        for (json, options) in [
            (r#"{"no_opt": true, "reduce": "por"}"#, ["--no-opt", "--reduce"]),
            (r#"{"no_opt": true, "slice": true}"#, ["--no-opt", "--slice"]),
            (r#"{"store": "cache", "search": "bfs"}"#, ["--store", "--search"]),
            (r#"{"hash_bits": 20}"#, ["--hash-bits", "--store"]),
            (r#"{"array": 4096, "store": "compact"}"#, ["--array", "--store"]),
            (r#"{"cache": {"slots": 9}}"#, ["--cache-slots", "--store"]),
            (r#"{"threads": 2, "search": "dfs"}"#, ["--threads", "--search"]),
            (r#"{"threads": 2, "log": ["new"]}"#, ["--threads", "--log"]),
            (r#"{"runs": 2}"#, ["--runs", "--store"]),
            (r#"{"search": "nested", "fair": "weak"}"#, ["--search", "--fair"]),
            (r#"{"slice": true, "fair": "impartial"}"#, ["--slice", "--fair"]),
            (r#"{"slice": true, "fair": "component"}"#, ["--slice", "--fair"]),
            (r#"{"log": ["new"], "runs": 2, "store": "compact"}"#, ["--log", "--runs"]),
            (r#"{"log": ["new"], "checkpoint": "c"}"#, ["--log", "--checkpoint"]),
            (r#"{"log_file": "l"}"#, ["--log-file", "--log"]),
            (r#"{"checkpoint": "c", "runs": 2, "store": "compact"}"#, ["--checkpoint", "--runs"]),
            (r#"{"every": {"secs": 1, "nanos": 0}}"#, ["--every", "--checkpoint"]),
            (r#"{"reading": {"defines": ["N=1"], "fixed": ["N=2"]}}"#, ["-D", "--for"]),
        ] {
            let Contradiction { options: found, message } = refused(json);
            assert_eq!(found, options, "{json}: {message}");
            assert!(options.iter().any(|option| message.contains(&format!("`{option}"))), "{json}: {message}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for (json, option) in [
            (r#"{"runs": 0}"#, "--runs"),
            (r#"{"threads": 0}"#, "--threads"),
            (r#"{"threads": 5000, "runs": 2, "store": "compact"}"#, "--threads"),
            (r#"{"store": "compact", "hash_bits": 65}"#, "--hash-bits"),
            (r#"{"store": "cache", "cache": {"slots": 0}}"#, "--cache-slots"),
            (r#"{"store": "cache", "cache": {"probes": 2000}}"#, "--cache-probes"),
        ] {
            let Contradiction { options, message } = refused(json);
            assert!(options == [option] && message.contains(option), "{json}: {message}");
        }
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for json in [r#"{"stor": "tree"}"#, r#"{"store": "tre"}"#, r#"{"runs": -1}"#] {
            assert!(serde_json::from_str::<Config>(json).is_err(), "{json}");
        }
    }
}
