//! A model, property by property.

use crate::checker::Selection;
use crate::config::Config;
use crate::coverage::{Coverage, ProcessCoverage};
use crate::evidence::{Argument, Evidence, Teller};
use crate::fairness_hint::FairnessHint;
use crate::keep::CheckpointWriter;
use crate::load::{self, Input};
use crate::log::Log;
use crate::machine;
use crate::observer::Observer;
use crate::output::Outputs;
use crate::plan::{Bound, Goal, LEAST_TIME, Oversight, Plan};
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
use entail_front::source::Sources;
use entail_front::{Asked, Meaning, ModelSource, Property, PropertyKind, SAFETY, Specification, SpinClaim};
use entail_ir::interpret::Step;
use entail_ir::{Interpreter, Statement, System};
use entail_model::{Deadline, Fault, FaultKind, Guarantee};
use entail_search::{End, ErrorKind, Errors, Limit};
use entail_temporal::ctl::Asked as Branching;
use entail_temporal::{self as temporal, Claim, Satisfiability};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How many steps are tried to make a run of a probe easier to follow, if that was not asked for.
const EFFORT_UNASKED: u64 = entail_search::EFFORT / 10;

/// One model to be searched.
pub struct Job<'a> {
    pub input: &'a Input,
    pub config: &'a Config,
    pub plan: &'a Plan,
    pub model: &'a ModelSource,
    pub sources: &'a Sources,
    /// Of the whole model, also if only a slice is searched.
    pub fingerprint: u64,
    pub asked: &'a [Asked],
    pub outputs: &'a Outputs,
    /// Where trails go, if they are written.
    pub trails: Option<&'a TrailFiles>,
    pub observer: &'a dyn Observer,
    pub oversight: Oversight<'a>,
    pub started: Instant,
    /// How long it took to read the model.
    pub read: Duration,
}

/// What is checked.
#[derive(Clone, Copy)]
struct Subject<'p> {
    name: &'p str,
    kind: &'static str,
    /// What a run is that goes on for ever and should not.
    cycle: Kind,
    /// The runs that must not be.
    claim: Option<&'p Claim>,
    /// How SPIN knows that claim.
    written: Option<&'p SpinClaim>,
}

