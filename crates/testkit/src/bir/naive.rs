//! A naive implementation of BIR. Locks contain their owners, and threads contain the lock that they wait for.

use super::{Action, COUNTER, Condition, LOCKS, Model, NUMBERS, TIDS, Value};
use std::collections::{HashSet, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    variables: Vec<i64>,
    locks: Vec<Option<Held>>,
    /// The threads that they denote, if any.
    tids: Vec<Option<usize>>,
    threads: Vec<At>,
    /// For each thread of the state, the thread of the model that it is an instance of.
    kinds: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    by: usize,
    times: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Location(usize),
    Ended,
    Waiting { lock: usize, times: u32, notified: bool, then: Box<At>, which: (usize, usize) },
}

/// The results of exploring a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub unique: u64,
    pub matched: u64,
    /// Failed assertions, faults and deadlocks.
    pub errors: u64,
    /// Those of them that are deadlocks.
    pub deadlocks: u64,
    /// States that violate the invariant.
    pub broken: u64,
    /// The number of times that a thread stopped waiting.
    pub woken: u64,
    /// The number of times that a thread reused the slot of an ended one.
    pub replaced: u64,
}

/// The treatment of the slot of an ended thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is never reused.
    Stays,
    /// When no thread id and no lock refers to it, the next thread of the same kind reuses it, the lowest one
    /// first. Initial threads keep their slots.
    IsReplaced,
}

/// Explores a model; `None` if it has more than `limit` states.
pub fn explore(model: &Model, ended: Ended, limit: usize) -> Option<Summary> {
    let start = State {
        variables: vec![0; COUNTER + 1],
        locks: vec![None; LOCKS],
        tids: vec![None; TIDS],
        threads: vec![At::Location(0); model.active],
        kinds: (0..model.active).collect(),
    };
    let mut found = Summary::default();
    let mut known = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        // The invariant belongs to no thread.
        let breaks = |invariant: &Condition| !holds(invariant, &state, usize::MAX);
        found.broken += u64::from(model.invariant.as_ref().is_some_and(breaks));
        let mut run = Run { ends: Vec::new(), errors: 0, steps: 0, replaced: 0, active: model.active, ended };
        for thread in 0..state.threads.len() {
            run.thread(thread, &state, model, &mut found.woken);
        }
        found.errors += run.errors;
        if run.steps == 0 && state.threads.iter().any(|at| *at != At::Ended) {
            found.errors += 1;
            found.deadlocks += 1;
        }
        found.replaced += run.replaced;
        for next in run.ends {
            if known.insert(next.clone()) {
                queue.push_back(next);
            } else {
                found.matched += 1;
            }
        }
        if known.len() > limit {
            return None;
        }
    }
    found.unique = known.len() as u64;
    Some(found)
}

/// The steps from one state.
struct Run {
    ends: Vec<State>,
    errors: u64,
    /// The number of steps that were begun.
    steps: u64,
    /// The number of reused slots.
    replaced: u64,
    /// The number of initial threads.
    active: usize,
    ended: Ended,
}

impl Run {
    fn thread(&mut self, me: usize, state: &State, model: &Model, woken: &mut u64) {
        match &state.threads[me] {
            At::Ended => {}
            At::Waiting { lock, times, notified, then, .. } => {
                if *notified && state.locks[*lock].is_none() {
                    let mut next = state.clone();
                    next.locks[*lock] = Some(Held { by: me, times: *times });
                    next.threads[me] = (**then).clone();
                    self.steps += 1;
                    *woken += 1;
                    self.ends.push(next);
                }
            }
            At::Location(location) => {
                for (number, one) in model.threads[state.kinds[me]].locations[*location].iter().enumerate() {
                    let open = one.guard.as_ref().is_none_or(|guard| holds(guard, state, me));
                    let free = match one.actions.first() {
                        Some(Action::Lock(lock)) => available(*lock, state, me),
                        _ => true,
                    };
                    if open && free {
                        self.steps += 1;
                        let then = one.target.map_or(At::Ended, At::Location);
                        self.act(&[&one.actions], state.clone(), me, then, (*location, number));
                    }
                }
            }
        }
    }

