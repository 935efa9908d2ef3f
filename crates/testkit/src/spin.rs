//! SPIN as an oracle: returns its counts for a model.

use crate::command::{Finished, finish};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The configuration of SPIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model as written: no optimisations, no reduction, all errors, no claim.
    Full,
    /// The output of `spin -a` by default, without reduction: it merges statements and resets dead variables.
    Optimised,
    /// The same with partial-order reduction.
    Reduced,
    /// The model as written, with its formula or claim.
    Claim,
    /// With its formula or claim, with SPIN's default merging and reduction.
    ReducedClaim,
    /// As written, searching for non-progress cycles.
    NonProgress,
}

impl Mode {
    fn spin_flags(self) -> &'static [&'static str] {
        match self {
            Mode::Full | Mode::Claim | Mode::NonProgress => &["-o1", "-o2", "-o3"],
            Mode::Optimised | Mode::Reduced | Mode::ReducedClaim => &[],
        }
    }

    fn compiler_flags(self) -> &'static [&'static str] {
        match self {
            // `-DNOCLAIM` disables a model's claims; `pan` has no option for it.
            Mode::Full | Mode::Optimised => &["-DSAFETY", "-DNOCLAIM", "-DNOREDUCE"],
            Mode::Reduced => &["-DSAFETY", "-DNOCLAIM"],
            Mode::Claim => &["-DNOREDUCE", "-DNFAIR=3"],
            Mode::ReducedClaim => &[],
            Mode::NonProgress => &["-DNOREDUCE", "-DNP"],
        }
    }
}

/// The representation of a stored state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    #[default]
    All,
    /// The indices of its components (collapse compression).
    Collapsed,
    /// A hash of four bytes (hash compaction).
    Hash,
    /// Some bits of an array (bitstate hashing). The array has as many bits as a hash table would have slots.
    Bits,
}

impl Keeping {
    fn compiler_flags(self) -> &'static [&'static str] {
        match self {
            Keeping::All => &[],
            Keeping::Collapsed => &["-DCOLLAPSE"],
            Keeping::Hash => &["-DHC4"],
            Keeping::Bits => &["-DBITSTATE"],
        }
    }
}

/// How a verifier is built.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    pub mode: Mode,
    pub keeping: Keeping,
    pub compiler: Compiler,
    /// `NAME=VALUE`, for the model's preprocessor.
    pub constants: &'a [String],
    pub memory_mib: u32,
    /// The maximum size of a state in bytes.
    pub vector: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `tcc`, if available: compiling takes longer than searching a small model, and `tcc` compiles twenty
    /// times faster than `gcc`.
    Quick,
    /// `gcc -O2`: the usual choice for measurements.
    Optimising,
}

impl Compiler {
    fn command(self) -> Command {
        match self {
            Compiler::Quick => Command::new(if runs("tcc", "-v") { "tcc" } else { "gcc" }),
            Compiler::Optimising => {
                let mut command = Command::new("gcc");
                command.arg("-O2");
                command
            }
        }
    }
}

/// The kind of errors that a verifier looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Every error.
    Errors,
    /// A violation of the model's claim; invalid end states do not count.
    Cycle,
    /// A weakly fair one.
    FairCycle,
    /// A non-progress cycle; invalid end states do not count.
    NonProgress,
    /// A weakly fair one.
    FairNonProgress,
    /// Every event that violates the model's trace.
    Events,
    /// The same, and every invalid end state.
    EventsAndEnds,
}

impl Goal {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Goal::Errors => &["-c0"],
            Goal::Cycle => &["-a", "-E"],
            Goal::FairCycle => &["-a", "-f", "-E"],
            Goal::NonProgress => &["-l", "-E"],
            Goal::FairNonProgress => &["-l", "-f", "-E"],
            Goal::Events => &["-c0", "-A", "-E"],
            Goal::EventsAndEnds => &["-c0", "-A"],
        }
    }
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    pub goal: Goal,
    pub depth: u64,
    /// The binary logarithm of the number of slots in the hash table.
    pub hash_bits: u32,
    pub time: Duration,
}

/// Limits on one run of `pan`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    pub memory_mib: u32,
    pub depth: u32,
}

