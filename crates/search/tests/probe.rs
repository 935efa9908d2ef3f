//! A breadth-first search with probes finds deep errors soon, and is otherwise unchanged.

mod common;

use common::counter::{AtLast, Counter, FAULT};
use common::prove;
use entail_model::{Fired, Marks, Model, Reduced, Reduction, State, StateBuf};
use entail_search::{Checks, End, Errors, Limits, Outcome, breadth_first};
use entail_store::{ExactWordSet, VisitedSet};

/// A reduction that postpones switches.
struct CountFirst;

impl Reduction<Counter> for CountFirst {
    type Scratch = Vec<bool>;

    fn needs_proviso(&self) -> bool {
        true
    }

    fn select<'d>(
        &self,
        _: &Counter,
        _: &State,
        steps: &[u32],
        answer: u32,
        scratch: &'d mut Vec<bool>,
    ) -> Option<&'d [bool]> {
        scratch.clear();
        scratch.extend(steps.iter().map(|step| *step == 0));
        (answer == 0).then_some(&scratch[..])
    }
}

fn search<M: Model>(model: &M, errors: Errors) -> Outcome<M::Step> {
    let checks = Checks { errors, ..Checks::default() };
    let mut store = VisitedSet::new(ExactWordSet::new(63), None);
    breadth_first(model, &mut store, &checks, &Limits::default(), &mut ())
}

#[test]
fn a_deep_error_is_met_by_a_probe() {
    for at_last in [AtLast::Fails, AtLast::Stops] {
        for reversed in [false, true] {
            let model = Counter { last: 200, switches: 18, reversed, at_last };
            let outcome = search(&model, Errors::Soonest);
            assert!(outcome.is_probed && outcome.end == End::Error);
            // At the first probe, or at the second one, which takes steps in the opposite order.
            let most = if reversed { 270_000 } else { 70_000 };
            assert!(outcome.stats.stored < most, "{}", outcome.stats.stored);
            assert_eq!(outcome.errors, if at_last == AtLast::Fails { 3 } else { 1 });
            let found = outcome.counterexample.unwrap();
            // No probe visits other states than those of the run.
            assert_eq!(prove(&model, &found), 200);
        }
    }
}

#[test]
fn a_run_of_a_probe_is_shortened() {
    // Deep paths also turn switches.
    let model = Counter { last: 40, switches: 17, reversed: false, at_last: AtLast::Begins };
    let fails_somewhere = Switched(&model);
    let outcome = search(&fails_somewhere, Errors::Soonest);
    let found = outcome.counterexample.expect("an error");
    assert!(outcome.is_probed);
    prove(&fails_somewhere, &found);
    assert!(found.steps.len() < 60, "{} steps", found.steps.len());
}

/// Counting fails at the end while the first two switches are on and the others are off or on.
struct Switched<'a>(&'a Counter);

impl Model for Switched<'_> {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.0.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        self.0.enabled(state, steps);
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        let (count, switches) = Counter::parts(state);
        let fails = count == self.0.last && switches & 3 == 3;
        match self.0.fire(step, state) {
            Fired::Done if fails => Fired::Failed(FAULT),
            fired => fired,
        }
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

#[test]
fn a_search_that_finds_nothing_is_the_same_with_probes() {
    for reversed in [false, true] {
        let model = Counter { last: 20, switches: 14, reversed, at_last: AtLast::Begins };
        let plain = search(&model, Errors::First);
        assert_eq!(plain.stats.stored, 21 << 14);
        assert_eq!(search(&model, Errors::Soonest), plain);
        let reduced = Reduced { model: &model, reduction: Some(&CountFirst) };
        assert_eq!(search(&reduced, Errors::Soonest), search(&reduced, Errors::First));
    }
}
