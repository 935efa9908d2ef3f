//! Strongly connected components: is there an accepting cycle?
//!
//! Tarjan's algorithm, extended to generalised Büchi acceptance (Couvreur: On-the-fly verification of linear temporal logic, FM
//! 1999). States on the path, and states that lead back to it, belong to open components. A transition back into an open
//! component closes a cycle and merges all components on it. The search ends as soon as the transitions inside a component carry
//! all marks, and those that its states request. If a complete component fails its Streett requests only, a part of it that avoids
//! the requesting states may still be accepting.

use std::ops::ControlFlow;

use entail_model::{AcceptanceMarks, Accepting, Event, Full, Numbered, Observer, State};

use crate::context::SearchContext;
use crate::follow;
use crate::lasso::{self, WayIn};
use crate::memory_estimate;
use crate::stack::{Notes, SearchStack};
use crate::{Checks, End, Limit, Limits, Outcome};

/// Looks for an infinite run of `model` that is accepted: a counterexample. `store` is empty at first.
///
/// Depth is the number of stable states on the path, but for the first one.
pub fn scc<M, S, O>(model: &M, store: &mut S, limits: &Limits, observer: &mut O) -> Outcome<M::Step>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let mut accepted = None;
    let mut context = SearchContext::new(model, store, &Checks::OF_CLAIMS, limits, observer);
    let explored = explore(&mut context, &mut accepted);
    let (outcome, fault) = context.finish(explored);
    match (outcome.end, fault) {
        (End::Error, Some(found)) => Outcome { counterexample: follow::retrace(model, found), ..outcome },
        (End::Error, None) => {
            let lasso =
                accepted.and_then(|Accepted { component, way }| lasso::through(model, store, &component, way));
            Outcome { errors: 1, counterexample: lasso, ..outcome }
        }
        (End::Complete | End::Limit(_), _) => outcome,
    }
}

/// What is known of steps together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Note {
    /// Those to which at least one of them belongs.
    pub marks: AcceptanceMarks,
    /// What the states demand from which they were taken.
    pub requests: AcceptanceMarks,
}

impl Note {
    pub fn and(self, other: Note) -> Note {
        Note { marks: self.marks.and(other.marks), requests: self.requests.and(other.requests) }
    }

    /// Whether a run that takes all of these steps again and again, and no others, is accepted.
    pub fn is_accepted(self, all: AcceptanceMarks) -> bool {
        self.marks.contain(all.and(self.requests))
    }
}

/// The states of components that are not complete, and these components.
pub(crate) struct Open<K> {
    /// All numbers are greater than this.
    base: u64,
    /// In the order in which they were entered; the number of a state is its place, counted from 1, above the base.
    states: Vec<K>,
    /// Each begins where the one before it ends.
    components: Vec<Component>,
    /// Numbers of the states on the path, each with its depth in the descent.
    path: Vec<(u64, u64)>,
}

struct Component {
    /// The number of its first state.
    first: u64,
    /// Of the steps inside it, if it has any.
    inside: Option<Note>,
    /// Of the step by which it was entered.
    entered: Note,
}

/// A component that nothing new can be added to.
#[derive(Clone, Copy)]
pub(crate) struct Complete {
    /// Of the steps inside it, if it has any.
    inside: Option<Note>,
}

impl Complete {
    /// Whether a run that takes all of its steps again and again is accepted.
    pub fn is_accepted(self, all: AcceptanceMarks) -> bool {
        self.inside.is_some_and(|inside| inside.is_accepted(all))
    }

    /// Whether a run that takes some of its steps may be accepted, though one that takes all of them is not.
    pub fn may_be_accepted_in_part(self, all: AcceptanceMarks) -> bool {
        self.inside.is_some_and(|inside| inside.marks.contain(all) && !inside.requests.is_empty())
    }
}

/// The number of states that no cycle leads through which is not known.
const CLOSED: u64 = u64::MAX;

impl<K> Default for Open<K> {
    fn default() -> Self {
        Open { base: 0, states: Vec::new(), components: Vec::new(), path: Vec::new() }
    }
}

impl<K: Copy> Open<K> {
    /// Forgets all; numbers will be greater than `base`.
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

    /// Goes on in a new state, which is a component by itself until more is known. Returns its number.
    pub fn enter(&mut self, key: K, depth: u64, entered: Note) -> u64 {
        self.states.push(key);
        let first = self.last();
        self.components.push(Component { first, inside: None, entered });
        self.path.push((depth, first));
        first
    }

