//! Checking a model: maps properties to searches.

use crate::flat::{Flat, Step};
use crate::report::{Checked, Error, Report, Run, Verdict};
use crate::{Kind, Model, Predicate, Property};
use entail_front::diagnostic::Diagnostic;
use entail_front::promela::{formula, preprocess};
use entail_front::source::Sources;
use entail_model::{Guarantee, Key};
use entail_search::{
    Checks, Counterexample, End, ErrorKind, Errors, Limit, Limits, Outcome, breadth_first, depth_first, nested, scc,
};
use entail_store::{
    BitstateSet, CacheSet, CacheSize, CollapseSet, CompactSet, DfaSet, ExactWordSet, LossySet, NumberMap, PlainSet,
    VisitedSet,
};
use entail_temporal::{Claim, Fairness, Formula, Formulas, Product, Proposition, translate};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check<'a> {
    /// The search order.
    pub order: Order,
    /// The store of visited states.
    pub store: Store,
    /// The fairness assumption.
    pub fairness: Fairness,
    /// The depth limit.
    pub depth: Option<u64>,
    /// The time limit of the whole check.
    pub time: Option<Duration>,
    /// The memory limit of a search, in bytes.
    pub memory: Option<u64>,
    /// Interrupts the check when set, from any thread.
    pub stop: Option<&'a AtomicBool>,
}

/// The search order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Breadth first: counterexamples are as short as possible. Cycles are found by a search for strongly connected
    /// components.
    #[default]
    BreadthFirst,
    /// Depth first.
    DepthFirst,
    /// Depth first, with a nested depth-first search for cycles. Does not support fairness.
    Nested,
}

/// The store of visited states. Searches for cycles always use [`Store::Tree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// Exact, with tree compression.
    #[default]
    Tree,
    /// Exact and uncompressed.
    Plain,
    /// Exact, with collapse compression.
    Collapse,
    /// Exact, as a minimised automaton.
    Dfa,
    /// Hash compaction with hashes of this many bits. A hash collision can hide a state.
    Compact(u32),
    /// Bitstate hashing with an array of this many bytes. A hash collision can hide a state.
    Bitstate(u64),
    /// State-space caching of this many states. When the cache is full, it replaces states, which may be explored again.
    /// Only for [`Order::DepthFirst`] and [`Order::Nested`].
    Cache(u64),
}

/// The number of slots in which a state may be, and of candidates for replacement.
const CACHE_WAYS: u32 = 16;
/// The number of bits for each state.
const BITSTATE_BITS: u32 = 3;

