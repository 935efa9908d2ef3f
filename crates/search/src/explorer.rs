//! One of several workers of a breadth-first search: what it does between two safepoints.

use std::io;
use std::ops::{ControlFlow, DerefMut};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use entail_disk::{Reader, Scratch, Snapshot, Writer};
use entail_model::{Full, Keys, Model, Opened, State, StateBuf, StateKey, partition_of};

use crate::context::{SearchContext, Worker};
use crate::expander::Expander;
use crate::expansions::Expansions;
use crate::frontier::Frontier;
use crate::lookups::{Answers, Lookups};
use crate::recent_steps::RecentSteps;
use crate::shared::Shared;
use crate::stack::SearchStack;
use crate::{Checks, End, Limit, Limits, Threads};

/// A worker of a breadth-first search.
pub(crate) struct Explorer<'s, M: Model, K: StateKey> {
    pub worker: Worker<M>,
    pub frontier: Frontier<'s, K>,
    pub expansions: Expansions,
    stack: SearchStack<K>,
    pub steps: RecentSteps<M::Step>,
    /// The states reached in this round, by partition.
    pub outboxes: Vec<Outbox<K>>,
    /// The number of states in them.
    sorted: usize,
    /// A bit for each state of the batch.
    marks: Vec<u64>,
    /// The number of states that it still expands in this round.
    left: u64,
    /// The number of keys that the store has room for at a time.
    pub grant: usize,
    pub explored: ControlFlow<End>,
}

/// States of one partition.
pub(crate) struct Outbox<K> {
    pub keys: Vec<K>,
    /// Their indices in the batch.
    indices: Vec<u32>,
}

impl<K> Default for Outbox<K> {
    fn default() -> Self {
        Outbox { keys: Vec::new(), indices: Vec::new() }
    }
}

/// What all workers share while they expand states.
pub(crate) struct Task<'a, M: Model, S: ?Sized> {
    pub model: &'a M,
    pub store: &'a S,
    pub checks: &'a Checks,
    /// The time left, and the flag that interrupts the search; unless it must first reach a safepoint.
    pub time: Option<Duration>,
    pub stop: Option<&'a AtomicBool>,
    /// The binary logarithm of the number of partitions.
    pub bits: u32,
    pub sizes: Sizes,
    /// The buffers of threads that are not at work. What a model remembers in them is worth more if few have to learn it.
    pub expanders: &'a Mutex<Vec<Expander<M>>>,
}

impl<M: Model, S: ?Sized> Task<'_, M, S> {
    fn expanders(&self) -> impl DerefMut<Target = Vec<Expander<M>>> {
        self.expanders.lock().expect("no thread panics while it holds the lock")
    }
}

/// The sizes of rounds. They depend on the number of states that are worth several threads.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Fewer states are explored by one thread, on behalf of all workers.
    pub few: u64,
    /// The number of states that a worker expands in a round.
    round: u64,
    /// The number of keys that the store has room for at the beginning of a round, for each worker. Room for many keys of
    /// long states takes much memory.
    pub grant: usize,
    /// A worker with room for fewer keys waits for more.
    least: usize,
}

impl Sizes {
    pub fn of(threads: &Threads) -> Sizes {
        let states = threads.worthwhile;
        let grant = (4 * states).max(1) as usize;
        Sizes { few: states / 4, round: (4 * states).max(1), grant, least: grant / 64 }
    }
}

impl<'s, M: Model, K: StateKey> Explorer<'s, M, K> {
    pub fn new(frontier: Frontier<'s, K>, grant: usize) -> Self {
        Explorer {
            worker: Worker::new(frontier.backoff),
            frontier,
            expansions: Expansions::default(),
            stack: SearchStack::default(),
            steps: RecentSteps::default(),
            outboxes: Vec::new(),
            sorted: 0,
            marks: Vec::new(),
            left: 0,
            grant,
            explored: ControlFlow::Continue(()),
        }
    }

    /// The number of the next expansion.
    pub fn next_expansion(&self) -> u64 {
        self.worker.findings.origin + 1
    }

    /// Queues the new states of the last round.
    pub fn begin_round(&mut self, number: usize, lookups: &[Lookups<K>], sizes: Sizes) {
        self.absorb(number, lookups);
        for outbox in &mut self.outboxes {
            outbox.keys.clear();
            outbox.indices.clear();
        }
        self.sorted = 0;
        self.left = self.frontier.level.min(sizes.round);
    }

    /// Whether states of this round wait for room.
    pub fn is_waiting(&self) -> bool {
        self.left > 0 && self.explored.is_continue()
    }

    /// Expands states of this round and sorts those reached.
    pub fn work<S: Keys<Key = K> + ?Sized>(&mut self, task: &Task<M, S>) {
        if self.left > 0 {
            self.explored = self.expand(task);
        }
        self.sort(task.bits);
    }

