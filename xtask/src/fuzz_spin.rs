//! Compares entail and SPIN on random models.

use crate::compare::{self, Comparison, describe, describe_spin};
use crate::entail::{self, Answer, Entail};
use crate::record::{self, Row};
use crate::{Outcome, Result, fuzz_d_steps, fuzz_ltl, fuzz_progress, fuzz_trace, pool, root};
use entail_testkit::promela::{Compare, Feature, Program, generate, generate_with, minimise};
use entail_testkit::spin::{self, Limits, SpinAnswer, Status};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    /// The number of models
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The seed of the first model
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of models checked at a time (default: one per core)
    #[arg(long)]
    jobs: Option<usize>,
    /// The folder for minimised differences
    #[arg(long, default_value = "target/fuzz-spin")]
    keep: PathBuf,
    /// Compare the verdicts on a random formula, with and without weak fairness
    #[arg(long, conflicts_with_all = ["record", "against", "show"])]
    ltl: bool,
    /// Compare the verdicts on a random `trace` or `notrace`
    #[arg(long, conflicts_with_all = ["ltl", "record", "against", "show"])]
    trace: bool,
    /// Features that every model may use, such as `unless,rendezvous,last`
    #[arg(long, value_delimiter = ',', value_parser = feature, conflicts_with_all = ["ltl", "trace", "record", "against"])]
    with: Vec<Feature>,
    /// Compare models whose `d_step`s have many steps
    #[arg(long, conflicts_with_all = ["ltl", "trace", "record", "against", "show", "with"])]
    long_d_steps: bool,
    /// Compare the verdicts on non-progress cycles, with and without weak fairness
    #[arg(long, conflicts_with_all = ["ltl", "trace", "record", "against", "show"])]
    progress: bool,
    /// Do not compare: write SPIN's answers to this file
    #[arg(long, conflicts_with = "against")]
    record: Option<PathBuf>,
    /// Do not compare: print the models
    #[arg(long)]
    show: bool,
    /// Compare with the answers in this file, without SPIN
    #[arg(long)]
    against: Option<PathBuf>,
}

const ENTAIL_LIMIT: Duration = Duration::from_secs(20);

fn feature(name: &str) -> std::result::Result<Feature, String> {
    Feature::named(name).ok_or_else(|| format!("there is no feature `{name}`"))
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let seeds: Vec<u64> = (options.seed..options.seed + options.count).collect();
    if options.show {
        seeds.iter().for_each(|&seed| println!("// seed {seed}\n{}", generate_with(seed, &options.with)));
        return Ok(Outcome::Agreement);
    }
    let jobs = options.jobs.unwrap_or_else(pool::cores);
    if let Some(file) = &options.against {
        return against(&record::read(file)?, jobs, binary);
    }
    if !spin::available() {
        return Err("spin and gcc are needed; use --against FILE without them".into());
    }
    if let Some(file) = &options.record {
        return record_answers(&seeds, jobs, file);
    }
    if options.ltl {
        return fuzz_ltl::run(&seeds, jobs, &options.keep, binary);
    }
    if options.trace {
        return fuzz_trace::run(&seeds, jobs, &options.keep, binary);
    }
    if options.long_d_steps {
        return fuzz_d_steps::run(&seeds, jobs, &options.keep, binary);
    }
    if options.progress {
        return fuzz_progress::run(&seeds, jobs, &options.keep, binary);
    }
    let entail = Entail::find(binary)?;
    let results = pool::map(jobs, &seeds, |&seed| {
        let program = generate_with(seed, &options.with);
        let comparison = Pair::ask(&entail, &program).map_or(Comparison::Skipped("no room for files"), |pair| {
            if let Comparison::Different(how) = &pair.comparison {
                println!("seed {seed}: {how}; shrinking");
                keep(&entail, seed, program.clone(), &options.keep);
            }
            pair.comparison
        });
        (program, comparison)
    });
    Ok(summary(&results))
}

