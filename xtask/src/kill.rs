//! Kills searches at random moments and resumes them: their results must be those of undisturbed searches.

use crate::entail::Entail;
use crate::{Outcome, Result, root};
use clap::Args;
use entail_testkit::rng::Rng;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    /// The model
    #[arg(default_value = "tests/models/levels.pml")]
    model: PathBuf,
    /// Constants of the model [default: such that each search takes some seconds]
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    constants: Vec<String>,
    /// Only searches with this option, such as `--store cache`
    #[arg(long, value_name = "OPTION", default_value = "", allow_hyphen_values = true)]
    only: String,
    /// The number of times that each search is killed
    #[arg(long, default_value_t = 20)]
    times: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The kinds of searches with different checkpoints, each with a constant of the model.
const WAYS: [(&str, &str); 16] = [
    ("--search bfs --reduce none", "N=90"),
    ("--search bfs --reduce por", "N=90"),
    ("--search bfs --reduce none --threads 2", "N=90"),
    ("--search bfs --reduce por --threads 2", "N=90"),
    ("--store compact --hash-bits 24 --reduce none --no-assert --threads 3", "N=90"),
    ("--search dfs --reduce none --no-assert --depth 100000", "N=90"),
    ("--search dfs --reduce por --no-assert --depth 100000", "N=90"),
    ("--store tree --reduce none", "N=90"),
    ("--store plain --reduce none --no-assert", "N=30"),
    ("--store collapse --reduce none --no-assert", "N=30"),
    ("--store dfa --reduce none --no-assert", "N=30"),
    ("--store cache --cache-slots 1800000 --reduce none --no-assert", "N=30"),
    ("--store compact --hash-bits 24 --reduce none --no-assert", "N=90"),
    ("--store compact --hash-bits 24 --reduce por --no-assert", "N=90"),
    ("--store bitstate --array 16M --reduce none --no-assert", "N=90"),
    ("--store bitstate --array 16M --reduce por --no-assert", "N=90"),
];

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let model = std::fs::canonicalize(root().join(&options.model))?;
    let mut rng = Rng::new(options.seed);
    println!("{:<66}{:>12}{:>8}{:>9}", "search", "states", "killed", "resumed");
    let mut different = 0;
    for (way, constant) in WAYS.into_iter().filter(|(way, _)| way.contains(&options.only)) {
        let folder = tempfile::tempdir()?;
        let mut words: Vec<String> = way.split(' ').map(str::to_owned).collect();
        words.extend(["--property", "safety", "--format", "json", "--trail", "trail"].map(str::to_owned));
        match &options.constants[..] {
            [] => words.push(format!("-D{constant}")),
            others => words.extend(others.iter().map(|constant| format!("-D{constant}"))),
        }
        words.push(model.display().to_string());
        let search = Search { entail: &entail, folder: folder.path(), words };
        let started = Instant::now();
        let expected = facts(search.begin().output()?.stdout)?;
        let Killed { killed, resumed } = search.kill(options.times, started.elapsed(), &mut rng)?;
        let found = facts(search.go_on().output()?.stdout)?;
        let remark = if found == expected { "" } else { "  differs" };
        println!("{way:<66}{:>12}{killed:>8}{resumed:>9}{remark}", expected["states"]["stored"]);
        if found != expected {
            println!("undisturbed: {expected}\nresumed:     {found}");
            different += 1;
        }
    }
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}

struct Search<'a> {
    entail: &'a Entail,
    folder: &'a Path,
    words: Vec<String>,
}

struct Killed {
    killed: u32,
    /// The number of times that there was a checkpoint to resume from.
    resumed: u32,
}

impl Search<'_> {
    fn begin(&self) -> Command {
        let mut command = self.entail.command();
        command.arg("check").args(&self.words).current_dir(self.folder).stderr(Stdio::null());
        command
    }

    /// Resumes the search, or starts it if there is no checkpoint.
    fn go_on(&self) -> Command {
        if !self.is_kept() {
            let mut command = self.begin();
            command.args(["--checkpoint", "search", "--every", "100ms"]);
            return command;
        }
        let mut command = self.entail.command();
        command.args(["check", "--resume", "search"]).current_dir(self.folder).stderr(Stdio::null());
        command
    }

    fn is_kept(&self) -> bool {
        self.folder.join("search").exists() || self.folder.join("search.previous").exists()
    }

    /// `whole` is the time of an undisturbed search. A search that has ended is started again.
    fn kill(&self, times: u32, whole: Duration, rng: &mut Rng) -> Result<Killed> {
        let (mut killed, mut resumed) = (0, 0);
        let longest = (whole.as_millis() as usize / 4).max(200);
        // Some searches may end before they are killed.
        for _ in 0..2 * times {
            if killed == times {
                break;
            }
            resumed += u32::from(self.is_kept());
            let mut child = self.go_on().stdout(Stdio::null()).spawn()?;
            std::thread::sleep(Duration::from_millis(20 + rng.below(longest) as u64));
            if child.try_wait()?.is_some() {
                for file in ["search", "search.previous"] {
                    let _ = std::fs::remove_file(self.folder.join(file));
                }
                continue;
            }
            child.kill()?;
            child.wait()?;
            killed += 1;
        }
        Ok(Killed { killed, resumed })
    }
}

/// The results that must be equal.
fn facts(report: Vec<u8>) -> Result<Value> {
    let report: Value = serde_json::from_slice(&report)?;
    let property = &report["properties"][0];
    Ok(json!({
        "verdict": property["verdict"], "errors": property["errors"], "states": property["states"],
        "counterexample": property["counterexample"], "search": property["search"],
        "omitted": property["store"]["omitted"], "unreached": report["unreached"],
    }))
}
