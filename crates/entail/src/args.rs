//! The command line.

use crate::picture::Layout;
use crate::quantities::{self, Sweep};
use crate::run::ViewArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use entail_check::config::{Backend, Format, LogKind, Named, Pass, Reduction, Search, Store, Timing};
use entail_front::{Granularity, Language};
use entail_model::named;
use entail_temporal::Fairness;
use std::path::PathBuf;
use std::time::Duration;

/// An explicit-state model checker.
#[derive(Debug, Parser)]
#[command(name = "entail", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is only one")]
pub enum Verb {
    Check(CheckArgs),
    Graph(GraphArgs),
    Ltl(LtlArgs),
    Replay(ReplayArgs),
    Show(ShowArgs),
    Simulate(SimulateArgs),
    Slice(SliceArgs),
}

/// Does the model satisfy its properties?
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub struct CheckArgs {
    #[arg(required_unless_present = "resume", value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Report as text, as JSON, or in the format of SPIN's `pan`
    #[arg(long, value_name = Format::names().join("|"), default_value = "text", value_parser = Format::named)]
    pub format: Format,
    /// Write the counterexample to this file [default: MODEL.trail]
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Minimise a finite counterexample: fewer steps, fewer processes, fewer context switches
    #[arg(long)]
    pub minimise: bool,
    /// Draw the witness or counterexample of a CTL formula in this file, as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// Replace output files even if they have other content, are read-only or are links
    #[arg(long)]
    pub force: bool,
    /// Check the model for each value of a constant or macro, and list the values for which it holds
    #[arg(long = "for", value_name = "NAME=LOW..HIGH", value_parser = quantities::sweep, conflicts_with_all = ["trail", "evidence"])]
    pub sweep: Option<Sweep>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub what: WhatArgs,
    #[command(flatten)]
    pub how: HowArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub log: LogArgs,
    /// Save the search to this file periodically, and when it reaches a limit, so that it can be resumed; one property only
    #[arg(long, value_name = "FILE", conflicts_with = "sweep", help_heading = "Checkpoints")]
    pub checkpoint: Option<PathBuf>,
    /// Interval between checkpoints [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = quantities::duration, help_heading = "Checkpoints")]
    pub every: Option<Duration>,
    /// Resume the search saved in this file, and save it there again; only limits and output files may differ from the
    /// original command
    #[arg(long, value_name = "FILE", conflicts_with = "sweep", help_heading = "Checkpoints")]
    pub resume: Option<PathBuf>,
}

const EXIT_STATUS: &str = "Exit status: 0 every property holds, 1 some property is violated, \
    2 the model or the command is wrong, 3 inconclusive.";

/// Show a counterexample step by step
#[derive(Debug, Args)]
pub struct ReplayArgs {
    pub model: PathBuf,
    /// The trail, as written by `entail check` or SPIN's `pan` [default: MODEL.trail]
    pub trail: Option<PathBuf>,
    /// Show when the propositions of this property change, and the state of its claim
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// Replay on the slice for the property: needed for trails from `entail check --slice`
    #[arg(long)]
    pub slice: bool,
    #[command(flatten)]
    pub asked: AskedArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Same as `--as steps` or `--as json`
    #[arg(long, value_enum, default_value_t, conflicts_with = "view")]
    pub format: ReplayFormat,
    #[command(flatten)]
    pub shown: ViewArgs,
}

/// Simulate one run of the model: at random, interactively, or along a trail
#[derive(Debug, Args)]
#[command(after_help = SIMULATION_STATUS)]
pub struct SimulateArgs {
    pub model: PathBuf,
    /// Choose each step interactively, in full screen
    #[arg(short, long, conflicts_with = "view")]
    pub interactive: bool,
    /// Use line-by-line commands instead of the full screen; always the case without a terminal
    #[arg(long, requires = "interactive")]
    pub plain: bool,
    /// Random seed: the same seed gives the same run [default: a new seed each time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Maximum number of steps
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "interactive")]
    pub steps: u64,
    /// Follow this trail first, as written by `entail` or SPIN's `pan`
    #[arg(long, value_name = "TRAIL")]
    pub along: Option<PathBuf>,
    /// Write the run to this file as a trail, for `entail replay` or `spin -t`; if interactive, on the command `w`
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Replace that file even if it is not a trail, is read-only or is a link
    #[arg(long)]
    pub force: bool,
    /// How to compute successors; does not affect the run
    #[arg(long, value_name = Backend::names().join("|"), default_value = "jit", value_parser = Backend::named)]
    pub backend: Backend,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub shown: ViewArgs,
}

