//! A naive exploration as the oracle of all searches.

use std::collections::{HashSet, VecDeque};

use entail_model::{Fault, Fired, Model, StateBuf};

/// The kinds of errors to count, besides faults that end a run in every tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Assertions and array indices.
    pub assertions: bool,
    pub end_states: bool,
}

/// The results of exploring a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Distinct stable states.
    pub stored: u64,
    /// Steps into stable states that were already known.
    pub matched: u64,
    pub errors: u64,
    /// The minimum number of stable states from an initial one to an error.
    pub nearest_error: Option<u64>,
    /// The greatest distance of a stable state from the initial ones.
    pub depth: u64,
}

/// Explores all of `model`. Every path through transient states is followed separately, up to its first repetition.
pub fn explore<M: Model>(model: &M, checks: Checks) -> Summary {
    let mut found = Summary::default();
    let mut known = HashSet::new();
    let mut queue = VecDeque::new();
    model.initial_states(&mut |state| {
        if known.insert(state.to_vec()) {
            queue.push_back((state.to_vec(), 0));
        }
    });
    while let Some((state, depth)) = queue.pop_front() {
        found.depth = depth;
        let mut errors = 0;
        if checks.end_states && steps(model, &state).is_empty() && !model.marks(&state).valid_end {
            errors += 1;
        }
        let mut chains = VecDeque::from([vec![state]]);
        while let Some(chain) = chains.pop_front() {
            for step in steps(model, &chain[chain.len() - 1]) {
                let mut next = chain[chain.len() - 1].clone();
                let (fault, goes_on) = match model.fire(step, &mut next) {
                    Fired::Done => (None, true),
                    Fired::Failed(fault) => (Some(fault), true),
                    Fired::Broken(fault) => (Some(fault), false),
                };
                errors += fault.filter(|fault| is_error(fault, checks)).map_or(0, |fault| u64::from(fault.times));
                if !goes_on {
                    continue;
                }
                if model.is_transient(&next) {
                    if !chain[1..].contains(&next) {
                        chains.push_back([chain.clone(), vec![next]].concat());
                    }
                } else if known.insert(next.clone()) {
                    queue.push_back((next, depth + 1));
                } else {
                    found.matched += 1;
                }
            }
        }
        found.errors += errors;
        if errors > 0 {
            found.nearest_error.get_or_insert(depth);
        }
    }
    found.stored = known.len() as u64;
    found
}

/// The number of steps of a depth-first search that lead back to a stable state on its stack.
pub fn loops<M: Model>(model: &M) -> u64 {
    let mut search = Loops { model, known: HashSet::new(), path: Vec::new(), found: 0 };
    let mut initial = Vec::new();
    model.initial_states(&mut |state| initial.extend(search.known.insert(state.to_vec()).then(|| state.to_vec())));
    for state in initial {
        search.path.push(state.clone());
        search.follow(&[state]);
        search.path.pop();
    }
    search.found
}

struct Loops<'m, M> {
    model: &'m M,
    known: HashSet<StateBuf>,
    path: Vec<StateBuf>,
    found: u64,
}

impl<M: Model> Loops<'_, M> {
    /// `chain` is a stable state, and the transient ones after it.
    fn follow(&mut self, chain: &[StateBuf]) {
        let last = &chain[chain.len() - 1];
        for step in steps(self.model, last) {
            let mut next = last.clone();
            if matches!(self.model.fire(step, &mut next), Fired::Broken(_)) {
                continue;
            }
            if self.model.is_transient(&next) {
                if !chain[1..].contains(&next) {
                    self.follow(&[chain, &[next]].concat());
                }
            } else if self.known.insert(next.clone()) {
                self.path.push(next.clone());
                self.follow(&[next]);
                self.path.pop();
            } else {
                self.found += u64::from(self.path.contains(&next));
            }
        }
    }
}

fn is_error(fault: &Fault, checks: Checks) -> bool {
    checks.assertions || !fault.kind.is_claim()
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// After the last step, or before it if it is broken.
    pub state: StateBuf,
    /// The result of the last step.
    pub last: Fired,
    /// The number of stable states that were entered.
    pub stable: u64,
}

/// Takes `steps` one by one. Panics at a step that is not enabled, or that follows a broken one.
pub fn replay<M: Model>(model: &M, start: &[u8], path: &[M::Step]) -> Replay {
    let mut at = Replay { state: start.to_vec(), last: Fired::Done, stable: 0 };
    for &step in path {
        assert!(!matches!(at.last, Fired::Broken(_)), "a run continues after a broken step");
        assert!(steps(model, &at.state).contains(&step), "{step:?} is not enabled in {:?}", at.state);
        let mut next = at.state.clone();
        at.last = model.fire(step, &mut next);
        if !matches!(at.last, Fired::Broken(_)) {
            at.stable += u64::from(!model.is_transient(&next));
            at.state = next;
        }
    }
    at
}

fn steps<M: Model>(model: &M, state: &[u8]) -> Vec<M::Step> {
    let mut steps = Vec::new();
    model.enabled(state, &mut steps);
    steps
}
