//! Exchanges trails between entail and SPIN, in both directions: both must reach the same last state.

use crate::entail::Entail;
use crate::{Outcome, Result, oracle, oracle_liveness, pool, root, spin_examples};
use entail_testkit::command::finish;
use entail_testkit::spin::{self, Build, Compiler, Keeping, Made};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

#[derive(clap::Args)]
pub struct Options {
    /// Skip models with more states than this
    #[arg(long, default_value_t = 1_000_000)]
    max_states: u64,
    /// Only models whose names contain this
    #[arg(long, default_value = "")]
    only: String,
}

const EXAMPLES: &str = "tests/oracle/spin-examples.csv";
/// Models with never claims.
const CLAIMS: &[&str] = &["tests/models/liveness/claims.pml", "tests/models/liveness/atomic-claims.pml"];
const TIME: Duration = Duration::from_secs(120);

/// Models where only locations are compared, with the reason: SPIN shows members of all enumerations by the
/// names of the first one; for a missing channel, it shows the length 0.
const ONLY_THE_WAY: &[&str] = &["test_mtype.pml", "ltl_example.pml"];

/// A model and a property that it violates.
struct Case {
    model: PathBuf,
    wrong: Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wrong {
    Safety,
    /// The formula of this name or, without a name, the never claim or the acceptance labels.
    Acceptance {
        property: String,
    },
    NonProgress,
}

/// The last state of a run, as far as both tools show it.
#[derive(Debug, Default, PartialEq)]
struct Last {
    /// Name and location by number.
    processes: BTreeMap<u64, (String, u64)>,
    /// Variables and channels.
    values: BTreeMap<String, String>,
    assertion: bool,
    cycle: bool,
    /// Only entail reports it.
    refuted: bool,
    /// A claim is active; only SPIN reports it.
    claim: bool,
    /// The location of the claim, if it belongs to the model.
    claim_at: Option<String>,
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if !spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let mut cases = cases(options.max_states)?;
    cases.retain(|case| case.name().contains(&options.only));
    let entail = Entail::find(binary)?;
    let told = pool::map(pool::cores(), &cases, |case| {
        let ours = outward(&entail, case).unwrap_or_else(|problem| format!("FAILED {problem}"));
        let theirs = inward(&entail, case).unwrap_or_else(|problem| format!("FAILED {problem}"));
        (ours, theirs)
    });
    let mut failed = 0;
    for (case, (ours, theirs)) in cases.iter().zip(told) {
        failed += [&ours, &theirs].iter().filter(|told| told.starts_with("FAILED")).count();
        println!("{:<34} to SPIN: {ours:<30} from SPIN: {theirs}", case.name());
    }
    println!("{} runs in each direction, {failed} failed", cases.len());
    Ok(if failed == 0 { Outcome::Agreement } else { Outcome::Difference })
}

/// All properties that are violated according to SPIN.
fn cases(max_states: u64) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let folder = root().join(oracle::MODELS);
    if folder.exists() {
        let rows = oracle::read(&root().join(oracle::ANSWERS), oracle::FULL)?;
        let rows = rows.into_iter().filter(|row| row.answer.errors > 0 && row.answer.stored <= max_states);
        cases.extend(rows.map(|row| Case { model: folder.join(row.model), wrong: Wrong::Safety }));
        cases.extend(oracle_liveness::violated(max_states)?.into_iter().map(|(model, property)| {
            let wrong = if property == "np_" { Wrong::NonProgress } else { Wrong::Acceptance { property } };
            Case { model, wrong }
        }));
    }
    let examples: HashMap<String, PathBuf> =
        spin_examples::installed()?.into_iter().map(|model| (spin_examples::name(&model), model)).collect();
    for line in std::fs::read_to_string(root().join(EXAMPLES))?.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, _, _, _, _, errors, _, status] = cells[..] else { continue };
        if let Some(model) = examples.get(name).filter(|_| errors != "0" && status == "complete") {
            cases.push(Case { model: model.clone(), wrong: Wrong::Safety });
        }
    }
    for model in CLAIMS.iter().map(|model| root().join(model)) {
        let text = std::fs::read_to_string(&model)?;
        let expected = text.lines().filter_map(|line| line.split_once("expect: ")?.1.split_once(" violated"));
        let properties = expected.map(|(property, _)| property.to_owned());
        cases.extend(
            properties.map(|property| Case { model: model.clone(), wrong: Wrong::Acceptance { property } }),
        );
    }
    Ok(cases)
}

