//! From options to a search: the only place that names combinations of model, search and store.

use crate::args::{Backend, CheckArgs, Reduction, Search, Store};
use crate::evidence::{Because, Evidence, Reasons, Run};
use crate::machine;
use crate::progress::Watch;
use entail_ir::interpret::{Engine, Step};
use entail_ir::passes::optimised;
use entail_ir::stubborn::{Proviso, Rule};
use entail_ir::{Interpreter, Passes};
use entail_jit::Jit;
use entail_model::{
    Accepting, Concurrent, Fault, FaultKind, Guarantee, Model, Observer, Progress, Propositional, Reduced, Since,
};
use entail_packed::{Packed, Wish, best_reduction};
use entail_search::{
    Checks, Counterexample, End, ErrorKind, Errors, Limit, Limits, Outcome, branching, breadth_first, components,
    depth_first, nested,
};
use entail_store::{Bitstate, Compact, Kept, Lossless, LosslessWide, Numbers, Short, Sieve, Visited};
use entail_temporal::ctl::{Asked, Ctl, Quantifier};
use entail_temporal::product::{Move, Product};
use entail_temporal::{self as temporal, Claim, Fairness, Formulas, translate};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much of a state is kept, unless told otherwise: of its hash,
const COMPACT_BITS: u32 = 48;
/// or bits of an array.
const BITSTATE_BITS: u32 = 3;
/// However much memory there is, the array takes half of this, unless told otherwise: an empty one takes time too.
const USUAL_BITSTATE: u64 = 512 << 20;

/// How a model is to be searched, and for what.
#[derive(Clone, Debug)]
pub struct Plan {
    pub search: Search,
    pub store: Store,
    /// How much of a state is kept, where not all of it is.
    pub hash_bits: Option<u32>,
    pub reduction: Reduction,
    pub backend: Backend,
    pub threads: u32,
    /// How the model is changed before it is searched.
    pub passes: Passes,
    pub checks: Checks,
    /// Which infinite runs count.
    pub fairness: Fairness,
    /// How many bytes the visited states may take; otherwise what the machine can spare.
    pub memory: Option<u64>,
    pub depth: Option<u64>,
    pub time: Option<Duration>,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub enum Goal<'a> {
    /// A step or a state where something is wrong.
    Mistake,
    /// A step or an end that the system's monitor has something against.
    Objection,
    /// A run that must not be.
    Claimed(&'a Claim),
    /// Something that is not so where runs begin.
    Asked(&'a Ctl, &'a Asked),
}

impl Goal<'_> {
    /// Which mistakes count, of those that are wished for.
    fn checks(self, wished: &Checks) -> Checks {
        match self {
            Goal::Objection => Checks { faults: false, assertions: false, ..*wished },
            Goal::Mistake | Goal::Claimed(_) | Goal::Asked(..) => *wished,
        }
    }
}

/// How many bytes the visited states may take, and why.
#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// As somebody wished.
    Given(u64),
    /// As much as the machine can spare.
    Spare(u64),
}

/// What a search has found, and what it took.
pub struct Done {
    pub outcome: Outcome<Step>,
    /// How states were really kept.
    pub store: Store,
    pub guarantee: Guarantee,
    /// What successors were really computed with.
    pub backend: Backend,
    /// Why that is not what was wished for.
    pub fallback: Option<String>,
    pub memory: Memory,
    /// To make the model ready to run.
    pub compile: Duration,
    pub search: Duration,
    /// How many bits a state has; rare ones may have more.
    pub state_bits: u32,
    pub algorithm: Algorithm,
    /// Which propositions held in some state that the claim looked at, a bit for each.
    pub ever: u64,
    /// There were more processes than this, which is as many as can be treated fairly.
    pub crowded: Option<usize>,
    /// Why a formula of branching time is true or false in the initial state.
    pub evidence: Option<Evidence<Step>>,
    /// By what the search left out steps, or why it did not.
    pub reduction: Result<Reduction, Unreduced>,
}

