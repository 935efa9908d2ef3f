//! `entail check`: does the model satisfy its properties?

use crate::args::{CheckArgs, CheckFormat};
use crate::console::{Console, Failure, Status};
use crate::contradictions;
use crate::evidence::{Argument, Evidence, Teller, dot};
use crate::keep::Keeping;
use crate::load::{self, Reading};
use crate::log::{Log, LogFile};
use crate::output::{self, Content, Outputs};
use crate::plan::{Bound, Done, Goal, LEAST_TIME, Oversight, Plan};
use crate::progress::{Listener, Watch};
use crate::provenance::{Provenance, Shown};
use crate::quantities::Sweep;
use crate::report::{Counterexample, PropertyReport, Report, Searched, Times, Verdict, coverage, json, spin, text};
use crate::run::Walk;
use crate::trail::{Trail, with_claim};
use crate::trail_files::{TrailFiles, default_trail, numbered};
use crate::{interrupt, slice, swarm, sweep};
use entail_check::coverage::{Coverage, Unreached};
use entail_check::machine;
use entail_check::neglect::Neglected;
use entail_check::property::{forbidden, stations};
use entail_check::units::{plural, show_bytes, show_duration, show_share};
use entail_check::violation::{Kind, Violation};
use entail_front::{Asked, Meaning, ModelSource, Property, PropertyKind, SAFETY, Says, Written};
use entail_ir::interpret::Step;
use entail_ir::{Interpreter, System};
use entail_model::{Deadline, Fault, FaultKind, Guarantee};
use entail_search::{End, ErrorKind, Errors, Limit};
use entail_temporal::ctl::Asked as Branching;
use entail_temporal::{self as temporal, Claim, Judgement};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How many steps are tried to make a run of a probe easier to follow, if that was not asked for.
const EFFORT_UNASKED: u64 = entail_search::EFFORT / 10;

pub fn check(args: &CheckArgs, console: &mut Console) -> Result<Status, Failure> {
    if let Some(contradiction) = contradictions::find(args) {
        return Err(Failure::new(contradiction));
    }
    let stop = interrupt::flag();
    let kept = Keeping::asked(args, console)?;
    let (args, keeping) = kept.as_ref().map_or((args, None), |(args, keeping)| (args, Some(keeping)));
    if keeping.is_some() && args.how.runs > 1 {
        return Err(Failure::new("a checkpoint is of one search, but `--runs` asks for several"));
    }
    if keeping.is_some() && args.models.len() > 1 {
        return Err(Failure::new("a checkpoint is of one search, but there are several models"));
    }
    output::try_out(args, &output::of_check(args)).map_err(Failure::new)?;
    let plan = Plan::of(args);
    if let Some(sweep) = args.sweep.as_ref().filter(|sweep| !sweep.is_single()) {
        return sweep::check(args, sweep, &plan, &stop, console);
    }
    let args = &sweep::with_value(args);
    let (mut status, mut reports, log) = (Status::Fine, Vec::new(), LogFile::default());
    for path in &args.models {
        let report = check_one(path, args, &plan, Oversight { stop: &stop, keeping, log: &log }, console);
        status = status.max(report.status());
        match args.format {
            CheckFormat::Text => console.out.write_styled(&text::report(&report, console.colour))?,
            CheckFormat::Spin => console.out.write_all(spin::report(&report).as_bytes())?,
            CheckFormat::Json => reports.push(report),
        }
        console.out.flush()?;
    }
    if args.format == CheckFormat::Json {
        console.out.verbatim().write_all(json::documents(&reports).as_bytes())?;
    }
    Ok(status)
}

