//! Checking a model: maps properties to searches.

use crate::flat::{Flat, Step};
use crate::report::{Checked, Error, Report, Run, Verdict};
use crate::{Kind, Model, Predicate, Property};
use entail_front::diagnostic::Diagnostic;
use entail_front::promela::{formula, preprocess};
use entail_front::source::Sources;
use entail_model::Guarantee;
use entail_search::{
    Checks, Counterexample, End, ErrorKind, Errors, Limit, Limits, Outcome, SearchOrder as Order, Start, Threads,
    available_cores,
};
use entail_store::{AnyStore, ExactWordSet, StoreKind as Store, StoreOptions};
use entail_temporal::{Claim, Fairness, Formula, Formulas, Product, Proposition, translate};
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check<'a> {
    /// The search order.
    pub order: Order,
    /// The store of visited states. Searches for cycles always use [`Store::Exact`].
    pub store: Store,
    /// The bits per state in a lossy store: of its hash, or in the array.
    pub hash_bits: Option<u32>,
    /// The size of the array of [`Store::Bitstate`] in bytes; by default half of the memory.
    pub array: Option<u64>,
    /// The capacity of [`Store::Cache`] in states; by default as many as fit into half of the memory.
    pub cache: Option<u64>,
    /// The fairness assumption.
    pub fairness: Fairness,
    /// The depth limit.
    pub depth: Option<u64>,
    /// The time limit of the whole check.
    pub time: Option<Duration>,
    /// The memory limit of a search, in bytes.
    pub memory: Option<u64>,
    /// The number of threads of a breadth-first search; by default that of the available physical cores.
    pub threads: Option<usize>,
    /// Interrupts the check when set, from any thread.
    pub stop: Option<&'a AtomicBool>,
}

/// The assumed memory for an array or a cache without a size.
const DEFAULT_MEMORY: u64 = 512 << 20;
const THREADS: RangeInclusive<usize> = 1..=1024;

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
        let Check { order, store, fairness, threads, .. } = *self;
        let contradiction = if store.forgets() && order.is_breadth_first() {
            format!(
                "`Store::{store:?}` and `Order::{order:?}` contradict each other: a store that forgets states needs the \
                 path of a depth-first search"
            )
        } else if !order.is_generalised() && fairness != Fairness::None {
            format!(
                "`Order::{order:?}` and fairness contradict each other: a nested search cannot tell fair runs from others"
            )
        } else if self.hash_bits.is_some_and(|bits| !store.is_lossy() || !(1..=64).contains(&bits)) {
            "`hash_bits` is 1 to 64, for lossy stores only".into()
        } else if self.array.is_some() && !store.has_array() || self.cache.is_some() && !store.forgets() {
            format!("`array` or `cache` does not apply to `Store::{store:?}`; leave it out")
        } else if threads.is_some_and(|threads| !THREADS.contains(&threads)) {
            format!("`threads` is {} to {}", THREADS.start(), THREADS.end())
        } else if threads.is_some_and(|threads| threads > 1) && !order.is_breadth_first() {
            format!("`Order::{order:?}` uses one thread; leave out `threads`")
        } else if fairness == Fairness::Component {
            "`Fairness::Component` is for formulas of branching time only".into()
        } else {
            return Ok(());
        };
        Err(Error::Options(contradiction))
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
            threads: Threads { count: self.threads.unwrap_or_else(available_cores), ..Threads::default() },
            ..Limits::default()
        }
    }

    fn invariant<M: Model>(&self, flat: Flat<M>, name: String, limits: &Limits) -> Result<Checked<M>, Error> {
        let is_wrong = |state: &M::State| flat.invariant.is_some_and(|invariant| !flat.holds(invariant, state));
        if let Some(start) = flat.initial().into_iter().find(is_wrong) {
            flat.error().map_or(Ok(()), Err)?;
            let verdict = Verdict::Violated(Run { start, steps: Vec::new(), cycle_start: None });
            return Ok(Checked { name, verdict, states: 1, transitions: 0, bytes: 0, no_threads: None });
        }
        let checks = Checks { faults: true, assertions: true, end_states: false, errors: Errors::First };
        self.explored(&flat, name, self.explore(&flat, &checks, limits))
    }

    fn deadlock<M: Model>(&self, flat: &Flat<M>, name: String, limits: &Limits) -> Result<Checked<M>, Error> {
        let checks = Checks { faults: true, assertions: true, end_states: true, errors: Errors::First };
        self.explored(flat, name, self.explore(flat, &checks, limits))
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
        if !is_prefix && !self.order.is_generalised() {
            claim = claim.degeneralised(entail_temporal::Limits::default()).map_err(too_large)?;
        }
        let fairness = if is_prefix { Fairness::None } else { self.fairness };
        let product = Product::new(flat, &claim, fairness);
        let (outcome, guarantee) = if is_prefix {
            self.explore(&product, &Checks::OF_CLAIMS, limits)
        } else {
            let store = ExactWordSet::new(u64::BITS);
            (self.order.find_accepting_run(&product, store, limits, &mut ()), Guarantee::Exact)
        };
        let outcome = outcome.projected(|one| one.step, |state| product.model_state(state));
        let checked = self.explored(flat, name, (outcome, guarantee))?;
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
    ) -> (Outcome<M::Step>, Guarantee) {
        let options = StoreOptions {
            bits: u32::MAX,
            hash_bits: self.hash_bits.or(self.store.hash_bits()),
            array: self.array,
            slots: self.cache,
            bytes: self.memory.unwrap_or(DEFAULT_MEMORY) / 2,
            ..StoreOptions::default()
        };
        let AnyStore::Words(mut store) = self.store.make(options, |state, parts| model.parts(state, parts)) else {
            unreachable!("states are longer than two words")
        };
        let outcome = self.order.explore(model, &mut *store, checks, limits, &mut (), Start::default());
        (outcome.expect("only a resumed search fails"), store.guarantee())
    }

    /// Converts the outcome of a search into terms of the model.
    fn explored<M: Model>(
        &self,
        flat: &Flat<M>,
        name: String,
        (outcome, guarantee): (Outcome<Step>, Guarantee),
    ) -> Result<Checked<M>, Error> {
        let Outcome { end, stats, errors, bytes, no_threads, counterexample, .. } = outcome;
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
        Ok(Checked { name, verdict, states: stats.stored, transitions: stats.transitions(), bytes, no_threads })
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