/// Why all steps were taken that were possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreduced {
    NotWished,
    /// Which process moves matters to whether a run is fair.
    Fairness,
    /// It is asked how many steps a run takes.
    CountsSteps,
    /// It is asked when choices are made.
    Branching,
    NothingToGain,
}

impl Unreduced {
    /// For those who might have expected otherwise.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Unreduced::NotWished | Unreduced::NothingToGain => None,
            Unreduced::Fairness => Some("whether a run is fair depends on who moves"),
            Unreduced::CountsSteps => Some("it is not known that the property does not count steps"),
            Unreduced::Branching => Some("formulas of branching time see when choices are made"),
        }
    }
}

/// What is to be done with a model.
#[derive(Clone, Copy)]
struct Task<'a> {
    way: &'a Way<'a>,
    claim: Option<&'a Claim>,
    store: Store,
    checks: &'a Checks,
    limits: &'a Limits<'a>,
}

/// What has come of it.
struct Explored {
    outcome: Outcome<Step>,
    guarantee: Guarantee,
    algorithm: Algorithm,
    crowded: Option<usize>,
    ever: u64,
    evidence: Option<Evidence<Step>>,
}

/// How the states were gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    BreadthFirst,
    DepthFirst,
    Components,
    Nested,
    Branching,
}

impl Plan {
    pub fn of(args: &CheckArgs) -> Plan {
        let errors = if args.what.all_errors { Errors::All } else { Errors::First };
        Plan {
            search: args.how.search,
            store: args.how.store,
            hash_bits: args.how.hash_bits,
            reduction: if args.how.no_opt { Reduction::None } else { args.how.reduce },
            backend: args.how.backend,
            threads: args.how.threads,
            passes: if args.how.no_opt { Passes::NONE } else { args.how.passes.selected() },
            checks: Checks {
                faults: true,
                assertions: !args.what.no_assert,
                end_states: !args.what.no_end,
                errors,
            },
            fairness: args.what.fair,
            memory: args.limits.memory,
            depth: args.limits.depth,
            time: args.limits.time,
        }
    }

    /// A claim as the search can look for it.
    pub fn prepared(&self, claim: Claim) -> Result<Claim, temporal::Limit> {
        match self.search {
            Search::BreadthFirst | Search::DepthFirst => Ok(claim),
            Search::Nested => claim.with_one_set(temporal::Limits::default()),
        }
    }

    pub fn run(&self, interpreter: &Interpreter, goal: Goal, stop: &AtomicBool, watch: &mut Watch) -> Done {
        let began = Instant::now();
        let system = optimised(interpreter.system(), self.passes_for(goal));
        let optimised = &Interpreter::new(&system);
        let mut done = match self.backend {
            Backend::Jit => match Jit::compile(optimised) {
                Ok(jit) => self.search(optimised, jit, goal, began, stop, watch),
                Err(reason) => {
                    let done = self.search(optimised, optimised, goal, began, stop, watch);
                    Done { backend: Backend::Interpret, fallback: Some(reason.to_string()), ..done }
                }
            },
            Backend::Interpret => self.search(optimised, optimised, goal, began, stop, watch),
        };
        // Runs are told and replayed as the model is written.
        if let Some(found) = &mut done.outcome.counterexample {
            interpreter.initial_states(&mut |state| found.start = state.to_vec());
        }
        done
    }

    /// The passes that what is looked for does not see.
    fn passes_for(&self, goal: Goal) -> Passes {
        let merge = match goal {
            // Who watches channels sees every message.
            Goal::Objection => return Passes::NONE,
            Goal::Mistake => true,
            Goal::Claimed(claim) => claim.ignores_repetition,
            // Who goes on without a stop has made his choices before others can move.
            Goal::Asked(..) => false,
        };
        Passes { merge: self.passes.merge && merge, ..self.passes }
    }