pub fn check_one(path: &Path, args: &CheckArgs, plan: &Plan, oversight: Oversight, console: &Console) -> Report {
    let started = Instant::now();
    let asked = match load::asked(&args.what.asked) {
        Ok(asked) => asked,
        Err(error) => {
            console.complain(&format!("error: {error}\n"));
            return Report::new(path, plan.clone(), Vec::new(), vec![error]);
        }
    };
    let wanted = &args.what.properties;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let Reading { model, sources, warnings, errors } = load::read(path, &args.reading, &asked, is_wanted, console);
    let mut report = Report::new(path, plan.clone(), warnings, errors);
    let Some(model) = model else { return report };
    let outputs = output::of_check(args).sparing(&sources.paths);
    if let Err(error) = output::try_out(args, &outputs) {
        report.refuse(error, console);
        return Report { model: Some(model), ..report };
    }
    let selected: Vec<&str> = args.what.properties.iter().map(String::as_str).collect();
    let added: Vec<String> = asked.iter().map(Asked::name).collect();
    match Selection::of(&selected, &added, &model) {
        Err(error) => {
            report.refuse(error, console);
        }
        Ok(selection) => {
            let alone = usize::from(selection.safety) + selection.named.len() == 1;
            let base = args.trail.clone().unwrap_or_else(|| default_trail(path));
            // One for every value of a constant would be too much of a good thing.
            let trails = args.sweep.as_ref().is_none_or(Sweep::is_single).then(|| TrailFiles::new(base, alone));
            if let Some(keeping) = oversight.keeping
                && let Err(error) = keeping.of(&selection.names())
            {
                report.refuse(error, console);
                return Report { model: Some(model), ..report };
            }
            if let Some(Err(problem)) = trails.as_ref().map(|trails| outputs.check(trails.base(), Content::Trail)) {
                console.complain(&format!("warning: a counterexample would be lost: {problem}\n"));
            }
            let job = Job {
                path,
                args,
                plan,
                model: &model,
                fingerprint: model.fingerprint,
                asked: &asked,
                outputs: &outputs,
                trails: trails.as_ref(),
                started,
                read: started.elapsed(),
            };
            if args.how.slice {
                let wanted =
                    selection.safety.then_some(None).into_iter().chain(selection.named.into_iter().map(Some));
                for property in wanted {
                    if let Err(Failure(message)) = job.check_slice(property, oversight, &mut report, console) {
                        report.errors.push(message.unwrap_or_else(|| "the model cannot be sliced".into()));
                    }
                }
            } else {
                if selection.safety {
                    match job.check_safety(oversight, console) {
                        Ok((property, unreached)) => {
                            report.properties.push(property);
                            report.unreached = unreached;
                        }
                        Err(error) => report.refuse(error, console),
                    }
                }
                for property in selection.named {
                    match job.check_property(property, oversight, &mut report.warnings, console) {
                        Ok(checked) => report.properties.push(checked),
                        Err(error) => report.refuse(error, console),
                    }
                }
            }
        }
    }
    report.model = Some(model);
    report.constant =
        args.sweep.as_ref().filter(|sweep| sweep.is_single()).map(|sweep| (sweep.name.clone(), sweep.low));
    if let Some(path) = &args.evidence {
        let searched = report.properties.iter().filter_map(|property| property.searched.as_ref());
        let arguments = searched.filter_map(|searched| searched.argument.as_ref());
        let graphs = arguments.map(dot::graph).collect::<String>();
        if let Err(problem) = outputs.write(path, Content::Graph, graphs.as_bytes()) {
            outputs.failed(problem, console);
        }
    }
    report.unwritten = outputs.failures();
    report
}

/// Which properties are to be checked.
pub struct Selection<'m> {
    pub safety: bool,
    pub named: Vec<&'m Property>,
}

impl<'m> Selection<'m> {
    /// The `selected` properties, or else the default ones; and those that were `added` to them.
    pub fn of(selected: &[&str], added: &[String], model: &'m ModelSource) -> Result<Selection<'m>, String> {
        let known = |name: &&&str| **name == SAFETY || model.properties.iter().any(|known| known.name == **name);
        if let Some(unknown) = selected.iter().find(|name| !known(name)) {
            let known: Vec<_> = model.properties.iter().map(|property| property.name.as_str()).collect();
            let known = [&[SAFETY], &known[..]].concat().join(", ");
            return Err(format!("the model has no property `{unknown}`; it has: {known}"));
        }
        let wanted = |name: &str, by_default| {
            if selected.is_empty() { by_default } else { selected.contains(&name) }
        };
        let is_wanted =
            |property: &&Property| wanted(&property.name, property.by_default) || added.contains(&property.name);
        let named = model.properties.iter().filter(is_wanted).collect();
        Ok(Selection { safety: wanted(SAFETY, true), named })
    }

    pub fn names(&self) -> Vec<&'m str> {
        let named = self.named.iter().map(|property| property.name.as_str());
        self.safety.then_some(SAFETY).into_iter().chain(named).collect()
    }
}

