//! The frontier of a breadth-first search: the states that were found but not yet expanded.

use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Scratch, Snapshot, Writer, snapshot};
use entail_model::{Event, Key, Keys, Model, Observer, StateKey, Store};

use crate::backoff::FastPathBackoff;
use crate::context::{Expansion, SearchContext};
use crate::duplicates::DuplicateFilter;
use crate::expander::Expander;
use crate::findings::Findings;
use crate::open_set::OpenSetCache;
use crate::queue::Queue;
use crate::stack::{NoAnnotation, SearchStack};
use crate::trace::Trace;
use crate::{End, Limit};

/// The frontier of one worker.
pub(crate) struct Frontier<'s, K> {
    /// The directory for spill files.
    pub scratch: Option<&'s Scratch>,
    /// Whether the cycle proviso applies.
    pub proviso: bool,
    /// The number of states still to expand at this depth.
    pub level: u64,
    /// The current depth.
    pub depth: u64,
    pub backoff: FastPathBackoff,
    /// The states that this worker found.
    pub queue: Queue<K>,
    /// The parent log of all states up to the last one in the queue.
    pub trace: Trace,
    pub recent: DuplicateFilter<K>,
    /// States in the queue that have been expanded before, by number, with the number of expansions. Their expansion
    /// was reduced, and all successors may have been expanded earlier.
    pub again: Again,
    /// States to expand first, which other workers found.
    pub given: Queue<K>,
    /// Those that have been expanded before, by the number of their next expansion.
    pub given_again: Again,
    /// States in the queue that will be expanded after others; unknown with several workers.
    pub pending: Option<OpenSetCache<K>>,
    /// States reached, whose slots are being prefetched.
    pub reached: Batch<K>,
    /// States reached earlier, whose slots are in the cache.
    pub fetched: Batch<K>,
    /// The indices of the new states of a batch.
    pub new: Vec<u32>,
    /// The indices of those that are not new, but will certainly be expanded later than the states of this depth.
    pub later: Vec<u32>,
    /// The counts before the last expansion that did not take the fast path.
    pub before: Before,
}

/// The counts before an expansion that may have to be repeated.
#[derive(Clone, Copy, Default)]
pub(crate) struct Before {
    reached: usize,
    reduced: usize,
    origin: u64,
    matched: u64,
    errors: u64,
    had_error: bool,
    had_fault: bool,
}

/// State numbers in ascending order, each with a count. Both are packed into one word, so that they can be spilled like
/// the queue.
#[derive(Default)]
pub(crate) struct Again(pub Queue<Key>);

impl Again {
    const COUNT_BITS: u32 = 16;

    pub fn push(&mut self, number: u64, count: u32) {
        self.0.push(Key(number << Self::COUNT_BITS | u64::from(count.min((1 << Self::COUNT_BITS) - 1))));
    }

    pub fn first(&self) -> Option<(u64, u32)> {
        let Key(word) = *self.0.next().first()?;
        Some((word >> Self::COUNT_BITS, (word & ((1 << Self::COUNT_BITS) - 1)) as u32))
    }
}

/// States that were reached but not yet looked up.
pub(crate) struct Batch<K> {
    pub keys: Vec<K>,
    /// For each state.
    origins: Vec<Origin>,
    /// The expanded states whose expansion was reduced.
    reduced: Vec<Reduced<K>>,
}

/// A state whose expansion was reduced.
#[derive(Clone, Copy)]
struct Reduced<K> {
    /// The number of the expansion.
    number: u64,
    key: K,
    /// How often it was expanded before.
    times: u32,
}

/// The predecessor of a state.
#[derive(Clone, Copy)]
struct Origin {
    /// The number of the expansion in which it was reached.
    parent: u64,
    /// The index among the stable successors of the parent.
    place: u32,
}

