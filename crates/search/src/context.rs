//! What all searches do with a step: count it, check it, look it up, and look at the clock.

use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use entail_disk::{Reader, Scratch, Snapshot, Writer, snapshot};
use entail_model::{
    Event, Fault, Full, KeySet, Keys, Model, Numbered, Observer, Opened, Progress, Propositional, State, StateBuf,
    Store, Successors, Valuation, Visit,
};

use crate::backoff::FastPathBackoff;
use crate::log::Log;
use crate::probe::Schedule;
use crate::pulse::{Beat, Pulse};
use crate::stack::{Notes, Nothing, SearchStack, Taken, Turn};
use crate::{Checkpointer, Checks, Counterexample, End, ErrorKind, Errors, Limit, Limits, Outcome, Stats};

/// The context of a running search: it expands, looks up, counts and checks limits. Its methods break with the reason why the
/// search ends.
pub(crate) struct SearchContext<'a, M: Model, S: Keys + ?Sized, O: ?Sized> {
    pub model: &'a M,
    pub store: &'a mut S,
    pub checks: &'a Checks,
    pub limits: &'a Limits<'a>,
    pub observer: &'a mut O,
    pub stats: Stats,
    /// Where the present descent began, in the search's own numbering.
    pub origin: u64,
    /// The bytes that the search keeps besides the store and the descent.
    pub aside: u64,
    /// What the store must leave to that, at least.
    share: u64,
    /// What the store has left to that.
    left: u64,
    /// The most bytes kept so far, in all.
    peak: u64,
    /// Whether something was left unexplored because it lies too deep.
    cut: bool,
    errors: u64,
    first: Option<Found>,
    /// The first fault that ended a run and is no error.
    ignored_fault: Option<Fault>,
    /// The stable state entered last.
    state: StateBuf,
    opened: Opened,
    pub successors: Successors<M::Step>,
    /// The steps out of that state.
    steps: Vec<M::Step>,
    scratch: M::Scratch,
    /// Whether that state is not fully expanded, and needs the proviso.
    pub is_reduced: bool,
    /// Whether stable states are likely to be unusual.
    pub backoff: FastPathBackoff,
    room: Room,
    pub started: Instant,
    pulse: Pulse,
    /// The log of events, if an observer wants it.
    pub log: Option<Log<M::Step>>,
    /// Takes snapshots, if the search supports them.
    keeper: Option<&'a dyn Checkpointer>,
    pause: Option<Pause>,
    /// When to probe the depth, if at all.
    pub probes: Option<Schedule>,
    /// What a probe has found.
    pub probed: Option<Counterexample<M::Step>>,
}

/// Why a search is to rest as soon as it can.
#[derive(Clone, Copy)]
enum Pause {
    /// To be kept.
    Keep,
    /// The same, and then it ends.
    End(Limit),
}

/// The first error.
pub(crate) struct Found {
    pub error: ErrorKind,
    /// Where the descent began that met it.
    pub origin: u64,
    /// The turns made from there; the last one is the faulty one.
    pub turns: Vec<Turn>,
}

/// What became of a state that was expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// All has been said about it.
    Nothing,
    /// A descent begins there.
    SearchStack,
}

/// One byte in so many is left to what is kept aside, as most of it is in files.
pub(crate) const SHARE: u64 = 16;

/// What the store can still do before it must be asked to make more room.
#[derive(Default)]
struct Room {
    keys: usize,
    inserts: usize,
}

snapshot!(Room { keys, inserts });

impl Room {
    /// How much is asked for at a time: little at first, so that a small model costs little.
    fn portion(stored: u64) -> usize {
        stored.clamp(16, 4096) as usize
    }
}