/// entail finds a run, and SPIN replays it.
fn outward(entail: &Entail, case: &Case) -> Result<String> {
    let folder = case.folder()?;
    let file = case.file()?;
    let mut check = entail.command();
    check.args(["check", "--format", "json", "--trail", "found.trail"]).args(case.options()).arg(&file);
    let checked = finish(check.current_dir(folder.path()), TIME)?;
    let report: Value = serde_json::from_str(&checked.stdout)?;
    let violated =
        report["properties"].as_array().and_then(|all| all.iter().find(|one| one["verdict"] == "violated"));
    let violated = violated.ok_or("we find nothing wrong")?;
    let trail = violated["counterexample"]["trail"].as_str().ok_or("there is no trail")?;
    let ours = replayed(entail, case, &folder, trail)?;
    let theirs = followed(&folder, &file, trail)?;
    let same = case.compare(&ours, &theirs)?;
    let found = &violated["counterexample"];
    let claim = if violated["kind"] == "never" {
        watched(&folder, &file, (found, trail), &theirs).map_err(|problem| format!("the claim: {problem}"))?;
        ", with claim"
    } else {
        ""
    };
    Ok(format!("{} steps, {same} values{claim}", found["steps"].as_u64().unwrap_or(0)))
}

/// An error if SPIN's claim is not where it must be at the end of the run that entail found.
fn watched(folder: &TempDir, file: &str, (found, trail): (&Value, &str), theirs: &Last) -> Result<()> {
    let at = theirs.claim_at.as_deref().ok_or("it does not run along")?;
    if found["kind"] == "claim_end" && !at.contains("<valid end state>") && !theirs.assertion {
        return Err(format!("it ends at {at}").into());
    }
    if theirs.cycle {
        let trail = std::fs::read_to_string(folder.path().join(trail))?;
        let before = trail.split_inclusive('\n').take_while(|line| !line.starts_with("-1:"));
        std::fs::write(folder.path().join("before.trail"), before.collect::<String>())?;
        let begin = followed(folder, file, "before.trail")?.claim_at;
        if begin.as_deref() != Some(at) {
            return Err(format!("the cycle begins at {begin:?} and ends at {at}").into());
        }
    }
    Ok(())
}

/// SPIN finds a run, and entail replays it.
fn inward(entail: &Entail, case: &Case) -> Result<String> {
    let (ours, theirs) = found_by_spin(entail, case, case.mode())?;
    let same = case.compare(&ours, &theirs)?;
    // Where SPIN merges statements, its trail continues after the error.
    if let Some(merged) = case.merged() {
        let (ours, theirs) = found_by_spin(entail, case, merged)?;
        case.compare_ends(&ours, &theirs).map_err(|problem| format!("merged: {problem}"))?;
    }
    Ok(format!("{same} values"))
}

fn found_by_spin(entail: &Entail, case: &Case, mode: spin::Mode) -> Result<(Last, Last)> {
    let folder = case.folder()?;
    let file = case.file()?;
    let how = Build {
        mode,
        keeping: Keeping::All,
        compiler: Compiler::Quick,
        constants: &[],
        memory_mib: 4000,
        vector: 65536,
    };
    if let Made::Not(status) = spin::build(folder.path(), Path::new(&file), &how)? {
        return Err(format!("no verifier: {status:?}").into());
    }
    let mut pan = Command::new(folder.path().join("pan"));
    pan.args(case.pan()).args(["-n", "-m1000000"]).current_dir(folder.path());
    let found = finish(&mut pan, TIME)?;
    let trail = format!("{file}.trail");
    if !folder.path().join(&trail).exists() {
        return Err(format!("SPIN finds nothing wrong: {}", found.text().lines().next().unwrap_or_default()).into());
    }
    Ok((replayed(entail, case, &folder, &trail)?, followed(&folder, &file, &trail)?))
}

