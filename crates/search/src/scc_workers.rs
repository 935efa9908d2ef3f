//! Search for accepting strongly connected components by several workers.
//!
//! After Bloemen, Laarman, van de Pol: Multi-core on-the-fly SCC decomposition, PPoPP 2016; acceptance after Bloemen,
//! Duret-Lutz, van de Pol: Explicit state model checking with generalized Büchi and Rabin automata, SPIN 2017. Every
//! worker searches depth first, in an order of its own, and merges the states of every cycle that it closes. All share
//! the sets of merged states ([`Components`]): a worker avoids closed components, merges what others have found to be one
//! component, and when it has finished the states that it has found in a component, it continues with those of others.
//!
//! Which worker finds what depends on timing, so these workers only prove that there is no error. If there is one, or a
//! fault that leaves it open, one worker searches again and its result is reported. The same holds for Streett requests,
//! which these workers ignore: if no run is accepted without them, none is with them.

use std::hash::Hash;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use entail_model::{
    AcceptanceMarks, Accepting, Components, Entry, Keys, LosslessStore, Node, Observer, Progress, SpareNodes,
};
use rapidhash::RapidHashSet;

use crate::context::SearchContext;
use crate::joint::{Access, Joint};
use crate::recent_steps::RecentSteps;
use crate::scc::{ByModel, TransitionMarks, scc, scc_up_to};
use crate::stack::SearchStack;
use crate::{Checks, End, Limit, Limits, Outcome, Stats, memory_estimate};

/// Searches for an accepted infinite run of `model`, a counterexample, by as many workers as are worthwhile. `store` must
/// be empty.
pub fn scc_by_workers<M, S, O>(model: &M, store: S, limits: &Limits, observer: &mut O) -> Outcome<M::Step>
where
    M: Accepting,
    S: LosslessStore,
    O: Observer<M::Step> + ?Sized,
{
    let workers = limits.threads.count.min(S::Components::MOST_WORKERS);
    // The depth of a state depends on who finds it, and the log is that of one worker.
    if workers < 2 || limits.depth.is_some() || observer.listens() {
        return scc(model, &mut store.numbered(), limits, observer);
    }
    let began = Instant::now();
    let few = FEW * limits.threads.worthwhile;
    let outcome = scc_up_to(model, &mut store.another().numbered(), limits, observer, few);
    if outcome.end != End::Limit(Limit::Interrupted) || outcome.stats.stored < few {
        return outcome;
    }
    let another = store.another();
    let limits = &Limits { time: time_left(limits, began), ..*limits };
    let began = Instant::now();
    let store = store.components(model.acceptance(), workers);
    let Explored { result, no_threads } = explore(model, store, workers, limits, observer);
    let outcome = result.unwrap_or_else(|unproven| {
        let limits = Limits { time: time_left(limits, began), ..*limits };
        let outcome = scc(model, &mut another.numbered(), &limits, observer);
        match (unproven, outcome.end) {
            (Unproven::Error, End::Limit(_)) => Outcome { end: End::Error, errors: 1, ..outcome },
            (Unproven::Error | Unproven::Undecided, _) => outcome,
        }
    });
    Outcome { no_threads, ..outcome }
}

/// The search begins with one worker. When it has found this many times as many states as make several workers worthwhile
/// at one depth of a breadth-first search, it begins again with all.
const FEW: u64 = 128;

fn time_left(limits: &Limits, began: Instant) -> Option<Duration> {
    limits.time.map(|time| time.saturating_sub(began.elapsed()))
}

/// The result of several workers.
struct Explored<T> {
    result: Result<Outcome<T>, Unproven>,
    /// Why there are fewer threads than requested.
    no_threads: Option<String>,
}

/// Why one worker must search again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unproven {
    /// Some run is accepted, and the worker must find one.
    Error,
    /// Some run may be accepted.
    Undecided,
}

