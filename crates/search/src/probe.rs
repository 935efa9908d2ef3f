//! Probes: short depth-first searches during a breadth-first one.
//!
//! Some errors are deep, but most deep runs have them: breadth-first search finds them after millions of states,
//! depth-first search after thousands. So a breadth-first search may probe whenever its number of states has
//! quadrupled. The schedule depends only on this number, and a probe does not change the search.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use entail_disk::snapshot;
use entail_model::{Keys, Model, Observer, State, StateBuf, Successor, Successors, Target};
use rapidhash::RapidHashSet;
use rapidhash::v3::rapidhash_v3;

use crate::context::SearchContext;
use crate::shared::{SHARE, Shared};
use crate::{Checks, Counterexample, End, ErrorKind, Errors, Outcome};

/// The probes of a search: the schedule, if there is one, and the error that a probe found.
pub(crate) struct Probes<S> {
    pub schedule: Option<Schedule>,
    pub found: Option<Counterexample<S>>,
}

impl<S> Probes<S> {
    /// Probes that follow a schedule.
    pub fn scheduled(schedule: Option<Schedule>) -> Self {
        Probes { schedule, found: None }
    }

    /// Probes for a search that permits them and has no depth limit. With an event log there are none, because the log
    /// covers a single search.
    pub fn new<M: Model<Step = S>, K: Keys + ?Sized, O>(context: &SearchContext<M, K, O>) -> Self
    where
        O: Observer<S> + ?Sized,
    {
        let Shared { checks, limits, .. } = &context.shared;
        let may = checks.errors == Errors::Soonest && limits.depth.is_none() && !context.is_logging();
        Probes::scheduled(may.then(Schedule::default))
    }

    /// Runs a probe if one is due.
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

    /// The outcome of the search, or of the probe that found an error.
    pub fn outcome(self, outcome: Outcome<S>) -> Outcome<S> {
        let Some(found) = self.found else { return outcome };
        let errors = outcome.errors + u64::from(found.error.times());
        Outcome { errors, is_probed: true, counterexample: Some(found), ..outcome }
    }
}

/// The schedule of probes.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    /// The number of states of the search at which the next probe is due.
    next: u64,
    /// The number of probes so far.
    number: u64,
}

snapshot!(Schedule { next, number });

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { next: Self::FIRST, number: 0 }
    }
}

impl Schedule {
    /// A search of fewer states ends soon anyway.
    const FIRST: u64 = 1 << 16;
    const GROWTH: u64 = 4;
    /// A probe visits at least this many states, and one more for each `SHARE` states that the search has visited. A
    /// state of a probe takes about four times as long as one of the search.
    const LEAST: u64 = 1 << 10;
    const SHARE: u64 = 128;
    /// More states are unlikely to help; other orders are more likely to.
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
        // A probe that was cut off remains due when the search continues.
        if !is_over() {
            self.advance();
        }
        found
    }

    /// The budget of the probe that is due, within `bytes` bytes.
    fn budget(&self, bytes: u64) -> Budget {
        let states = (Self::LEAST + self.next / Self::SHARE).min(Self::MOST);
        Budget { states, bytes, order: Order::of_probe(self.number) }
    }

    /// Schedules the next probe.
    fn advance(&mut self) {
        self.next = self.next.saturating_mul(Self::GROWTH);
        self.number += 1;
    }
}

/// The size and the order of a probe.
#[derive(Clone, Copy)]
struct Budget {
    states: u64,
    bytes: u64,
    order: Order,
}

/// The order in which the steps of a state are taken.
#[derive(Clone, Copy)]
enum Order {
    /// The model's order, which other tools use too.
    Given,
    Reversed,
    /// A random order, depending on the seed.
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

    /// Moves the step to take first to the end.
    fn arrange<S>(self, successors: &mut [Successor<S>]) {
        match self {
            Order::Given => successors.reverse(),
            Order::Reversed => {}
            Order::Random { seed } => successors.sort_by_cached_key(|next| rapidhash_v3(next.state) ^ seed),
        }
    }
}

/// Searches for an error depth first, and returns a short run to it. `is_over` returns true when time is up.
///
/// States are identified by their hashes. A hash collision may hide an error, but every error found is a run of the
/// model.
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

/// The successors of a state.
struct Look<M: Model> {
    successors: Successors<M::Step>,
    scratch: M::Scratch,
}

/// A step that is still to be taken.
struct Choice<S> {
    step: S,
    /// The depth of the state in which it is taken.
    depth: usize,
    /// The offset of its target in the buffer of states.
    start: usize,
}

/// An error, and the faulty step unless the state is an invalid end state.
type Wrong<S> = (ErrorKind, Option<S>);

impl<M: Model, F: Fn() -> bool> Probe<'_, M, F> {
    /// The clock is read once in this many states.
    const PULSE: usize = 1 << 10;

    fn has_room(&self, entered: usize, bytes: usize) -> bool {
        let bytes = (bytes + entered * 2 * size_of::<u64>()) as u64;
        bytes <= self.budget.bytes && !(entered.is_multiple_of(Self::PULSE) && (self.is_over)())
    }

    /// The first error reachable from an initial state.
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

    /// The shortest run from an initial state to an error through the states that were entered, if memory permits.
    fn shortest_run(&mut self, start: &State) -> Option<Counterexample<M::Step>> {
        // The predecessor of each state, and the step from it.
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

    /// The error in the state just expanded. An initial state may be a valid end state only if the model says so.
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
    /// Expands a state. If the expansion is reduced and has no successor that `is_new`, expands it further.
    fn at(&mut self, model: &M, state: &State, is_new: impl Fn(&State) -> bool) {
        for times in 0.. {
            self.successors.clear();
            model.expand_further(state, times, &mut self.successors, &mut self.scratch);
            if !self.successors.are_reduced() || self.ahead().any(|next| is_new(next.state)) {
                break;
            }
        }
    }

    /// Expands a state fully.
    fn at_all(&mut self, model: &M, state: &State) {
        self.at(model, state, |_| false);
    }

    /// The steps that have a successor.
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

    /// A reduction that selects only the first step of each state, at first.
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
