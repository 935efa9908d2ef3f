//! Local model checking of CTL with fairness.
//!
//! Each temporal subformula asks whether a run of some kind exists; other operators are negations of these. A
//! depth-first search answers it: it passes through the states in which the first operand holds, and looks for a state
//! in which the second one holds, or for an accepting cycle ([`scc`](mod@crate::scc)). If an operand is temporal too,
//! the search is suspended, and another search evaluates the operand. A search records the answer for every state that
//! it leaves; when it finds a run, the run exists from all states that are still open. So no state is entered twice for
//! the same subformula. After Vergauwen, Lewi: A linear local model checking algorithm for CTL, 1993.
//!
//! Under fairness conditions that refer to a whole component ([`Subformula::UntilComponent`]), a search still passes
//! only through states in which the first operand holds. A component of these states may be part of a larger component
//! of the model. Another subformula ([`Subformula::FairComponent`]) decides this; it is evaluated when a complete
//! component would be accepted. Its search passes through all states and records for each component whether the
//! condition holds.
//!
//! A run that ends in a fault has no continuation. Each subformula has an assumption about it ([`AfterFault`]), and
//! [`decide`] requires an answer that is the same under all assumptions. This is Kleene's three-valued logic, after
//! Bruns, Godefroid: Model checking partial state spaces with 3-valued temporal logics, 1999.

use std::ops::ControlFlow;
use std::time::Instant;

use entail_model::{
    Accepting, AfterFault, Fault, Full, Model, Numbered, Observer, Propositional, StateKey, Subformula,
    SubformulaId, Subformulas, Valuation,
};

use crate::context::SearchContext;
use crate::lasso::{self, Stem};
use crate::memory_estimate;
use crate::scc::{ByModel, Complete, Open, TransitionMarks};
use crate::stack::{self, Advance, SearchStack};
use crate::{Checks, Counterexample, End, ErrorKind, Limit, Limits, Outcome};

/// The result of evaluating a formula in the initial states.
pub struct CtlResult<S> {
    /// Whether the formula holds in all initial states; `None` if unknown.
    pub holds: Option<bool>,
    pub outcome: Outcome<S>,
    /// A witness or counterexample that starts in the first initial state, if the formula is temporal or the negation
    /// of a temporal one.
    pub witness: Option<Witness<S>>,
}

/// A run that proves an existential formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness<S> {
    pub steps: Vec<S>,
    /// The number of steps before the cycle; `None` if the witness is finite.
    pub cycle_start: Option<usize>,
}

/// Whether a formula holds in the initial states of a model, whatever follows a fault; `None` if the result depends on
/// that, or if a search was cut short. `surely` is the formula under pessimistic assumptions and is evaluated first;
/// `perhaps` is the formula under optimistic ones.
pub fn decide<M, S, O>(
    model: &M,
    mut store: impl FnMut() -> S,
    [surely, perhaps]: [(&Subformulas, SubformulaId); 2],
    limits: &Limits,
    observer: &mut O,
) -> CtlResult<M::Step>
where
    M: Accepting + Propositional,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let began = Instant::now();
    let mut answered = ctl(model, &mut store(), surely.0, surely.1, limits, observer);
    if answered.holds == Some(false) && answered.outcome.ignored_fault.is_some() {
        let limits = Limits { time: limits.time.map(|time| time.saturating_sub(began.elapsed())), ..*limits };
        answered = ctl(model, &mut store(), perhaps.0, perhaps.1, &limits, observer);
        if answered.holds == Some(true) {
            return CtlResult { holds: None, witness: None, ..answered };
        }
    }
    if answered.holds.is_some() {
        // The answer is the same whatever follows the fault.
        answered.outcome.ignored_fault = None;
    }
    answered
}

