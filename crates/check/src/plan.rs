//! Turns options into a search: the only module that combines models, searches and stores.

mod bound;
mod ctl;
mod kind;
mod product;
mod result;
mod store;

pub use bound::Bound;
pub use product::Watched;

use crate::config::{Backend, Cache, Config, Pass, Reduction, Search, Store};
use crate::coverage::Coverage;
use crate::keep::{AFRESH, Before, CheckpointWriter};
use crate::log::LogFile;
use crate::machine;
use crate::progress::{Listener, Watch};
use crate::report::Searched;
use ctl::answer_of;
use entail_disk::{Reader, Restore, Scratch, Snapshot, Writer};
use entail_engine::{AnyEngine, Jit, Packed, Stubborn, Tuning, best_reduction};
use entail_ir::Interpreter;
use entail_ir::passes::{Optimised, optimised_until};
use entail_ir::stubborn::{Proviso, is_too_large};
use entail_model::{Deadline, Model, Observer, Part, Reduced, State};
use entail_search::{Checkpointer, Checks, End, Limit, Limits, Outcome, Phases, Start, Threads, available_cores};
use entail_store::{AnyStore, StoreOptions};
use entail_temporal::ctl::{Asked, Ctl};
use entail_temporal::product::Product;
use entail_temporal::{self as temporal, Claim, Fairness};
use kind::SearchKind;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::StoreOutcome;

/// Searches the unoptimised model up to the first error, and reports every event.
pub fn trace_search(interpreter: &Interpreter, search: Search, listener: &mut (dyn Listener + Send)) {
    let mut watch = Watch::silent(Coverage::new(interpreter.system())).heard_by(Some(listener));
    let mut plan = Plan::default();
    plan.config.search = Some(search);
    plan.run_unkept(interpreter, Goal::Safety, &AtomicBool::new(false), &mut watch);
}

/// The minimum time for preparing a search, even if the limit is lower.
pub const LEAST_TIME: Duration = Duration::from_millis(500);

/// The plan of a search: the options, and the settings derived from them.
#[derive(Clone, Debug)]
pub struct Plan {
    pub config: Config,
    /// Which errors count.
    pub checks: Checks,
    /// The memory limit; by default most of the free memory.
    pub memory: Option<Bound>,
    /// The number of searches that share the memory.
    pub share: u64,
    /// The number of states at one depth that are worth several threads.
    pub worthwhile: u64,
}

/// The kind of violation to search for.
#[derive(Clone, Copy)]
pub enum Goal<'a> {
    /// A fault, a failed assertion or an invalid end state.
    Safety,
    /// An event that violates the `trace` or `notrace` of the model.
    Trace,
    /// A run that the claim accepts.
    Claim(&'a Claim),
    /// A CTL formula that is false in the initial state.
    Ctl(&'a Ctl, &'a Asked),
}

impl Goal<'_> {
    /// The checks that apply, among those requested.
    fn checks(self, requested: &Checks) -> Checks {
        match self {
            Goal::Trace => Checks { faults: false, assertions: false, ..*requested },
            Goal::Safety | Goal::Claim(_) | Goal::Ctl(..) => *requested,
        }
    }

    /// The fairness assumption that applies, if this one is requested.
    fn fairness(self, requested: Fairness) -> Fairness {
        match self {
            Goal::Safety | Goal::Trace => Fairness::None,
            Goal::Claim(_) | Goal::Ctl(..) => requested,
        }
    }
}

/// Why partial-order reduction was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreduced {
    /// No reduction was requested.
    NotRequested,
    /// Fairness depends on which processes move.
    Fairness,
    /// The property may not be stutter-invariant.
    NotStutterInvariant,
    /// Reduction does not preserve CTL formulas.
    Ctl,
    /// The reduction would be too small.
    NoGain,
    /// Atomic sequences are too long for an analysis of independence.
    TooLarge,
}

