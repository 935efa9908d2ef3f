//! The cost of state-space caching: the experiment of Geldenhuys' thesis on the models of its tables.

use crate::bench::document;
use crate::entail::Entail;
use crate::plot::{self, Scale, Series};
use crate::{Outcome, Result, root, thesis};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Only this model; may be repeated
    #[arg(long, value_name = "NAME", default_values = MODELS)]
    only: Vec<String>,
    /// The number of slots that a state may be in
    #[arg(long, value_name = "N", default_value_t = 16)]
    probes: u32,
    /// The time limit of a run
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u32,
    /// Write the table into this page, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// The file for the plot
    #[arg(long, value_name = "FILE", default_value = "docs/cache.svg")]
    svg: PathBuf,
}

/// Models with some ten thousand states or more.
const MODELS: [&str; 6] = ["DP7", "DP8", "EL3", "PS2", "SW2", "SW3"];

/// The sizes of the cache, in percent of the number of states.
const SIZES: [u64; 10] = [130, 120, 110, 100, 90, 80, 70, 60, 50, 40];

/// The measurements of a model.
struct Row {
    model: &'static str,
    states: u64,
    transitions: u64,
    /// For each size, the factor by which the number of transitions grows; `None` if the time limit was reached.
    factors: Vec<Option<f64>>,
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?.one_thread();
    let mut rows = Vec::new();
    println!("{HEADER}");
    for model in MODELS.into_iter().filter(|model| options.only.iter().any(|only| only == model)) {
        let row = measure(&entail, model, options)?;
        println!("{}", line(&row));
        rows.push(row);
    }
    if let Some(page) = &options.markdown {
        let lines: Vec<String> = rows.iter().map(line).collect();
        document::write(&root().join(page), "cache", &format!("{HEADER}\n{}", lines.join("\n")))?;
    }
    let file = root().join(&options.svg);
    std::fs::write(&file, draw(&rows)).map_err(|problem| format!("{}: {problem}", file.display()))?;
    Ok(Outcome::Agreement)
}

fn measure(entail: &Entail, model: &'static str, options: &Options) -> Result<Row> {
    let path = thesis::find(model)?;
    let how = ["--no-opt", "--property", "safety", "--search", "dfs"];
    let exact = entail.property(&path, &how)?;
    let [states, transitions] = ["stored", "transitions"].map(|name| count(&exact, name));
    let (states, transitions) = (states?, transitions?);
    let [probes, time] = [options.probes.to_string(), format!("{}s", options.time)];
    let mut factors = Vec::new();
    for size in SIZES {
        // With a smaller cache it would take even longer.
        if factors.last() == Some(&None) {
            factors.push(None);
            continue;
        }
        let slots = (states * size / 100).to_string();
        let cache = ["--store", "cache", "--cache-slots", &slots, "--cache-probes", &probes, "--time", &time];
        let report = entail.property(&path, &[&how[..], &cache].concat())?;
        let factor = match report["verdict"].as_str() {
            Some("inconclusive") => None,
            verdict if verdict == exact["verdict"].as_str() => {
                Some(count(&report, "transitions")? as f64 / transitions as f64)
            }
            verdict => return Err(format!("{model}: {verdict:?} with room for {slots} states").into()),
        };
        factors.push(factor);
    }
    Ok(Row { model, states, transitions, factors })
}

fn count(report: &Value, name: &str) -> Result<u64> {
    report["states"][name].as_u64().ok_or_else(|| format!("no `{name}` in the report").into())
}

const HEADER: &str = "\
| model | states | transitions | 130% | 120% | 110% | 100% | 90% | 80% | 70% | 60% | 50% | 40% |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

fn line(row: &Row) -> String {
    let Row { model, states, transitions, factors } = row;
    let cells = factors.iter().map(|factor| factor.map_or("–".into(), |factor| format!("{factor:.2}")));
    format!("| {model} | {states} | {transitions} | {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn draw(rows: &[Row]) -> String {
    let series = |row: &Row| {
        let points = SIZES.iter().zip(&row.factors).filter_map(|(size, factor)| Some((*size as f64, (*factor)?)));
        Series { name: row.model, points: points.collect() }
    };
    let series: Vec<Series> = rows.iter().map(series).collect();
    let (x, y) = ("room for so many percent of the states", "transitions, as a multiple of those that there are");
    plot::draw((x, Scale::Linear), (y, Scale::Logarithmic), &series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_cell_for_every_column() {
        let factors = SIZES.iter().map(|size| (*size > 60).then_some(1.25)).collect();
        let row = Row { model: "DP7", states: 100, transitions: 300, factors };
        let [names, bars] = HEADER.lines().collect::<Vec<_>>()[..] else { panic!("two lines") };
        let cells = |line: &str| line.matches('|').count();
        assert_eq!([cells(&line(&row)), cells(bars)], [cells(names); 2]);
        assert!(line(&row).ends_with("| 1.25 | – | – | – |"), "{}", line(&row));
        for (size, name) in SIZES.iter().zip(names.split('|').skip(4)) {
            assert_eq!(name.trim(), format!("{size}%"));
        }
        assert_eq!(draw(&[row]).matches("<circle").count(), 7);
    }
}
