//! From options to a search: the only place that names combinations of model, search and store.

mod asking;
mod bound;
mod explore;
mod unready;

pub use asking::Watched;
pub use bound::Bound;

use crate::config::{Backend, Cache, Config, Pass, Reduction, Search, Store};
use crate::coverage::Coverage;
use crate::keep::{AFRESH, Before, CheckpointWriter};
use crate::log::LogFile;
use crate::machine;
use crate::progress::{Listener, Watch};
use crate::report::Searched;
use asking::{Asking, OfModel, answer_of, of_model};
use entail_disk::{Reader, Restore, Scratch, Snapshot, Writer};
use entail_engine::{AnyEngine, Jit, Packed, ReductionMode, Stubborn, best_reduction};
use entail_ir::interpret::Step;
use entail_ir::passes::{Optimised, optimised_until};
use entail_ir::stubborn::{Proviso, Rule, is_too_large};
use entail_ir::{Interpreter, Passes};
use entail_model::{Concurrent, Deadline, Model, Propositional, Reduced};
use entail_search::{Checkpointer, Checks, End, Errors, Limit, Limits};
use entail_store::{ExactPairSet, ExactWordSet};
use entail_temporal::ctl::{Asked, Ctl};
use entail_temporal::product::Product;
use entail_temporal::{self as temporal, Claim, Fairness, Formulas, translate};
use explore::StoreOutcome;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Searches a model as it is written, up to the first error, and tells of every event.
pub fn trace_search(interpreter: &Interpreter, search: Search, listener: &mut (dyn Listener + Send)) {
    let mut watch = Watch::silent(Coverage::new(interpreter.system())).heard_by(Some(listener));
    let mut plan = Plan::default();
    plan.config.search = Some(search);
    plan.run_unkept(interpreter, Goal::Safety, &AtomicBool::new(false), &mut watch);
}

/// As much time a search has to get ready, however little there is for it.
pub const LEAST_TIME: Duration = Duration::from_millis(500);

/// How a model is to be searched: the options, and what follows from them for this search.
#[derive(Clone, Debug)]
pub struct Plan {
    pub config: Config,
    /// Which errors count.
    pub checks: Checks,
    /// Otherwise as much as the machine can spare.
    pub memory: Option<Bound>,
    /// How many searches have memory in common.
    pub share: u64,
}

/// What is looked for.
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
    /// Which mistakes count, of those that are wished for.
    fn checks(self, wished: &Checks) -> Checks {
        match self {
            Goal::Trace => Checks { faults: false, assertions: false, ..*wished },
            Goal::Safety | Goal::Claim(_) | Goal::Ctl(..) => *wished,
        }
    }

    /// Which infinite runs count, if those that are fair in this way should.
    fn fairness(self, wished: Fairness) -> Fairness {
        match self {
            Goal::Safety | Goal::Trace => Fairness::None,
            Goal::Claim(_) | Goal::Ctl(..) => wished,
        }
    }
}

/// Why all steps were taken that were possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreduced {
    /// No reduction was asked for.
    NotWished,
    /// Which process moves matters to whether a run is fair.
    Fairness,
    /// It is asked how many steps a run takes.
    CountsSteps,
    /// It is asked when choices are made.
    Branching,
    /// It would leave out too few steps.
    NothingToGain,
    /// Indivisible sequences are too long to find out what their steps have to do with others.
    TooLarge,
}

impl Unreduced {
    /// For those who might have expected otherwise.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Unreduced::NotWished | Unreduced::NothingToGain => None,
            Unreduced::TooLarge => Some("indivisible sequences are too long to look for independent steps"),
            Unreduced::Fairness => Some("whether a run is fair depends on who moves"),
            Unreduced::CountsSteps => Some("it is not known that the property does not count steps"),
            Unreduced::Branching => Some("formulas of branching time see when choices are made"),
        }
    }
}

/// Who has a say in how long a search goes on.
#[derive(Clone, Copy)]
pub struct Oversight<'a> {
    /// Set by someone who does not want to wait any longer.
    pub stop: &'a AtomicBool,
    /// Who keeps the search.
    pub keeping: Option<&'a CheckpointWriter<'a>>,
    /// Where logs go.
    pub log: &'a LogFile,
}