impl Unreduced {
    /// The reason for the report; `None` if reduction was not to be expected.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Unreduced::NotRequested | Unreduced::NoGain => None,
            Unreduced::TooLarge => Some("atomic sequences are too long for an analysis of independence"),
            Unreduced::Fairness => Some("fairness depends on which processes move"),
            Unreduced::NotStutterInvariant => Some("the property may not be stutter-invariant"),
            Unreduced::Ctl => Some("it need not preserve CTL formulas"),
        }
    }
}

/// The interrupt flag, checkpoints and log of a search.
#[derive(Clone, Copy)]
pub struct SearchControl<'a> {
    /// Interrupts the search if set.
    pub stop: &'a AtomicBool,
    /// The writer of checkpoints.
    pub keeping: Option<&'a CheckpointWriter<'a>>,
    /// The log file.
    pub log: &'a LogFile,
}

/// A search task.
#[derive(Clone, Copy)]
struct Task<'a> {
    kind: &'a SearchKind<'a>,
    store: Store,
    /// Whether the store may degrade to lossy levels when memory runs out.
    may_lose: bool,
    checks: &'a Checks,
    limits: &'a Limits<'a>,
}

impl Plan {
    pub fn of(config: &Config) -> Plan {
        let checks = Checks {
            faults: true,
            assertions: !config.no_assert,
            end_states: !config.no_end,
            errors: config.errors(),
        };
        Plan {
            config: config.clone(),
            checks,
            memory: config.memory.map(Bound::Process),
            share: 1,
            worthwhile: Threads::default().worthwhile,
        }
    }

    /// The claim in the form that the search needs.
    pub fn prepared(&self, claim: Claim, limits: temporal::Limits) -> Result<Claim, temporal::Limit> {
        if self.config.search().is_generalised() { Ok(claim) } else { claim.degeneralised(limits) }
    }

    /// Runs the search. An error is the reason why it cannot be saved or resumed.
    pub fn run(
        &self,
        interpreter: &Interpreter,
        goal: Goal,
        control: SearchControl,
        watch: &mut Watch,
    ) -> Result<Searched, String> {
        let began = Instant::now();
        let deadline = Deadline::after(self.config.time.map(|time| time.max(LEAST_TIME)), control.stop);
        let optimised = optimised_until(interpreter.system(), self.passes_for(goal), deadline);
        let Some(Optimised { system, unread }) = optimised else {
            return Ok(self.unsearched(goal, began, control.stop));
        };
        let optimised = &Interpreter::new(&system).until(deadline);
        let (engine, fallback) = match self.config.backend {
            Backend::Jit => match Jit::compile(optimised, Tuning::default()) {
                Ok(jit) => (AnyEngine::Jit(jit), None),
                Err(reason) => (AnyEngine::Interpreter(optimised), Some(reason.to_string())),
            },
            Backend::Interpret => (AnyEngine::Interpreter(optimised), None),
        };
        let mut done = self.search(optimised, engine, goal, began, control, watch)?;
        done.unread = unread;
        if fallback.is_some() {
            (done.backend, done.fallback) = (Backend::Interpret, fallback);
        }
        // Counterexamples are reported and replayed on the original model.
        if let Some(found) = &mut done.outcome.counterexample {
            interpreter.initial_states(&mut |state| found.start = state.to_vec());
        }
        Ok(done)
    }

    /// The same without checkpoints.
    pub fn run_unkept(
        &self,
        interpreter: &Interpreter,
        goal: Goal,
        stop: &AtomicBool,
        watch: &mut Watch,
    ) -> Searched {
        let done =
            self.run(interpreter, goal, SearchControl { stop, keeping: None, log: &LogFile::default() }, watch);
        done.expect("only what was kept can be wrong")
    }

    /// The threads of a search; searches that cannot use several use one.
    fn threads(&self) -> Threads {
        let count = self.config.threads.map_or_else(available_cores, |threads| threads as usize);
        Threads { count, worthwhile: self.worthwhile, timing: self.config.phases, ..Threads::default() }
    }