    fn search<E: Engine>(
        &self,
        interpreter: &Interpreter,
        engine: E,
        goal: Goal,
        began: Instant,
        stop: &AtomicBool,
        watch: &mut Watch,
    ) -> Done {
        let way = self.way(goal);
        let claim = way.claim();
        let room = claim.as_ref().map_or(0, Claim::bits);
        let mut model = Packed::with_room(interpreter, engine, room);
        let compile = began.elapsed();
        // Only now: the model and its code are not among the states.
        let memory = self.memory.map_or_else(|| Memory::Spare(machine::spare_memory()), Memory::Given);
        let began = Instant::now();
        let checks = goal.checks(&self.checks);
        let store = self.store_for(goal, &way);
        let (explored, reduction) = loop {
            let limits = Limits {
                depth: self.depth,
                time: self.time.map(|time| time.saturating_sub(began.elapsed())),
                memory: Some(memory.bytes()),
                stop: Some(stop),
            };
            let task = Task { way: &way, claim: claim.as_ref(), store, checks: &checks, limits: &limits };
            let sets = match self.rule(&way) {
                Ok(rule) => {
                    best_reduction(&model, rule, self.provisos(&way), self.wish()).ok_or(Unreduced::NothingToGain)
                }
                Err(reason) => Err(reason),
            };
            let bits = model.bits();
            let (explored, reduction) = match sets {
                Ok(reduction) => {
                    let reduced = Reduced { model: &model, reduction: &reduction };
                    (self.look(&reduced, bits, task, watch), Ok(self.reduction))
                }
                Err(reason) => (self.look(&model, bits, task, watch), Err(reason)),
            };
            let interrupted = explored.outcome.end == End::Limit(Limit::Interrupted);
            if !interrupted || !model.is_outgrown() || stop.load(Ordering::Relaxed) {
                break (explored, reduction);
            }
            model = model.adapted();
        };
        let Explored { mut outcome, guarantee, algorithm, crowded, ever, mut evidence } = explored;
        let search = began.elapsed();
        if crowded.is_some() {
            // What was found may not be fair.
            (outcome.errors, outcome.counterexample) = (0, None);
            evidence = None;
        }
        if let (Goal::Asked(formula, _), Way::Beginnings(_)) = (goal, &way) {
            (outcome, evidence) = answer_of(formula, outcome);
        }
        Done {
            outcome,
            store,
            guarantee,
            backend: self.backend,
            fallback: None,
            memory,
            compile,
            search,
            state_bits: model.bits(),
            algorithm,
            ever,
            crowded,
            evidence,
            reduction,
        }
    }

    /// Which sets of steps are enough; or why all are taken.
    fn rule(&self, way: &Way) -> Result<Rule, Unreduced> {
        let rule = match self.reduction {
            Reduction::IfWorthIt | Reduction::Stubborn => Rule::AnySet,
            Reduction::Ample => Rule::OneProcess,
            Reduction::None => return Err(Unreduced::NotWished),
        };
        match way {
            Way::States => Ok(rule),
            Way::Beginnings(claim) | Way::Runs(claim) => {
                if matches!(way, Way::Runs(_)) && self.fairness != Fairness::None {
                    Err(Unreduced::Fairness)
                } else if !claim.ignores_repetition {
                    Err(Unreduced::CountsSteps)
                } else {
                    Ok(rule)
                }
            }
            Way::Questions(..) => Err(Unreduced::Branching),
        }
    }

    /// How states are kept. Infinite runs are found only if states can be told apart, and so is what is true in none of them.
    fn store_for(&self, goal: Goal, way: &Way) -> Store {
        match (goal, way) {
            (Goal::Mistake | Goal::Objection | Goal::Claimed(_), Way::States | Way::Beginnings(_)) => self.store,
            (Goal::Asked(..), _) | (_, Way::Runs(_) | Way::Questions(..)) => Store::Exact,
        }
    }

    fn wish(&self) -> Wish {
        match self.reduction {
            Reduction::IfWorthIt => Wish::IfWorthIt,
            Reduction::Stubborn | Reduction::Ample | Reduction::None => Wish::Anyway,
        }
    }

