//! Search for accepting strongly connected components.
//!
//! Tarjan's algorithm, extended to generalised Büchi acceptance (Couvreur: On-the-fly verification of linear temporal
//! logic, FM 1999). States on the path, and states that lead back to it, belong to open components. A transition back
//! into an open component closes a cycle and merges all components on it. The search ends as soon as the transitions
//! inside a component carry all marks, including those that its states request. If a complete component fails only its
//! Streett requests, a part of it that avoids the requesting states may still be accepting.

use std::ops::ControlFlow;

use entail_model::{AcceptanceMarks, Accepting, Event, Full, Numbered, Observer, State};

use crate::context::SearchContext;
use crate::lasso::{self, Stem};
use crate::memory_estimate;
use crate::replay;
use crate::stack::{Annotation, SearchStack};
use crate::{Checks, End, Limit, Limits, Outcome};

/// Searches for an accepted infinite run of `model`, a counterexample. `store` must be empty.
///
/// Depth is the number of stable states on the path, not counting the first.
pub fn scc<M, S, O>(model: &M, store: &mut S, limits: &Limits, observer: &mut O) -> Outcome<M::Step>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    scc_up_to(model, store, limits, observer, u64::MAX)
}

/// The same, but interrupts itself before it stores more than `most` states.
pub(crate) fn scc_up_to<M, S, O>(
    model: &M,
    store: &mut S,
    limits: &Limits,
    observer: &mut O,
    most: u64,
) -> Outcome<M::Step>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let mut accepted = None;
    let mut context = SearchContext::new(model, store, &Checks::OF_CLAIMS, limits, observer);
    let explored = explore(&mut context, &mut accepted, most);
    let (outcome, fault) = context.finish(explored);
    match (outcome.end, fault) {
        (End::Error, Some(found)) => Outcome { counterexample: replay::retrace(model, found), ..outcome },
        (End::Error, None) => {
            let lasso =
                accepted.and_then(|Accepted { component, stem }| lasso::find_lasso(model, store, &component, stem));
            Outcome { errors: 1, counterexample: lasso, ..outcome }
        }
        (End::Complete | End::Limit(_), _) => outcome,
    }
}

/// The marks and requests of a set of transitions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TransitionMarks {
    /// The marks that at least one of them carries.
    pub marks: AcceptanceMarks,
    /// The Streett requests of their source states.
    pub requests: AcceptanceMarks,
}

impl TransitionMarks {
    pub fn and(self, other: TransitionMarks) -> TransitionMarks {
        TransitionMarks { marks: self.marks.and(other.marks), requests: self.requests.and(other.requests) }
    }

    /// Whether a run that takes exactly these transitions infinitely often is accepted.
    pub fn is_accepted(self, all: AcceptanceMarks) -> bool {
        self.marks.contain(all.and(self.requests))
    }
}

/// The open components and their states.
pub(crate) struct Open<K> {
    /// All numbers are greater than this.
    base: u64,
    /// In the order in which they were entered. The number of a state is its index, counted from 1, plus the base.
    states: Vec<K>,
    /// Each component begins where the previous one ends.
    components: Vec<Component>,
    /// The numbers of the states on the path, each with its depth on the stack.
    path: Vec<(u64, u64)>,
}

struct Component {
    /// The number of its first state.
    first: u64,
    /// The marks of the transitions inside it, if there are any.
    inside: Option<TransitionMarks>,
    /// The marks of the transition that entered it.
    entered: TransitionMarks,
}

/// A component to which no state can be added.
#[derive(Clone, Copy)]
pub(crate) struct Complete {
    /// The marks of the transitions inside it, if there are any.
    inside: Option<TransitionMarks>,
}

impl Complete {
    /// Whether a run that takes all of its transitions infinitely often is accepted.
    pub fn is_accepted(self, all: AcceptanceMarks) -> bool {
        self.inside.is_some_and(|inside| inside.is_accepted(all))
    }

