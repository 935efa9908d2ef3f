//! The speed of a breadth-first search by several threads: measured on the cores of this machine, and predicted for more.
//!
//! The prediction is a simulation. A search by N workers runs in one thread, in which they take turns. Each phase is
//! timed, worker by worker: with N cores, it takes as long as its slowest worker, and one hand-over to the threads.
//! Everything else, such as levels with few states, takes as long as measured.

use crate::bench::document;
use crate::entail::Entail;
use crate::plot::{self, Series};
use crate::{Outcome, Result, oracle, root};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Only models whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// The number of measurements; the fastest counts, since other load on the machine only slows searches down
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Write the tables into this page, between its markers, and the plot beside it
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

const MODELS: [&str; 6] = ["adding.5", "cambridge.4", "fischer.6", "iprotocol.3", "lamport.6", "peterson.4"];

/// The number of threads that are measured.
const MEASURED: u32 = 2;
/// The numbers of cores for which the speed is predicted.
const CORES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// The phases in which all workers work.
const SHARED: [&str; 3] = ["expansion", "lookup", "queueing"];
/// The phases in which one thread works while the others wait.
const ALONE: [&str; 5] = ["few_states", "partitioning", "sharing_out", "making_room", "lookup_by_one"];

/// The plot lies beside the page.
const PLOT: &str = "![Predicted speed against the number of cores](parallel.svg)";

/// The measurements of one search, in seconds.
struct Search {
    states: u64,
    seconds: f64,
    phases: Value,
}

impl Search {
    fn run(entail: &Entail, model: &Path, threads: u32, how: &[&str]) -> Result<Search> {
        let threads = threads.to_string();
        let options = ["--no-opt", "--property", "safety", "--no-assert", "--no-end", "--threads", &threads];
        let report = entail.property(model, &[&options[..], how].concat())?;
        Ok(Search {
            states: report["states"]["stored"].as_u64().ok_or("no states in the report")?,
            seconds: report["time"]["search_s"].as_f64().ok_or("no time in the report")?,
            phases: report["search"]["phases"].clone(),
        })
    }

    /// The sum of a figure over some phases.
    fn sum(&self, phases: &[&str], figure: &str) -> f64 {
        phases.iter().filter_map(|phase| self.phases[phase][figure].as_f64()).sum()
    }

    /// The time of the shared phases with so many cores, without hand-overs: an equal share of the work, and the wait for
    /// the slowest worker. A thread takes the next worker as soon as it can, so there is no other wait.
    fn shared(&self, cores: u32) -> [f64; 2] {
        let [work, longest] = ["work_s", "longest_s"].map(|figure| self.sum(&SHARED, figure));
        let share = work / f64::from(cores);
        [share, (longest - share).max(0.0)]
    }

    /// The average time of a hand-over to the threads and back.
    fn hand_over(&self) -> f64 {
        let work: f64 = self.shared(MEASURED).iter().sum();
        (self.sum(&SHARED, "elapsed_s") - work).max(0.0) / self.sum(&SHARED, "count").max(1.0)
    }

    /// The time with so many cores, if the workers took turns here.
    fn predicted(&self, cores: u32, hand_over: f64) -> Predicted {
        let [work, imbalance] = self.shared(cores);
        let levels = self.sum(&ALONE, "elapsed_s");
        let elapsed = self.sum(&SHARED, "elapsed_s") + levels;
        Predicted {
            beginning: (self.seconds - elapsed).max(0.0),
            few: self.sum(&["few_states"], "elapsed_s"),
            alone: levels - self.sum(&["few_states"], "elapsed_s"),
            work,
            imbalance,
            // Threads wake each other in a tree.
            hand_over: self.sum(&SHARED, "count") * hand_over * f64::from(cores).log2()
                / f64::from(MEASURED).log2(),
        }
    }
}

/// The parts of the predicted time of a search, in seconds.
struct Predicted {
    /// One thread, before there are enough states, and between phases.
    beginning: f64,
    /// One thread in a round with few states.
    few: f64,
    /// One thread divides the store and the states.
    alone: f64,
    /// All workers, if they had the same work.
    work: f64,
    /// The wait for the slowest worker.
    imbalance: f64,
    hand_over: f64,
}

impl Predicted {
    fn parts(&self) -> [f64; 6] {
        [self.work, self.imbalance, self.hand_over, self.alone, self.few, self.beginning]
    }
}

/// All measurements of a model.
#[derive(Default)]
struct Measured {
    states: u64,
    one: Vec<f64>,
    together: Vec<f64>,
    hand_over: Vec<f64>,
    /// How much more work the phases are if the threads run together instead of in turn.
    competition: Vec<f64>,
    /// For each number of cores: the parts of the predicted time.
    parts: [Vec<[f64; 6]>; CORES.len()],
}

impl Measured {
    fn round(&mut self, entail: &Entail, model: &Path) -> Result<bool> {
        let one = Search::run(entail, model, 1, &[])?;
        let together = Search::run(entail, model, MEASURED, &["--phases", "together"])?;
        self.states = one.states;
        self.one.push(one.seconds);
        self.together.push(together.seconds);
        self.hand_over.push(together.hand_over());
        let mut is_same = together.states == one.states;
        for (&cores, parts) in CORES.iter().zip(&mut self.parts) {
            let search = Search::run(entail, model, cores, &["--phases", "in-turn"])?;
            is_same &= search.states == one.states;
            parts.push(search.predicted(cores, together.hand_over()).parts());
            if cores == MEASURED {
                self.competition.push(together.sum(&SHARED, "work_s") / search.sum(&SHARED, "work_s"));
            }
        }
        Ok(is_same)
    }