/// What is to be done with a model.
#[derive(Clone, Copy)]
struct Task<'a> {
    way: &'a SearchKind<'a>,
    claim: Option<&'a Claim>,
    store: Store,
    /// Whether less may be kept of each state when memory runs out.
    may_lose: bool,
    checks: &'a Checks,
    limits: &'a Limits<'a>,
}

/// How the states were gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Breadth first.
    BreadthFirst,
    /// Depth first.
    DepthFirst,
    /// Accepting cycles by strongly connected components.
    Components,
    /// Accepting cycles by a nested depth-first search.
    Nested,
    /// A formula of branching time, subformula by subformula.
    Branching,
}

impl Plan {
    pub fn of(config: &Config) -> Plan {
        let checks = Checks {
            faults: true,
            assertions: !config.no_assert,
            end_states: !config.no_end,
            errors: config.errors(),
        };
        Plan { config: config.clone(), checks, memory: config.memory.map(Bound::Process), share: 1 }
    }

    /// A claim as the search can look for it.
    pub fn prepared(&self, claim: Claim, limits: temporal::Limits) -> Result<Claim, temporal::Limit> {
        match self.config.search() {
            Search::BreadthFirst | Search::DepthFirst => Ok(claim),
            Search::Nested => claim.degeneralised(limits),
        }
    }

    /// An error says why a search cannot be kept, or not be resumed.
    pub fn run(
        &self,
        interpreter: &Interpreter,
        goal: Goal,
        oversight: Oversight,
        watch: &mut Watch,
    ) -> Result<Searched, String> {
        let began = Instant::now();
        let deadline = Deadline::after(self.config.time.map(|time| time.max(LEAST_TIME)), oversight.stop);
        let optimised = optimised_until(interpreter.system(), self.passes_for(goal), deadline);
        let Some(Optimised { system, unread }) = optimised else {
            return Ok(self.unsearched(goal, began, oversight.stop));
        };
        let optimised = &Interpreter::new(&system).until(deadline);
        let (engine, fallback) = match self.config.backend {
            Backend::Jit => match Jit::compile(optimised) {
                Ok(jit) => (AnyEngine::Jit(jit), None),
                Err(reason) => (AnyEngine::Interpreter(optimised), Some(reason.to_string())),
            },
            Backend::Interpret => (AnyEngine::Interpreter(optimised), None),
        };
        let mut done = self.search(optimised, engine, goal, began, oversight, watch)?;
        done.unread = unread;
        if fallback.is_some() {
            (done.backend, done.fallback) = (Backend::Interpret, fallback);
        }
        // Runs are told and replayed as the model is written.
        if let Some(found) = &mut done.outcome.counterexample {
            interpreter.initial_states(&mut |state| found.start = state.to_vec());
        }
        Ok(done)
    }

    /// The same for a search that nobody keeps.
    pub fn run_unkept(
        &self,
        interpreter: &Interpreter,
        goal: Goal,
        stop: &AtomicBool,
        watch: &mut Watch,
    ) -> Searched {
        let done = self.run(interpreter, goal, Oversight { stop, keeping: None, log: &LogFile::default() }, watch);
        done.expect("only what was kept can be wrong")
    }

    /// The passes that what is looked for does not see.
    fn passes_for(&self, goal: Goal) -> Passes {
        let merge = match goal {
            // Who watches channels sees every message.
            Goal::Trace => return Passes::NONE,
            Goal::Safety => true,
            Goal::Claim(claim) => claim.is_stutter_invariant,
            // States that differ in nothing that matters may lie in different components.
            Goal::Ctl(..) if self.config.fair == Fairness::Component => return Passes::NONE,
            // Who goes on without a stop has made his choices before others can move.
            Goal::Ctl(..) => false,
        };
        let passes = self.config.passes();
        Passes { merge: passes.merge && merge, ..passes }
    }

