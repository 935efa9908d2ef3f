//! The report of a check, with one module for each format.

mod json;
mod spin;
mod text;

pub use crate::coverage::{ProcessCoverage, UnreachedStatement};
pub use crate::fairness_hint::FairnessHint;
pub use crate::plan::Unreduced;
pub use crate::swarm::{Found, Member, Swarm};
pub use crate::witness::{Argument, ShownRun};
pub use entail_model::Guarantee;
pub use entail_search::{Algorithm, End, Limit, Stats};
pub use entail_store::{Level, LevelKind};

use crate::config::{Backend, Config, Reduction, Store};
use crate::names::option;
use crate::observer::Observer;
use crate::plan::{Bound, Watched};
use crate::units::shell_word;
use crate::violation::Violation;
use crate::witness::Evidence;
use entail_front::Language;
use entail_front::legible::legible;
use entail_ir::interpret::Step;
use entail_search::Outcome;
use entail_temporal::Fairness;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The report of a check. It serialises to the JSON document that `entail check` prints.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file of the model, or its name.
    pub path: PathBuf,
    /// The language of the model; `None` if it could not be read.
    pub language: Option<Language>,
    /// The constant that `--for` set, with its value.
    pub constant: Option<(String, i32)>,
    /// The options of the check.
    pub config: Config,
    /// The results for each property.
    pub properties: Vec<PropertyReport>,
    /// The unreachable statements by process type; `None` if the search was not exhaustive.
    pub unreached: Option<Vec<ProcessCoverage>>,
    /// Whether the model has LTL formulas or never claims.
    pub has_claims: bool,
    /// Warnings about the model or its properties.
    pub warnings: Vec<String>,
    /// The errors in writing files.
    pub unwritten: Vec<String>,
    /// The errors that prevented the check of the model or of a property.
    pub errors: Vec<String>,
}

/// The result for a property.
#[derive(Clone, Debug)]
pub struct PropertyReport {
    /// `safety`, or the name in the model.
    pub name: String,
    /// The kind: `safety`, `ltl`, `never`, `ctl` and so on.
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
    /// Some run violates the property.
    Violated,
    /// The verdict is unknown, for this reason.
    Inconclusive(String),
}

/// The result of a search, with statistics.
#[derive(Clone, Debug)]
pub struct Searched {
    pub(crate) outcome: Outcome<Step>,
    /// The counterexample in the product with a claim.
    pub(crate) watched: Option<Watched>,
    /// The propositions that held in some state that the claim observed, one bit each.
    pub(crate) propositions_seen: u64,
    /// The maximum number of processes for fairness, if the model exceeds it.
    pub(crate) process_limit: Option<usize>,
    /// The evidence for a CTL formula in the initial state.
    pub(crate) evidence: Option<Evidence<Step>>,
    pub(crate) memory: Bound,
    /// Why temporary files could not be used when memory ran out.
    pub(crate) no_files: Option<String>,
    pub(crate) seed: u64,
    /// The counterexample.
    pub counterexample: Option<Counterexample>,
    /// The witness or counterexample of a CTL formula, if runs can show it.
    pub argument: Option<Argument>,
    /// The limit that ended the search, as text.
    pub cut_short: Option<String>,
    /// The store at the end of the search.
    pub store: Store,
    /// The levels of degradation.
    pub levels: Vec<Level>,
    /// Whether states may have been omitted.
    pub guarantee: Guarantee,
    /// How successors were computed.
    pub backend: Backend,
    /// Why this is not the requested backend.
    pub fallback: Option<String>,
    /// The time that reading the model took.
    pub read: Duration,
    /// The time that compiling the model took.
    pub compile: Duration,
    /// The time of the search.
    pub search: Duration,
    /// The total time.
    pub total: Duration,
    /// The peak memory of the process in bytes.
    pub peak_bytes: Option<u64>,
    /// The size of the initial state.
    pub state_bytes: usize,
    /// The size of a packed state in bits; rare states may have more.
    pub state_bits: u32,
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// The fairness assumption.
    pub fairness: Fairness,
    /// The partial-order reduction, or why it was not applied.
    pub reduction: Result<Reduction, Unreduced>,
    /// The swarm, if there were several runs.
    pub swarm: Option<Swarm>,
    /// The variables that were removed, because no property depends on them.
    pub unread: Vec<String>,
    /// The checkpoint of an incomplete search.
    pub checkpoint: Option<PathBuf>,
}

/// A run that violates a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The error, with its place.
    pub violation: Violation,
    /// Whether a depth-first probe of a breadth-first search found it.
    pub is_probed: bool,
    /// The number of steps.
    pub steps: usize,
    /// The number of steps before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// A process that is enabled in the cycle but never moves.
    pub neglected: Option<FairnessHint>,
    /// The number of moves in the trail, where a rendezvous counts twice, without moves of a claim.
    pub moves: usize,
    /// The trail file, if it was written.
    pub trail: Option<PathBuf>,
    /// The last steps as text.
    pub last_steps: Vec<String>,
    /// The source line of the violation.
    pub source: Option<String>,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text.
    #[default]
    Text,
    /// JSON.
    Json,
    /// The format of SPIN's `pan`.
    Spin,
}

