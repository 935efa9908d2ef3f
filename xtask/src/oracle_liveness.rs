//! Compares entail with SPIN's recorded answers on formulas, claims and labels.

use crate::entail::Entail;
use crate::{Outcome, Result, oracle, root, spin_examples};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const ANSWERS: &str = "../shared/oracle/promela-liveness.csv";
/// Properties for which SPIN needs partial-order reduction take longest.
const TIME: &str = "15m";

/// For this model, SPIN only reports that its partial-order reduction is invalid, because of a wrong `xs`.
const NOT_ABOUT_RUNS: (&str, &str) = ("cambridge.pml", "");

/// A recorded answer of SPIN.
struct Row<'c> {
    model: &'c str,
    /// Empty: the never claim, or else the acceptance labels. `np_`: non-progress cycles.
    property: &'c str,
    fair: &'c str,
    verdict: &'c str,
    stored: u64,
}

/// Skips properties that take SPIN more states than this.
pub fn run(max_states: u64, binary: Option<&Path>) -> Result<Outcome> {
    let csv = root().join(ANSWERS);
    if !csv.exists() {
        println!("{} is not here: nothing to compare", csv.display());
        return Ok(Outcome::Agreement);
    }
    let text = std::fs::read_to_string(&csv)?;
    let rows = rows(&text, max_states);
    let files = files()?;
    let entail = Entail::find(binary)?;
    let (mut same, mut different) = (0, 0);
    for row in rows {
        let Row { model, property, fair, verdict, stored: _ } = row;
        let Some(file) = files.get(model) else {
            println!("{model}: not here");
            continue;
        };
        let found = ask(&entail, file, &row);
        let found = found.unwrap_or_else(|problem| problem.to_string());
        let agrees = found == verdict;
        let word = if agrees { "ok" } else { "DIFFERENT" };
        println!("{model:<28} {property:<16} {fair:<5} {word:<9} {found}");
        same += usize::from(agrees);
        different += usize::from(!agrees);
    }
    println!("{same} as recorded, {different} different");
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}

/// The models that SPIN has found to be wrong, each with the name of the property, in all runs and not only
/// in fair ones.
pub fn violated(max_states: u64) -> Result<Vec<(PathBuf, String)>> {
    let (text, files) = (std::fs::read_to_string(root().join(ANSWERS))?, files()?);
    let violated = rows(&text, max_states).filter(|row| row.verdict == "violated" && row.fair == "none");
    Ok(violated.filter_map(|row| Some((files.get(row.model)?.clone(), row.property.to_owned()))).collect())
}

/// SPIN's answers on properties that it needs at most this number of states for.
fn rows(text: &str, max_states: u64) -> impl Iterator<Item = Row<'_>> {
    let rows = text.lines().skip(1).filter_map(row);
    rows.filter(move |row| row.stored <= max_states && (row.model, row.property) != NOT_ABOUT_RUNS)
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.split(',');
    let (model, property, fair, verdict) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    Some(Row { model, property, fair, verdict, stored: cells.next()?.parse().ok()? })
}

/// All models by name: SPIN's own examples, and the public benchmark models.
fn files() -> Result<HashMap<String, PathBuf>> {
    let mut files = HashMap::new();
    let benchmarks = std::fs::read_dir(root().join(oracle::MODELS))?;
    let benchmarks = benchmarks.filter_map(|entry| Some(entry.ok()?.path()));
    for file in spin_examples::installed()?.into_iter().chain(benchmarks) {
        if let Some(name) = file.file_name() {
            files.entry(name.to_string_lossy().into_owned()).or_insert(file);
        }
    }
    Ok(files)
}

/// entail's verdict on a property that SPIN has answered.
fn ask(entail: &Entail, file: &Path, row: &Row) -> Result<String> {
    let mut options = vec!["--fair", row.fair, "--time", TIME];
    match row.property {
        "" => {}
        "np_" => options.extend(["--property", "progress"]),
        name => options.extend(["--property", name]),
    }
    let properties = entail.properties(file, &options)?;
    let has_claim = properties.iter().any(|property| property["kind"] == "never" || property["kind"] == "ltl");
    // If there is a claim, SPIN does not check end states.
    let counts = |property: &&Value| !(has_claim && property["counterexample"]["kind"] == "invalid_end_state");
    let verdicts: Vec<_> =
        properties.iter().filter(counts).filter_map(|property| property["verdict"].as_str()).collect();
    let any = |verdict: &str| verdicts.contains(&verdict);
    Ok(if any("violated") {
        "violated"
    } else if any("inconclusive") {
        "inconclusive"
    } else {
        "holds"
    }
    .to_owned())
}