    /// Breadth first, every state is expanded once, and it is known which are still to come. Others see to it beforehand that
    /// nobody is passed over for ever.
    fn provisos(&self, way: &Way) -> &'static [Proviso] {
        match (way, self.search) {
            (Way::States, Search::BreadthFirst) => &[Proviso::Search, Proviso::Automata],
            (Way::States, Search::DepthFirst | Search::Nested)
            | (Way::Beginnings(_) | Way::Runs(_) | Way::Questions(..), _) => &[Proviso::Automata],
        }
    }

    /// Goes through a model of which states have so many bits.
    fn look<M: Propositional<Step = Step> + Concurrent>(
        &self,
        model: &M,
        bits: u32,
        task: Task,
        watch: &mut Watch,
    ) -> Explored {
        let Task { way, claim, store, checks, limits } = task;
        let Some(claim) = claim else {
            let (outcome, guarantee, algorithm) = self.explore(model, bits, store, checks, limits, watch);
            return Explored { outcome, guarantee, algorithm, crowded: None, ever: 0, evidence: None };
        };
        // Fairness is about runs that go on for ever.
        let fairness = match way {
            Way::States | Way::Beginnings(_) => Fairness::None,
            Way::Runs(_) | Way::Questions(..) => self.fairness,
        };
        let product = Product::new(model, claim, fairness);
        // Without room for the automaton's state, what has one word gets a second one.
        let bits = product.bits().unwrap_or(bits + u64::BITS);
        let watch = &mut OfModel(watch);
        let mut evidence = None;
        let (outcome, guarantee, algorithm) = match way {
            Way::States | Way::Beginnings(_) => {
                self.explore(&product, bits, store, &Checks::OF_CLAIMS, limits, watch)
            }
            Way::Runs(_) => match bits {
                64..128 => self.look_for_run(&product, LosslessWide::new(), limits, watch),
                _ => self.look_for_run(&product, Lossless::new(bits), limits, watch),
            },
            Way::Questions(formula, asked) => {
                let asking = Asking { formula, asked, fairness, limits };
                let (outcome, reasons) = match bits {
                    64..128 => asking.ask(&product, LosslessWide::new, watch),
                    _ => asking.ask(&product, || Lossless::new(bits), watch),
                };
                evidence = reasons.map(|reasons| reasons.map(|one| one.step));
                (outcome, Guarantee::Exact, Algorithm::Branching)
            }
        };
        Explored {
            outcome: of_model(&product, outcome),
            guarantee,
            algorithm,
            crowded: product.is_crowded().then(|| product.most_processes()),
            ever: product.ever(),
            evidence,
        }
    }

    /// Looks for a mistake in a state or a step. States have so many bits; what fits into one or two words is kept as it
    /// is.
    fn explore<M: Model>(
        &self,
        model: &M,
        bits: u32,
        store: Store,
        checks: &Checks,
        limits: &Limits,
        watch: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Guarantee, Algorithm) {
        let sieve = self.sieve(store, bits, limits);
        match bits {
            64..128 => self.explore_in(Visited::new(LosslessWide::new(), sieve), model, checks, limits, watch),
            _ => self.explore_in(Visited::new(Lossless::new(bits), sieve), model, checks, limits, watch),
        }
    }

    /// What states of so many bits are put through, if not all of them is kept.
    fn sieve(&self, store: Store, bits: u32, limits: &Limits) -> Option<Sieve> {
        match store {
            Store::Exact => None,
            Store::Compact => {
                let kept = self.hash_bits.unwrap_or(COMPACT_BITS).max(2);
                // States that have no more bits than that are their own hashes.
                (kept < bits).then(|| Sieve::Compact(Compact::new(kept)))
            }
            Store::Bitstate => {
                // The other half is for what waits to be explored, and for the way back.
                let spare = limits.memory.unwrap_or(u64::MAX).min(USUAL_BITSTATE);
                let bytes = self.memory.unwrap_or(spare) / 2;
                let bitstate = Bitstate::new(bytes, self.hash_bits.unwrap_or(BITSTATE_BITS));
                // Without memory for it, states are kept as they are as long as there is room.
                bitstate.ok().map(Sieve::Bitstate)
            }
        }
    }

    fn explore_in<M: Model>(
        &self,
        mut store: impl entail_model::Store,
        model: &M,
        checks: &Checks,
        limits: &Limits,
        watch: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Guarantee, Algorithm) {
        let (outcome, algorithm) = match self.search {
            Search::BreadthFirst => {
                (breadth_first(model, &mut store, checks, limits, watch), Algorithm::BreadthFirst)
            }
            Search::DepthFirst | Search::Nested => {
                (depth_first(model, &mut store, checks, limits, watch), Algorithm::DepthFirst)
            }
        };
        (outcome, store.guarantee(), algorithm)
    }

    /// How to find what is looked for.
    fn way<'a>(&self, goal: Goal<'a>) -> Way<'a> {
        match goal {
            Goal::Mistake | Goal::Objection => Way::States,
            Goal::Claimed(claim) => {
                let claim = self.settle(claim);
                if claim.is_about_beginnings() { Way::Beginnings(claim) } else { Way::Runs(claim) }
            }
            Goal::Asked(formula, asked) => {
                let mut formulas = Formulas::default();
                let limits = temporal::Limits::default();
                let decides = formula.deciding(&mut formulas);
                let automaton = decides.and_then(|runs| translate(&mut formulas, runs, limits).ok());
                let claim = automaton.map(|automaton| self.settle(&Claim::new(automaton)));
                let claim = claim.filter(Claim::is_about_beginnings);
                claim.map_or(Way::Questions(formula, asked), Way::Beginnings)
            }
        }
    }

    /// The claim as it is to be searched for.
    fn settle(&self, claim: &Claim) -> Claim {
        if self.fairness.lets_all_go_on() { claim.settled() } else { claim.clone() }
    }

    fn look_for_run<M: Accepting, S: Short>(
        &self,
        model: &M,
        mut store: Kept<S>,
        limits: &Limits,
        observer: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Guarantee, Algorithm) {
        let (outcome, algorithm) = match self.search {
            Search::BreadthFirst | Search::DepthFirst => {
                (components(model, &mut Numbers::new(store), limits, observer), Algorithm::Components)
            }
            Search::Nested => {
                let mut inner = store.key_set();
                (nested(model, &mut store, &mut inner, limits, observer), Algorithm::Nested)
            }
        };
        (outcome, Guarantee::Exact, algorithm)
    }
}

