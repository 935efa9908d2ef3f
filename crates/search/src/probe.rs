//! A short depth-first search beside a breadth-first one.
//!
//! Some errors lie deep, but on most of the deep runs: breadth first they are met after millions of states, depth first after
//! thousands. So a breadth-first search that may do so probes the depth whenever it has four times as many states as the time
//! before. That depends on nothing but this number, and leaves the search itself as it is.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use entail_disk::snapshot;
use entail_model::{Keys, Model, Observer, State, StateBuf, Successor, Successors, Target};
use rapidhash::RapidHashSet;
use rapidhash::v3::rapidhash_v3;

use crate::context::SearchContext;
use crate::shared::{SHARE, Shared};
use crate::{Checks, Counterexample, End, ErrorKind, Errors, Outcome};

/// The probes of a search: when the next one is due, if there are any, and what one has found.
pub(crate) struct Probes<S> {
    pub schedule: Option<Schedule>,
    pub found: Option<Counterexample<S>>,
}

impl<S> Probes<S> {
    /// Probes that follow a schedule.
    pub fn scheduled(schedule: Option<Schedule>) -> Self {
        Probes { schedule, found: None }
    }

    /// For a search that may probe the depth, if that has no limit. A log is about one search only.
    pub fn new<M: Model<Step = S>, K: Keys + ?Sized, O>(context: &SearchContext<M, K, O>) -> Self
    where
        O: Observer<S> + ?Sized,
    {
        let Shared { checks, limits, .. } = &context.shared;
        let may = checks.errors == Errors::Soonest && limits.depth.is_none() && !context.is_told();
        Probes::scheduled(may.then(Schedule::default))
    }

    /// Probes the depth, if it is time to do so.
    #[inline]
    pub fn probe<M: Model<Step = S>, K: Keys + ?Sized>(
        &mut self,
        shared: &Shared<M, K>,
        stored: u64,
    ) -> ControlFlow<End> {
        match &mut self.schedule {
            Some(schedule) if schedule.is_due(stored) => {
                self.found = schedule.probe(shared);
                if self.found.is_some() { ControlFlow::Break(End::Error) } else { ControlFlow::Continue(()) }
            }
            Some(_) | None => ControlFlow::Continue(()),
        }
    }

    /// The outcome of the search, or of the probe that has found an error.
    pub fn outcome(self, outcome: Outcome<S>) -> Outcome<S> {
        let Some(found) = self.found else { return outcome };
        let errors = outcome.errors + u64::from(found.error.times());
        Outcome { errors, is_probed: true, counterexample: Some(found), ..outcome }
    }
}

/// When to probe.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    /// At so many states.
    next: u64,
    /// How many times it was done before.
    number: u64,
}

snapshot!(Schedule { next, number });

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { next: Self::FIRST, number: 0 }
    }
}

impl Schedule {
    /// Fewer states are soon visited anyway.
    const FIRST: u64 = 1 << 16;
    const GROWTH: u64 = 4;
    /// A probe visits at least so many states, and one more for so many that the search has visited. Each takes about four
    /// times as long as one of the search.
    const LEAST: u64 = 1 << 10;
    const SHARE: u64 = 128;
    /// More are not likely to help: other orders are.
    const MOST: u64 = 1 << 20;

    #[inline]
    fn is_due(&self, stored: u64) -> bool {
        stored >= self.next
    }

    #[cold]
    fn probe<M: Model, K: Keys + ?Sized>(&mut self, shared: &Shared<M, K>) -> Option<Counterexample<M::Step>> {
        let limit = shared.limits.memory.unwrap_or(u64::MAX);
        let bytes = limit.saturating_sub(shared.bytes()).min(limit / SHARE);
        let is_over = || shared.limits.reached(shared.started).is_some();
        let found = probe(shared.model, shared.checks, self.budget(bytes), is_over);
        // If it was cut off, it is still due when the search goes on.
        if !is_over() {
            self.advance();
        }
        found
    }