/// Large enough to hide memory latency, small enough to stay in the cache.
pub(crate) const BATCH: usize = 256;
/// The number of states that are expanded at once.
pub(crate) const STRETCH: u64 = 32;

/// Batches are part of the snapshot: the time of a lookup decides whether a state is expanded again.
impl<'s, K: StateKey> Frontier<'s, K> {
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.level.save(to)?;
        self.depth.save(to)?;
        self.backoff.save(to)?;
        self.queue.save(to)?;
        self.trace.save(to)?;
        self.recent.save(to)?;
        self.again.0.save(to)?;
        self.given.save(to)?;
        self.given_again.0.save(to)?;
        self.pending.save(to)?;
        self.reached.save(to)?;
        self.fetched.save(to)
    }

    pub fn load(from: &mut Reader, scratch: Option<&'s Scratch>, proviso: bool) -> io::Result<Self> {
        Ok(Frontier {
            scratch,
            proviso,
            level: Snapshot::load(from)?,
            depth: Snapshot::load(from)?,
            backoff: Snapshot::load(from)?,
            queue: Queue::load(from, scratch)?,
            trace: Trace::load(from, scratch)?,
            recent: Snapshot::load(from)?,
            again: Again(Queue::load(from, scratch)?),
            given: Queue::load(from, scratch)?,
            given_again: Again(Queue::load(from, scratch)?),
            pending: Snapshot::load(from)?,
            reached: Snapshot::load(from)?,
            fetched: Snapshot::load(from)?,
            new: Vec::new(),
            later: Vec::new(),
            before: Before::default(),
        })
    }
}

snapshot!(Origin { parent, place });

snapshot!(impl[K: StateKey] Batch<K> { keys, origins, reduced });
snapshot!(impl[K: StateKey] Reduced<K> { number, key, times });

impl<K> Default for Frontier<'_, K> {
    fn default() -> Self {
        Frontier {
            scratch: None,
            proviso: false,
            level: 0,
            depth: 0,
            backoff: FastPathBackoff::default(),
            queue: Queue::default(),
            trace: Trace::default(),
            recent: DuplicateFilter::default(),
            again: Again::default(),
            given: Queue::default(),
            given_again: Again::default(),
            pending: None,
            reached: Batch::default(),
            fetched: Batch::default(),
            new: Vec::new(),
            later: Vec::new(),
            before: Before::default(),
        }
    }
}

