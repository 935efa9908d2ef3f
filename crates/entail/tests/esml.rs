//! Random ESML models mean what the rules of the language say, and coarse steps find the same errors.

use entail_front::source::Sources;
use entail_front::{Granularity, Options, esml::load_text};
use entail_ir::Interpreter;
use entail_testkit::esml::{generate, naive, text};
use entail_testkit::naive as search;
use entail_testkit::rng::Rng;

const CHECKS: search::Checks = search::Checks { assertions: true, end_states: true };
const MODELS: u64 = 6000;
/// Models with more states are left out.
const LIMIT: usize = 5000;

/// What the real front end and interpreter make of a model; `None` if it is refused.
fn explore(model: &str, granularity: Granularity) -> Option<search::Summary> {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = Options { granularity, ..Options::default() };
    let system = load_text("random.esml", model, &options, &mut sources, &mut problems)?.system;
    Some(search::explore(&Interpreter::new(&system), CHECKS))
}

#[test]
fn random_models_mean_what_the_rules_say() {
    let (mut compared, mut faulty, mut large) = (0, 0, 0);
    for seed in 0..MODELS {
        let model = generate(&mut Rng::new(seed));
        let Some(expected) = naive::explore(&model, LIMIT) else { continue };
        let text = text(&model);
        let Some(found) = explore(&text, Granularity::Exact) else { continue };
        let found = naive::Summary { unique: found.stored, matched: found.matched, errors: found.errors };
        assert_eq!(found, expected, "seed {seed}:\n{text}");
        compared += 1;
        faulty += u64::from(expected.errors > 0);
        large += u64::from(expected.unique > 50);
    }
    // A generator whose models are all refused, or all alike, would test nothing.
    assert!(compared > MODELS / 2, "only {compared} of {MODELS} were compared");
    assert!(faulty > MODELS / 20 && compared - faulty > MODELS / 50, "{faulty} of {compared} are faulty");
    assert!(large > MODELS / 100, "only {large} are large");
}

#[test]
fn coarse_steps_find_errors_where_exact_ones_do() {
    let mut saved = 0;
    for seed in 0..MODELS {
        let model = generate(&mut Rng::new(seed));
        if naive::explore(&model, LIMIT).is_none() {
            continue;
        }
        let text = text(&model);
        let (Some(exact), Some(coarse)) =
            (explore(&text, Granularity::Exact), explore(&text, Granularity::Statement))
        else {
            continue;
        };
        assert_eq!(coarse.errors > 0, exact.errors > 0, "seed {seed}:\n{text}");
        assert!(coarse.stored <= exact.stored, "seed {seed}:\n{text}");
        saved += u64::from(coarse.stored < exact.stored);
    }
    assert!(saved > MODELS / 4, "coarse steps saved states in {saved} models only");
}

/// Two processes of a kind, each with a second variable that counts; what a formula asks of them changes when they do.
#[test]
fn formulas_see_the_variables_of_the_process_they_name() {
    let model = "MODEL M; TYPE d = 0..3; q = LIST [2] OF d; s = {go}; VAR c, e: s;
        PROCESS P(step: d); VAR l: q; x: d; BEGIN APPEND(l, step); x := x + step END P;
        PROCESS Q; VAR y: d; BEGIN y := 1 DIV (y - y) END Q;
        BEGIN P(1); P(3); Q END M";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.esml");
    std::fs::write(&path, model).unwrap();
    let formula = "EF(P[0].x = 1) & EF(P[1].x = 3) & EF(LEN(P[1].l) > 0 & HEAD(P[1].l) = 3) & EF(P[0].x = 3)";
    let entail = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_entail"));
        String::from_utf8(command.args(arguments).arg(&path).output().unwrap().stdout).unwrap()
    };
    // The whole run, depth first: others move before somebody divides by zero.
    entail(&["check", "--no-opt", "--search", "dfs", "--property", "safety"]);
    let told = entail(&["replay", "--ctl", formula]);
    let becomes_true: Vec<&str> = told.lines().map(str::trim).filter(|line| line.ends_with("true")).collect();
    let expected = ["`P[0].x = 1`", "`LEN(P[1].l) > 0 & HEAD(P[1].l) = 3`", "`P[1].x = 3`"];
    assert_eq!(becomes_true, expected.map(|condition| format!("{condition} becomes true")), "{told}");
}