    /// Goes back to the state at a depth, or before all states, unless there is a component on the way: that one is
    /// complete, and is to be closed. What is known of the steps inside it, if it has any.
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

    /// Closes the deepest component. Its states are passed on with their places.
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

    /// A step leads from the last state of the path to one with this number. Returns what is known of the component that
    /// the cycle lies in.
    pub fn join(&mut self, number: u64, mut note: Note) -> Note {
        while let Some(component) = self.components.pop_if(|component| component.first > number) {
            note = component.inside.map_or(note, |inside| note.and(inside)).and(component.entered);
        }
        let Some(component) = self.components.last_mut() else { return note };
        *component.inside.insert(component.inside.map_or(note, |inside| inside.and(note)))
    }

    /// That of a state behind the path.
    pub fn depth(&self) -> u64 {
        self.path.len() as u64
    }

    /// All that are open.
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

/// Notes what the model says of states and steps.
pub(crate) struct ByModel<'m, M>(pub &'m M);

impl<M: Accepting> Notes<M> for ByModel<'_, M> {
    type Note = Note;

    fn at(&self, state: &State, steps: &[M::Step]) -> Note {
        Note { marks: self.0.acceptance_at(state, steps), requests: self.0.streett_requests(state, steps) }
    }

    fn of(&self, step: M::Step) -> Note {
        Note { marks: self.0.acceptance_of(step), requests: AcceptanceMarks::default() }
    }

    fn both(one: Note, other: Note) -> Note {
        one.and(other)
    }
}

/// What an accepted run goes through, and a way there, if one was found before all of the component was seen.
struct Accepted<K> {
    component: Vec<K>,
    way: Option<WayIn<K>>,
}

fn explore<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    accepted: &mut Option<Accepted<S::Key>>,
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
            *accepted = descend(context, &mut open, &mut stack, key)?;
            if accepted.is_some() {
                return ControlFlow::Break(End::Error);
            }
        }
    }
    ControlFlow::Continue(())
}

/// Explores all that is new behind an initial state, up to an accepted run.
fn descend<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    open: &mut Open<S::Key>,
    stack: &mut SearchStack<S::Key, Note>,
    initial: S::Key,
) -> ControlFlow<End, Option<Accepted<S::Key>>>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let (notes, all) = (ByModel(context.model()), context.model().acceptance());
    let number = open.enter(initial, 0, Note::default());
    context.give_number(initial, number, stack)?;
    context.enter_stable(stack, initial, &notes)?;
    while let Some(taken) = context.step(stack, &notes)? {
        if let Some(component) = retreat(context, open, Some(taken.depth - 1))? {
            return ControlFlow::Continue(Some(Accepted { component, way: None }));
        }
        let Some(key) = taken.stable() else { continue };
        match context.shared.store.number(key) {
            0 => {
                if context.may_expand(open.depth()) {
                    let number = open.enter(key, taken.depth, taken.note);
                    context.shared.memory.aside = open.bytes();
                    context.give_number(key, number, stack)?;
                    context.enter_stable(stack, key, &notes)?;
                }
            }
            CLOSED => context.count_known(key, false),
            number => {
                context.count_known(key, true);
                if open.join(number, taken.note).is_accepted(all) {
                    let start = context.worker.findings.origin as u32;
                    let way = WayIn { start, turns: stack.turns(), target: key };
                    let component = open.deepest().to_vec();
                    context.tell(|state| Event::Accepted { state }, key);
                    return ControlFlow::Continue(Some(Accepted { component, way: Some(way) }));
                }
            }
        }
    }
    let component = retreat(context, open, None)?;
    ControlFlow::Continue(component.map(|component| Accepted { component, way: None }))
}

/// Goes back to the state at a depth, or before all states, and closes all components that are complete then; but for
/// the first one with states that an accepted run goes through: those are returned.
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
        // Its steps do not meet all requests: otherwise the search would have ended.
        if complete.may_be_accepted_in_part(context.model().acceptance()) {
            match lasso::undemanding(context.model(), context.shared.store, open.deepest()) {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    context.tell(|state| Event::Accepted { state }, accepted[0]);
                    return ControlFlow::Continue(Some(accepted));
                }
                Err(Full) => return ControlFlow::Break(End::Limit(Limit::Memory)),
            }
        }
        open.close().for_each(|(_, key)| context.shared.store.set_number(key, CLOSED));
    }
    ControlFlow::Continue(None)
}