    /// Whether a run that takes some of its transitions may be accepted, although one that takes all of them is not.
    pub fn may_be_accepted_in_part(self, all: AcceptanceMarks) -> bool {
        self.inside.is_some_and(|inside| inside.marks.contain(all) && !inside.requests.is_empty())
    }
}

/// The number of a state in a closed component.
const CLOSED: u64 = u64::MAX;

impl<K> Default for Open<K> {
    fn default() -> Self {
        Open { base: 0, states: Vec::new(), components: Vec::new(), path: Vec::new() }
    }
}

impl<K: Copy> Open<K> {
    /// Removes all states; new numbers will be greater than `base`.
    pub fn begin_above(&mut self, base: u64) {
        self.base = base;
        self.states.clear();
        self.components.clear();
        self.path.clear();
    }

    /// The greatest number.
    pub fn last(&self) -> u64 {
        self.base + self.states.len() as u64
    }

    fn place(&self, number: u64) -> usize {
        (number - self.base) as usize - 1
    }

    /// Enters a new state, as a component of its own. Returns its number.
    pub fn enter(&mut self, key: K, depth: u64, entered: TransitionMarks) -> u64 {
        self.states.push(key);
        let first = self.last();
        self.components.push(Component { first, inside: None, entered });
        self.path.push((depth, first));
        first
    }

    /// Backtracks to the state at a depth, or before all states, unless that completes a component: then returns it,
    /// and the caller must close it.
    pub fn retreat(&mut self, depth: Option<u64>) -> Option<Complete> {
        while let Some(&(deep, number)) = self.path.last()
            && depth.is_none_or(|depth| deep > depth)
        {
            if let Some(component) = self.components.last()
                && component.first == number
            {
                return Some(Complete { inside: component.inside });
            }
            self.path.pop();
        }
        None
    }

    /// Closes the deepest component. Returns its states with their indices.
    pub fn close(&mut self) -> impl Iterator<Item = (usize, K)> {
        self.path.pop();
        let first = self.components.pop().map_or(0, |component| self.place(component.first));
        (first..).zip(self.states.drain(first..))
    }

    /// The states of the deepest component.
    pub fn deepest(&self) -> &[K] {
        let first = self.components.last().map_or(0, |component| self.place(component.first));
        &self.states[first..]
    }

    /// Adds a transition from the last state of the path to the one with this number. Returns the marks of the
    /// component that contains the cycle.
    pub fn join(&mut self, number: u64, mut note: TransitionMarks) -> TransitionMarks {
        while let Some(component) = self.components.pop_if(|component| component.first > number) {
            note = component.inside.map_or(note, |inside| note.and(inside)).and(component.entered);
        }
        let Some(component) = self.components.last_mut() else { return note };
        *component.inside.insert(component.inside.map_or(note, |inside| inside.and(note)))
    }

    /// The depth of the next state on the path.
    pub fn depth(&self) -> u64 {
        self.path.len() as u64
    }

    /// All open states.
    pub fn states(&self) -> &[K] {
        &self.states
    }

    pub fn bytes(&self) -> u64 {
        let bytes = [
            memory_estimate::bytes(&self.states),
            memory_estimate::bytes(&self.components),
            memory_estimate::bytes(&self.path),
        ];
        bytes.iter().sum::<usize>() as u64
    }
}

/// Notes the marks and requests that the model gives to transitions.
pub(crate) struct ByModel<'m, M>(pub &'m M);

impl<M: Accepting> Annotation<M> for ByModel<'_, M> {
    type Note = TransitionMarks;

    fn at(&self, state: &State, steps: &[M::Step]) -> TransitionMarks {
        TransitionMarks {
            marks: self.0.acceptance_at(state, steps),
            requests: self.0.streett_requests(state, steps),
        }
    }

    fn of(&self, step: M::Step) -> TransitionMarks {
        TransitionMarks { marks: self.0.acceptance_of(step), requests: AcceptanceMarks::default() }
    }

    fn both(one: TransitionMarks, other: TransitionMarks) -> TransitionMarks {
        one.and(other)
    }
}

