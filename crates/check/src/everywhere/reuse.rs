//! BIR models that reuse the process numbers of ended threads, compared with an independent interpreter without
//! reduction.

use super::{plans, replay, run};
use crate::plan::{Goal, Plan};
use entail_front::source::Sources;
use entail_front::{Options, bir};
use entail_ir::Passes;
use entail_search::{Checks, End, Errors};
use entail_testkit::bir as random;
use entail_testkit::bir::naive::{Ended, explore};
use entail_testkit::rng::Rng;
use std::ops::Range;

/// Larger models are skipped.
const MOST_STATES: usize = 400;

/// The number of models of each kind.
#[derive(Debug, Default)]
struct Tally {
    /// Models in which a thread reuses a number.
    models: usize,
    /// Models with a deadlock, with a failed assertion or fault, and with a violated invariant.
    deadlocks: usize,
    faulty: usize,
    broken: usize,
    /// Models without any of these.
    correct: usize,
    /// The number of searches in which reduction removed states.
    reduced: usize,
}

/// All search orders and reductions, for the original and the optimised model.
fn few_plans(checks: Checks) -> Vec<(String, Plan)> {
    let mut all = plans(checks);
    all.retain(|(_, plan)| [Passes::NONE, Passes::ALL].contains(&plan.config.passes()));
    all
}

fn same_with_reuse(seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    let ends = Checks { faults: false, assertions: false, end_states: true, errors: Errors::First };
    let faults = Checks { faults: true, assertions: true, end_states: false, errors: Errors::First };
    for seed in seeds {
        let model = random::generate_with_reuse(&mut Rng::new(seed));
        let Some(expected) = explore(&model, Ended::IsReplaced, MOST_STATES) else { continue };
        if expected.replaced == 0 {
            continue;
        }
        let text = random::text(&model);
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let read = bir::load_text("random.bir", &text, &Options::default(), &mut sources, &mut problems);
        let read = read.unwrap_or_else(|| panic!("seed {seed}: {problems:?}\n{text}"));
        let is_faulty = expected.errors > expected.deadlocks || expected.broken > 0;
        for (checks, is_violated) in [(ends, expected.deadlocks > 0), (faults, is_faulty)] {
            let mut all = None;
            for (name, plan) in few_plans(checks) {
                let done = run(&plan, &read.system, Goal::Safety);
                assert_eq!(done.outcome.errors > 0, is_violated, "seed {seed}, {checks:?}, {name}:\n{text}");
                replay(&read.system, &done, None);
                if !is_violated {
                    assert_eq!(done.outcome.end, End::Complete, "seed {seed}, {name}");
                    let stored = done.outcome.stats.stored;
                    tally.reduced += usize::from(stored < *all.get_or_insert(stored) && done.reduction.is_ok());
                }
            }
        }
        tally.models += 1;
        tally.deadlocks += usize::from(expected.deadlocks > 0);
        tally.faulty += usize::from(expected.errors > expected.deadlocks);
        tally.broken += usize::from(expected.broken > 0);
        tally.correct += usize::from(expected.errors == 0 && expected.broken == 0);
    }
    tally
}

#[test]
fn verdicts_are_the_same_where_threads_get_the_places_of_others() {
    let tally = same_with_reuse(0..600);
    println!("{tally:?}");
    let Tally { models, deadlocks, faulty, broken, correct, reduced } = tally;
    let enough = models > 100 && deadlocks > 20 && faulty > 20 && broken > 20 && correct > 20;
    assert!(enough && reduced > 200, "{tally:?}");
}

/// `ENTAIL_SEEDS=0..20000 cargo test --release -p entail-check --lib reuse -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn verdicts_are_the_same_for_many_models_with_reuse() {
    let seeds = std::env::var("ENTAIL_SEEDS").unwrap_or_else(|_| "0..20000".into());
    let (from, to) = seeds.split_once("..").expect("two numbers: 0..20000");
    println!("{:?}", same_with_reuse(from.parse().unwrap()..to.parse().unwrap()));
}
