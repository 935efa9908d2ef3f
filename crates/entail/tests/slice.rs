//! The verdict on a slice is the verdict on the whole model.

use entail_front::diagnostic::{Diagnostic, render};
use entail_front::promela::slice::Aim;
use entail_front::promela::{self, print};
use entail_front::source::Sources;
use entail_front::{ModelSource, PropertyKind, Specification};
use entail_ir::{Interpreter, System};
use entail_packed::Packed;
use entail_search::{Checks, End, Errors, Limits, breadth_first, scc};
use entail_store::{Lossless, LosslessWide, Numbers};
use entail_temporal::product::Product;
use entail_temporal::{Claim, Fairness, Formulas, translate};
use entail_testkit::ctl::Kripke;
use entail_testkit::diary::Diary;
use entail_testkit::ltl;
use entail_testkit::promela::generate;
use entail_testkit::rng::Rng;

/// The number of random models in every run of this test, and in the long run.
const MODELS: u64 = 400;
const MANY_MODELS: u64 = 20_000;

/// CTL formulas are checked only on smaller models.
const MOST_STATES: usize = 600;

/// A search that takes longer than this is given up.
const LONGEST: Option<std::time::Duration> = Some(std::time::Duration::from_secs(5));

/// What is counted over all models.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    /// How many verdicts were that something is wrong.
    wrong: usize,
    /// How many slices lack a variable or a statement.
    smaller: usize,
    fewer_states: usize,
}

/// Whether some errors are found, and how many states there are; nothing if that takes too long.
fn mistakes(system: &System, checks: Checks) -> Option<(bool, u64)> {
    let interpreter = Interpreter::new(system);
    let limits = Limits { time: LONGEST, ..Limits::default() };
    let outcome = breadth_first(&interpreter, &mut Diary::default(), &checks, &limits, &mut ());
    (!matches!(outcome.end, End::Limit(_))).then_some((outcome.errors > 0, outcome.stats.stored))
}

/// Whether a property is violated, and how many states were looked at.
fn violated(model: &ModelSource, name: &str, fairness: Fairness) -> Option<(bool, u64)> {
    let property = model.properties.iter().find(|property| property.name == name).expect("it is a property");
    let meaning = property.meaning.as_ref()?;
    let Specification::Ltl(formulas, formula) = &meaning.says else { return None };
    let mut formulas: Formulas = formulas.clone();
    let broken = formulas.not(*formula);
    let claim = Claim::new(translate(&mut formulas, broken, entail_temporal::Limits::default()).ok()?);
    let system = System { propositions: meaning.propositions.clone(), ..model.system.clone() };
    let interpreter = Interpreter::new(&system);
    let limits = Limits { time: LONGEST, ..Limits::default() };
    let mut packed = Packed::with_room(&interpreter, &interpreter, claim.bits());
    loop {
        let product = Product::new(&packed, &claim, fairness);
        let bits = product.bits().unwrap_or(packed.bits() + u64::BITS);
        let outcome = match bits {
            64..128 => scc(&product, &mut Numbers::new(LosslessWide::new()), &limits, &mut ()),
            _ => scc(&product, &mut Numbers::new(Lossless::new(bits)), &limits, &mut ()),
        };
        if packed.is_outgrown() {
            packed = packed.adapted();
            continue;
        }
        let known = !matches!(outcome.end, End::Limit(_)) && !product.is_crowded();
        return known.then_some((outcome.errors > 0, outcome.stats.stored));
    }
}

/// Whether a CTL formula is false, by the definition, and the number of states.
fn is_false(model: &ModelSource, name: &str) -> Option<(bool, u64)> {
    let property = model.properties.iter().find(|property| property.name == name).expect("it is a property");
    let meaning = property.meaning.as_ref()?;
    let Specification::Ctl(formula) = &meaning.says else { return None };
    let system = System { propositions: meaning.propositions.clone(), ..model.system.clone() };
    let kripke = Kripke::of(&Interpreter::new(&system), MOST_STATES)?;
    let holds = kripke.holding(formula, Fairness::None).at(0)?;
    Some((!holds, kripke.states.len() as u64))
}

/// A CTL formula without `X`.
fn ctl(rng: &mut Rng, operators: usize, propositions: &[String]) -> String {
    if operators == 0 {
        return rng.pick(propositions).clone();
    }
    let left = ctl(rng, operators - 1, propositions);
    let size = rng.below(operators);
    let right = ctl(rng, size, propositions);
    match rng.below(9) {
        0 => format!("AG ({left})"),
        1 => format!("AF ({left})"),
        2 => format!("EG ({left})"),
        3 => format!("EF ({left})"),
        4 => format!("A (({left}) U ({right}))"),
        5 => format!("E (({left}) U ({right}))"),
        6 => format!("!({left})"),
        7 => format!("(({left}) && ({right}))"),
        _ => format!("(({left}) || ({right}))"),
    }
}

