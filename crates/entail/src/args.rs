//! The command line as people type it.

use crate::picture::Layout;
use crate::quantities::{self, Sweep};
use crate::run::ViewArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use entail_check::config::{Backend, Format, LogKind, Named, Pass, Reduction, Search, Store};
use entail_front::{Granularity, Language};
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
    /// A report for people, for programs, or in the words of SPIN's `pan`
    #[arg(long, value_name = "text|json|spin", default_value = "text", value_parser = Format::named)]
    pub format: Format,
    /// Where the counterexample goes [default: MODEL.trail]
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Make the counterexample easier to follow, if it comes to an end: fewer steps, of fewer processes, that take turns less
    /// often
    #[arg(long)]
    pub minimise: bool,
    /// Where the runs that decide a formula of branching time are drawn, as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// Replace files that hold something else than what is to be written, that are read-only or links
    #[arg(long)]
    pub force: bool,
    /// Check the model once for every value of a constant (or macro), and say for which it holds
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
    /// Keep the search in this file now and then, and when it is cut off, so that it can be resumed; one property only
    #[arg(long, value_name = "FILE", conflicts_with = "sweep", help_heading = "Checkpoints")]
    pub checkpoint: Option<PathBuf>,
    /// How often that is done [default: 10m]
    #[arg(long, value_name = "DURATION", value_parser = quantities::duration, help_heading = "Checkpoints")]
    pub every: Option<Duration>,
    /// Go on with a search that was kept in this file, and keep it there; of other options, only limits and what is
    /// written may be others than when it began
    #[arg(long, value_name = "FILE", conflicts_with = "sweep", help_heading = "Checkpoints")]
    pub resume: Option<PathBuf>,
}

const EXIT_STATUS: &str = "Exit status: 0 every property holds, 1 some property is violated, \
    2 the model or the command is wrong, 3 inconclusive.";

/// A counterexample, step by step
#[derive(Debug, Args)]
pub struct ReplayArgs {
    pub model: PathBuf,
    /// The trail, as written by `entail check` or SPIN's `pan` [default: MODEL.trail]
    pub trail: Option<PathBuf>,
    /// Say when what this property asks for becomes true or false, and where its claim is
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// The trail comes from `entail check --slice`: replay it on the part of the model that the property depends on
    #[arg(long)]
    pub slice: bool,
    #[command(flatten)]
    pub asked: AskedArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The same as `--as steps`, or `--as json`
    #[arg(long, value_enum, default_value_t, conflicts_with = "view")]
    pub format: ReplayFormat,
    #[command(flatten)]
    pub shown: ViewArgs,
}

/// One run of the model: at random, step by step as you choose, or along a trail
#[derive(Debug, Args)]
#[command(after_help = SIMULATION_STATUS)]
pub struct SimulateArgs {
    pub model: PathBuf,
    /// Choose each step yourself, on the whole screen
    #[arg(short, long, conflicts_with = "view")]
    pub interactive: bool,
    /// Line by line instead, as is done without a terminal
    #[arg(long, requires = "interactive")]
    pub plain: bool,
    /// By what steps are chosen: the same seed gives the same run [default: another one each time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many steps are taken at most
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "interactive")]
    pub steps: u64,
    /// Follow this trail first, as written by `entail` or SPIN's `pan`
    #[arg(long, value_name = "TRAIL")]
    pub along: Option<PathBuf>,
    /// Where the run goes as a trail, for `entail replay` or `spin -t`; if interactive, when you say so
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Replace that file even if it is not a trail, read-only or a link
    #[arg(long)]
    pub force: bool,
    /// How successors are computed; the run is the same
    #[arg(long, value_name = "jit|interpret", default_value = "jit", value_parser = Backend::named)]
    pub backend: Backend,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub shown: ViewArgs,
}

const SIMULATION_STATUS: &str = "Exit status: 0 the run has come to its end or to as many steps as were asked for, \
    1 it ends in an error, 2 the model or the command is wrong, 3 it was interrupted.";

/// The automaton of a temporal formula
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
    /// A never claim for SPIN, or an automaton with acceptance on its edges in the HOA format or as a picture
    #[arg(long, value_enum, default_value_t)]
    pub format: LtlFormat,
}

const FORMULAS: &str = "Operators: [] <> X U W V R ! && || -> <-> and the words always eventually next until weakuntil \
    release implies equivalent. Propositions are Promela's expressions.";