impl Default for Limits {
    /// Sufficient for a generated model, and small enough that one bad model does not delay the rest.
    fn default() -> Self {
        Self { time: Duration::from_secs(10), memory_mib: 2000, depth: 200_000 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpinAnswer {
    /// Whether SPIN accepted the model: it generated a verifier, and the verifier compiled.
    pub accepted: bool,
    pub stored: u64,
    pub matched: u64,
    pub transitions: u64,
    pub errors: u64,
    pub depth: u64,
    /// The size of a state in bytes.
    pub vector: u64,
    pub status: Status,
}

/// The status of SPIN's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The whole state space was searched: the counts are exact.
    Complete,
    /// SPIN rejected the model with this message.
    #[default]
    Rejected,
    /// SPIN generated C code that does not compile.
    DoesNotCompile,
    /// The search failed in a way that makes its counts unreliable, with this message.
    Faulty(String),
    /// The limit on depth, memory or time was reached.
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

/// Checks a model given as text.
pub fn run(source: &str, mode: Mode, limits: Limits) -> io::Result<SpinAnswer> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("model.pml"), source)?;
    run_in(folder.path(), "model.pml", mode, limits)
}

/// Checks a model in its folder, where SPIN leaves its files.
pub fn run_in(folder: &Path, model: &str, mode: Mode, limits: Limits) -> io::Result<SpinAnswer> {
    let Limits { time, memory_mib, depth } = limits;
    let how =
        Build { mode, keeping: Keeping::All, compiler: Compiler::Quick, constants: &[], memory_mib, vector: 65536 };
    if let Made::Not(status) = build(folder, Path::new(model), &how)? {
        return Ok(SpinAnswer { accepted: false, status, ..SpinAnswer::default() });
    }
    let searched = search(folder, Search { goal: Goal::Errors, depth: depth.into(), hash_bits: 18, time })?;
    Ok(read_answer(&searched))
}

/// The reason why SPIN does not decide whether a run violates a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// It stopped at a run that ends in this fault.
    Fault(&'static str),
    Other(String),
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::Fault(fault) => write!(f, "a run ends in a fault: {fault}"),
            Unsure::Other(why) => f.write_str(why),
        }
    }
}

/// Whether a run of the model violates its only formula, or makes no progress, depending on the goal. The
/// model has no assertions.
pub fn broken(source: &str, goal: Goal, limits: Limits) -> io::Result<Result<bool, Unsure>> {
    let Limits { time, memory_mib, depth } = limits;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("model.pml"), source)?;
    let mode = match goal {
        Goal::NonProgress | Goal::FairNonProgress => Mode::NonProgress,
        Goal::Errors | Goal::Cycle | Goal::FairCycle | Goal::Events | Goal::EventsAndEnds => Mode::Claim,
    };
    let (keeping, compiler) = (Keeping::All, Compiler::Quick);
    let how = Build { mode, keeping, compiler, constants: &[], memory_mib, vector: 65536 };
    if let Made::Not(status) = build(folder.path(), Path::new("model.pml"), &how)? {
        return Ok(Err(Unsure::Other(format!("{status:?}"))));
    }
    Ok(is_broken(&search(folder.path(), Search { goal, depth: depth.into(), hash_bits: 18, time })?))
}

/// Whether a search has found a cycle, or the reason why this is unknown.
pub fn is_broken(searched: &Finished) -> Result<bool, Unsure> {
    let text = searched.text();
    // It also reports an index out of range as a violated assertion.
    if let Some(fault) = MODEL_FAULTS.iter().find(|fault| text.contains(**fault)) {
        return Err(Unsure::Fault(fault));
    }
    // For formulas about finite runs, SPIN's claim contains an assertion.
    let words = ["acceptance cycle", "non-progress cycle (at", "assertion violated", "end state in claim"];
    if words.iter().any(|words| text.contains(words)) {
        return Ok(true);
    }
    let answer = read_answer(searched);
    match answer.status {
        Status::Complete if answer.errors == 0 => Ok(false),
        Status::Complete => Err(Unsure::Other("another error".into())),
        status => Err(Unsure::Other(format!("{status:?}"))),
    }
}

/// SPIN's answer about the trace of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The counts; the errors are those of events, and sometimes others.
    pub counts: SpinAnswer,
    /// Whether there were other errors.
    pub mixed: bool,
    /// Whether an event violated the trace.
    pub broken: bool,
    /// Whether an event matched in two ways: the search ends there.
    pub ambiguous: bool,
    /// The number of states in which a run ends before the trace does.
    pub incomplete: u64,
}

/// SPIN's answer about the trace of a model, or the reason why it has none.
pub fn events(source: &str, limits: Limits) -> io::Result<Result<Events, String>> {
    let Limits { time, memory_mib, depth } = limits;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("model.pml"), source)?;
    let how = Build {
        mode: Mode::Full,
        keeping: Keeping::All,
        compiler: Compiler::Quick,
        constants: &[],
        memory_mib,
        vector: 65536,
    };
    if let Made::Not(status) = build(folder.path(), Path::new("model.pml"), &how)? {
        return Ok(Err(format!("{status:?}")));
    }
    let search = |goal| search(folder.path(), Search { goal, depth: depth.into(), hash_bits: 18, time });
    let (events, ends) = (search(Goal::Events)?, search(Goal::EventsAndEnds)?);
    let ambiguous = events.text().contains("non-determinism in event-trace");
    let counts = read_answer(&events);
    if counts.status != Status::Complete && !ambiguous {
        return Ok(Err(format!("{:?}", counts.status)));
    }
    let is_event = |line: &&str| line.contains("event_trace error");
    let text = events.text();
    // Of consecutive errors, only different ones are reported.
    let told: Vec<_> = text.lines().filter(|line| line.contains("(at depth")).collect();
    Ok(Ok(Events {
        mixed: !told.iter().all(is_event),
        broken: told.iter().any(is_event),
        ambiguous,
        incomplete: ends.text().matches("event_trace not completed").count() as u64,
        counts,
    }))
}

