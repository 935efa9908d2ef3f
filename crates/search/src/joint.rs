//! A store that several workers use at once, each at its own pace.
//!
//! Every worker holds a read lock while it searches. A worker that needs more room takes the write lock; until it has it,
//! the others release theirs between two steps.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use entail_model::{Components, Full, Growth, Keys, Opened, State, StateBuf};

/// A store, and what its workers tell each other.
pub(crate) struct Joint<S> {
    store: RwLock<S>,
    /// The number of workers that wait for the write lock.
    waiting: AtomicUsize,
    /// Whether the workers must stop.
    is_over: AtomicBool,
    workers: Vec<Account>,
}

/// What one worker uses. In a cache line of its own, as it changes often.
#[derive(Default)]
#[repr(align(128))]
struct Account {
    /// How many keys the store has room for on its behalf.
    granted: AtomicUsize,
    /// The bytes of its own data, now and at most.
    auxiliary: AtomicU64,
    peak: AtomicU64,
    /// Its counts, as of late.
    stored: AtomicU64,
    transitions: AtomicU64,
}

/// A worker reserves one key for so many stored states at a time, up to a limit, for all portions that it will need.
const SHARE: usize = 16;
const GRANT: usize = 1 << 15;

impl<S: Components> Joint<S> {
    pub fn new(store: S, workers: usize) -> Self {
        Joint {
            store: RwLock::new(store),
            waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            workers: (0..workers).map(|_| Account::default()).collect(),
        }
    }

    pub fn access(&self, worker: usize, memory: Option<u64>) -> Access<'_, S> {
        Access { joint: self, worker, memory: memory.unwrap_or(u64::MAX), credit: 0, guard: Some(self.read()) }
    }

    /// Makes all workers stop. Returns whether this is the first reason to stop.
    pub fn end(&self) -> bool {
        !self.is_over.swap(true, Relaxed)
    }

    /// The numbers of stored states and transitions of all workers, as of late.
    pub fn counts(&self) -> [u64; 2] {
        let sum = |count: fn(&Account) -> &AtomicU64| self.workers.iter().map(|one| count(one).load(Relaxed)).sum();
        [sum(|one| &one.stored), sum(|one| &one.transitions)]
    }

    /// The bytes that the workers used for themselves, at most.
    pub fn auxiliary(&self) -> u64 {
        self.workers.iter().map(|one| one.peak.load(Relaxed)).sum()
    }

    fn read(&self) -> RwLockReadGuard<'_, S> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The store as one worker sees it.
pub(crate) struct Access<'j, S> {
    joint: &'j Joint<S>,
    worker: usize,
    /// The memory limit of the search.
    memory: u64,
    /// How many of the granted keys are left.
    credit: usize,
    /// Always there, except inside `exclusively`.
    guard: Option<RwLockReadGuard<'j, S>>,
}

impl<S: Components> Access<'_, S> {
    #[inline]
    pub fn store(&self) -> &S {
        self.guard.as_deref().expect("a worker holds its lock while it searches")
    }

    /// Between two steps: lets another worker change the store, if it waits for that. Returns whether the search goes on.
    #[inline]
    pub fn goes_on(&mut self) -> bool {
        if self.joint.waiting.load(Relaxed) > 0 {
            self.release_lock();
        }
        !self.joint.is_over.load(Relaxed)
    }

    #[cold]
    fn release_lock(&mut self) {
        self.guard = None;
        self.guard = Some(self.joint.read());
    }

    /// Tells the others the counts of this worker.
    pub fn publish(&self, stored: u64, transitions: u64) {
        let account = &self.joint.workers[self.worker];
        account.stored.store(stored, Relaxed);
        account.transitions.store(transitions, Relaxed);
    }

    /// Changes the store while no other worker uses it.
    fn exclusively<T>(&mut self, change: impl FnOnce(&mut S) -> T) -> T {
        self.guard = None;
        self.joint.waiting.fetch_add(1, Relaxed);
        let mut store = self.joint.store.write().unwrap_or_else(PoisonError::into_inner);
        self.joint.waiting.fetch_sub(1, Relaxed);
        let result = change(&mut store);
        drop(store);
        self.guard = Some(self.joint.read());
        result
    }

    /// Makes room for `count` keys of this worker, beside what the others were granted and use for themselves.
    fn grant(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let joint = self.joint;
        let own = &joint.workers[self.worker];
        let auxiliary = self.memory - limit;
        own.auxiliary.store(auxiliary, Relaxed);
        own.peak.fetch_max(auxiliary, Relaxed);
        self.exclusively(|store| {
            let all: u64 = joint.workers.iter().map(|one| one.auxiliary.load(Relaxed)).sum();
            let others = all - auxiliary;
            let granted = own.granted.swap(count, Relaxed);
            let all = joint.workers.iter().map(|one| one.granted.load(Relaxed)).sum();
            let made = store.reserve(all, limit.saturating_sub(others));
            if made.is_err() {
                own.granted.store(granted, Relaxed);
            }
            made
        })?;
        self.credit = count;
        Ok(())
    }
}

impl<S: Components> Keys for Access<'_, S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.credit < count {
            let many = GRANT.min(self.len() as usize / SHARE);
            self.grant(count.max(many), limit).or_else(|Full| self.grant(count, limit))?;
        }
        self.credit -= count;
        Ok(())
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.store().key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.store().is_state(key)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.store().open(key, state, opened);
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        self.store().prefetch(key);
    }

    fn len(&self) -> u64 {
        self.store().len()
    }

    fn bytes(&self) -> u64 {
        self.store().bytes()
    }

    fn growth(&self) -> Option<Growth> {
        self.store().growth()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use entail_model::{AcceptanceMarks, LosslessStore};
    use entail_store::ExactWordSet;

    use super::*;

    fn joint(workers: usize) -> Joint<impl Components> {
        Joint::new(ExactWordSet::new(40).components(AcceptanceMarks(0), workers), workers)
    }

    /// One worker waits until the other one releases its lock; both end when the search is over.
    #[test]
    fn workers_release_their_locks_and_stop() {
        let joint = joint(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut other = joint.access(1, None);
                while other.goes_on() {
                    thread::yield_now();
                }
            });
            let mut own = joint.access(0, None);
            for count in [1, 1_000, 100_000] {
                own.reserve(count, u64::MAX).unwrap();
                assert!(own.goes_on());
            }
            assert!(joint.end() && !joint.end());
            assert!(!own.goes_on());
            drop(own);
            other.join().unwrap();
        });
    }

    #[test]
    fn workers_share_the_memory() {
        let joint = joint(2);
        let reserve =
            |worker, auxiliary: u64| joint.access(worker, Some(1 << 20)).reserve(1_000, (1 << 20) - auxiliary);
        assert_eq!(reserve(0, 950_000), Err(Full));
        reserve(0, 600_000).unwrap();
        assert_eq!(reserve(1, 400_000), Err(Full));
        reserve(1, 10_000).unwrap();
        assert!(joint.auxiliary() >= 610_000);
    }
}
