//! Breadth-first search: expands all states of one depth before those of the next.

use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Scratch, Snapshot, Writer, snapshot};
use entail_model::{Event, Key, Model, Observer, StateKey, Store};

use crate::backoff::FastPathBackoff;
use crate::context::{Expansion, SearchContext};
use crate::duplicates::DuplicateFilter;
use crate::findings::Found;
use crate::open_set::OpenSetCache;
use crate::probe::Probes;
use crate::queue::Queue;
use crate::replay::Replay;
use crate::stack::{NoAnnotation, PathStep, SearchStack};
use crate::trace::Trace;
use crate::{Checks, Counterexample, End, Limit, Limits, Outcome};

/// Explores `model` breadth first. `store` must be empty.
///
/// The depth of a state is the least number of stable states entered on a path to it; initial states have depth 0. The
/// depth of the search is that of the deepest state reached. The counterexample returned passes through the least
/// possible number of stable states, unless a probe found it ([`Errors::Soonest`](crate::Errors::Soonest)).
///
/// States are looked up in batches, so that memory latencies overlap.
pub fn breadth_first<M, K, O>(
    model: &M,
    store: &mut dyn Store<Key = K>,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Model,
    K: StateKey,
    O: Observer<M::Step> + ?Sized,
{
    let mut context = SearchContext::new(model, store, checks, limits, observer).kept().queued();
    let (scratch, backoff) = (context.shared.allow_spilling(), context.worker.backoff);
    let proviso = model.needs_proviso();
    let mut frontier = Frontier { scratch, proviso, backoff, pending: pending(limits), ..Frontier::default() };
    let probes = Probes::new(&context);
    let begun = begin(&mut context, &mut frontier);
    go_on(context, frontier, probes, begun)
}

/// Continues a search from a snapshot. `store` and `observer` must be as they were when that search started; their
/// state is restored from the snapshot.
pub fn resume_breadth_first<M, K, O>(
    model: &M,
    store: &mut dyn Store<Key = K>,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
    mut from: Reader,
) -> io::Result<Outcome<M::Step>>
where
    M: Model,
    K: StateKey,
    O: Observer<M::Step> + ?Sized,
{
    let mut context = SearchContext::new(model, store, checks, limits, observer).kept().queued();
    context.restore(&mut from)?;
    let probes = Probes::scheduled(Snapshot::load(&mut from)?);
    let frontier = Frontier::load(&mut from, context.shared.allow_spilling(), model.needs_proviso())?;
    from.finish()?;
    Ok(go_on(context, frontier, probes, ControlFlow::Continue(())))
}

/// Losing an entry is safe: the state is expanded again.
fn pending<K: StateKey>(limits: &Limits) -> OpenSetCache<K> {
    limits.memory.map_or_else(OpenSetCache::default, |memory| OpenSetCache::within(memory / PENDING))
}

fn go_on<M, S, O>(
    mut context: SearchContext<M, S, O>,
    mut frontier: Frontier<S::Key>,
    mut probes: Probes<M::Step>,
    begun: ControlFlow<End>,
) -> Outcome<M::Step>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let explored = match begun {
        ControlFlow::Continue(()) => explore(&mut context, &mut frontier, &mut probes),
        ControlFlow::Break(end) => ControlFlow::Break(end),
    };
    // States that were reached before the search ended count too, if there is room for them.
    let _ = frontier.flush(&mut context);
    let model = context.model();
    let (outcome, first) = context.finish(explored);
    // The error is reported even if its path cannot be reconstructed.
    let counterexample = first.and_then(|found| counterexample(model, found, &frontier.trace));
    probes.outcome(Outcome { counterexample, ..outcome })
}

/// The frontier: states that were found but not yet expanded.
struct Frontier<'s, K> {
    /// The directory for spill files.
    scratch: Option<&'s Scratch>,
    /// Whether the cycle proviso applies.
    proviso: bool,
    /// The number of states still to expand at this depth.
    level: u64,
    /// The current depth.
    depth: u64,
    backoff: FastPathBackoff,
    queue: Queue<K>,
    /// The parent log of all states up to the last one in the queue.
    trace: Trace,
    recent: DuplicateFilter<K>,
    /// States in the queue that have been expanded before, by number, with the number of expansions. Their expansion
    /// was reduced, and all successors may have been expanded earlier.
    again: Again,
    pending: OpenSetCache<K>,
    /// States reached, whose slots are being prefetched.
    reached: Batch<K>,
    /// States reached earlier, whose slots are in the cache.
    fetched: Batch<K>,
    /// The indices of the new states of a batch.
    new: Vec<u32>,
}

/// State numbers in ascending order, each with a count. Both are packed into one word, so that they can be spilled like
/// the queue.
#[derive(Default)]
struct Again(Queue<Key>);

impl Again {
    const COUNT_BITS: u32 = 16;

    fn push(&mut self, number: u64, count: u32) {
        self.0.push(Key(number << Self::COUNT_BITS | u64::from(count.min((1 << Self::COUNT_BITS) - 1))));
    }