/// The last state of `entail replay`.
fn replayed(entail: &Entail, case: &Case, folder: &TempDir, trail: &str) -> Result<Last> {
    let mut replay = entail.command();
    replay.args(["replay", "--as", "json"]).args(case.options()).args([&case.file()?, trail]);
    // The whole run, whatever its length.
    let told = replay.current_dir(folder.path()).output()?;
    if !told.status.success() {
        let complaint = String::from_utf8_lossy(&told.stderr).into_owned();
        return Err(format!("we say: {}", complaint.lines().last().unwrap_or_default()).into());
    }
    let run: Value = serde_json::from_slice(&told.stdout)?;
    let steps = run["steps"].as_array().ok_or("a run without steps")?;
    let state = steps.last().map_or(&run["start"], |step| &step["state"]);
    let mut last = Last {
        assertion: run["error"]["kind"] == "assertion",
        cycle: run["ending"] == "cycle",
        refuted: run["ending"] == "refuted",
        ..Last::default()
    };
    let names = state["processes"].as_array().into_iter().flatten();
    let names: HashMap<String, u64> = names
        .filter_map(|process| {
            let number = process["process"].as_u64()?;
            Some((format!("{}({number})", process["name"].as_str()?), number))
        })
        .collect();
    for (name, value) in state["values"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        match (names.get(name), value.strip_prefix("at ")) {
            (Some(number), Some(location)) => {
                let name = name.split('(').next().unwrap_or_default().to_owned();
                last.processes.insert(*number, (name, location.parse()?));
            }
            _ => drop(last.values.insert(name.clone(), as_spin_writes(value))),
        }
    }
    Ok(last)
}

/// A number, or the contents of a channel.
fn as_spin_writes(value: &str) -> String {
    match value {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        channel if channel.starts_with('#') => channel.split(' ').skip(1).collect(),
        other => other.to_owned(),
    }
}

/// The last state of `spin -t`.
fn followed(folder: &TempDir, file: &str, trail: &str) -> Result<Last> {
    let mut spin = Command::new("spin");
    spin.args(["-t", "-p", "-g", "-l", "-k", trail, file]).current_dir(folder.path());
    let told = finish(&mut spin, TIME)?.text();
    if let Some(complaint) =
        told.lines().find(|line| line.contains("transition failed") || line.contains("lost trail"))
    {
        return Err(format!("SPIN says: {complaint}").into());
    }
    // There may be no processes left.
    let (way, end) = told
        .rsplit_once("#processes:")
        .or_else(|| told.rsplit_once("trail ends after"))
        .ok_or_else(|| format!("SPIN does not terminate: {}", told.lines().last().unwrap_or_default()))?;
    let mut last = Last {
        assertion: way.contains("assertion violated"),
        cycle: way.contains("<<<<<START OF CYCLE>>>>>"),
        claim: std::fs::read_to_string(folder.path().join(trail))?.contains("-2:"),
        claim_at: end.lines().find_map(|line| Some(line.split_once("proc  - ")?.1.to_owned())),
        ..Last::default()
    };
    for line in end.lines() {
        if let Some((number, name, location)) = process(line) {
            last.processes.insert(number, (name, location));
        } else if let Some((name, value)) = value(line) {
            last.values.insert(name, value);
        }
    }
    Ok(last)
}

/// Reads `8: proc  1 (P:1) a.pml:5 (state 6) <valid end state>`.
fn process(line: &str) -> Option<(u64, String, u64)> {
    let (_, rest) = line.split_once("proc ")?;
    let (number, rest) = rest.split_once(" (")?;
    let name = rest.split(')').next()?.rsplit_once(':')?.0;
    let location = rest.rsplit_once("(state ")?.1.split(')').next()?;
    Some((number.trim().parse().ok()?, plain(name), location.parse().ok()?))
}

/// Reads `x[1] = 2`, `P(1):l = 5` and `queue 2 (c): [9,red]`.
fn value(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if let Some(queue) = line.strip_prefix("queue ") {
        let (name, messages) = queue.split_once(" (")?.1.rsplit_once("):")?;
        return Some((plain(name), messages.trim().to_owned()));
    }
    let (name, value) = line.split_once(" = ")?;
    Some((plain(name), value.to_owned()))
}

/// SPIN writes `:init:` for `init`.
fn plain(name: &str) -> String {
    name.replace(":init:", "init")
}