    /// The probe that is due, if it may take so many bytes.
    fn budget(&self, bytes: u64) -> Budget {
        let states = (Self::LEAST + self.next / Self::SHARE).min(Self::MOST);
        Budget { states, bytes, order: Order::of_probe(self.number) }
    }

    /// That one is done.
    fn advance(&mut self) {
        self.next = self.next.saturating_mul(Self::GROWTH);
        self.number += 1;
    }
}

/// How far a probe goes, and where.
#[derive(Clone, Copy)]
struct Budget {
    states: u64,
    bytes: u64,
    order: Order,
}

/// In which order the steps of a state are taken.
#[derive(Clone, Copy)]
enum Order {
    /// That of the model, as other tools would take them.
    Given,
    Reversed,
    /// Another one with every seed.
    Random {
        seed: u64,
    },
}

impl Order {
    fn of_probe(number: u64) -> Order {
        match number % 3 {
            0 => Order::Given,
            1 => Order::Reversed,
            _ => Order::Random { seed: rapidhash_v3(&number.to_le_bytes()) },
        }
    }

    /// Puts the step to be taken first to the end.
    fn arrange<S>(self, successors: &mut [Successor<S>]) {
        match self {
            Order::Given => successors.reverse(),
            Order::Reversed => {}
            Order::Random { seed } => successors.sort_by_cached_key(|next| rapidhash_v3(next.state) ^ seed),
        }
    }
}

/// Looks for an error depth first, and returns a short run to it, as far as it knows one. `is_over` says that there is no time
/// for more.
///
/// States are known by their hashes. Those that have the same are taken for each other, so that one may be missed; but what is
/// found is a run of the model.
fn probe<M: Model>(
    model: &M,
    checks: &Checks,
    budget: Budget,
    is_over: impl Fn() -> bool,
) -> Option<Counterexample<M::Step>> {
    let (known, look) = (RapidHashSet::default(), Look::default());
    let mut probe = Probe { model, checks, budget, is_over, known, look };
    let mut starts = Vec::new();
    model.initial_states(&mut |state| starts.push(state.to_vec()));
    let found = starts.into_iter().find_map(|start| probe.descend(start))?;
    let shorter = probe.shortest_run(&found.start);
    Some(shorter.unwrap_or(found))
}

struct Probe<'a, M: Model, F> {
    model: &'a M,
    checks: &'a Checks,
    budget: Budget,
    is_over: F,
    /// The states that were entered.
    known: RapidHashSet<u64>,
    look: Look<M>,
}

/// What can happen in a state.
struct Look<M: Model> {
    successors: Successors<M::Step>,
    scratch: M::Scratch,
}

/// A step that is still to be taken.
struct Choice<S> {
    step: S,
    /// How many steps lead to where it is taken.
    depth: usize,
    /// Where the state that it leads to begins among those of all choices.
    start: usize,
}

/// Something is wrong, and a last step shows it, unless it is an end.
type Wrong<S> = (ErrorKind, Option<S>);

