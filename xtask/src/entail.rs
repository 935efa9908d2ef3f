//! Runs entail as a command that prints JSON.

use crate::{Result, root};
use entail_testkit::command::{Finished, finish};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub struct Entail {
    binary: PathBuf,
    /// Options of every check.
    options: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model as written, all errors: the counts are comparable with SPIN's.
    AsWritten,
    /// Default options: only the verdict is comparable.
    Default,
    /// All errors, with all reductions: time and memory are comparable.
    Optimised,
    /// The same without partial-order reduction.
    Passes,
}

/// The task for a model.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub mode: Mode,
    /// `NAME=VALUE`, for the model's preprocessor.
    pub constants: &'a [String],
    /// In the notation of the command line.
    pub memory: &'a str,
    pub time: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Checked(Counts),
    /// The model is invalid; the first line of the diagnostics.
    Rejected(String),
    /// A limit was reached.
    Inconclusive,
    /// It exceeded the time limit, crashed, or printed an unexpected report.
    Broken(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub violated: bool,
    pub errors: u64,
    pub stored: u64,
    pub transitions: u64,
    pub bytes_per_state: f64,
    pub seconds: f64,
    pub search_seconds: f64,
    /// Zero if unknown.
    pub peak_bytes: u64,
    pub backend: String,
}

/// Enough for every model in the comparisons; a runaway search must not exhaust the machine.
const MEMORY: &str = "6G";

impl Entail {
    /// The given binary, or else the one of this workspace, freshly built.
    pub fn find(binary: Option<&Path>) -> Result<Self> {
        match binary {
            Some(binary) => Ok(Self { binary: std::fs::canonicalize(binary)?, options: &[] }),
            None => Self::build(),
        }
    }

    /// Builds the release binary. Cargo reports its path.
    fn build() -> Result<Self> {
        let output = cargo()
            .args(["build", "--release", "--package", "entail", "--message-format", "json-render-diagnostics"])
            .stderr(std::process::Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err("entail does not build".into());
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let executable = |line: &str| {
            let message: Value = serde_json::from_str(line).ok()?;
            (message["target"]["name"] == "entail").then_some(())?;
            Some(PathBuf::from(message["executable"].as_str()?))
        };
        let binary = messages.lines().filter_map(executable).next_back();
        Ok(Self { binary: binary.ok_or("cargo built no entail binary")?, options: &[] })
    }

    /// The same with one thread: measurements must not depend on the number of cores.
    pub fn one_thread(self) -> Self {
        Self { options: &["--threads", "1"], ..self }
    }

    pub fn path(&self) -> &Path {
        &self.binary
    }

    /// The command, for other uses.
    pub fn command(&self) -> Command {
        Command::new(&self.binary)
    }

    /// Some of the counts under `states` in the report.
    pub fn counts(&self, model: &Path, options: &[&str], names: &[&str]) -> Result<Vec<u64>> {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--format", "json", "--memory", MEMORY, "--trail", "/dev/null"]);
        let output = command.args(self.options).args(options).arg(model).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let states = &report["properties"][0]["states"];
        let count = |name: &&str| states[name].as_u64().ok_or_else(|| format!("no `{name}` in the report").into());
        names.iter().map(count).collect()
    }

    /// The report on the only checked property.
    pub fn property(&self, model: &Path, options: &[&str]) -> Result<Value> {
        let mut properties = self.properties(model, options)?;
        if properties.len() == 1 {
            Ok(properties.swap_remove(0))
        } else {
            Err("not one property was checked".into())
        }
    }

    /// The report on the only checked property, if the options limit the memory.
    pub fn limited(&self, model: &Path, options: &[&str]) -> Result<Value> {
        let mut properties = self.all(model, options)?;
        properties.pop().filter(|_| properties.is_empty()).ok_or("not one property was checked".into())
    }

    /// The reports on all checked properties.
    pub fn properties(&self, model: &Path, options: &[&str]) -> Result<Vec<Value>> {
        self.all(model, &[&["--memory", MEMORY], options].concat())
    }

    fn all(&self, model: &Path, options: &[&str]) -> Result<Vec<Value>> {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--format", "json", "--trail", "/dev/null"]);
        let output = command.args(self.options).args(options).arg(model).output()?;
        let mut report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| first_line(&String::from_utf8_lossy(&output.stderr)))?;
        match report["properties"].take() {
            Value::Array(properties) if !properties.is_empty() => Ok(properties),
            _ => Err(format!("nothing was checked: {}", report["errors"]).into()),
        }
    }

