//! Swarm verification: repeats a lossy search with different hash functions and orders, so that each run omits other
//! states.
//!
//! After Holzmann, Joshi, Groce: Swarm verification techniques, IEEE TSE 2011.

use crate::config::{Config, Search};
use crate::coverage::Coverage;
use crate::plan::{Goal, Plan};
use crate::progress::Watch;
use crate::report::{Searched, coverage};
use entail_ir::Interpreter;
use entail_model::Guarantee;
use entail_search::{Algorithm, End, Errors, Limit, Outcome};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The combined result of a swarm.
#[derive(Clone, Debug, PartialEq)]
pub struct Swarm {
    /// The runs, in the order of their numbers.
    pub runs: Vec<Member>,
    /// The estimated coverage of all runs together, if there is an estimate.
    pub coverage: Option<f64>,
    /// The limit that a run reached, if one did.
    pub cut: Option<Limit>,
}

/// One of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The seed, with which the run can be repeated alone.
    pub seed: u64,
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// The number of stored states.
    pub stored: u64,
    /// Whether the search is complete.
    pub is_complete: bool,
    /// The estimated coverage, if the search is complete and there is an estimate.
    pub coverage: Option<f64>,
    /// The result.
    pub found: Found,
}

/// The result of a run of a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An error.
    Error,
    /// No error, but states may have been omitted.
    Nothing,
    /// No error in an exhaustive search.
    NothingExhaustive,
}