    /// How much faster than with one thread.
    fn speed(&self, seconds: &[f64]) -> f64 {
        least(&self.one) / least(seconds)
    }

    fn predicted(&self, at: usize) -> f64 {
        self.speed(&self.parts[at].iter().map(total).collect::<Vec<_>>())
    }

    /// The shares of the predicted time.
    fn shares(&self, at: usize) -> [f64; 6] {
        let fastest = self.parts[at].iter().min_by(|one, other| total(one).total_cmp(&total(other)));
        fastest.map_or([f64::NAN; 6], |parts| parts.map(|seconds| seconds / total(parts)))
    }
}

fn total(parts: &[f64; 6]) -> f64 {
    parts.iter().sum()
}

fn least(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let mut models: Vec<_> = MODELS.iter().map(|name| (*name, Measured::default())).collect();
    models.retain(|(name, _)| name.contains(&options.only));
    let mut outcome = Outcome::Agreement;
    for round in 1..=options.rounds {
        for (name, measured) in &mut models {
            let file = root().join(oracle::MODELS).join(format!("{name}.pm"));
            if !measured.round(&entail, &file)? {
                println!("{name}: not the same states");
                outcome = Outcome::Difference;
            }
            eprintln!("round {round}: {name}");
        }
    }
    let tables = [speeds(&models), bounds(&models)];
    println!("{}\n{}", tables[0], tables[1]);
    if let Some(page) = &options.markdown {
        let page = root().join(page);
        document::write(&page, "speed", &format!("{}\n{PLOT}", tables[0]))?;
        document::write(&page, "bounds", &tables[1])?;
        std::fs::write(page.with_extension("svg"), draw(&models))?;
    }
    Ok(outcome)
}

type Row = (&'static str, Measured);

fn speeds(models: &[Row]) -> String {
    let cores: String = CORES.iter().map(|cores| format!(" {cores} |")).collect();
    let rule = "---:|".repeat(CORES.len());
    let mut table = format!(
        "| model | states | 1 thread, s | {MEASURED} threads, s | measured | competition | hand-over, µs |{cores}\n\
         |---|---:|---:|---:|---:|---:|---:|{rule}\n"
    );
    for (name, measured) in models {
        let [one, together, competition, hand_over] =
            [&measured.one, &measured.together, &measured.competition, &measured.hand_over].map(|all| least(all));
        let predicted: String = (0..CORES.len()).map(|at| format!(" {:.2} |", measured.predicted(at))).collect();
        table += &format!(
            "| {name} | {} | {one:.2} | {together:.2} | {:.2} | {competition:.2} | {:.0} |{predicted}\n",
            measured.states,
            one / together,
            1e6 * hand_over,
        );
    }
    table
}

/// What bounds the speed, for two numbers of cores.
fn bounds(models: &[Row]) -> String {
    let mut table =
        "| model | cores | work of all | waiting for the slowest | hand-over | sharing out | few states | \
                     beginning |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for (name, measured) in models {
        for at in [2, CORES.len() - 1] {
            let shares: String =
                measured.shares(at).iter().map(|share| format!(" {:.0}% |", 100.0 * share)).collect();
            table += &format!("| {name} | {} |{shares}\n", CORES[at]);
        }
    }
    table
}

fn draw(models: &[Row]) -> String {
    let points = |measured: &Measured| {
        let predicted = CORES.iter().enumerate().map(|(at, &cores)| (f64::from(cores), measured.predicted(at)));
        std::iter::once((1.0, 1.0)).chain(predicted).collect()
    };
    let series: Vec<_> = models.iter().map(|(name, measured)| Series { name, points: points(measured) }).collect();
    plot::log_log("cores", "times as fast as one thread (predicted)", &series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn search(elapsed: f64, longest: f64) -> Search {
        let phase = |work: f64| json!({"count": 10, "elapsed_s": elapsed, "work_s": work, "longest_s": longest});
        let alone = json!({"count": 1, "elapsed_s": 0.5, "work_s": 0.5, "longest_s": 0.5});
        let phases =
            json!({"expansion": phase(4.0), "lookup": phase(4.0), "few_states": alone, "sharing_out": alone});
        Search { states: 1, seconds: 10.0, phases }
    }

    #[test]
    fn a_hand_over_is_what_is_left_of_phases() {
        assert!((search(3.0, 1.5).hand_over() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn threads_wait_for_the_slowest_worker() {
        // Nine of ten seconds are in phases, eight of them in those of all workers.
        let predicted = search(4.0, 1.5).predicted(4, 0.01);
        for (part, expected) in predicted.parts().into_iter().zip([2.0, 1.0, 20.0 * 0.01 * 2.0, 0.5, 0.5, 1.0]) {
            assert!((part - expected).abs() < 1e-9, "{part} instead of {expected}");
        }
        assert!((predicted.parts().iter().sum::<f64>() - 5.4).abs() < 1e-9);
    }

    #[test]
    fn every_model_has_a_line_in_every_table() {
        let models: Vec<Row> = MODELS.iter().map(|name| (*name, Measured::default())).collect();
        let rows = |table: &str| table.lines().count() - 2;
        assert_eq!((rows(&speeds(&models)), rows(&bounds(&models))), (MODELS.len(), 2 * MODELS.len()));
        let columns = |line: &str| line.matches('|').count();
        for table in [speeds(&models), bounds(&models)] {
            assert!(table.lines().all(|line| columns(line) == columns(table.lines().next().unwrap())), "{table}");
        }
    }
}
