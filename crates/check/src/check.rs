//! Checks the properties of one model.

use crate::checker::Selection;
use crate::config::Config;
use crate::coverage::{Coverage, ProcessCoverage};
use crate::fairness_hint::FairnessHint;
use crate::keep::CheckpointWriter;
use crate::load::{self, Input};
use crate::log::Log;
use crate::machine;
use crate::observer::Observer;
use crate::output::Outputs;
use crate::plan::{Bound, Goal, LEAST_TIME, Plan, SearchControl};
use crate::progress::{Listener, Watch};
use crate::property::{forbidden, stations};
use crate::provenance::{Provenance, Shown};
use crate::report::{Counterexample, PropertyReport, Report, Searched, Verdict, coverage};
use crate::run::Walk;
use crate::swarm;
use crate::trail::{Trail, with_claim};
use crate::trail_files::{TrailFiles, numbered};
use crate::units::{plural, show_bytes, show_duration, show_share};
use crate::violation::{Kind, Violation};
use crate::witness::{Argument, Evidence, Explainer};
use entail_front::source::Sources;
use entail_front::{Asked, Meaning, ModelSource, Property, PropertyKind, SAFETY, Specification, SpinClaim};
use entail_ir::interpret::Step;
use entail_ir::{Interpreter, Statement, System};
use entail_model::{Deadline, Fault, FaultKind, Guarantee, Named};
use entail_search::{End, ErrorKind, Errors, Limit};
use entail_temporal::ctl::Asked as CtlQueries;
use entail_temporal::{self as temporal, Claim, Satisfiability};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The effort of minimising the counterexample of a probe without `--minimise`.
const EFFORT_UNASKED: u64 = entail_search::EFFORT / 10;

/// The check of one model.
pub struct Job<'a> {
    pub input: &'a Input,
    pub config: &'a Config,
    pub plan: &'a Plan,
    pub model: &'a ModelSource,
    pub sources: &'a Sources,
    /// The fingerprint of the whole model, even if only a slice is searched.
    pub fingerprint: u64,
    pub asked: &'a [Asked],
    pub outputs: &'a Outputs,
    /// The trail files, if trails are written.
    pub trails: Option<&'a TrailFiles>,
    pub observer: &'a dyn Observer,
    pub control: SearchControl<'a>,
    pub started: Instant,
    /// The time that reading the model took.
    pub read: Duration,
}

/// The property under check.
#[derive(Clone, Copy)]
struct Subject<'p> {
    name: &'p str,
    kind: &'static str,
    /// The kind of error of an infinite counterexample.
    cycle: Kind,
    /// The automaton of forbidden runs.
    claim: Option<&'p Claim>,
    /// The never claim as SPIN numbers its statements.
    written: Option<&'p SpinClaim>,
}

