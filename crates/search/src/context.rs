//! The operations that all searches share: expanding, counting, checking and looking up states.

use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{
    Entry, Event, Fault, Full, KeySet, Keys, Model, Numbered, Observer, Progress, Propositional, State, Store,
    Valuation, Visit,
};

use crate::backoff::FastPathBackoff;
use crate::expander::Expander;
use crate::findings::{Findings, Found};
use crate::log::Log;
use crate::poll::{Poll, PollTimer};
use crate::shared::{Capacity, Shared};
use crate::stack::{Advance, Annotation, Destination, NoAnnotation, SearchStack};
use crate::{Checks, End, ErrorKind, Errors, Limit, Limits, Outcome, Stats};

/// The context of a running search. Its methods break with the reason why the search ends.
pub(crate) struct SearchContext<'a, M: Model, S: Keys + ?Sized, O: ?Sized> {
    pub shared: Shared<'a, M, S>,
    pub worker: Worker<M>,
    pub observer: &'a mut O,
}

/// The data that each worker owns.
pub(crate) struct Worker<M: Model> {
    pub expander: Expander<M>,
    pub findings: Findings,
    /// Decides whether to try the fast path for the next stable states.
    pub backoff: FastPathBackoff,
    /// The unit of depth.
    pub depth_unit: DepthUnit,
    /// How many keys and insertions the store has room for before the next `reserve`.
    pub capacity: Capacity,
    poll_timer: PollTimer,
    /// The event log, if the observer listens.
    pub log: Option<Log<M::Step>>,
}

/// The unit of depth.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DepthUnit {
    StableStates,
    /// All steps, those into and out of transient states included.
    Steps,
}

/// The result of entering a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// All successors were passed to the callback.
    Complete,
    /// The state was pushed onto the stack.
    Pushed,
}

/// The choice that a search has taken; `None` when none is left.
type StepResult<K, N> = ControlFlow<End, Option<Advance<K, N>>>;

impl<'a, M: Model, S: Keys + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'a, M, S, O> {
    pub fn new(
        model: &'a M,
        store: &'a mut S,
        checks: &'a Checks,
        limits: &'a Limits<'a>,
        observer: &'a mut O,
    ) -> Self {
        let log = observer.listens().then(Log::default);
        // The fast path does not report each step.
        let backoff = if log.is_some() { FastPathBackoff::CERTAIN } else { FastPathBackoff::default() };
        if log.is_some() {
            observer.happened(Event::Begun);
        }
        let worker = Worker { log, ..Worker::new(backoff) };
        SearchContext { shared: Shared::new(model, store, checks, limits), worker, observer }
    }

    /// Enables snapshots. The search must have safepoints.
    pub fn kept(mut self) -> Self {
        self.shared.checkpointer = self.shared.limits.keeper;
        self
    }

