//! Compares the speed of two entail binaries, in turns.

use super::figures::{geometric_mean, median};
use crate::entail::Entail;
use crate::{Outcome, Result, oracle, root};
use serde_json::Value;
use std::path::Path;

/// The search modes.
const WAYS: [(&str, &[&str]); 3] =
    [("as written", &["--no-opt"]), ("default", &[]), ("depth first", &["--no-opt", "--search", "dfs"])];

/// The result of a search, and its time.
#[derive(PartialEq)]
struct Found {
    verdict: String,
    states: u64,
}

pub fn run(
    other: &Path,
    states: std::ops::RangeInclusive<u64>,
    only: &[String],
    rounds: u32,
    entail: &Entail,
) -> Result<Outcome> {
    let other = Entail::find(Some(other))?;
    let mut rows = oracle::read(&root().join(oracle::ANSWERS), oracle::FULL)?;
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| name.contains(wanted.as_str()));
    rows.retain(|row| states.contains(&row.answer.stored) && is_wanted(&row.model));
    println!("| model | search | states | other, s | this one, s | speed |\n|---|---|---:|---:|---:|---:|");
    let (mut ratios, mut outcome) = (Vec::new(), Outcome::Agreement);
    for row in &rows {
        let model = root().join(oracle::MODELS).join(&row.model);
        for (way, options) in WAYS {
            let options = [options, &["--property", "safety", "--no-assert", "--no-end"]].concat();
            let (mut seconds, mut found) = ([Vec::new(), Vec::new()], None);
            for _ in 0..rounds {
                for (binary, seconds) in [&other, entail].into_iter().zip(&mut seconds) {
                    let report = binary.property(&model, &options)?;
                    seconds.push(report["time"]["search_s"].as_f64().ok_or("no time in the report")?);
                    let here = Found::of(&report);
                    if found.get_or_insert_with(|| Found::of(&report)) != &here {
                        println!("{}, {way}: not the same answer", row.model);
                        outcome = Outcome::Difference;
                    }
                }
            }
            let [theirs, ours] = seconds.map(|seconds| median(seconds).unwrap_or(f64::NAN));
            let stored = found.map_or(0, |found| found.states);
            println!("| {} | {way} | {stored} | {theirs:.3} | {ours:.3} | {:.2} |", row.model, theirs / ours);
            ratios.push(theirs / ours);
        }
    }
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = geometric_mean(&ratios).ok_or("there is no model of that name and size")?;
    println!("\n{} searches: geometric mean {mean:.3}, least {least:.2}", ratios.len());
    Ok(outcome)
}

impl Found {
    fn of(report: &Value) -> Found {
        let verdict = report["verdict"].as_str().unwrap_or_default().to_owned();
        Found { verdict, states: report["states"]["stored"].as_u64().unwrap_or(0) }
    }
}
