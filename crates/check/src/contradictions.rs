//! Contradictory options. Each contradiction is an error: no option is silently ignored.

use crate::config::{Config, Reduction, Store};
use entail_model::Named;
use entail_temporal::Fairness;
use std::fmt;
use std::ops::RangeInclusive;

/// Options that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Their command-line names; a single one if its value is out of range.
    pub options: Vec<&'static str>,
    /// The reason, and the option to leave out.
    pub message: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Contradiction {}

/// The first contradiction, if there is one.
pub(crate) fn find(config: &Config) -> Option<Contradiction> {
    out_of_range(config).or_else(|| {
        let found = [in_model(config), in_store(config), in_search(config), in_files(config)];
        let (options, message) = found.into_iter().flatten().next()?;
        Some(Contradiction { options: options.into(), message })
    })
}

type Found = Option<([&'static str; 2], String)>;

/// Contradictions between options that transform the model.
fn in_model(config: &Config) -> Found {
    let reduction = match config.reduce {
        Reduction::IfWorthIt | Reduction::None => None,
        reduction @ (Reduction::Stubborn | Reduction::Ample) => Some(reduction.name()),
    };
    if let Some(reduction) = reduction.filter(|_| config.no_opt) {
        return Some((
            ["--no-opt", "--reduce"],
            format!(
                "`--no-opt` explores the model exactly as written, without reduction; leave out `--reduce {reduction}` or `--no-opt`"
            ),
        ));
    }
    if config.no_opt && config.slice {
        let reason = "`--no-opt` explores the model exactly as written, and `--slice` only a part of it";
        return Some((["--no-opt", "--slice"], format!("{reason}; leave out one of them")));
    }
    let fixed: Vec<_> = config.reading.fixed.iter().map(|value| name(value)).collect();
    let define = config.reading.defines.iter().find(|define| fixed.contains(&name(define)))?;
    let message = format!("`-D {define}` and `--for` give values to the same name; leave out one of them");
    Some((["-D", "--for"], message))
}

/// The name in a definition.
fn name(define: &str) -> &str {
    define.split('=').next().unwrap_or_default()
}

/// Contradictions between options of the store and the swarm.
fn in_store(config: &Config) -> Found {
    if config.store.forgets() && config.search().is_breadth_first() {
        let store = config.store.name();
        let reason = "only the stack of a depth-first search keeps it from following a cycle forever";
        let message = format!("`--store {store}` replaces states, and {reason}; leave out `--search`");
        return Some((["--store", "--search"], message));
    }
    let sizes: [(&str, bool, Suits); 5] = [
        ("--hash-bits", config.hash_bits.is_some(), Store::is_lossy),
        ("--array", config.array.is_some(), Store::has_array),
        ("--cache-slots", config.cache.slots.is_some(), Store::forgets),
        ("--cache-probes", config.cache.probes.is_some(), Store::forgets),
        ("--cache-collisions", config.cache.collisions.is_some(), Store::forgets),
    ];
    let unused = sizes.into_iter().find(|(_, is_given, suits)| *is_given && !suits(config.store));
    if let Some((option, _, suits)) = unused {
        let message = format!("`{option}` needs {}; leave it out, or change the store", stores(suits));
        return Some(([option, "--store"], message));
    }
    if config.runs > 1 && !config.store.is_lossy() {
        let reason = "`--runs` repeats a search that may omit states, and this one does not";
        return Some((["--runs", "--store"], format!("{reason}; add {}", stores(Store::is_lossy))));
    }
    None
}

/// Contradictions between options of the search.
fn in_search(config: &Config) -> Found {
    let wants_threads = config.threads.is_some_and(|threads| threads > 1);
    if wants_threads && config.runs == 1 && !config.search().is_breadth_first() {
        let reason = "only a breadth-first search uses several threads";
        return Some((["--threads", "--search"], format!("{reason}; leave out `--threads` or `--search`")));
    }
    if !config.search().is_generalised() && config.fair != Fairness::None {
        let search = config.search().name();
        let message =
            format!("`--search {search}` does not support fairness; leave out `--search` for an SCC search");
        return Some((["--search", "--fair"], message));
    }
    if config.slice && !config.fair.is_realizable() {
        let reason = "a slice may lack steps that a process takes infinitely often";
        return Some((["--slice", "--fair"], format!("{reason}; leave out `--slice`")));
    }
    if config.slice && config.fair == Fairness::Component {
        let reason = "the strongly connected components of a slice differ from those of the model";
        return Some((["--slice", "--fair"], format!("{reason}; leave out `--slice`")));
    }
    None
}

/// Contradictions between options for logs and checkpoints.
fn in_files(config: &Config) -> Found {
    let (logs, several) = (!config.log.is_empty(), config.runs > 1);
    if logs && several {
        let message = "a log records one search, but `--runs` asks for several";
        return Some((["--log", "--runs"], message.to_owned()));
    }
    if logs && config.threads.is_some_and(|threads| threads > 1) {
        let message = "a log records the events of one thread; leave out `--threads` or `--log`";
        return Some((["--threads", "--log"], message.to_owned()));
    }
    if logs && config.checkpoint.is_some() {
        let message = "`--log` and `--checkpoint` cannot be combined; leave out one of them";
        return Some((["--log", "--checkpoint"], message.to_owned()));
    }
    if config.log_file.is_some() && !logs {
        let message = "`--log-file` needs `--log`; add `--log`, or leave it out";
        return Some((["--log-file", "--log"], message.to_owned()));
    }
    if config.checkpoint.is_some() && several {
        let message = "a checkpoint saves one search, but `--runs` asks for several";
        return Some((["--checkpoint", "--runs"], message.to_owned()));
    }
    if config.every.is_some() && config.checkpoint.is_none() {
        let message = "`--every` needs a checkpoint; add `--checkpoint FILE`, or leave it out";
        return Some((["--every", "--checkpoint"], message.to_owned()));
    }
    None
}

fn out_of_range(config: &Config) -> Option<Contradiction> {
    let ranges: [(_, Option<u64>, RangeInclusive<u64>); 6] = [
        ("--runs", Some(config.runs.into()), RUNS),
        ("--threads", config.threads.map(u64::from), THREADS),
        ("--hash-bits", config.hash_bits.map(u64::from), HASH_BITS),
        ("--cache-slots", config.cache.slots, 1..=u64::MAX),
        ("--cache-probes", config.cache.probes.map(u64::from), CACHE),
        ("--cache-collisions", config.cache.collisions.map(u64::from), CACHE),
    ];
    ranges.into_iter().find_map(|(option, value, range)| {
        let value = value.filter(|value| !range.contains(value))?;
        let (low, high) = range.into_inner();
        let message = format!("`{option}` is {value}, but must be between {low} and {high}");
        Some(Contradiction { options: vec![option], message })
    })
}

const RUNS: RangeInclusive<u64> = 1..=100_000;
const THREADS: RangeInclusive<u64> = 1..=1024;
const HASH_BITS: RangeInclusive<u64> = 1..=64;
const CACHE: RangeInclusive<u64> = 1..=1024;

/// Whether something applies to a store.
type Suits = fn(Store) -> bool;

/// The stores to which it applies, in command-line syntax.
fn stores(suits: Suits) -> String {
    let suitable = Store::NAMES.iter().filter(|(_, store)| suits(*store));
    suitable.map(|(name, _)| format!("`--store {name}`")).collect::<Vec<_>>().join(" or ")
}