/// The states of an accepting component, and a path there, if one was found before the whole component was visited.
struct Accepted<K> {
    component: Vec<K>,
    stem: Option<Stem<K>>,
}

fn explore<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    accepted: &mut Option<Accepted<S::Key>>,
    most: u64,
) -> ControlFlow<End>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let (mut open, mut stack) = (Open::default(), SearchStack::default());
    for (number, key) in (0..).zip(context.keys_of_initial_states()?) {
        if context.shared.store.number(key) == 0 && context.may_expand(0) {
            context.worker.findings.origin = number;
            stack.clear();
            *accepted = descend(context, &mut open, &mut stack, key, most)?;
            if accepted.is_some() {
                return ControlFlow::Break(End::Error);
            }
        }
    }
    ControlFlow::Continue(())
}

/// Explores all new states reachable from an initial state, up to an accepting component.
fn descend<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    open: &mut Open<S::Key>,
    stack: &mut SearchStack<S::Key, TransitionMarks>,
    initial: S::Key,
    most: u64,
) -> ControlFlow<End, Option<Accepted<S::Key>>>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let (notes, all) = (ByModel(context.model()), context.model().acceptance());
    let number = open.enter(initial, 0, TransitionMarks::default());
    context.give_number(initial, number, stack)?;
    context.enter_stable(stack, initial, &notes)?;
    while let Some(taken) = context.step(stack, &notes)? {
        if let Some(component) = retreat(context, open, Some(taken.depth - 1))? {
            return ControlFlow::Continue(Some(Accepted { component, stem: None }));
        }
        let Some(key) = taken.stable() else { continue };
        match context.shared.store.number(key) {
            0 => {
                if context.stats().stored >= most {
                    return ControlFlow::Break(End::Limit(Limit::Interrupted));
                }
                if context.may_expand(open.depth()) {
                    let number = open.enter(key, taken.depth, taken.note);
                    context.shared.memory.auxiliary = open.bytes();
                    context.give_number(key, number, stack)?;
                    context.enter_stable(stack, key, &notes)?;
                }
            }
            CLOSED => context.count_known(key, false),
            number => {
                context.count_known(key, true);
                if open.join(number, taken.note).is_accepted(all) {
                    let start = context.worker.findings.origin as u32;
                    let stem = Stem { start, path_steps: stack.path_steps(), target: key };
                    let component = open.deepest().to_vec();
                    context.log_event(|state| Event::Accepted { state }, key);
                    return ControlFlow::Continue(Some(Accepted { component, stem: Some(stem) }));
                }
            }
        }
    }
    let component = retreat(context, open, None)?;
    ControlFlow::Continue(component.map(|component| Accepted { component, stem: None }))
}

/// Backtracks to the state at a depth, or before all states, and closes the components that this completes. Stops at
/// the first one with an accepting part, and returns the states of that part.
fn retreat<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    open: &mut Open<S::Key>,
    depth: Option<u64>,
) -> ControlFlow<End, Option<Vec<S::Key>>>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    while let Some(complete) = open.retreat(depth) {
        // The transitions do not meet all requests; otherwise the search would have ended.
        if complete.may_be_accepted_in_part(context.model().acceptance()) {
            match lasso::fair_subcomponent(context.model(), context.shared.store, open.deepest()) {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    context.log_event(|state| Event::Accepted { state }, accepted[0]);
                    return ControlFlow::Continue(Some(accepted));
                }
                Err(Full) => return ControlFlow::Break(End::Limit(Limit::Memory)),
            }
        }
        open.close().for_each(|(_, key)| context.shared.store.set_number(key, CLOSED));
    }
    ControlFlow::Continue(None)
}
