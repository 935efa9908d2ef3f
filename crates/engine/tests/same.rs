//! Machine code has the same effect as the interpreter.

mod common;

use common::{Compared, Pair, public_models, random, read, root, same, ways};
use entail_engine::Tuning;
use entail_front::{Granularity, Language, Options, load};
use entail_ir::verify::verify;
use entail_testkit::rng::Rng;
use entail_testkit::{bir, esml, files, promela};

/// The number of states for each model.
const STATES: usize = 3000;
/// The number of states for each random model.
const FEW_STATES: usize = 150;
const RANDOM_MODELS: u64 = 3000;
const RANDOM_SYSTEMS: u64 = 5000;

#[test]
fn models_of_the_project() {
    let mut models = Vec::new();
    for folder in ["examples", "tests/models", "tests/thesis"] {
        models.extend(files::models_in(&root().join(folder)));
    }
    let mut compared = 0;
    for path in models {
        for granularity in [Granularity::Exact, Granularity::Statement] {
            let options = Options { granularity, ..Options::default() };
            if let Some(model) = load(&path, &options).model {
                for tuning in ways() {
                    compared += same(&path.display().to_string(), &model.system, STATES, tuning).states;
                }
            }
        }
    }
    assert!(compared > 20_000, "only {compared} states were compared");
}

#[test]
fn public_benchmarks() {
    for path in public_models() {
        let model = load(&path, &Options::default()).model.expect("public models can be read");
        for tuning in ways() {
            same(&path.display().to_string(), &model.system, STATES, tuning);
        }
    }
}

#[test]
fn long_walks_through_public_benchmarks() {
    for (seed, path) in public_models().into_iter().enumerate() {
        let model = load(&path, &Options::default()).model.expect("public models can be read");
        if let Some(mut pair) = Pair::new(&model.system, Tuning::default()) {
            pair.walk(&path.display().to_string(), 3000, &mut Rng::new(seed as u64));
        }
    }
}

#[test]
fn random_promela() {
    compare_random(|seed| (Language::Promela, promela::generate(seed).to_string(), Granularity::Exact));
}

#[test]
fn random_esml() {
    compare_random(|seed| {
        let granularity = if seed % 2 == 0 { Granularity::Exact } else { Granularity::Statement };
        (Language::Esml, esml::text(&esml::generate(&mut Rng::new(seed))), granularity)
    });
}

#[test]
fn random_bir() {
    compare_random(|seed| (Language::Bir, bir::text(&bir::generate(&mut Rng::new(seed))), Granularity::Exact));
}

/// With all features of systems, also those that no language uses.
#[test]
fn random_systems() {
    let (mut all, mut valid) = (Compared::default(), 0);
    for seed in 0..RANDOM_SYSTEMS {
        let system = random::system(seed);
        if verify(&system).is_ok() {
            valid += 1;
            all += same(&format!("seed {seed}"), &system, 60, ways()[seed as usize % 2]);
        }
    }
    assert!(valid > RANDOM_SYSTEMS / 2, "only {valid} systems make sense");
    assert!(all.steps > 30 * valid as usize && all.transient > valid as usize, "{valid}: {all:?}");
    assert!(all.words > all.steps / 25 && all.pairs > all.words / 10, "{all:?}");
}

/// The memory for entries grows while generated code and the interpreter write them.
#[test]
fn more_steps_than_there_is_room_for() {
    let meeting = "chan c = [0] of { byte }; byte a[2000];
        active proctype sender() { c!1 } active [40] proctype receiver() { byte x; c?x }";
    let starting = "byte a[2000]; proctype child() { skip } active [40] proctype parent() { run child() }";
    for model in [meeting, starting] {
        let read = read(Language::Promela, model, Granularity::Exact).expect("a model");
        for tuning in ways() {
            let compared = same(model, &read.system, 3, tuning);
            assert!(compared.steps >= 40, "{compared:?}");
        }
    }
}

/// Numbers at the limits of their ranges, where C's rules are unusual.
#[test]
fn extreme_numbers() {
    let model = "int x = -2147483648; int y = -1; byte b; short s; unsigned u : 5;
        active proctype p() {
            do
            :: b = x / y; s = x % y :: u = x >> 33 :: y = y * x :: x = x - 1 :: y = -y :: y = 0
            :: s = x << y :: b = s :: u = b; assert(u != 17) :: x = s / b
            od }";
    let read = read(Language::Promela, model, Granularity::Exact).expect("a model");
    assert!(same(model, &read.system, STATES, Tuning::default()).faults > 100);
}

fn compare_random(model: impl Fn(u64) -> (Language, String, Granularity)) {
    let mut all = Compared::default();
    let mut models = 0;
    for seed in 0..RANDOM_MODELS {
        let (language, text, granularity) = model(seed);
        let Some(read) = read(language, &text, granularity) else { continue };
        models += 1;
        all += same(&format!("seed {seed}\n{text}"), &read.system, FEW_STATES, ways()[seed as usize % 2]);
    }
    // A generator of similar models would test nothing.
    assert!(models > RANDOM_MODELS / 2, "only {models} of {RANDOM_MODELS} models make sense");
    assert!(
        all.steps > 10 * models as usize
            && all.faults > 50
            && all.words > all.steps / 10
            && all.pairs > all.words / 10
            && all.plain > all.states / 50
            && all.only_words > all.states / 1000,
        "{all:?}"
    );
}