/// Three questions about numbers of the model, if it has any.
fn propositions(program: &entail_testkit::promela::Program, rng: &mut Rng) -> Option<Vec<String>> {
    let variables = program.numbers();
    let mut proposition = || {
        let operator = *rng.pick(&["==", "!=", "<", ">="]);
        format!("({} {operator} {})", rng.pick(&variables), rng.below(3))
    };
    (!variables.is_empty()).then(|| (0..3).map(|_| proposition()).collect())
}

/// A formula of linear time over propositions.
fn formula(propositions: &[String], rng: &mut Rng, next: bool) -> String {
    loop {
        let mut formulas = Formulas::default();
        let operators = 1 + rng.below(4);
        let formula = ltl::formula(rng, &mut formulas, operators, 3);
        if formulas.has_next(formula) == next {
            return formulas.print(formula, propositions);
        }
    }
}

fn check(seed: u64, tally: &mut Tally) {
    let program = generate(seed);
    if program.flaw.is_some() {
        return;
    }
    let mut rng = Rng::new(seed);
    let next = rng.below(6) == 0;
    let propositions = propositions(&program, &mut rng);
    let formulas = propositions.as_ref().map_or(String::new(), |propositions| {
        let linear = formula(propositions, &mut rng, next);
        let operators = 1 + rng.below(3);
        let branching = ctl(&mut rng, operators, propositions);
        format!("\nltl p {{ {linear} }}\nctl q {{ {branching} }}\n")
    });
    let text = format!("{program}{formulas}");
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let Some(program) = promela::read_text("model.pml", &text, &mut sources, &mut problems) else { return };
    let Some(whole) = promela::load_text("model.pml", &text, &mut Sources::default(), &mut Vec::new()) else {
        return;
    };
    let mut slice = |aim: Aim, fairness: Fairness| {
        let mut problems: Vec<Diagnostic> = Vec::new();
        let sliced = promela::slice_of(&program, &[aim], fairness, &sources, &mut problems);
        let (model, sliced) =
            sliced.unwrap_or_else(|| panic!("seed {seed}: {}\n{text}", render(&problems, &sources, false)));
        let explanation = &sliced.explanation;
        tally.smaller += usize::from(!explanation.dropped.is_empty() || !explanation.statements.is_empty());
        (model, print::program(&sliced.program))
    };
    let none = Checks { faults: false, assertions: false, end_states: false, errors: Errors::First };
    let kinds = [
        ("faults", Checks { faults: true, ..none }),
        ("assertions", Checks { assertions: true, ..none }),
        ("ends", Checks { end_states: true, ..none }),
    ];
    let mut pairs = Vec::new();
    for ends in [true, false] {
        let (model, sliced) = slice(Aim::Safety { assertions: true, ends }, Fairness::None);
        for (kind, checks) in kinds.iter().take(if ends { 3 } else { 2 }) {
            let results = (mistakes(&whole.system, *checks), mistakes(&model.system, *checks));
            pairs.push((kind.to_string(), results, sliced.clone()));
        }
    }
    let fairness =
        *rng.pick(&[Fairness::None, Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial]);
    let mut asked = vec![
        ("acceptance", Aim::Labels(PropertyKind::Acceptance)),
        ("progress", Aim::Labels(PropertyKind::Progress)),
    ];
    if propositions.is_some() {
        let (model, sliced) = slice(Aim::Property("q".into()), Fairness::None);
        pairs.push(("q".into(), (is_false(&whole, "q"), is_false(&model, "q")), sliced));
        asked.push(("p", Aim::Property("p".into())));
    }
    for (name, aim) in asked {
        let (model, sliced) = slice(aim, fairness);
        let results = (violated(&whole, name, fairness), violated(&model, name, fairness));
        pairs.push((format!("{name}, {fairness:?}"), results, sliced));
    }
    for (what, results, sliced) in pairs {
        let (Some(before), Some(after)) = results else { continue };
        assert_eq!(before.0, after.0, "seed {seed}, {what}:\n{text}\nsliced:\n{sliced}");
        tally.compared += 1;
        tally.wrong += usize::from(before.0);
        tally.fewer_states += usize::from(after.1 < before.1);
    }
}

fn check_all(seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    let count = (seeds.end - seeds.start) as usize;
    seeds.for_each(|seed| check(seed, &mut tally));
    println!("{tally:?}");
    assert!(tally.compared > count * 3 && tally.wrong > count / 2 && tally.smaller > count / 2, "{tally:?}");
    assert!(tally.fewer_states > count / 4, "{tally:?}");
}

#[test]
fn verdicts_on_slices_of_random_models_are_those_on_the_models() {
    check_all(0..MODELS);
}

#[test]
#[ignore = "takes an hour or so"]
fn verdicts_on_slices_of_many_random_models_are_those_on_the_models() {
    check_all(MODELS..MODELS + MANY_MODELS);
}
