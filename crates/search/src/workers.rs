//! Breadth-first search by several workers.
//!
//! A level is explored in rounds. In a round, every worker expands some states and sorts the states that it reaches by
//! partitions of the store; then every partition looks up what was reached, in the order of the workers; then every
//! worker queues its new states. No worker waits for another one inside these phases, and none interferes with another
//! one, so the order in which threads run does not matter: with the same number of workers, a search finds the same
//! states by the same paths in every run. Between the phases, one thread has exclusive access to everything (a
//! safepoint).

use std::io;
use std::ops::ControlFlow;
use std::sync::Mutex;

use entail_disk::{Reader, Scratch, Snapshot, Writer, damaged};
use entail_model::{Model, Observer, StateKey, Store};

use crate::context::SearchContext;
use crate::expander::Expander;
use crate::explorer::{Explorer, Outbox, Sizes, Task};
use crate::findings::Found;
use crate::frontier::Frontier;
use crate::lookups::{Answers, Lookups};
use crate::open_set::OpenSetCache;
use crate::pool::Pool;
use crate::{End, Limit, Phase, Stats, Threads};

/// The workers of a search.
pub(crate) struct Workers<'s, M: Model, K: StateKey> {
    pub pool: Pool,
    sizes: Sizes,
    all: Vec<Explorer<'s, M, K>>,
    /// By partition: which of the states reached are new.
    lookups: Vec<Lookups<K>>,
    /// With the cycle proviso: how many of the states found at a depth are remembered.
    remembered: usize,
    expanders: Mutex<Vec<Expander<M>>>,
    /// The number of the worker that found the first error, and the error.
    first: Option<(u32, Found)>,
    /// The number of transitions at the last progress report.
    told: u64,
}