/// The number of equal values; an error if values differ.
fn compare_values(ours: &Last, theirs: &Last) -> Result<usize> {
    let mut same = ours.processes.len();
    for (name, value) in &ours.values {
        if let Some(their_value) = theirs.values.get(name) {
            // If a claim is active, SPIN counts it as a process when it numbers a new one.
            if value != their_value && !(theirs.claim && is_next(value, their_value)) {
                return Err(format!("{name} is {value}, with SPIN {their_value}").into());
            }
            same += 1;
        }
    }
    Ok(same)
}

/// Whether the second number is the first one plus 1.
fn is_next(one: &str, other: &str) -> bool {
    let numbers = one.parse::<i64>().ok().zip(other.parse::<i64>().ok());
    numbers.is_some_and(|(one, other)| one + 1 == other)
}

/// An error if the runs do not end in the same way.
fn compare_ends(ours: &Last, theirs: &Last) -> Result<()> {
    // SPIN's claims of formulas about finite runs end in assertions; entail's trails omit such claims.
    let assertion = ours.assertion == theirs.assertion || ours.refuted;
    if assertion && ours.cycle == theirs.cycle {
        return Ok(());
    }
    let [ours, theirs] = [ours, theirs].map(|last| (last.assertion, last.cycle));
    Err(format!("(assertion, cycle) is {ours:?}, with SPIN {theirs:?}").into())
}

impl Case {
    /// The number of equal values; an error if values differ.
    fn compare(&self, ours: &Last, theirs: &Last) -> Result<usize> {
        if ours.processes != theirs.processes {
            return Err(format!("processes: {:?}, SPIN has {:?}", ours.processes, theirs.processes).into());
        }
        self.compare_ends(ours, theirs)?;
        if self.is_odd() { Ok(ours.processes.len()) } else { compare_values(ours, theirs) }
    }

    fn compare_ends(&self, ours: &Last, theirs: &Last) -> Result<()> {
        if self.is_odd() { Ok(()) } else { compare_ends(ours, theirs) }
    }

    fn is_odd(&self) -> bool {
        self.model.file_name().is_some_and(|name| ONLY_THE_WAY.iter().any(|odd| name == *odd))
    }

    fn name(&self) -> String {
        let name = self.model.file_name().unwrap_or_default().to_string_lossy();
        match &self.wrong {
            Wrong::Safety => name.into_owned(),
            Wrong::Acceptance { property } => format!("{name} acceptance {property}"),
            Wrong::NonProgress => format!("{name} progress"),
        }
    }

    fn file(&self) -> Result<String> {
        let name = self.model.file_name().ok_or("a model has a name")?;
        Ok(name.to_string_lossy().into_owned())
    }

    /// A folder with the model and the files that it includes.
    fn folder(&self) -> Result<TempDir> {
        spin_examples::copy(&self.model)
    }

    /// The options for entail.
    fn options(&self) -> Vec<&str> {
        match &self.wrong {
            Wrong::Safety => vec!["--property", "safety"],
            Wrong::Acceptance { property } if property.is_empty() => Vec::new(),
            Wrong::Acceptance { property } => vec!["--property", property],
            Wrong::NonProgress => vec!["--property", "progress"],
        }
    }

    fn mode(&self) -> spin::Mode {
        match &self.wrong {
            Wrong::Safety => spin::Mode::Full,
            Wrong::Acceptance { .. } => spin::Mode::Claim,
            Wrong::NonProgress => spin::Mode::NonProgress,
        }
    }

    /// SPIN's default mode.
    fn merged(&self) -> Option<spin::Mode> {
        match &self.wrong {
            Wrong::Safety => Some(spin::Mode::Reduced),
            Wrong::Acceptance { .. } => Some(spin::Mode::ReducedClaim),
            Wrong::NonProgress => None,
        }
    }

    fn pan(&self) -> Vec<&str> {
        match &self.wrong {
            Wrong::Safety => Vec::new(),
            Wrong::Acceptance { property } if property.is_empty() => vec!["-a"],
            Wrong::Acceptance { property } => vec!["-a", "-N", property],
            Wrong::NonProgress => vec!["-l"],
        }
    }
}
