//! Components: is there an infinite run that is accepted?
//!
//! Tarjan's search as Couvreur turned it to generalised acceptance (*On-the-fly verification of linear temporal logic*,
//! 1999). States on the path, and those that lead back to it, lie in components that are still open. A step back into an
//! open component closes a circle, and all components on the way become one. As soon as the steps inside one belong to
//! all sets, there is an accepted run, and the search ends.

use std::ops::ControlFlow;

use entail_model::{Accepting, Numbered, Observer, Sets, State, Successors};

use crate::descent::{Ahead, Descent, Notes};
use crate::footprint;
use crate::lasso;
use crate::run::Run;
use crate::{Checks, End, Errors, Limits, Outcome};

/// Looks for an infinite run of `model` that is accepted: a counterexample. `store` is empty at first.
///
/// Depth is counted as in [`depth_first`](crate::depth_first).
pub fn components<M, S, O>(model: &M, store: &mut S, limits: &Limits, observer: &mut O) -> Outcome<M::Step>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let checks = Checks { faults: false, assertions: false, end_states: false, errors: Errors::First };
    let mut open = Open::default();
    let mut run = Run::new(model, store, &checks, limits, observer);
    let explored = explore(&mut run, &mut open);
    let (outcome, _) = run.finish(explored);
    match outcome.end {
        End::Error => {
            let lasso = lasso::through(model, store, open.last());
            Outcome { errors: 1, counterexample: lasso, ..outcome }
        }
        End::Complete | End::Limit(_) => outcome,
    }
}

/// The states of components that are not complete, and these components.
struct Open<K> {
    /// In the order in which they were entered; the number of a state is its place, counted from 1.
    states: Vec<K>,
    /// Each begins where the one before it ends.
    components: Vec<Component>,
    /// Numbers of the states on the path, each with its depth.
    path: Vec<(u64, u64)>,
}

struct Component {
    /// The number of its first state.
    first: u64,
    /// Those of the steps inside it.
    sets: Sets,
    /// Those of the step by which it was entered.
    entered: Sets,
}

/// The number of states that no circle leads through which is not known.
const CLOSED: u64 = u64::MAX;

impl<K> Default for Open<K> {
    fn default() -> Self {
        Open { states: Vec::new(), components: Vec::new(), path: Vec::new() }
    }
}

impl<K: Copy> Open<K> {
    /// Goes on in a new state, which is a component by itself until more is known. Returns its number.
    fn enter(&mut self, key: K, depth: u64, entered: Sets) -> u64 {
        self.states.push(key);
        let first = self.states.len() as u64;
        self.components.push(Component { first, sets: Sets::default(), entered });
        self.path.push((depth, first));
        first
    }

    /// Goes back to a depth. Components that were entered deeper are complete.
    fn retreat<S: Numbered<Key = K>>(&mut self, store: &mut S, depth: u64) {
        while let Some((_, number)) = self.path.pop_if(|(deep, _)| *deep > depth) {
            if self.components.pop_if(|component| component.first == number).is_some() {
                self.states.drain(number as usize - 1..).for_each(|key| store.set_number(key, CLOSED));
            }
        }
    }

    /// A step leads from the last state of the path to one with this number. Returns the sets of the circle's component.
    fn join(&mut self, number: u64, mut sets: Sets) -> Sets {
        while let Some(component) = self.components.pop_if(|component| component.first > number) {
            sets = sets.and(component.sets).and(component.entered);
        }
        let Some(component) = self.components.last_mut() else { return sets };
        component.sets = component.sets.and(sets);
        component.sets
    }

    /// The states of the last component.
    fn last(&self) -> &[K] {
        let first = self.components.last().map_or(1, |component| component.first);
        &self.states[first as usize - 1..]
    }

    fn bytes(&self) -> u64 {
        let bytes =
            [footprint::bytes(&self.states), footprint::bytes(&self.components), footprint::bytes(&self.path)];
        bytes.iter().sum::<usize>() as u64
    }
}

/// The sets of steps.
struct SetsOf<'m, M>(&'m M);

impl<M: Accepting> Notes<M> for SetsOf<'_, M> {
    type Note = Sets;

    fn at(&self, state: &State, successors: &Successors<M::Step>) -> Sets {
        self.0.sets_at(state, successors)
    }

    fn of(&self, step: M::Step) -> Sets {
        self.0.sets_of(step)
    }

    fn both(one: Sets, other: Sets) -> Sets {
        one.and(other)
    }
}

fn explore<M, S, O>(run: &mut Run<M, S, O>, open: &mut Open<S::Key>) -> ControlFlow<End>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let mut descent = Descent::default();
    for key in run.keys_of_initial_states()? {
        if run.store.number(key) == 0 && run.may_expand(0) {
            descent.clear();
            descend(run, open, &mut descent, key)?;
        }
    }
    ControlFlow::Continue(())
}

/// Explores all that is new behind an initial state.
fn descend<M, S, O>(
    run: &mut Run<M, S, O>,
    open: &mut Open<S::Key>,
    descent: &mut Descent<S::Key, Sets>,
    initial: S::Key,
) -> ControlFlow<End>
where
    M: Accepting,
    S: Numbered,
    O: Observer<M::Step> + ?Sized,
{
    let (notes, all) = (SetsOf(run.model), run.model.sets());
    let number = open.enter(initial, 0, Sets::default());
    run.give_number(initial, number, descent)?;
    run.enter(descent, initial, &notes)?;
    while let Some((ahead, sets)) = run.step(descent)? {
        open.retreat(run.store, descent.depth());
        let depth = descent.depth() + 1;
        match ahead {
            Ahead::Nothing => {}
            Ahead::Transient => {
                if run.may_expand(depth) {
                    run.enter_transient(descent, &notes)?;
                }
            }
            Ahead::Stable(key) => match run.store.number(key) {
                0 => {
                    if run.may_expand(depth) {
                        let number = open.enter(key, depth, sets);
                        run.aside = open.bytes();
                        run.give_number(key, number, descent)?;
                        run.enter(descent, key, &notes)?;
                    }
                }
                CLOSED => run.stats.matched += 1,
                number => {
                    run.stats.matched += 1;
                    if open.join(number, sets).contain(all) {
                        return ControlFlow::Break(End::Error);
                    }
                }
            },
        }
    }
    // The last component is complete as well.
    open.path.clear();
    open.components.clear();
    open.states.drain(..).for_each(|key| run.store.set_number(key, CLOSED));
    ControlFlow::Continue(())
}
