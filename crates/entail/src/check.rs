//! `entail check`: does the model satisfy its properties?

use crate::args::{CheckArgs, CheckFormat};
use crate::console::{Console, Failure, Status};
use crate::coverage::{Coverage, Unreached};
use crate::load::{self, Reading};
use crate::plan::{Done, Goal, Memory, Plan};
use crate::progress::Watch;
use crate::report::{Counterexample, PropertyReport, Report, Searched, Times, Verdict, json, spin, text};
use crate::trail::Trail;
use crate::units::{show_bytes, show_duration};
use crate::violation::Violation;
use crate::walk::Walk;
use crate::{interrupt, machine, sweep};
use entail_front::{LtlFormula, ModelSource, Property};
use entail_ir::{Interpreter, System};
use entail_ir::interpret::Step;
use entail_model::Guarantee;
use entail_search::{End, ErrorKind, Limit};
use entail_temporal::{self as temporal, translate};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How many of a counterexample's steps are shown right away.
const LAST_STEPS: usize = 10;

pub fn check(args: &CheckArgs, console: &mut Console) -> Result<Status, Failure> {
    if args.trail.is_some() && args.models.len() > 1 {
        return Err(Failure::new("`--trail` names one file, but there are several models"));
    }
    let stop = interrupt::flag();
    let plan = Plan::of(args);
    if let Some(sweep) = &args.sweep {
        return sweep::check(args, sweep, &plan, &stop, console);
    }
    let mut status = Status::Fine;
    let mut reports = Vec::new();
    for path in &args.models {
        let report = check_one(path, args, &plan, &stop, console);
        status = status.max(report.status());
        match args.format {
            CheckFormat::Text => console.out.write_all(text::report(&report, console.colour).as_bytes())?,
            CheckFormat::Spin => console.out.write_all(spin::report(&report).as_bytes())?,
            CheckFormat::Json => reports.push(report),
        }
        console.out.flush()?;
    }
    if args.format == CheckFormat::Json {
        console.out.write_all(json::documents(&reports).as_bytes())?;
    }
    Ok(status)
}

pub fn check_one(path: &Path, args: &CheckArgs, plan: &Plan, stop: &AtomicBool, console: &Console) -> Report {
    let started = Instant::now();
    let Reading { model, warnings, errors } = load::read(path, &args.reading, console);
    let mut report = Report::new(path, plan.clone(), warnings, errors);
    let Some(model) = model else { return report };
    match Selection::of(&args.what.properties, &model) {
        Err(error) => {
            console.complain(&format!("error: {error}\n"));
            report.errors.push(error);
        }
        Ok(selection) => {
            let job = Job { path, args, plan, model: &model, started, read: started.elapsed() };
            if selection.safety {
                let (property, unreached) = job.check_safety(stop, console);
                report.properties.push(property);
                report.unreached = unreached;
            }
            for property in selection.named {
                let checked = job.check_property(property, stop, console);
                report.properties.push(checked);
            }
        }
    }
    report.model = Some(model);
    report
}

/// Which properties are to be checked.
struct Selection<'m> {
    safety: bool,
    named: Vec<&'m Property>,
}

impl<'m> Selection<'m> {
    fn of(names: &[String], model: &'m ModelSource) -> Result<Selection<'m>, String> {
        let known = |name: &String| name == SAFETY || model.properties.iter().any(|known| known.name == *name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let known: Vec<_> = model.properties.iter().map(|property| property.name.as_str()).collect();
            let known = [&[SAFETY], &known[..]].concat().join(", ");
            return Err(format!("the model has no property `{unknown}`; it has: {known}"));
        }
        let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        let named = model.properties.iter().filter(|property| wanted(&property.name)).collect();
        Ok(Selection { safety: wanted(SAFETY), named })
    }
}

/// Assertions, invalid end states and run-time faults.
const SAFETY: &str = "safety";

/// One model to be searched.
struct Job<'a> {
    path: &'a Path,
    args: &'a CheckArgs,
    plan: &'a Plan,
    model: &'a ModelSource,
    started: Instant,
    /// How long it took to read the model.
    read: Duration,
}

