//! Our own checker, run the way everybody runs it: as a command that prints JSON.

use crate::{Result, root};
use entail_testkit::command::finish;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub struct Entail {
    binary: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model as written, all errors: the counts are comparable with SPIN's.
    AsWritten,
    /// What a user gets: only the verdict is comparable.
    Default,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Checked(Counts),
    /// The model is wrong, in the words of the first line of the diagnostics.
    Rejected(String),
    /// A limit was reached.
    Inconclusive,
    /// It did not end in time, crashed, or said something that is not in its contract.
    Broken(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    pub violated: bool,
    pub errors: u64,
    pub stored: u64,
    pub transitions: u64,
    pub bytes_per_state: f64,
    pub seconds: f64,
}

/// Enough for every model we compare on; a runaway one must not take the machine down.
const MEMORY: &str = "6G";

impl Entail {
    /// The binary at hand, or else the one of this workspace, freshly built.
    pub fn find(binary: Option<&Path>) -> Result<Self> {
        match binary {
            Some(binary) => Ok(Self { binary: std::fs::canonicalize(binary)? }),
            None => Self::build(),
        }
    }

    /// Builds the release binary and asks cargo where it went.
    fn build() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["build", "--release", "--package", "entail", "--message-format", "json-render-diagnostics"])
            .current_dir(root())
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
        Ok(Self { binary: binary.ok_or("cargo built no entail binary")? })
    }

    /// Some of the counts under `states` in the report.
    pub fn counts(&self, model: &Path, options: &[&str], names: &[&str]) -> Result<Vec<u64>> {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--format", "json", "--memory", MEMORY, "--trail", "/dev/null"]);
        let output = command.args(options).arg(model).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let states = &report["properties"][0]["states"];
        let count = |name: &&str| states[name].as_u64().ok_or_else(|| format!("no `{name}` in the report").into());
        names.iter().map(count).collect()
    }

    pub fn check(&self, model: &Path, mode: Mode, limit: Duration) -> Answer {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--format", "json"]);
        match mode {
            Mode::AsWritten => command.args(["--no-opt", "--all-errors"]),
            Mode::Default => &mut command,
        };
        // Trails of thousands of models are of no use to anybody.
        command.args(["--trail", "/dev/null", "--memory", MEMORY]).arg(model);
        match finish(&mut command, limit) {
            Err(problem) => Answer::Broken(problem.to_string()),
            Ok(finished) if finished.timed_out => Answer::Broken("does not end in time".into()),
            Ok(finished) => match finished.code {
                // Another property may have been inconclusive, or violated: only `safety` is of interest here.
                Some(0 | 1 | 3) => read(&finished.stdout)
                    .unwrap_or_else(|| Answer::Broken("its JSON has no counts for `safety`".into())),
                Some(2) => Answer::Rejected(first_line(&finished.stderr)),
                code => Answer::Broken(format!("exit status {code:?}: {}", first_line(&finished.stderr))),
            },
        }
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
              "time": { "total_s": 0.25 } } ] }"#;
        let counts =
            Counts { violated: true, errors: 3, stored: 10, transitions: 20, bytes_per_state: 1.5, seconds: 0.25 };
        assert_eq!(read(json), Some(Answer::Checked(counts)));
    }

    #[test]
    fn json_without_counts_is_no_answer() {
        assert_eq!(read("{}"), None);
    }
}
