//! Breadth first: all states at one depth before those at the next.

use std::ops::ControlFlow;

use entail_model::{Model, Observer, StateKey, Store};

use crate::descent::{Ahead, Descent, Nothing, Turn};
use crate::doubt::Doubt;
use crate::follow::Follower;
use crate::queue::Queue;
use crate::recent::Recent;
use crate::run::{Entered, Found, Run};
use crate::trace::Trace;
use crate::{Checks, Counterexample, End, Limits, Outcome};

/// Explores `model` breadth first. `store` is empty at first.
///
/// The depth of a state is the least number of stable states to be entered on the way to it, initial states being
/// at depth 0; that of the search is the depth of the deepest states it has come to. No counterexample
/// passes fewer stable states than the one returned.
///
/// States are looked up in batches, so that waiting for the memory of one overlaps with that of the others.
pub fn breadth_first<M, S, O>(
    model: &M,
    store: &mut S,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    let mut run = Run::new(model, store, checks, limits, observer);
    let mut front = Front::default();
    let explored = explore(&mut run, &mut front);
    // What was reached before the search had to end counts all the same, if there is room for it.
    let _ = front.flush(&mut run);
    let (outcome, first) = run.finish(explored);
    Outcome { counterexample: first.map(|found| counterexample(model, found, &front.trace)), ..outcome }
}

/// The states that have been found and not been expanded.
struct Front<K> {
    queue: Queue<K>,
    /// Where those in the queue, and all before them, came from.
    trace: Trace,
    recent: Recent<K>,
    /// What has been reached.
    reached: Batch<K>,
    /// What was reached before that, and is now in the cache.
    fetched: Batch<K>,
    /// Those of a batch that are new.
    new: Vec<u32>,
}

/// States that were reached and have not been looked up.
struct Batch<K> {
    keys: Vec<K>,
    /// Of each.
    origins: Vec<Origin>,
}

/// Where a state came from.
#[derive(Clone, Copy)]
struct Origin {
    /// The number of the state that was expanded.
    parent: u64,
    /// Its place among the stable successors of that.
    place: u32,
}

/// Enough to hide the latency of memory, and little enough to stay in the cache.
const BATCH: usize = 256;
/// As many states as are expanded at once.
const STRETCH: usize = 32;

fn explore<M, S, O>(run: &mut Run<M, S, O>, front: &mut Front<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    for (number, key) in run.visit_initial_states()? {
        front.recent.begin(key);
        front.queue.push(key);
        front.trace.note(0, number);
    }
    let mut descent = Descent::default();
    let mut doubt = Doubt::default();
    for depth in 0.. {
        let mut level = front.queue.len();
        if level == 0 || !run.may_expand(depth) {
            break;
        }
        while level > 0 {
            let many = STRETCH.min(usize::try_from(level).unwrap_or(STRETCH));
            let plain = if doubt.is_worth_a_try() { Some(front.expand_plain(run, many)?) } else { None };
            let expanded = plain.unwrap_or(0);
            if expanded < many {
                front.expand(run, &mut descent)?;
                level -= 1;
            }
            level -= expanded as u64;
            plain.inspect(|&expanded| doubt.learn(expanded));
            if front.reached.keys.len() >= BATCH {
                front.look_up(run)?;
            }
        }
        front.flush(run)?;
    }
    ControlFlow::Continue(())
}

impl<K> Default for Front<K> {
    fn default() -> Self {
        Front {
            queue: Queue::default(),
            trace: Trace::default(),
            recent: Recent::default(),
            reached: Batch::default(),
            fetched: Batch::default(),
            new: Vec::new(),
        }
    }
}

