//! The threads of a search by several workers, and the time that they take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::team::Team;
use crate::{Phase, Phases, Threads, Timing};

/// The threads of a search.
pub(crate) struct Pool {
    /// `None` if one thread does the work of all workers.
    team: Option<Team>,
    /// Why there is only one thread.
    pub refused: Option<String>,
    pub phases: Option<Box<Phases>>,
}

impl Pool {
    /// Starts the threads, if there are several. Without them, the search continues in one.
    pub fn start(threads: &Threads) -> Pool {
        let phases = threads.timing.map(|_| Box::default());
        let alone = Pool { team: None, refused: None, phases };
        if threads.count < 2 || threads.timing == Some(Timing::InTurn) {
            return alone;
        }
        match Team::new(threads.count, threads.stack) {
            Ok(team) => Pool { team: Some(team), ..alone },
            Err(error) => Pool { refused: Some(error.to_string()), ..alone },
        }
    }

    /// Whether one thread does all the work.
    pub fn is_alone(&self) -> bool {
        self.team.is_none()
    }

    /// Applies `work` to all items, in all threads if that is worthwhile. Returns when all of it is done.
    pub fn each<T: Send>(
        &mut self,
        phase: Phase,
        is_worth_it: bool,
        items: &mut [T],
        work: impl Fn(usize, &mut T) + Sync,
    ) {
        let Some(phases) = &mut self.phases else { return each(&self.team, is_worth_it, items, work) };
        if !is_worth_it {
            return phases.alone(Phase::FewStates, || each(&None, false, items, work));
        }
        let (began, total, longest) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(0));
        each(&self.team, true, items, |number, item| {
            let began = Instant::now();
            work(number, item);
            let nanoseconds = began.elapsed().as_nanos() as u64;
            total.fetch_add(nanoseconds, Ordering::Relaxed);
            longest.fetch_max(nanoseconds, Ordering::Relaxed);
        });
        let [total, longest] = [total, longest].map(|time| Duration::from_nanos(time.into_inner()));
        phases.add(phase, began.elapsed(), total, longest);
    }

    /// The work of one thread, while the others wait.
    pub fn alone<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        match &mut self.phases {
            Some(phases) => phases.alone(phase, work),
            None => work(),
        }
    }
}

fn each<T: Send>(team: &Option<Team>, is_worth_it: bool, items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    match team.as_ref().filter(|_| is_worth_it) {
        Some(team) => team.each(items, work),
        None => items.iter_mut().enumerate().for_each(|(number, item)| work(number, item)),
    }
}