/// The interval at which the waiting thread checks for interruption.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `plan.config.runs` searches in [`Plan::concurrent_runs`] threads. The result depends only on the seed, not on the
/// speed of runs: if a run ends the swarm, later runs do not count.
pub fn run(plan: &Plan, interpreter: &Interpreter, goal: Goal, stop: &AtomicBool, watch: &mut Watch) -> Searched {
    let (began, count) = (Instant::now(), plan.config.runs.max(1) as usize);
    let (next, stops) = (AtomicUsize::new(0), (0..count).map(|_| AtomicBool::new(false)).collect::<Vec<_>>());
    let workers = plan.concurrent_runs().min(count);
    let watch = Mutex::new(Some(watch));
    let runs = Runs { plan, interpreter, goal, began, workers, watch, next: &next, stops: &stops, interrupt: stop };
    let mut refused = None;
    let mut finished: Vec<Option<Searched>> = stops.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for number in 0..workers {
            let (runs, own) = (&runs, tell.clone());
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, move || runs.work(false, &own)) {
                refused = Some(error.to_string());
                if number == 0 {
                    runs.work(true, &tell);
                }
                break;
            }
        }
        drop(tell);
        loop {
            if stop.load(Ordering::Relaxed) {
                runs.stop_from(0);
            }
            match told.recv_timeout(PAUSE) {
                Ok((number, done)) => finished[number] = Some(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    let last = finished.iter().position(|done| done.as_ref().is_some_and(|done| is_enough(done, plan)));
    finished.truncate(last.map_or(count, |last| last + 1));
    let done = merged(plan, finished.into_iter().flatten().collect(), began.elapsed());
    let swarm = done.swarm.map(|swarm| {
        // Runs that never started had no time left, or were no longer needed.
        let is_short = last.is_none() && swarm.runs.len() < count;
        let limit = if stop.load(Ordering::Relaxed) { Limit::Interrupted } else { Limit::Time };
        Swarm { cut: swarm.cut.or(is_short.then_some(limit)), ..swarm }
    });
    let outcome = Outcome { no_threads: refused, ..done.outcome };
    Searched { swarm, outcome, ..done }
}

/// Whether further runs are unnecessary.
fn is_enough(done: &Searched, plan: &Plan) -> bool {
    let all_seen = done.outcome.end == End::Complete && done.guarantee == Guarantee::Exact;
    all_seen || (done.outcome.errors > 0 && plan.checks.errors != Errors::All)
}

/// The queue of runs.
struct Runs<'a, 'w> {
    plan: &'a Plan,
    interpreter: &'a Interpreter<'a>,
    goal: Goal<'a>,
    began: Instant,
    workers: usize,
    /// For the first run.
    watch: Mutex<Option<&'a mut Watch<'w>>>,
    next: &'a AtomicUsize,
    /// For each run, whether it is no longer needed.
    stops: &'a [AtomicBool],
    /// Interrupts all runs.
    interrupt: &'a AtomicBool,
}

impl Runs<'_, '_> {
    /// Executes runs in order. A thread that works alone must notice interrupts itself.
    fn work(&self, is_alone: bool, tell: &Sender<(usize, Searched)>) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        loop {
            // The thread with the watch takes the first run.
            let number = if watch.is_some() { 0 } else { 1 + self.next.fetch_add(1, Ordering::Relaxed) };
            let Some(stop) = self.stops.get(number) else { return };
            let time = self.plan.config.time.map(|time| time.saturating_sub(self.began.elapsed()));
            // The first run always starts, so that there is at least one result; it checks the limits itself.
            let is_over = [stop, self.interrupt].into_iter().any(|stop| stop.load(Ordering::Relaxed));
            if number > 0 && (is_over || time == Some(Duration::ZERO)) {
                return;
            }
            let mut plan = member(self.plan, number, self.workers);
            plan.config.time = time;
            let mut unseen = Watch::silent(Coverage::new(self.interpreter.system()));
            let stop = if is_alone { self.interrupt } else { stop };
            let done = plan.run_unkept(self.interpreter, self.goal, stop, watch.take().unwrap_or(&mut unseen));
            if is_enough(&done, self.plan) {
                self.stop_from(number + 1);
            }
            // The receiver lives until all threads have ended.
            let _ = tell.send((number, done));
        }
    }

    fn stop_from(&self, first: usize) {
        self.stops[first.min(self.stops.len())..].iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
    }
}

/// The plan of one run, with this number of concurrent runs.
fn member(plan: &Plan, number: usize, workers: usize) -> Plan {
    let config = &plan.config;
    let mixes = config.search.is_none();
    let search = Some(if mixes && number % 2 == 1 { Search::DepthFirst } else { config.search() });
    let seed = if number == 0 { config.seed } else { seed(config.seed, number as u64) };
    let config = Config { search, seed, runs: 1, threads: Some(1), ..config.clone() };
    Plan { config, share: workers as u64, ..plan.clone() }
}

/// A pseudo-random seed, short enough to type; never 0, which keeps the model's order of steps.
fn seed(first: u64, number: u64) -> u64 {
    let mixed = (first ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 40).max(1)
}

/// Combines the results of all runs. If runs with independent hash functions cover shares c and d of the states, both
/// miss (1 - c) (1 - d), and so on.
fn merged(plan: &Plan, mut all: Vec<Searched>, search: Duration) -> Searched {
    let members: Vec<Member> = all.iter().map(|done| Member::of(done, plan)).collect();
    let missed: f64 = members.iter().map(|member| 1.0 - member.coverage.unwrap_or(0.0)).product();
    let is_estimated = members.iter().any(|member| member.coverage.is_some());
    let cut = all.iter().find_map(|done| match done.outcome.end {
        End::Limit(limit) => Some(limit),
        End::Complete | End::Error => None,
    });
    // The peak memory of concurrent runs.
    let mut bytes: Vec<u64> = all.iter().map(|done| done.outcome.bytes).collect();
    bytes.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    let bytes = bytes.iter().take(plan.concurrent_runs()).sum();
    let errors = all.iter().map(|done| done.outcome.errors).max().unwrap_or(0);
    let ignored_fault = all.iter().find_map(|done| done.outcome.ignored_fault);
    // The run that ended the others, or that found an error, or else the one with the best coverage.
    let telling = |done: &Searched| {
        let is_whole = done.outcome.end == End::Complete;
        (is_enough(done, plan), done.outcome.errors > 0, is_whole, done.outcome.stats.stored)
    };
    // Among equals, the first.
    let best = (0..all.len()).rev().max_by_key(|number| telling(&all[*number])).expect("the first one was done");
    let mut done = all.swap_remove(best);
    (done.outcome.bytes, done.outcome.errors, done.search) = (bytes, errors, search);
    done.outcome.ignored_fault = ignored_fault;
    let coverage = is_estimated.then_some(1.0 - missed);
    Searched { swarm: Some(Swarm { runs: members, coverage, cut }), ..done }
}

impl Member {
    fn of(done: &Searched, plan: &Plan) -> Member {
        let stored = done.outcome.stats.stored;
        let coverage = match done.outcome.end {
            End::Complete => coverage(&done.outcome.stats, &done.guarantee),
            End::Error | End::Limit(_) => None,
        };
        let found = match done.outcome.errors {
            0 if is_enough(done, plan) => Found::NothingExhaustive,
            0 => Found::Nothing,
            _ => Found::Error,
        };
        let is_complete = done.outcome.end == End::Complete;
        Member { seed: done.seed, algorithm: done.algorithm, stored, is_complete, coverage, found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Store;
    use entail_front::source::Sources;
    use entail_front::{ModelSource, promela};
    use entail_model::{Model, Named};
    use entail_search::Checks;

    /// About 30,000 states, with one error.
    const RARE: &str = "
        byte a, b, c;
        active proctype A() { end: do :: d_step { a < 30 -> a++; assert(a != 17 || b != 23 || c != 11) } od }
        active proctype B() { end: do :: d_step { b < 30 -> b++; assert(a != 17 || b != 23 || c != 11) } od }
        active proctype C() { end: do :: d_step { c < 30 -> c++; assert(a != 17 || b != 23 || c != 11) } od }";

    fn model(text: &str) -> ModelSource {
        let mut problems = Vec::new();
        let model = promela::load_text("model.pml", text, &mut Sources::default(), &mut problems);
        model.unwrap_or_else(|| panic!("{problems:?}"))
    }

    /// An array that is much too small.
    const ARRAY: u64 = 1 << 10;

    fn plan(runs: u32, threads: u32) -> Plan {
        with(&Plan::default(), |config| {
            (config.store, config.array) = (Store::Bitstate, Some(ARRAY));
            (config.runs, config.search, config.threads) = (runs, None, Some(threads));
        })
    }

    /// The plan with other options.
    fn with(plan: &Plan, change: impl FnOnce(&mut Config)) -> Plan {
        let mut plan = plan.clone();
        change(&mut plan.config);
        plan
    }

    fn searched(plan: &Plan, model: &ModelSource, stop: bool) -> Searched {
        let mut watch = Watch::silent(Coverage::new(&model.system));
        run(plan, &Interpreter::new(&model.system), Goal::Safety, &AtomicBool::new(stop), &mut watch)
    }

    fn runs(done: &Searched) -> &[Member] {
        &done.swarm.as_ref().expect("a swarm").runs
    }

    #[test]
    fn what_most_runs_miss_one_of_many_finds() {
        let rare = model(RARE);
        let single = searched(&plan(1, 1), &rare, false);
        assert_eq!((single.outcome.errors, single.outcome.end), (0, End::Complete));
        let done = searched(&plan(200, 2), &rare, false);
        let (last, others) = runs(&done).split_last().expect("there were some");
        assert!(others.len() > 2, "{} runs were enough", others.len() + 1);
        assert!(last.found == Found::Error && others.iter().all(|member| member.found == Found::Nothing));
        let found = done.outcome.counterexample.clone().expect("a run to the error");
        let (interpreter, mut state) = (Interpreter::new(&rare.system), found.start);
        let (faulty, before) = found.steps.split_last().expect("some steps");
        for step in before {
            assert_eq!(interpreter.fire(*step, &mut state), entail_model::Fired::Done);
        }
        assert!(interpreter.fire(*faulty, &mut state).fault().is_some());
        // The run finds the same when repeated alone with its seed.
        let (seed, search) = (last.seed, Some(search_of(last)));
        let alone = with(&plan(1, 1), |config| (config.seed, config.search) = (seed, search));
        assert_eq!(searched(&alone, &rare, false).outcome.errors, 1);
    }

    fn search_of(member: &Member) -> Search {
        let mut orders = Search::NAMES.iter().map(|(_, search)| *search);
        orders.find(|search| search.exploration() == member.algorithm).expect("a search of all states")
    }

    #[test]
    fn the_same_seed_gives_the_same_result_whatever_the_number_of_threads() {
        let rare = model(RARE);
        for (seed, errors) in [(0, Errors::First), (7, Errors::First), (7, Errors::All)] {
            let swarm = |threads| {
                let checks = Checks { errors, ..Checks::default() };
                let plan = Plan { checks, ..with(&plan(24, threads), |config| config.seed = seed) };
                let done = searched(&plan, &rare, false);
                (done.swarm.clone(), done.outcome.errors, done.outcome.counterexample, done.outcome.stats)
            };
            let one = swarm(1);
            assert_eq!(one, swarm(2));
            assert_eq!(one, swarm(5));
        }
        let seeds = |seed| {
            let plan = with(&plan(6, 1), |config| config.seed = seed);
            let done = searched(&plan, &model(&RARE.replace("23", "99")), false);
            runs(&done).iter().map(|member| (member.seed, member.stored)).collect::<Vec<_>>()
        };
        assert_eq!(seeds(3).len(), 6);
        assert_ne!(seeds(3), seeds(4));
    }

    #[test]
    fn what_all_miss_is_what_each_one_misses() {
        let plan = with(&plan(6, 3), |config| config.array = Some(1 << 14));
        let done = searched(&plan, &model(&RARE.replace("23", "99")), false);
        let swarm = done.swarm.as_ref().expect("a swarm");
        assert_eq!((done.outcome.errors, done.outcome.end, swarm.runs.len()), (0, End::Complete, 6));
        let missed: f64 = swarm.runs.iter().map(|member| 1.0 - member.coverage.expect("complete")).product();
        assert!((swarm.coverage.expect("complete") - (1.0 - missed)).abs() < 1e-12 && missed > 0.0);
        assert!(swarm.runs.iter().all(|member| member.coverage < swarm.coverage));
        assert!(swarm.runs.iter().all(|member| member.stored <= done.outcome.stats.stored));
    }

    #[test]
    fn nobody_goes_on_where_nothing_was_lost() {
        let exact = with(&plan(50, 2), |config| (config.store, config.hash_bits) = (Store::Compact, Some(64)));
        let done = searched(&exact, &model(&RARE.replace("23", "99")), false);
        assert_eq!((done.guarantee.clone(), done.outcome.end), (Guarantee::Exact, End::Complete));
        let swarm = done.swarm.as_ref().expect("a swarm");
        assert_eq!(
            (swarm.runs.len(), swarm.runs[0].found, swarm.coverage),
            (1, Found::NothingExhaustive, Some(1.0))
        );
    }

    #[test]
    fn a_swarm_that_is_not_wanted_says_so() {
        let hurried = with(&plan(50, 2), |config| config.time = Some(Duration::ZERO));
        let late = searched(&hurried, &model(RARE), false);
        assert_eq!((late.outcome.end, runs(&late).len()), (End::Limit(Limit::Time), 1));
        let large = RARE.replace("< 30", "< 250").replace("17", "251");
        let stopped = searched(&plan(50, 2), &model(&large), true);
        assert_eq!(stopped.outcome.end, End::Limit(Limit::Interrupted));
        assert!(runs(&stopped).iter().all(|member| member.coverage.is_none()));
    }
}