/// Explores all states, unless a limit ends the search, or it cannot prove that there is no error.
fn explore<M, S, O>(model: &M, store: S, workers: usize, limits: &Limits, observer: &mut O) -> Explored<M::Step>
where
    M: Accepting,
    S: Components,
    O: Observer<M::Step> + ?Sized,
{
    let joint = Joint::new(store, workers);
    let Limits { time, memory, stop, .. } = *limits;
    let work = &|number, progress: Option<&mut dyn FnMut(Progress)>| {
        let limits = Limits { time, memory, stop, ..Limits::default() };
        let mut seen = Seen { progress, recent: RecentSteps::default(), distinct: RapidHashSet::default() };
        let found = search(model, &joint, number, &limits, &mut seen);
        (found, seen.into_steps())
    };
    let mut no_threads = None;
    let found: Vec<_> = thread::scope(|scope| {
        let start = |number| {
            let builder = thread::Builder::new().stack_size(limits.threads.stack);
            let started = builder.spawn_scoped(scope, move || work(number, None));
            started.map_err(|error| no_threads = Some(error.to_string())).ok()
        };
        let others: Vec<_> = (1..workers).map_while(start).collect();
        if others.is_empty() {
            return Vec::new();
        }
        let mut progress = |progress| {
            let [stored, transitions] = joint.counts();
            observer.progress(Progress { stored, matched: transitions.saturating_sub(stored), ..progress });
        };
        let first = work(0, Some(&mut progress));
        let rest = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(first).chain(rest).collect()
    });
    if found.is_empty() {
        return Explored { result: Err(Unproven::Undecided), no_threads };
    }
    let workers = found.len();
    let (found, steps): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    steps.into_iter().flatten().for_each(|step| observer.stepped(step));
    let bytes = joint.auxiliary() + joint.access(0, None).bytes();
    Explored { result: conclude(found, bytes, workers), no_threads }
}

/// Combines what the workers have found.
fn conclude<T>(found: Vec<Found>, bytes: u64, workers: usize) -> Result<Outcome<T>, Unproven> {
    let is_any = |what: fn(&Found) -> bool| found.iter().any(what);
    if is_any(|found| found.reason == Some(Reason::Accepted)) {
        // The run may violate a request.
        return Err(if is_any(|found| found.has_requests) { Unproven::Undecided } else { Unproven::Error });
    }
    if is_any(|found| found.is_faulty || found.reason == Some(Reason::Fault)) {
        return Err(Unproven::Undecided);
    }
    let sum = |count: fn(&Found) -> u64| found.iter().map(count).sum::<u64>();
    let stored = sum(|found| found.stored);
    // A transition that led to a new state when it was explored first may have been explored again.
    let matched = (sum(|found| found.transitions) + sum(|found| found.started)).saturating_sub(stored);
    let limit = found.iter().find_map(|found| match found.reason {
        Some(Reason::Limit(limit)) => Some(limit),
        Some(Reason::Accepted | Reason::Fault) | None => None,
    });
    let end = limit.map_or(End::Complete, End::Limit);
    Ok(Outcome {
        end,
        stats: Stats { stored, matched, ..Stats::default() },
        errors: 0,
        bytes,
        workers,
        no_threads: None,
        phases: None,
        ignored_fault: None,
        is_probed: false,
        counterexample: None,
    })
}

/// What one worker has found.
struct Found {
    /// Why it stopped before the others.
    reason: Option<Reason>,
    /// Whether some run ends in a fault.
    is_faulty: bool,
    /// Whether some state has Streett requests.
    has_requests: bool,
    /// The number of states that it found first.
    stored: u64,
    /// Those of them that are initial states from which it started.
    started: u64,
    /// The number of transitions out of the states that it finished first.
    transitions: u64,
}

/// Why a worker ends the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// A run is accepted, unless requests matter.
    Accepted,
    /// A fault decides.
    Fault,
    Limit(Limit),
}

/// The distinct steps that a worker has seen. The first worker also reports progress.
struct Seen<'p, S> {
    progress: Option<&'p mut dyn FnMut(Progress)>,
    recent: RecentSteps<S>,
    distinct: RapidHashSet<S>,
}

impl<S: Copy + Eq + Hash> Seen<'_, S> {
    fn collect(&mut self) {
        self.recent.drain(|step| _ = self.distinct.insert(step));
    }

    fn into_steps(mut self) -> RapidHashSet<S> {
        self.collect();
        self.distinct
    }
}

impl<S: Copy + Eq + Hash> Observer<S> for Seen<'_, S> {
    #[inline]
    fn stepped(&mut self, step: S) {
        self.recent.stepped(step);
        if self.recent.fresh() >= FRESH {
            self.collect();
        }
    }

    fn progress(&mut self, progress: Progress) {
        if let Some(report) = &mut self.progress {
            report(progress);
        }
    }
}

/// The number of steps that may wait until they are collected.
const FRESH: usize = 1 << 10;

