//! Random BIR models mean what the rules of the language say.

use entail_front::source::Sources;
use entail_front::{Options, bir::load_text, diagnostic::render};
use entail_ir::Interpreter;
use entail_testkit::bir::{generate, naive, text};
use entail_testkit::naive as search;
use entail_testkit::rng::Rng;

const CHECKS: search::Checks = search::Checks { assertions: true, end_states: true };
const MODELS: u64 = 6000;

#[test]
fn random_models_mean_what_the_rules_say() {
    let (mut compared, mut correct, mut woken, mut large) = (0, 0, 0, 0);
    for seed in 0..MODELS {
        let model = generate(&mut Rng::new(seed));
        let Some(expected) = naive::explore(&model, 3000) else { continue };
        let text = text(&model);
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let read = load_text("random.bir", &text, &Options::default(), &mut sources, &mut problems);
        let Some(read) = read else { panic!("seed {seed}:\n{text}\n{}", render(&problems, &sources, false)) };
        let found = search::explore(&Interpreter::new(&read.system), CHECKS);
        let expected_counts = (expected.unique, expected.matched, expected.errors);
        assert_eq!((found.stored, found.matched, found.errors), expected_counts, "seed {seed}:\n{text}");
        compared += 1;
        correct += u64::from(expected.errors == 0);
        woken += u64::from(expected.woken > 0);
        large += u64::from(expected.unique > 50);
    }
    // A generator whose models are all alike would test nothing.
    assert!(compared > MODELS / 2, "only {compared} of {MODELS} were compared");
    assert!(woken > MODELS / 50, "in only {woken} somebody is woken");
    assert!(correct > MODELS / 200, "only {correct} are correct");
    assert!(large > MODELS / 20, "only {large} are large");
}
