//! Compares the speed of two entail binaries, or of two numbers of threads, in turns.

use super::figures::{geometric_mean, median};
use crate::entail::Entail;
use crate::{Outcome, Result, oracle, root};
use serde_json::Value;
use std::ops::RangeInclusive;

/// The search modes.
const WAYS: [(&str, &[&str]); 3] =
    [("as written", &["--no-opt"]), ("default", &[]), ("depth first", &["--no-opt", "--search", "dfs"])];

/// One of the two that are compared.
pub struct Contender<'a> {
    pub name: String,
    pub entail: &'a Entail,
    pub options: Vec<String>,
}

/// The result of a search.
#[derive(PartialEq)]
struct Found {
    verdict: String,
    states: u64,
}

/// A search that both carry out.
pub struct Search {
    pub model: String,
    pub way: String,
    pub options: Vec<String>,
}

/// The first `ways` safety searches of all models with so many states.
pub fn safety(ways: usize, states: RangeInclusive<u64>, only: &[String]) -> Result<Vec<Search>> {
    let mut rows = oracle::read(&root().join(oracle::ANSWERS), oracle::FULL)?;
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| name.contains(wanted.as_str()));
    rows.retain(|row| states.contains(&row.answer.stored) && is_wanted(&row.model));
    let common = ["--property", "safety", "--no-assert", "--no-end"];
    let searches = rows.iter().flat_map(|row| {
        WAYS[..ways].iter().map(|(way, options)| Search {
            model: row.model.clone(),
            way: (*way).to_owned(),
            options: options.iter().chain(&common).map(|&option| option.to_owned()).collect(),
        })
    });
    Ok(searches.collect())
}

/// Runs the first contender and the second one in turns, and prints how much faster the second one is.
pub fn run(contenders: &[Contender; 2], searches: &[Search], rounds: u32) -> Result<Outcome> {
    let [one, other] = [0, 1].map(|number: usize| &contenders[number].name);
    println!(
        "| model | search | states | {one}, s | {other}, s | speed | memory |\n|---|---|---:|---:|---:|---:|---:|"
    );
    let (mut speeds, mut memories, mut outcome) = (Vec::new(), Vec::new(), Outcome::Agreement);
    for Search { model, way, options } in searches {
        let file = root().join(oracle::MODELS).join(model);
        let (mut seconds, mut bytes, mut found) = ([Vec::new(), Vec::new()], [0.0; 2], None);
        for _ in 0..rounds {
            for (number, contender) in contenders.iter().enumerate() {
                let options: Vec<_> = options.iter().chain(&contender.options).map(String::as_str).collect();
                let report = contender.entail.property(&file, &options)?;
                seconds[number].push(report["time"]["search_s"].as_f64().ok_or("no time in the report")?);
                bytes[number] = report["store"]["bytes_per_state"].as_f64().unwrap_or(f64::NAN);
                let here = Found::of(&report);
                if found.get_or_insert_with(|| Found::of(&report)) != &here {
                    println!("{model}, {way}: not the same answer");
                    outcome = Outcome::Difference;
                }
            }
        }
        let [theirs, ours] = seconds.map(|seconds| median(seconds).unwrap_or(f64::NAN));
        let stored = found.map_or(0, |found| found.states);
        let (speed, memory) = (theirs / ours, bytes[1] / bytes[0]);
        println!("| {model} | {way} | {stored} | {theirs:.3} | {ours:.3} | {speed:.2} | {memory:.2} |");
        speeds.push(speed);
        memories.push(memory);
    }
    let least = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = memories.iter().copied().fold(0.0, f64::max);
    let [speed, memory] = [&speeds, &memories].map(|all| geometric_mean(all));
    let (speed, memory) = speed.zip(memory).ok_or("there is no model of that name and size")?;
    println!(
        "\n{} searches: {speed:.3} times as fast in the geometric mean, least {least:.2}; bytes per state {memory:.3} times, most {most:.2}",
        speeds.len()
    );
    Ok(outcome)
}

impl Found {
    fn of(report: &Value) -> Found {
        let verdict = report["verdict"].as_str().unwrap_or_default().to_owned();
        Found { verdict, states: report["states"]["stored"].as_u64().unwrap_or(0) }
    }
}
