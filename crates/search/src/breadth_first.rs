//! Breadth-first search: expands all states of one depth before those of the next.

use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Snapshot};
use entail_model::{Event, Model, Observer, StateKey, Store};

use crate::context::SearchContext;
use crate::findings::Found;
use crate::frontier::{BATCH, Frontier, STRETCH, way};
use crate::open_set::OpenSetCache;
use crate::pool::Pool;
use crate::probe::Probes;
use crate::replay::Replay;
use crate::stack::{PathStep, SearchStack};
use crate::workers::Workers;
use crate::{Checks, Counterexample, End, Limits, Outcome, Threads};

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
    let mut frontier =
        Frontier { scratch, proviso, backoff, pending: Some(pending(limits)), ..Frontier::default() };
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
    let (scratch, proviso) = (context.shared.allow_spilling(), model.needs_proviso());
    match Snapshot::load(&mut from)? {
        ONE => {
            let frontier = Frontier::load(&mut from, scratch, proviso)?;
            from.finish()?;
            Ok(go_on(context, frontier, probes, ControlFlow::Continue(())))
        }
        count => {
            let workers = Workers::load(count, &limits.threads, &mut from, scratch, proviso)?;
            from.finish()?;
            Ok(go_on_with(context, workers, probes))
        }
    }
}

/// In a snapshot: one worker with its frontier, instead of a number of workers.
const ONE: u32 = 0;
/// The open-set cache gets one in this many bytes of memory.
const PENDING: u64 = 32;

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
    let mut threads = context.shared.limits.threads;
    if context.is_logging() {
        threads.count = 1;
    }
    let mut no_threads = None;
    let explored = match begun {
        ControlFlow::Continue(()) => loop {
            match explore(&mut context, &mut frontier, &mut probes, &threads) {
                ControlFlow::Break(end) => break ControlFlow::Break(end),
                ControlFlow::Continue(Explored::All) => break ControlFlow::Continue(()),
                ControlFlow::Continue(Explored::Beginning) => {
                    let pool = Pool::start(&threads);
                    if pool.refused.is_none() {
                        let workers = Workers::recruit(&mut context, frontier, &threads, pool);
                        return go_on_with(context, workers, probes);
                    }
                    (threads.count, no_threads) = (1, pool.refused);
                }
            }
        },
        ControlFlow::Break(end) => ControlFlow::Break(end),
    };
    // States that were reached before the search ended count too, if there is room for them.
    let _ = frontier.flush(&mut context);
    let model = context.model();
    let (outcome, first) = context.finish(explored);
    // The error is reported even if its path cannot be reconstructed.
    let counterexample = first.and_then(|found| {
        let path = frontier.trace.path_to(found.origin).ok()?;
        counterexample(model, &path, &found)
    });
    probes.outcome(Outcome { counterexample, no_threads, ..outcome })
}

/// The same by several workers.
fn go_on_with<M, S, O>(
    mut context: SearchContext<M, S, O>,
    mut workers: Workers<M, S::Key>,
    mut probes: Probes<M::Step>,
) -> Outcome<M::Step>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let explored = workers.explore(&mut context, |workers, context| {
        let stored = context.stats().stored;
        probes.probe(&context.shared, stored)?;
        context.safepoint(|to| {
            probes.schedule.save(to)?;
            workers.save(to)
        })
    });
    workers.absorb(&mut context);
    let (model, count) = (context.model(), workers.threads());
    let (outcome, _) = context.finish(explored);
    let counterexample = workers.first_error().and_then(|(path, found)| counterexample(model, &path, found));
    let Pool { refused: no_threads, phases, .. } = workers.pool;
    probes.outcome(Outcome { counterexample, workers: count, no_threads, phases, ..outcome })
}

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

/// How far one worker has explored the state space.
enum Explored {
    All,
    /// The states of the next level are worth several workers.
    Beginning,
}

fn explore<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    frontier: &mut Frontier<S::Key>,
    probes: &mut Probes<M::Step>,
    threads: &Threads,
) -> ControlFlow<End, Explored>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let mut stack = SearchStack::default();
    // With the proviso, several workers expand more states again than one.
    let least = threads.worthwhile * if frontier.proviso { 8 } else { 1 };
    loop {
        // Local copies, which the compiler can keep in registers.
        let (mut level, mut backoff) = (frontier.level, frontier.backoff);
        while level > 0 {
            if !context.has_room(0) {
                frontier.spill();
            }
            level -= frontier.advance(context, &mut stack, level, &mut backoff)?;
            // The proviso depends on the lookups so far. These must not depend on the block boundaries of the queue,
            // which change when blocks are spilled.
            if context.is_logging() {
                frontier.flush(context)?;
            } else if frontier.reached.keys.len() >= BATCH && context.worker.findings.origin.is_multiple_of(STRETCH)
            {
                frontier.look_up(context)?;
                (frontier.level, frontier.backoff) = (level, backoff);
                safepoint(context, frontier, probes)?;
            }
        }
        (frontier.level, frontier.backoff) = (level, backoff);
        frontier.flush(context)?;
        safepoint(context, frontier, probes)?;
        frontier.level = frontier.queue.len();
        if frontier.level == 0 || !context.may_expand(frontier.depth) {
            return ControlFlow::Continue(Explored::All);
        }
        frontier.depth += 1;
        if threads.count > 1 && frontier.level >= least {
            return ControlFlow::Continue(Explored::Beginning);
        }
    }
}

/// Runs between two batches: starts a probe if one is due, and takes a snapshot.
#[inline]
fn safepoint<M, S, O>(
    context: &mut SearchContext<M, S, O>,
    frontier: &Frontier<S::Key>,
    probes: &mut Probes<M::Step>,
) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let stored = context.stats().stored;
    probes.probe(&context.shared, stored)?;
    context.safepoint(|to| {
        probes.schedule.save(to)?;
        ONE.save(to)?;
        frontier.save(to)
    })
}

/// The run along a path of successors, to an error.
fn counterexample<M: Model>(model: &M, path: &[u32], found: &Found) -> Option<Counterexample<M::Step>> {
    let (first, rest) = path.split_first()?;
    let mut replay = Replay::start(model, first - 1)?;
    replay
        .follow(rest.iter().map(|way| way.checked_sub(1).map_or(PathStep::ExpandFurther, PathStep::Successor)))?;
    replay.follow(found.path_steps.iter().copied())?;
    Some(Counterexample { error: found.error, start: replay.start, steps: replay.steps })
}