    #[inline]
    pub fn model(&self) -> &'a M {
        self.shared.model
    }

    #[inline]
    pub fn stats(&mut self) -> &mut Stats {
        &mut self.worker.findings.stats
    }

    /// Expands a stable state and pushes it onto the stack.
    fn enter<N: Annotation<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        key: S::Key,
        notes: &N,
    ) -> ControlFlow<End> {
        self.expand(key, 0, stack)?;
        let note = self.worker.expander.note(notes);
        self.admit(stack, notes, note);
        self.log_entered(Some(key));
        self.check_end(stack)
    }

    /// The same, but tries the fast path first. A search that counts all steps uses it only for states without transient
    /// successors, as it must see these.
    #[inline]
    pub fn enter_stable<N: Annotation<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        key: S::Key,
        notes: &N,
    ) -> ControlFlow<End> {
        if self.shared.store.is_state(key) && self.worker.backoff.is_worth_a_try() {
            let from = (self.shared.model, &*self.shared.store, key);
            let stepped = |step| self.observer.stepped(step);
            let only_steps = self.worker.depth_unit == DepthUnit::Steps;
            let entered = self.worker.expander.enter_words(from, only_steps, stack, notes, stepped);
            self.worker.backoff.learn(usize::from(entered));
            if entered {
                return ControlFlow::Continue(());
            }
        }
        self.enter(stack, key, notes)
    }

    /// The valuation of a stable state.
    pub fn valuation(&mut self, key: S::Key) -> Valuation
    where
        M: Propositional,
    {
        let expander = &mut self.worker.expander;
        expander.open(self.shared.store, key);
        self.shared.model.valuation(&expander.state, &mut expander.scratch)
    }

    /// Expands a stable state that was expanded `times` times before. If all steps lead to stable states without a
    /// fault, calls `each` with the successors' keys and pushes nothing; otherwise pushes the state onto the stack.
    /// `each` returns whether the state is known.
    #[inline]
    pub fn enter_or_else(
        &mut self,
        stack: &mut SearchStack<S::Key>,
        key: S::Key,
        times: u32,
        mut each: impl FnMut(S::Key) -> bool,
    ) -> ControlFlow<End, Expansion> {
        self.expand(key, times, stack)?;
        let successors = &self.worker.expander.successors;
        if !successors.are_plain() || successors.is_empty() || self.is_logging() {
            self.admit(stack, &NoAnnotation, ());
            self.log_entered(Some(key));
            self.check_end(stack)?;
            return ControlFlow::Continue(Expansion::Pushed);
        }
        self.keep_watch()?;
        let Expander { successors, opened, .. } = &self.worker.expander;
        let matched = &mut self.worker.findings.stats.matched;
        successors.for_each_target(|state| {
            let key = self.shared.store.key(state, opened);
            *matched += u64::from(each(key));
        });
        ControlFlow::Continue(Expansion::Complete)
    }

    /// Whether the last expansion was reduced, so that the proviso applies.
    pub fn is_reduced(&self) -> bool {
        self.worker.expander.successors.are_reduced()
    }

    #[inline]
    fn expand<N: Copy>(&mut self, key: S::Key, times: u32, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        self.worker.expander.open(self.shared.store, key);
        self.worker.expander.expand(self.shared.model, times);
        self.prepare(stack)
    }

    /// If the stable state just entered has no steps, checks that it is a valid end state.
    fn check_end<N: Copy>(&mut self, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        if stack.is_stuck()
            && self.shared.checks.end_states
            && !self.shared.model.marks(&self.worker.expander.state).valid_end
        {
            self.error(ErrorKind::InvalidEnd, 1, stack)?;
        }
        ControlFlow::Continue(())
    }

    /// Takes the next choice of `stack`; returns `None` when none is left. A transient state is entered: its steps are
    /// the next choices.
    #[inline]
    pub fn step<N: Annotation<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        notes: &N,
    ) -> StepResult<S::Key, N::Note> {
        self.keep_watch()?;
        let advanced = if self.is_logging() { self.advance_logged(stack) } else { stack.advance() };
        let Some(taken) = advanced else { return ControlFlow::Continue(None) };
        if let Some(fault) = taken.fault {
            self.handle_fault(fault, taken.broken, stack)?;
        }
        if taken.destination == Destination::Transient {
            self.pass(stack, notes, taken.depth)?;
        }
        ControlFlow::Continue(Some(taken))
    }

    /// Enters the transient state just reached.
    fn pass<N: Annotation<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        notes: &N,
        depth: u64,
    ) -> ControlFlow<End> {
        if self.worker.depth_unit == DepthUnit::Steps && !self.may_expand(depth) {
            return ControlFlow::Continue(());
        }
        self.worker.expander.expand_transient(self.shared.model, stack);
        self.prepare(stack)?;
        let note = stack.note().unwrap_or_default();
        self.admit(stack, notes, note);
        self.log_entered(None);
        ControlFlow::Continue(())
    }

    #[cold]
    fn handle_fault<N: Copy>(
        &mut self,
        fault: Fault,
        ends_run: bool,
        stack: &SearchStack<S::Key, N>,
    ) -> ControlFlow<End> {
        if self.shared.checks.count(&fault) {
            return self.error(ErrorKind::Fault(fault), fault.times, stack);
        }
        if ends_run {
            self.worker.findings.ignored_fault.get_or_insert(fault);
        }
        ControlFlow::Continue(())
    }

    /// Counts a step into a known state, which may close a cycle.
    #[inline]
    pub fn count_known(&mut self, key: S::Key, closes_cycle: bool) {
        let stats = self.stats();
        stats.matched += 1;
        stats.loops.iter_mut().for_each(|loops| *loops += u64::from(closes_cycle));
        self.log_known(key, closes_cycle);
    }

    /// Makes sure that there is room for the successors of the state just expanded.
    #[inline]
    fn prepare<N: Copy>(&mut self, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        let steps = self.worker.expander.successors.len();
        if self.worker.capacity.keys < steps {
            self.make_room(steps, stack.bytes())?;
        }
        self.worker.capacity.keys -= steps;
        self.worker.expander.successors.for_each_step(|step| self.observer.stepped(step));
        ControlFlow::Continue(())
    }

    /// Pushes the state just expanded. `common` is part of the note of each of its steps.
    #[inline]
    fn admit<N: Annotation<M>>(&mut self, stack: &mut SearchStack<S::Key, N::Note>, notes: &N, common: N::Note) {
        let Expander { successors, opened, .. } = &self.worker.expander;
        let store = &*self.shared.store;
        let key = |state: &State| {
            let key = store.key(state, opened);
            store.prefetch(key);
            key
        };
        stack.enter(successors, key, |step| N::both(common, notes.of(step)));
    }

    #[cold]
    fn make_room(&mut self, keys: usize, stack: u64) -> ControlFlow<End> {
        match self.reserve(keys, stack, |store, count, limit| {
            store.reserve(count, limit).or_else(|Full| store.degrade(count, limit))
        }) {
            Ok(()) => ControlFlow::Continue(()),
            Err(Full) => ControlFlow::Break(End::Limit(Limit::Memory)),
        }
    }

    fn reserve(
        &mut self,
        keys: usize,
        stack: u64,
        make_room: impl FnOnce(&mut S, usize, u64) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let portion = keys.max(Capacity::portion(self.stats().stored));
        self.worker.capacity = self.shared.reserve(portion, stack, make_room)?;
        Ok(())
    }

    /// Whether there is room for `count` more states, and for the successors of one, without degradation.
    #[inline]
    pub fn has_room(&mut self, count: usize) -> bool {
        let few = Capacity::portion(self.stats().stored) / 16;
        let has = self.worker.capacity.inserts >= count && self.worker.capacity.keys >= few;
        has || self.reserve(count, 0, S::reserve).is_ok()
    }

    pub fn keys_of_initial_states(&mut self) -> ControlFlow<End, Vec<S::Key>> {
        let mut states = Vec::new();
        self.shared.model.initial_states(&mut |state| states.push(state.to_vec()));
        self.make_room(states.len(), 0)?;
        let (store, opened) = (&*self.shared.store, &self.worker.expander.opened);
        ControlFlow::Continue(states.iter().map(|state| store.key(state, opened)).collect())
    }

    /// Makes room in a set that counts as auxiliary memory, and returns for how many keys.
    #[cold]
    pub fn make_room_in(&mut self, set: &mut impl KeySet<S::Key>, stack: u64) -> ControlFlow<End, usize> {
        let portion = Capacity::portion(self.stats().stored);
        self.shared.reserve_in(set, portion, stack)
    }

    /// Whether the depth limit permits expanding states at this depth. Records the depth as reached.
    #[inline]
    pub fn may_expand(&mut self, depth: u64) -> bool {
        self.worker.findings.may_expand(depth, self.shared.limits)
    }

    /// The outcome, and the first error separately: the search may have to complete its path.
    pub fn finish(self, explored: ControlFlow<End>) -> (Outcome<M::Step>, Option<Found>) {
        let (end, bytes) = (self.worker.findings.end(explored), self.shared.peak());
        let Findings { stats, errors, ignored_fault, first, .. } = self.worker.findings;
        (
            Outcome {
                end,
                stats,
                errors,
                bytes,
                workers: 1,
                no_threads: None,
                phases: None,
                ignored_fault,
                is_probed: false,
                counterexample: None,
            },
            first,
        )
    }

    #[cold]
    fn error<N: Copy>(&mut self, error: ErrorKind, times: u32, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        self.log_wrong(error);
        self.worker.findings.add_error(error, times, || stack.path_steps());
        match self.shared.checks.errors {
            Errors::First | Errors::Soonest => ControlFlow::Break(End::Error),
            Errors::All => ControlFlow::Continue(()),
        }
    }

    /// Checks the limits and reports progress now and then.
    #[inline]
    pub fn keep_watch(&mut self) -> ControlFlow<End> {
        match self.worker.poll_timer.poll() {
            Poll::Skip => ControlFlow::Continue(()),
            Poll::Limits => self.look_at_limits(),
            Poll::Progress => {
                self.tell_progress();
                self.look_at_limits()
            }
        }
    }

    #[cold]
    fn look_at_limits(&mut self) -> ControlFlow<End> {
        let transitions = self.stats().transitions();
        self.shared.look_at_limits(transitions)
    }

    /// A safepoint: takes a snapshot if one is due. `save` writes the search's own state.
    #[inline]
    pub fn safepoint(&mut self, save: impl Fn(&mut Writer) -> io::Result<()>) -> ControlFlow<End>
    where
        S: Store,
    {
        if self.shared.is_paused() { self.be_kept(save) } else { ControlFlow::Continue(()) }
    }

    #[cold]
    fn be_kept(&mut self, save: impl Fn(&mut Writer) -> io::Result<()>) -> ControlFlow<End>
    where
        S: Store,
    {
        if let Some(checkpointer) = self.shared.checkpointer {
            checkpointer.keep(&|to| {
                self.shared.store.save(to)?;
                self.observer.save(to)?;
                self.shared.memory.save(to)?;
                self.worker.save(to)?;
                save(to)
            });
        }
        self.shared.end_pause()
    }

    /// Restores the state of a search from a snapshot, with its store and its observer.
    pub fn restore(&mut self, from: &mut Reader) -> io::Result<()>
    where
        S: Store,
    {
        self.shared.store.restore(from)?;
        self.observer.restore(from)?;
        self.shared.memory = Snapshot::load(from)?;
        self.worker.restore(from)
    }

    #[cold]
    pub fn tell_progress(&mut self) {
        let Stats { stored, matched, depth, .. } = *self.stats();
        let (bytes, growth) = (self.shared.bytes(), self.shared.store.growth());
        self.observer.progress(Progress { stored, matched, depth, bytes, growth });
    }
}