impl<K: StateKey> Front<K> {
    /// Puts the stable successors of so many states into the batch, up to the first one where something may be wrong, or
    /// which is unusual.
    #[inline]
    fn expand_plain<M, S, O>(&mut self, run: &mut Run<M, S, O>, many: usize) -> ControlFlow<End, usize>
    where
        M: Model,
        S: Store<Key = K>,
        O: Observer<M::Step> + ?Sized,
    {
        let states = self.queue.next();
        let first = run.origin + 1;
        let (recent, reached) = (&mut self.recent, &mut self.reached);
        let mut next = Origin { parent: first, place: 0 };
        let expanded = run.expand_plain(&states[..many.min(states.len())], |at, key| {
            let parent = first + at as u64;
            let place = if parent == next.parent { next.place } else { 0 };
            next = Origin { parent, place: place + 1 };
            reached.push(recent, key, Origin { parent, place })
        })?;
        run.origin += expanded as u64;
        self.queue.skip(expanded);
        ControlFlow::Continue(expanded)
    }

    /// Puts all stable successors of a state into the batch.
    fn expand<M, S, O>(&mut self, run: &mut Run<M, S, O>, descent: &mut Descent<K>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K>,
        O: Observer<M::Step> + ?Sized,
    {
        let Some(key) = self.queue.pop() else { return ControlFlow::Continue(()) };
        run.origin += 1;
        let parent = run.origin;
        let mut place = 0;
        let mut reach = |key: K| {
            let origin = Origin { parent, place };
            place += 1;
            self.reached.push(&mut self.recent, key, origin)
        };
        descent.clear();
        match run.enter_or_else(descent, key, &mut reach)? {
            Entered::Nothing => return ControlFlow::Continue(()),
            Entered::Descent => {}
        }
        while let Some(taken) = run.step(descent)? {
            match taken.ahead {
                Ahead::Nothing => {}
                Ahead::Transient => run.enter_transient(descent, &Nothing)?,
                Ahead::Stable(key) => run.stats.matched += u64::from(reach(key)),
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks up all that was reached.
    fn flush<M, S, O>(&mut self, run: &mut Run<M, S, O>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K>,
        O: Observer<M::Step> + ?Sized,
    {
        self.look_up(run)?;
        self.look_up(run)
    }

    /// Looks up what is in the cache, queues what is new, and has the cache filled with what was reached meanwhile.
    fn look_up<M, S, O>(&mut self, run: &mut Run<M, S, O>) -> ControlFlow<End>
    where
        M: Model,
        S: Store<Key = K>,
        O: Observer<M::Step> + ?Sized,
    {
        run.prefetch(&self.reached.keys);
        std::mem::swap(&mut self.reached, &mut self.fetched);
        let batch = &self.reached;
        run.aside = self.queue.bytes() + self.trace.bytes();
        self.new.clear();
        let inserted = run.insert_all(&batch.keys, &mut self.new);
        for &index in &self.new {
            let Origin { parent, place } = batch.origins[index as usize];
            self.queue.push(batch.keys[index as usize]);
            self.trace.note(parent, place);
        }
        self.reached.clear();
        inserted
    }
}

impl<K> Default for Batch<K> {
    fn default() -> Self {
        Batch { keys: Vec::new(), origins: Vec::new() }
    }
}

impl<K: StateKey> Batch<K> {
    /// Adds a state, unless that was done a moment ago; says which. Either is likely: so nothing is decided here, and
    /// what was put in is taken out again.
    #[inline]
    fn push(&mut self, recent: &mut Recent<K>, key: K, origin: Origin) -> bool {
        let known = recent.reach(key);
        self.keys.push(key);
        self.origins.push(origin);
        let len = self.keys.len() - usize::from(known);
        self.keys.truncate(len);
        self.origins.truncate(len);
        known
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.origins.clear();
    }
}

fn counterexample<M: Model>(model: &M, found: Found, trace: &Trace) -> Counterexample<M::Step> {
    let way = trace.way_to(found.origin);
    let (first, rest) = way.split_first().expect("a state that was found");
    let mut follower = Follower::start(model, *first);
    follower.follow(rest.iter().map(|&place| Turn::Way(place)));
    follower.follow(found.turns);
    Counterexample { error: found.error, start: follower.start, steps: follower.steps }
}