impl<'a, M: Model, S: Keys + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'a, M, S, O> {
    pub fn new(
        model: &'a M,
        store: &'a mut S,
        checks: &'a Checks,
        limits: &'a Limits<'a>,
        observer: &'a mut O,
    ) -> Self {
        let log = observer.listens().then(Log::default);
        // What is done quickly is not done step by step.
        let backoff = if log.is_some() { FastPathBackoff::CERTAIN } else { FastPathBackoff::default() };
        if log.is_some() {
            observer.happened(Event::Begun);
        }
        SearchContext {
            model,
            store,
            checks,
            limits,
            observer,
            stats: Stats::default(),
            origin: 0,
            aside: 0,
            share: 0,
            left: u64::MAX,
            peak: 0,
            cut: false,
            errors: 0,
            first: None,
            ignored_fault: None,
            state: StateBuf::new(),
            opened: Opened::default(),
            successors: Successors::default(),
            steps: Vec::new(),
            is_reduced: false,
            backoff,
            scratch: M::Scratch::default(),
            room: Room::default(),
            started: Instant::now(),
            pulse: Pulse::default(),
            log,
            keeper: None,
            pause: None,
            probes: None,
            probed: None,
        }
    }

    /// The same, for a search that rests now and then, and can be kept.
    pub fn kept(self) -> Self {
        SearchContext { keeper: self.limits.keeper, ..self }
    }

