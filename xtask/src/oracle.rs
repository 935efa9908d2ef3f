//! Compares entail with SPIN's recorded answers on the benchmark models.

use crate::compare::{self, Comparison};
use crate::entail::{Answer, Counts, Entail, Mode};
use crate::oracle_reduced::{self, Others};
use crate::{Outcome, Result, oracle_liveness, root};
use entail_testkit::promela::Compare;
use entail_testkit::spin::{SpinAnswer, Status};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    /// Skip models with more states than this
    #[arg(long, default_value_t = 5_000_000)]
    max_states: u64,
    /// The folder of the models
    #[arg(long, default_value = MODELS)]
    models: PathBuf,
    /// SPIN's answers
    #[arg(long, default_value = ANSWERS)]
    csv: PathBuf,
    /// Compare formulas, claims and labels instead, also of SPIN's own examples
    #[arg(long, conflicts_with_all = ["models", "csv"])]
    liveness: bool,
    /// Compare the number of states with all reductions, beside SPIN's
    #[arg(long, conflicts_with = "liveness")]
    reduced: bool,
    /// Only the recorded models, without SPIN's own examples, which take minutes
    #[arg(long, requires = "reduced")]
    recorded: bool,
}

pub const MODELS: &str = "../shared/models/promela";
pub const ANSWERS: &str = "../shared/oracle/promela-safety.csv";

/// The modes of models as written, and of those with SPIN's optimisations.
pub const FULL: &str = "full-o";
pub const OPTIMISED: &str = "full";

const LIMIT: Duration = Duration::from_secs(1800);

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if options.liveness {
        return oracle_liveness::run(options.max_states, binary);
    }
    let (models, csv) = (root().join(&options.models), root().join(&options.csv));
    for needed in [&models, &csv] {
        if !needed.exists() {
            println!("{} is not here: nothing to compare", needed.display());
            return Ok(Outcome::Agreement);
        }
    }
    if options.reduced {
        let others = if options.recorded { Others::None } else { Others::Examples };
        return oracle_reduced::run(&models, &csv, options.max_states, others, binary);
    }
    let mut rows = read(&csv, FULL)?;
    rows.retain(|row| row.answer.stored <= options.max_states);
    let entail = Entail::find(binary)?;
    println!("{:<28} {:<9} {:>10} {:>8} {:>12} {:>9}", "model", "", "states", "seconds", "trans/s", "B/state");
    let failed = rows.iter().filter(|row| !agrees(&entail, &models, row)).count();
    println!("{} passed, {failed} failed", rows.len() - failed);
    Ok(if failed == 0 { Outcome::Agreement } else { Outcome::Difference })
}

pub struct Row {
    pub model: String,
    pub answer: SpinAnswer,
}

/// Compares one model, and prints its row of the table.
fn agrees(entail: &Entail, models: &Path, row: &Row) -> bool {
    let file = models.join(&row.model);
    let answer = entail.check(&file, Mode::AsWritten, LIMIT);
    let mut comparison = compare::counts(Compare::Everything, &row.answer, &answer);
    if comparison == Comparison::Same {
        comparison = compare::verdict(&row.answer, &entail.check(&file, Mode::Default, LIMIT));
    }
    let (word, how) = match comparison {
        Comparison::Same => ("ok", String::new()),
        Comparison::Different(how) => ("DIFFERENT", how),
        Comparison::Skipped(why) => ("skipped", why.into()),
    };
    let figures = match &answer {
        Answer::Checked(Counts { stored, transitions, seconds, bytes_per_state, .. }) => {
            let speed = *transitions as f64 / seconds.max(1e-6);
            format!("{stored:>10} {seconds:>8.3} {speed:>12.0} {bytes_per_state:>9.1}")
        }
        Answer::Rejected(_) | Answer::Inconclusive | Answer::Broken(_) => format!("{:>42}", ""),
    };
    println!("{:<28} {word:<9} {figures} {how}", row.model);
    word == "ok"
}

/// The rows of one mode.
pub fn read(csv: &Path, wanted: &str) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(csv)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let missing = || format!("{}: no column `{name}`", csv.display());
        header.iter().position(|column| *column == name).ok_or_else(missing)
    };
    let (model, mode) = (column("model")?, column("mode")?);
    let counts =
        [column("stored")?, column("matched")?, column("transitions")?, column("errors")?, column("depth")?];
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.get(mode) != Some(&wanted) {
            continue;
        }
        // A row without counts is a model that SPIN did not finish.
        let numbers: Vec<u64> =
            counts.iter().filter_map(|&at| cells.get(at).and_then(|cell| cell.parse().ok())).collect();
        let [stored, matched, transitions, errors, depth] = numbers[..] else { continue };
        let status = Status::Complete;
        let answer = SpinAnswer {
            accepted: true,
            stored,
            matched,
            transitions,
            errors,
            depth,
            status,
            ..SpinAnswer::default()
        };
        rows.push(Row { model: cells[model].to_string(), answer });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finished_rows_of_the_right_mode_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "model,mode,stored,matched,transitions,atomic,errors,depth,vector\n\
                    a.pm,full-o,7,3,10,0,2,39,44\na.pm,full,6,3,9,0,2,38,44\nb.pm,full-o,,,,,,,\n";
        std::fs::write(file.path(), text).unwrap();
        let rows = read(file.path(), FULL).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((&*rows[0].model, rows[0].answer.stored, rows[0].answer.errors), ("a.pm", 7, 2));
        assert_eq!((rows[0].answer.depth, read(file.path(), OPTIMISED).unwrap()[0].answer.depth), (39, 38));
    }
}
