//! Small models: formulas, limits, and invalid implementations.

use entail_rust::{Check, Error, Fairness, Model, Order, Predicate, Property, Report, Store, Verdict};
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::ThreadId;
use std::time::Duration;

/// Counts up to `most`, where it stops or restarts.
struct Counter {
    most: u32,
    begins_again: bool,
    property: fn() -> Property<Counter>,
}

impl Model for Counter {
    type State = u32;
    type Action = ();

    fn initial_states(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, _: &u32) -> Vec<()> {
        vec![()]
    }

    fn next(&self, count: &u32, (): &()) -> Option<u32> {
        if *count < self.most { Some(count + 1) } else { self.begins_again.then_some(0) }
    }

    fn properties(&self) -> Vec<Property<Counter>> {
        vec![(self.property)()]
    }

    fn propositions(&self) -> Vec<(&'static str, Predicate<Counter>)> {
        vec![("zero", |_, count| *count == 0), ("last", |counter, count| *count == counter.most)]
    }
}

fn check(begins_again: bool, property: fn() -> Property<Counter>) -> Report<Counter> {
    Check::default().run(&Counter { most: 5, begins_again, property }).unwrap()
}

fn verdict<M: Model>(report: &Report<M>) -> &Verdict<M> {
    &report.properties[0].verdict
}

#[test]
fn invariants_are_checked_in_every_state() {
    assert!(check(true, || Property::always("small", |_, count| *count <= 5)).holds());
    let report = check(true, || Property::always("smaller", |_, count| *count < 3));
    let Verdict::Violated(run) = verdict(&report) else { panic!("{report}") };
    assert_eq!((run.steps.len(), run.steps.last()), (3, Some(&((), 3))));
    let report = check(true, || Property::always("positive", |_, count| *count > 0));
    let Verdict::Violated(run) = verdict(&report) else { panic!("{report}") };
    assert_eq!((run.steps.len(), run.start), (0, 0));
}

#[test]
fn a_run_that_stops_is_a_deadlock() {
    assert!(check(true, Property::no_deadlock).holds());
    let report = check(false, Property::no_deadlock);
    let Verdict::Violated(run) = verdict(&report) else { panic!("{report}") };
    assert_eq!(run.steps.len(), 5);
}

#[test]
fn formulas_are_about_all_infinite_runs() {
    assert!(check(true, || Property::ltl("again", "[] <> zero")).holds());
    assert!(check(false, || Property::ltl("stays", "<> [] last")).holds());
    assert!(check(true, || Property::eventually("last", |_, count| *count == 5)).holds());
    let report = check(true, || Property::ltl("stays", "<> [] last"));
    let Verdict::Violated(run) = verdict(&report) else { panic!("{report}") };
    let cycle = run.cycle_start.expect("an infinite run");
    assert!(run.steps.len() > cycle && run.steps[cycle..].iter().any(|(_, count)| *count != 5), "{run}");
    let report = check(false, || Property::ltl("again", "[] <> zero"));
    let Verdict::Violated(run) = verdict(&report) else { panic!("{report}") };
    assert_eq!(run.cycle_start, Some(run.steps.len()), "{run}");
    assert!(run.to_string().ends_with("the run stays here\n"), "{run}");
}

#[test]
fn cycles_with_several_acceptance_sets_are_found_by_every_search() {
    for order in [Order::BreadthFirst, Order::DepthFirst, Order::Nested] {
        let check = Check { order, ..Check::default() };
        let ask = |formula: fn() -> Property<Counter>| {
            check.run(&Counter { most: 5, begins_again: true, property: formula }).unwrap().holds()
        };
        assert!(!ask(|| Property::ltl("not both", "!(([] <> zero) && ([] <> last))")), "{order:?}");
        assert!(ask(|| Property::ltl("both", "([] <> zero) && ([] <> last)")), "{order:?}");
    }
}

/// Two independent processes.
struct Two;

impl Model for Two {
    type State = [bool; 2];
    type Action = usize;

    fn initial_states(&self) -> Vec<[bool; 2]> {
        vec![[false; 2]]
    }

    fn actions(&self, _: &[bool; 2]) -> Vec<usize> {
        vec![0, 1]
    }

