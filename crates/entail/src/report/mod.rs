//! What is said about a model after it was checked; one file for each way to say it.

pub mod json;
pub mod spin;
pub mod text;

use crate::args::{Backend, Reduction, Store};
use crate::console::Status;
use crate::coverage::Unreached;
use crate::evidence::Argument;
use crate::neglect::Neglected;
use crate::plan::{Algorithm, Plan, Unreduced};
use crate::violation::Violation;
use entail_front::ModelSource;
use entail_model::Guarantee;
use entail_search::{End, Stats};
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
    pub errors: Vec<String>,
}

pub struct PropertyReport {
    pub name: String,
    pub kind: &'static str,
    /// How to ask for it, unless it is one of those that are always checked.
    pub option: Option<String>,
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
    /// The most that was kept at a time: visited states, and what is needed to go on and to find the way back.
    pub bytes: u64,
    /// How states were really kept.
    pub store: Store,
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
    /// By what steps were left out, or why none were.
    pub reduction: Result<Reduction, Unreduced>,
}

pub struct Counterexample {
    pub violation: Violation,
    pub steps: usize,
    /// After how many of them the run goes round for ever.
    pub cycle_start: Option<usize>,
    /// Who could move in what is repeated, and never does.
    pub neglected: Option<Neglected>,
    /// How long the trail is, where a rendezvous counts twice.
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
            errors,
        }
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

/// The share of the states that were seen, if so many were taken for others.
pub fn coverage(stored: u64, omitted: f64) -> f64 {
    stored as f64 / (stored as f64 + omitted).max(1.0)
}

impl Searched {
    pub fn bytes_per_state(&self) -> f64 {
        self.bytes as f64 / self.stats.stored.max(1) as f64
    }
}
