//! The real SPIN as an oracle: a model in, its counts out.

use crate::command::finish;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How a model is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model exactly as written: none of SPIN's optimisations, no reduction, all errors, no claim.
    Full,
    /// What `spin -a` makes of it by default, with partial-order reduction; all errors, no claim.
    Reduced,
}

/// What may be spent on one run of `pan`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    pub memory_mib: u32,
    pub depth: u32,
}

impl Default for Limits {
    /// Plenty for a generated model, little enough that one bad model does not hold up the rest.
    fn default() -> Self {
        Self { time: Duration::from_secs(10), memory_mib: 2000, depth: 200_000 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpinAnswer {
    /// Whether SPIN took the model: it wrote a verifier and the verifier compiled.
    pub accepted: bool,
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub errors: u64,
    pub depth: u64,
    pub status: Status,
}

/// How far SPIN got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The whole state space was searched: the counts are facts.
    Complete,
    /// The model is wrong; what SPIN says about it.
    #[default]
    Rejected,
    /// SPIN wrote C code that does not compile.
    DoesNotCompile,
    /// The search went wrong in a way that makes its counts depend on luck: its own words.
    Faulty(String),
    /// Depth, memory or time ran out.
    Limit(&'static str),
    Crashed,
}

/// Whether SPIN and the C compiler it needs are installed.
pub fn available() -> bool {
    runs("spin", "-V") && runs("gcc", "--version")
}

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Compiling takes longer than searching a small model: `tcc` is twenty times faster at it than `gcc`.
fn compiler() -> Command {
    Command::new(if runs("tcc", "-v") { "tcc" } else { "gcc" })
}

/// Checks a model given as text.
pub fn run(source: &str, mode: Mode, limits: Limits) -> io::Result<SpinAnswer> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("model.pml"), source)?;
    run_in(folder.path(), "model.pml", mode, limits)
}

/// Checks a model in its folder, which will be littered with SPIN's files.
pub fn run_in(folder: &Path, model: &str, mode: Mode, limits: Limits) -> io::Result<SpinAnswer> {
    let answer = |accepted, status| SpinAnswer { accepted, status, ..SpinAnswer::default() };
    let (spin_flags, cc_flags): (&[&str], &[&str]) = match mode {
        Mode::Full => (&["-o1", "-o2", "-o3"], &["-DNOREDUCE"]),
        Mode::Reduced => (&[], &[]),
    };
    let mut generator = Command::new("spin");
    generator.arg("-a").args(spin_flags).arg(model).current_dir(folder);
    let generated = finish(&mut generator, Duration::from_secs(30))?;
    if generated.timed_out {
        return Ok(answer(false, Status::Limit("generating")));
    }
    if !generated.success() || !folder.join("pan.c").exists() {
        return Ok(answer(false, Status::Rejected));
    }
    // `-DNOCLAIM` is how a model's claims are left out; `pan` has no option for it.
    let mut compiler = compiler();
    compiler
        .args(["-w", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=65536"])
        .arg(format!("-DMEMLIM={}", limits.memory_mib))
        .args(cc_flags)
        .args(["-o", "pan", "pan.c"])
        .current_dir(folder);
    if !finish(&mut compiler, Duration::from_secs(120))?.success() {
        return Ok(answer(false, Status::DoesNotCompile));
    }
    let mut search = Command::new(folder.join("pan"));
    search.args(["-c0", "-n", "-w18"]).arg(format!("-m{}", limits.depth)).current_dir(folder);
    let searched = finish(&mut search, limits.time)?;
    if searched.timed_out {
        return Ok(answer(true, Status::Limit("time")));
    }
    Ok(read_answer(&searched.text()))
}

/// What `pan` prints when a model does something C leaves undefined, or when it gives up in the middle.
const FAULTS: &[&str] = &[
    "block in d_step seq",
    "invalid array index",
    "uninitialized chan",
    "too many processes",
    "VECTORSZ is too small",
    "max nr of",
    "Search not completed",
];

fn read_answer(output: &str) -> SpinAnswer {
    let fault = FAULTS.iter().find(|fault| output.contains(**fault));
    let status = if let Some(fault) = fault {
        Status::Faulty(fault.to_string())
    } else if output.contains("max search depth too small") {
        Status::Limit("depth")
    } else if output.contains("out of memory") || output.contains("reached -DMEMLIM") {
        Status::Limit("memory")
    } else if count_before(output, " states, stored").is_none() {
        Status::Crashed
    } else {
        Status::Complete
    };
    SpinAnswer {
        accepted: true,
        stored: count_before(output, " states, stored").unwrap_or(0),
        matched: count_before(output, " states, matched").unwrap_or(0),
        transitions: count_before(output, " transitions (").unwrap_or(0),
        errors: count_after(output, "errors: ").unwrap_or(0),
        depth: count_after(output, "depth reached ").unwrap_or(0),
        status,
    }
}

/// The number that stands before these words. `pan` prints counts with `%.8g`: `1.0677682e+08`.
fn count_before(output: &str, words: &str) -> Option<u64> {
    let text = &output[..output.find(words)?];
    number(text.split_whitespace().next_back()?)
}

fn count_after(output: &str, words: &str) -> Option<u64> {
    let text = &output[output.find(words)? + words.len()..];
    number(text.split(|c: char| c.is_whitespace() || c == ',').next()?)
}

fn number(text: &str) -> Option<u64> {
    let value: f64 = text.parse().ok()?;
    (value >= 0.0).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "
State-vector 44 byte, depth reached 2639, errors: 12
1.0677682e+08 states, stored
   351639 states, matched
   704305 transitions (= stored+matched)
        1 atomic steps
";

    #[test]
    fn counts_are_read_in_both_notations() {
        let answer = read_answer(REPORT);
        assert_eq!(answer.status, Status::Complete);
        assert_eq!((answer.stored, answer.matched), (106_776_820, 351_639));
        assert_eq!((answer.transitions, answer.errors, answer.depth), (704_305, 12, 2639));
    }

    #[test]
    fn a_report_that_is_not_there_is_a_crash() {
        assert_eq!(read_answer("Segmentation fault").status, Status::Crashed);
    }

    #[test]
    fn a_search_cut_short_is_no_fact() {
        let output = format!("error: max search depth too small\n{REPORT}");
        assert_eq!(read_answer(&output).status, Status::Limit("depth"));
    }

    #[test]
    fn spin_counts_a_small_model() {
        if !available() {
            return;
        }
        let model = "active [2] proctype P() { byte i; do :: i < 2 -> i++ :: else -> break od; assert(i == 2) }";
        let answer = run(model, Mode::Full, Limits::default()).unwrap();
        assert_eq!((answer.status, answer.errors), (Status::Complete, 0));
        assert!(answer.stored > 10);
    }
}