/// Both answers on one model, and their differences.
struct Pair {
    spin: SpinAnswer,
    entail: Answer,
    comparison: Comparison,
}

impl Pair {
    fn ask(entail: &Entail, program: &Program) -> Result<Self> {
        let spin = spin::run(&program.to_string(), spin::Mode::Full, Limits::default())?;
        Self::with(spin, entail, program)
    }

    fn with(spin: SpinAnswer, entail: &Entail, program: &Program) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("model.pml");
        std::fs::write(&file, program.to_string())?;
        let written = entail.check(&file, entail::Mode::AsWritten, ENTAIL_LIMIT);
        let mut comparison = compare::counts(program.compare, &spin, &written);
        // SPIN rejects some models for reasons of its own, such as a loop right before a `d_step`.
        if program.flaw.is_none() && spin.status == Status::Rejected && matches!(written, Answer::Checked(_)) {
            comparison = Comparison::Skipped("SPIN refuses a model that makes sense");
        }
        if comparison == Comparison::Same && spin.status == Status::Complete {
            let optimised = entail.check(&file, entail::Mode::Default, ENTAIL_LIMIT);
            if let Comparison::Different(how) = compare::verdict(&spin, &optimised) {
                comparison = Comparison::Different(format!("optimised: {how}"));
            }
        }
        if matches!(comparison, Comparison::Different(_)) && program.loses_escapes() {
            comparison = Comparison::Skipped("SPIN's verifier forgets escapes after a failed send");
        }
        // A change of the index misleads the search of SPIN's verifier, until it takes from a channel that does not exist.
        let is_misled = matches!(&spin.status, Status::Faulty(fault) if fault.contains("bad queue"));
        if matches!(comparison, Comparison::Different(_)) && is_misled && program.may_receive_into_an_index() {
            comparison = Comparison::Skipped("SPIN's verifier takes a message from another channel");
        }
        Ok(Self { spin, entail: written, comparison })
    }

    /// The kind of the difference: a smaller program must show the same kind.
    fn kind(&self) -> Option<&str> {
        match &self.comparison {
            Comparison::Different(how) => how.split(':').next(),
            Comparison::Same | Comparison::Skipped(_) => None,
        }
    }
}

/// Shrinks a program with a difference, and stores it with both answers.
fn keep(entail: &Entail, seed: u64, program: Program, folder: &Path) {
    let Some(kind) = Pair::ask(entail, &program).ok().and_then(|pair| pair.kind().map(String::from)) else {
        return;
    };
    let defined =
        |pair: &Pair| program.compare == Compare::VerdictOnly || !matches!(pair.spin.status, Status::Faulty(_));
    let smallest = minimise(program.clone(), |candidate| {
        Pair::ask(entail, candidate).is_ok_and(|pair| pair.kind() == Some(&*kind) && defined(&pair))
    });
    let Ok(pair) = Pair::ask(entail, &smallest) else { return };
    let Comparison::Different(how) = &pair.comparison else { return };
    let text = format!(
        "// seed {seed}: {how}\n// SPIN: {}\n// entail: {}\n{smallest}",
        describe_spin(&pair.spin),
        describe(&pair.entail)
    );
    println!("{text}");
    let folder = root().join(folder);
    let stored = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(format!("seed-{seed}.pml")), &text));
    if let Err(problem) = stored {
        eprintln!("xtask: {}: {problem}", folder.display());
    }
}

fn record_answers(seeds: &[u64], jobs: usize, file: &Path) -> Result<Outcome> {
    let answers = pool::map(jobs, seeds, |&seed| {
        let program = generate(seed);
        let answer = spin::run(&program.to_string(), spin::Mode::Full, Limits::default());
        (seed, program, answer)
    });
    let mut rows = Vec::new();
    let mut programs = Vec::new();
    for (seed, program, answer) in answers {
        let answer = answer?;
        programs.push((program.clone(), answer.clone()));
        rows.extend(Row::new(seed, &program, answer));
    }
    record::write(file, &rows)?;
    print!("{}", statistics(&programs));
    println!("{} of {} answers recorded in {}", rows.len(), programs.len(), file.display());
    Ok(Outcome::Agreement)
}