    fn next(&self, state: &[bool; 2], process: &usize) -> Option<[bool; 2]> {
        let mut next = *state;
        next[*process] = !next[*process];
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Two>> {
        vec![Property::eventually("the second moves", |_, state: &[bool; 2]| state[1])]
    }

    fn process(&self, process: &usize) -> usize {
        *process
    }

    fn processes(&self, _: &[bool; 2]) -> usize {
        2
    }
}

#[test]
fn fairness_is_about_processes() {
    for (fairness, holds) in [(Fairness::None, false), (Fairness::Weak, true), (Fairness::Strong, true)] {
        assert_eq!(Check { fairness, ..Check::default() }.run(&Two).unwrap().holds(), holds, "{fairness:?}");
    }
}

#[test]
fn limits_make_a_verdict_inconclusive() {
    let large = Counter { most: u32::MAX, begins_again: true, property: Property::no_deadlock };
    let stop = AtomicBool::new(true);
    let limited = [
        (Check { depth: Some(100), ..Check::default() }, "depth limit"),
        (Check { time: Some(Duration::from_millis(10)), ..Check::default() }, "time limit"),
        (Check { memory: Some(1 << 20), ..Check::default() }, "memory limit"),
        (Check { stop: Some(&stop), ..Check::default() }, "stopped"),
    ];
    for (check, words) in limited {
        let report = check.run(&large).unwrap();
        let Verdict::Inconclusive(reason) = verdict(&report) else { panic!("{report}") };
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn formulas_that_make_no_sense_are_refused() {
    let refused = |property| {
        let model = Counter { most: 5, begins_again: true, property };
        Check::default().run(&model).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let unknown = refused(|| Property::ltl("f", "[] first"));
    assert_eq!(unknown, "property `f`: the model has no proposition `first`; it has: zero, last");
    assert!(refused(|| Property::ltl("f", "[] (zero")).starts_with("property `f`: "));
    assert!(refused(|| Property::ltl("f", "")).contains("empty"));
}

#[test]
fn options_that_contradict_each_other_are_named() {
    let message = |check: Check| check.run(&Two).err().map(|error| error.to_string()).unwrap_or_default();
    let cache = message(Check { store: Store::Cache, ..Check::default() });
    assert!(cache.contains("`Store::Cache` and `Order::BreadthFirst`"), "{cache}");
    let fair = message(Check { order: Order::Nested, fairness: Fairness::Weak, ..Check::default() });
    assert!(fair.contains("`Order::Nested` and fairness"), "{fair}");
    let bits = message(Check { hash_bits: Some(20), ..Check::default() });
    assert!(bits.contains("`hash_bits`"), "{bits}");
    let size = message(Check { store: Store::Compact, array: Some(1 << 16), ..Check::default() });
    assert!(size.contains("`Store::Compact`") && size.contains("`array`"), "{size}");
    let none = message(Check { threads: Some(0), ..Check::default() });
    assert_eq!(none, "`threads` is 1 to 1024");
    let deep = message(Check { threads: Some(2), order: Order::DepthFirst, ..Check::default() });
    assert!(deep.contains("`Order::DepthFirst` uses one thread"), "{deep}");
}

/// Five counters, and the threads that count.
struct Wide {
    threads: Mutex<HashSet<ThreadId>>,
}

impl Model for Wide {
    type State = [u8; 5];
    type Action = usize;

    fn initial_states(&self) -> Vec<[u8; 5]> {
        vec![[0; 5]]
    }

    fn actions(&self, counts: &[u8; 5]) -> Vec<usize> {
        (0..5).filter(|at| counts[*at] < 10).collect()
    }

    fn next(&self, counts: &[u8; 5], at: &usize) -> Option<[u8; 5]> {
        self.threads.lock().unwrap().insert(std::thread::current().id());
        let mut next = *counts;
        next[*at] += 1;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Wide>> {
        vec![
            Property::always("counts", |_, counts: &[u8; 5]| counts.iter().all(|count| *count <= 10)),
            Property::always("small", |_, counts: &[u8; 5]| {
                counts.iter().map(|count| u32::from(*count)).sum::<u32>() < 40
            }),
        ]
    }
}

#[test]
fn several_threads_find_the_same() {
    let check = |threads| {
        let model = Wide { threads: Mutex::default() };
        let report = Check { threads: Some(threads), ..Check::default() }.run(&model).unwrap();
        let [counts, small] = &report.properties[..] else { panic!("{report}") };
        let (Verdict::Holds, Verdict::Violated(run)) = (&counts.verdict, &small.verdict) else {
            panic!("{report}")
        };
        let threads = model.threads.lock().unwrap().len();
        ((counts.states, counts.transitions, run.steps.len()), threads)
    };
    assert_eq!(check(1), ((11u64.pow(5), 5 * 10 * 11u64.pow(4) + 1, 40), 1));
    let (found, threads) = check(3);
    assert_eq!(found, check(1).0);
    assert!(threads > 1, "{threads}");
}

/// A state that is invalid in some way once it is greater than 2.
#[derive(Clone, Debug)]
enum Odd {
    Plain(u32),
    /// Not equal to anything.
    Unequal,
    /// Without a fixed order.
    Unordered(HashSet<u32>),
}

impl PartialEq for Odd {
    fn eq(&self, other: &Odd) -> bool {
        match (self, other) {
            (Odd::Plain(one), Odd::Plain(other)) => one == other,
            (Odd::Unordered(one), Odd::Unordered(other)) => one == other,
            _ => false,
        }
    }
}

impl Serialize for Odd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Odd::Plain(count) => (*count, Vec::<u32>::new()).serialize(to),
            Odd::Unequal => (u32::MAX, Vec::<u32>::new()).serialize(to),
            Odd::Unordered(set) => (u32::MAX - 1, set.iter().copied().collect::<Vec<u32>>()).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Odd, D::Error> {
        let (count, set) = <(u32, Vec<u32>)>::deserialize(from)?;
        Ok(match count {
            u32::MAX => Odd::Unequal,
            count if count == u32::MAX - 1 => Odd::Unordered(set.into_iter().collect()),
            count => Odd::Plain(count),
        })
    }
}

struct Misbehaving {
    third: fn() -> Odd,
}

impl Model for Misbehaving {
    type State = Odd;
    type Action = ();

    fn initial_states(&self) -> Vec<Odd> {
        vec![Odd::Plain(0)]
    }

    fn actions(&self, _: &Odd) -> Vec<()> {
        vec![()]
    }

    fn next(&self, state: &Odd, (): &()) -> Option<Odd> {
        match state {
            Odd::Plain(count) if *count < 2 => Some(Odd::Plain(count + 1)),
            Odd::Plain(_) => Some((self.third)()),
            Odd::Unequal | Odd::Unordered(_) => None,
        }
    }

    fn properties(&self) -> Vec<Property<Misbehaving>> {
        vec![Property::always("anything", |_, _| true)]
    }
}

#[test]
fn a_model_that_misbehaves_is_no_verdict() {
    let error = |third| Check::default().run(&Misbehaving { third }).err();
    let panicked = error(|| panic!("out of numbers"));
    let expected = Error::Panic { message: "out of numbers".into(), state: Some("Plain(2)".into()) };
    assert_eq!(panicked, Some(expected));
    assert!(matches!(error(|| Odd::Unequal), Some(Error::Encoding { .. })));
    let unordered = error(|| Odd::Unordered((0..1000).collect()));
    let Some(Error::Encoding { reason, .. }) = unordered else { panic!("{unordered:?}") };
    assert_eq!(reason, "equal states have different bytes");
    assert_eq!(error(|| Odd::Plain(0)), None);
}

/// Returns different results for the same state.
struct Fickle(AtomicBool);

impl Model for Fickle {
    type State = u8;
    type Action = u8;

    fn initial_states(&self) -> Vec<u8> {
        vec![0]
    }

    fn actions(&self, _: &u8) -> Vec<u8> {
        if self.0.swap(true, std::sync::atomic::Ordering::Relaxed) { Vec::new() } else { vec![1] }
    }

    fn next(&self, _: &u8, action: &u8) -> Option<u8> {
        Some(*action)
    }

    fn properties(&self) -> Vec<Property<Fickle>> {
        vec![Property::always("zero", |_, state| *state == 0)]
    }
}

#[test]
fn a_model_that_changes_its_mind_is_no_verdict() {
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        let report = Check { order, ..Check::default() }.run(&Fickle(AtomicBool::new(false))).unwrap();
        let Verdict::Inconclusive(reason) = verdict(&report) else { panic!("{report}") };
        assert!(reason.ends_with("the model does not always answer the same"), "{reason}");
    }
}