/// A worker takes this many times as many transitions as it would look back at.
const PATIENCE: usize = 16;

/// One of the workers.
struct SccWorker<'a, 'j, M: Accepting, S: Components, O> {
    context: SearchContext<'a, M, Access<'j, S>, O>,
    number: usize,
    spare: SpareNodes,
    all: AcceptanceMarks,
    stack: SearchStack<S::Key, TransitionMarks>,
    /// The sets on the path. The worker explores the states of the last one.
    levels: Vec<Level>,
    /// The levels whose sets are not merged with the one before, as far as this worker knows.
    roots: Vec<usize>,
    /// See [`Found`].
    started: u64,
    transitions: u64,
    is_accepted: bool,
    has_requests: bool,
    /// The number of transitions until it looks back along its path.
    rest: usize,
    /// For the order of its steps.
    dice: u64,
}

/// A set that the worker has entered.
struct Level {
    /// The state by which it entered.
    node: Node,
    /// The marks of the transition to it.
    entered: AcceptanceMarks,
    /// The state of the set that it explores.
    state: Node,
    /// The number of frames on the stack below that state.
    below: usize,
    /// The number of transitions explored out of that state.
    transitions: u64,
}

fn search<M: Accepting, S: Components>(
    model: &M,
    joint: &Joint<S>,
    number: usize,
    limits: &Limits,
    observer: &mut impl Observer<M::Step>,
) -> Found {
    let mut access = joint.access(number, limits.memory);
    let mut worker = SccWorker {
        context: SearchContext::new(model, &mut access, &Checks::OF_CLAIMS, limits, observer),
        number,
        spare: SpareNodes::default(),
        all: model.acceptance(),
        stack: SearchStack::default(),
        levels: Vec::new(),
        roots: Vec::new(),
        started: 0,
        transitions: 0,
        is_accepted: false,
        has_requests: false,
        rest: 0,
        dice: number as u64,
    };
    let explored = worker.explore();
    let is_first = explored.is_break() && joint.end();
    let reason = match explored {
        ControlFlow::Continue(()) => None,
        ControlFlow::Break(End::Limit(limit)) => is_first.then_some(Reason::Limit(limit)),
        ControlFlow::Break(End::Error | End::Complete) if worker.is_accepted => Some(Reason::Accepted),
        ControlFlow::Break(End::Error | End::Complete) => Some(Reason::Fault),
    };
    let SccWorker { context, started, transitions, has_requests, .. } = worker;
    let findings = &context.worker.findings;
    let (is_faulty, stored) = (findings.ignored_fault.is_some(), findings.stats.stored);
    Found { reason, is_faulty, has_requests, stored, started, transitions }
}

impl<M: Accepting, S: Components, O: Observer<M::Step>> SccWorker<'_, '_, M, S, O> {
    /// Explores all states, unless there is a reason to end before.
    fn explore(&mut self) -> ControlFlow<End> {
        for key in self.context.keys_of_initial_states()? {
            // All workers start from the initial states in the same order, so that those that are reachable from others
            // are known when their turn comes.
            let entry = self.enter(key)?;
            self.started += u64::from(matches!(entry, Entry::New(_)));
            self.descend(entry, key, AcceptanceMarks::default())?;
            while !self.levels.is_empty() {
                self.go_on()?;
            }
        }
        ControlFlow::Continue(())
    }

    fn enter(&mut self, key: S::Key) -> ControlFlow<End, Entry> {
        let SccWorker { context, stack, spare, number, .. } = self;
        context.enter_set(stack, |access| access.store().enter(key, *number, spare))
    }

    fn go_on(&mut self) -> ControlFlow<End> {
        if !self.context.shared.store.goes_on() {
            return ControlFlow::Break(End::Limit(Limit::Interrupted));
        }
        let Some(level) = self.levels.last() else { return ControlFlow::Continue(()) };
        if !self.stack.is_spent() {
            self.look_back()?;
            self.step()
        } else if self.stack.len() > level.below + 1 {
            self.stack.leave();
            ControlFlow::Continue(())
        } else {
            if self.components().finish(level.state) {
                self.transitions += level.transitions;
                self.context.shared.store.publish(self.context.worker.findings.stats.stored, self.transitions);
            }
            self.retreat()
        }
    }

