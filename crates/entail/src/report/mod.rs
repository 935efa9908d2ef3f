//! What is said about a model after it was checked; one file for each way to say it.

pub mod json;
pub mod spin;
pub mod text;

use crate::args::{Backend, Reduction, Store};
use crate::console::{Console, Status};
use crate::evidence::Argument;
use crate::plan::{Algorithm, Plan, Unreduced};
use crate::swarm::Swarm;
use entail_check::coverage::Unreached;
use entail_check::neglect::Neglected;
use entail_check::units::shell_word;
use entail_check::violation::Violation;
use entail_front::ModelSource;
use entail_model::Guarantee;
use entail_search::{End, Limit, Stats};
use entail_store::Rung;
use entail_temporal::Fairness;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Report {
    pub path: PathBuf,
    /// The constant that was given this value, if one was.
    pub constant: Option<(String, i32)>,
    pub plan: Plan,
    /// `None` if it could not be read.
    pub model: Option<ModelSource>,
    pub properties: Vec<PropertyReport>,
    /// `None` if not all of the model was seen.
    pub unreached: Option<Vec<Unreached>>,
    pub warnings: Vec<String>,
    /// Why files were not written.
    pub unwritten: Vec<String>,
    pub errors: Vec<String>,
}

pub struct PropertyReport {
    pub name: String,
    pub kind: &'static str,
    pub verdict: Verdict,
    /// `None` if there was no search.
    pub searched: Option<Searched>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Violated,
    /// Why nothing can be said.
    Inconclusive(String),
}

pub struct Searched {
    pub errors: u64,
    pub counterexample: Option<Counterexample>,
    /// Why a formula of branching time holds or fails, if runs can show it.
    pub argument: Option<Argument>,
    pub stats: Stats,
    pub end: End,
    /// Which limit ended the search, in words, if one did.
    pub cut_short: Option<String>,
    /// The most that was kept at a time: visited states, and what is needed to go on and to find the way back.
    pub bytes: u64,
    /// How states were really kept.
    pub store: Store,
    /// What was kept of them as memory became less.
    pub rungs: Vec<Rung>,
    pub guarantee: Guarantee,
    /// What successors were computed with, and why not otherwise.
    pub backend: Backend,
    pub fallback: Option<String>,
    pub times: Times,
    pub peak_bytes: Option<u64>,
    /// The size of the initial state.
    pub state_bytes: usize,
    /// How many bits a state is packed into.
    pub state_bits: u32,
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

pub struct Counterexample {
    pub violation: Violation,
    /// Whether a breadth-first search has met it where it probed the depth.
    pub is_probed: bool,
    pub steps: usize,
    /// After how many of them the run goes round for ever.
    pub cycle_start: Option<usize>,
    /// Who could move in what is repeated, and never does.
    pub neglected: Option<Neglected>,
    /// How long the trail is, where a rendezvous counts twice, without what a claim does.
    pub moves: usize,
    /// `None` if it could not be written.
    pub trail: Option<PathBuf>,
    /// In words.
    pub last_steps: Vec<String>,
}

pub struct Times {
    /// To read the model.
    pub read: Duration,
    /// To make it ready to run.
    pub compile: Duration,
    pub search: Duration,
    pub total: Duration,
}

impl Report {
    pub fn new(path: &Path, plan: Plan, warnings: Vec<String>, errors: Vec<String>) -> Report {
        let path = path.to_owned();
        Report {
            path,
            constant: None,
            plan,
            model: None,
            properties: Vec::new(),
            unreached: None,
            warnings,
            unwritten: Vec::new(),
            errors,
        }
    }

    /// Something cannot be done, which is said at once.
    pub fn refuse(&mut self, reason: String, console: &Console) {
        console.complain(&format!("error: {reason}\n"));
        self.errors.push(reason);
    }

    pub fn status(&self) -> Status {
        if self.model.is_none() || !self.errors.is_empty() {
            return Status::Wrong;
        }
        let statuses = self.properties.iter().map(|property| match property.verdict {
            Verdict::Holds => Status::Fine,
            Verdict::Violated => Status::Violated,
            Verdict::Inconclusive(_) => Status::Inconclusive,
        });
        statuses.max().unwrap_or(Status::Fine)
    }
}

/// The share of the states that were seen, by estimate: as if all of them had come when it was as likely to be taken for another
/// as at the end, each by as many ways as there are on average. Where nothing was taken for anything else, nothing is missed.
/// `None` where so many are taken for others that this says nothing: then all that lies far enough behind them is missed, and how
/// much that is depends on the model.
pub fn coverage(stats: &Stats, guarantee: &Guarantee) -> Option<f64> {
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
        let alone = || coverage(&searched.stats, &searched.guarantee).filter(|_| searched.cut_short.is_none());
        let share = searched.swarm.as_ref().map_or_else(alone, |swarm| swarm.coverage);
        // All was seen, and something else is not known.
        share.filter(|share| *share < 1.0 || self.reason().is_none())
    }
}

impl Searched {
    /// How to go on, if that is possible.
    pub fn resume(&self) -> Option<String> {
        let file = shell_word(self.checkpoint.as_ref()?);
        let memory = if self.end == End::Limit(Limit::Memory) { " --memory SIZE" } else { "" };
        Some(format!("entail check --resume {file}{memory}"))
    }

    pub fn bytes_per_state(&self) -> f64 {
        self.bytes as f64 / self.stats.stored.max(1) as f64
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