    /// Begins a descent in a stable state, or goes on with it there.
    #[inline]
    pub fn enter<N: Notes<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        key: S::Key,
        notes: &N,
    ) -> ControlFlow<End> {
        self.expand(key, stack)?;
        self.steps.clear();
        self.successors.each_step(|step| self.steps.push(step));
        let note = notes.at(&self.state, &self.steps);
        self.admit(stack, notes, note);
        self.tell_entered(Some(key));
        self.check_end(stack)
    }

    /// The same for a search that does not want to see transient states.
    #[inline]
    pub fn enter_stable<N: Notes<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        key: S::Key,
        notes: &N,
    ) -> ControlFlow<End> {
        if self.store.is_state(key) && self.backoff.is_worth_a_try() {
            let entered = self.enter_ways(stack, key, notes);
            self.backoff.learn(usize::from(entered));
            if entered {
                return ControlFlow::Continue(());
            }
        }
        self.enter(stack, key, notes)
    }

    /// Begins a descent in a stable state, or goes on with it there, if nothing may be wrong or unusual there.
    #[inline]
    fn enter_ways<N: Notes<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        key: S::Key,
        notes: &N,
    ) -> bool {
        stack.enter_ways();
        self.steps.clear();
        let (observer, store, steps) = (&mut *self.observer, &*self.store, &mut self.steps);
        let expanded = self.model.expand_words(&[key], &mut self.scratch, |transition| {
            observer.stepped(transition.step);
            if transition.passed == 0 {
                steps.push(transition.step);
            }
            transition.next.inspect(|next| store.prefetch(*next));
            stack.push_transition(&transition, |before| {
                let note = notes.of(transition.step);
                before.map_or(note, |before| N::both(before, note))
            });
        });
        if expanded == 0 {
            stack.leave();
            return false;
        }
        self.store.open(key, &mut self.state, &mut self.opened);
        let common = notes.at(&self.state, &self.steps);
        stack.note_all(|note| N::both(common, note));
        true
    }

    /// What is true in a stable state.
    pub fn valuation(&mut self, key: S::Key) -> Valuation
    where
        M: Propositional,
    {
        self.store.open(key, &mut self.state, &mut self.opened);
        self.model.valuation(&self.state, &mut self.scratch)
    }

    /// Expands a stable state, after so many times before. If nothing can happen there but steps to stable states, `each` is given the keys of
    /// these, and that is all; otherwise a descent begins. `each` says what is known.
    #[inline]
    pub fn enter_or_else(
        &mut self,
        stack: &mut SearchStack<S::Key>,
        key: S::Key,
        times: u32,
        mut each: impl FnMut(S::Key) -> bool,
    ) -> ControlFlow<End, Entered> {
        match times {
            0 => self.expand(key, stack)?,
            _ => self.expand_further(key, times, stack)?,
        }
        self.is_reduced = self.successors.are_reduced();
        if !self.successors.are_plain() || self.successors.is_empty() || self.is_told() {
            self.admit(stack, &Nothing, ());
            self.tell_entered(Some(key));
            self.check_end(stack)?;
            return ControlFlow::Continue(Entered::SearchStack);
        }
        self.keep_watch()?;
        self.successors.each_state(|state| {
            let key = self.store.key(state, &self.opened);
            self.stats.matched += u64::from(each(key));
        });
        ControlFlow::Continue(Entered::Nothing)
    }

    /// Expands stable states one after the other, up to the first one where something may be wrong, or which is
    /// unusual; returns how many. `each` is told which of them it is, and the key of a stable state reached from there;
    /// `reduced`, which of them is not fully expanded.
    #[inline]
    pub fn expand_plain(
        &mut self,
        keys: &[S::Key],
        mut each: impl FnMut(usize, S::Key) -> bool,
        mut reduced: impl FnMut(usize),
    ) -> ControlFlow<End, usize> {
        self.keep_watch()?;
        let count = self.store.leading_states(keys);
        let mut known = 0;
        let expanded = self.model.expand_words(&keys[..count], &mut self.scratch, |transition| {
            self.observer.stepped(transition.step);
            if transition.reduced {
                reduced(transition.from);
            }
            if let Some(next) = transition.next {
                known += u64::from(each(transition.from, next));
            }
        });
        self.stats.matched += known;
        ControlFlow::Continue(expanded)
    }

    #[inline]
    fn expand<N: Copy>(&mut self, key: S::Key, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        self.store.open(key, &mut self.state, &mut self.opened);
        self.successors.clear();
        self.model.expand(&self.state, &mut self.successors, &mut self.scratch);
        self.prepare(stack)
    }

    #[cold]
    fn expand_further<N: Copy>(
        &mut self,
        key: S::Key,
        times: u32,
        stack: &SearchStack<S::Key, N>,
    ) -> ControlFlow<End> {
        self.store.open(key, &mut self.state, &mut self.opened);
        self.successors.clear();
        self.model.expand_further(&self.state, times, &mut self.successors, &mut self.scratch);
        self.prepare(stack)
    }

    /// Checks whether the run may end in the stable state just entered, if it does.
    fn check_end<N: Copy>(&mut self, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        if stack.is_stuck() && self.checks.end_states && !self.model.marks(&self.state).valid_end {
            self.error(ErrorKind::InvalidEnd, 1, stack)?;
        }
        ControlFlow::Continue(())
    }

    /// Goes on in the transient state just reached.
    pub fn enter_transient<N: Notes<M>>(
        &mut self,
        stack: &mut SearchStack<S::Key, N::Note>,
        notes: &N,
    ) -> ControlFlow<End> {
        self.successors.clear();
        self.model.expand(stack.transient(), &mut self.successors, &mut self.scratch);
        self.prepare(stack)?;
        let note = stack.note().unwrap_or_default();
        self.admit(stack, notes, note);
        self.tell_entered(None);
        ControlFlow::Continue(())
    }

    /// Makes the next choice of `stack`; `None` when none is left.
    #[inline]
    pub fn step<N: Copy>(
        &mut self,
        stack: &mut SearchStack<S::Key, N>,
    ) -> ControlFlow<End, Option<Taken<S::Key, N>>> {
        self.keep_watch()?;
        let advanced = if self.is_told() { self.advance_aloud(stack) } else { stack.advance() };
        let Some(taken) = advanced else { return ControlFlow::Continue(None) };
        if let Some(fault) = taken.fault {
            self.meet_fault(fault, taken.broken, stack)?;
        }
        ControlFlow::Continue(Some(taken))
    }

    #[cold]
    fn meet_fault<N: Copy>(
        &mut self,
        fault: Fault,
        ends_run: bool,
        stack: &SearchStack<S::Key, N>,
    ) -> ControlFlow<End> {
        if self.checks.count(&fault) {
            return self.error(ErrorKind::Fault(fault), fault.times, stack);
        }
        if ends_run {
            self.ignored_fault.get_or_insert(fault);
        }
        ControlFlow::Continue(())
    }

    /// These keys will soon be looked up.
    #[inline]
    pub fn prefetch(&self, keys: &[S::Key]) {
        self.store.prefetch_all(keys);
    }

    /// Sees to it that there is room for the successors of the state that was just expanded.
    #[inline]
    fn prepare<N: Copy>(&mut self, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        let steps = self.successors.len();
        if self.room.keys < steps {
            self.make_room(steps, stack.bytes())?;
        }
        self.room.keys -= steps;
        self.successors.each_step(|step| self.observer.stepped(step));
        ControlFlow::Continue(())
    }

    /// Enters the state that was just expanded; all its steps have a note in common.
    #[inline]
    fn admit<N: Notes<M>>(&mut self, stack: &mut SearchStack<S::Key, N::Note>, notes: &N, common: N::Note) {
        let (store, opened) = (&*self.store, &self.opened);
        let key = |state: &State| {
            let key = store.key(state, opened);
            store.prefetch(key);
            key
        };
        stack.enter(&self.successors, key, |step| N::both(common, notes.of(step)));
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
        let portion = keys.max(Room::portion(self.stats.stored));
        let limit = self.limits.memory.unwrap_or(u64::MAX);
        let kept = self.aside + stack;
        make_room(self.store, portion, limit.checked_sub(kept.max(self.share)).ok_or(Full)?)?;
        let bytes = self.store.bytes();
        self.left = limit.saturating_sub(bytes);
        self.peak = self.peak.max(bytes + kept);
        self.room = Room { keys: portion, inserts: portion };
        Ok(())
    }

    /// Whether there is room for so many more states, or for as many as one leads to, without giving up anything.
    #[inline]
    pub fn has_room(&mut self, count: usize) -> bool {
        let few = Room::portion(self.stats.stored) / 16;
        let has = self.room.inserts >= count && self.room.keys >= few;
        has || self.reserve(count, 0, S::reserve).is_ok()
    }

    /// Whether what is kept aside takes more than is left to it.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.aside > self.left
    }

    /// Lets what is kept aside go to files when memory is short, and leaves memory for what does not.
    pub fn keep_aside(&mut self) -> Option<&'a Scratch> {
        let scratch = self.limits.scratch?;
        self.share = self.limits.memory? / SHARE;
        Some(scratch)
    }

    pub fn keys_of_initial_states(&mut self) -> ControlFlow<End, Vec<S::Key>> {
        let mut states = Vec::new();
        self.model.initial_states(&mut |state| states.push(state.to_vec()));
        self.make_room(states.len(), 0)?;
        let keys = states.iter().map(|state| self.store.key(state, &self.opened)).collect();
        ControlFlow::Continue(keys)
    }

    /// Makes room in a set that is counted among what is kept `aside`, and returns for how many keys.
    #[cold]
    pub fn make_room_in(&mut self, set: &mut impl KeySet<S::Key>, stack: u64) -> ControlFlow<End, usize> {
        let (portion, before) = (Room::portion(self.stats.stored), set.bytes());
        let others = (self.store.bytes() + self.aside + stack).saturating_sub(before);
        let limit = self.limits.memory.unwrap_or(u64::MAX);
        match limit.checked_sub(others).map(|left| set.reserve(portion, left)) {
            Some(Ok(())) => {
                self.aside += set.bytes() - before;
                self.peak = self.peak.max(others + set.bytes());
                ControlFlow::Continue(portion)
            }
            Some(Err(Full)) | None => ControlFlow::Break(End::Limit(Limit::Memory)),
        }
    }

    /// Whether states at this depth, which has been reached, are to be expanded.
    #[inline]
    pub fn may_expand(&mut self, depth: u64) -> bool {
        self.stats.depth = self.stats.depth.max(depth);
        let may = self.limits.depth.is_none_or(|limit| depth < limit);
        self.cut |= !may;
        may
    }

    /// What has come of it, and the first error apart, whose path the search may have to complete.
    pub fn finish(self, explored: ControlFlow<End>) -> (Outcome<M::Step>, Option<Found>) {
        let end = match explored {
            ControlFlow::Break(end) => end,
            ControlFlow::Continue(()) if self.cut => End::Limit(Limit::Depth),
            ControlFlow::Continue(()) => End::Complete,
        };
        let bytes = self.peak.max(self.store.bytes() + self.aside);
        let (ignored_fault, counterexample) = (self.ignored_fault, self.probed);
        let is_probed = counterexample.is_some();
        let errors = self.errors + u64::from(counterexample.as_ref().map_or(0, |found| found.error.times()));
        (Outcome { end, stats: self.stats, errors, bytes, ignored_fault, is_probed, counterexample }, self.first)
    }

    #[cold]
    fn error<N: Copy>(&mut self, error: ErrorKind, times: u32, stack: &SearchStack<S::Key, N>) -> ControlFlow<End> {
        self.errors += u64::from(times);
        self.tell_wrong(error);
        let origin = self.origin;
        self.first.get_or_insert_with(|| Found { error, origin, turns: stack.turns() });
        match self.checks.errors {
            Errors::First | Errors::Soonest => ControlFlow::Break(End::Error),
            Errors::All => ControlFlow::Continue(()),
        }
    }

    #[inline]
    fn keep_watch(&mut self) -> ControlFlow<End> {
        match self.pulse.beat() {
            Beat::Rest => ControlFlow::Continue(()),
            Beat::Look => self.look_at_limits(),
            Beat::Tell => {
                self.tell_progress();
                self.look_at_limits()
            }
        }
    }

    #[cold]
    fn look_at_limits(&mut self) -> ControlFlow<End> {
        let limit = self.limits.reached(self.started);
        let is_stopped = limit == Some(Limit::Interrupted);
        if !is_stopped && self.model.should_begin_again(self.stats.stored + self.stats.matched) {
            return ControlFlow::Break(End::Limit(Limit::Interrupted));
        }
        match (limit, self.keeper) {
            (Some(limit), None) => return ControlFlow::Break(End::Limit(limit)),
            (Some(limit), Some(_)) => self.pause = Some(Pause::End(limit)),
            (None, Some(keeper)) if keeper.is_due() => self.pause = Some(Pause::Keep),
            (None, Some(_) | None) => {}
        }
        ControlFlow::Continue(())
    }

    /// Where the search could go on if it were cut off; `save` writes what it keeps itself.
    #[inline]
    pub fn rest(&mut self, save: impl Fn(&mut Writer) -> io::Result<()>) -> ControlFlow<End>
    where
        S: Store,
    {
        if self.pause.is_some() { self.be_kept(save) } else { ControlFlow::Continue(()) }
    }

    #[cold]
    fn be_kept(&mut self, save: impl Fn(&mut Writer) -> io::Result<()>) -> ControlFlow<End>
    where
        S: Store,
    {
        if let Some(keeper) = self.keeper {
            keeper.keep(&|to| {
                self.store.save(to)?;
                self.observer.save(to)?;
                self.save(to)?;
                save(to)
            });
        }
        match self.pause.take() {
            Some(Pause::End(limit)) => ControlFlow::Break(End::Limit(limit)),
            Some(Pause::Keep) | None => ControlFlow::Continue(()),
        }
    }

    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.stats.save(to)?;
        self.origin.save(to)?;
        self.aside.save(to)?;
        self.peak.save(to)?;
        self.cut.save(to)?;
        self.errors.save(to)?;
        self.first.save(to)?;
        self.ignored_fault.save(to)?;
        self.backoff.save(to)?;
        self.room.save(to)?;
        self.pulse.save(to)?;
        self.probes.save(to)
    }

    /// Becomes what a search had become when it was kept, with its store and its observer.
    pub fn restore(&mut self, from: &mut Reader) -> io::Result<()>
    where
        S: Store,
    {
        self.store.restore(from)?;
        self.observer.restore(from)?;
        self.stats = Snapshot::load(from)?;
        self.origin = Snapshot::load(from)?;
        self.aside = Snapshot::load(from)?;
        self.peak = Snapshot::load(from)?;
        self.cut = Snapshot::load(from)?;
        self.errors = Snapshot::load(from)?;
        self.first = Snapshot::load(from)?;
        self.ignored_fault = Snapshot::load(from)?;
        self.backoff = Snapshot::load(from)?;
        self.room = Snapshot::load(from)?;
        self.pulse = Snapshot::load(from)?;
        self.probes = Snapshot::load(from)?;
        Ok(())
    }

    #[cold]
    fn tell_progress(&mut self) {
        let Stats { stored, matched, depth, .. } = self.stats;
        let bytes = self.store.bytes() + self.aside;
        let growth = self.store.growth();
        self.observer.progress(Progress { stored, matched, depth, bytes, growth });
    }
}