    fn first(&self) -> Option<(u64, u32)> {
        let Key(word) = *self.0.next().first()?;
        Some((word >> Self::COUNT_BITS, (word & ((1 << Self::COUNT_BITS) - 1)) as u32))
    }
}

/// States that were reached but not yet looked up.
struct Batch<K> {
    keys: Vec<K>,
    /// For each state.
    origins: Vec<Origin>,
    /// The expanded states whose expansion was reduced.
    reduced: Vec<Reduced<K>>,
}

/// A state whose expansion was reduced.
#[derive(Clone, Copy)]
struct Reduced<K> {
    number: u64,
    key: K,
    /// How often it was expanded before.
    times: u32,
}

/// The predecessor of a state.
#[derive(Clone, Copy)]
struct Origin {
    /// The number of the expanded state.
    parent: u64,
    /// The index among the stable successors of the parent.
    place: u32,
}

/// Large enough to hide memory latency, small enough to stay in the cache.
const BATCH: usize = 256;
/// The open-set cache gets one in this many bytes of memory.
const PENDING: u64 = 32;
/// The number of states that are expanded at once.
const STRETCH: u64 = 32;

fn begin<M, S, O>(context: &mut SearchContext<M, S, O>, frontier: &mut Frontier<'_, S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    for (number, key) in context.visit_initial_states()? {
        frontier.recent.begin(key);
        frontier.queue.push(key);
        frontier.trace.note(0, way(number));
        context.log_event(|state| Event::Pushed { state }, key);
    }
    ControlFlow::Continue(())
}

fn explore<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    frontier: &mut Frontier<S::Key>,
    probes: &mut Probes<M::Step>,
) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let mut stack = SearchStack::default();
    loop {
        // Local copies, which the compiler can keep in registers.
        let (mut level, mut backoff) = (frontier.level, frontier.backoff);
        while level > 0 {
            let number = context.worker.findings.origin + 1;
            let again = if frontier.proviso { frontier.again.first() } else { None };
            if let Some((_, times)) = again.filter(|(again, _)| *again == number) {
                frontier.again.0.skip(1);
                frontier.expand(context, &mut stack, times)?;
                level -= 1;
                continue;
            }
            let alike = again.map_or(level, |(again, _)| level.min(again - number));
            let many = (STRETCH - context.worker.findings.origin % STRETCH).min(alike) as usize;
            let plain = if backoff.is_worth_a_try() { Some(frontier.expand_plain(context, many)?) } else { None };
            let expanded = plain.unwrap_or(0);
            if expanded < many {
                frontier.expand(context, &mut stack, 0)?;
                level -= 1;
            }
            level -= expanded as u64;
            plain.inspect(|&expanded| backoff.learn(expanded));
            // The proviso depends on the lookups so far. These must not depend on the block boundaries of the queue,
            // which change when blocks are spilled.
            if context.is_logging() {
                frontier.flush(context)?;
            } else if frontier.reached.keys.len() >= BATCH && context.worker.findings.origin.is_multiple_of(STRETCH)
            {
                frontier.look_up(context)?;
                (frontier.level, frontier.backoff) = (level, backoff);
                frontier.safepoint(context, probes)?;
            }
        }
        (frontier.level, frontier.backoff) = (level, backoff);
        frontier.flush(context)?;
        frontier.safepoint(context, probes)?;
        frontier.level = frontier.queue.len();
        if frontier.level == 0 || !context.may_expand(frontier.depth) {
            return ControlFlow::Continue(());
        }
        frontier.depth += 1;
    }
}

/// Batches are part of the snapshot: the time of a lookup decides whether a state is expanded again.
impl<'s, K: StateKey> Frontier<'s, K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.level.save(to)?;
        self.depth.save(to)?;
        self.backoff.save(to)?;
        self.queue.save(to)?;
        self.trace.save(to)?;
        self.recent.save(to)?;
        self.again.0.save(to)?;
        self.pending.save(to)?;
        self.reached.save(to)?;
        self.fetched.save(to)
    }

    fn load(from: &mut Reader, scratch: Option<&'s Scratch>, proviso: bool) -> io::Result<Self> {
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
            pending: Snapshot::load(from)?,
            reached: Snapshot::load(from)?,
            fetched: Snapshot::load(from)?,
            new: Vec::new(),
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
            pending: OpenSetCache::default(),
            reached: Batch::default(),
            fetched: Batch::default(),
            new: Vec::new(),
        }
    }
}

