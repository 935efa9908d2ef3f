//! Searches with too little memory: they must continue, keep to their budget, and report how.

use crate::entail::Entail;
use crate::{Outcome, Result, root};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Options {
    /// The model; it should need much more memory than the budgets
    #[arg(long, default_value = "tests/bench/scalable.pml")]
    model: String,
    /// Constants of the model, as `NAME=VALUE`; may be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", default_value = "N=455")]
    constants: Vec<String>,
    /// The memory budgets, one after the other
    #[arg(long, value_delimiter = ',', default_value = "1G,300M,50M")]
    budgets: Vec<String>,
    /// Also measure without a budget, first
    #[arg(long)]
    unlimited: bool,
    /// Other options of `entail check`
    #[arg(last = true)]
    options: Vec<String>,
}

/// The tolerance by which a process may exceed its budget, as a share.
const TOLERANCE: f64 = 0.05;

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let budgets = options.unlimited.then_some(None).into_iter().chain(options.budgets.iter().map(Some));
    let mut outcome = Outcome::Agreement;
    println!("{HEADER}");
    for budget in budgets {
        let began = Instant::now();
        let mut arguments: Vec<&str> = vec!["--no-opt", "--all-errors", "--property", "safety"];
        arguments.extend(options.constants.iter().flat_map(|constant| ["-D", constant]));
        // The last report counts.
        arguments.extend(budget.iter().flat_map(|budget| ["--memory", budget]));
        arguments.extend(options.options.iter().map(String::as_str));
        let property = entail.limited(&root().join(&options.model), &arguments)?;
        let line = Line::of(&property, budget.map(|budget| bytes(budget)).transpose()?);
        println!("{}", line.text(budget.map_or("none", |budget| budget), began.elapsed().as_secs_f64()));
        if line.is_over() {
            outcome = Outcome::Difference;
        }
    }
    Ok(outcome)
}

const HEADER: &str = "budget,verdict,states,rungs,coverage,seconds,peak_mib,of_budget";

/// The line of a run in the table.
struct Line {
    verdict: String,
    states: u64,
    rungs: String,
    coverage: f64,
    peak: u64,
    budget: Option<u64>,
}

impl Line {
    fn of(property: &Value, budget: Option<u64>) -> Line {
        let store = &property["store"];
        let rungs = store["rungs"].as_array().map_or(&[][..], Vec::as_slice).iter();
        let rungs =
            rungs.map(|rung| format!("{} from {}", rung["kind"].as_str().unwrap_or("?"), rung["from_states"]));
        Line {
            verdict: property["verdict"].as_str().unwrap_or("?").to_owned(),
            states: property["states"]["stored"].as_u64().unwrap_or(0),
            rungs: rungs.collect::<Vec<_>>().join("; "),
            coverage: store["coverage"].as_f64().unwrap_or(0.0),
            peak: property["memory"]["peak_bytes"].as_u64().unwrap_or(0),
            budget,
        }
    }

    fn share(&self) -> Option<f64> {
        self.budget.map(|budget| self.peak as f64 / budget as f64)
    }

    fn is_over(&self) -> bool {
        self.share().is_some_and(|share| share > 1.0 + TOLERANCE)
    }

    fn text(&self, budget: &str, seconds: f64) -> String {
        let Line { verdict, states, rungs, coverage, peak, .. } = self;
        let share = self.share().map_or(String::new(), |share| format!("{share:.3}"));
        format!("{budget},{verdict},{states},{rungs},{coverage:.6},{seconds:.1},{},{share}", peak >> 20)
    }
}

/// A size such as 300M or 1G, in bytes.
fn bytes(size: &str) -> Result<u64> {
    let wrong = || format!("`{size}` is no size; write it like 300M or 1G");
    let (number, unit) = size.split_at(size.len() - usize::from(size.ends_with(char::is_alphabetic)));
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err(wrong().into()),
    };
    Ok(number.parse::<u64>().map_err(|_| wrong())? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_are_understood() {
        assert_eq!(bytes("300M").unwrap(), 300 << 20);
        assert_eq!(bytes("4096").unwrap(), 4096);
        assert!(bytes("much").is_err() && bytes("1X").is_err() && bytes("").is_err());
    }

    #[test]
    fn who_takes_more_than_the_budget_is_over() {
        let property = |peak: u64| {
            json!({
                "verdict": "inconclusive", "states": { "stored": 7 }, "memory": { "peak_bytes": peak },
                "store": { "coverage": 0.5, "rungs": [{ "kind": "compact", "bits": 48, "from_states": 3 }] },
            })
        };
        let line = |peak| Line::of(&property(peak), Some(100 << 20));
        assert!(!line(104 << 20).is_over() && line(106 << 20).is_over());
        assert_eq!(line(50 << 20).text("100M", 1.0), "100M,inconclusive,7,compact from 3,0.500000,1.0,50,0.500");
        assert_eq!(HEADER.split(',').count(), 8);
    }
}