/// Evaluates a formula in the initial states of a model. `store` must be empty.
///
/// Depth is the number of states on the path of one search, not counting the first.
pub fn ctl<M, S, O>(
    model: &M,
    store: &mut S,
    questions: &Subformulas,
    asked: SubformulaId,
    limits: &Limits,
    observer: &mut O,
) -> CtlResult<M::Step>
where
    M: Accepting + Propositional,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let context = SearchContext::new(model, store, &Checks::OF_CLAIMS, limits, observer);
    let mut checker =
        CtlChecker { context, questions, searches: Vec::new(), idle: Vec::new(), shown: None, unanswered: None };
    let answer = checker.ask_initial_states(asked);
    let CtlChecker { context, shown, unanswered, .. } = checker;
    let (holds, explored) = match answer {
        ControlFlow::Continue(holds) => (Some(holds), ControlFlow::Continue(())),
        ControlFlow::Break(end) => (None, ControlFlow::Break(end)),
    };
    let (mut outcome, _) = context.finish(explored);
    if let Some((key, fault)) = unanswered {
        outcome.errors = 1;
        outcome.counterexample = lasso::find_stem(model, store, &[key], None, |_, _| true).and_then(|way| {
            let found = lasso::build_run(model, way.start, &way.path_steps, &[])?;
            Some(Counterexample { error: ErrorKind::Fault(fault), ..found })
        });
    }
    let about = positive(questions, asked);
    let witness = shown.zip(questions.number(about)).and_then(|(shown, number)| match questions.get(about) {
        // The path has one step and cannot be shortened.
        Subformula::Next { .. } => Witness::along(model, &shown.way, None),
        _ => shown.tell(model, store, number),
    });
    CtlResult { holds, outcome, witness }
}

/// A formula without its outer negations.
fn positive(questions: &Subformulas, asked: SubformulaId) -> SubformulaId {
    match questions.get(asked) {
        Subformula::Not(operand) => positive(questions, operand),
        _ => asked,
    }
}

/// The number stored with a state: two bits for the truth value of each temporal subformula, and above these the index
/// of the state among the open ones, if it is open.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

const ANSWER_BITS: u32 = 2 * Subformulas::MOST_TEMPORAL;

impl Word {
    fn answer(self, number: u32) -> Option<bool> {
        match self.0 >> (2 * number) & 3 {
            0 => None,
            bits => Some(bits == 2),
        }
    }

    fn answered(self, number: u32, answer: bool) -> Word {
        Word(self.0 | (1 + u64::from(answer)) << (2 * number))
    }

    fn place(self) -> u64 {
        self.0 >> ANSWER_BITS
    }

    fn placed(self, place: u64) -> Word {
        Word(self.0 & ((1 << ANSWER_BITS) - 1) | place << ANSWER_BITS)
    }
}

struct CtlChecker<'a, M: Accepting, S: Numbered, O: ?Sized> {
    context: SearchContext<'a, M, S, O>,
    questions: &'a Subformulas,
    /// Suspended searches; each waits for the next one.
    searches: Vec<Box<Search<S::Key>>>,
    /// Finished searches, kept to reuse their memory: at most as many as the nesting depth of the formula.
    idle: Vec<Box<Search<S::Key>>>,
    /// The run that the outermost search found.
    shown: Option<FoundRun<S::Key>>,
    /// The state in which a proposition cannot be evaluated.
    unanswered: Option<(S::Key, Fault)>,
}

/// The evaluation of one temporal subformula in one state.
struct Search<K> {
    number: u32,
    kind: Subformula,
    /// Indices of open states in this search are greater than this.
    base: u64,
    /// The bytes of the suspended searches.
    waiting: u64,
    open: Open<K>,
    /// The indices of its states in suspended searches.
    before: Vec<u64>,
    stack: SearchStack<K, TransitionMarks>,
    /// A reached state to examine next.
    ahead: Option<(K, TransitionMarks)>,
    /// A step that was taken (or `None` at the end) before the search was suspended.
    taken: Option<Option<Advance<K, TransitionMarks>>>,
}

/// A run that a search found: a path and a component.
struct FoundRun<K> {
    way: Stem<K>,
    component: Option<Vec<K>>,
}

/// The value of a subformula, as far as it is known.
enum Truth {
    Known(bool),
    /// Another subformula must be evaluated first.
    Depends(SubformulaId),
    Unanswerable(Fault),
}

/// The result of advancing a search.
enum Status<K> {
    /// The search waits for the value of a subformula in a state.
    Suspended(SubformulaId, K),
    /// The search has recorded its answer.
    Done,
}