    pub fn check(&self, model: &Path, mode: Mode, limit: Duration) -> Answer {
        self.run(model, &Task { mode, constants: &[], memory: MEMORY, time: limit }).0
    }

    /// The answer, and the total time of the process in seconds.
    pub fn run(&self, model: &Path, task: &Task) -> (Answer, f64) {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--format", "json"]).args(self.options);
        match task.mode {
            Mode::AsWritten => command.args(["--no-opt", "--all-errors"]),
            Mode::Optimised => command.args(["--all-errors", "--reduce", "por"]),
            Mode::Passes => command.args(["--all-errors", "--reduce", "none"]),
            Mode::Default => &mut command,
        };
        task.constants.iter().for_each(|constant| {
            command.args(["-D", constant]);
        });
        // Trails are not needed.
        command.args(["--property", "safety", "--trail", "/dev/null", "--memory", task.memory]).arg(model);
        match finish(&mut command, task.time) {
            Err(problem) => (Answer::Broken(problem.to_string()), 0.0),
            Ok(finished) => (answer(&finished), finished.seconds),
        }
    }
}

/// The cargo that runs this task, in the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn answer(finished: &Finished) -> Answer {
    if finished.timed_out {
        return Answer::Broken("does not end in time".into());
    }
    match finished.code {
        Some(0 | 1 | 3) => {
            read(&finished.stdout).unwrap_or_else(|| Answer::Broken("its JSON has no counts for `safety`".into()))
        }
        Some(2) => Answer::Rejected(first_line(&finished.stderr)),
        code => Answer::Broken(format!("exit status {code:?}: {}", first_line(&finished.stderr))),
    }
}

fn read(json: &str) -> Option<Answer> {
    let report: Value = serde_json::from_str(json).ok()?;
    let safety = report["properties"].as_array()?.iter().find(|property| property["name"] == "safety")?;
    let violated = match safety["verdict"].as_str()? {
        "violated" => true,
        "holds" => false,
        "inconclusive" => return Some(Answer::Inconclusive),
        _ => return None,
    };
    Some(Answer::Checked(Counts {
        violated,
        errors: safety["errors"].as_u64()?,
        stored: safety["states"]["stored"].as_u64()?,
        transitions: safety["states"]["transitions"].as_u64()?,
        bytes_per_state: safety["store"]["bytes_per_state"].as_f64().unwrap_or(0.0),
        seconds: safety["time"]["total_s"].as_f64().unwrap_or(0.0),
        search_seconds: safety["time"]["search_s"].as_f64().unwrap_or(0.0),
        peak_bytes: safety["memory"]["peak_bytes"].as_u64().unwrap_or(0),
        backend: safety["search"]["backend"].as_str().unwrap_or_default().to_string(),
    }))
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_safety_verdict_is_read_wherever_it_stands() {
        let json = r#"{ "properties": [
            { "name": "p", "verdict": "holds" },
            { "name": "safety", "verdict": "violated", "errors": 3,
              "states": { "stored": 10, "transitions": 20 }, "store": { "bytes_per_state": 1.5 },
              "time": { "search_s": 0.125, "total_s": 0.25 }, "memory": { "peak_bytes": 4096 },
              "search": { "backend": "jit" } } ] }"#;
        let counts = Counts {
            violated: true,
            errors: 3,
            stored: 10,
            transitions: 20,
            bytes_per_state: 1.5,
            seconds: 0.25,
            search_seconds: 0.125,
            peak_bytes: 4096,
            backend: "jit".into(),
        };
        assert_eq!(read(json), Some(Answer::Checked(counts)));
    }

    #[test]
    fn json_without_counts_is_no_answer() {
        assert_eq!(read("{}"), None);
    }
}