const SIMULATION_STATUS: &str = "Exit status: 0 the run ended or reached the maximum number of steps, \
1 it ended in an error, 2 the model or the command is wrong, 3 it was interrupted.";

/// Translate an LTL formula into an automaton
#[derive(Debug, Args)]
#[command(after_help = FORMULAS)]
pub struct LtlArgs {
    /// The formula, such as `[] (request -> <> granted)`
    #[arg(required_unless_present_any = ["file", "hoa"])]
    pub formula: Option<String>,
    /// Read the formula from a file
    #[arg(short = 'F', value_name = "FILE", conflicts_with = "formula")]
    pub file: Option<PathBuf>,
    /// Read an automaton instead, in the HOA format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["formula", "file"])]
    pub hoa: Option<PathBuf>,
    /// A never claim for SPIN, or an automaton with transition-based acceptance in the HOA format or as a graph for Graphviz
    #[arg(long, value_enum, default_value_t)]
    pub format: LtlFormat,
}

const FORMULAS: &str = "Operators: [] <> X U W V R ! && || -> <-> and the words always eventually next until weakuntil \
    release implies equivalent. Propositions are Promela's expressions.";

/// Draw the reachable states of a small model, without reduction or optimisation
#[derive(Debug, Args)]
pub struct GraphArgs {
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// A graph for Graphviz (dot), as a picture (svg) or as JSON; a search as lines (text) or as a page with a slider (html)
    /// [default: dot, or text with --search]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Layout engine for SVG
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Unfold the runs into a tree of this depth, in states
    #[arg(long, value_name = "DEPTH", conflicts_with = "search")]
    pub tree: Option<usize>,
    /// Show a search of the states step by step, up to the first error
    #[arg(long, value_name = Order::names().join("|"), value_parser = Order::named)]
    pub search: Option<Order>,
    /// Draw no more states than this
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Show only these variables and channels in states
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub values: Vec<String>,
    /// Show only the control locations of processes
    #[arg(long, conflicts_with = "values")]
    pub no_values: bool,
}

/// Show the parts of a model in entail's representation
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// automata, claim (the automaton of the runs that a property forbids), symbols, dependencies (between statements), code
    /// (machine code, and the code of the language's own tools where they have one) or ir (entail's intermediate
    /// representation)
    #[arg(value_parser = What::named)]
    pub what: What,
    pub model: PathBuf,
    /// The claim of this property [default: the model's never claim, or its only property]
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    #[command(flatten)]
    pub asked: AskedArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[arg(long, value_enum, default_value_t)]
    pub format: ShowFormat,
    /// Layout engine for SVG
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Show the optimised model that `entail check` searches
    #[arg(long)]
    pub optimised: bool,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// Slice a model: remove the parts that its properties do not depend on
#[derive(Debug, Args)]
pub struct SliceArgs {
    pub model: PathBuf,
    /// Slice for this property: `safety`, `acceptance`, `progress` or a name from the model; may be repeated
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,
    #[command(flatten)]
    pub asked: AskedArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The slice with an explanation (text), the slice alone (promela), or both as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: SliceFormat,
}

