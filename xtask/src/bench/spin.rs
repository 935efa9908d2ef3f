//! SPIN, measured as an expert would run it: with a stack that is just deep enough, and a hash table of the
//! right size.

use super::figures::{Run, quotient};
use crate::Result;
use entail_testkit::command::Finished;
use entail_testkit::spin::{self, Build, Compiler, Goal, Keeping, Made, Mode, Search, SpinAnswer, Status};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A model and the options that SPIN needs for it.
#[derive(Clone, Debug)]
pub struct Subject {
    pub model: PathBuf,
    pub mode: Mode,
    pub constants: Vec<String>,
    pub memory_mib: u32,
}

/// A model with the optimal options for it.
#[derive(Clone, Debug)]
pub struct Plan {
    subject: Subject,
    depth: u64,
    hash_bits: u32,
    vector: u64,
}

/// Longer than any of the models takes; it stops a runaway search.
pub const TIME: Duration = Duration::from_secs(3 * 3600);

/// An upper limit on the size of states while their size is unknown.
const WIDEST: u64 = 65536;

/// Runs the model once to determine its depth, state size and number of states. Tries `first_depth`, then
/// doubles it until the search is complete. Returns SPIN's answer with the plan; there is no plan if the
/// answer is incomplete.
pub fn prepare(subject: Subject, first_depth: u64) -> Result<(SpinAnswer, Option<Plan>)> {
    let folder = tempfile::tempdir()?;
    if let Made::Not(status) = subject.build(folder.path(), Keeping::All, WIDEST)? {
        return Ok((SpinAnswer { status, ..SpinAnswer::default() }, None));
    }
    let mut depth = first_depth;
    loop {
        let searched =
            spin::search(folder.path(), Search { goal: Goal::Errors, depth, hash_bits: hash_bits(0), time: TIME })?;
        let answer = spin::read_answer(&searched);
        match answer.status {
            Status::Limit("depth") => depth *= 2,
            Status::Complete => {
                let plan = Plan::new(subject, &answer);
                return Ok((answer, Some(plan)));
            }
            _ => return Ok((answer, None)),
        }
    }
}

impl Subject {
    fn build(&self, folder: &Path, keeping: Keeping, vector: u64) -> Result<Made> {
        let Subject { model, mode, constants, memory_mib } = self;
        let compiler = Compiler::Optimising;
        let how = Build { mode: *mode, keeping, compiler, constants, memory_mib: *memory_mib, vector };
        Ok(spin::build(folder, model, &how)?)
    }
}

impl Plan {
    /// The options for a model with these measurements.
    pub fn new(subject: Subject, known: &SpinAnswer) -> Self {
        Self { subject, depth: known.depth + 100, hash_bits: hash_bits(known.stored), vector: room(known.vector) }
    }

    /// Generates, compiles and runs a verifier.
    pub fn run(&self) -> Result<(SpinAnswer, Run)> {
        self.run_keeping(Keeping::All, self.hash_bits)
    }

    /// The same with another representation of states, and a table, or an array of bits, of this size.
    pub fn run_keeping(&self, keeping: Keeping, hash_bits: u32) -> Result<(SpinAnswer, Run)> {
        let folder = tempfile::tempdir()?;
        let made = match self.subject.build(folder.path(), keeping, self.vector)? {
            Made::In(seconds) => seconds,
            Made::Not(status) => return Ok((SpinAnswer { status, ..SpinAnswer::default() }, Run::default())),
        };
        let how = Search { goal: Goal::Errors, depth: self.depth, hash_bits, time: TIME };
        let searched = spin::search(folder.path(), how)?;
        let answer = spin::read_answer(&searched);
        let peak_bytes = peak_bytes(&searched);
        let run = Run {
            states: answer.stored,
            transitions: answer.transitions,
            search: elapsed(&searched.stdout).unwrap_or(0.0),
            total: made + searched.seconds,
            peak_bytes,
            bytes_per_state: quotient(peak_bytes as f64, answer.stored as f64).unwrap_or(0.0),
            backend: "pan".into(),
        };
        Ok((answer, run))
    }
}

/// At least one slot per state and, in a large model, at most two; the default of `pan` is 2^24 for every model.
pub fn hash_bits(states: u64) -> u32 {
    states.max(1).next_power_of_two().ilog2().max(20)
}

/// The default of `pan` is 1024. It needs some bytes more than it reports.
fn room(vector: u64) -> u64 {
    (vector + 256).next_multiple_of(1024)
}

/// The time by `pan`'s own clock, which has a resolution of 10 ms.
pub fn elapsed(output: &str) -> Option<f64> {
    let (_, rest) = output.split_once("pan: elapsed time ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The peak memory that the operating system reports, or else the memory that `pan` reports, in megabytes.
pub fn peak_bytes(searched: &Finished) -> u64 {
    let own = || {
        let line = searched.stdout.lines().find_map(|line| line.strip_suffix("total actual memory usage"))?;
        let megabytes: f64 = line.trim().parse().ok()?;
        Some((megabytes * f64::from(1 << 20)) as u64)
    };
    searched.peak_bytes.or_else(own).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "
State-vector 36 byte, depth reached 2639, errors: 0
   352666 states, stored
   18.834	equivalent memory usage for states (stored*(State-vector + overhead))
   19.500	total actual memory usage


pan: elapsed time 1.24e+03 seconds
pan: rate 2712815.4 states/second
";

    #[test]
    fn the_time_is_read_in_both_notations() {
        assert_eq!(elapsed(REPORT), Some(1240.0));
        assert_eq!(elapsed("pan: elapsed time 0.13 seconds"), Some(0.13));
        assert_eq!(elapsed("pan: out of memory"), None);
    }

    #[test]
    fn memory_is_what_the_system_saw_or_what_pan_says() {
        let searched = |peak_bytes| Finished {
            code: Some(0),
            timed_out: false,
            stdout: REPORT.into(),
            stderr: String::new(),
            seconds: 0.0,
            peak_bytes,
        };
        assert_eq!(peak_bytes(&searched(Some(4096))), 4096);
        assert_eq!(peak_bytes(&searched(None)), 39 << 19);
    }

    #[test]
    fn the_hash_table_has_a_slot_for_every_state() {
        assert_eq!([1, 1 << 20, (1 << 20) + 1, 10_000_000].map(hash_bits), [20, 20, 21, 24]);
    }

    #[test]
    fn only_wide_models_get_more_room() {
        assert_eq!([36, 768, 769, 2944].map(room), [1024, 1024, 2048, 4096]);
    }

    #[test]
    fn a_search_too_shallow_is_tried_again_deeper() {
        if !spin::available() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("count.pml");
        std::fs::write(&model, "active proctype P() { byte i; do :: i < 200 -> i++ :: else -> break od }").unwrap();
        let subject = Subject { model, mode: Mode::Full, constants: Vec::new(), memory_mib: 100 };
        let (answer, plan) = prepare(subject, 10).unwrap();
        assert_eq!((answer.status, answer.depth), (Status::Complete, 402));
        let (measured, run) = plan.unwrap().run().unwrap();
        assert_eq!((measured.status, measured.stored), (Status::Complete, answer.stored));
        assert!(run.total > 0.0 && run.peak_bytes > 0);
    }
}