fn against(rows: &[Row], jobs: usize, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let results = pool::map(jobs, rows, |row| {
        let program = generate(row.seed);
        let comparison = if row.is_about(&program) {
            Pair::with(row.answer.clone(), &entail, &program)
                .map_or(Comparison::Skipped("no room for files"), |pair| pair.comparison)
        } else {
            Comparison::Different("the record is of another generator: record again".into())
        };
        if let Comparison::Different(how) = &comparison {
            println!("seed {}: {how}", row.seed);
        }
        (program, comparison)
    });
    Ok(summary(&results))
}

fn summary(results: &[(Program, Comparison)]) -> Outcome {
    let programs: Vec<&Program> = results.iter().map(|(program, _)| program).collect();
    print!("{}", coverage(&programs));
    let count = |wanted: fn(&Comparison) -> bool| results.iter().filter(|(_, c)| wanted(c)).count();
    let same = count(|c| *c == Comparison::Same);
    let skipped = count(|c| matches!(c, Comparison::Skipped(_)));
    let different = count(|c| matches!(c, Comparison::Different(_)));
    let mut reasons: Vec<&str> = Vec::new();
    for (_, comparison) in results {
        if let Comparison::Skipped(why) = comparison
            && !reasons.contains(why)
        {
            reasons.push(why);
        }
    }
    if !reasons.is_empty() {
        println!("not comparable: {}", reasons.join("; "));
    }
    println!("{same} same, {skipped} not comparable, {different} different");
    if different == 0 { Outcome::Agreement } else { Outcome::Difference }
}

/// The number of programs that contain each feature.
fn coverage(programs: &[&Program]) -> String {
    let mut text = String::from("features:");
    for &(feature, _) in Feature::ALL {
        let count = programs.iter().filter(|program| program.features.contains(feature)).count();
        let _ = write!(text, " {feature:?} {count}");
    }
    text + "\n"
}

/// Statistics of the generated programs, by SPIN's answers.
fn statistics(programs: &[(Program, SpinAnswer)]) -> String {
    let mut text = coverage(&programs.iter().map(|(program, _)| program).collect::<Vec<_>>());
    let flawed = programs.iter().filter(|(program, _)| program.flaw.is_some()).count();
    let valid: Vec<_> = programs.iter().filter(|(program, _)| program.flaw.is_none()).collect();
    let with = |wanted: &dyn Fn(&SpinAnswer) -> bool| valid.iter().filter(|(_, answer)| wanted(answer)).count();
    let _ = writeln!(text, "flawed on purpose: {flawed}; valid: {}", valid.len());
    for (what, wanted) in [
        ("complete", Status::Complete),
        ("rejected", Status::Rejected),
        ("not compiling", Status::DoesNotCompile),
        ("crashed", Status::Crashed),
    ] {
        let _ = writeln!(text, "  {what}: {}", with(&|answer| answer.status == wanted));
    }
    let _ = writeln!(text, "  at a limit: {}", with(&|answer| matches!(answer.status, Status::Limit(_))));
    let _ = writeln!(text, "  faulty: {}", with(&|answer| matches!(answer.status, Status::Faulty(_))));
    let _ = writeln!(text, "  with errors: {}", with(&|answer| answer.errors > 0));
    let mut low = 0;
    for high in [10, 100, 1000, 3000, 20_000, 200_000, u64::MAX] {
        let count = with(&|answer| answer.status == Status::Complete && (low..high).contains(&answer.stored));
        let _ = writeln!(text, "  {low}.. states: {count}");
        low = high;
    }
    text
}