impl<M: Model, F: Fn() -> bool> Probe<'_, M, F> {
    /// How often the clock is looked at, in states.
    const PULSE: usize = 1 << 10;

    fn has_room(&self, entered: usize, bytes: usize) -> bool {
        let bytes = (bytes + entered * 2 * size_of::<u64>()) as u64;
        bytes <= self.budget.bytes && !(entered.is_multiple_of(Self::PULSE) && (self.is_over)())
    }

    /// The first error that lies behind an initial state.
    fn descend(&mut self, start: StateBuf) -> Option<Counterexample<M::Step>> {
        // Both are stacks.
        let (mut choices, mut states) = (Vec::<Choice<M::Step>>::new(), StateBuf::new());
        let (mut steps, mut state) = (Vec::new(), start.clone());
        loop {
            if self.known.insert(rapidhash_v3(&state)) || steps.is_empty() {
                let bytes = states.len() + size_of_val(&choices[..]) + size_of_val(&steps[..]);
                if self.known.len() as u64 > self.budget.states || !self.has_room(self.known.len(), bytes) {
                    return None;
                }
                self.look.at(self.model, &state, |next| !self.known.contains(&rapidhash_v3(next)));
                if let Some((error, last)) = self.wrong(&state, steps.is_empty()) {
                    steps.extend(last);
                    return Some(Counterexample { error, start, steps });
                }
                let mut ahead: Vec<_> = self.look.ahead().collect();
                self.budget.order.arrange(&mut ahead);
                for next in ahead {
                    choices.push(Choice { step: next.step, depth: steps.len(), start: states.len() });
                    states.extend_from_slice(next.state);
                }
            }
            let Choice { step, depth, start: from } = choices.pop()?;
            state.clear();
            state.extend(states.drain(from..));
            steps.truncate(depth);
            steps.push(step);
        }
    }

    /// The shortest run from an initial state to an error through the states that were entered, if there is room to look for it.
    fn shortest_run(&mut self, start: &State) -> Option<Counterexample<M::Step>> {
        // How each state was reached: from which one, and by which step.
        let mut origins: Vec<(usize, Option<M::Step>)> = vec![(0, None)];
        let mut reached = RapidHashSet::from_iter([rapidhash_v3(start)]);
        let (mut waiting, mut bytes) = (VecDeque::from([start.to_vec()]), 0);
        for origin in 0.. {
            let state = waiting.pop_front()?;
            if !self.has_room(origin, bytes) {
                return None;
            }
            self.look.at_all(self.model, &state);
            if let Some((error, last)) = self.wrong(&state, origin == 0) {
                let before = std::iter::successors(Some(origin), |&at| origins[at].1.map(|_| origins[at].0));
                let mut steps: Vec<M::Step> =
                    last.into_iter().chain(before.filter_map(|at| origins[at].1)).collect();
                steps.reverse();
                return Some(Counterexample { error, start: start.to_vec(), steps });
            }
            for next in self.look.ahead() {
                let hash = rapidhash_v3(next.state);
                if self.known.contains(&hash) && reached.insert(hash) {
                    bytes += next.state.len() + size_of_val(&origins[origin]);
                    origins.push((origin, Some(next.step)));
                    waiting.push_back(next.state.to_vec());
                }
            }
        }
        None
    }

    /// What is wrong in the state that was looked at. Where runs start, they may end only if the model says so.
    fn wrong(&self, state: &State, is_start: bool) -> Option<Wrong<M::Step>> {
        let successors = &self.look.successors;
        if successors.is_empty() {
            let may_end = self.model.marks(state).valid_end || (!is_start && self.model.is_transient(state));
            return (self.checks.end_states && !may_end).then_some((ErrorKind::InvalidEnd, None));
        }
        if successors.are_plain() {
            return None;
        }
        successors.iter().find_map(|next| {
            let fault = next.fault.filter(|fault| self.checks.count(fault))?;
            Some((ErrorKind::Fault(fault), Some(next.step)))
        })
    }
}

impl<M: Model> Look<M> {
    /// Looks at a state. If steps were left out there, and the others lead to nothing that `is_new`, there are more.
    fn at(&mut self, model: &M, state: &State, is_new: impl Fn(&State) -> bool) {
        for times in 0.. {
            self.successors.clear();
            model.expand_further(state, times, &mut self.successors, &mut self.scratch);
            if !self.successors.are_reduced() || self.ahead().any(|next| is_new(next.state)) {
                break;
            }
        }
    }

    /// The same, with no step left out that was only put off.
    fn at_all(&mut self, model: &M, state: &State) {
        self.at(model, state, |_| false);
    }

    /// The steps that lead somewhere.
    fn ahead(&self) -> impl Iterator<Item = Successor<'_, M::Step>> {
        self.successors.iter().filter(|next| next.target != Target::Nowhere)
    }
}