    /// The number of searches that a swarm runs at a time. They share the memory, so their number decides what they find.
    pub fn concurrent_runs(&self) -> usize {
        self.config.threads.map_or(1, |threads| threads as usize)
    }

    fn search(
        &self,
        interpreter: &Interpreter,
        engine: AnyEngine,
        goal: Goal,
        began: Instant,
        SearchControl { stop, keeping, .. }: SearchControl,
        watch: &mut Watch,
    ) -> Result<Searched, String> {
        let kind = self.search_kind(goal);
        let claim = kind.claim();
        let mut saved = match keeping {
            Some(keeping) => keeping.begin(&kind.identity(interpreter)?)?,
            None => None,
        };
        let bits = |claim| Product::<Interpreter>::bits_of_automaton(interpreter, claim);
        let room = claim.as_ref().map_or(0, bits);
        let mut model = Packed::with_room(interpreter, engine, room);
        let compile = began.elapsed();
        if interpreter.deadline().is_over() {
            return Ok(self.unsearched(goal, began, stop));
        }
        let checks = goal.checks(&self.checks);
        let (store, may_lose) = (self.store_for(goal, &kind), kind.may_lose(goal));
        let scratch = self.scratch();
        let mut decided = None;
        if let Some(from) = &mut saved {
            from.limit(self.memory_now().for_states());
            decided = Some(Option::<bool>::load(from).map_err(cannot_resume)?);
            model = model.restored(from).map_err(cannot_resume)?;
        }
        // A search that begins again with a better representation takes the time of both.
        let mut phases = None;
        let (explored, reduction, memory) = loop {
            let mut sets = match (self.rule(&kind), decided.take()) {
                (Ok(rule), None) => best_reduction(&model, rule, self.provisos(&kind), self.reduction_mode()),
                (Ok(rule), Some(decided)) => decided.and_then(|by_search| {
                    let proviso = if by_search { Proviso::Search } else { Proviso::Automata };
                    Stubborn::new(&model, rule, proviso)
                }),
                (Err(_), _) => None,
            };
            if let (Some(sets), Some(from)) = (&mut sets, &mut saved) {
                sets.restore(from).map_err(cannot_resume)?;
            }
            let keep = |to: &mut Writer| {
                sets.as_ref().map(|sets| sets.proviso() == Proviso::Search).save(to)?;
                model.save(to)?;
                sets.iter().try_for_each(|sets| sets.save(to))
            };
            let before = keeping.map(|keeping| Before { part: &keep, keeper: keeping });
            // Measured only here, as the model and its code do not count as states.
            let memory = self.memory_now();
            let limits = Limits {
                depth: self.config.depth,
                time: self.config.time.map(|time| time.saturating_sub(began.elapsed())),
                threads: self.threads(),
                memory: Some(memory.for_states()),
                scratch: Some(&scratch),
                stop: Some(stop),
                keeper: before.as_ref().map(|before| before as &dyn Checkpointer),
            };
            let task = Task { kind: &kind, store, may_lose, checks: &checks, limits: &limits };
            let bits = model.bits();
            let reduced = Reduced { model: &model, reduction: sets.as_ref() };
            let explored = match &claim {
                Some(claim) => self.search_product(&reduced, claim, bits, task, watch, saved.take()),
                None => self
                    .explore(&reduced, bits, task, watch, saved.take())
                    .map(|(outcome, stored)| self.searched(outcome, stored, &kind)),
            };
            let mut explored = explored.map_err(cannot_resume)?;
            phases = Phases::sum(phases, explored.outcome.phases.take());
            let reduction = match &sets {
                Some(_) => Ok(self.config.reduction()),
                None => Err(self.rule(&kind).err().unwrap_or_else(|| {
                    if is_too_large(model.system()) { Unreduced::TooLarge } else { Unreduced::NoGain }
                })),
            };
            let interrupted = explored.outcome.end == End::Limit(Limit::Interrupted);
            if !interrupted || !model.is_outgrown() || stop.load(Ordering::Relaxed) {
                break (explored, reduction, memory);
            }
            model = model.adapted();
        };
        let mut done = explored;
        done.outcome.phases = phases;
        (done.compile, done.search) = (compile, began.elapsed() - compile);
        if done.process_limit.is_some() {
            // The counterexample may be unfair.
            (done.outcome.errors, done.outcome.counterexample) = (0, None);
            done.evidence = None;
        }
        if let (Goal::Ctl(formula, _), SearchKind::SafetyClaim(_)) = (goal, &kind) {
            (done.outcome, done.evidence) = answer_of(formula, done.outcome);
        }
        done.store = done.levels.last().map_or(store, |level| level.kind.store());
        done.no_files = scratch.failure().map(|words| format!("{}: {words}", scratch.directory().display()));
        (done.memory, done.reduction, done.state_bits) = (memory, reduction, model.bits());
        done.fairness = goal.fairness(self.config.fair);
        Ok(done)
    }

