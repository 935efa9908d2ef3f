//! Runs all long test campaigns, and prints a table of the results.

use crate::entail::Entail;
use crate::{Outcome, Result, root};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Options {
    /// Only campaigns whose name contains this; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the campaigns without running them
    #[arg(long)]
    list: bool,
    /// The seed of the first random model
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of random models of each kind
    #[arg(long, default_value_t = 5000)]
    count: u64,
}

/// How to run a campaign. `{seed}`, `{count}` and `{end}` stand for the first seed, the number of seeds, and
/// the first seed after these.
enum Run {
    /// A task of this program.
    Chore(&'static str),
    /// Tests that read these environment variables.
    Tests { variables: &'static [(&'static str, &'static str)], arguments: &'static str },
}

const CAMPAIGNS: &[(&str, Run)] = &[
    ("oracle", Run::Chore("oracle")),
    ("oracle-reduced", Run::Chore("oracle --reduced")),
    ("oracle-liveness", Run::Chore("oracle --liveness")),
    ("spin-examples", Run::Chore("spin-examples")),
    ("thesis", Run::Chore("thesis")),
    ("trails", Run::Chore("trails")),
    ("safety", Run::Chore("fuzz-spin --count {count} --seed {seed}")),
    ("ltl", Run::Chore("fuzz-spin --ltl --count {count} --seed {seed}")),
    ("progress", Run::Chore("fuzz-spin --progress --count {count} --seed {seed}")),
    ("trace", Run::Chore("fuzz-spin --trace --count {count} --seed {seed}")),
    ("priorities", Run::Chore("fuzz-spin --with unless,rendezvous,priority,last --count {count} --seed {seed}")),
    ("long-d-steps", Run::Chore("fuzz-spin --long-d-steps --count 500 --seed {seed}")),
    ("words", Run::Chore("ltl-words --count 1000000 --seed {seed}")),
    (
        "esml-and-bir",
        Run::Tests {
            variables: &[("ENTAIL_MODELS", "{count}"), ("ENTAIL_SEED", "{seed}")],
            arguments: "--package entail-front --test naive",
        },
    ),
    (
        "everywhere",
        Run::Tests {
            variables: &[("ENTAIL_SEEDS", "{seed}..{end}")],
            arguments: "--package entail-check --lib everywhere -- --ignored",
        },
    ),
    ("kill", Run::Chore("kill")),
    ("ladder", Run::Chore("ladder")),
    ("setup", Run::Chore("setup")),
    ("probe", Run::Chore("probe --rounds 1")),
];

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let is_wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| name.contains(only));
    let wanted: Vec<_> = CAMPAIGNS.iter().filter(|(name, _)| is_wanted(name)).collect();
    if options.list {
        wanted.iter().for_each(|(name, run)| println!("{name}: {}", words(run, options).join(" ")));
        return Ok(Outcome::Agreement);
    }
    let entail = Entail::find(binary)?;
    let logs = root().join("target/nightly");
    fs::create_dir_all(&logs)?;
    println!("| campaign | minutes | | last line |\n|---|---:|---|---|");
    let mut outcome = Outcome::Agreement;
    for (name, run) in wanted {
        let log = logs.join(format!("{name}.log"));
        let file = File::create(&log)?;
        let (began, mut command) = (Instant::now(), command(run, options, entail.path())?);
        let status = command.current_dir(root()).stdout(file.try_clone()?).stderr(file).status()?;
        let told = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let last = told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().replace('|', "/");
        let passed = if status.success() { "passed" } else { "**failed**" };
        println!("| {name} | {:.1} | {passed} | {last} |", began.elapsed().as_secs_f64() / 60.0);
        if !status.success() {
            outcome = Outcome::Difference;
        }
    }
    println!("\nThe complete output is in {}.", logs.strip_prefix(root()).unwrap_or(&logs).display());
    Ok(outcome)
}

fn filled(text: &str, options: &Options) -> String {
    let end = options.seed + options.count;
    let numbers = [("{seed}", options.seed), ("{count}", options.count), ("{end}", end)];
    numbers.iter().fold(text.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()))
}

/// The command line.
fn words(run: &Run, options: &Options) -> Vec<String> {
    let (before, arguments) = match run {
        Run::Chore(arguments) => (vec!["cargo xtask".to_owned()], arguments),
        Run::Tests { variables, arguments } => {
            let set = variables.iter().map(|(name, value)| format!("{name}={}", filled(value, options)));
            (set.chain(["cargo test --release".to_owned()]).collect(), arguments)
        }
    };
    [before, vec![filled(arguments, options)]].concat()
}

fn command(run: &Run, options: &Options, entail: &Path) -> Result<Command> {
    let mut command = match run {
        Run::Chore(_) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("--entail").arg(entail);
            command
        }
        Run::Tests { variables, .. } => {
            let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            command.args(["test", "--release", "--locked"]);
            command.envs(variables.iter().map(|(name, value)| (name, filled(value, options))));
            command
        }
    };
    let (Run::Chore(arguments) | Run::Tests { arguments, .. }) = run;
    command.args(filled(arguments, options).split(' '));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaigns_are_as_one_would_type_them() {
        let options = Options { only: Vec::new(), list: true, seed: 7, count: 30 };
        let typed = |name: &str| {
            let (_, run) = CAMPAIGNS.iter().find(|(known, _)| *known == name).expect("a campaign");
            words(run, &options).join(" ")
        };
        assert_eq!(typed("ltl"), "cargo xtask fuzz-spin --ltl --count 30 --seed 7");
        let everywhere = typed("everywhere");
        assert!(everywhere.starts_with("ENTAIL_SEEDS=7..37 cargo test --release --package entail"), "{everywhere}");
    }

    #[test]
    fn every_chore_among_them_can_be_read() {
        use clap::Parser as _;
        let options = Options { only: Vec::new(), list: true, seed: 1, count: 2 };
        for (name, run) in CAMPAIGNS {
            if let Run::Chore(arguments) = run {
                let arguments = filled(arguments, &options);
                let read = crate::Arguments::try_parse_from(["xtask"].into_iter().chain(arguments.split(' ')));
                assert!(read.is_ok(), "{name}: {:?}", read.err().map(|error| error.to_string()));
            }
        }
    }
}