impl<K: StateKey> Frontier<'_, K> {
    /// Expands the next states, at most `most` of them, and returns their number.
    #[inline(always)]
    pub fn advance<M, S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        stack: &mut SearchStack<K>,
        most: u64,
        backoff: &mut FastPathBackoff,
    ) -> ControlFlow<End, u64>
    where
        M: Model,
        S: Keys<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        if self.next().is_empty() {
            // The rest was spilled and lost.
            return ControlFlow::Continue(most);
        }
        let origin = context.worker.findings.origin;
        let again = if self.proviso { self.next_again(origin) } else { None };
        if let Some((0, times)) = again {
            self.expand(context, stack, times)?;
            self.skip_again();
            self.skip(1);
            return ControlFlow::Continue(1);
        }
        let alike = again.map_or(most, |(distance, _)| most.min(distance)).min(self.left_of_source());
        let many = (STRETCH - origin % STRETCH).min(alike);
        let plain = if backoff.is_worth_a_try() { Some(self.expand_plain(context, many as usize)?) } else { None };
        let mut expanded = plain.unwrap_or(0) as u64;
        if expanded < many {
            self.expand(context, stack, 0)?;
            self.skip(1);
            expanded += 1;
        }
        plain.inspect(|&expanded| backoff.learn(expanded));
        ControlFlow::Continue(expanded)
    }

    /// The distance to the next state that has been expanded before, and how often it was.
    fn next_again(&self, origin: u64) -> Option<(u64, u32)> {
        if self.given.len() > 0 {
            return self.given_again.first().map(|(number, times)| (number - origin - 1, times));
        }
        self.again.first().map(|(number, times)| (number - self.first_number(), times))
    }

    fn skip_again(&mut self) {
        let again = if self.given.len() > 0 { &mut self.given_again } else { &mut self.again };
        again.0.skip(1);
    }

    /// The number of the first state in the queue.
    pub fn first_number(&self) -> u64 {
        self.trace.len() - self.queue.len() + 1
    }

    #[inline]
    fn left_of_source(&self) -> u64 {
        if self.given.len() > 0 { self.given.len() } else { u64::MAX }
    }

    /// The next states to expand.
    #[inline]
    fn next(&self) -> &[K] {
        if self.given.len() > 0 { self.given.next() } else { self.queue.next() }
    }

    #[inline]
    fn skip(&mut self, count: usize) {
        if self.given.len() > 0 { self.given.skip(count) } else { self.queue.skip(count) }
    }

    /// Adds the stable successors of up to `many` states to the batch. Stops at the first state with a possible fault or
    /// without a fast path. Returns the number of states expanded.
    #[inline]
    fn expand_plain<M, S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        many: usize,
    ) -> ControlFlow<End, usize>
    where
        M: Model,
        S: Keys<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        context.keep_watch()?;
        let states = if self.given.len() > 0 { self.given.next() } else { self.queue.next() };
        let count = context.shared.store.leading_states(&states[..many.min(states.len())]);
        let Expander { transitions, scratch, .. } = &mut context.worker.expander;
        let transitions = K::buffer(transitions);
        transitions.clear();
        let expanded = context.shared.model.expand_words(&states[..count], scratch, transitions);
        let findings = &mut context.worker.findings;
        let first = findings.origin + 1;
        let Batch { keys, origins, reduced } = &mut self.reached;
        let recent = (!self.proviso).then_some(&mut self.recent);
        let mut reached = Reached { keys, origins, recent };
        let (mut next, mut known) = ((first, 0), 0);
        for transition in transitions.iter() {
            context.observer.stepped(transition.step);
            let parent = first + u64::from(transition.from);
            if transition.reduced {
                let key = states[transition.from as usize];
                note_once(reduced, Reduced { number: parent, key, times: 0 });
            }
            if let Some(key) = transition.next {
                let place = if parent == next.0 { next.1 } else { 0 };
                next = (parent, place + 1);
                known += u64::from(reached.push(key, Origin { parent, place }));
            }
        }
        findings.stats.matched += known;
        findings.origin += expanded as u64;
        self.skip(expanded);
        ControlFlow::Continue(expanded)
    }

    /// Adds all stable successors of the next state to the batch.
    fn expand<M, S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        stack: &mut SearchStack<K>,
        times: u32,
    ) -> ControlFlow<End>
    where
        M: Model,
        S: Keys<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let Some(&key) = self.next().first() else { return ControlFlow::Continue(()) };
        let findings = &mut context.worker.findings;
        self.before = Before {
            reached: self.reached.keys.len(),
            reduced: self.reached.reduced.len(),
            origin: findings.origin,
            matched: findings.stats.matched,
            errors: findings.errors,
            had_error: findings.first.is_some(),
            had_fault: findings.ignored_fault.is_some(),
        };
        findings.origin += 1;
        let parent = context.worker.findings.origin;
        context.log_event(|state| Event::Taken { state }, key);
        let mut place = 0;
        let Batch { keys, origins, reduced } = &mut self.reached;
        // The event log reports a known state at its lookup.
        let recent = (!self.proviso && !context.is_logging()).then_some(&mut self.recent);
        let mut reached = Reached { keys, origins, recent };
        let mut reach = |key: K| {
            let origin = Origin { parent, place };
            place += 1;
            reached.push(key, origin)
        };
        stack.clear();
        let entered = context.enter_or_else(stack, key, times, &mut reach)?;
        if context.is_reduced() {
            note_once(reduced, Reduced { number: parent, key, times });
        }
        match entered {
            Expansion::Complete => return ControlFlow::Continue(()),
            Expansion::Pushed => {}
        }
        while let Some(taken) = context.step(stack, &NoAnnotation)? {
            if let Some(key) = taken.stable() {
                context.stats().matched += u64::from(reach(key));
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks up all states reached.
    pub fn flush<M, S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        self.look_up(context)?;
        self.look_up(context)
    }

    /// Looks up the states whose slots are in the cache, queues the new ones, and prefetches the slots of those reached
    /// meanwhile.
    pub fn look_up<M, S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        context.shared.store.prefetch_all(&self.reached.keys);
        std::mem::swap(&mut self.reached, &mut self.fetched);
        context.shared.memory.auxiliary = self.bytes();
        if context.shared.is_crowded() || !context.has_room(self.reached.keys.len()) {
            self.spill();
            context.shared.memory.auxiliary = self.bytes();
        }
        if self.is_lost() {
            return ControlFlow::Break(End::Limit(Limit::Memory));
        }
        let batch = &self.reached;
        self.new.clear();
        let inserted = context.insert_all(&batch.keys, &mut self.new);
        if context.is_logging() {
            log_lookups(context, &batch.keys, &self.new);
        }
        self.absorb(|key| context.log_event(|state| Event::Pushed { state }, key));
        inserted
    }

    /// Queues the new states of the batch, and calls `queued_again` for those expanded ones that are queued once more.
    pub fn absorb(&mut self, queued_again: impl FnMut(K)) {
        if self.proviso {
            self.queue_new(queued_again);
        } else {
            let batch = &self.reached;
            for &index in &self.new {
                let Origin { parent, place } = batch.origins[index as usize];
                self.queue.push(batch.keys[index as usize]);
                self.trace.note(parent, way(place));
            }
        }
        self.reached.clear();
        self.new.clear();
        self.later.clear();
    }

    /// The bytes used now and after the next growth.
    pub fn bytes(&self) -> u64 {
        self.given.bytes()
            + self.queue.bytes()
            + self.trace.bytes()
            + self.pending.as_ref().map_or(0, OpenSetCache::bytes)
            + self.again.0.bytes()
    }

    /// Spills the parts of the frontier that are not needed now. If spilling fails, they stay in memory while it lasts.
    #[cold]
    pub fn spill(&mut self) {
        if let Some(scratch) = self.scratch {
            let _ = self.queue.spill(scratch);
            let _ = self.trace.spill(scratch);
            let _ = self.again.0.spill(scratch);
        }
    }

    /// Begins to filter duplicates, if that has not begun.
    pub fn begin_filter(&mut self) {
        if let Some(&key) = self.next().first().filter(|_| self.recent.is_off()) {
            self.recent.begin(key);
        }
    }

    /// Undoes the expansion of a state for which there was no room.
    pub fn undo(&mut self, findings: &mut Findings) {
        let Before { reached, reduced, origin, matched, errors, had_error, had_fault } = self.before;
        self.reached.keys.truncate(reached);
        self.reached.origins.truncate(reached);
        self.reached.reduced.truncate(reduced);
        (findings.origin, findings.stats.matched, findings.errors) = (origin, matched, errors);
        findings.first = findings.first.take().filter(|_| had_error);
        findings.ignored_fault = findings.ignored_fault.filter(|_| had_fault);
        // The filter may contain states that were reached only now.
        if let Some(&key) = self.next().first().filter(|_| !self.recent.is_off()) {
            self.recent.begin(key);
        }
    }

    /// Whether spilled states were lost.
    pub fn is_lost(&self) -> bool {
        [&self.queue, &self.given].into_iter().any(Queue::is_lost) || self.again.0.is_lost()
    }

    /// Queues the new states of the batch. Cycle proviso: queues a reduced state again if all of its successors may
    /// have been expanded before it. So every cycle has a state that is expanded last, and that state is expanded
    /// fully.
    ///
    /// After Bošnački, Holzmann: Improving SPIN's partial-order reduction for breadth-first search, SPIN 2005.
    fn queue_new(&mut self, mut queued_again: impl FnMut(K)) {
        let Frontier { queue, trace, again, pending, reached: batch, new, later, .. } = self;
        let mut add = |pending: &mut Option<OpenSetCache<K>>, key: K, parent: u64, place: u32| {
            queue.push(key);
            trace.note(parent, place);
            if let Some(pending) = pending {
                pending.note(key, trace.len(), queue.len());
            }
            trace.len()
        };
        let mut new = new.iter().map(|index| *index as usize).peekable();
        let mut later = later.iter().map(|index| *index as usize).peekable();
        let mut at = 0;
        for &Reduced { number, key, times } in &batch.reduced {
            let mut goes_on = false;
            while let Some(&Origin { parent, place }) = batch.origins.get(at).filter(|of| of.parent <= number) {
                let reached = batch.keys[at];
                let is_new = new.next_if_eq(&at).is_some();
                if is_new {
                    add(pending, reached, parent, way(place));
                }
                let is_later = later.next_if_eq(&at).is_some();
                let follows = |pending: &OpenSetCache<K>| pending.comes_after(reached, number);
                goes_on |= parent == number && (is_new || is_later || pending.as_ref().is_some_and(follows));
                at += 1;
            }
            if !goes_on {
                queued_again(key);
                again.push(add(pending, key, number, STAY), times + 1);
            }
        }
        for index in new {
            let Origin { parent, place } = batch.origins[index];
            add(pending, batch.keys[index], parent, way(place));
        }
    }
}

