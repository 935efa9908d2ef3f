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
use against::Contender;
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
    /// Skip models in which SPIN counts fewer states
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    min_states: u64,
    /// Skip models in which SPIN counts more states
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    max_states: u64,
    /// Only models with this in their name; may be repeated
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// Measure models with fewer than 10,000 states instead, by the total time
    #[arg(long, conflicts_with_all = ["min_states", "max_states"])]
    small: bool,
    /// Measure formulas about public benchmark models instead, with and without weak fairness
    #[arg(long, conflicts_with_all = ["models", "min_states", "max_states", "small", "csv"])]
    liveness: bool,
    /// Measure CTL formulas instead, against safety searches of the same models
    #[arg(long, conflicts_with_all = ["models", "min_states", "max_states", "small", "csv", "liveness"])]
    branching: bool,
    /// Measure the cost and the benefit of partial-order reduction instead
    #[arg(long, conflicts_with_all = ["models", "small", "csv", "liveness", "branching"])]
    reduction: bool,
    /// Measure the memory per state of each store instead, and of SPIN's state compression, on models with a
    /// million states or more
    #[arg(long, conflicts_with_all = ["models", "small", "csv", "liveness", "branching", "reduction"])]
    stores: bool,
    /// Another binary of entail instead of SPIN, such as one of an earlier commit
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["models", "small", "csv", "branching", "reduction", "stores", "markdown"])]
    against: Option<PathBuf>,
    /// Two numbers of threads, compared with each other instead of with SPIN
    #[arg(long, value_name = "N,N", value_delimiter = ',', num_args = 1, conflicts_with_all = ["models", "small", "csv", "branching", "reduction", "stores", "markdown", "against"])]
    threads: Vec<u32>,
    /// The number of measurements; the medians count
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The memory limit of each tool, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 12_000)]
    memory: u32,
    /// Write the tables into this page, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write all measurements to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The configurations that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Both explore the model as written: equal work.
    AsWritten,
    /// Both explore the model with their default optimisations, without partial-order reduction.
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

impl Options {
    /// The searches to compare: of formulas, or else the first `ways` safety searches of each model.
    fn searches(&self, ways: usize) -> Result<Vec<against::Search>> {
        if self.liveness {
            return Ok(liveness::searches(&self.only));
        }
        against::safety(ways, self.min_states..=self.max_states, &self.only)
    }
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if let Some(other) = &options.against {
        let (other, entail) = (Entail::find(Some(other))?.one_thread(), Entail::find(binary)?.one_thread());
        let contenders = [("other", &other), ("this one", &entail)];
        let contenders =
            contenders.map(|(name, entail)| Contender { name: name.to_owned(), entail, options: Vec::new() });
        return against::run(&contenders, &options.searches(3)?, options.rounds);
    }
    if let &[one, other] = &options.threads[..] {
        let entail = &Entail::find(binary)?;
        let contenders = [one, other].map(|count| Contender {
            name: format!("threads {count}"),
            entail,
            options: vec!["--threads".to_owned(), count.to_string()],
        });
        return against::run(&contenders, &options.searches(2)?, options.rounds);
    }
    if !options.threads.is_empty() {
        return Err("`--threads` needs two numbers, such as `1,2`".into());
    }
    if !real_spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let entail = Entail::find(binary)?.one_thread();
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

/// A model in one configuration, and its measurements so far.
struct Contest {
    model: String,
    file: PathBuf,
    mode: Mode,
    plan: Plan,
    spin: Vec<Run>,
    entail: Vec<Run>,
    bare: Vec<f64>,
    /// The reason why there is nothing to compare: it is not measured further.
    problem: Option<String>,
}

/// Runs SPIN once on every model. A model that SPIN cannot finish is not compared.
fn prepare(options: &Options) -> Result<Vec<Contest>> {
    let sizes = list::sizes(options);
    let mut contests = Vec::new();
    for candidate in list::candidates(options)? {
        for mode in Mode::ALL {
            let (answer, contest) = Contest::prepare(&candidate, mode, options)?;
            eprintln!("{}, {}: {}", candidate.name, mode.title(), describe_spin(&answer));
            // The size of the model as written counts; it is measured first.
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

    /// Measures SPIN, entail and a bare table in direct succession, so that other load on the machine affects
    /// them all.
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

    /// A summary of the latest measurement.
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

/// The measurements in an answer of entail.
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

/// Measurements depend on the machine and the versions of the programs, so these are printed too.
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
