//! What is known about a model after it was checked; one file for each way to show it.

pub mod json;
pub mod spin;
pub mod text;

pub use crate::coverage::{ProcessCoverage, UnreachedStatement};
pub use crate::evidence::{Argument, ShownRun};
pub use crate::fairness_hint::FairnessHint;
pub use crate::plan::{Algorithm, Unreduced};
pub use crate::swarm::{Found, Member, Swarm};
pub use entail_model::Guarantee;
pub use entail_search::{End, Limit, Stats};
pub use entail_store::{Level, LevelKind};

use crate::config::{Backend, Config, Reduction, Store};
use crate::evidence::Evidence;
use crate::observer::Observer;
use crate::plan::{Bound, Watched};
use crate::units::shell_word;
use crate::violation::Violation;
use entail_front::Language;
use entail_ir::interpret::Step;
use entail_search::Outcome;
use entail_temporal::Fairness;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is known about a model after it was checked. Serialised, it is the JSON document that `entail check` prints.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file of the model, or its name.
    pub path: PathBuf,
    /// The language of the model; `None` if it could not be read.
    pub language: Option<Language>,
    /// The constant that was given this value, if one was.
    pub constant: Option<(String, i32)>,
    /// The options of the check.
    pub config: Config,
    /// An entry for each property.
    pub properties: Vec<PropertyReport>,
    /// The statements that no run reaches, by process types; `None` if not all of the model was searched.
    pub unreached: Option<Vec<ProcessCoverage>>,
    /// Whether the model has formulas of linear time or never claims.
    pub has_claims: bool,
    /// What is odd about the model or its properties.
    pub warnings: Vec<String>,
    /// Why files were not written.
    pub unwritten: Vec<String>,
    /// Why the model, or a property, was not checked.
    pub errors: Vec<String>,
}

/// What is known about a property.
#[derive(Clone, Debug)]
pub struct PropertyReport {
    /// `safety`, or the name that the model gives it.
    pub name: String,
    /// `safety`, `ltl`, `never`, `ctl` and so on.
    pub kind: &'static str,
    /// Whether the property holds.
    pub verdict: Verdict,
    /// `None` if there was no search.
    pub searched: Option<Searched>,
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All runs satisfy the property.
    Holds,
    /// Some run breaks it.
    Violated,
    /// Why nothing can be said.
    Inconclusive(String),
}

/// What a search has found, and how it went.
#[derive(Clone, Debug)]
pub struct Searched {
    pub(crate) outcome: Outcome<Step>,
    /// The counterexample, where a claim was looked for.
    pub(crate) watched: Option<Watched>,
    /// Which propositions held in some state that the claim looked at, a bit for each.
    pub(crate) ever: u64,
    /// There were more processes than this, which is as many as can be treated fairly.
    pub(crate) crowded: Option<usize>,
    /// Why a formula of branching time is true or false in the initial state.
    pub(crate) evidence: Option<Evidence<Step>>,
    pub(crate) memory: Bound,
    /// Why no files could be used when memory was short.
    pub(crate) no_files: Option<String>,
    pub(crate) seed: u64,
    /// The run that breaks the property.
    pub counterexample: Option<Counterexample>,
    /// Why a formula of branching time holds or fails, if runs can show it.
    pub argument: Option<Argument>,
    /// Which limit ended the search, in words, if one did.
    pub cut_short: Option<String>,
    /// How states were really kept, at last.
    pub store: Store,
    /// What was kept of them as memory became less.
    pub levels: Vec<Level>,
    /// Whether states may have been lost.
    pub guarantee: Guarantee,
    /// How successors were computed.
    pub backend: Backend,
    /// Why that is not the backend that was asked for.
    pub fallback: Option<String>,
    /// How long it took to read the model.
    pub read: Duration,
    /// How long it took to make it ready to run.
    pub compile: Duration,
    /// How long the search took.
    pub search: Duration,
    /// How long all of that took.
    pub total: Duration,
    /// The most memory that the process has occupied, in bytes.
    pub peak_bytes: Option<u64>,
    /// The size of the initial state.
    pub state_bytes: usize,
    /// How many bits a state is packed into; rare ones may have more.
    pub state_bits: u32,
    /// How the states were searched.
    pub algorithm: Algorithm,
    /// Which infinite runs counted.
    pub fairness: Fairness,
    /// By what steps were left out, or why none were.
    pub reduction: Result<Reduction, Unreduced>,
    /// The runs that this was found by, if there were several.
    pub swarm: Option<Swarm>,
    /// The variables that were left out, as nothing depends on them.
    pub unread: Vec<String>,
    /// Where a search that did not come to its end can be resumed from.
    pub checkpoint: Option<PathBuf>,
}