    /// Expands the states of a round, as long as the store has room for keys. How much room there is does not decide
    /// where a round ends: the way in which a state is expanded may change when a search is resumed.
    fn expand<S: Keys<Key = K> + ?Sized>(&mut self, task: &Task<M, S>) -> ControlFlow<End> {
        let Explorer { worker, frontier, stack, steps, grant, left, .. } = self;
        let limits = Limits { time: task.time, stop: task.stop, ..Limits::default() };
        let mut lent = Lent(task.store);
        let shared = Shared::new(task.model, &mut lent, task.checks, &limits);
        worker.capacity.keys = *grant;
        let mut owned = std::mem::replace(worker, Worker::new(frontier.backoff));
        owned.expander = task.expanders().pop().unwrap_or_default();
        let mut context = SearchContext { shared, worker: owned, observer: steps };
        let mut backoff = frontier.backoff;
        let mut explored = ControlFlow::Continue(());
        while *left > 0 && context.worker.capacity.keys >= task.sizes.least && explored.is_continue() {
            let before = context.worker.findings.origin;
            explored = frontier.advance(&mut context, stack, *left, &mut backoff).map_continue(|_| ());
            if explored == ControlFlow::Break(End::Limit(Limit::Memory)) {
                frontier.undo(&mut context.worker.findings);
                *grant *= 2;
            }
            let expanded = context.worker.findings.origin - before;
            *left -= expanded;
            frontier.level -= expanded;
        }
        if explored == ControlFlow::Break(End::Limit(Limit::Memory)) {
            explored = ControlFlow::Continue(());
        }
        frontier.backoff = backoff;
        *worker = context.worker;
        task.expanders().push(std::mem::take(&mut worker.expander));
        explored
    }

    /// Sorts the states reached by partitions.
    fn sort(&mut self, bits: u32) {
        if bits == 0 {
            return;
        }
        self.outboxes.resize_with(1 << bits, Outbox::default);
        for (index, &key) in (0..).zip(&self.frontier.reached.keys).skip(self.sorted) {
            let outbox = &mut self.outboxes[partition_of(key.hash(), bits)];
            outbox.keys.push(key);
            outbox.indices.push(index);
        }
        self.sorted = self.frontier.reached.keys.len();
    }

    /// Queues the new ones of the states reached.
    pub fn absorb(&mut self, number: usize, lookups: &[Lookups<K>]) {
        let reached = self.frontier.reached.keys.len();
        if reached == 0 {
            return;
        }
        let Explorer { frontier, outboxes, marks, .. } = self;
        let mut merge = |answers: fn(&Answers) -> &Vec<u32>, merged: &mut Vec<u32>| {
            marks.clear();
            marks.resize(reached / 64 + 1, 0);
            for (lookups, outbox) in lookups.iter().zip(&*outboxes) {
                for &answer in answers(&lookups.answers[number]) {
                    let index = outbox.indices[answer as usize];
                    marks[index as usize / 64] |= 1 << (index % 64);
                }
            }
            for (word, &bits) in (0..).zip(&*marks) {
                let mut rest = bits;
                while rest != 0 {
                    merged.push(64 * word + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
        };
        if !lookups.is_empty() {
            merge(|answers| &answers.new, &mut frontier.new);
            if frontier.proviso {
                merge(|answers| &answers.later, &mut frontier.later);
            }
        }
        let new = self.frontier.new.len() as u64;
        self.worker.findings.stats.stored += new;
        self.worker.findings.stats.matched += reached as u64 - new;
        self.frontier.absorb(|_| ());
    }

    pub fn bytes(&self) -> u64 {
        let outboxes = self
            .outboxes
            .iter()
            .map(|outbox| outbox.keys.capacity() * size_of::<K>() + outbox.indices.capacity() * size_of::<u32>());
        self.frontier.bytes() + outboxes.sum::<usize>() as u64
    }

    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.worker.save(to)?;
        self.frontier.save(to)?;
        self.expansions.save(to)?;
        (self.grant as u64).save(to)
    }

    pub fn load(from: &mut Reader, scratch: Option<&'s Scratch>, proviso: bool) -> io::Result<Self> {
        let mut worker = Worker::new(Default::default());
        worker.restore(from)?;
        let frontier = Frontier::load(from, scratch, proviso)?;
        let expansions = Snapshot::load(from)?;
        let grant = (u64::load(from)? as usize).clamp(1, 1 << 32);
        Ok(Explorer { worker, expansions, ..Explorer::new(frontier, grant) })
    }
}

/// A store that a worker may read, but not change. It never has room for more keys than it was granted.
struct Lent<'a, S: ?Sized>(&'a S);

impl<S: Keys + ?Sized> Keys for Lent<'_, S> {
    type Key = S::Key;

    fn reserve(&mut self, _: usize, _: u64) -> Result<(), Full> {
        Err(Full)
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.0.key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.0.is_state(key)
    }

    #[inline]
    fn leading_states(&self, keys: &[S::Key]) -> usize {
        self.0.leading_states(keys)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.0.open(key, state, opened);
    }

    /// Only lookups need the memory of a state, and these follow later.
    #[inline]
    fn prefetch(&self, _: S::Key) {}

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}