/// The reachable states of a small model as a graph, exactly as it is written
#[derive(Debug, Args)]
pub struct GraphArgs {
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// A graph for Graphviz, drawn or for programs; a search as lines, or as a page with a slider [default: dot, or text]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Who decides where things are in an SVG
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// The tree of all runs, so many states deep
    #[arg(long, value_name = "DEPTH", conflicts_with = "search")]
    pub tree: Option<usize>,
    /// How the states are searched, step by step, up to the first error
    #[arg(long, value_name = "bfs|dfs", value_parser = Order::named)]
    pub search: Option<Order>,
    /// Draw no more states than this
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Show only these variables and channels in states
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub values: Vec<String>,
    /// Show only where processes are
    #[arg(long, conflicts_with = "values")]
    pub no_values: bool,
}

/// What a model consists of, as entail sees it
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// automata, claim (the automaton of the runs that a property forbids), symbols, dependencies (what statements have to do
    /// with each other), code (of the language's own tools, where they have one) or ir (what entail runs)
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
    /// Who decides where things are in an SVG
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// As it is searched for mistakes, simplified, and not as it is written
    #[arg(long)]
    pub optimised: bool,
    #[command(flatten)]
    pub passes: PassArgs,
}

/// What the properties do not depend on, and the model without it
#[derive(Debug, Args)]
pub struct SliceArgs {
    pub model: PathBuf,
    /// Slice for this property: `safety`, `acceptance`, `progress` or one the model names; may be repeated
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,
    #[command(flatten)]
    pub asked: AskedArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// What is left out and why the rest is not, only the slice, or all of that for programs
    #[arg(long, value_enum, default_value_t)]
    pub format: SliceFormat,
}