    fn search(
        &self,
        interpreter: &Interpreter,
        engine: AnyEngine,
        goal: Goal,
        began: Instant,
        Oversight { stop, keeping, .. }: Oversight,
        watch: &mut Watch,
    ) -> Result<Searched, String> {
        let way = self.way(goal);
        let claim = way.claim();
        let mut saved = match keeping {
            Some(keeping) => keeping.begin(&searched(interpreter, &way)?)?,
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
        let (store, may_lose) = (self.store_for(goal, &way), way.may_lose(goal));
        let scratch = self.scratch();
        let mut decided = None;
        if let Some(from) = &mut saved {
            from.limit(self.memory_now().for_states());
            decided = Some(Option::<bool>::load(from).map_err(cannot_resume)?);
            model = model.restored(from).map_err(cannot_resume)?;
        }
        let (explored, reduction, memory) = loop {
            let mut sets = match (self.rule(&way), decided.take()) {
                (Ok(rule), None) => best_reduction(&model, rule, self.provisos(&way), self.reduction_mode()),
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
            // Only now: the model and its code are not among the states.
            let memory = self.memory_now();
            let limits = Limits {
                depth: self.config.depth,
                time: self.config.time.map(|time| time.saturating_sub(began.elapsed())),
                memory: Some(memory.for_states()),
                scratch: Some(&scratch),
                stop: Some(stop),
                keeper: before.as_ref().map(|before| before as &dyn Checkpointer),
            };
            let (claim, checks, limits) = (claim.as_ref(), &checks, &limits);
            let task = Task { way: &way, claim, store, may_lose, checks, limits };
            let bits = model.bits();
            let reduced = Reduced { model: &model, reduction: sets.as_ref() };
            let explored = self.look(&reduced, bits, task, watch, saved.take()).map_err(cannot_resume)?;
            let reduction = match &sets {
                Some(_) => Ok(self.config.reduction()),
                None => Err(self.rule(&way).err().unwrap_or_else(|| {
                    if is_too_large(model.system()) { Unreduced::TooLarge } else { Unreduced::NothingToGain }
                })),
            };
            let interrupted = explored.outcome.end == End::Limit(Limit::Interrupted);
            if !interrupted || !model.is_outgrown() || stop.load(Ordering::Relaxed) {
                break (explored, reduction, memory);
            }
            model = model.adapted();
        };
        let mut done = explored;
        (done.compile, done.search) = (compile, began.elapsed() - compile);
        if done.crowded.is_some() {
            // What was found may not be fair.
            (done.outcome.errors, done.outcome.counterexample) = (0, None);
            done.evidence = None;
        }
        if let (Goal::Ctl(formula, _), SearchKind::SafetyClaim(_)) = (goal, &way) {
            (done.outcome, done.evidence) = answer_of(formula, done.outcome);
        }
        done.store = done.levels.last().map_or(store, |rung| Store::of(rung.kind));
        done.no_files = scratch.failure().map(|words| format!("{}: {words}", scratch.directory().display()));
        (done.memory, done.reduction, done.state_bits) = (memory, reduction, model.bits());
        done.fairness = goal.fairness(self.config.fair);
        Ok(done)
    }

    /// Where to put what memory has no room for.
    fn scratch(&self) -> Scratch {
        Scratch::new(self.config.scratch.clone().unwrap_or_else(Scratch::usual_directory))
    }

    /// What there is now.
    fn memory_now(&self) -> Bound {
        self.memory.unwrap_or_else(|| Bound::States(machine::spare_memory())).shared(self.share)
    }

    /// Whether states may be lost.
    pub fn is_lossy(&self, goal: Goal) -> bool {
        !self.store_for(goal, &self.way(goal)).is_lossless()
    }

    /// Which sets of steps are enough; or why all are taken.
    fn rule(&self, way: &SearchKind) -> Result<Rule, Unreduced> {
        let rule = match self.config.reduction() {
            Reduction::IfWorthIt | Reduction::Stubborn => Rule::AnySet,
            Reduction::Ample => Rule::OneProcess,
            Reduction::None => return Err(Unreduced::NotWished),
        };
        match way {
            SearchKind::Reachability => Ok(rule),
            SearchKind::SafetyClaim(claim) | SearchKind::Liveness(claim) => {
                if matches!(way, SearchKind::Liveness(_)) && self.config.fair != Fairness::None {
                    Err(Unreduced::Fairness)
                } else if !claim.is_stutter_invariant {
                    Err(Unreduced::CountsSteps)
                } else {
                    Ok(rule)
                }
            }
            SearchKind::Ctl(..) => Err(Unreduced::Branching),
        }
    }

    /// How states are kept. Infinite runs are found only if states can be told apart, and so is what is true in none of them;
    /// and by what is known of each state besides.
    fn store_for(&self, goal: Goal, way: &SearchKind) -> Store {
        match (goal, way) {
            (_, SearchKind::Liveness(_) | SearchKind::Ctl(..)) => Store::Auto,
            (Goal::Ctl(..), SearchKind::Reachability | SearchKind::SafetyClaim(_))
                if !self.config.store.is_lossless() =>
            {
                Store::Auto
            }
            (_, SearchKind::Reachability | SearchKind::SafetyClaim(_)) => self.config.store,
        }
    }

    fn reduction_mode(&self) -> ReductionMode {
        match self.config.reduction() {
            Reduction::IfWorthIt => ReductionMode::Auto,
            Reduction::Stubborn | Reduction::Ample | Reduction::None => ReductionMode::Always,
        }
    }

    /// Breadth first, every state is expanded once, and it is known which are still to come. Others see to it beforehand that
    /// nobody is passed over for ever.
    fn provisos(&self, way: &SearchKind) -> &'static [Proviso] {
        match (way, self.config.search()) {
            (SearchKind::Reachability, Search::BreadthFirst) => &[Proviso::Search, Proviso::Automata],
            (SearchKind::Reachability, Search::DepthFirst | Search::Nested)
            | (SearchKind::SafetyClaim(_) | SearchKind::Liveness(_) | SearchKind::Ctl(..), _) => {
                &[Proviso::Automata]
            }
        }
    }

    /// Goes through a model of which states have so many bits.
    fn look<M: Propositional<Step = Step> + Concurrent>(
        &self,
        model: &M,
        bits: u32,
        task: Task,
        watch: &mut Watch,
        mut saved: Option<Reader>,
    ) -> io::Result<Searched> {
        let Task { way, claim, limits, .. } = task;
        let Some(claim) = claim else {
            let (outcome, became, algorithm) = self.explore(model, bits, task, watch, saved)?;
            let StoreOutcome { guarantee, levels, .. } = became;
            return Ok(Searched { guarantee, levels, ..self.searched(outcome, algorithm) });
        };
        // Fairness is about runs that go on for ever.
        let fairness = match way {
            SearchKind::Reachability | SearchKind::SafetyClaim(_) => Fairness::None,
            SearchKind::Liveness(_) | SearchKind::Ctl(..) => self.config.fair,
        };
        let mut product = Product::new(model, claim, fairness);
        if let Some(from) = &mut saved {
            product.restore(from)?;
        }
        let keep = |to: &mut Writer| product.save(to);
        let before = limits.keeper.map(|keeper| Before { part: &keep, keeper });
        let limits = &Limits { keeper: before.as_ref().map(|before| before as &dyn Checkpointer), ..*limits };
        // Without room for the automaton's state, what has one word gets a second one.
        let bits = product.bits().unwrap_or(bits + u64::BITS);
        let watch = &mut OfModel(watch);
        let mut evidence = None;
        let (outcome, StoreOutcome { guarantee, levels, .. }, algorithm) = match way {
            SearchKind::Reachability | SearchKind::SafetyClaim(_) => {
                let checks = &Checks { errors: self.errors_of_claims(), ..Checks::OF_CLAIMS };
                let task = Task { checks, limits, ..task };
                self.explore(&product, bits, task, watch, saved)?
            }
            SearchKind::Liveness(_) => match bits {
                64..128 => self.look_for_run(&product, ExactPairSet::new(), limits, watch),
                _ => self.look_for_run(&product, ExactWordSet::new(bits), limits, watch),
            },
            SearchKind::Ctl(formula, asked) => {
                let asking = Asking { formula, asked, fairness, limits };
                let (outcome, reasons) = match bits {
                    64..128 => asking.ask(&product, ExactPairSet::new, watch),
                    _ => asking.ask(&product, || ExactWordSet::new(bits), watch),
                };
                evidence = reasons.map(|reasons| reasons.map(|one| one.step));
                (outcome, StoreOutcome::EXACT, Algorithm::Branching)
            }
        };
        let (outcome, watched) = of_model(&product, outcome);
        Ok(Searched {
            watched,
            guarantee,
            levels,
            crowded: product.is_crowded().then(|| product.most_processes()),
            ever: product.ever(),
            evidence,
            ..self.searched(outcome, algorithm)
        })
    }

    /// A claim has one error at most that counts.
    fn errors_of_claims(&self) -> Errors {
        match self.checks.errors {
            Errors::Soonest => Errors::Soonest,
            Errors::First | Errors::All => Errors::First,
        }
    }

    /// How to find what is looked for.
    fn way<'a>(&self, goal: Goal<'a>) -> SearchKind<'a> {
        match goal {
            Goal::Safety | Goal::Trace => SearchKind::Reachability,
            Goal::Claim(claim) => {
                let claim = self.settle(claim);
                if claim.is_safety() { SearchKind::SafetyClaim(claim) } else { SearchKind::Liveness(claim) }
            }
            Goal::Ctl(formula, asked) => {
                let mut formulas = Formulas::default();
                let limits = temporal::Limits::default();
                let decides = formula.deciding(&mut formulas);
                let automaton = decides.and_then(|runs| translate(&mut formulas, runs, limits).ok());
                let claim = automaton.map(|automaton| self.settle(&Claim::new(automaton)));
                let claim = claim.filter(Claim::is_safety);
                claim.map_or(SearchKind::Ctl(formula, asked), SearchKind::SafetyClaim)
            }
        }
    }

    /// The claim as it is to be searched for.
    fn settle(&self, claim: &Claim) -> Claim {
        if self.config.fair.is_realizable() { claim.with_bad_prefixes() } else { claim.clone() }
    }
}

