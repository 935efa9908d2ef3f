//! Threads that work in step.
//!
//! The phases of a search by several workers are short, some take only microseconds. Waking a thread takes longer than
//! that, so a thread that has finished its part of a phase looks for the next one for a while before it sleeps. There are at
//! most as many threads as processors. Where other programs occupy the processors, it may be faster to work alone for a while;
//! only time decides that, and it decides nothing else.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, Yield};

use crate::backoff::FastPathBackoff;

/// The calling thread, and its helpers.
pub(crate) struct Team {
    /// None on a single processor.
    helpers: Option<ThreadPool>,
    /// How many of the helpers look for work.
    awake: Arc<AtomicUsize>,
    /// Decides whether the helpers take part in the next phase.
    backoff: Cell<FastPathBackoff>,
}

/// How long a thread looks for work before it sleeps.
const PATIENCE: Duration = Duration::from_micros(50);
/// The clock is read after so many attempts.
const ATTEMPTS: u32 = 64;

impl Team {
    /// A team of `count` threads with stacks of `stack` bytes, or as many as there are processors.
    pub fn new(count: usize, stack: usize) -> Result<Team, ThreadPoolBuildError> {
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = match count.min(most) {
            0 | 1 => None,
            threads => Some(ThreadPoolBuilder::new().num_threads(threads - 1).stack_size(stack).build()?),
        };
        Ok(Team { helpers, awake: Arc::default(), backoff: Cell::default() })
    }

    /// Applies `work` to all items. Each thread takes the next one as soon as it can, so which thread works on which item
    /// depends on chance.
    pub fn each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let mut backoff = self.backoff.get();
        match self.helpers.as_ref().filter(|_| backoff.is_worth_a_try()) {
            Some(helpers) => {
                let was_faster = self.share(helpers, items, work);
                backoff.learn(usize::from(was_faster));
            }
            None => items.iter_mut().enumerate().for_each(|(number, item)| work(number, item)),
        }
        self.backoff.set(backoff);
        if backoff.rest == 0 {
            self.wake();
        }
    }

    /// Applies `work` to all items with the help of all threads; returns whether that was faster than alone.
    fn share<T: Send>(&self, helpers: &ThreadPool, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) -> bool {
        let all = items.len() as u32;
        let rest = Mutex::new(items.iter_mut().enumerate());
        let next = || rest.lock().expect("no thread panics while it holds the lock").next();
        let help = || std::iter::from_fn(next).map(|(number, item)| work(number, item)).count() as u32;
        let busy = AtomicUsize::new(helpers.current_num_threads());
        let began = Instant::now();
        let alone = helpers.in_place_scope(|scope| {
            for _ in 0..helpers.current_num_threads() {
                scope.spawn(|_| {
                    help();
                    busy.fetch_sub(1, Ordering::Release);
                });
            }
            let own = help();
            let alone = began.elapsed() * all / own.max(1);
            look_for(|| busy.load(Ordering::Acquire) == 0);
            alone
        });
        began.elapsed() <= alone
    }

    /// Lets the helpers look for work, unless they do.
    fn wake(&self) {
        if let Some(helpers) = &self.helpers
            && self.awake.load(Ordering::Relaxed) == 0
        {
            self.awake.store(helpers.current_num_threads(), Ordering::Relaxed);
            let awake = Arc::clone(&self.awake);
            helpers.spawn_broadcast(move |_| {
                while look_for(|| rayon::yield_now() == Some(Yield::Executed)) {}
                awake.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}

/// Waits until `found` returns true; returns whether it did before patience ran out.
fn look_for(found: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    loop {
        for _ in 0..ATTEMPTS {
            if found() {
                return true;
            }
            std::hint::spin_loop();
        }
        if began.elapsed() > PATIENCE {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All items are worked on exactly once, also by more threads than there are processors, and after a pause.
    #[test]
    fn every_item_is_worked_on_once() {
        for helpers in [0, 1, 5] {
            let pool = (helpers > 0).then(|| ThreadPoolBuilder::new().num_threads(helpers).build().unwrap());
            let team = Team { helpers: pool, awake: Arc::default(), backoff: Cell::default() };
            for phase in 0..500u64 {
                let mut items: Vec<u64> = (0..phase % 9).collect();
                team.each(&mut items, |number, item| {
                    if phase.is_multiple_of(50) {
                        std::thread::sleep(PATIENCE);
                    }
                    *item += 100 + number as u64;
                });
                let expected: Vec<u64> = (0..phase % 9).map(|item| 100 + 2 * item).collect();
                assert_eq!(items, expected, "phase {phase} with {helpers} helpers");
            }
        }
    }

    /// Where helpers make the work slower, the team works alone for a while.
    #[test]
    fn a_team_backs_off() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let team = Team { helpers: Some(pool), awake: Arc::default(), backoff: Cell::default() };
        let caller = std::thread::current().id();
        let alone = || {
            let mut threads = vec![caller; 8];
            team.each(&mut threads, |_, thread| {
                *thread = std::thread::current().id();
                // An item takes the helper much longer than all of them take the caller.
                let slow = *thread != caller;
                std::thread::sleep(Duration::from_millis(if slow { 40 } else { 1 }));
            });
            threads.iter().all(|thread| *thread == caller)
        };
        let alone: Vec<bool> = (0..12).map(|_| alone()).collect();
        assert!(alone.iter().filter(|alone| !**alone).count() < 6, "{alone:?}");
    }
}