impl Job<'_> {
    /// Checks the selected properties.
    pub fn check(&self, selection: &Selection, report: &mut Report) {
        let named = selection.named.iter().copied().map(Some);
        for property in selection.safety.then_some(None).into_iter().chain(named) {
            let checked = match property {
                property if self.config.slice => self.check_slice(property, report),
                Some(property) => self.check_property(property, report).map(Some),
                None => self.check_safety().map(|(checked, unreached)| {
                    report.unreached = unreached;
                    Some(checked)
                }),
            };
            match checked {
                Ok(checked) => report.properties.extend(checked),
                Err(error) => report.refuse(error, self.observer),
            }
        }
    }

    /// Checks a property, or safety if there is none, on its slice. A slice gives no coverage of the model. Returns
    /// `None` if the model cannot be sliced.
    fn check_slice(
        &self,
        property: Option<&Property>,
        report: &mut Report,
    ) -> Result<Option<PropertyReport>, String> {
        if let Some(unreadable) = property.filter(|property| property.meaning.is_none()) {
            return self.check_property(unreadable, report).map(Some);
        }
        let began = Instant::now();
        let aims = [load::aim(property)];
        let slice = load::read_slice(self.input, &self.config.reading, self.asked, &aims, self.observer);
        let Some((model, _)) = &slice else {
            // The observer has the diagnostics.
            report.errors.push("the model cannot be sliced".into());
            return Ok(None);
        };
        let job = Job { model, read: self.read + began.elapsed(), ..*self };
        let of_slice =
            property.and_then(|property| model.properties.iter().find(|known| known.name == property.name));
        let checked = match of_slice {
            Some(property) => job.check_property(property, report),
            None => job.check_safety().map(|(checked, _)| checked),
        };
        checked.map(Some)
    }

    /// Checks safety. If the search was exhaustive, also returns the unreachable statements.
    fn check_safety(&self) -> Result<(PropertyReport, Option<Vec<ProcessCoverage>>), String> {
        let interpreter = Interpreter::new(&self.model.system);
        let (done, coverage) = self.run(&interpreter, SAFETY, Goal::Safety)?;
        let is_cut = done.outcome.ignored_fault.is_some_and(|fault| fault.kind.is_limit());
        let is_whole = done.outcome.end == End::Complete && done.guarantee == Guarantee::Exact && !is_cut;
        let unreached = is_whole.then(|| coverage.by_process(&self.model.system));
        let subject = Subject { name: SAFETY, kind: SAFETY, cycle: Kind::Cycle, claim: None, written: None };
        Ok((self.report(subject, &interpreter, done), unreached))
    }

    /// Checks a property of the model.
    fn check_property(&self, property: &Property, report: &mut Report) -> Result<PropertyReport, String> {
        let kind = property.kind.name();
        let without_search =
            |verdict| PropertyReport { name: property.name.clone(), kind, verdict, searched: None };
        let inconclusive = |reason: String| Ok(without_search(Verdict::Inconclusive(reason)));
        let Some(Meaning { says, propositions, antecedents }) = &property.meaning else {
            return inconclusive("not checked: it cannot be read".into());
        };
        if let Specification::Monitor(monitor) = says {
            let system = System { monitor: Some(monitor.clone()), ..self.model.without_retries() };
            return self.check_goal(property, system, Goal::Trace);
        }
        if let Specification::Ctl(formula) = says {
            let Some(asked) = CtlQueries::of(formula, self.config.fair) else {
                return inconclusive("the formula has too many temporal operators".into());
            };
            let system = System { propositions: propositions.clone(), ..self.model.without_retries() };
            return self.check_goal(property, system, Goal::Ctl(formula, &asked));
        }
        if !self.config.fair.is_for_linear_time() {
            let fair = self.config.fair.name();
            return Err(format!(
                "`{}`: `--fair {fair}` is for CTL formulas only; use `--fair strong`",
                property.name
            ));
        }
        let began = Instant::now();
        let limits = temporal::Limits { deadline: self.deadline(self.read), ..Default::default() };
        let excess = |limit| match limit {
            temporal::Limit::Time => self.no_time("to build the automaton of the formula"),
            limit => format!("the formula is too large: {limit}"),
        };
        let (claim, satisfiability) = match forbidden(says, limits) {
            Ok(Some(forbidden)) => forbidden,
            Ok(None) => return inconclusive(format!("checking {kind} properties is not available yet")),
            Err(limit) => return inconclusive(excess(limit)),
        };
        if let Some(warning) = oddity(&property.name, satisfiability) {
            report.warn(warning, self.observer);
        }
        if satisfiability == Satisfiability::Tautology {
            return Ok(without_search(Verdict::Holds));
        }
        let claim = match self.plan.prepared(claim, limits) {
            Ok(claim) => claim,
            Err(limit) => return inconclusive(excess(limit)),
        };
        let job = Job { read: self.read + began.elapsed(), ..*self };
        let mut propositions = propositions.clone();
        let antecedents = antecedents.iter().map(|antecedent| {
            propositions.iter().position(|(known, _)| *known == antecedent.0).unwrap_or_else(|| {
                propositions.push(antecedent.clone());
                propositions.len() - 1
            })
        });
        let antecedents: Vec<usize> = antecedents.collect();
        let system = System { propositions, ..self.model.without_retries() };
        let interpreter = Interpreter::new(&system);
        let (done, _) = job.run(&interpreter, &property.name, Goal::Claim(&claim))?;
        if self.verdict(&interpreter, &done) == Verdict::Holds {
            for &number in antecedents.iter().filter(|number| done.propositions_seen >> **number & 1 == 0) {
                let condition = &system.statement(system.propositions[number].1).text;
                let warning = format!("`{}` holds vacuously: `{condition}` is never true", property.name);
                report.warn(warning, self.observer);
            }
        }
        let cycle = if property.kind == PropertyKind::Progress { Kind::NonProgress } else { Kind::Cycle };
        let written = match says {
            Specification::Never(_, written) => written.as_ref(),
            Specification::Ltl(..) | Specification::Ctl(_) | Specification::Monitor(_) => None,
        };
        let subject = Subject { name: &property.name, kind, cycle, claim: Some(&claim), written };
        Ok(self.report(subject, &interpreter, done))
    }

    /// Checks a property that is not a claim.
    fn check_goal(&self, property: &Property, system: System, goal: Goal) -> Result<PropertyReport, String> {
        let interpreter = Interpreter::new(&system);
        let (done, _) = self.run(&interpreter, &property.name, goal)?;
        let (name, kind) = (&property.name, property.kind.name());
        let subject = Subject { name, kind, cycle: Kind::Cycle, claim: None, written: None };
        Ok(self.report(subject, &interpreter, done))
    }

    /// Searches for a violation of a property. Also returns the coverage of the model.
    fn run(&self, interpreter: &Interpreter, property: &str, goal: Goal) -> Result<(Searched, Coverage), String> {
        // Depths are counted as in the language's own tools.
        let first = self.model.language.first_depth();
        let depth = self.config.depth.map(|depth| depth.saturating_sub(first));
        let time = self.config.time.map(|time| time.saturating_sub(self.read));
        let plan = Plan { config: Config { depth, time, ..self.config.clone() }, ..self.plan.clone() };
        let (control, observer) = (self.control, self.observer);
        let file = control.log.open(self.config, self.outputs);
        let model = self.input.path().display().to_string();
        let mut log = Log::of(self.config, file, interpreter, &model, property, observer);
        let listener = log.as_mut().map(|log| log as &mut (dyn Listener + Send));
        let mut watch = Watch::new(Coverage::new(interpreter.system()), observer).heard_by(listener);
        // With `--all-errors`, an error in the initial state must not hide those behind it.
        let goes_on = matches!(goal, Goal::Safety) && plan.checks.errors == Errors::All && plan.checks.assertions;
        let broken = interpreter.broken_start().filter(|_| goes_on);
        let system = System { forgives_start: broken.is_some(), ..interpreter.system().clone() };
        let interpreter = &Interpreter::new(&system);
        observer.search_begins();
        let done = if plan.config.runs > 1 && plan.is_lossy(goal) {
            Ok(swarm::run(&plan, interpreter, goal, control.stop, &mut watch))
        } else {
            plan.run(interpreter, goal, control, &mut watch)
        };
        let coverage = watch.coverage;
        observer.search_ends();
        if let Some(Err(problem)) = log.map(Log::finish) {
            self.outputs.failed(problem, observer);
        }
        let mut done = done?;
        done.outcome.stats.depth += first;
        if let Some(fault) = broken {
            done.outcome.errors += 1;
            let (error, start, steps) = (ErrorKind::Fault(fault), Vec::new(), vec![Step::START]);
            done.outcome.counterexample = Some(entail_search::Counterexample { error, start, steps });
        }
        Ok((done, coverage))
    }

    fn report(&self, subject: Subject, interpreter: &Interpreter, mut done: Searched) -> PropertyReport {
        let (outcome, keeping) = (&done.outcome, self.control.keeping);
        // The time of the search before it was resumed.
        let before = keeping.map_or(Duration::ZERO, CheckpointWriter::before);
        let may_go_on = matches!(outcome.end, End::Limit(Limit::Time | Limit::Memory | Limit::Interrupted));
        let checkpoint = keeping.filter(|_| may_go_on).and_then(CheckpointWriter::file).map(Path::to_owned);
        let verdict = self.verdict(interpreter, &done);
        // No single run shows that a formula holds for all runs.
        let is_telling = |evidence: &&Evidence<Step>| !evidence.holds || evidence.first_run().is_some();
        let evidence = done.evidence.as_ref().filter(is_telling);
        let argument = evidence.map(|evidence| self.argument(subject, interpreter, evidence));
        let counterexample = outcome.counterexample.as_ref().map(|found| {
            let kept = argument.as_ref().and_then(|argument| argument.runs().first()?.trail.clone());
            let effort = match self.config.minimise {
                true => entail_search::EFFORT,
                false if outcome.is_probed => EFFORT_UNASKED,
                false => 0,
            };
            // Reordering steps could change the claim's verdict on the run.
            let minimised = (effort > 0 && subject.claim.is_none() && kept.is_none()).then(|| {
                let deadline = self.deadline(self.read + done.compile + done.search);
                entail_search::minimised(interpreter, found, effort, deadline)
            });
            let found = minimised.as_ref().unwrap_or(found);
            self.counterexample(subject, interpreter, found, &done, kept)
        });
        let cut_short = match outcome.end {
            End::Limit(limit) => Some(self.limit_reached(limit, &done)),
            End::Complete | End::Error => None,
        };
        (done.counterexample, done.argument, done.cut_short) = (counterexample, argument, cut_short);
        (done.read, done.total) = (self.read, before + self.started.elapsed());
        done.search += before;
        done.peak_bytes = machine::peak_memory();
        done.state_bytes = initial_size(interpreter);
        done.checkpoint = checkpoint;
        if let Some(trails) = self.trails.filter(|_| verdict == Verdict::Holds) {
            trails.remove_stale(&self.provenance(subject), self.observer);
        }
        PropertyReport { name: subject.name.to_owned(), kind: subject.kind, verdict, searched: Some(done) }
    }

    fn verdict(&self, interpreter: &Interpreter, done: &Searched) -> Verdict {
        if done.outcome.errors > 0 {
            return Verdict::Violated;
        }
        if let Some(most) = done.process_limit {
            let reason = format!("there are more than {most} processes, too many for fairness");
            return Verdict::Inconclusive(reason);
        }
        if let End::Limit(limit) = done.outcome.end {
            return Verdict::Inconclusive(self.limit_reached(limit, done));
        }
        if let Some(fault) = done.outcome.ignored_fault {
            return Verdict::Inconclusive(self.undecided_by(interpreter, fault));
        }
        match &done.guarantee {
            Guarantee::Exact => Verdict::Holds,
            Guarantee::Probable { .. } => Verdict::Inconclusive(self.nothing_found(done)),
        }
    }

    /// Why the verdict is inconclusive after a fault: later states are undefined.
    fn undecided_by(&self, interpreter: &Interpreter, fault: Fault) -> String {
        let Violation { message, place, .. } = Violation::fault(interpreter, fault, initial_size(interpreter) > 0);
        let place = place.map_or_else(String::new, |place| format!(" at {}:{}", place.file, place.line));
        if fault.kind.is_limit() {
            return format!("a run exceeds a limit of the tool{place}: {message}");
        }
        let advice = if self.plan.checks.assertions {
            "check `safety` to see the run"
        } else {
            "check `safety` without `--no-assert` to see the run"
        };
        format!("a run ends in a fault{place}: {message}; its later states are undefined; {advice}")
    }

    /// The coverage of a search that may have omitted states.
    fn nothing_found(&self, done: &Searched) -> String {
        let stats = &done.outcome.stats;
        let share = done.swarm.as_ref().map_or_else(|| coverage(stats, &done.guarantee), |swarm| swarm.coverage);
        let seen = match share {
            Some(share) => format!("no error found in an estimated {} of the states", show_share(share)),
            None => {
                let stored = plural(stats.stored, "state");
                format!(
                    "no error found in {stored}; hash collisions omitted too many states to estimate the coverage"
                )
            }
        };
        let cut = done.swarm.as_ref().and_then(|swarm| Some((swarm.cut?, swarm.runs.len())));
        let cut = cut.map(|(limit, runs)| {
            let (limit, of) = (self.limit_reached(limit, done), self.config.runs);
            format!("; {limit}, after {runs} of {of} runs were begun")
        });
        seen + &cut.unwrap_or_default()
    }

    /// The deadline for a property after the time already spent.
    fn deadline(&self, spent: Duration) -> Deadline<'_> {
        let time = self.config.time.map(|time| time.saturating_sub(spent).max(LEAST_TIME));
        Deadline::after(time, self.control.stop)
    }

    /// Why a preparation of the search was cut off.
    fn no_time(&self, what: &str) -> String {
        if self.control.stop.load(Ordering::Relaxed) {
            return "interrupted".into();
        }
        let limit = show_duration(self.config.time.unwrap_or_default());
        format!("reached the time limit of {limit}: there was too little {what}")
    }

    fn limit_reached(&self, limit: Limit, done: &Searched) -> String {
        match limit {
            Limit::Depth => format!("reached the depth limit of {}", self.config.depth.unwrap_or(0)),
            Limit::Time => {
                format!("reached the time limit of {}", show_duration(self.config.time.unwrap_or_default()))
            }
            Limit::Memory => {
                let limit = format!("reached the memory limit of {}", show_bytes(done.memory.bytes()));
                let why = match done.memory {
                    Bound::Process(_) => "",
                    Bound::States(_) => ", most of the free memory",
                };
                let no_files = done.no_files.as_ref().map(|reason| format!("; no room in {reason}"));
                limit + why + &no_files.unwrap_or_default()
            }
            Limit::Interrupted => "interrupted".into(),
        }
    }

    /// Explains a verdict as text, and writes the trails of all runs in it.
    fn argument(&self, subject: Subject, interpreter: &Interpreter, evidence: &Evidence<Step>) -> Argument {
        let mut start = Vec::new();
        entail_model::Model::initial_states(interpreter, &mut |state| start = state.to_vec());
        let (mut kept, provenance) = (0, self.provenance(subject));
        let first = self.trails.map(|trails| (trails, trails.first(subject.name)));
        let keep = |run: &entail_search::Counterexample<Step>| {
            kept += 1;
            let (trails, first) = first.as_ref()?;
            let trail = Trail { provenance: Some(provenance.clone()), ..Trail::of(run, &self.model.system) };
            trails.write(numbered(first, kept), &trail.text(), self.outputs, self.observer)
        };
        let (fairness, draws) = (self.config.fair, self.config.evidence.is_some());
        Explainer { interpreter, fairness, start: &start, keep, draws, runs: 0 }.tell(evidence, &[])
    }

    /// Explains a counterexample as text, and writes its trail unless `kept` is the trail.
    fn counterexample(
        &self,
        subject: Subject,
        interpreter: &Interpreter,
        found: &entail_search::Counterexample<Step>,
        Searched { outcome, watched, .. }: &Searched,
        kept: Option<PathBuf>,
    ) -> Counterexample {
        let trail = Trail::of(found, &self.model.system);
        // If the model cannot start, the claim makes no move.
        let claimed = watched.as_ref().zip(subject.written).filter(|_| !found.start.is_empty());
        let text = claimed
            .map_or_else(|| trail.text(), |(watched, written)| with_claim(watched, written, &self.model.system));
        let text = text + &self.provenance(subject).to_string();
        let write =
            |trails: &TrailFiles| trails.write(trails.first(subject.name), &text, self.outputs, self.observer);
        let (violation, last_steps) = tell(interpreter, subject, found);
        let source = violation.place.as_ref().and_then(|place| self.source_line(place));
        let cycle_start = match found.error {
            ErrorKind::Cycle { begins } => Some(begins),
            ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
        };
        let neglected =
            |begins| FairnessHint::by(interpreter, &found.start, &found.steps, begins, self.config.fair);
        Counterexample {
            violation,
            is_probed: outcome.is_probed,
            steps: Walk::from(interpreter, found.start.clone()).wholes(&found.steps).len(),
            cycle_start,
            neglected: cycle_start.and_then(neglected),
            moves: trail.moves.len(),
            trail: kept.or_else(|| self.trails.and_then(write)),
            last_steps,
            source,
        }
    }

    /// The source line of a statement.
    fn source_line(&self, place: &Statement) -> Option<String> {
        // A formula on the command line has no file.
        let file = self.sources.named(&place.file).filter(|file| !load::OPTIONS.contains(&file.name.as_str()))?;
        let line = file.text.lines().nth(place.line.checked_sub(1)? as usize)?;
        Some(line.to_owned())
    }

    /// The provenance in a trail of the property.
    fn provenance(&self, subject: Subject) -> Provenance {
        let property = self.model.properties.iter().find(|property| property.name == subject.name);
        let built_in = || Shown { name: subject.name.to_owned(), ..Shown::default() };
        Provenance {
            slice: self.config.slice,
            checks: self.config.words(),
            property: Some(property.map_or_else(built_in, |property| Shown::of(property, self.asked))),
            ..Provenance::of(self.input.path(), self.fingerprint, &self.config.reading)
        }
    }
}

