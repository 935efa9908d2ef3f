//! The benefit and the cost of depth-first probes in breadth-first searches.

use crate::bench::document;
use crate::entail::Entail;
use crate::{Outcome, Result, oracle, root};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Only models whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// The time limit of a search
    #[arg(long, default_value = "60s")]
    time: String,
    /// The number of measurements of complete searches; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Write the tables into this page, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// A breadth-first search with fewer states ends before the first probe.
const FIRST_PROBE: u64 = 1 << 16;

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?.one_thread();
    let mut models: Vec<PathBuf> =
        root().join(oracle::MODELS).read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    models.retain(|path| name(path).contains(&options.only));
    models.sort();
    let (mut found, mut costs, mut ratios) = (FOUND.to_owned(), COSTS.to_owned(), Vec::new());
    let mut outcome = Outcome::Agreement;
    for path in &models {
        let check = |how: &[&str]| {
            let limits = ["--property", "safety", "--time", &options.time];
            entail.property(path, &[&limits[..], how].concat()).map(Searched::of)
        };
        let shortest = check(&["--search", "bfs"])?;
        if shortest.states < FIRST_PROBE {
            continue;
        }
        let usual = check(&[])?;
        if shortest.verdict == "violated" || usual.verdict == "violated" {
            let deep = check(&["--search", "dfs"])?;
            let searches = [&shortest, &usual, &deep];
            let cells = searches.map(Searched::states).into_iter().chain(searches.map(Searched::steps));
            found += &line(&std::iter::once(name(path)).chain(cells).collect::<Vec<_>>());
        }
        // Probes report only errors that exist, and hide none.
        if shortest.verdict != "inconclusive" && shortest.verdict != usual.verdict {
            println!("{}: {} without probes, {} with them", name(path), shortest.verdict, usual.verdict);
            outcome = Outcome::Difference;
        }
        // An exhaustive search, whatever errors it finds.
        let whole = ["--no-assert", "--no-end"];
        let plain = check(&[&whole[..], &["--search", "bfs"]].concat())?;
        if plain.verdict == "holds" {
            let (mut without, mut with) = (Vec::new(), Vec::new());
            for _ in 0..options.rounds {
                without.push(check(&[&whole[..], &["--search", "bfs"]].concat())?.seconds);
                let probing = check(&whole)?;
                if probing.states != plain.states {
                    println!("{}: {} states, {} with probes", name(path), plain.states, probing.states);
                    outcome = Outcome::Difference;
                }
                with.push(probing.seconds);
            }
            let (without, with) = (median(without), median(with));
            ratios.push(with / without);
            let cells = [name(path), plain.states(), format!("{without:.2}"), format!("{with:.2}")];
            costs += &line(&cells);
        }
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let summary = format!("Geometric mean of {} ratios: {mean:.3}.", ratios.len());
    println!("{found}\n{costs}\n{summary}");
    if let Some(page) = &options.markdown {
        document::write(&root().join(page), "probes", &found)?;
        document::write(&root().join(page), "cost of probes", &format!("{costs}\n{summary}"))?;
    }
    Ok(outcome)
}

const FOUND: &str = "\
| model | states: `--search bfs` | default | `--search dfs` | steps: `--search bfs` | default | `--search dfs` |
|---|---:|---:|---:|---:|---:|---:|
";
const COSTS: &str = "\
| model | states | seconds: `--search bfs` | default |
|---|---:|---:|---:|
";

/// The result of a search.
struct Searched {
    verdict: String,
    states: u64,
    steps: Option<u64>,
    seconds: f64,
}

impl Searched {
    fn of(report: Value) -> Searched {
        Searched {
            verdict: report["verdict"].as_str().unwrap_or("?").to_owned(),
            states: report["states"]["stored"].as_u64().unwrap_or(0),
            steps: report["counterexample"]["steps"].as_u64(),
            seconds: report["time"]["search_s"].as_f64().unwrap_or(f64::NAN),
        }
    }

    fn states(&self) -> String {
        self.states.to_string()
    }

    fn steps(&self) -> String {
        self.steps.map_or("–".to_owned(), |steps| steps.to_string())
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