/// How the model's text is read.
#[derive(Clone, Debug, Args)]
pub struct ReadingArgs {
    /// Define a preprocessor macro, or give a constant another value
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Look for included files here
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Include files outside of the model's directory and of those given by `-I`, too
    #[arg(long)]
    pub allow_include: bool,
    /// The model's language [default: by the file's ending; Promela unless it is .esml or .bir]
    #[arg(long, value_name = "promela|esml|bir", value_parser = Language::named)]
    pub lang: Option<Language>,
    /// How much is one step, in ESML: as the language defines it, or a statement
    #[arg(long, value_name = "exact|statement", default_value = "exact", value_parser = Granularity::named)]
    pub granularity: Granularity,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Properties")]
pub struct WhatArgs {
    /// Check only this property, beside formulas given here: `safety`, `acceptance`, `progress` or one the model names; may
    /// be repeated [default: safety and all that the model names]
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,
    #[command(flatten)]
    pub asked: AskedArgs,
    /// Which infinite runs count: all, or those in which no process that can move is kept from it
    #[arg(long, value_name = "none|weak|strong|impartial|component", default_value = "none", value_parser = Fairness::named)]
    pub fair: Fairness,
    /// Do not stop at the first error: count them all
    #[arg(long)]
    pub all_errors: bool,
    /// Do not check assertions
    #[arg(long)]
    pub no_assert: bool,
    /// Do not check for invalid end states
    #[arg(long)]
    pub no_end: bool,
}

/// What is asked of a model besides what it says itself.
#[derive(Clone, Debug, Args)]
pub struct AskedArgs {
    /// A formula of linear time, such as `[] (request -> <> granted)`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// A formula of branching time, such as `AG (request -> EF granted)`; may be repeated
    #[arg(long, value_name = "FORMULA")]
    pub ctl: Vec<String>,
    /// The formula in this file; may be repeated
    #[arg(short = 'F', value_name = "FILE")]
    pub formula_files: Vec<PathBuf>,
    /// The never claim in this file, or the automaton if its name ends in `.hoa`; may be repeated
    #[arg(long = "claim", short = 'N', value_name = "FILE")]
    pub claim_files: Vec<PathBuf>,
}

/// What is not done to a model before it is searched.
#[derive(Clone, Debug, Args)]
pub struct PassArgs {
    /// Do not simplify the model in this way; may be repeated
    #[arg(long, value_name = "constants|unread|forget|merge", value_delimiter = ',', value_parser = Pass::named)]
    pub without: Vec<Pass>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct HowArgs {
    /// In which order states are visited: bfs gives a short counterexample, with --no-opt a shortest one; nested is dfs, and looks for infinite runs
    /// by a search inside the search [default: bfs, with probes of the depth; dfs with a cache]
    #[arg(long, value_name = "bfs|dfs|nested", value_parser = Search::named)]
    pub search: Option<Search>,
    /// How visited states are kept: as suits the model (auto), by their halves (tree), byte by byte (exact), by their
    /// parts (collapse), or as an automaton that accepts them (dfa); by a hash (compact), or by some bits of a large
    /// array (bitstate), which takes less memory, but may take new states for known ones; or as they are, but only so
    /// many at a time (cache): what was forgotten is explored again when it is met again
    #[arg(long, value_name = "auto|tree|exact|collapse|dfa|compact|bitstate|cache", default_value = "auto", value_parser = Store::named)]
    pub store: Store,
    /// How much is kept of a state: bits of its hash [compact: 40], or bits of the array [bitstate: 4, or 3 if there are many states]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub hash_bits: Option<u32>,
    /// How large the array of bits is [bitstate: half of the memory, or 256M]
    #[arg(long, value_name = "SIZE", value_parser = quantities::size)]
    pub array: Option<u64>,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Repeat a search that may lose states so many times, with other hashes and in other orders
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// By what hashes and orders are chosen; 0 leaves steps in the order of the model
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Partial-order reduction: of steps in any order, one order is enough; by stubborn sets (auto: where that
    /// is worth it), or by the simpler ample ones
    #[arg(long, value_name = "auto|por|ample|none", default_value = "auto", value_parser = Reduction::named)]
    pub reduce: Reduction,
    /// How successors are computed
    #[arg(long, value_name = "jit|interpret", default_value = "jit", value_parser = Backend::named)]
    pub backend: Backend,
    /// Explore the model exactly as written
    #[arg(long)]
    pub no_opt: bool,
    /// Check each property on the part of the model that it depends on
    #[arg(long, conflicts_with = "no_opt")]
    pub slice: bool,
    #[command(flatten)]
    pub passes: PassArgs,
    /// How many threads search, where there are several `--runs`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
}

/// How a cache remembers and forgets.
#[derive(Clone, Copy, Debug, Args)]
pub struct CacheArgs {
    /// How many states a cache has room for [default: as many as fit into half of the memory]
    #[arg(long = "cache-slots", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub slots: Option<u64>,
    /// In how many slots of a cache a state may be [default: 16]
    #[arg(long = "cache-probes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub probes: Option<u32>,
    /// How many states that a cache may forget are looked at, and the one that is worth least is forgotten [default: 16]
    #[arg(long = "cache-collisions", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub collisions: Option<u32>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits (reaching one makes the verdict inconclusive)")]
pub struct LimitArgs {
    /// Memory for all of the program, such as 512M or 8G: where visited states do not fit, less and less of each is kept [default:
    /// most of what is free]
    #[arg(long, value_name = "SIZE", value_parser = quantities::size)]
    pub memory: Option<u64>,
    /// Where temporary files go if memory is short [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Do not go deeper than this
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,
    /// Time to search, such as 10s, 5m or 1h30m
    #[arg(long, value_name = "DURATION", value_parser = quantities::duration)]
    pub time: Option<Duration>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Write a line for every event of the search (`search`), or for some kinds of them, such as `new,error`; this makes it slow.
    /// Kinds: new, match (a step to a known state), cycle, push, pop, take, try, inside (a nested search), accept, error
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = LogKind::named,
        conflicts_with_all = ["checkpoint", "resume"])]
    pub log: Vec<LogKind>,
    /// Where these lines go [default: standard error]
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

/// In which order states are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    BreadthFirst,
    DepthFirst,
}

impl Named for Order {
    const NAMES: &[(&str, Order)] = &[("bfs", Order::BreadthFirst), ("dfs", Order::DepthFirst)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Automata,
    Claim,
    Symbols,
    Dependencies,
    Code,
    Ir,
}

impl Named for What {
    const NAMES: &[(&str, What)] = &[
        ("automata", What::Automata),
        ("claim", What::Claim),
        ("symbols", What::Symbols),
        ("dependencies", What::Dependencies),
        ("code", What::Code),
        ("ir", What::Ir),
    ];
}

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
    fn who_mistypes_a_word_is_told_those_known() {
        let message = |args: &[&str]| Cli::try_parse_from(args).unwrap_err().to_string();
        assert!(message(&["entail", "check", "m.pml", "--store", "tre"]).contains("expected one of: auto, tree"));
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