    /// Executes the lists of actions one after the other, in every possible way.
    fn act(&mut self, lists: &[&[Action]], mut state: State, me: usize, then: At, which: (usize, usize)) {
        let Some((list, later)) = lists.split_first() else {
            state.threads[me] = then;
            self.ends.push(state);
            return;
        };
        let Some((action, rest)) = list.split_first() else { return self.act(later, state, me, then, which) };
        let follow = |run: &mut Run, more: &[Action], state: State| {
            let lists: Vec<&[Action]> = [more, rest].into_iter().chain(later.iter().copied()).collect();
            run.act(&lists, state, me, then.clone(), which);
        };
        let mine = |lock: &usize, state: &State| state.locks[*lock].is_some_and(|held| held.by == me);
        match action {
            Action::Assign(variable, new) => {
                state.variables[*variable] = value(*new, &state).rem_euclid(NUMBERS);
                follow(self, &[], state);
            }
            Action::Assert(claim) => {
                self.errors += u64::from(!holds(claim, &state, me));
                follow(self, &[], state);
            }
            Action::Lock(lock) if available(*lock, &state, me) => {
                let times = state.locks[*lock].map_or(0, |held| held.times);
                state.locks[*lock] = Some(Held { by: me, times: times + 1 });
                follow(self, &[], state);
            }
            Action::Unlock(lock) if mine(lock, &state) => {
                let times = state.locks[*lock].map_or(0, |held| held.times);
                state.locks[*lock] = (times > 1).then_some(Held { by: me, times: times - 1 });
                follow(self, &[], state);
            }
            Action::Wait(lock) if mine(lock, &state) => {
                let times = state.locks[*lock].map_or(0, |held| held.times);
                state.locks[*lock] = None;
                let waiting =
                    At::Waiting { lock: *lock, times, notified: false, then: Box::new(then.clone()), which };
                state.threads[me] = waiting;
                self.ends.push(state);
            }
            Action::Notify(lock) if mine(lock, &state) => {
                let waiting: Vec<_> =
                    (0..state.threads.len()).filter(|&one| waits(&state.threads[one], *lock)).collect();
                if waiting.is_empty() {
                    return follow(self, &[], state);
                }
                for one in waiting {
                    let mut next = state.clone();
                    notify(&mut next.threads[one]);
                    follow(self, &[], next);
                }
            }
            Action::NotifyAll(lock) if mine(lock, &state) => {
                state.threads.iter_mut().filter(|at| waits(at, *lock)).for_each(notify);
                follow(self, &[], state);
            }
            Action::Start(kind, tid) => {
                let number = self.start(*kind, &mut state);
                tid.iter().for_each(|tid| state.tids[*tid] = Some(number));
                follow(self, &[], state);
            }
            Action::Copy(to, from) => {
                state.tids[*to] = state.tids[*from];
                follow(self, &[], state);
            }
            Action::If { condition, yes, no } => {
                let body = if holds(condition, &state, me) { yes } else { no };
                follow(self, body, state);
            }
            Action::Choose { alternatives, otherwise } => {
                let is_open =
                    |guard: &Option<Condition>| guard.as_ref().is_none_or(|guard| holds(guard, &state, me));
                let open: Vec<_> = alternatives.iter().filter(|(guard, _)| is_open(guard)).collect();
                match (open.is_empty(), otherwise) {
                    (false, _) => open.into_iter().for_each(|(_, body)| follow(self, body, state.clone())),
                    (true, Some(body)) => follow(self, body, state),
                    (true, None) => self.errors += 1,
                }
            }
            // The lock is not available, or the thread is not its owner.
            Action::Lock(_) | Action::Unlock(_) | Action::Wait(_) | Action::Notify(_) | Action::NotifyAll(_) => {
                self.errors += 1;
            }
        }
    }

    /// Starts a thread; returns its number.
    fn start(&mut self, kind: usize, state: &mut State) -> usize {
        let is_meant = |number: usize| {
            state.tids.contains(&Some(number)) || state.locks.iter().flatten().any(|held| held.by == number)
        };
        let is_free = |number: &usize| {
            state.kinds[*number] == kind && state.threads[*number] == At::Ended && !is_meant(*number)
        };
        let free = (self.active..state.threads.len()).find(is_free).filter(|_| self.ended == Ended::IsReplaced);
        self.replaced += u64::from(free.is_some());
        let number = free.unwrap_or(state.threads.len());
        if number == state.threads.len() {
            state.threads.push(At::Ended);
            state.kinds.push(kind);
        }
        state.threads[number] = At::Location(0);
        number
    }
}

fn waits(at: &At, wanted: usize) -> bool {
    matches!(at, At::Waiting { lock, notified: false, .. } if *lock == wanted)
}

fn notify(at: &mut At) {
    if let At::Waiting { notified, .. } = at {
        *notified = true;
    }
}

fn available(lock: usize, state: &State, me: usize) -> bool {
    state.locks[lock].is_none_or(|held| held.by == me)
}

fn holds(condition: &Condition, state: &State, me: usize) -> bool {
    match condition {
        Condition::Less(left, right) => value(*left, state) < value(*right, state),
        Condition::Equal(left, right) => value(*left, state) == value(*right, state),
        Condition::Available(lock) => available(*lock, state, me),
        Condition::Mine(lock) => state.locks[*lock].is_some_and(|held| held.by == me),
        Condition::Terminated(tid) => state.tids[*tid].is_some_and(|thread| state.threads[thread] == At::Ended),
        Condition::Same(left, right) => state.tids[*left] == state.tids[*right],
    }
}

fn value(value: Value, state: &State) -> i64 {
    match value {
        Value::Number(number) => number,
        Value::Variable(variable) => state.variables[variable],
        Value::Next(variable) => state.variables[variable] + 1,
    }
}