option!(Format { "text" => Text, "json" => Json, "spin" => Spin });

impl Format {
    /// The reports in this format, optionally in colour. Control characters are escaped for a terminal, unless the
    /// format [is a document](Format::is_document).
    pub fn render(self, reports: &[Report], colour: bool) -> String {
        match self {
            Format::Text => reports.iter().map(|report| text::report(report, colour)).collect(),
            Format::Json => json::documents(reports),
            Format::Spin => legible(&reports.iter().map(spin::report).collect::<String>()).into_owned(),
        }
    }

    /// Whether one document for programs contains all reports.
    pub const fn is_document(self) -> bool {
        match self {
            Format::Json => true,
            Format::Text | Format::Spin => false,
        }
    }

    /// Why there is no report of a sweep (`--for`) in this format, unless there is.
    pub const fn lacks_sweeps(self) -> Option<&'static str> {
        match self {
            Format::Text | Format::Json => None,
            Format::Spin => Some("`--for` has no report in SPIN's format; use `--format text` or `json`"),
        }
    }
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

    /// Reports an error, also to the observer.
    pub(crate) fn refuse(&mut self, reason: String, observer: &dyn Observer) {
        observer.error(&reason);
        self.errors.push(reason);
    }

    /// Reports a warning, also to the observer.
    pub(crate) fn warn(&mut self, warning: String, observer: &dyn Observer) {
        observer.warning(&warning);
        self.warnings.push(warning);
    }
}

/// The estimated coverage of states. It assumes the final collision probability for all states, and the average
/// in-degree for each. Without collisions nothing is missed. `None` if collisions are too frequent for an estimate: then
/// all states far enough behind omitted ones are missed, and their number depends on the model.
pub(crate) fn coverage(stats: &Stats, guarantee: &Guarantee) -> Option<f64> {
    match guarantee {
        Guarantee::Exact => Some(1.0),
        Guarantee::Probable { omitted, confused, .. } => {
            let ways = stats.transitions() as f64 / stats.stored.max(1) as f64;
            let missed = missed(*confused, ways);
            // If probably no state was omitted, the states behind one hardly matter.
            let missed = if *omitted < UNLIKELY { missed.min(*omitted) } else { missed };
            (missed < 1.0).then(|| (1.0 - missed).min(ALMOST_ALL))
        }
    }
}

/// If the expected number of omitted states is at most this, probably none was omitted.
const UNLIKELY: f64 = 0.01;

/// The maximum coverage of a lossy search, which is never certain.
const ALMOST_ALL: f64 = 1.0 - 1e-9;

/// The share q of missed states for collision probability p and in-degree d. A state is missed if it collides, or if
/// all its predecessors are missed: q is the least solution of q = p + (1 - p) q^d.
fn missed(confused: f64, ways: f64) -> f64 {
    let rest = (1.0 - confused) * ways;
    if confused <= 0.0 || rest <= 1.0 {
        return if confused <= 0.0 { 0.0 } else { 1.0 };
    }
    let excess = |q: f64| confused + (1.0 - confused) * q.powf(ways) - q;
    // The minimum, which is negative.
    let (mut low, mut high) = (0.0, rest.powf(-1.0 / (ways - 1.0)));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

impl PropertyReport {
    /// The counterexample, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        self.searched.as_ref()?.counterexample.as_ref()
    }

    /// Why the verdict is inconclusive, or which limit ended the search before all errors were counted.
    pub fn reason(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Inconclusive(reason) => Some(reason),
            Verdict::Holds | Verdict::Violated => self.searched.as_ref()?.cut_short.as_deref(),
        }
    }

    /// The estimated coverage of states; `None` if a limit ended the search or there is no estimate.
    pub fn coverage(&self) -> Option<f64> {
        let searched = self.searched.as_ref()?;
        let alone =
            || coverage(&searched.outcome.stats, &searched.guarantee).filter(|_| searched.cut_short.is_none());
        let share = searched.swarm.as_ref().map_or_else(alone, |swarm| swarm.coverage);
        // The search was exhaustive, and the verdict is inconclusive for another reason.
        share.filter(|share| *share < 1.0 || self.reason().is_none())
    }
}

impl Searched {
    /// The number of errors.
    pub fn errors(&self) -> u64 {
        self.outcome.errors
    }

    /// The numbers of states and transitions.
    pub fn stats(&self) -> Stats {
        self.outcome.stats
    }

    /// The depth reached. In an SCC search by several workers, it would depend on timing.
    pub fn depth(&self) -> Option<u64> {
        let is_timing = self.algorithm == Algorithm::Scc && self.outcome.workers > 1;
        (!is_timing).then_some(self.outcome.stats.depth)
    }

    /// Why the search ended.
    pub fn end(&self) -> End {
        self.outcome.end
    }

    /// The command that resumes the search, if that is possible.
    pub fn resume(&self) -> Option<String> {
        let file = shell_word(self.checkpoint.as_ref()?);
        let memory = if self.outcome.end == End::Limit(Limit::Memory) { " --memory SIZE" } else { "" };
        Some(format!("entail check --resume {file}{memory}"))
    }

    /// The average bytes per state, including the parent log.
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
        // With less than one remaining successor per state, all later states are missed.
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