impl<M: Model, S: Store + ?Sized, O: Observer<M::Step> + ?Sized> SearchContext<'_, M, S, O> {
    /// Visits the initial states and returns them, each once, with their numbers. They are all known before the
    /// first step, so that what counts as matched does not depend on the order of the search.
    pub fn visit_initial_states(&mut self) -> ControlFlow<End, Vec<(u32, S::Key)>> {
        let mut states = Vec::new();
        self.model.initial_states(&mut |state| states.push(state.to_vec()));
        let (mut distinct, nowhere) = (Vec::new(), SearchStack::<S::Key>::default());
        for (number, state) in (0..).zip(states) {
            self.make_room(1, 0)?;
            let key = self.store.key(&state, &self.opened);
            if self.insert(key, &nowhere)? == Visit::New {
                distinct.push((number, key));
            }
        }
        ControlFlow::Continue(distinct)
    }

    /// Looks up keys one after the other, and appends the indices of those that are new.
    pub fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) -> ControlFlow<End> {
        if self.room.inserts < keys.len() {
            self.make_room(keys.len(), 0)?;
        }
        self.room.inserts -= keys.len();
        let before = new.len();
        self.store.insert_all(keys, new);
        let stored = (new.len() - before) as u64;
        self.stats.stored += stored;
        self.stats.matched += keys.len() as u64 - stored;
        ControlFlow::Continue(())
    }

    /// Looks up a key that `stack` has come to.
    #[inline]
    pub fn insert<N: Copy>(&mut self, key: S::Key, stack: &SearchStack<S::Key, N>) -> ControlFlow<End, Visit> {
        if self.room.inserts == 0 {
            self.make_room(0, stack.bytes())?;
        }
        self.room.inserts -= 1;
        let visit = self.store.insert_alone(key);
        self.stats.stored += u64::from(visit == Visit::New);
        if visit == Visit::New {
            self.tell(|state| Event::New { state }, key);
        }
        ControlFlow::Continue(visit)
    }
}

impl<M: Model, S: Numbered, O: Observer<M::Step> + ?Sized> SearchContext<'_, M, S, O> {
    /// Gives a new state that `stack` has come to its first number.
    #[inline]
    pub fn give_number<N: Copy>(
        &mut self,
        key: S::Key,
        number: u64,
        stack: &SearchStack<S::Key, N>,
    ) -> ControlFlow<End> {
        if self.room.inserts == 0 {
            self.make_room(0, stack.bytes())?;
        }
        self.room.inserts -= 1;
        self.store.set_number(key, number);
        self.stats.stored += 1;
        self.tell(|state| Event::New { state }, key);
        ControlFlow::Continue(())
    }
}