impl<M: Model> Worker<M> {
    pub fn new(backoff: FastPathBackoff) -> Self {
        Worker {
            expander: Expander::default(),
            findings: Findings::default(),
            backoff,
            depth_unit: DepthUnit::StableStates,
            capacity: Capacity::default(),
            poll_timer: PollTimer::default(),
            log: None,
        }
    }

    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.findings.save(to)?;
        self.backoff.save(to)?;
        self.capacity.save(to)?;
        self.poll_timer.save(to)
    }

    pub fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.findings = Snapshot::load(from)?;
        self.backoff = Snapshot::load(from)?;
        self.capacity = Snapshot::load(from)?;
        self.poll_timer = Snapshot::load(from)?;
        Ok(())
    }
}

impl<M: Model, S: Store + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'_, M, S, O> {
    /// Visits the initial states and returns them without duplicates, with their numbers. All are visited before the
    /// first step, so that the number of matched states does not depend on the search order.
    pub fn visit_initial_states(&mut self) -> ControlFlow<End, Vec<(u32, S::Key)>> {
        let mut states = Vec::new();
        self.shared.model.initial_states(&mut |state| states.push(state.to_vec()));
        let (mut distinct, nowhere) = (Vec::new(), SearchStack::<S::Key>::default());
        for (number, state) in (0..).zip(states) {
            self.make_room(1, 0)?;
            let key = self.shared.store.key(&state, &self.worker.expander.opened);
            if self.insert(key, &nowhere)? == Visit::New {
                distinct.push((number, key));
            }
        }
        ControlFlow::Continue(distinct)
    }

    /// Makes room for `keys` more keys, and for as many states if the store is not partitioned.
    pub fn make_room_for_keys(&mut self, keys: usize) -> ControlFlow<End> {
        self.worker.capacity = Capacity::default();
        let reserve = |store: &mut S, count: usize, limit: u64| {
            store.reserve_keys(count, limit).or_else(|Full| store.degrade(count, limit))
        };
        match self.shared.reserve(keys, 0, reserve) {
            Ok(_) => ControlFlow::Continue(()),
            Err(Full) => ControlFlow::Break(End::Limit(Limit::Memory)),
        }
    }

    /// Looks up keys in order without counting them, and appends the indices of the new ones.
    pub fn look_up_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) -> ControlFlow<End> {
        if self.worker.capacity.inserts < keys.len() {
            self.make_room(keys.len(), 0)?;
        }
        self.worker.capacity.inserts -= keys.len();
        self.shared.store.prefetch_all(keys);
        self.shared.store.insert_all_alone(keys, new);
        ControlFlow::Continue(())
    }

    /// Looks up keys in order, and appends the indices of the new ones.
    pub fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) -> ControlFlow<End> {
        if self.worker.capacity.inserts < keys.len() {
            self.make_room(keys.len(), 0)?;
        }
        self.worker.capacity.inserts -= keys.len();
        let before = new.len();
        self.shared.store.insert_all_alone(keys, new);
        let stored = (new.len() - before) as u64;
        let stats = self.stats();
        stats.stored += stored;
        stats.matched += keys.len() as u64 - stored;
        ControlFlow::Continue(())
    }

    /// Looks up a key reached by `stack`.
    #[inline]
    pub fn insert<N: Copy>(&mut self, key: S::Key, stack: &SearchStack<S::Key, N>) -> ControlFlow<End, Visit> {
        self.make_room_for_one(stack)?;
        let visit = self.shared.store.insert_alone(key);
        self.stats().stored += u64::from(visit == Visit::New);
        if visit == Visit::New {
            self.log_event(|state| Event::New { state }, key);
        }
        ControlFlow::Continue(visit)
    }
}