impl<'s, M: Model, K: StateKey> Workers<'s, M, K> {
    /// Divides the frontier of one worker, which has reached the end of a level, among several.
    pub fn recruit<S, O>(
        context: &mut SearchContext<M, S, O>,
        frontier: Frontier<'s, K>,
        threads: &Threads,
        mut pool: Pool,
    ) -> Self
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let grant = Sizes::of(threads).grant;
        let limit = context.shared.limits.memory.unwrap_or(u64::MAX);
        let bits = threads.count.next_power_of_two().trailing_zeros();
        let left = limit.saturating_sub(frontier.bytes());
        pool.alone(Phase::Partitioning, || context.shared.store.partition(bits, left));
        let (scratch, proviso, depth) = (frontier.scratch, frontier.proviso, frontier.depth);
        let remembered = frontier.pending.as_ref().filter(|_| proviso).map_or(0, OpenSetCache::most);
        // Which states are expanded after others is not known any more.
        let mut all = vec![Explorer::new(Frontier { pending: None, ..frontier }, grant)];
        all[0].expansions.note(1, 0, 1);
        std::mem::swap(&mut all[0].worker.findings, &mut context.worker.findings);
        all.extend(
            (1..SHARES * threads.count)
                .map(|_| Explorer::new(Frontier { scratch, proviso, depth, ..Frontier::default() }, grant)),
        );
        let mut workers = Workers { remembered, ..Workers::of(all, pool, threads) };
        workers.gather(context);
        workers.pool.alone(Phase::SharingOut, || share_out(&mut workers.all, workers.sizes.few));
        workers
    }

    fn of(all: Vec<Explorer<'s, M, K>>, pool: Pool, threads: &Threads) -> Self {
        Workers {
            pool,
            sizes: Sizes::of(threads),
            all,
            lookups: Vec::new(),
            remembered: 0,
            expanders: Mutex::default(),
            first: None,
            told: 0,
        }
    }

    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        (self.all.len() as u32).save(to)?;
        self.first.save(to)?;
        self.all.iter().try_for_each(|explorer| explorer.save(to))?;
        (self.lookups.len() as u32).save(to)?;
        self.lookups.iter().try_for_each(|lookups| lookups.save(to))
    }

    /// The workers of a snapshot, `count` of them, which may have another number of threads now.
    pub fn load(
        count: u32,
        threads: &Threads,
        from: &mut Reader,
        scratch: Option<&'s Scratch>,
        proviso: bool,
    ) -> io::Result<Self> {
        if count > MOST {
            return Err(damaged("an impossible number of workers"));
        }
        let first = Snapshot::load(from)?;
        let all = (0..count).map(|_| Explorer::load(from, scratch, proviso)).collect::<io::Result<_>>()?;
        let partitions = u32::load(from)?;
        if partitions > MOST {
            return Err(damaged("an impossible number of partitions"));
        }
        let lookups = (0..partitions).map(|_| Lookups::load(from)).collect::<io::Result<_>>()?;
        Ok(Workers { first, lookups, ..Workers::of(all, Pool::start(threads), threads) })
    }

    /// The number of threads that they are meant for; 1 if one does the work of all.
    pub fn threads(&self) -> usize {
        if self.pool.is_alone() { 1 } else { self.all.len().div_ceil(SHARES) }
    }

    fn bytes(&self) -> u64 {
        let explorers: u64 = self.all.iter().map(Explorer::bytes).sum();
        explorers + self.lookups.iter().map(Lookups::bytes).sum::<u64>()
    }

    /// The number of states still to expand at this depth.
    fn level(&self) -> u64 {
        self.all.iter().map(|explorer| explorer.frontier.level).sum()
    }

    /// Explores the rest of the state space. `safepoint` runs after each round.
    pub fn explore<S, O>(
        &mut self,
        context: &mut SearchContext<M, S, O>,
        mut safepoint: impl FnMut(&mut Self, &mut SearchContext<M, S, O>) -> ControlFlow<End>,
    ) -> ControlFlow<End>
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        loop {
            while self.level() > 0 {
                self.round(context)?;
                self.watch(context)?;
                if context.shared.is_paused() {
                    self.absorb(context);
                }
                safepoint(self, context)?;
            }
            self.absorb(context);
            self.pool.alone(Phase::SharingOut, || share_out(&mut self.all, self.sizes.few));
            self.lookups.iter_mut().for_each(Lookups::begin_level);
            if self.level() == 0 || !context.may_expand(self.all[0].frontier.depth) {
                return ControlFlow::Continue(());
            }
            self.all.iter_mut().for_each(|explorer| explorer.frontier.depth += 1);
        }
    }

    /// Expands some states and looks up those that they lead to.
    fn round<S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let is_worth_it = self.level() >= self.sizes.few;
        let mut begins = true;
        loop {
            let keys = self.all.iter().map(|explorer| explorer.grant).sum();
            self.pool.alone(Phase::MakingRoom, || context.make_room_for_keys(keys))?;
            let partitions = context.shared.store.partitions().len();
            let limits = context.shared.limits;
            let is_kept = context.shared.checkpointer.is_some();
            let spent = context.shared.started.elapsed();
            let task = Task {
                model: context.shared.model,
                store: &*context.shared.store,
                checks: context.shared.checks,
                time: limits.time.filter(|_| !is_kept).map(|time| time.saturating_sub(spent)),
                stop: limits.stop.filter(|_| !is_kept),
                bits: partitions.checked_ilog2().unwrap_or(0),
                sizes: self.sizes,
                expanders: &self.expanders,
            };
            let lookups = &self.lookups;
            self.pool.each(Phase::Expansion, is_worth_it, &mut self.all, |number, explorer| {
                if begins {
                    explorer.begin_round(number, lookups, task.sizes);
                }
                explorer.work(&task);
            });
            if std::mem::take(&mut begins) {
                self.lookups.iter_mut().for_each(Lookups::clear);
            }
            if !self.all.iter().any(Explorer::is_waiting) {
                break;
            }
        }
        self.all.iter_mut().for_each(|explorer| explorer.steps.drain(|step| context.observer.stepped(step)));
        let looked_up = self.look_up(context);
        self.gather(context);
        let ends = || self.all.iter().filter_map(|explorer| explorer.explored.break_value());
        match ends().find(|end| *end == End::Error).or_else(|| ends().next()) {
            Some(end) => ControlFlow::Break(end),
            None => looked_up,
        }
    }

    /// Looks up all states reached, in the order of the workers.
    fn look_up<S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let keys = |explorer: &Explorer<M, K>| explorer.frontier.reached.keys.len();
        let reached: usize = self.all.iter().map(keys).sum();
        context.shared.memory.auxiliary = self.bytes();
        if context.shared.is_crowded() {
            self.all.iter_mut().for_each(|explorer| explorer.frontier.spill());
            context.shared.memory.auxiliary = self.bytes();
        }
        if self.all.iter().any(|explorer| explorer.frontier.is_lost()) {
            return ControlFlow::Break(End::Limit(Limit::Memory));
        }
        if self.look_up_in_partitions(context, reached) {
            return self.look_up_rest(context);
        }
        self.pool.alone(Phase::LookupByOne, || {
            self.all.iter_mut().try_for_each(|explorer| {
                let Frontier { reached, new, .. } = &mut explorer.frontier;
                context.look_up_all(&reached.keys, new)
            })
        })
    }

    /// Looks up the states of all outboxes, in every partition by one thread, as far as there is memory. Returns whether
    /// there are partitions.
    fn look_up_in_partitions<S, O>(&mut self, context: &mut SearchContext<M, S, O>, reached: usize) -> bool
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let limit = context.shared.limits.memory.unwrap_or(u64::MAX);
        let left = limit.saturating_sub(context.shared.bytes());
        let mut partitions = context.shared.store.partitions();
        let Some(share) = left.checked_div(partitions.len() as u64) else { return false };
        let most = self.remembered / partitions.len();
        self.lookups.resize_with(partitions.len(), || Lookups::remembering(most));
        let outboxes = outboxes(&self.all);
        let mut tasks: Vec<_> = partitions.iter_mut().zip(&mut self.lookups).collect();
        let is_worth_it = reached as u64 >= self.sizes.few;
        self.pool.each(Phase::Lookup, is_worth_it, &mut tasks, |number, (partition, lookups)| {
            let keys = outboxes.iter().map(|outboxes| &outboxes[number].keys[..]);
            let limit = partition.bytes() + share;
            lookups.insert(partition.as_mut(), limit, keys);
        });
        drop(partitions);
        context.shared.note_peak();
        true
    }

    /// Looks up the states for which a partition had no memory, in a store that degrades.
    fn look_up_rest<S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        for (number, lookups) in self.lookups.iter_mut().enumerate() {
            for (explorer, Answers { done, new, .. }) in self.all.iter().zip(&mut lookups.answers) {
                let rest = &explorer.outboxes[number].keys[*done..];
                if !rest.is_empty() {
                    let before = new.len();
                    context.look_up_all(rest, new)?;
                    new[before..].iter_mut().for_each(|index| *index += *done as u32);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Queues the new states of the last round.
    pub fn absorb<S, O>(&mut self, context: &mut SearchContext<M, S, O>)
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let lookups = &self.lookups;
        let reached: usize = self.all.iter().map(|explorer| explorer.frontier.reached.keys.len()).sum();
        let is_worth_it = reached as u64 >= self.sizes.few;
        let absorb = |number, explorer: &mut Explorer<M, K>| explorer.absorb(number, lookups);
        self.pool.each(Phase::Queueing, is_worth_it, &mut self.all, absorb);
        self.gather(context);
    }

    /// Sums up the counts of all workers.
    fn gather<S, O>(&mut self, context: &mut SearchContext<M, S, O>)
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let depth = context.stats().depth;
        let findings = &mut context.worker.findings;
        findings.stats = Stats { depth, ..Stats::default() };
        findings.errors = 0;
        for (number, explorer) in (0..).zip(&mut self.all) {
            let own = &mut explorer.worker.findings;
            findings.stats.stored += own.stats.stored;
            findings.stats.matched += own.stats.matched;
            findings.stats.depth = findings.stats.depth.max(own.stats.depth);
            findings.errors += own.errors;
            findings.ignored_fault = findings.ignored_fault.or(own.ignored_fault);
            if self.first.is_none() {
                self.first = own.first.take().map(|found| (number, found));
            }
        }
    }

    /// Checks the limits and reports progress.
    fn watch<S, O>(&mut self, context: &mut SearchContext<M, S, O>) -> ControlFlow<End>
    where
        S: Store<Key = K> + ?Sized,
        O: Observer<M::Step> + ?Sized,
    {
        let transitions = context.stats().transitions();
        if transitions - self.told >= PROGRESS {
            self.told = transitions;
            context.tell_progress();
        }
        context.shared.look_at_limits(transitions)
    }

    /// The first error, and the path to it.
    pub fn first_error(&self) -> Option<(Vec<u32>, &Found)> {
        let (worker, found) = self.first.as_ref()?;
        let mut path = Vec::new();
        let (mut worker, mut expansion) = (*worker, found.origin);
        while let Some((by, state)) = self.all[worker as usize].expansions.state(expansion) {
            let (parent, way) = self.all[by as usize].frontier.trace.step_to(state).ok()?;
            path.push(way);
            (worker, expansion) = (by, parent);
        }
        path.reverse();
        Some((path, found))
    }
}