/// The model as it is written, in little memory.
impl Default for Plan {
    fn default() -> Plan {
        let config = Config {
            search: Some(Search::BreadthFirst),
            cache: Cache { slots: None, probes: Some(4), collisions: Some(4) },
            reduce: Reduction::None,
            backend: Backend::Interpret,
            without: vec![Pass::Constants, Pass::Unread, Pass::Forget, Pass::Merge],
            ..Config::default()
        };
        Plan { config, checks: Checks::default(), memory: Some(Bound::States(1 << 28)), share: 1 }
    }
}

/// How a model is gone through.
enum SearchKind<'a> {
    /// All states and steps are looked at.
    Reachability,
    /// The same, together with a claim that comes to its end when it is too late.
    SafetyClaim(Claim),
    /// Infinite runs are looked for that a claim accepts.
    Liveness(Claim),
    /// A formula is asked, question by question.
    Ctl(&'a Ctl, &'a Asked),
}

impl SearchKind<'_> {
    /// Whether something is known even if some states are taken for others.
    fn may_lose(&self, goal: Goal) -> bool {
        match (goal, self) {
            (
                Goal::Safety | Goal::Trace | Goal::Claim(_),
                SearchKind::Reachability | SearchKind::SafetyClaim(_),
            ) => true,
            (Goal::Ctl(..), _) | (_, SearchKind::Liveness(_) | SearchKind::Ctl(..)) => false,
        }
    }

    /// What runs along with the model.
    fn claim(&self) -> Option<Claim> {
        match self {
            SearchKind::Reachability => None,
            SearchKind::SafetyClaim(claim) | SearchKind::Liveness(claim) => Some(claim.clone()),
            // Any run counts, as long as it is fair.
            SearchKind::Ctl(..) => Some(Claim::anything()),
        }
    }
}

/// All that decides which states there are and what is asked of them, as a text; or why a search for it cannot be kept.
fn searched(interpreter: &Interpreter, way: &SearchKind) -> Result<String, String> {
    let claim = match way {
        SearchKind::Reachability => String::new(),
        SearchKind::SafetyClaim(claim) => format!("{claim:?}"),
        SearchKind::Liveness(_) | SearchKind::Ctl(..) => {
            let kinds =
                "only searches for safety, and for formulas that are broken after finitely many steps, can be kept";
            return Err(format!("{kinds}; leave out `--checkpoint`"));
        }
    };
    Ok(entail_ir::text::print(interpreter.system()) + &claim)
}

fn cannot_resume(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::OutOfMemory => format!("{error}; give it more `--memory`"),
        _ => format!("what was kept cannot be used: {error}; {AFRESH}"),
    }
}