    /// Takes the next transition.
    fn step(&mut self) -> ControlFlow<End> {
        let notes = ByModel(self.context.model());
        let Some(taken) = self.context.step(&mut self.stack, &notes)? else { return ControlFlow::Continue(()) };
        let Some(key) = taken.stable() else { return ControlFlow::Continue(()) };
        let TransitionMarks { marks, requests } = taken.note;
        self.has_requests |= !requests.is_empty();
        self.levels.last_mut().into_iter().for_each(|level| level.transitions += 1);
        match self.enter(key)? {
            Entry::Again(node) => self.close_cycle(node, marks),
            entry => self.descend(entry, key, marks),
        }
    }

    /// Continues in the set of a state, which this worker has just entered for the first time.
    fn descend(&mut self, entry: Entry, key: S::Key, entered: AcceptanceMarks) -> ControlFlow<End> {
        let node = match entry {
            Entry::New(node) | Entry::First(node) => node,
            Entry::Again(_) | Entry::Closed => return ControlFlow::Continue(()),
        };
        self.roots.push(self.levels.len());
        self.levels.push(Level { node, entered, state: node, below: self.stack.len(), transitions: 0 });
        let memory = memory_estimate::bytes(&self.levels) + memory_estimate::bytes(&self.roots);
        self.context.shared.memory.auxiliary = memory as u64;
        if self.components().is_finished(node) { self.retreat() } else { self.expand(node, key) }
    }

    /// Begins to explore a state of the last level.
    fn expand(&mut self, state: Node, key: S::Key) -> ControlFlow<End> {
        let notes = ByModel(self.context.model());
        self.context.enter_stable(&mut self.stack, key, &notes)?;
        if self.number > 0 {
            self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = (self.dice >> 33) as usize;
            self.stack.rotate(|count| random % count);
        }
        self.levels.last_mut().into_iter().for_each(|level| *level = Level { state, transitions: 0, ..*level });
        ControlFlow::Continue(())
    }

    /// Merges all sets from that of a state up to the last one, as a transition leads back to it. At the end, that state is
    /// in the set of the last root, and so are both ends of the transitions whose marks are added.
    fn close_cycle(&mut self, node: Node, marks: AcceptanceMarks) -> ControlFlow<End> {
        let mut marks = marks;
        while let [.., before, last] = self.roots[..] {
            let Level { node: deeper, entered, .. } = self.levels[last];
            let before = self.levels[before].node;
            // Others may have merged the last sets of this path.
            if !self.components().are_joined(before, deeper) {
                if self.components().are_joined(node, deeper) {
                    break;
                }
                self.components().join(before, deeper);
            }
            marks = marks.and(entered);
            self.roots.pop();
        }
        self.add_marks(node, marks)
    }

    /// From time to time, adds the marks of the transitions on the path inside sets that other workers have merged. Otherwise
    /// they would become known only when this worker returns there.
    fn look_back(&mut self) -> ControlFlow<End> {
        if self.rest > 0 {
            self.rest -= 1;
            return ControlFlow::Continue(());
        }
        self.rest = PATIENCE * (self.levels.len() + PATIENCE);
        for (before, level) in (0..).zip(1..self.levels.len()) {
            let Level { node, entered, .. } = self.levels[level];
            if !entered.is_empty() && self.components().are_joined(self.levels[before].node, node) {
                self.add_marks(node, entered)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds marks of transitions inside the set of a state.
    fn add_marks(&mut self, node: Node, marks: AcceptanceMarks) -> ControlFlow<End> {
        if self.components().add_marks(node, marks, self.all) {
            self.is_accepted = true;
            return ControlFlow::Break(End::Error);
        }
        ControlFlow::Continue(())
    }

    /// The state of the last level is finished: continues with another state of its set, or with the levels before.
    fn retreat(&mut self) -> ControlFlow<End> {
        while let Some(&Level { node, entered, state, below, .. }) = self.levels.last()
            && self.components().is_finished(state)
        {
            while self.stack.len() > below {
                self.stack.leave();
            }
            let before = self.levels.iter().rev().nth(1).map(|level| level.node);
            let is_merged = before.is_some_and(|before| self.components().are_joined(before, node));
            if is_merged {
                self.add_marks(node, entered)?;
            } else if let Some((state, key)) = self.components().unfinished(node, self.number) {
                return self.expand(state, key);
            }
            self.levels.pop();
            self.roots.pop_if(|root| *root == self.levels.len());
        }
        ControlFlow::Continue(())
    }

    fn components(&self) -> &S {
        self.context.shared.store.store()
    }
}
