//! Compares entail and SPIN on progress labels in random models, most of which terminate: both search for
//! non-progress cycles.

use crate::entail::Entail;
use crate::fuzz_ltl::{Both, Runs, report, summary};
use crate::{Outcome, Result, pool};
use entail_testkit::promela::ast::{Block, Group, Stmt, Unit};
use entail_testkit::promela::{Feature, Program, generate, minimise};
use entail_testkit::rng::Rng;
use entail_testkit::spin::{self, Goal, Limits};
use std::path::Path;

/// The placeholder name of a progress label.
const MARK: &str = "mark";

/// A model with progress labels; `None` if it has an intentional defect, or counts processes: SPIN counts its
/// claim among them.
fn marked(seed: u64) -> Option<Program> {
    let mut program = generate(seed);
    program.units.retain(|unit| !matches!(unit, Unit::Always { .. }));
    if program.flaw.is_some() || program.features.contains(Feature::ProcessCount) {
        return None;
    }
    let mut marks = Marks { rng: Rng::new(seed), count: 0 };
    for unit in &mut program.units {
        if let Unit::Process(process) = unit {
            marks.put_into(&mut process.body);
        }
    }
    Some(program)
}

struct Marks {
    rng: Rng,
    count: usize,
}

impl Marks {
    /// Labels some statements, but not the first one: SPIN ignores progress in the initial state.
    fn put_into(&mut self, block: &mut Block) {
        let mut begun = false;
        for stmt in block {
            match stmt {
                Stmt::Declare(_) | Stmt::Exclusive(..) => continue,
                Stmt::Choice(options) | Stmt::Loop(options) => {
                    options.iter_mut().for_each(|option| self.put_into(option));
                }
                Stmt::Group(Group::Atomic | Group::Plain, body) => self.put_into(body),
                Stmt::Assign(..) | Stmt::Bump(..) | Stmt::Guard(_) | Stmt::Send { .. } | Stmt::Receive { .. } => {}
                Stmt::Group(Group::DStep, _)
                | Stmt::Labelled(..)
                | Stmt::Else
                | Stmt::For { .. }
                | Stmt::Select { .. }
                | Stmt::Goto(_)
                | Stmt::Break
                | Stmt::Unless(..)
                | Stmt::Print(_)
                | Stmt::PrintM(_)
                | Stmt::Assert(_)
                | Stmt::Call { .. }
                | Stmt::Return(_)
                | Stmt::SetPriority(..) => {
                    begun = true;
                    continue;
                }
            }
            if begun && self.rng.chance(0.3) {
                self.count += 1;
                let inner = std::mem::replace(stmt, Stmt::Else);
                *stmt = Stmt::Labelled(format!("{MARK}{}", self.count), Box::new(inner));
            }
            begun = true;
        }
    }
}

/// Without assertions and other labels for infinite runs.
fn text(program: &Program) -> String {
    let text = program.to_string().replace("assert(", "(true || ");
    text.replace("accept", "place").replace("progress", "stay").replace(MARK, "progress")
}

/// The answers of both tools for some runs.
fn ask(program: &Program, runs: Runs, entail: &Entail) -> Result<Both> {
    let text = text(program);
    // SPIN's fair search waits for processes that are disabled by a `provided` clause or a priority.
    if runs == Runs::Fair && (text.contains("provided") || text.contains("priority")) {
        return Ok(Both::Unknown("fairness with `provided` or priorities".into()));
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("model.pml");
    std::fs::write(&file, &text)?;
    let goal = match runs {
        Runs::All => Goal::NonProgress,
        Runs::Fair => Goal::FairNonProgress,
    };
    let theirs = spin::broken(&text, goal, Limits::default())?;
    let options = ["--property", "progress", "--time", "20s", "--fair", runs.fairness()];
    Ok(Both::of(theirs, || entail.property(&file, &options)))
}

pub fn run(seeds: &[u64], jobs: usize, keep: &Path, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let results = pool::map(jobs, seeds, |&seed| {
        let program = marked(seed)?;
        Some(Runs::ALL.map(|runs| {
            let both = ask(&program, runs, &entail).unwrap_or_else(|problem| Both::Unknown(problem.to_string()));
            if let Both::Different(how) = &both {
                let shows = |smaller: &Program| ask(smaller, runs, &entail).is_ok_and(|other| other == both);
                let smallest = minimise(program.clone(), shows);
                let text = format!("// seed {seed}, {}: {how}\n{}", runs.name(), text(&smallest));
                report(&format!("progress-{seed}"), &text, keep);
            }
            both
        }))
    });
    let asked: Vec<_> = results.into_iter().flatten().collect();
    Ok(summary("questions", &asked, seeds.len()))
}