impl<M: Model> Default for Look<M> {
    fn default() -> Self {
        Look { successors: Successors::default(), scratch: M::Scratch::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_model::{Fired, Reduced, Reduction};
    use entail_testkit::graph::{Edge, Graph, node_of};
    use entail_testkit::naive;
    use entail_testkit::rng::Rng;

    const ALL: Budget = Budget { states: u64::MAX, bytes: u64::MAX, order: Order::Given };

    fn checks(rng: &mut Rng) -> Checks {
        Checks { faults: true, assertions: rng.chance(0.7), end_states: rng.chance(0.7), errors: Errors::Soonest }
    }

    /// Whether the run ends in its error, and has none before.
    fn is_right<M: Model>(model: &M, found: &Counterexample<M::Step>) -> bool {
        let end = naive::replay(model, &found.start, &found.steps);
        match found.error {
            ErrorKind::Fault(fault) => [Fired::Failed(fault), Fired::Broken(fault)].contains(&end.last),
            ErrorKind::InvalidEnd => {
                let mut steps = Vec::new();
                model.enabled(&end.state, &mut steps);
                steps.is_empty() && !model.marks(&end.state).valid_end
            }
            ErrorKind::Cycle { .. } => false,
        }
    }

    #[test]
    fn with_time_enough_a_probe_finds_an_error_if_there_is_one() {
        let mut counts = [0; 2];
        for seed in 0..6000 {
            let rng = &mut Rng::new(seed);
            let (graph, checks) = (Graph::random(rng), checks(rng));
            let naive = naive::Checks { assertions: checks.assertions, end_states: checks.end_states };
            let expected = naive::explore(&graph, naive).errors > 0;
            for order in [Order::Given, Order::Reversed, Order::Random { seed }] {
                let found = probe(&graph, &checks, Budget { order, ..ALL }, || false);
                assert_eq!(found.is_some(), expected, "{graph:?}");
                assert!(found.is_none_or(|found| is_right(&graph, &found)), "{graph:?}");
            }
            counts[usize::from(expected)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
    }

    #[test]
    fn there_is_no_shorter_run_through_what_was_entered() {
        // The path through all nodes is taken first; the edge from the first to the last one makes it short.
        let nodes: Vec<usize> = (0..100).collect();
        let graph = Graph::starting_in(0).path(&nodes).edge(0, 98);
        let found = probe(&graph, &Checks::default(), ALL, || false).expect("an end");
        assert_eq!(found.steps.len(), 2);
    }

    /// Only the first step of each state, at first.
    struct FirstOnly;

    impl Reduction<Graph> for FirstOnly {
        type Scratch = Vec<bool>;

        fn needs_proviso(&self) -> bool {
            true
        }

        fn select<'d>(
            &self,
            _: &Graph,
            _: &State,
            steps: &[Edge],
            answer: u32,
            scratch: &'d mut Vec<bool>,
        ) -> Option<&'d [bool]> {
            scratch.clear();
            scratch.extend((0..steps.len()).map(|at| at == 0));
            (answer == 0).then_some(&scratch[..])
        }
    }

    #[test]
    fn steps_are_not_put_off_where_others_lead_to_known_states() {
        let graph = Graph::starting_in(0).path(&[0, 1, 2, 0]).edge(2, 3);
        let reduced = Reduced { model: &graph, reduction: Some(&FirstOnly) };
        let found = probe(&reduced, &Checks::default(), ALL, || false).expect("an end");
        assert_eq!(node_of(&naive::replay(&graph, &found.start, &found.steps).state), 3);
    }

    #[test]
    fn limits_are_kept() {
        let nodes: Vec<usize> = (0..5000).collect();
        let graph = Graph::starting_in(0).path(&nodes);
        let finds = |budget, is_late: bool| probe(&graph, &Checks::default(), budget, || is_late).is_some();
        assert!(finds(ALL, false) && finds(Budget { states: 5000, ..ALL }, false));
        assert!(!finds(Budget { states: 4999, ..ALL }, false));
        assert!(!finds(Budget { bytes: 10_000, ..ALL }, false));
        assert!(!finds(ALL, true));
    }
}