/// The error, and the steps before it.
fn tell(
    interpreter: &Interpreter,
    subject: Subject,
    found: &entail_search::Counterexample<Step>,
) -> (Violation, Vec<String>) {
    let begins = match found.error {
        ErrorKind::Cycle { begins } => Some(begins),
        ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
    };
    let mut walk = Walk::from(interpreter, found.start.clone());
    if let Some(claim) = subject.claim {
        walk.stations = stations(claim, interpreter, &found.start, &found.steps, begins);
    }
    let last_steps = walk.tell_last(&found.steps, begins);
    let violation = match found.error {
        ErrorKind::Fault(Fault { kind: FaultKind::Refuted, .. }) => {
            Violation::refuted(interpreter, found.steps.last())
        }
        ErrorKind::Fault(fault) => Violation::fault(interpreter, fault, !found.start.is_empty()),
        ErrorKind::InvalidEnd => Violation::end(interpreter, &walk.state),
        ErrorKind::Cycle { begins } => Violation::cycle(interpreter, subject.cycle, &found.steps[begins..]),
    };
    (violation, last_steps)
}

/// A warning about a formula that is valid or unsatisfiable.
fn oddity(name: &str, satisfiability: Satisfiability) -> Option<String> {
    match satisfiability {
        Satisfiability::Tautology => Some(format!("`{name}` is a tautology: it holds for every model")),
        Satisfiability::Unsatisfiable => Some(format!("`{name}` is unsatisfiable: no run satisfies it")),
        Satisfiability::Contingent => None,
    }
}

fn initial_size(interpreter: &Interpreter) -> usize {
    let mut size = 0;
    entail_model::Model::initial_states(interpreter, &mut |state| size = state.len());
    size
}