/// How a model is gone through.
enum Way<'a> {
    /// All states and steps are looked at.
    States,
    /// The same, together with a claim that comes to its end when it is too late.
    Beginnings(Claim),
    /// Infinite runs are looked for that a claim accepts.
    Runs(Claim),
    /// A formula is asked, question by question.
    Questions(&'a Ctl, &'a Asked),
}

impl Way<'_> {
    /// What runs along with the model.
    fn claim(&self) -> Option<Claim> {
        match self {
            Way::States => None,
            Way::Beginnings(claim) | Way::Runs(claim) => Some(claim.clone()),
            // Any run counts, as long as it is fair.
            Way::Questions(..) => Some(Claim::anything()),
        }
    }
}

/// The answer to a formula, and the reasons for it, after a search for a run that decides.
fn answer_of(formula: &Ctl, outcome: Outcome<Step>) -> (Outcome<Step>, Option<Evidence<Step>>) {
    let (is_found, run) = match (&outcome.counterexample, outcome.end) {
        (
            Some(Counterexample { error: ErrorKind::Fault(Fault { kind: FaultKind::Refuted, .. }), steps, .. }),
            _,
        ) => (true, Because::Run(Run { steps: steps.clone(), cycle_start: None, stations: Vec::new(), untold: 0 })),
        (None, End::Complete) => (false, Because::NoRun),
        _ => return (outcome, None),
    };
    let holds = is_found == matches!(formula, Ctl::Runs(Quantifier::Some, _));
    let evidence = Some(Evidence { formula: formula.clone(), holds, because: run });
    let outcome = match (holds, is_found) {
        (true, _) => Outcome { errors: 0, counterexample: None, ..outcome },
        (false, true) => outcome,
        (false, false) => Outcome { errors: 1, ..outcome },
    };
    (outcome, evidence)
}

