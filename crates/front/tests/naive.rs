//! Random ESML and BIR models have the semantics of independent, naive implementations of the languages.
//!
//! `ENTAIL_MODELS` and `ENTAIL_SEED` set the number of models and the first seed.

use entail_front::diagnostic::{Diagnostic, render};
use entail_front::source::Sources;
use entail_front::{Granularity, ModelSource, Options, bir, esml};
use entail_ir::Interpreter;
use entail_testkit::bir::naive::Ended;
use entail_testkit::rng::Rng;
use entail_testkit::{bir as random_bir, esml as random_esml, naive as search};
use std::ops::Range;

const CHECKS: search::Checks = search::Checks { assertions: true, end_states: true };
/// ESML models with more states are skipped.
const LIMIT: usize = 5000;

/// The seeds of the models.
fn seeds() -> Range<u64> {
    let number = |name: &str, otherwise: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text}")),
        Err(_) => otherwise,
    };
    let first = number("ENTAIL_SEED", 0);
    first..first + number("ENTAIL_MODELS", 6000)
}

/// The result of entail's front end and interpreter for a model.
fn explore(read: &ModelSource) -> (u64, u64, u64) {
    let found = search::explore(&Interpreter::new(&read.system), CHECKS);
    (found.stored, found.matched, found.errors)
}

/// `None` if the model is rejected.
fn explore_esml(model: &str, granularity: Granularity) -> Option<(u64, u64, u64)> {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = Options { granularity, ..Options::default() };
    let read = esml::load_text("random.esml", model, &options, &mut sources, &mut problems);
    assert_eq!(read.is_none(), problems.iter().any(Diagnostic::is_error), "{model}");
    read.map(|read| explore(&read))
}

#[test]
fn random_esml_models_mean_what_the_rules_say() {
    let models = seeds().end - seeds().start;
    let (mut compared, mut faulty, mut large, mut mixed) = (0, 0, 0, 0);
    for seed in seeds() {
        let model = random_esml::generate(&mut Rng::new(seed));
        let Some(expected) = random_esml::naive::explore(&model, LIMIT) else { continue };
        let text = random_esml::text(&model);
        let Some(found) = explore_esml(&text, Granularity::Exact) else { continue };
        assert_eq!(found, (expected.unique, expected.matched, expected.errors), "seed {seed}:\n{text}");
        compared += 1;
        faulty += u64::from(expected.errors > 0);
        large += u64::from(expected.unique > 50);
        mixed += u64::from(text.lines().any(|line| line.contains(" OR ") && line.contains(" & ")));
    }
    // If all generated models were rejected, or all were alike, this would test nothing.
    assert!(compared > models / 2, "only {compared} of {models} were compared");
    assert!(faulty > models / 20 && compared - faulty > models / 50, "{faulty} of {compared} are faulty");
    assert!(large > models / 100, "only {large} are large");
    assert!(mixed > models / 100, "only {mixed} mix `&` and `OR`");
}

#[test]
fn coarse_steps_find_errors_where_exact_ones_do() {
    let (mut saved, models) = (0, seeds().end - seeds().start);
    for seed in seeds() {
        let model = random_esml::generate(&mut Rng::new(seed));
        if random_esml::naive::explore(&model, LIMIT).is_none() {
            continue;
        }
        let text = random_esml::text(&model);
        let exact = explore_esml(&text, Granularity::Exact);
        let Some(((exact, _, exact_errors), (coarse, _, coarse_errors))) =
            exact.zip(explore_esml(&text, Granularity::Statement))
        else {
            continue;
        };
        assert_eq!(coarse_errors > 0, exact_errors > 0, "seed {seed}:\n{text}");
        assert!(coarse <= exact, "seed {seed}:\n{text}");
        saved += u64::from(coarse < exact);
    }
    assert!(saved > models / 4, "coarse steps saved states in {saved} models only");
}

#[test]
fn random_bir_models_mean_what_the_rules_say() {
    let models = seeds().end - seeds().start;
    let (mut compared, mut correct, mut woken, mut large, mut replaced) = (0, 0, 0, 0, 0);
    for seed in seeds() {
        let model = random_bir::generate(&mut Rng::new(seed));
        // If threads may be started, a notification takes hundreds of edges.
        let limit = if model.threads.len() > model.active { 300 } else { 3000 };
        let Some(expected) = random_bir::naive::explore(&model, Ended::IsReplaced, limit) else { continue };
        let text = random_bir::text(&model);
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let read = bir::load_text("random.bir", &text, &Options::default(), &mut sources, &mut problems);
        let Some(read) = read else { panic!("seed {seed}:\n{text}\n{}", render(&problems, &sources, false)) };
        assert_eq!(explore(&read), (expected.unique, expected.matched, expected.errors), "seed {seed}:\n{text}");
        // The reuse of slots is unobservable.
        match random_bir::naive::explore(&model, Ended::Stays, limit) {
            Some(fresh) => assert_eq!(fresh.errors > 0, expected.errors > 0, "seed {seed}:\n{text}"),
            None => replaced += 1,
        }
        compared += 1;
        correct += u64::from(expected.errors == 0);
        woken += u64::from(expected.woken > 0);
        large += u64::from(expected.unique > 50);
    }
    // If all generated models were alike, this would test nothing.
    assert!(compared > models / 2, "only {compared} of {models} were compared");
    assert!(woken > models / 50, "in only {woken} somebody is woken");
    assert!(correct > models / 200, "only {correct} are correct");
    assert!(large > models / 20, "only {large} are large");
    assert!(replaced > models / 100, "in only {replaced} threads are started again and again");
}