impl Job<'_> {
    /// What is known of the built-in checks, and, if all of the model was seen, of which parts no run reaches.
    fn check_safety(&self, stop: &AtomicBool, console: &Console) -> (PropertyReport, Option<Vec<Unreached>>) {
        let interpreter = Interpreter::new(&self.model.system);
        let mut watch = Watch::new(Coverage::new(&self.model.system), console.progress);
        let done = self.run(&interpreter, Goal::Mistake, stop, &mut watch);
        let coverage = watch.finish();
        let unreached = (done.outcome.end == End::Complete).then(|| coverage.unreached(&self.model.system));
        (self.report(SAFETY, SAFETY, &interpreter, done, console), unreached)
    }

    /// What is known of something that the model says about itself.
    fn check_property(&self, property: &Property, stop: &AtomicBool, console: &Console) -> PropertyReport {
        let kind = property.kind.name();
        let inconclusive = |reason: String| {
            let verdict = Verdict::Inconclusive(reason);
            PropertyReport { name: property.name.clone(), kind, verdict, searched: None }
        };
        let Some(LtlFormula { formulas, formula, propositions }) = &property.formula else {
            return inconclusive(format!("checking {kind} properties is not available yet"));
        };
        let mut formulas = formulas.clone();
        let broken = formulas.not(*formula);
        let automaton = match translate(&mut formulas, broken, temporal::Limits::default()) {
            Ok(automaton) => automaton,
            Err(limit) => return inconclusive(format!("the formula is too large: {limit}")),
        };
        let propositions = propositions.iter().map(|(proposition, _)| proposition.clone()).collect();
        let system = System { propositions, ..self.model.system.clone() };
        let interpreter = Interpreter::new(&system);
        let mut watch = Watch::new(Coverage::new(&system), console.progress);
        let done = self.run(&interpreter, Goal::Accepted(&automaton), stop, &mut watch);
        watch.finish();
        self.report(&property.name, kind, &interpreter, done, console)
    }

    fn run(&self, interpreter: &Interpreter, goal: Goal, stop: &AtomicBool, watch: &mut Watch) -> Done {
        // Depth is counted as the language's own tools do.
        let first = self.model.language.first_depth();
        let plan = Plan { depth: self.plan.depth.map(|depth| depth.saturating_sub(first)), ..self.plan.clone() };
        let mut done = plan.run(interpreter, goal, stop, watch);
        done.outcome.stats.depth += first;
        done
    }

    fn report(
        &self,
        name: &str,
        kind: &'static str,
        interpreter: &Interpreter,
        done: Done,
        console: &Console,
    ) -> PropertyReport {
        let outcome = &done.outcome;
        let verdict = self.verdict(&done);
        let counterexample =
            outcome.counterexample.as_ref().map(|found| self.counterexample(interpreter, found, console));
        let searched = Searched {
            errors: outcome.errors,
            counterexample,
            stats: outcome.stats,
            end: outcome.end,
            bytes: outcome.bytes,
            guarantee: done.guarantee,
            backend: done.backend,
            fallback: done.fallback,
            times: Times {
                read: self.read,
                compile: done.compile,
                search: done.search,
                total: self.started.elapsed(),
            },
            peak_bytes: machine::peak_memory(),
            state_bytes: initial_size(interpreter),
            state_bits: done.state_bits,
        };
        PropertyReport { name: name.to_owned(), kind, verdict, searched: Some(searched) }
    }

    fn verdict(&self, done: &Done) -> Verdict {
        if done.outcome.errors > 0 {
            return Verdict::Violated;
        }
        match (done.outcome.end, done.guarantee) {
            (End::Complete | End::Error, Guarantee::Exact) => Verdict::Holds,
            (End::Complete | End::Error, Guarantee::Probable | Guarantee::Partial) => {
                Verdict::Inconclusive("nothing was found, but the store may have missed states".into())
            }
            (End::Limit(limit), _) => Verdict::Inconclusive(self.limit_reached(limit, done.memory)),
        }
    }

    fn limit_reached(&self, limit: Limit, memory: Memory) -> String {
        match limit {
            Limit::Depth => format!("reached the depth limit of {}", self.plan.depth.unwrap_or(0)),
            Limit::Time => {
                format!("reached the time limit of {}", show_duration(self.plan.time.unwrap_or_default()))
            }
            Limit::Memory => match memory {
                Memory::Given(bytes) => format!("reached the memory limit of {}", show_bytes(bytes)),
                Memory::Spare(bytes) => {
                    format!("reached the memory limit of {}, most of what was free", show_bytes(bytes))
                }
            },
            Limit::Interrupted => "interrupted".into(),
        }
    }

    /// Writes the trail of `found`, and puts it into words.
    fn counterexample(
        &self,
        interpreter: &Interpreter,
        found: &entail_search::Counterexample<Step>,
        console: &Console,
    ) -> Counterexample {
        let trail = Trail::of(found, &self.model.system);
        let (violation, last_steps) = tell(interpreter, found);
        Counterexample {
            violation,
            steps: found.steps.len(),
            cycle_start: match found.error {
                ErrorKind::Cycle { begins } => Some(begins),
                ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
            },
            moves: trail.moves.len(),
            trail: self.write(&trail, console),
            last_steps,
        }
    }

    /// Writes a trail, and says where. One for every value of a constant would be too much of a good thing.
    fn write(&self, trail: &Trail, console: &Console) -> Option<PathBuf> {
        if self.args.sweep.is_some() {
            return None;
        }
        let path = self.args.trail.clone().unwrap_or_else(|| default_trail(self.path));
        match fs::write(&path, trail.text()) {
            Ok(()) => Some(path),
            Err(error) => {
                console.complain(&format!("warning: cannot write {}: {error}\n", path.display()));
                None
            }
        }
    }
}

/// Where the trail of a model goes, and is looked for.
pub fn default_trail(model: &Path) -> PathBuf {
    let mut name = OsString::from(model);
    name.push(".trail");
    PathBuf::from(name)
}

/// What went wrong, and the steps before it.
fn tell(interpreter: &Interpreter, found: &entail_search::Counterexample<Step>) -> (Violation, Vec<String>) {
    let (early, late) = found.steps.split_at(found.steps.len().saturating_sub(LAST_STEPS));
    let mut walk = Walk::from(interpreter, found.start.clone());
    for &step in early {
        walk.pass(step);
    }
    let last_steps = late.iter().map(|&step| walk.take(step).text()).collect();
    let violation = match found.error {
        ErrorKind::Fault(fault) => Violation::fault(interpreter, fault, !found.start.is_empty()),
        ErrorKind::InvalidEnd => Violation::end(interpreter, &walk.state),
        ErrorKind::Cycle { begins } => Violation::cycle(interpreter, &found.steps[begins..]),
    };
    (violation, last_steps)
}

fn initial_size(interpreter: &Interpreter) -> usize {
    let mut size = 0;
    entail_model::Model::initial_states(interpreter, &mut |state| size = state.len());
    size
}