/// A run that breaks a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The error, with its place.
    pub violation: Violation,
    /// Whether a breadth-first search has met it where it probed the depth.
    pub is_probed: bool,
    /// How many steps it has.
    pub steps: usize,
    /// After how many of them the cycle begins, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// A process that could move in the cycle, and never does.
    pub neglected: Option<FairnessHint>,
    /// How long the trail is, where a rendezvous counts twice, without what a claim does.
    pub moves: usize,
    /// The file it was written to, if it was.
    pub trail: Option<PathBuf>,
    /// Its last steps, in words.
    pub last_steps: Vec<String>,
    /// The line of the source that the violation is at.
    pub source: Option<String>,
}

impl Report {
    pub(crate) fn new(path: &Path, config: &Config) -> Report {
        Report {
            path: path.to_owned(),
            language: None,
            constant: None,
            config: config.clone(),
            properties: Vec::new(),
            unreached: None,
            has_claims: false,
            warnings: Vec::new(),
            unwritten: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Something cannot be done, which is told at once.
    pub(crate) fn refuse(&mut self, reason: String, observer: &dyn Observer) {
        observer.error(&reason);
        self.errors.push(reason);
    }

    /// Something is odd, which is told at once.
    pub(crate) fn warn(&mut self, warning: String, observer: &dyn Observer) {
        observer.warning(&warning);
        self.warnings.push(warning);
    }
}

/// The share of the states that were seen, by estimate: as if all of them had come when it was as likely to be taken for another
/// as at the end, each by as many ways as there are on average. Where nothing was taken for anything else, nothing is missed.
/// `None` where so many are taken for others that this says nothing: then all that lies far enough behind them is missed, and how
/// much that is depends on the model.
pub(crate) fn coverage(stats: &Stats, guarantee: &Guarantee) -> Option<f64> {
    match guarantee {
        Guarantee::Exact => Some(1.0),
        Guarantee::Probable { omitted, confused, .. } => {
            let ways = stats.transitions() as f64 / stats.stored.max(1) as f64;
            let missed = missed(*confused, ways);
            // If it is likely that none was, it matters little how many lie behind one that is.
            let missed = if *omitted < UNLIKELY { missed.min(*omitted) } else { missed };
            (missed < 1.0).then(|| (1.0 - missed).min(ALMOST_ALL))
        }
    }
}

/// As many states, or fewer, taken for others mean that probably none was.
const UNLIKELY: f64 = 0.01;

/// Where states may be lost, it is not known that none was.
const ALMOST_ALL: f64 = 1.0 - 1e-9;

/// The share q of states that are missed, if so many are taken for others, and so many ways lead to each: a state is missed if
/// it is taken for another, or if all from which it can be reached are missed. So q = p + (1 - p) q^d, and q is the least that
/// can be so.
fn missed(confused: f64, ways: f64) -> f64 {
    let rest = (1.0 - confused) * ways;
    if confused <= 0.0 || rest <= 1.0 {
        return if confused <= 0.0 { 0.0 } else { 1.0 };
    }
    let excess = |q: f64| confused + (1.0 - confused) * q.powf(ways) - q;
    // There it is least, and below 0.
    let (mut low, mut high) = (0.0, rest.powf(-1.0 / (ways - 1.0)));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

impl PropertyReport {
    /// The run that breaks the property, if one was found.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        self.searched.as_ref()?.counterexample.as_ref()
    }

    /// Why nothing more can be said: why the verdict is inconclusive, or which limit ended the search before all errors were
    /// counted.
    pub fn reason(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Inconclusive(reason) => Some(reason),
            Verdict::Holds | Verdict::Violated => self.searched.as_ref()?.cut_short.as_deref(),
        }
    }

    /// The share of the states that were seen, by estimate; `None` if a limit ended the search or there is no estimate.
    pub fn coverage(&self) -> Option<f64> {
        let searched = self.searched.as_ref()?;
        let alone =
            || coverage(&searched.outcome.stats, &searched.guarantee).filter(|_| searched.cut_short.is_none());
        let share = searched.swarm.as_ref().map_or_else(alone, |swarm| swarm.coverage);
        // All was seen, and something else is not known.
        share.filter(|share| *share < 1.0 || self.reason().is_none())
    }
}

impl Searched {
    /// How many errors were found.
    pub fn errors(&self) -> u64 {
        self.outcome.errors
    }

