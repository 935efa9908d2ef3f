//! entail and SPIN on the same models, in turns.

mod against;
mod bare;
mod branching;
pub mod document;
mod figures;
mod list;
mod liveness;
mod reduction;
mod spin;
mod stores;
mod table;

pub use bare::bare_table;
pub use figures::{Run, median};
pub use spin::{Plan, Subject, TIME};

use crate::compare::{self, Comparison, describe_spin};
use crate::entail::{self, Answer, Entail, Task};
use crate::{Outcome, Result};
use entail_testkit::promela::Compare;
use entail_testkit::spin::{self as real_spin, SpinAnswer, Status};
use list::Candidate;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Kind, Row};

#[derive(clap::Args)]
pub struct Options {
    /// Measure all models of this folder [default: the public benchmark models, and tests/bench]
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// Leave out models in which SPIN counts fewer states
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    min_states: u64,
    /// Leave out models in which SPIN counts more states
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    max_states: u64,
    /// Only models with this in their name; may be repeated
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// Models with fewer than 10,000 states instead: what the whole run takes
    #[arg(long, conflicts_with_all = ["min_states", "max_states"])]
    small: bool,
    /// Formulas about public benchmark models instead, with and without weak fairness
    #[arg(long, conflicts_with_all = ["models", "min_states", "max_states", "small", "csv"])]
    liveness: bool,
    /// Formulas of branching time instead, against safety runs of the same models
    #[arg(long, conflicts_with_all = ["models", "min_states", "max_states", "small", "csv", "liveness"])]
    branching: bool,
    /// What it costs to see whether steps can be left out, and what that saves, instead
    #[arg(long, conflicts_with_all = ["models", "small", "csv", "liveness", "branching"])]
    reduction: bool,
    /// What states cost in each store instead, beside SPIN's ways to keep them; of models with a million states or more
    #[arg(long, conflicts_with_all = ["models", "small", "csv", "liveness", "branching", "reduction"])]
    stores: bool,
    /// Another binary of entail instead of SPIN, such as one of an earlier commit
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["models", "small", "csv", "liveness", "branching", "reduction", "stores", "markdown"])]
    against: Option<PathBuf>,
    /// How often everything is measured; the medians count
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// What each of both may use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 12_000)]
    memory: u32,
    /// Put the tables into this page, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write all figures into this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Both explore the model exactly as written: equal work.
    AsWritten,
    /// Both explore what they make of the model by default, with all orders of steps.
    Default,
}

impl Mode {
    const ALL: [Mode; 2] = [Mode::AsWritten, Mode::Default];

    fn title(self) -> &'static str {
        match self {
            Mode::AsWritten => "as written",
            Mode::Default => "by default",
        }
    }

    pub fn of_spin(self) -> real_spin::Mode {
        match self {
            Mode::AsWritten => real_spin::Mode::Full,
            Mode::Default => real_spin::Mode::Optimised,
        }
    }

    pub fn of_entail(self) -> entail::Mode {
        match self {
            Mode::AsWritten => entail::Mode::AsWritten,
            Mode::Default => entail::Mode::Passes,
        }
    }

    fn table(self, small: bool) -> Kind {
        match self {
            _ if small => Kind::Small,
            Mode::AsWritten => Kind::AsWritten,
            Mode::Default => Kind::Default,
        }
    }
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if let Some(other) = &options.against {
        let states = options.min_states..=options.max_states;
        return against::run(other, states, &options.only, options.rounds, &Entail::find(binary)?);
    }
    if !real_spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let entail = Entail::find(binary)?;
    if options.liveness {
        return liveness::run(options, &entail);
    }
    if options.branching {
        return branching::run(options, &entail);
    }
    if options.reduction {
        return reduction::run(options, &entail);
    }
    if options.stores {
        return stores::run(options, &entail);
    }
    let mut contests = prepare(options)?;
    if contests.is_empty() {
        return Err("there is no model of that name and size".into());
    }
    for round in 1..=options.rounds {
        for contest in contests.iter_mut().filter(|contest| contest.problem.is_none()) {
            contest.round(&entail, options)?;
            eprintln!("round {round}: {}", contest.latest());
        }
    }
    publish(options, &contests)?;
    let problems: Vec<&Contest> = contests.iter().filter(|contest| contest.problem.is_some()).collect();
    for contest in &problems {
        eprintln!("{}", contest.latest());
    }
    Ok(if problems.is_empty() { Outcome::Agreement } else { Outcome::Difference })
}

/// One model in one mode, and what was measured so far.
struct Contest {
    model: String,
    file: PathBuf,
    mode: Mode,
    plan: Plan,
    spin: Vec<Run>,
    entail: Vec<Run>,
    bare: Vec<f64>,
    /// Why there is nothing to compare: it is measured no further.
    problem: Option<String>,
}