/// The result of building a verifier.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// It took this number of seconds.
    In(f64),
    Not(Status),
}

/// Most models take milliseconds. Some formulas take hours, and hardly any an intermediate time.
const GENERATING: Duration = Duration::from_secs(5);

/// Builds a verifier in a folder.
pub fn build(folder: &Path, model: &Path, how: &Build) -> io::Result<Made> {
    let mut generator = Command::new("spin");
    generator
        .arg("-a")
        .args(how.mode.spin_flags())
        .args(how.constants.iter().map(|constant| format!("-D{constant}")));
    let generated = finish(generator.arg(model).current_dir(folder), GENERATING)?;
    if generated.timed_out {
        return Ok(Made::Not(Status::Limit("generating")));
    }
    let is_accepted = generated.success() || complains_of_indices_only(&generated);
    if !is_accepted || !folder.join("pan.c").exists() {
        return Ok(Made::Not(Status::Rejected));
    }
    let mut compiler = how.compiler.command();
    compiler
        .arg("-w")
        .arg(format!("-DVECTORSZ={}", how.vector))
        .arg(format!("-DMEMLIM={}", how.memory_mib))
        .args(how.mode.compiler_flags())
        .args(how.keeping.compiler_flags())
        .args(["-o", "pan", "pan.c"])
        .current_dir(folder);
    let compiled = finish(&mut compiler, Duration::from_secs(120))?;
    if !compiled.success() {
        return Ok(Made::Not(Status::DoesNotCompile));
    }
    Ok(Made::In(generated.seconds + compiled.seconds))
}

/// Whether the only errors of a model are arrays without an index: the verifier then uses their first
/// elements. SPIN's exit status is the number of errors that it counts, which excludes some that it reports.
fn complains_of_indices_only(generated: &Finished) -> bool {
    let text = generated.text();
    let count = text.lines().filter(|line| line.contains("Error: missing array index")).count();
    count > 0 && generated.code.is_some_and(|code| code as usize == count)
}

/// Runs the verifier in a folder, without a list of unreached statements.
pub fn search(folder: &Path, how: Search) -> io::Result<Finished> {
    let mut pan = Command::new(folder.join("pan"));
    pan.args(how.goal.flags())
        .arg("-n")
        .arg(format!("-w{}", how.hash_bits))
        .arg(format!("-m{}", how.depth))
        .current_dir(folder);
    finish(&mut pan, how.time)
}

/// Parses the output of a verifier.
pub fn read_answer(searched: &Finished) -> SpinAnswer {
    if searched.timed_out {
        return SpinAnswer { accepted: true, status: Status::Limit("time"), ..SpinAnswer::default() };
    }
    read_report(&searched.text())
}

/// The messages of `pan` for runs that end in a fault.
const MODEL_FAULTS: &[&str] =
    &["block in d_step seq", "invalid array index", "uninitialized chan", "too many processes"];

/// The messages of `pan` when a model does something that C leaves undefined, or when it gives up.
const FAULTS: &[&str] = &[
    "block in d_step seq",
    "invalid array index",
    "uninitialized chan",
    "too many processes",
    "VECTORSZ is too small",
    "max nr of",
    "Search not completed",
    "partial order reduction invalid",
];

fn read_report(output: &str) -> SpinAnswer {
    let fault = FAULTS.iter().find(|fault| output.contains(**fault));
    // It then also reports that the search is not completed.
    let status = if output.contains("out of memory") || output.contains("reached -DMEMLIM") {
        Status::Limit("memory")
    } else if let Some(fault) = fault {
        Status::Faulty(fault.to_string())
    } else if output.contains("max search depth too small") {
        Status::Limit("depth")
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
        vector: count_after(output, "State-vector ").unwrap_or(0),
        status,
    }
}

/// The number before these words. `pan` prints counts with `%.8g`: `1.0677682e+08`.
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
        let answer = read_report(REPORT);
        assert_eq!(answer.status, Status::Complete);
        assert_eq!((answer.stored, answer.matched), (106_776_820, 351_639));
        assert_eq!((answer.transitions, answer.errors, answer.depth), (704_305, 12, 2639));
        assert_eq!(answer.vector, 44);
    }

    #[test]
    fn a_report_that_is_not_there_is_a_crash() {
        assert_eq!(read_report("Segmentation fault").status, Status::Crashed);
    }

    #[test]
    fn a_search_cut_short_is_no_fact() {
        let output = format!("error: max search depth too small\n{REPORT}");
        assert_eq!(read_report(&output).status, Status::Limit("depth"));
        let output = format!("pan: reached -DMEMLIM bound\nWarning: Search not completed\n{REPORT}");
        assert_eq!(read_report(&output).status, Status::Limit("memory"));
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