    /// How many states and transitions there were.
    pub fn stats(&self) -> Stats {
        self.outcome.stats
    }

    /// Why the search ended.
    pub fn end(&self) -> End {
        self.outcome.end
    }

    /// How to go on, if that is possible.
    pub fn resume(&self) -> Option<String> {
        let file = shell_word(self.checkpoint.as_ref()?);
        let memory = if self.outcome.end == End::Limit(Limit::Memory) { " --memory SIZE" } else { "" };
        Some(format!("entail check --resume {file}{memory}"))
    }

    /// The bytes that each state takes on average, with what is needed to find the way back.
    pub fn bytes_per_state(&self) -> f64 {
        self.outcome.bytes as f64 / self.outcome.stats.stored.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_is_taken_for_another_or_lies_behind_what_is_missed() {
        for (confused, ways) in [(0.01, 1.2), (0.1, 2.0), (0.3, 2.5), (0.5, 2.97), (0.6, 3.0), (1e-9, 1.5)] {
            let mut expected: f64 = 0.0;
            for _ in 0..100_000 {
                expected = confused + (1.0 - confused) * expected.powf(ways);
            }
            let found = missed(confused, ways);
            assert!((found - expected).abs() < 1e-6 * expected, "{confused} {ways}: {found}, not {expected}");
        }
        // Fewer than one way on from each: whatever comes later is missed.
        assert_eq!([missed(0.7, 3.0), missed(0.01, 1.0), missed(0.0, 1.0)], [1.0, 1.0, 0.0]);
    }

    #[test]
    fn where_too_many_are_taken_for_others_there_is_no_estimate() {
        let stats = Stats { stored: 1000, matched: 10, ..Stats::default() };
        let guarantee = Guarantee::Probable { omitted: 20.0, confused: 0.02, formula: String::new() };
        assert_eq!(coverage(&stats, &guarantee), None);
    }

    #[test]
    fn a_line_in_a_large_array_is_seen() {
        let stats = Stats { stored: 1000, ..Stats::default() };
        let guarantee = |omitted, confused| Guarantee::Probable { omitted, confused, formula: String::new() };
        assert_eq!(coverage(&stats, &Guarantee::Exact), Some(1.0));
        assert!(coverage(&stats, &guarantee(1e-9, 1e-12)) > Some(0.999_999));
        assert!(coverage(&stats, &guarantee(1e-30, 1e-30)) < Some(1.0));
    }

    #[test]
    fn a_line_that_may_have_been_cut_off_has_no_estimate() {
        let stats = Stats { stored: 160, ..Stats::default() };
        let guarantee = Guarantee::Probable { omitted: 0.092, confused: 2e-3, formula: String::new() };
        assert_eq!(coverage(&stats, &guarantee), None);
    }
}
