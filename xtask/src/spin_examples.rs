//! Compares entail and SPIN on SPIN's own examples.

use crate::compare::{self, Comparison};
use crate::entail::{Answer, Entail, Mode};
use crate::{Outcome, Result, pool, root};
use entail_testkit::promela::Compare;
use entail_testkit::spin::{self, Limits, SpinAnswer, Status};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

#[derive(clap::Args)]
pub struct Options {
    /// Store the table in docs/spin-examples.md and SPIN's answers in tests/oracle/spin-examples.csv
    #[arg(long)]
    write: bool,
}

/// Enough for every example but the few that no tool finishes.
pub const LIMITS: Limits = Limits { time: Duration::from_secs(30), memory_mib: 4000, depth: 2_000_000 };

struct Line {
    model: String,
    spin: SpinAnswer,
    entail: Answer,
    note: String,
    comparison: Comparison,
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if !spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let models = installed()?;
    let entail = Entail::find(binary)?;
    let lines = pool::map(pool::cores(), &models, |model| line(&entail, model));
    let lines = lines.into_iter().collect::<Result<Vec<Line>>>()?;
    let table = table(&lines);
    print!("{table}");
    let different = lines.iter().filter(|line| matches!(line.comparison, Comparison::Different(_))).count();
    println!("\n{} models, {different} different", lines.len());
    if options.write {
        fs::create_dir_all(root().join("docs"))?;
        fs::create_dir_all(root().join("tests/oracle"))?;
        fs::write(root().join("docs/spin-examples.md"), table)?;
        fs::write(root().join("tests/oracle/spin-examples.csv"), csv(&lines))?;
    }
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}

/// The models of Debian's package.
pub fn installed() -> Result<Vec<PathBuf>> {
    let output = Command::new("dpkg").args(["-L", "spin"]).output()?;
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut models: Vec<PathBuf> =
        listing.lines().filter(|file| file.ends_with(".pml")).map(PathBuf::from).collect();
    models.sort();
    if models.is_empty() {
        return Err("the package `spin` has brought no examples".into());
    }
    Ok(models)
}

/// SPIN's answer on an example.
pub fn ask(model: &Path, mode: spin::Mode) -> Result<SpinAnswer> {
    let name = model.file_name().ok_or("a model has a name")?.to_string_lossy();
    Ok(spin::run_in(copy(model)?.path(), &name, mode, LIMITS)?)
}

/// A working folder with the model and its neighbours, which it may include.
pub fn copy(model: &Path) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for neighbour in fs::read_dir(model.parent().ok_or("a model lies in a folder")?)? {
        let neighbour = neighbour?;
        if neighbour.file_type()?.is_file() {
            fs::copy(neighbour.path(), folder.path().join(neighbour.file_name()))?;
        }
    }
    Ok(folder)
}

/// The name of an example: its path in the folder of the examples.
pub fn name(model: &Path) -> String {
    model.to_string_lossy().split("/Examples/").last().unwrap_or_default().to_string()
}

fn line(entail: &Entail, model: &Path) -> Result<Line> {
    let spin = ask(model, spin::Mode::Full)?;
    let entail = entail.check(model, Mode::AsWritten, LIMITS.time);
    let comparison = compare::counts(Compare::Everything, &spin, &entail);
    let source = String::from_utf8_lossy(&fs::read(model)?).into_owned();
    let note = note(&source, &spin, &entail, &comparison);
    let model = name(model);
    // A feature that is unsupported by design is not a difference.
    let comparison = if note == EMBEDDED_C { Comparison::Skipped(EMBEDDED_C) } else { comparison };
    Ok(Line { model, spin, entail, note, comparison })
}

const EMBEDDED_C: &str = "embedded C: not supported";

fn note(source: &str, spin: &SpinAnswer, entail: &Answer, comparison: &Comparison) -> String {
    let embeds_c = ["c_code", "c_decl", "c_expr", "c_state", "c_track"].iter().any(|word| source.contains(word));
    match (comparison, entail, &spin.status) {
        (_, Answer::Rejected(_), _) if embeds_c => EMBEDDED_C.into(),
        (Comparison::Same, _, Status::Rejected) => "both reject it".into(),
        (Comparison::Same, _, Status::Faulty(fault)) => format!("only the verdict is compared: {fault}"),
        (Comparison::Same, _, _) => String::new(),
        (Comparison::Skipped(why), _, _) => why.to_string(),
        (Comparison::Different(how), _, _) => format!("**different**: {how}"),
    }
}

fn table(lines: &[Line]) -> String {
    let mut text = String::from(
        "# SPIN's own examples\n\n\
         Every model of Debian's package `spin`, explored completely and as written (no reduction, no optimisation,\n\
         claims left out) by SPIN 6.5.2 and by entail. Made by `cargo xtask spin-examples --write`.\n\n\
         | model | SPIN: states | transitions | errors | entail: states | transitions | errors | note |\n\
         |---|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for Line { model, spin, entail, note, .. } in lines {
        let theirs = match spin.status {
            Status::Complete | Status::Faulty(_) => {
                [spin.stored, spin.transitions, spin.errors].map(|n| n.to_string())
            }
            Status::Rejected | Status::DoesNotCompile | Status::Limit(_) | Status::Crashed => Default::default(),
        };
        let ours = match entail {
            Answer::Checked(counts) => [counts.stored, counts.transitions, counts.errors].map(|n| n.to_string()),
            Answer::Rejected(_) | Answer::Inconclusive | Answer::Broken(_) => Default::default(),
        };
        let note = note.replace('|', "\\|");
        let _ = writeln!(text, "| {model} | {} | {} | {note} |", theirs.join(" | "), ours.join(" | "));
    }
    text
}

fn csv(lines: &[Line]) -> String {
    let mut text = String::from("model,accepted,stored,matched,transitions,errors,depth,status\n");
    for Line { model, spin, .. } in lines {
        let SpinAnswer { accepted, stored, matched, transitions, errors, depth, status, .. } = spin;
        let status = match status {
            Status::Complete => "complete",
            Status::Rejected => "rejected",
            Status::DoesNotCompile => "does-not-compile",
            Status::Faulty(_) => "faulty",
            Status::Limit(_) => "limit",
            Status::Crashed => "crashed",
        };
        let _ = writeln!(text, "{model},{accepted},{stored},{matched},{transitions},{errors},{depth},{status}");
    }
    text
}