/// Whether a formula is true where runs begin.
struct Asking<'a> {
    formula: &'a Ctl,
    asked: &'a Asked,
    fairness: Fairness,
    limits: &'a Limits<'a>,
}

impl Asking<'_> {
    /// The answer, and the reasons for it.
    fn ask<M: Accepting + Propositional, S: Short>(
        &self,
        model: &M,
        store: impl Fn() -> Kept<S>,
        observer: &mut impl Observer<M::Step>,
    ) -> (Outcome<M::Step>, Option<Evidence<M::Step>>) {
        let began = Instant::now();
        let Asked { questions, whole } = self.asked;
        let answered = branching(model, &mut Numbers::new(store()), questions, *whole, self.limits, observer);
        let (outcome, holds) = (answered.outcome.clone(), answered.holds);
        if holds.is_none() {
            return (outcome, None);
        }
        let mut reasons = Reasons::new(model, self.fairness, |model: &Since<M>, asked: &Asked| {
            let time = self.limits.time.map(|time| time.saturating_sub(began.elapsed()));
            let limits = Limits { time, ..*self.limits };
            branching(model, &mut Numbers::new(store()), &asked.questions, asked.whole, &limits, &mut ())
        });
        let mut start = Vec::new();
        model.initial_states(&mut |state| start = state.to_vec());
        let evidence = reasons.by(self.formula, &start, answered);
        if holds == Some(true) {
            return (outcome, evidence);
        }
        let counterexample = evidence.as_ref().and_then(Evidence::first_run).map(|run| {
            let refuted = Fault { kind: FaultKind::Refuted, place: u32::MAX, times: 1 };
            let error = run.cycle_start.map_or(ErrorKind::Fault(refuted), |begins| ErrorKind::Cycle { begins });
            Counterexample { error, start, steps: run.steps.clone() }
        });
        (Outcome { end: End::Error, errors: 1, counterexample, ..outcome }, evidence)
    }
}

/// Sees what the model does in a product.
struct OfModel<'w>(&'w mut Watch);

impl Observer<Move<Step>> for OfModel<'_> {
    fn stepped(&mut self, step: Move<Step>) {
        if let Some(step) = step.step {
            self.0.stepped(step);
        }
    }

    fn progress(&mut self, progress: Progress) {
        self.0.progress(progress);
    }
}

/// What a search of a product has found, told of the model alone.
fn of_model<M: Propositional<Step = Step> + Concurrent>(
    product: &Product<M>,
    outcome: Outcome<Move<Step>>,
) -> Outcome<Step> {
    let Outcome { end, stats, errors, bytes, counterexample } = outcome;
    let counterexample = counterexample.map(|found| {
        let steps = |moves: &[Move<Step>]| moves.iter().filter_map(|one| one.step).collect::<Vec<_>>();
        let error = match found.error {
            ErrorKind::Cycle { begins } => ErrorKind::Cycle { begins: steps(&found.steps[..begins]).len() },
            error @ (ErrorKind::Fault(_) | ErrorKind::InvalidEnd) => error,
        };
        let mut start = Vec::new();
        product.split(&found.start, &mut start);
        Counterexample { error, start, steps: steps(&found.steps) }
    });
    Outcome { end, stats, errors, bytes, counterexample }
}

impl Memory {
    pub fn bytes(self) -> u64 {
        match self {
            Memory::Given(bytes) | Memory::Spare(bytes) => bytes,
        }
    }
}