/// One model to be searched.
struct Job<'a> {
    path: &'a Path,
    args: &'a CheckArgs,
    plan: &'a Plan,
    model: &'a ModelSource,
    /// Of the whole model, also if only a slice is searched.
    fingerprint: u64,
    asked: &'a [Asked],
    outputs: &'a Outputs,
    /// Where trails go, if they are written.
    trails: Option<&'a TrailFiles>,
    started: Instant,
    /// How long it took to read the model.
    read: Duration,
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
    written: Option<&'p Written>,
}

impl Job<'_> {
    /// Checks a property, or without one the built-in checks, on what they depend on. Which parts of the model no run
    /// reaches is not known then.
    fn check_slice(
        &self,
        property: Option<&Property>,
        oversight: Oversight,
        report: &mut Report,
        console: &Console,
    ) -> Result<(), Failure> {
        if let Some(unreadable) = property.filter(|property| property.meaning.is_none()) {
            let checked = self.check_property(unreadable, oversight, &mut report.warnings, console);
            report.properties.extend(checked);
            return Ok(());
        }
        let began = Instant::now();
        let model = &slice::cut(self.path, &self.args.reading, self.asked, property, console)?;
        let job = Job { model, read: self.read + began.elapsed(), ..*self };
        let of_slice =
            property.and_then(|property| model.properties.iter().find(|known| known.name == property.name));
        let checked = match of_slice {
            Some(property) => job.check_property(property, oversight, &mut report.warnings, console),
            None => job.check_safety(oversight, console).map(|(checked, _)| checked),
        };
        match checked {
            Ok(checked) => report.properties.push(checked),
            Err(error) => report.refuse(error, console),
        }
        Ok(())
    }

    /// What is known of the built-in checks, and, if all of the model was seen, of which parts no run reaches.
    fn check_safety(
        &self,
        oversight: Oversight,
        console: &Console,
    ) -> Result<(PropertyReport, Option<Vec<Unreached>>), String> {
        let interpreter = Interpreter::new(&self.model.system);
        let (done, coverage) = self.run(&interpreter, SAFETY, Goal::Mistake, oversight, console)?;
        let is_cut = done.outcome.ignored_fault.is_some_and(|fault| fault.kind.is_limit());
        let is_whole = done.outcome.end == End::Complete && done.guarantee == Guarantee::Exact && !is_cut;
        let unreached = is_whole.then(|| coverage.unreached(&self.model.system));
        let subject = Subject { name: SAFETY, kind: SAFETY, cycle: Kind::Cycle, claim: None, written: None };
        Ok((self.report(subject, &interpreter, done, oversight, console), unreached))
    }

    /// What is known of something that the model says about itself.
    fn check_property(
        &self,
        property: &Property,
        oversight: Oversight,
        warnings: &mut Vec<String>,
        console: &Console,
    ) -> Result<PropertyReport, String> {
        let kind = property.kind.name();
        let without_search =
            |verdict| PropertyReport { name: property.name.clone(), kind, verdict, searched: None };
        let inconclusive = |reason: String| Ok(without_search(Verdict::Inconclusive(reason)));
        let Some(Meaning { says, propositions, antecedents }) = &property.meaning else {
            return inconclusive("not checked: it cannot be read".into());
        };
        if let Says::Watched(monitor) = says {
            let system = System { monitor: Some(monitor.clone()), ..self.model.in_motion() };
            return self.check_goal(property, system, Goal::Objection, oversight, console);
        }
        if let Says::Branching(formula) = says {
            let Some(asked) = Branching::of(formula, self.plan.fairness) else {
                return inconclusive("the formula has too many temporal operators".into());
            };
            let system = System { propositions: propositions.clone(), ..self.model.in_motion() };
            return self.check_goal(property, system, Goal::Asked(formula, &asked), oversight, console);
        }
        if !self.plan.fairness.is_for_linear_time() {
            let fair = self.plan.fairness.name();
            return Err(format!(
                "`{}`: `--fair {fair}` is for formulas of branching time only; use `--fair strong`",
                property.name
            ));
        }
        let began = Instant::now();
        let limits = temporal::Limits { deadline: self.deadline(self.read, oversight), ..Default::default() };
        let excess = |limit| match limit {
            temporal::Limit::Time => self.no_time(oversight, "to build the automaton of the formula"),
            limit => format!("the formula is too large: {limit}"),
        };
        let (claim, judgement) = match forbidden(says, limits) {
            Ok(Some(forbidden)) => forbidden,
            Ok(None) => return inconclusive(format!("checking {kind} properties is not available yet")),
            Err(limit) => return inconclusive(excess(limit)),
        };
        if let Some(warning) = oddity(&property.name, judgement) {
            console.complain(&format!("warning: {warning}\n"));
            warnings.push(warning);
        }
        if judgement == Judgement::Tautology {
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
        let system = System { propositions, ..self.model.in_motion() };
        let interpreter = Interpreter::new(&system);
        let (done, _) = job.run(&interpreter, &property.name, Goal::Claimed(&claim), oversight, console)?;
        if self.verdict(&interpreter, &done) == Verdict::Holds {
            for &number in antecedents.iter().filter(|number| done.ever >> **number & 1 == 0) {
                let condition = &system.statement(system.propositions[number].1).text;
                let warning = format!("`{}` holds vacuously: `{condition}` is never true", property.name);
                console.complain(&format!("warning: {warning}\n"));
                warnings.push(warning);
            }
        }
        let cycle = if property.kind == PropertyKind::Progress { Kind::NonProgress } else { Kind::Cycle };
        let written = match says {
            Says::Never(_, written) => written.as_ref(),
            Says::Always(..) | Says::Branching(_) | Says::Watched(_) => None,
        };
        let subject = Subject { name: &property.name, kind, cycle, claim: Some(&claim), written };
        Ok(self.report(subject, &interpreter, done, oversight, console))
    }

    /// What is known of something that is looked for without a claim.
    fn check_goal(
        &self,
        property: &Property,
        system: System,
        goal: Goal,
        oversight: Oversight,
        console: &Console,
    ) -> Result<PropertyReport, String> {
        let interpreter = Interpreter::new(&system);
        let (done, _) = self.run(&interpreter, &property.name, goal, oversight, console)?;
        let (name, kind) = (&property.name, property.kind.name());
        let subject = Subject { name, kind, cycle: Kind::Cycle, claim: None, written: None };
        Ok(self.report(subject, &interpreter, done, oversight, console))
    }

    /// Searches for what breaks a property. Says also which parts of the model the search has been to.
    fn run(
        &self,
        interpreter: &Interpreter,
        property: &str,
        goal: Goal,
        oversight: Oversight,
        console: &Console,
    ) -> Result<(Done, Coverage), String> {
        // Depth is counted as the language's own tools do.
        let first = self.model.language.first_depth();
        let depth = self.plan.depth.map(|depth| depth.saturating_sub(first));
        let time = self.plan.time.map(|time| time.saturating_sub(self.read));
        let plan = Plan { depth, time, ..self.plan.clone() };
        let file = oversight.log.open(&self.args.log, self.outputs);
        let mut log = Log::of(&self.args.log, file, interpreter, &self.path.display().to_string(), property);
        let listener = log.as_mut().map(|log| log as &mut (dyn Listener + Send));
        // Lines of a log would be written over.
        let shows = console.progress && (listener.is_none() || self.args.log.log_file.is_some());
        let mut watch = Watch::new(Coverage::new(interpreter.system()), shows).heard_by(listener);
        // Whoever wants to see every error wants to see those behind one that is there from the beginning.
        let goes_on = matches!(goal, Goal::Mistake) && plan.checks.errors == Errors::All && plan.checks.assertions;
        let broken = interpreter.broken_start().filter(|_| goes_on);
        let system = System { forgives_start: broken.is_some(), ..interpreter.system().clone() };
        let interpreter = &Interpreter::new(&system);
        let done = if plan.runs > 1 && plan.is_lossy(goal) {
            Ok(swarm::run(&plan, interpreter, goal, oversight.stop, &mut watch))
        } else {
            plan.run(interpreter, goal, oversight, &mut watch)
        };
        let coverage = watch.finish();
        if let Some(Err(problem)) = log.map(Log::finish) {
            self.outputs.failed(problem, console);
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

    fn report(
        &self,
        subject: Subject,
        interpreter: &Interpreter,
        done: Done,
        oversight: Oversight,
        console: &Console,
    ) -> PropertyReport {
        let (outcome, keeping) = (&done.outcome, oversight.keeping);
        // What others did before.
        let before = keeping.map_or(Duration::ZERO, Keeping::before);
        let may_go_on = matches!(outcome.end, End::Limit(Limit::Time | Limit::Memory | Limit::Interrupted));
        let checkpoint = keeping.filter(|_| may_go_on).and_then(Keeping::file).map(Path::to_owned);
        let verdict = self.verdict(interpreter, &done);
        // What all runs do, no run shows.
        let is_telling = |evidence: &&Evidence<Step>| !evidence.holds || evidence.first_run().is_some();
        let evidence = done.evidence.as_ref().filter(is_telling);
        let argument = evidence.map(|evidence| self.argument(subject, interpreter, evidence, console));
        let counterexample = outcome.counterexample.as_ref().map(|found| {
            let kept = argument.as_ref().and_then(|argument| argument.runs().first()?.trail.clone());
            let effort = match self.args.minimise {
                true => entail_search::EFFORT,
                false if outcome.is_probed => EFFORT_UNASKED,
                false => 0,
            };
            // What a claim has seen of the run would not be the same in another order.
            let minimised = (effort > 0 && subject.claim.is_none() && kept.is_none()).then(|| {
                let deadline = self.deadline(self.read + done.compile + done.search, oversight);
                entail_search::minimised(interpreter, found, effort, deadline)
            });
            let found = minimised.as_ref().unwrap_or(found);
            self.counterexample(subject, interpreter, found, &done, kept, console)
        });
        let cut_short = match outcome.end {
            End::Limit(limit) => Some(self.limit_reached(limit, &done)),
            End::Complete | End::Error => None,
        };
        let searched = Searched {
            errors: outcome.errors,
            cut_short,
            counterexample,
            argument,
            stats: outcome.stats,
            end: outcome.end,
            bytes: outcome.bytes,
            store: done.store,
            rungs: done.rungs,
            guarantee: done.guarantee,
            backend: done.backend,
            fallback: done.fallback,
            times: Times {
                read: self.read,
                compile: done.compile,
                search: before + done.search,
                total: before + self.started.elapsed(),
            },
            peak_bytes: machine::peak_memory(),
            state_bytes: initial_size(interpreter),
            state_bits: done.state_bits,
            algorithm: done.algorithm,
            fairness: done.fairness,
            reduction: done.reduction,
            swarm: done.swarm,
            unread: done.unread,
            checkpoint,
        };
        if let Some(trails) = self.trails.filter(|_| verdict == Verdict::Holds) {
            trails.remove_stale(&self.provenance(subject), console);
        }
        PropertyReport { name: subject.name.to_owned(), kind: subject.kind, verdict, searched: Some(searched) }
    }

    fn verdict(&self, interpreter: &Interpreter, done: &Done) -> Verdict {
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
    fn nothing_found(&self, done: &Done) -> String {
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
            let (limit, of) = (self.limit_reached(limit, done), self.plan.runs);
            format!("; {limit}, after {runs} of {of} runs were begun")
        });
        seen + &cut.unwrap_or_default()
    }

    /// When the work on a property is to end of which so much is done.
    fn deadline<'o>(&self, spent: Duration, oversight: Oversight<'o>) -> Deadline<'o> {
        let time = self.plan.time.map(|time| time.saturating_sub(spent).max(LEAST_TIME));
        Deadline::after(time, oversight.stop)
    }

    /// Why something was not done before a search.
    fn no_time(&self, oversight: Oversight, what: &str) -> String {
        if oversight.stop.load(Ordering::Relaxed) {
            return "interrupted".into();
        }
        let limit = show_duration(self.plan.time.unwrap_or_default());
        format!("reached the time limit of {limit}: there was not enough {what}")
    }

    fn limit_reached(&self, limit: Limit, done: &Done) -> String {
        match limit {
            Limit::Depth => format!("reached the depth limit of {}", self.plan.depth.unwrap_or(0)),
            Limit::Time => {
                format!("reached the time limit of {}", show_duration(self.plan.time.unwrap_or_default()))
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
    fn argument(
        &self,
        subject: Subject,
        interpreter: &Interpreter,
        evidence: &Evidence<Step>,
        console: &Console,
    ) -> Argument {
        let mut start = Vec::new();
        entail_model::Model::initial_states(interpreter, &mut |state| start = state.to_vec());
        let (mut kept, provenance) = (0, self.provenance(subject));
        let first = self.trails.map(|trails| (trails, trails.first(subject.name)));
        let keep = |run: &entail_search::Counterexample<Step>| {
            kept += 1;
            let (trails, first) = first.as_ref()?;
            let trail = Trail { provenance: Some(provenance.clone()), ..Trail::of(run, &self.model.system) };
            trails.write(numbered(first, kept), &trail.text(), self.outputs, console)
        };
        let (fairness, draws) = (self.plan.fairness, self.args.evidence.is_some());
        Teller { interpreter, fairness, start: &start, keep, draws, runs: 0 }.tell(evidence, &[])
    }

    /// Puts `found` into words, and writes its trail unless that was `kept` already.
    fn counterexample(
        &self,
        subject: Subject,
        interpreter: &Interpreter,
        found: &entail_search::Counterexample<Step>,
        Done { outcome, watched, .. }: &Done,
        kept: Option<PathBuf>,
        console: &Console,
    ) -> Counterexample {
        let trail = Trail::of(found, &self.model.system);
        // A model that could not even start has no claim that could move.
        let claimed = watched.as_ref().zip(subject.written).filter(|_| !found.start.is_empty());
        let text = claimed
            .map_or_else(|| trail.text(), |(watched, written)| with_claim(watched, written, &self.model.system));
        let text = text + &self.provenance(subject).to_string();
        let write = |trails: &TrailFiles| trails.write(trails.first(subject.name), &text, self.outputs, console);
        let (violation, last_steps) = tell(interpreter, subject, found);
        let cycle_start = match found.error {
            ErrorKind::Cycle { begins } => Some(begins),
            ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
        };
        let neglected = |begins| Neglected::by(interpreter, &found.start, &found.steps, begins, self.plan.fairness);
        Counterexample {
            violation,
            is_probed: outcome.is_probed,
            steps: Walk::from(interpreter, found.start.clone()).wholes(&found.steps).len(),
            cycle_start,
            neglected: cycle_start.and_then(neglected),
            moves: trail.moves.len(),
            trail: kept.or_else(|| self.trails.and_then(write)),
            last_steps,
        }
    }

    /// What a trail of a property says about where it comes from.
    fn provenance(&self, subject: Subject) -> Provenance {
        let property = self.model.properties.iter().find(|property| property.name == subject.name);
        let built_in = || Shown { name: subject.name.to_owned(), ..Shown::default() };
        Provenance {
            slice: self.args.how.slice,
            checks: self.args.what.words(),
            property: Some(property.map_or_else(built_in, |property| Shown::of(property, self.asked))),
            ..Provenance::of(self.path, self.fingerprint, &self.args.reading)
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
fn oddity(name: &str, judgement: Judgement) -> Option<String> {
    match judgement {
        Judgement::Tautology => Some(format!("`{name}` holds whatever a model does: it is a tautology")),
        Judgement::Unsatisfiable => Some(format!("`{name}` contradicts itself: no run satisfies it")),
        Judgement::Contingent => None,
    }
}

fn initial_size(interpreter: &Interpreter) -> usize {
    let mut size = 0;
    entail_model::Model::initial_states(interpreter, &mut |state| size = state.len());
    size
}