impl Check<'_> {
    /// Checks all properties of a model.
    pub fn run<M: Model>(&self, model: &M) -> Result<Report<M>, Error> {
        self.validate()?;
        let began = Instant::now();
        let properties = Flat::new(model, None, Vec::new()).guarded(M::properties)?;
        let checked = properties.into_iter().map(|property| self.check(model, property, began));
        Ok(Report { properties: checked.collect::<Result<_, _>>()? })
    }

    fn validate(&self) -> Result<(), Error> {
        let contradiction = |words: &str| Err(Error::Options(words.into()));
        match (self.order, self.store, self.fairness) {
            (Order::BreadthFirst, Store::Cache(_), _) => contradiction(
                "`Store::Cache` and `Order::BreadthFirst` contradict each other: a store that forgets states needs the path of \
                 a depth-first search",
            ),
            (Order::Nested, _, fairness) if fairness != Fairness::None => contradiction(
                "`Order::Nested` and fairness contradict each other: a nested search cannot tell fair runs from others",
            ),
            (_, Store::Compact(bits), _) if !(2..=64).contains(&bits) => {
                contradiction("`Store::Compact` has hashes of 2 to 64 bits")
            }
            (_, _, Fairness::Component) => {
                contradiction("`Fairness::Component` is for formulas of branching time only")
            }
            _ => Ok(()),
        }
    }

    fn check<M: Model>(&self, model: &M, property: Property<M>, began: Instant) -> Result<Checked<M>, Error> {
        let Property { name, kind } = property;
        let limits = self.limits(began);
        match kind {
            Kind::Always(predicate) => self.invariant(Flat::new(model, Some(predicate), Vec::new()), name, &limits),
            Kind::NoDeadlock => self.deadlock(&Flat::new(model, None, Vec::new()), name, &limits),
            Kind::Eventually(predicate) => {
                let mut formulas = Formulas::default();
                let proposition = formulas.proposition(Proposition(0));
                let formula = formulas.eventually(proposition);
                let flat = Flat::new(model, None, vec![predicate]);
                self.formula(&flat, name, formulas, formula, &limits)
            }
            Kind::Ltl(text) => {
                let wrong = |reason| Error::Formula { property: name.clone(), reason };
                let (formulas, formula, names) = read(&text).map_err(wrong)?;
                let known = model.propositions();
                let find = |wanted: &String| {
                    let found = known.iter().find(|(name, _)| name == wanted).map(|(_, predicate)| *predicate);
                    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                    let unknown =
                        || format!("the model has no proposition `{wanted}`; it has: {}", names.join(", "));
                    found.ok_or_else(unknown)
                };
                let propositions: Vec<Predicate<M>> =
                    names.iter().map(find).collect::<Result<_, _>>().map_err(wrong)?;
                self.formula(&Flat::new(model, None, propositions), name, formulas, formula, &limits)
            }
        }
    }

    /// The limits that remain.
    fn limits(&self, began: Instant) -> Limits<'_> {
        Limits {
            depth: self.depth,
            time: self.time.map(|time| time.saturating_sub(began.elapsed())),
            memory: self.memory,
            stop: self.stop,
            ..Limits::default()
        }
    }

    fn invariant<M: Model>(&self, flat: Flat<M>, name: String, limits: &Limits) -> Result<Checked<M>, Error> {
        let is_wrong = |state: &M::State| flat.invariant.is_some_and(|invariant| !flat.holds(invariant, state));
        if let Some(start) = flat.initial().into_iter().find(is_wrong) {
            flat.error().map_or(Ok(()), Err)?;
            let verdict = Verdict::Violated(Run { start, steps: Vec::new(), cycle_start: None });
            return Ok(Checked { name, verdict, states: 1, transitions: 0, bytes: 0 });
        }
        let checks = Checks { faults: true, assertions: true, end_states: false, errors: Errors::First };
        self.explored(&flat, name, |guarantee| self.explore(&flat, &checks, limits, guarantee))
    }

    fn deadlock<M: Model>(&self, flat: &Flat<M>, name: String, limits: &Limits) -> Result<Checked<M>, Error> {
        let checks = Checks { faults: true, assertions: true, end_states: true, errors: Errors::First };
        self.explored(flat, name, |guarantee| self.explore(flat, &checks, limits, guarantee))
    }

    fn formula<M: Model>(
        &self,
        flat: &Flat<M>,
        name: String,
        mut formulas: Formulas,
        formula: Formula,
        limits: &Limits,
    ) -> Result<Checked<M>, Error> {
        let broken = formulas.not(formula);
        let automaton = translate(&mut formulas, broken, entail_temporal::Limits::default());
        let too_large =
            |limit| Error::Formula { property: name.clone(), reason: format!("it is too large: {limit}") };
        let automaton = automaton.map_err(too_large)?;
        let mut claim = Claim::new(automaton);
        if self.fairness.is_realizable() {
            claim = claim.with_bad_prefixes();
        }
        let is_prefix = claim.is_safety();
        if !is_prefix && self.order == Order::Nested {
            claim = claim.degeneralised(entail_temporal::Limits::default()).map_err(too_large)?;
        }
        let fairness = if is_prefix { Fairness::None } else { self.fairness };
        let product = Product::new(flat, &claim, fairness);
        let checked = self.explored(flat, name, |guarantee| {
            let outcome = match (is_prefix, self.order) {
                (true, _) => self.explore(&product, &Checks::OF_CLAIMS, limits, guarantee),
                (false, Order::BreadthFirst | Order::DepthFirst) => {
                    scc(&product, &mut NumberMap::new(ExactWordSet::new(u64::BITS)), limits, &mut ())
                }
                (false, Order::Nested) => {
                    let mut store = ExactWordSet::new(u64::BITS);
                    let mut inner = store.key_set();
                    nested(&product, &mut store, &mut inner, limits, &mut ())
                }
            };
            outcome.projected(|one| one.step, |state| product.model_state(state))
        })?;
        if product.is_crowded() {
            let most = product.most_processes();
            let reason = format!("there are more than the {most} processes that can be treated fairly");
            return Ok(Checked { verdict: Verdict::Inconclusive(reason), ..checked });
        }
        Ok(checked)
    }

    /// Explores all states in the given order and store.
    fn explore<M: entail_model::Model>(
        &self,
        model: &M,
        checks: &Checks,
        limits: &Limits,
        guarantee: &mut Guarantee,
    ) -> Outcome<M::Step> {
        let exact = || ExactWordSet::new(u64::BITS);
        let cut = |state: &entail_model::State, parts: &mut Vec<_>| model.parts(state, parts);
        let mut store: Box<dyn entail_model::Store<Key = Key> + '_> = match self.store {
            Store::Tree => Box::new(exact()),
            Store::Plain => Box::new(PlainSet::default()),
            Store::Collapse => Box::new(CollapseSet::new(cut)),
            Store::Dfa => Box::new(DfaSet::new(exact())),
            Store::Compact(bits) => {
                Box::new(VisitedSet::new(exact(), Some(LossySet::Compact(CompactSet::new(bits)))))
            }
            Store::Bitstate(bytes) => match BitstateSet::new(bytes, BITSTATE_BITS) {
                Ok(array) => Box::new(VisitedSet::new(exact(), Some(LossySet::Bitstate(array)))),
                Err(_) => Box::new(exact()),
            },
            Store::Cache(slots) => {
                let size = CacheSize { slots, probes: CACHE_WAYS, collisions: CACHE_WAYS };
                Box::new(CacheSet::new(exact(), size))
            }
        };
        let outcome = match self.order {
            Order::BreadthFirst => breadth_first(model, &mut *store, checks, limits, &mut ()),
            Order::DepthFirst | Order::Nested => depth_first(model, &mut *store, checks, limits, &mut ()),
        };
        *guarantee = store.guarantee();
        outcome
    }

    /// Converts the outcome of a search into terms of the model.
    fn explored<M: Model>(
        &self,
        flat: &Flat<M>,
        name: String,
        search: impl FnOnce(&mut Guarantee) -> Outcome<Step>,
    ) -> Result<Checked<M>, Error> {
        let mut guarantee = Guarantee::Exact;
        let Outcome { end, stats, errors, bytes, counterexample, .. } = search(&mut guarantee);
        let run = counterexample.map(|found| follow(flat, &found)).transpose()?;
        flat.error().map_or(Ok(()), Err)?;
        let verdict = match (run, end, guarantee) {
            (Some(run), _, _) => Verdict::Violated(run),
            (None, End::Complete, Guarantee::Exact) if errors == 0 => Verdict::Holds,
            (None, End::Complete, Guarantee::Probable { omitted, .. }) => {
                Verdict::Inconclusive(format!("no error found, but about {omitted:.3} states were omitted"))
            }
            (None, End::Limit(limit), _) => Verdict::Inconclusive(self.reached(limit)),
            (None, End::Error | End::Complete, _) => Verdict::Inconclusive(
                "there is an error, but not the run to it: memory is short, or the model does not always answer the same"
                    .into(),
            ),
        };
        Ok(Checked { name, verdict, states: stats.stored, transitions: stats.transitions(), bytes })
    }

    fn reached(&self, limit: Limit) -> String {
        match limit {
            Limit::Depth => format!("the depth limit of {} was reached", self.depth.unwrap_or_default()),
            Limit::Time => format!("the time limit of {:?} was reached", self.time.unwrap_or_default()),
            Limit::Memory => match self.memory {
                Some(bytes) => format!("the memory limit of {bytes} bytes was reached"),
                None => "there is no more memory".into(),
            },
            Limit::Interrupted => "the check was stopped".into(),
        }
    }
}

