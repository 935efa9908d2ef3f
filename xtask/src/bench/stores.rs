//! The memory per state of each store, in entail and in SPIN, in turns.

use super::figures::{geometric_mean, median, quotient};
use super::spin::{self, Plan, Subject, hash_bits};
use super::{Mode, Options, circumstances, document, list};
use crate::entail::Entail;
use crate::{Outcome, Result};
use entail_testkit::spin::{Keeping, Status};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Smaller models fit into any memory.
const FEWEST_STATES: u64 = 1_000_000;
/// So few that both tools omit states.
const BITS_PER_STATE: u64 = 8;
/// The time limit of a run of entail: the minimised automaton is slow.
const TIME: &str = "2m";

const OF_SPIN: [(&str, Keeping); 4] = [
    ("SPIN", Keeping::All),
    ("-DCOLLAPSE", Keeping::Collapsed),
    ("-DHC4", Keeping::Hash),
    ("-DBITSTATE", Keeping::Bits),
];
const OF_ENTAIL: [&str; 7] = ["exact", "plain", "tree", "collapse", "dfa", "compact", "bitstate"];

/// The measurements of a model in one of these configurations, by round.
#[derive(Clone, Debug, Default)]
struct Took {
    seconds: Vec<f64>,
    bytes_per_state: f64,
    /// `None` if the search was not finished.
    states: Option<u64>,
}

struct Contest {
    model: String,
    file: PathBuf,
    plan: Plan,
    states: u64,
    spin: [Took; OF_SPIN.len()],
    entail: [Took; OF_ENTAIL.len()],
}

pub fn run(options: &Options, entail: &Entail) -> Result<Outcome> {
    let mut contests = Vec::new();
    for candidate in list::candidates(options)? {
        let file = std::fs::canonicalize(&candidate.file)?;
        let (mode, memory_mib) = (Mode::AsWritten.of_spin(), options.memory);
        let subject = Subject { model: file.clone(), mode, constants: Vec::new(), memory_mib };
        let (answer, plan) = spin::prepare(subject, candidate.first_depth(Mode::AsWritten))?;
        let sizes = options.min_states.max(FEWEST_STATES)..=options.max_states;
        if let Some(plan) = plan.filter(|_| sizes.contains(&answer.stored)) {
            let (spin, entail) = Default::default();
            contests.push(Contest { model: candidate.name, file, plan, states: answer.stored, spin, entail });
        }
    }
    for round in 1..=options.rounds {
        for contest in &mut contests {
            contest.round(entail)?;
            eprintln!("round {round}: {}", contest.model);
        }
    }
    let text = format!("{}\n\n{}", circumstances(options.rounds), tables(&contests));
    println!("{text}");
    if let Some(file) = &options.markdown {
        document::write(file, "stores", &text)?;
    }
    let is_whole = |took: &Took, states| took.states.is_none_or(|found| found == states);
    let lossless = OF_ENTAIL.iter().position(|store| *store == "compact").unwrap_or(0);
    let same = contests.iter().all(|one| one.entail[..lossless].iter().all(|took| is_whole(took, one.states)));
    Ok(if same { Outcome::Agreement } else { Outcome::Difference })
}

impl Contest {
    fn round(&mut self, entail: &Entail) -> Result<()> {
        let bits = hash_bits(self.states * BITS_PER_STATE);
        for ((_, keeping), took) in OF_SPIN.iter().zip(&mut self.spin) {
            let size = if *keeping == Keeping::Bits { bits } else { hash_bits(self.states) };
            let (answer, run) = self.plan.run_keeping(*keeping, size)?;
            took.seconds.push(run.search);
            took.bytes_per_state = run.bytes_per_state;
            took.states = (answer.status == Status::Complete).then_some(answer.stored);
        }
        for (store, took) in OF_ENTAIL.iter().zip(&mut self.entail) {
            let array = (1u64 << bits >> 3).to_string();
            let mut how =
                vec!["--no-opt", "--all-errors", "--property", "safety", "--time", TIME, "--store", store];
            if *store == "bitstate" {
                how.extend(["--array", &array]);
            }
            let report = entail.property(&self.file, &how)?;
            took.seconds.push(report["time"]["search_s"].as_f64().unwrap_or(0.0));
            took.bytes_per_state = report["store"]["bytes_per_state"].as_f64().unwrap_or(0.0);
            // A store of whole states is inexact only if the search was stopped.
            let is_cut = report["verdict"] == "inconclusive" && report["store"]["guarantee"] == "exact";
            took.states = report["states"]["stored"].as_u64().filter(|_| !is_cut);
        }
        Ok(())
    }
}

fn tables(contests: &[Contest]) -> String {
    let names = OF_SPIN.iter().map(|(name, _)| *name).chain(OF_ENTAIL);
    let head = format!(
        "| model | states | {} |\n|---|--:{}|\n",
        names.collect::<Vec<_>>().join(" | "),
        "|--:".repeat(OF_SPIN.len() + OF_ENTAIL.len())
    );
    let table = |cell: &dyn Fn(&Contest, &Took) -> Option<String>| {
        let mut text = head.clone();
        for contest in contests {
            let all = contest.spin.iter().chain(&contest.entail);
            let cells = all.map(|took| cell(contest, took).unwrap_or("–".into()));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(text, "| {} | {} | {cells} |", contest.model, contest.states);
        }
        text
    };
    let bytes = |_: &Contest, took: &Took| took.states.map(|_| format!("{:.1}", took.bytes_per_state));
    let seconds =
        |_: &Contest, took: &Took| took.states.and(median(took.seconds.clone())).map(|it| format!("{it:.2}"));
    let missed = |contest: &Contest, took: &Took| Some((contest.states.saturating_sub(took.states?)).to_string());
    format!(
        "### Bytes per state\n\n{}\n### Seconds\n\n{}\n### States missed\n\n{}\n{}",
        table(&bytes),
        table(&seconds),
        table(&missed),
        summary(contests)
    )
}

/// The means that the document shows.
fn summary(contests: &[Contest]) -> String {
    let at = |name: &str| OF_ENTAIL.iter().position(|store| *store == name).unwrap_or(0);
    let mean = |ratio: &dyn Fn(&Contest) -> Option<f64>| {
        let ratios: Vec<f64> = contests.iter().filter_map(ratio).collect();
        geometric_mean(&ratios).map_or("–".into(), |mean| format!("{mean:.2}"))
    };
    let smaller = |name: &str| {
        mean(&|contest| quotient(contest.spin[0].bytes_per_state, contest.entail[at(name)].bytes_per_state))
    };
    let seconds = |took: &Took| median(took.seconds.clone()).unwrap_or(0.0);
    let slower =
        |name: &str| mean(&|contest| quotient(seconds(&contest.entail[at(name)]), seconds(&contest.entail[0])));
    let most = contests.iter().map(|contest| contest.entail[at("compact")].bytes_per_state).fold(0.0, f64::max);
    let missed = |took: &dyn Fn(&Contest) -> Option<u64>| -> u64 {
        contests.iter().map(|contest| took(contest).map_or(0, |found| contest.states.saturating_sub(found))).sum()
    };
    format!(
        "Geometric means: SPIN takes {} times the bytes of `exact` and {} times those of `tree`, which takes {} times as long as \
         `exact`. `compact` takes {most:.1} bytes a state at most. With equal arrays of bits, SPIN misses {} states, `bitstate` {}.\n",
        smaller("exact"),
        smaller("tree"),
        slower("tree"),
        missed(&|contest| contest.spin[3].states),
        missed(&|contest| contest.entail[at("bitstate")].states),
    )
}