/// Begins a level: every worker gets as many states as the others, unless there are few.
fn share_out<M: Model, K: StateKey>(all: &mut [Explorer<M, K>], few: u64) {
    let count = all.len() as u64;
    let total: u64 = all.iter().map(|explorer| explorer.frontier.queue.len()).sum();
    let share = |number: usize| total / count + u64::from((number as u64) < total % count);
    let mut giver = 0;
    for taker in 0..all.len() {
        // Each gift is noted, which takes memory.
        let lacks = share(taker).saturating_sub(all[taker].frontier.queue.len());
        let mut wanted = if total < few { 0 } else { lacks };
        while wanted > 0 {
            let spare = all[giver].frontier.queue.len().saturating_sub(share(giver));
            if spare == 0 {
                giver += 1;
                continue;
            }
            let moved = spare.min(wanted);
            give(all, giver, taker, moved);
            wanted -= moved;
        }
    }
    for (number, explorer) in (0..).zip(all) {
        let next = explorer.next_expansion() + explorer.frontier.given.len();
        explorer.expansions.note(next, number, explorer.frontier.first_number());
        explorer.frontier.level = explorer.frontier.given.len() + explorer.frontier.queue.len();
    }
}

/// Moves the first states in the queue of one worker to another one.
fn give<M: Model, K: StateKey>(all: &mut [Explorer<M, K>], giver: usize, taker: usize, count: u64) {
    let Ok([from, to]) = all.get_disjoint_mut([giver, taker]) else { return };
    let first = from.frontier.first_number();
    let next = to.next_expansion() + to.frontier.given.len();
    to.expansions.note(next, giver as u32, first);
    while let Some((number, times)) = from.frontier.again.first().filter(|(number, _)| *number < first + count) {
        to.frontier.given_again.push(next + (number - first), times);
        from.frontier.again.0.skip(1);
    }
    let mut left = count as usize;
    while left > 0 {
        let keys = from.frontier.queue.next();
        let moved = keys.len().min(left);
        if moved == 0 {
            return;
        }
        keys[..moved].iter().for_each(|key| to.frontier.given.push(*key));
        from.frontier.queue.skip(moved);
        left -= moved;
    }
    to.frontier.begin_filter();
}

/// The outboxes of every worker.
fn outboxes<'e, M: Model, K: StateKey>(all: &'e [Explorer<M, K>]) -> Vec<&'e [Outbox<K>]> {
    all.iter().map(|explorer| &explorer.outboxes[..]).collect()
}

/// The number of workers for each thread: a thread whose states take less time than others helps with the rest. Each worker
/// takes memory.
const SHARES: usize = 2;
/// More workers, and more partitions, than any machine needs.
const MOST: u32 = 1 << 12;
/// The number of transitions between two progress reports.
const PROGRESS: u64 = 1 << 17;
