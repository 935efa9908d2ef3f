//! Nested depth-first search for an accepting cycle, with two bits for each state.
//!
//! After Courcoubetis, Vardi, Wolper, Yannakakis: Memory-efficient algorithms for the verification of temporal
//! properties, 1992, with acceptance on transitions. The outer search explores all states depth first. When it
//! backtracks over an accepting transition, everything behind the transition has been explored, and an inner search
//! looks there for a path back to the stack. A state visited by one inner search is not visited by a later one.
//!
//! After Schwoon, Esparza: A note on on-the-fly verification algorithms, 2005, and Gaiser, Schwoon (2009): a transition
//! that closes a cycle with an accepting transition is detected at once, because the path records how many accepting
//! transitions lead to each of its states.

use std::ops::ControlFlow;

use entail_model::{AcceptanceMarks, Accepting, Event, KeySet, Model, Observer, State, Store, Visit};

use crate::context::SearchContext;
use crate::findings::Found;
use crate::lasso::{self, Stem};
use crate::path::Path;
use crate::replay;
use crate::stack::{Advance, Annotation, NoAnnotation, SearchStack};
use crate::{Checks, End, Limits, Outcome};

/// Searches for an accepted infinite run of `model`, a counterexample. The model must have at most one acceptance set
/// and no Streett requests. `outer` and `inner` must be empty.
///
/// Depth is the number of stable states on the path, not counting the first. The path of an inner search continues that
/// of the outer one. Only the outer search counts states.
///
/// # Panics
///
/// If the model has more than one acceptance set.
pub fn nested<M, S, I, O>(
    model: &M,
    outer: &mut S,
    inner: &mut I,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Accepting,
    S: Store,
    I: KeySet<S::Key>,
    O: Observer<M::Step> + ?Sized,
{
    let accepted = Accepted { model, all: model.acceptance() };
    assert!(accepted.all.0.count_ones() <= 1, "one bit tells whether a step is accepted");
    let mut search = Nested {
        context: SearchContext::new(model, outer, &Checks::OF_CLAIMS, limits, observer),
        accepted,
        outer: SearchStack::default(),
        path: Path::default(),
        passed: 0,
        inner: SearchStack::default(),
        known: inner,
        room: 0,
        held: 0,
        met: None,
    };
    let explored = search.explore();
    let Nested { context, outer: way_out, inner: way_back, met, .. } = search;
    let (outcome, fault) = context.finish(explored);
    let path_steps = || [way_out.path_steps(), way_back.path_steps()].concat();
    match (outcome.end, fault, met) {
        (End::Error, Some(fault), _) => {
            let found = Found { path_steps: path_steps(), ..fault };
            Outcome { counterexample: replay::retrace(model, found), ..outcome }
        }
        (End::Error, None, Some(Met { start, key, depth })) => {
            let members: Vec<_> = way_out.stops(depth).chain(way_back.stops(0)).collect();
            let path_steps = path_steps();
            let (way, cycle) = path_steps.split_at(depth);
            let known = Stem { start, path_steps: way.to_vec(), target: key };
            let lasso = lasso::find_lasso(model, outer, &members, Some(known))
                .or_else(|| lasso::build_run(model, start, way, cycle));
            Outcome { errors: 1, counterexample: lasso, ..outcome }
        }
        (End::Error, None, None) | (End::Complete | End::Limit(_), ..) => outcome,
    }
}

/// Notes which steps are accepting.
#[derive(Clone, Copy)]
struct Accepted<'m, M> {
    model: &'m M,
    all: AcceptanceMarks,
}

impl<M: Accepting> Annotation<M> for Accepted<'_, M> {
    type Note = bool;

    fn at(&self, state: &State, steps: &[M::Step]) -> bool {
        self.model.acceptance_at(state, steps).contain(self.all)
    }

    fn of(&self, step: M::Step) -> bool {
        self.model.acceptance_of(step).contain(self.all)
    }

    fn both(one: bool, other: bool) -> bool {
        one || other
    }
}

/// The state of both searches.
struct Nested<'a, M: Model, S: Store, I, O: ?Sized> {
    context: SearchContext<'a, M, S, O>,
    accepted: Accepted<'a, M>,
    /// The stack of the outer search, with a note for accepting steps.
    outer: SearchStack<S::Key, bool>,
    path: Path<S::Key, Place>,
    /// The number of accepting steps on the path.
    passed: u64,
    /// The stack of the inner search, if one is running.
    inner: SearchStack<S::Key>,
    /// The states visited by inner searches.
    known: &'a mut I,
    /// How many more keys have room there.
    room: usize,
    /// The bytes of `known`, and those that the next inner search will need.
    held: u64,
    met: Option<Met<S::Key>>,
}

/// The position of a state on the path.
#[derive(Clone, Copy)]
struct Place {
    /// On the stack.
    depth: u64,
    /// The number of accepting steps that lead there.
    passed: u64,
}

