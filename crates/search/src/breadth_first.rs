//! Breadth first: all states at one depth before those at the next.

use std::ops::{ControlFlow, RangeFrom};

use entail_model::{Model, Observer, StateKey, Store, Visit};

use crate::descent::{Ahead, Descent};
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
    /// Those of a batch that may be new.
    doubtful: Vec<u32>,
}

/// States that were reached and have not been looked up.
struct Batch<K> {
    keys: Vec<K>,
    /// The place of each among the stable successors of the state it came from.
    places: Vec<u32>,
    /// Where they came from, one after the other.
    origins: Vec<Origin>,
}

/// A state that was expanded.
#[derive(Clone, Copy)]
struct Origin {
    number: u64,
    /// Where its successors begin in the batch.
    first: u32,
}

/// Enough to hide the latency of memory, and little enough to stay in the cache.
const BATCH: usize = 256;

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
    for depth in 0.. {
        let level = front.queue.len();
        if level == 0 || !run.may_expand(depth) {
            break;
        }
        for _ in 0..level {
            let Some(key) = front.queue.pop() else { break };
            run.origin += 1;
            expand(run, &mut descent, key, front)?;
            if front.reached.keys.len() >= BATCH {
                front.look_up(run)?;
            }
        }
        front.flush(run)?;
    }
    ControlFlow::Continue(())
}

/// Puts all stable successors of a state into the batch.
#[inline]
fn expand<M, S, O>(
    run: &mut Run<M, S, O>,
    descent: &mut Descent<S::Key>,
    key: S::Key,
    front: &mut Front<S::Key>,
) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    front.reached.begin(run.origin);
    let mut place = 0..;
    descent.clear();
    match run.enter_or_else(descent, key, |key| front.reach(key, &mut place))? {
        Entered::Nothing => return ControlFlow::Continue(()),
        Entered::Descent => {}
    }
    while let Some(ahead) = run.step(descent)? {
        match ahead {
            Ahead::Nothing => {}
            Ahead::Transient => run.enter_transient(descent)?,
            Ahead::Stable(key) => run.stats.matched += u64::from(front.reach(key, &mut place)),
        }
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
            doubtful: Vec::new(),
        }
    }
}

impl<K: StateKey> Front<K> {
    /// Puts a state into the batch, unless that was done a moment ago. That is as likely as not: so nothing is decided
    /// here, and what was put in is taken out again.
    #[inline]
    fn reach(&mut self, key: K, place: &mut RangeFrom<u32>) -> bool {
        let known = self.recent.reach(key);
        let Batch { keys, places, .. } = &mut self.reached;
        keys.push(key);
        places.extend(place.next());
        let len = keys.len() - usize::from(known);
        keys.truncate(len);
        places.truncate(len);
        known
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
        self.doubtful.clear();
        run.sift(&batch.keys, &mut self.doubtful);
        let mut origins = batch.origins.iter().copied().peekable();
        let mut origin = Origin { number: 0, first: 0 };
        let inserted = self.doubtful.iter().try_for_each(|&index| {
            let key = batch.keys[index as usize];
            match run.insert(key)? {
                Visit::Seen => run.stats.matched += 1,
                Visit::New => {
                    while let Some(next) = origins.next_if(|next| next.first <= index) {
                        origin = next;
                    }
                    self.queue.push(key);
                    self.trace.note(origin.number, batch.places[index as usize]);
                }
            }
            ControlFlow::Continue(())
        });
        self.reached.clear();
        inserted
    }
}

impl<K> Default for Batch<K> {
    fn default() -> Self {
        Batch { keys: Vec::new(), places: Vec::new(), origins: Vec::new() }
    }
}

impl<K> Batch<K> {
    /// What follows comes from this state.
    fn begin(&mut self, origin: u64) {
        self.origins.push(Origin { number: origin, first: self.keys.len() as u32 });
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.places.clear();
        self.origins.clear();
    }
}

fn counterexample<M: Model>(model: &M, found: Found, trace: &Trace) -> Counterexample<M::Step> {
    let way = trace.way_to(found.origin);
    let (first, rest) = way.split_first().expect("a state that was found");
    let mut follower = Follower::start(model, *first);
    rest.iter().for_each(|&place| follower.go_to_stable(place));
    follower.choose(&found.choices);
    Counterexample { error: found.error, start: follower.start, steps: follower.steps }
}
