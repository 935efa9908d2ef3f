//! The cost and the benefit of partial-order reduction, in turns.

use super::figures::{median, quotient};
use super::{Options, circumstances, document};
use crate::entail::Entail;
use crate::oracle::{FULL, MODELS, OPTIMISED, read};
use crate::{Outcome, Result, root};
use std::fmt::Write as _;

/// The configurations: without reduction, and entail's default.
const WAYS: [&[&str]; 2] = [&["--reduce", "none"], &[]];

/// The measurements of a model in one configuration.
#[derive(Clone, Default)]
struct Took {
    seconds: Vec<f64>,
    states: u64,
    reduction: String,
}

pub fn run(options: &Options, entail: &Entail) -> Result<Outcome> {
    let rows = read(&root().join(crate::oracle::ANSWERS), FULL)?;
    let optimised = read(&root().join(crate::oracle::ANSWERS), OPTIMISED)?;
    // Searches of smaller models are too short to be measured.
    let is_large = |model: &str| {
        let found = optimised.iter().find(|row| row.model == model);
        found.is_some_and(|row| (options.min_states..=options.max_states).contains(&row.answer.stored))
    };
    let wanted = |model: &str| options.only.is_empty() || options.only.iter().any(|part| model.contains(part));
    let mut models: Vec<(String, [Took; 2])> = rows
        .into_iter()
        .filter(|row| is_large(&row.model) && wanted(&row.model))
        .map(|row| (row.model, Default::default()))
        .collect();
    for round in 1..=options.rounds {
        for (model, took) in &mut models {
            for (way, took) in WAYS.iter().zip(took) {
                let file = root().join(MODELS).join(&model);
                let all = [&["--all-errors", "--property", "safety"], *way].concat();
                let report = entail.property(&file, &all)?;
                took.seconds.push(report["time"]["total_s"].as_f64().unwrap_or(0.0));
                took.states = report["states"]["stored"].as_u64().unwrap_or(0);
                took.reduction = report["search"]["reduction"].as_str().unwrap_or_default().to_owned();
            }
            eprintln!("round {round}: {model}");
        }
    }
    let text = format!("{}\n\n{}", circumstances(options.rounds), table(&models));
    println!("{text}");
    if let Some(file) = &options.markdown {
        document::write(file, "reduction", &text)?;
    }
    Ok(Outcome::Agreement)
}

fn table(models: &[(String, [Took; 2])]) -> String {
    let mut text = String::from(
        "| model | states: all orders | by default | | s: all orders | by default | ratio |\n\
         |---|--:|--:|---|--:|--:|--:|\n",
    );
    let (mut worst, mut sum, mut count) = (0.0_f64, 0.0, 0);
    for (model, [all, some]) in models {
        let seconds = [all, some].map(|took| median(took.seconds.clone()).unwrap_or(0.0));
        // Ratios are computed per round, because the machine may become slower from one round to the next.
        let ratios = some.seconds.iter().zip(&all.seconds).filter_map(|(some, all)| quotient(*some, *all));
        let ratio = median(ratios.collect()).unwrap_or(1.0);
        let is_reduced = some.reduction != "none";
        if !is_reduced {
            (worst, sum, count) = (worst.max(ratio), sum + ratio.ln(), count + 1);
        }
        let mark = if is_reduced { some.reduction.as_str() } else { "nothing to gain" };
        let [before, after] = seconds;
        let _ = writeln!(
            text,
            "| {model} | {} | {} | {mark} | {before:.3} | {after:.3} | {ratio:.2} |",
            all.states, some.states
        );
    }
    let mean = (sum / f64::from(count.max(1))).exp();
    let _ = writeln!(
        text,
        "\nWhere there is nothing to gain: {mean:.3} times as long in the geometric mean, {worst:.2} times at most."
    );
    text
}