/// The state where a cycle was closed.
struct Met<K> {
    /// The number of the initial state of the path.
    start: u32,
    key: K,
    /// On the outer stack.
    depth: usize,
}

impl<M, S, I, O> Nested<'_, M, S, I, O>
where
    M: Accepting,
    S: Store,
    I: KeySet<S::Key>,
    O: Observer<M::Step> + ?Sized,
{
    fn explore(&mut self) -> ControlFlow<End> {
        self.context.stats().loops = Some(0);
        for (number, key) in (0..).zip(self.context.keys_of_initial_states()?) {
            if self.context.insert(key, &self.outer)? == Visit::New && self.context.may_expand(0) {
                self.context.worker.findings.origin = number;
                self.descend(key)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Explores all new states reachable from an initial state.
    fn descend(&mut self, initial: S::Key) -> ControlFlow<End> {
        self.enter(initial, 0)?;
        while let Some(taken) = self.step()? {
            self.go(taken)?;
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, key: S::Key, depth: u64) -> ControlFlow<End> {
        self.path.enter(key, depth, Place { depth, passed: self.passed });
        self.context.shared.memory.auxiliary = self.path.bytes() + self.held;
        self.context.enter_stable(&mut self.outer, key, &self.accepted)
    }

    /// The next step of the outer search. First leaves the states whose successors are all explored, one by one.
    fn step(&mut self) -> ControlFlow<End, Option<Advance<S::Key, bool>>> {
        while self.outer.is_spent() {
            let explored = self.path.leave(self.outer.depth());
            self.context.leave(&mut self.outer);
            if let (Some(key), Some(true)) = (explored, self.outer.note()) {
                self.passed -= 1;
                self.look_for_way_back(key)?;
            }
        }
        self.context.step(&mut self.outer, &self.accepted)
    }

    fn go(&mut self, taken: Advance<S::Key, bool>) -> ControlFlow<End> {
        let Some(key) = taken.stable() else { return ControlFlow::Continue(()) };
        match self.context.insert(key, &self.outer)? {
            Visit::New if self.context.may_expand(self.outer.stable()) => {
                self.passed += u64::from(taken.note);
                self.enter(key, taken.depth)
            }
            Visit::New => ControlFlow::Continue(()),
            Visit::Seen => self.meet(key, taken.note),
        }
    }

    /// Handles a step of the outer search to a known state.
    fn meet(&mut self, key: S::Key, is_accepted: bool) -> ControlFlow<End> {
        let place = self.path.note(key);
        self.context.count_known(key, place.is_some());
        match place {
            Some(place) if is_accepted || place.passed < self.passed => self.close(key, place),
            None if is_accepted => self.look_for_way_back(key),
            Some(_) | None => ControlFlow::Continue(()),
        }
    }

    /// Runs the inner search over an accepting step, from the end of the path to a state whose descendants are all
    /// explored.
    fn look_for_way_back(&mut self, start: S::Key) -> ControlFlow<End> {
        if self.accepted.all.is_empty() {
            // A cycle would have been detected when it was closed.
            return ControlFlow::Continue(());
        }
        self.context.shared.memory.auxiliary = self.path.bytes() + self.known.bytes() + self.outer.bytes();
        self.context.log_inside(true);
        self.explore_again(start)?;
        while let Some(taken) = self.context.step(&mut self.inner, &NoAnnotation)? {
            let Some(key) = taken.stable() else { continue };
            match self.path.note(key) {
                Some(place) => {
                    self.context.log_known(key, true);
                    return self.close(key, place);
                }
                None => self.explore_again(key)?,
            }
        }
        self.context.log_inside(false);
        self.held = self.known.bytes() + self.inner.bytes();
        self.context.shared.memory.auxiliary = self.path.bytes() + self.held;
        ControlFlow::Continue(())
    }

    /// Continues the inner search in a state, if no inner search has visited it.
    fn explore_again(&mut self, key: S::Key) -> ControlFlow<End> {
        if self.room == 0 {
            self.room = self.context.make_room_in(self.known, self.inner.bytes())?;
        }
        self.room -= 1;
        let depth = self.outer.stable() + self.inner.stable();
        match self.known.insert(key) {
            Visit::Seen => self.context.log_known(key, false),
            Visit::New if self.context.may_expand(depth) => {
                self.context.enter_stable(&mut self.inner, key, &NoAnnotation)?
            }
            Visit::New => {}
        }
        ControlFlow::Continue(())
    }

    /// Reports the cycle that a step back to the path closes, if it has an accepting step.
    fn close(&mut self, key: S::Key, Place { depth, .. }: Place) -> ControlFlow<End> {
        self.context.log_event(|state| Event::Accepted { state }, key);
        self.met = Some(Met { start: self.context.worker.findings.origin as u32, key, depth: depth as usize });
        ControlFlow::Break(End::Error)
    }
}