    /// Searches for a safety violation. States have this many bits.
    fn explore<M: Model>(
        &self,
        model: &M,
        bits: u32,
        task: Task,
        watch: &mut impl Observer<M::Step>,
        mut saved: Option<Reader>,
    ) -> io::Result<(Outcome<M::Step>, StoreOutcome)> {
        let began = Instant::now();
        let (order, checks, seed) = (self.config.search(), task.checks, self.config.seed);
        let (mut limits, mut options) = (*task.limits, self.store_options(bits, task));
        loop {
            let cut = |state: &State, parts: &mut Vec<Part>| model.parts(state, parts);
            let start = Start { seed, saved: saved.take() };
            let (outcome, stored) = match task.store.make(options, cut) {
                AnyStore::Words(mut store) => {
                    let outcome = order.explore(model, &mut *store, checks, &limits, watch, start)?;
                    (outcome, StoreOutcome::of(&*store))
                }
                AnyStore::Pairs(mut store) => {
                    let outcome = order.explore(model, &mut *store, checks, &limits, watch, start)?;
                    (outcome, StoreOutcome::of(&*store))
                }
            };
            if outcome.end != End::Limit(Limit::Memory) || !stored.is_overfull {
                return Ok((outcome, stored));
            }
            // Repeats the search with fewer bits per state, which is better for a full array.
            limits.time = task.limits.time.map(|time| time.saturating_sub(began.elapsed()));
            options = StoreOptions { hash_bits: task.store.hash_bits(), ..self.store_options(bits, task) };
        }
    }

    /// The directory for temporary files.
    fn scratch(&self) -> Scratch {
        Scratch::new(self.config.scratch.clone().unwrap_or_else(Scratch::usual_directory))
    }

    /// The memory that is available now.
    fn memory_now(&self) -> Bound {
        self.memory.unwrap_or_else(|| Bound::States(machine::spare_memory())).shared(self.share)
    }

    /// Whether the search may omit states.
    pub fn is_lossy(&self, goal: Goal) -> bool {
        self.store_for(goal, &self.search_kind(goal)).is_lossy()
    }
}

/// Searches the original model in little memory.
impl Default for Plan {
    fn default() -> Plan {
        let config = Config {
            search: Some(Search::BreadthFirst),
            cache: Cache { slots: None, probes: Some(4), collisions: Some(4) },
            reduce: Reduction::None,
            backend: Backend::Interpret,
            without: vec![Pass::Constants, Pass::Unread, Pass::Forget, Pass::Merge],
            threads: Some(1),
            ..Config::default()
        };
        Plan {
            config,
            checks: Checks::default(),
            memory: Some(Bound::States(1 << 28)),
            share: 1,
            worthwhile: Threads::default().worthwhile,
        }
    }
}

fn cannot_resume(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::OutOfMemory => format!("{error}; give it more `--memory`"),
        _ => format!("the checkpoint cannot be used: {error}; {AFRESH}"),
    }
}