/// A formula, and the names of its propositions by number.
fn read(text: &str) -> Result<(Formulas, Formula, Vec<String>), String> {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let read = formula::read("formula", text, &preprocess::Options::default(), &mut sources, &mut problems);
    let first_error = || {
        let error = problems.iter().find(|problem| Diagnostic::is_error(problem));
        error.map_or_else(|| "it cannot be read".to_owned(), |error| error.message.clone())
    };
    let read = read.ok_or_else(first_error)?;
    let names = read.names();
    Ok((read.formulas, read.formula, names))
}

/// The run of a counterexample.
fn follow<M: Model>(flat: &Flat<M>, found: &Counterexample<Step>) -> Result<Run<M>, Error> {
    let lost = || flat.error().unwrap_or(Error::Nondeterminism { state: "at the start".into() });
    let start = flat.decode(&found.start).ok_or_else(lost)?;
    let (mut state, mut steps) = (start.clone(), Vec::new());
    for step in &found.steps {
        let action = flat.actions(&state).into_iter().nth(step.number as usize);
        let next = action.and_then(|action| Some((flat.next(&state, &action)?, action)));
        let changed = || flat.error().unwrap_or_else(|| Error::Nondeterminism { state: format!("{state:?}") });
        let (next, action) = next.ok_or_else(changed)?;
        steps.push((action, next.clone()));
        state = next;
    }
    let cycle_start = match found.error {
        ErrorKind::Cycle { begins } => Some(begins),
        ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
    };
    Ok(Run { start, steps, cycle_start })
}