/// How the model's text is read.
#[derive(Clone, Debug, Args)]
pub struct ReadingArgs {
    /// Define a preprocessor macro, or override a constant
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Allow includes from outside the model's directory and the `-I` directories
    #[arg(long)]
    pub allow_include: bool,
    /// The model's language [default: esml or bir by file extension, otherwise promela]
    #[arg(long, value_name = Language::names().join("|"), value_parser = Language::named)]
    pub lang: Option<Language>,
    /// Step granularity in ESML: as the language defines it, or one statement
    #[arg(long, value_name = Granularity::names().join("|"), default_value = "exact", value_parser = Granularity::named)]
    pub granularity: Granularity,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Properties")]
pub struct WhatArgs {
    /// Check only this property, besides formulas on the command line: `safety`, `acceptance`, `progress` or a name from the
    /// model; may be repeated [default: safety and all properties of the model]
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,
    #[command(flatten)]
    pub asked: AskedArgs,
    /// Consider only fair infinite runs, by this kind of fairness
    #[arg(long, value_name = Fairness::names().join("|"), default_value = "none", value_parser = Fairness::named)]
    pub fair: Fairness,
    /// Count all errors instead of stopping at the first
    #[arg(long)]
    pub all_errors: bool,
    /// Do not check assertions
    #[arg(long)]
    pub no_assert: bool,
    /// Do not check for invalid end states
    #[arg(long)]
    pub no_end: bool,
}

/// Properties given on the command line, in addition to those of the model.
#[derive(Clone, Debug, Args)]
pub struct AskedArgs {
    /// An LTL formula, such as `[] (request -> <> granted)`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// A CTL formula, such as `AG (request -> EF granted)`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub ctl: Vec<String>,
    /// The formula in this file; may be repeated
    #[arg(short = 'F', value_name = "FILE")]
    pub formula_files: Vec<PathBuf>,
    /// The never claim in this file, or the automaton if its name ends in `.hoa`; may be repeated
    #[arg(long = "claim", short = 'N', value_name = "FILE")]
    pub claim_files: Vec<PathBuf>,
}

/// Optimisation passes to disable.
#[derive(Clone, Debug, Args)]
pub struct PassArgs {
    /// Disable this optimisation: constant propagation (constants), removal of irrelevant variables (unread), resetting of
    /// dead variables (forget) or statement merging (merge); may be repeated
    #[arg(long, value_name = Pass::names().join("|"), value_delimiter = ',', value_parser = Pass::named)]
    pub without: Vec<Pass>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct HowArgs {
    /// Search order: breadth-first (bfs) finds a short counterexample, with --no-opt a shortest one; nested is depth-first
    /// (dfs), with nested depth-first search for accepting cycles [default: bfs with depth-first probes; dfs with --store
    /// cache]
    #[arg(long, value_name = Search::names().join("|"), value_parser = Search::named)]
    pub search: Option<Search>,
    /// How to store visited states: short ones as they are and long ones by tree compression (exact), all by tree compression (tree),
    /// uncompressed (plain), by collapse compression (collapse), or in a minimised automaton (dfa). Hash compaction (compact) and bitstate hashing (bitstate) take
    /// less memory, but hash collisions may omit states. State-space caching (cache) keeps a limited number of states, and
    /// explores a state again after replacing it
    #[arg(long, value_name = Store::names().join("|"), default_value = "exact", value_parser = Store::named)]
    pub store: Store,
    /// Bits per state: the size of its hash [compact: 40], or its bits in the array [bitstate: 4, or 3 if the array fills up]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hash_bits: Option<u32>,
    /// Size of the bitstate array [default: half of --memory, or 256M]
    #[arg(long, value_name = "SIZE", value_parser = quantities::size)]
    pub array: Option<u64>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Swarm: repeat a search that may omit states this many times, with different hash functions and search orders
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// Random seed for hash functions and search order; 0 keeps the model's order of steps
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Partial-order reduction: stubborn sets where they pay off (auto), stubborn sets (por), ample sets (ample) or none
    #[arg(long, value_name = Reduction::names().join("|"), default_value = "auto", value_parser = Reduction::named)]
    pub reduce: Reduction,
    /// How to compute successors
    #[arg(long, value_name = Backend::names().join("|"), default_value = "jit", value_parser = Backend::named)]
    pub backend: Backend,
    /// Explore the model exactly as written, without optimisation or reduction
    #[arg(long)]
    pub no_opt: bool,
    /// Check each property on its slice: the part of the model that it depends on
    #[arg(long, conflicts_with = "no_opt")]
    pub slice: bool,
    #[command(flatten)]
    pub passes: PassArgs,
    /// Number of threads of a search [default: the available physical cores], or of concurrent `--runs` (default: 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// For measurements: how the threads of a search share the processor; the JSON report has the time of each phase
    #[arg(long, value_name = Timing::names().join("|"), hide = true, value_parser = Timing::named)]
    pub phases: Option<Timing>,
}

/// Parameters of state-space caching.
#[derive(Clone, Copy, Debug, Args)]
pub struct CacheArgs {
    /// Capacity of the cache in states [default: as many as fit into half of the memory]
    #[arg(long = "cache-slots", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub slots: Option<u64>,
    /// Number of cache slots in which a state may be stored [default: 16]
    #[arg(long = "cache-probes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub probes: Option<u32>,
    /// Number of candidates for replacement; the cache replaces the least valuable [default: 16]
    #[arg(long = "cache-collisions", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub collisions: Option<u32>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits (reaching one makes the verdict inconclusive)")]
pub struct LimitArgs {
    /// Memory for the whole process, such as 512M or 8G. If visited states do not fit, the search spills to disk, then falls
    /// back to tree compression, hash compaction and bitstate hashing [default: most of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = quantities::size)]
    pub memory: Option<u64>,
    /// Directory for temporary files if memory runs out [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Maximum search depth
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,
    /// Time limit, such as 10s, 5m or 1h30m
    #[arg(long, value_name = "DURATION", value_parser = quantities::duration)]
    pub time: Option<Duration>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Log every search event (`search`), or some kinds, such as `new,error`; this slows down the search. Kinds: new, match (a
    /// step to a visited state), cycle, push, pop, take, try, inside (a nested search), accept, error
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = LogKind::named,
        conflicts_with_all = ["checkpoint", "resume"])]
    pub log: Vec<LogKind>,
    /// Write the log to this file [default: standard error]
    #[arg(long, value_name = "FILE", requires = "log")]
    pub log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SliceFormat {
    #[default]
    Text,
    Promela,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LtlFormat {
    #[default]
    Never,
    Hoa,
    Dot,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    #[default]
    Text,
    Dot,
    Svg,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Dot,
    Svg,
    Json,
    Text,
    Html,
}

/// A search order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    BreadthFirst,
    DepthFirst,
}

named!(Order { "bfs" => BreadthFirst, "dfs" => DepthFirst });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Automata,
    Claim,
    Symbols,
    Dependencies,
    Code,
    Ir,
}

named!(What { "automata" => Automata, "claim" => Claim, "symbols" => Symbols, "dependencies" => Dependencies,
    "code" => Code, "ir" => Ir });

impl GraphArgs {
    pub fn format(&self) -> GraphFormat {
        self.format.unwrap_or(match self.search {
            Some(_) => GraphFormat::Text,
            None => GraphFormat::Dot,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_mistyped_value_lists_the_known_ones() {
        let message = |args: &[&str]| Cli::try_parse_from(args).unwrap_err().to_string();
        assert!(message(&["entail", "check", "m.pml", "--store", "tre"]).contains("expected one of: exact, tree"));
    }

    #[test]
    fn formulas_may_be_repeated() {
        let args = ["entail", "check", "m.pml", "--ctl", "AG p", "--ltl", "[] p", "--ctl", "EF q"];
        let Verb::Check(check) = Cli::try_parse_from(args).unwrap().verb else { panic!("not a check") };
        assert_eq!(check.what.asked.ctl, ["AG p", "EF q"]);
        assert_eq!(check.what.asked.ltl, ["[] p"]);
    }

    #[test]
    fn definitions_may_stick_to_their_letter() {
        let cli = Cli::try_parse_from(["entail", "check", "-DN=3", "-D", "M", "-Iinclude", "m.pml"]).unwrap();
        let Verb::Check(check) = cli.verb else { panic!("not a check") };
        assert_eq!(check.reading.defines, ["N=3", "M"]);
        assert_eq!(check.reading.include_dirs, [PathBuf::from("include")]);
    }
}