impl Job<'_> {
    /// Checks all that is selected.
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

    /// Checks a property, or without one the built-in checks, on what they depend on. Which parts of the model no run
    /// reaches is not known then. Nothing comes of a model that cannot be sliced.
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
            // The observer has been told why.
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

    /// What is known of the built-in checks, and, if all of the model was seen, of which parts no run reaches.
    fn check_safety(&self) -> Result<(PropertyReport, Option<Vec<ProcessCoverage>>), String> {
        let interpreter = Interpreter::new(&self.model.system);
        let (done, coverage) = self.run(&interpreter, SAFETY, Goal::Safety)?;
        let is_cut = done.outcome.ignored_fault.is_some_and(|fault| fault.kind.is_limit());
        let is_whole = done.outcome.end == End::Complete && done.guarantee == Guarantee::Exact && !is_cut;
        let unreached = is_whole.then(|| coverage.by_process(&self.model.system));
        let subject = Subject { name: SAFETY, kind: SAFETY, cycle: Kind::Cycle, claim: None, written: None };
        Ok((self.report(subject, &interpreter, done), unreached))
    }

    /// What is known of something that the model says about itself.
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
            let Some(asked) = Branching::of(formula, self.config.fair) else {
                return inconclusive("the formula has too many temporal operators".into());
            };
            let system = System { propositions: propositions.clone(), ..self.model.without_retries() };
            return self.check_goal(property, system, Goal::Ctl(formula, &asked));
        }
        if !self.config.fair.is_for_linear_time() {
            let fair = self.config.fair.name();
            return Err(format!(
                "`{}`: `--fair {fair}` is for formulas of branching time only; use `--fair strong`",
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
            for &number in antecedents.iter().filter(|number| done.ever >> **number & 1 == 0) {
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

    /// What is known of something that is looked for without a claim.
    fn check_goal(&self, property: &Property, system: System, goal: Goal) -> Result<PropertyReport, String> {
        let interpreter = Interpreter::new(&system);
        let (done, _) = self.run(&interpreter, &property.name, goal)?;
        let (name, kind) = (&property.name, property.kind.name());
        let subject = Subject { name, kind, cycle: Kind::Cycle, claim: None, written: None };
        Ok(self.report(subject, &interpreter, done))
    }

    /// Searches for what breaks a property. Specification also which parts of the model the search has been to.
    fn run(&self, interpreter: &Interpreter, property: &str, goal: Goal) -> Result<(Searched, Coverage), String> {
        // Depth is counted as the language's own tools do.
        let first = self.model.language.first_depth();
        let depth = self.config.depth.map(|depth| depth.saturating_sub(first));
        let time = self.config.time.map(|time| time.saturating_sub(self.read));
        let plan = Plan { config: Config { depth, time, ..self.config.clone() }, ..self.plan.clone() };
        let (oversight, observer) = (self.oversight, self.observer);
        let file = oversight.log.open(self.config, self.outputs);
        let model = self.input.path().display().to_string();
        let mut log = Log::of(self.config, file, interpreter, &model, property, observer);
        let listener = log.as_mut().map(|log| log as &mut (dyn Listener + Send));
        let mut watch = Watch::new(Coverage::new(interpreter.system()), observer).heard_by(listener);
        // Whoever wants to see every error wants to see those behind one that is there from the beginning.
        let goes_on = matches!(goal, Goal::Safety) && plan.checks.errors == Errors::All && plan.checks.assertions;
        let broken = interpreter.broken_start().filter(|_| goes_on);
        let system = System { forgives_start: broken.is_some(), ..interpreter.system().clone() };
        let interpreter = &Interpreter::new(&system);
        observer.search_begins();
        let done = if plan.config.runs > 1 && plan.is_lossy(goal) {
            Ok(swarm::run(&plan, interpreter, goal, oversight.stop, &mut watch))
        } else {
            plan.run(interpreter, goal, oversight, &mut watch)
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
        let (outcome, keeping) = (&done.outcome, self.oversight.keeping);
        // What others did before.
        let before = keeping.map_or(Duration::ZERO, CheckpointWriter::before);
        let may_go_on = matches!(outcome.end, End::Limit(Limit::Time | Limit::Memory | Limit::Interrupted));
        let checkpoint = keeping.filter(|_| may_go_on).and_then(CheckpointWriter::file).map(Path::to_owned);
        let verdict = self.verdict(interpreter, &done);
        // What all runs do, no run shows.
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
            // What a claim has seen of the run would not be the same in another order.
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
        if let Some(most) = done.crowded {
            let reason = format!("there are more than {most} processes, too many to see whether runs are fair");
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

    /// Why nothing is known where a run ends in a fault: what comes after it has no meaning.
    fn undecided_by(&self, interpreter: &Interpreter, fault: Fault) -> String {
        let Violation { message, place, .. } = Violation::fault(interpreter, fault, initial_size(interpreter) > 0);
        let place = place.map_or_else(String::new, |place| format!(" at {}:{}", place.file, place.line));
        if fault.kind.is_limit() {
            return format!("a run goes beyond a limit of the tool{place}: {message}");
        }
        let advice = if self.plan.checks.assertions {
            "check `safety`, which shows the run"
        } else {
            "check `safety` without `--no-assert`, which shows the run"
        };
        format!("a run ends in a fault{place}: {message}; such a run decides nothing: {advice}")
    }

    /// How much was seen, where states may have been lost.
    fn nothing_found(&self, done: &Searched) -> String {
        let stats = &done.outcome.stats;
        let share = done.swarm.as_ref().map_or_else(|| coverage(stats, &done.guarantee), |swarm| swarm.coverage);
        let seen = match share {
            Some(share) => format!("no error found in an estimated {} of the states", show_share(share)),
            None => {
                let stored = plural(stats.stored, "state");
                format!("no error found in {stored}; so many were taken for others that their share is not known")
            }
        };
        let cut = done.swarm.as_ref().and_then(|swarm| Some((swarm.cut?, swarm.runs.len())));
        let cut = cut.map(|(limit, runs)| {
            let (limit, of) = (self.limit_reached(limit, done), self.config.runs);
            format!("; {limit}, after {runs} of {of} runs were begun")
        });
        seen + &cut.unwrap_or_default()
    }

    /// When the work on a property is to end of which so much is done.
    fn deadline(&self, spent: Duration) -> Deadline<'_> {
        let time = self.config.time.map(|time| time.saturating_sub(spent).max(LEAST_TIME));
        Deadline::after(time, self.oversight.stop)
    }

    /// Why something was not done before a search.
    fn no_time(&self, what: &str) -> String {
        if self.oversight.stop.load(Ordering::Relaxed) {
            return "interrupted".into();
        }
        let limit = show_duration(self.config.time.unwrap_or_default());
        format!("reached the time limit of {limit}: there was not enough {what}")
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
                    Bound::States(_) => ", most of what was free",
                };
                let no_files = done.no_files.as_ref().map(|reason| format!("; no room in {reason}"));
                limit + why + &no_files.unwrap_or_default()
            }
            Limit::Interrupted => "interrupted".into(),
        }
    }

    /// Puts the reasons for a verdict into words, and writes the trails of all their runs.
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
        Teller { interpreter, fairness, start: &start, keep, draws, runs: 0 }.tell(evidence, &[])
    }

    /// Puts `found` into words, and writes its trail unless that was `kept` already.
    fn counterexample(
        &self,
        subject: Subject,
        interpreter: &Interpreter,
        found: &entail_search::Counterexample<Step>,
        Searched { outcome, watched, .. }: &Searched,
        kept: Option<PathBuf>,
    ) -> Counterexample {
        let trail = Trail::of(found, &self.model.system);
        // A model that could not even start has no claim that could move.
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

    /// The line of the source that a statement is in.
    fn source_line(&self, place: &Statement) -> Option<String> {
        // A formula on the command line stands in no file.
        let file = self.sources.named(&place.file).filter(|file| !load::OPTIONS.contains(&file.name.as_str()))?;
        let line = file.text.lines().nth(place.line.checked_sub(1)? as usize)?;
        Some(line.to_owned())
    }

    /// What a trail of a property says about where it comes from.
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

/// What went wrong, and the steps before it.
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

/// What is strange about a formula.
fn oddity(name: &str, satisfiability: Satisfiability) -> Option<String> {
    match satisfiability {
        Satisfiability::Tautology => Some(format!("`{name}` holds whatever a model does: it is a tautology")),
        Satisfiability::Unsatisfiable => Some(format!("`{name}` contradicts itself: no run satisfies it")),
        Satisfiability::Contingent => None,
    }
}

fn initial_size(interpreter: &Interpreter) -> usize {
    let mut size = 0;
    entail_model::Model::initial_states(interpreter, &mut |state| size = state.len());
    size
}