impl<M: Model, S: Keys + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'_, M, S, O> {
    #[inline]
    fn make_room_for_one<N: Copy>(&mut self, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        if self.worker.capacity.inserts == 0 {
            self.make_room(0, stack.bytes())?;
        }
        self.worker.capacity.inserts -= 1;
        ControlFlow::Continue(())
    }

    /// Lets a worker enter the set of a state reached by `stack`.
    #[inline]
    pub fn enter_set<N: Copy>(
        &mut self,
        stack: &SearchStack<S::Key, N>,
        enter: impl FnOnce(&S) -> Entry,
    ) -> ControlFlow<End, Entry> {
        self.make_room_for_one(stack)?;
        let entry = enter(self.shared.store);
        match entry {
            Entry::New(_) => self.stats().stored += 1,
            Entry::First(_) | Entry::Again(_) | Entry::Closed => self.worker.capacity.inserts += 1,
        }
        ControlFlow::Continue(entry)
    }

    /// Gives a new state reached by `stack` its first number.
    #[inline]
    pub fn give_number<N: Copy>(
        &mut self,
        key: S::Key,
        number: u64,
        stack: &SearchStack<S::Key, N>,
    ) -> ControlFlow<End>
    where
        S: Numbered,
    {
        self.make_room_for_one(stack)?;
        self.shared.store.set_number(key, number);
        self.stats().stored += 1;
        self.log_event(|state| Event::New { state }, key);
        ControlFlow::Continue(())
    }
}