/// Lets SPIN look at every model once. What it cannot finish is no model to compare on.
fn prepare(options: &Options) -> Result<Vec<Contest>> {
    let sizes = list::sizes(options);
    let mut contests = Vec::new();
    for candidate in list::candidates(options)? {
        for mode in Mode::ALL {
            let (answer, contest) = Contest::prepare(&candidate, mode, options)?;
            eprintln!("{}, {}: {}", candidate.name, mode.title(), describe_spin(&answer));
            // The size of the model as written counts, which comes first.
            if mode == Mode::AsWritten && !sizes.contains(&answer.stored) {
                break;
            }
            contests.extend(contest);
        }
    }
    Ok(contests)
}

impl Contest {
    fn prepare(candidate: &Candidate, mode: Mode, options: &Options) -> Result<(SpinAnswer, Option<Self>)> {
        let Candidate { name, file, .. } = candidate;
        let file = std::fs::canonicalize(file).map_err(|problem| format!("{}: {problem}", file.display()))?;
        let subject = Subject {
            model: file.clone(),
            mode: mode.of_spin(),
            constants: Vec::new(),
            memory_mib: options.memory,
        };
        let (answer, plan) = spin::prepare(subject, candidate.first_depth(mode))?;
        let contest = plan.map(|plan| Self {
            model: name.clone(),
            file,
            mode,
            plan,
            spin: Vec::new(),
            entail: Vec::new(),
            bare: Vec::new(),
            problem: None,
        });
        Ok((answer, contest))
    }

    /// SPIN, entail, and a bare table, right after each other: what else the machine does then hits them all.
    fn round(&mut self, entail: &Entail, options: &Options) -> Result<()> {
        let (theirs, run) = self.plan.run()?;
        self.spin.push(run);
        let memory = format!("{}M", options.memory);
        let task = Task { mode: self.mode.of_entail(), constants: &[], memory: &memory, time: TIME };
        let (ours, total) = entail.run(&self.file, &task);
        self.entail.extend(measured(&ours, total));
        let comparison = match self.mode {
            _ if theirs.status != Status::Complete => Comparison::Different(describe_spin(&theirs)),
            Mode::AsWritten => compare::counts(Compare::Everything, &theirs, &ours),
            Mode::Default => compare::verdict(&theirs, &ours),
        };
        self.problem = match comparison {
            Comparison::Same => None,
            Comparison::Skipped(why) => Some(why.into()),
            Comparison::Different(how) => Some(how),
        };
        if !options.small
            && let Some(run) = self.entail.last()
        {
            self.bare.extend(bare_table(run.transitions, run.states));
        }
        Ok(())
    }

    fn row(&self) -> Option<Row> {
        if self.problem.is_some() {
            return None;
        }
        let (spin, entail) = (Run::median(&self.spin)?, Run::median(&self.entail)?);
        Some(Row { model: self.model.clone(), spin, entail, bare: median(self.bare.clone()) })
    }

    /// The latest measurement in a few words.
    fn latest(&self) -> String {
        let title = format!("{}, {}", self.model, self.mode.title());
        match (&self.problem, self.spin.last(), self.entail.last()) {
            (Some(problem), _, _) => format!("{title}: not comparable: {problem}"),
            (None, Some(spin), Some(entail)) => format!(
                "{title}: search {:.2} s and {:.2} s, total {:.2} s and {:.2} s",
                spin.search, entail.search, spin.total, entail.total
            ),
            (None, _, _) => format!("{title}: not measured"),
        }
    }
}

/// What an answer of ours says about the run that gave it.
pub fn measured(answer: &Answer, total: f64) -> Option<Run> {
    match answer {
        Answer::Checked(counts) => Some(Run {
            states: counts.stored,
            transitions: counts.transitions,
            search: counts.search_seconds,
            total,
            peak_bytes: counts.peak_bytes,
            bytes_per_state: counts.bytes_per_state,
            backend: counts.backend.clone(),
        }),
        Answer::Rejected(_) | Answer::Inconclusive | Answer::Broken(_) => None,
    }
}

fn publish(options: &Options, contests: &[Contest]) -> Result<()> {
    let mut tables = circumstances(options.rounds) + "\n";
    let mut csv = table::csv_header(Mode::Default.table(options.small));
    for mode in Mode::ALL {
        let of_mode = contests.iter().filter(|contest| contest.mode == mode);
        let rows: Vec<Row> = of_mode.filter_map(Contest::row).collect();
        let heading = match mode {
            Mode::AsWritten => "As written",
            Mode::Default => "By default",
        };
        tables += &format!("\n### {heading}\n\n{}", table::markdown(mode.table(options.small), &rows));
        csv += &table::csv(mode.title(), Mode::Default.table(options.small), &rows);
    }
    println!("{tables}");
    if let Some(file) = &options.markdown {
        document::write(file, if options.small { "small models" } else { "large models" }, &tables)?;
    }
    if let Some(file) = &options.csv {
        std::fs::write(file, csv)?;
    }
    Ok(())
}

/// Figures mean nothing without the machine and the programs they come from.
fn circumstances(rounds: u32) -> String {
    let first_line = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or("?").to_string()
    };
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let processor = processor.map_or("an unknown processor", |(_, name)| name.trim());
    let rounds = if rounds == 1 { "One round".into() } else { format!("Medians of {rounds} rounds") };
    format!("{rounds}, {processor}; {}; {}.", first_line("spin", "-V"), first_line("gcc", "--version"))
}