/// Logs the result of each lookup of a batch.
#[cold]
fn log_lookups<M, S, O>(context: &mut SearchContext<M, S, O>, keys: &[S::Key], new: &[u32])
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let mut new = new.iter().peekable();
    for (index, &key) in (0..).zip(keys) {
        if new.next_if_eq(&&index).is_none() {
            context.log_known(key, false);
            continue;
        }
        context.log_event(|state| Event::New { state }, key);
        context.log_event(|state| Event::Pushed { state }, key);
    }
}

/// The index that stands for a further expansion of the same state. Successors are counted from 1, so that this takes
/// no extra bits.
const STAY: u32 = 0;

pub(crate) fn way(place: u32) -> u32 {
    place.saturating_add(1)
}

/// Records a state whose expansion is reduced, unless it is the last one recorded.
fn note_once<K>(reduced: &mut Vec<Reduced<K>>, state: Reduced<K>) {
    if reduced.last().is_none_or(|last| last.number != state.number) {
        reduced.push(state);
    }
}

impl<K> Default for Batch<K> {
    fn default() -> Self {
        Batch { keys: Vec::new(), origins: Vec::new(), reduced: Vec::new() }
    }
}

impl<K> Batch<K> {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.origins.clear();
        self.reduced.clear();
    }
}

/// A batch under construction. Recent duplicates are filtered out, unless the result of their lookup matters.
struct Reached<'b, K> {
    keys: &'b mut Vec<K>,
    origins: &'b mut Vec<Origin>,
    recent: Option<&'b mut DuplicateFilter<K>>,
}

impl<K: StateKey> Reached<'_, K> {
    /// Adds a state, unless it is a recent duplicate; returns whether it is. Both cases are likely, so there is no
    /// branch: the state is pushed, and popped again if it is a duplicate.
    #[inline]
    fn push(&mut self, key: K, origin: Origin) -> bool {
        let known = self.recent.as_mut().is_some_and(|recent| recent.reach(key));
        self.keys.push(key);
        self.origins.push(origin);
        let len = self.keys.len() - usize::from(known);
        self.keys.truncate(len);
        self.origins.truncate(len);
        known
    }
}