impl<K: StateKey> Frontier<'_, K> {
    /// Adds the stable successors of up to `count` states to the batch. Stops at the first state with a possible fault
    /// or without a fast path.
    #[inline]
    fn expand_plain<M, S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        many: usize,
    ) -> ControlFlow<End, usize>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let states = self.queue.next();
        let first = context.worker.findings.origin + 1;
        let Batch { keys, origins, reduced } = &mut self.reached;
        let recent = (!self.proviso).then_some(&mut self.recent);
        let mut reached = Reached { keys, origins, recent };
        let mut next = (first, 0);
        let each = |at, key| {
            let parent = first + at as u64;
            let place = if parent == next.0 { next.1 } else { 0 };
            next = (parent, place + 1);
            reached.push(key, Origin { parent, place })
        };
        let note = |at| note_once(reduced, Reduced { number: first + at as u64, key: states[at], times: 0 });
        let expanded = context.expand_plain(&states[..many.min(states.len())], each, note)?;
        context.worker.findings.origin += expanded as u64;
        self.queue.skip(expanded);
        ControlFlow::Continue(expanded)
    }

    /// Adds all stable successors of a state to the batch.
    fn expand<M, S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        stack: &mut SearchStack<K>,
        times: u32,
    ) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        if !context.has_room(0) {
            self.spill(context);
        }
        let Some(key) = self.queue.pop() else { return ControlFlow::Continue(()) };
        context.worker.findings.origin += 1;
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

    /// Runs between two batches: starts a probe if one is due, and takes a snapshot.
    #[inline]
    fn safepoint<M, S, O>(
        &self,
        context: &mut SearchContext<M, S, O>,
        probes: &mut Probes<M::Step>,
    ) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let stored = context.stats().stored;
        probes.probe(&context.shared, stored)?;
        context.safepoint(|to| {
            probes.schedule.save(to)?;
            self.save(to)
        })
    }

    /// Looks up all states reached.
    fn flush<M, S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
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
    fn look_up<M, S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        context.shared.store.prefetch_all(&self.reached.keys);
        std::mem::swap(&mut self.reached, &mut self.fetched);
        context.shared.memory.auxiliary = self.bytes();
        if context.shared.is_crowded() || !context.has_room(self.reached.keys.len()) {
            self.spill(context);
        }
        if self.queue.is_lost() || self.again.0.is_lost() {
            return ControlFlow::Break(End::Limit(Limit::Memory));
        }
        let batch = &self.reached;
        self.new.clear();
        let inserted = context.insert_all(&batch.keys, &mut self.new);
        if context.is_logging() {
            log_lookups(context, &batch.keys, &self.new);
        }
        if self.proviso {
            self.queue_new(|key| context.log_event(|state| Event::Pushed { state }, key));
        } else {
            for &index in &self.new {
                let Origin { parent, place } = batch.origins[index as usize];
                self.queue.push(batch.keys[index as usize]);
                self.trace.note(parent, way(place));
            }
        }
        self.reached.clear();
        inserted
    }

    /// The bytes used now and after the next growth.
    fn bytes(&self) -> u64 {
        self.queue.bytes() + self.trace.bytes() + self.pending.bytes() + self.again.0.bytes()
    }

    /// Spills the parts of the frontier that are not needed now. If spilling fails, they stay in memory while it lasts.
    #[cold]
    fn spill<M, S, O>(&mut self, context: &mut SearchContext<M, S, O>)
    where
        M: Model,
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        if let Some(scratch) = self.scratch {
            let _ = self.queue.spill(scratch);
            let _ = self.trace.spill(scratch);
            let _ = self.again.0.spill(scratch);
            context.shared.memory.auxiliary = self.bytes();
        }
    }

    /// Queues the new states of the batch. Cycle proviso: queues a reduced state again if all of its successors may
    /// have been expanded before it. So every cycle has a state that is expanded last, and that state is expanded
    /// fully.
    ///
    /// After Bošnački, Holzmann: Improving SPIN's partial-order reduction for breadth-first search, SPIN 2005.
    fn queue_new(&mut self, mut queued_again: impl FnMut(K)) {
        let Frontier { queue, trace, again, pending, reached: batch, new, .. } = self;
        let mut add = |pending: &mut OpenSetCache<K>, key: K, parent: u64, place: u32| {
            queue.push(key);
            trace.note(parent, place);
            pending.note(key, trace.len(), queue.len());
            trace.len()
        };
        let mut new = new.iter().map(|index| *index as usize).peekable();
        let mut at = 0;
        for &Reduced { number, key, times } in &batch.reduced {
            let mut goes_on = false;
            while let Some(&Origin { parent, place }) = batch.origins.get(at).filter(|of| of.parent <= number) {
                let reached = batch.keys[at];
                let is_new = new.next_if_eq(&at).is_some();
                if is_new {
                    add(pending, reached, parent, way(place));
                }
                goes_on |= parent == number && (is_new || pending.comes_after(reached, number));
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

fn way(place: u32) -> u32 {
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
    fn clear(&mut self) {
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

fn counterexample<M: Model>(model: &M, found: Found, trace: &Trace) -> Option<Counterexample<M::Step>> {
    let way = trace.path_to(found.origin).ok()?;
    let (first, rest) = way.split_first()?;
    let mut replay = Replay::start(model, first - 1)?;
    replay
        .follow(rest.iter().map(|way| way.checked_sub(1).map_or(PathStep::ExpandFurther, PathStep::Successor)))?;
    replay.follow(found.path_steps)?;
    Some(Counterexample { error: found.error, start: replay.start, steps: replay.steps })
}