impl<'a, M, S, O> CtlChecker<'a, M, S, O>
where
    M: Accepting + Propositional,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    fn ask_initial_states(&mut self, asked: SubformulaId) -> ControlFlow<End, bool> {
        let mut all = true;
        for (number, key) in (0..).zip(self.context.keys_of_initial_states()?) {
            self.context.worker.findings.origin = number;
            all &= self.ask(asked, key)?;
        }
        ControlFlow::Continue(all)
    }

    /// Evaluates a formula in a state.
    fn ask(&mut self, asked: SubformulaId, key: S::Key) -> ControlFlow<End, bool> {
        loop {
            match self.truth(asked, key) {
                Truth::Known(answer) => return ControlFlow::Continue(answer),
                Truth::Depends(question) => self.search(question, key)?,
                Truth::Unanswerable(fault) => return self.give_up(key, fault),
            }
        }
    }

    fn give_up<T>(&mut self, key: S::Key, fault: Fault) -> ControlFlow<End, T> {
        self.unanswered = Some((key, fault));
        ControlFlow::Break(End::Error)
    }

    /// Evaluates a temporal subformula in a state.
    fn search(&mut self, question: SubformulaId, key: S::Key) -> ControlFlow<End> {
        self.begin(question, key);
        while let Some(mut search) = self.searches.pop() {
            match self.advance(&mut search)? {
                Status::Suspended(question, key) => {
                    self.searches.push(search);
                    self.context.log_inside(true);
                    self.begin(question, key);
                }
                Status::Done => {
                    self.context.clear(&mut search.stack);
                    if !self.searches.is_empty() {
                        self.context.log_inside(false);
                    }
                    self.idle.push(search);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn begin(&mut self, question: SubformulaId, root: S::Key) {
        let waiting = self.searches.last().map(|search| (search.open.last(), search.waiting + search.bytes()));
        let mut search = self.idle.pop().unwrap_or_else(|| Box::new(Search::new()));
        search.number = self.questions.number(question).unwrap_or_default();
        search.kind = self.questions.get(question);
        (search.base, search.waiting) = waiting.unwrap_or_default();
        search.open.begin_above(search.base);
        search.before.clear();
        search.ahead = Some((root, TransitionMarks::default()));
        search.taken = None;
        self.searches.push(search);
    }

    /// Advances a search until it has an answer or needs one.
    fn advance(&mut self, search: &mut Search<S::Key>) -> ControlFlow<End, Status<S::Key>> {
        let (notes, all) = (ByModel(self.context.model()), self.context.model().acceptance());
        loop {
            if let Some((key, note)) = search.ahead {
                match self.look(search, key)? {
                    Look::Wait(question) => return ControlFlow::Continue(Status::Suspended(question, key)),
                    Look::Found => return self.found(search, Some(key), None),
                    Look::Passed => self.close(search, key)?,
                    Look::Through => {
                        self.enter(search, key, note)?;
                        self.context.enter_stable(&mut search.stack, key, &notes)?;
                    }
                }
                search.ahead = None;
            }
            let taken = match search.taken.take() {
                Some(taken) => taken,
                None => self.context.step(&mut search.stack, &notes)?,
            };
            let depth = taken.map(|taken| taken.depth - 1);
            match self.retreat(search, depth)? {
                Retreat::Done => {}
                Retreat::Wait(question, key) => {
                    search.taken = Some(taken);
                    return ControlFlow::Continue(Status::Suspended(question, key));
                }
                Retreat::Accepted(component) => return self.found(search, Some(component[0]), Some(component)),
            }
            let Some(taken) = taken else { return ControlFlow::Continue(Status::Done) };
            if taken.broken && search.after_fault() == AfterFault::Yes {
                return self.found(search, None, None);
            }
            let Some(key) = taken.stable() else { continue };
            match self.known(search, key) {
                Known::Nothing => search.ahead = Some((key, taken.note)),
                Known::Answer(true) => return self.found(search, Some(key), None),
                Known::Answer(false) | Known::Elsewhere => self.context.count_known(key, false),
                Known::Open(place) => {
                    self.context.count_known(key, true);
                    let accepted = search.open.join(place, taken.note).is_accepted(all);
                    if accepted && matches!(search.kind, Subformula::WeakUntil { .. }) {
                        let component = search.open.deepest().to_vec();
                        return self.found(search, Some(key), Some(component));
                    }
                }
            }
        }
    }

    /// The value that a search knows for a state it has reached.
    fn known(&self, search: &Search<S::Key>, key: S::Key) -> Known {
        let word = Word(self.context.shared.store.number(key));
        match (search.kind, word.answer(search.number)) {
            // `EX` asks for the value of another formula.
            (Subformula::Next { .. }, _) => Known::Nothing,
            // The state belongs to another component.
            (Subformula::FairComponent(_), Some(_)) => Known::Elsewhere,
            (_, Some(answer)) => Known::Answer(answer),
            (_, None) if word.place() > search.base => Known::Open(word.place()),
            (_, None) => Known::Nothing,
        }
    }

    /// Examines a state that a search has reached.
    fn look(&mut self, search: &Search<S::Key>, key: S::Key) -> ControlFlow<End, Look> {
        let (first, then) = match search.kind {
            Subformula::Next { .. } if search.open.states().is_empty() => {
                return ControlFlow::Continue(Look::Through);
            }
            Subformula::Next { then, .. } => (None, then),
            Subformula::Until { first, then, .. }
            | Subformula::WeakUntil { first, then, .. }
            | Subformula::UntilComponent { first, then, .. } => (Some(first), then),
            Subformula::FairComponent(of) => {
                // The search must visit the whole component, but the operand's value in each of its states is needed in
                // the end.
                return match self.truth(of, key) {
                    Truth::Known(_) => ControlFlow::Continue(Look::Through),
                    Truth::Depends(question) => ControlFlow::Continue(Look::Wait(question)),
                    Truth::Unanswerable(fault) => self.give_up(key, fault),
                };
            }
            Subformula::Const(_)
            | Subformula::Proposition(_)
            | Subformula::Not(_)
            | Subformula::And(..)
            | Subformula::Or(..) => unreachable!("no question about runs"),
        };
        for (question, so, otherwise) in
            [(Some(then), Some(Look::Found), None), (first, Some(Look::Through), Some(Look::Passed))]
        {
            let Some(question) = question else { break };
            let look = match self.truth(question, key) {
                Truth::Known(true) => so,
                Truth::Known(false) => otherwise,
                Truth::Depends(question) => Some(Look::Wait(question)),
                Truth::Unanswerable(fault) => return self.give_up(key, fault),
            };
            if let Some(look) = look {
                return ControlFlow::Continue(look);
            }
        }
        ControlFlow::Continue(Look::Passed)
    }

    /// Enters a new state.
    fn enter(&mut self, search: &mut Search<S::Key>, key: S::Key, note: TransitionMarks) -> ControlFlow<End> {
        if !self.context.may_expand(search.open.depth()) {
            // States behind the limit could change every answer.
            return ControlFlow::Break(End::Limit(Limit::Depth));
        }
        let word = Word(self.context.shared.store.number(key));
        let depth = if search.open.states().is_empty() { 0 } else { search.stack.depth() + 1 };
        let place = search.open.enter(key, depth, note);
        *self.context.stats().entered.get_or_insert_default() += 1;
        search.before.push(word.place());
        // The estimate need not be updated at each state: memory grows in large steps.
        let count = search.open.states().len() as u64;
        if count.is_power_of_two() || count.is_multiple_of(64) {
            self.context.shared.memory.auxiliary = search.waiting + search.bytes();
        }
        self.write(search, key, word.placed(place))
    }

    /// Records that the formula is false in this state.
    fn close(&mut self, search: &Search<S::Key>, key: S::Key) -> ControlFlow<End> {
        if matches!(search.kind, Subformula::Next { .. }) {
            return ControlFlow::Continue(());
        }
        let word = Word(self.context.shared.store.number(key));
        self.write(search, key, word.answered(search.number, false))
    }

    fn write(&mut self, search: &Search<S::Key>, key: S::Key, word: Word) -> ControlFlow<End> {
        if self.context.shared.store.number(key) == 0 {
            return self.context.give_number(key, word.0, &search.stack);
        }
        self.context.shared.store.set_number(key, word.0);
        ControlFlow::Continue(())
    }

    /// Backtracks to the state at a depth, or before all states. The formula is false in the states left behind, unless
    /// an accepted component is found among them.
    fn retreat(&mut self, search: &mut Search<S::Key>, depth: Option<u64>) -> ControlFlow<End, Retreat<S::Key>> {
        while let Some(complete) = search.open.retreat(depth) {
            let answer = match self.judge(search, complete)? {
                Judged::Answer(answer) => answer,
                Judged::Stop(retreat) => return ControlFlow::Continue(retreat),
            };
            for (place, key) in search.open.close() {
                let word = Word(self.context.shared.store.number(key)).placed(search.before[place]);
                self.context.shared.store.set_number(key, word.answered(search.number, answer).0);
            }
            search.before.truncate(search.open.states().len());
        }
        ControlFlow::Continue(Retreat::Done)
    }

    /// The value of the formula in the deepest component, which is complete.
    fn judge(&mut self, search: &Search<S::Key>, complete: Complete) -> ControlFlow<End, Judged<S::Key>> {
        let (model, component) = (self.context.model(), search.open.deepest());
        let judged = match search.kind {
            Subformula::WeakUntil { .. } if complete.may_be_accepted_in_part(model.acceptance()) => {
                match lasso::fair_subcomponent(model, self.context.shared.store, component) {
                    Ok(None) => Judged::Answer(false),
                    Ok(Some(accepted)) => Judged::Stop(Retreat::Accepted(accepted)),
                    Err(Full) => return ControlFlow::Break(End::Limit(Limit::Memory)),
                }
            }
            Subformula::FairComponent(of) if complete.is_accepted(model.acceptance()) => {
                let everywhere = component.iter().all(|&key| matches!(self.truth(of, key), Truth::Known(true)));
                Judged::Answer(everywhere)
            }
            // This component may be part of a larger one with states that the search does not enter.
            Subformula::UntilComponent { component: of_first, .. } if complete.is_accepted(model.acceptance()) => {
                match self.truth(of_first, component[0]) {
                    Truth::Known(true) => Judged::Stop(Retreat::Accepted(component.to_vec())),
                    Truth::Known(false) => Judged::Answer(false),
                    Truth::Depends(question) => Judged::Stop(Retreat::Wait(question, component[0])),
                    Truth::Unanswerable(fault) => return self.give_up(component[0], fault),
                }
            }
            _ => Judged::Answer(false),
        };
        ControlFlow::Continue(judged)
    }

    /// A run was found, so the formula is true in all open states. `key` is `None` if the run ends in a fault.
    fn found(
        &mut self,
        search: &mut Search<S::Key>,
        target: Option<S::Key>,
        component: Option<Vec<S::Key>>,
    ) -> ControlFlow<End, Status<S::Key>> {
        if let Some(target) = target
            && self.searches.is_empty()
            && self.shown.is_none()
        {
            let path_steps = search.stack.path_steps();
            let way = Stem { start: self.context.worker.findings.origin as u32, path_steps, target };
            self.shown = Some(FoundRun { way, component });
        }
        for (&key, &before) in search.open.states().iter().zip(&search.before) {
            let word = Word(self.context.shared.store.number(key)).placed(before).answered(search.number, true);
            self.context.shared.store.set_number(key, word.0);
        }
        if let Some(target) = target
            && !matches!(search.kind, Subformula::Next { .. })
        {
            let word = Word(self.context.shared.store.number(target));
            self.write(search, target, word.answered(search.number, true))?;
        }
        ControlFlow::Continue(Status::Done)
    }

    /// The value of a subformula in a state, as far as it is known.
    fn truth(&mut self, asked: SubformulaId, key: S::Key) -> Truth {
        let word = Word(self.context.shared.store.number(key));
        self.truth_of(asked, key, word, &mut None)
    }

    /// The recursion is as deep as the formula.
    fn truth_of(
        &mut self,
        asked: SubformulaId,
        key: S::Key,
        word: Word,
        valuation: &mut Option<Valuation>,
    ) -> Truth {
        match self.questions.get(asked) {
            Subformula::Const(value) => Truth::Known(value),
            Subformula::Proposition(bit) => {
                let valuation = valuation.get_or_insert_with(|| self.context.valuation(key));
                match valuation.fault.filter(|_| valuation.unknown >> bit & 1 == 1) {
                    Some(fault) => Truth::Unanswerable(fault),
                    None => Truth::Known(valuation.holds >> bit & 1 == 1),
                }
            }
            Subformula::Not(operand) => match self.truth_of(operand, key, word, valuation) {
                Truth::Known(answer) => Truth::Known(!answer),
                other @ (Truth::Depends(_) | Truth::Unanswerable(_)) => other,
            },
            Subformula::And(left, right) => match self.truth_of(left, key, word, valuation) {
                Truth::Known(true) => self.truth_of(right, key, word, valuation),
                other => other,
            },
            Subformula::Or(left, right) => match self.truth_of(left, key, word, valuation) {
                Truth::Known(false) => self.truth_of(right, key, word, valuation),
                other => other,
            },
            Subformula::Next { .. }
            | Subformula::Until { .. }
            | Subformula::WeakUntil { .. }
            | Subformula::FairComponent(_)
            | Subformula::UntilComponent { .. } => {
                let known = self.questions.number(asked).and_then(|number| word.answer(number));
                known.map_or(Truth::Depends(asked), Truth::Known)
            }
        }
    }
}

/// What to do with a reached state.
enum Look {
    /// Evaluate this subformula first.
    Wait(SubformulaId),
    Found,
    Through,
    Passed,
}

enum Known {
    Nothing,
    Answer(bool),
    /// The state belongs to another component.
    Elsewhere,
    /// The state is open in this search, with this index.
    Open(u64),
}

enum Retreat<K> {
    Done,
    /// Evaluate this subformula in this state first.
    Wait(SubformulaId, K),
    /// An accepted run exists in these states.
    Accepted(Vec<K>),
}

enum Judged<K> {
    /// The value is the same in all states of the component.
    Answer(bool),
    Stop(Retreat<K>),
}

impl<K: StateKey> Search<K> {
    fn new() -> Self {
        Search {
            number: 0,
            kind: Subformula::Const(false),
            base: 0,
            waiting: 0,
            open: Open::default(),
            before: Vec::new(),
            stack: SearchStack::default(),
            ahead: None,
            taken: None,
        }
    }

    /// The assumption about runs that end in a fault. Components do not depend on it.
    fn after_fault(&self) -> AfterFault {
        match self.kind {
            Subformula::Next { after_fault, .. }
            | Subformula::Until { after_fault, .. }
            | Subformula::WeakUntil { after_fault, .. }
            | Subformula::UntilComponent { after_fault, .. } => after_fault,
            Subformula::FairComponent(_)
            | Subformula::Const(_)
            | Subformula::Proposition(_)
            | Subformula::Not(_)
            | Subformula::And(..)
            | Subformula::Or(..) => AfterFault::No,
        }
    }

    fn bytes(&self) -> u64 {
        self.open.bytes() + memory_estimate::bytes(&self.before) as u64 + self.stack.bytes()
    }
}

impl<K: StateKey> FoundRun<K> {
    fn tell<M, S>(self, model: &M, store: &mut S, number: u32) -> Option<Witness<M::Step>>
    where
        M: Accepting,
        S: Numbered<Key = K>,
    {
        let FoundRun { way, component } = self;
        let targets = component.as_deref().unwrap_or(std::slice::from_ref(&way.target)).to_vec();
        // The path taken ends in the component only if its last step does.
        let known = targets.contains(&way.target).then_some(way);
        let allowed = |store: &S, key: K| Word(store.number(key)).answer(number) == Some(true);
        let way = lasso::find_stem(model, store, &targets, known, allowed)?;
        let cycle = match &component {
            None => None,
            Some(component) => Some(lasso::find_cycle(model, store, component, way.target)?),
        };
        Witness::along(model, &way, cycle)
    }
}

impl<S: Copy> Witness<S> {
    fn along<M: Model<Step = S>, K>(
        model: &M,
        way: &Stem<K>,
        cycle: Option<Vec<stack::PathStep>>,
    ) -> Option<Witness<S>> {
        let is_cycle = cycle.is_some();
        let found = lasso::build_run(model, way.start, &way.path_steps, &cycle.unwrap_or_default())?;
        let cycle_start = match found.error {
            ErrorKind::Cycle { begins } => is_cycle.then_some(begins),
            ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
        };
        Some(Witness { steps: found.steps, cycle_start })
    }
}
