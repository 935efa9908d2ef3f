//! LTL formulas from text to automata: published formulas, and comparisons with SPIN.

use entail_front::diagnostic::Diagnostic;
use entail_front::promela::formula::{self, Temporal};
use entail_front::promela::preprocess;
use entail_front::source::Sources;
use entail_temporal::word::Lasso;
use entail_temporal::{Automaton, Buchi, Limits, Satisfiability, never, satisfiability, translate};
use entail_testkit::command::finish;
use entail_testkit::ltl::{SETS, satisfies, word};
use entail_testkit::rng::Rng;
use entail_testkit::spin;
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

fn read(text: &str) -> Temporal {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = preprocess::Options::default();
    let temporal = formula::read("formula", text, &options, &mut sources, &mut problems);
    temporal.unwrap_or_else(|| panic!("{text}: {problems:?}"))
}

fn automata(temporal: &mut Temporal) -> (Automaton, Buchi) {
    let generalised = translate(&mut temporal.formulas, temporal.formula, Limits::default()).unwrap();
    let buchi = Buchi::new(&generalised, Limits::default()).unwrap();
    (generalised, buchi)
}

/// All published formulas and their negations.
fn published() -> impl Iterator<Item = String> {
    let formulas = SETS.iter().flat_map(|set| set.formulas);
    formulas.flat_map(|formula| [formula.to_string(), format!("!({formula})")])
}

#[test]
fn published_formulas_have_small_automata() {
    let sizes = SETS.iter().map(|set| {
        let formulas = set.formulas.iter().flat_map(|formula| [formula.to_string(), format!("!({formula})")]);
        formulas.fold((0, 0), |(generalised, buchi), text| {
            let automata = automata(&mut read(&text));
            (generalised + automata.0.len(), buchi + automata.1.automaton().len())
        })
    });
    // The total number of states, of generalised and of Büchi automata; `cargo xtask ltl-sizes` lists each.
    assert_eq!(sizes.collect::<Vec<_>>(), [(86, 99), (164, 181), (484, 513)]);
}

#[test]
fn automata_of_published_formulas_accept_what_satisfies_them() {
    let mut rng = Rng::new(5);
    let mut satisfied = 0;
    for text in published() {
        let mut temporal = read(&text);
        let (generalised, buchi) = automata(&mut temporal);
        for _ in 0..150 {
            let word = word(&mut rng, temporal.propositions.len());
            let expected = satisfies(&temporal.formulas, temporal.formula, &word);
            satisfied += usize::from(expected);
            assert_eq!(generalised.accepts(&word), expected, "{text} {word:?}");
            assert_eq!(buchi.automaton().accepts(&word), expected, "{text} {word:?}");
        }
    }
    // The words and formulas are chosen so that both answers occur.
    assert!((10_000..18_000).contains(&satisfied), "{satisfied}");
}

#[test]
fn a_formula_with_anything_missing_or_doubled_has_an_answer() {
    let options = preprocess::Options::default();
    for text in published().step_by(2) {
        for at in 0..text.len() {
            let (before, after) = text.split_at(at);
            for mangled in [format!("{before}{}", &after[1..]), format!("{before}{}{after}", &after[..1])] {
                let (mut sources, mut problems) = (Sources::default(), Vec::new());
                let read = formula::read("formula", &mangled, &options, &mut sources, &mut problems);
                assert_eq!(read.is_none(), problems.iter().any(Diagnostic::is_error), "{mangled}");
                assert!(problems.iter().all(|problem| problem.span.is_some()), "{mangled}: {problems:?}");
            }
        }
    }
}

/// The output of `spin -a` for a model.
fn ask_spin(model: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.pml"), model).unwrap();
    let mut spin = Command::new("spin");
    let finished =
        finish(spin.args(["-a", "model.pml"]).current_dir(folder.path()), Duration::from_secs(60)).unwrap();
    finished.text()
}

#[test]
fn spin_takes_our_claims() {
    if !spin::available() {
        return;
    }
    let mut model = "bit p, p0, p1, p2, p3, p4, p5, p6;\nactive proctype P() { p = 1 }\n".to_owned();
    for (number, text) in published().enumerate() {
        let mut temporal = read(&text);
        let claim = never::print(&automata(&mut temporal).1, &temporal.names(), &text);
        writeln!(model, "{}", claim.replacen("never", &format!("never c{number}"), 1)).unwrap();
    }
    let said = ask_spin(&model);
    assert!(said.contains("the model contains 188 never claims") && !said.contains("rror"), "{said}");
}

/// A process that runs through the letters of a word.
fn run_through(word: &Lasso, names: &[String]) -> String {
    let value = |letter: u64, at: usize| letter >> at & 1;
    let named = || names.iter().enumerate();
    let declared = named().map(|(at, name)| format!("bit {name} = {};\n", value(word.letter(0), at)));
    let step = |&letter: &u64| {
        let assigned = named().map(|(at, name)| format!("{name} = {}; ", value(letter, at)));
        format!("d_step {{ {} }};\n", assigned.collect::<String>())
    };
    let before = if word.stem.is_empty() { &word.cycle[1..] } else { &word.stem[1..] };
    let (before, cycle): (String, String) =
        (before.iter().map(step).collect(), word.cycle.iter().map(step).collect());
    format!("{}active proctype P() {{\n{before}do ::\n{cycle}od }}\n", declared.collect::<String>())
}

/// Whether SPIN finds that the claim accepts the only run of a model.
fn spin_finds(model: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.pml"), model).unwrap();
    let pan = folder.path().join("pan");
    let mut said = String::new();
    for (program, arguments) in [
        ("spin", &["-a", "-o1", "-o2", "-o3", "model.pml"][..]),
        ("gcc", &["-w", "-DNOREDUCE", "-o", "pan", "pan.c"]),
        (pan.to_str().unwrap(), &["-a"]),
    ] {
        let mut command = Command::new(program);
        let finished = finish(command.args(arguments).current_dir(folder.path()), Duration::from_secs(60)).unwrap();
        assert!(finished.success(), "{model}{}", finished.text());
        said = finished.text();
    }
    assert!(said.contains("errors: "), "{said}");
    !said.contains("errors: 0")
}

#[test]
fn spin_finds_the_words_that_our_claims_describe() {
    if !spin::available() {
        return;
    }
    let mut rng = Rng::new(11);
    let formulas: Vec<String> = published().collect();
    let mut found = 0;
    for _ in 0..10 {
        let text = rng.pick(&formulas);
        let mut temporal = read(text);
        let word = word(&mut rng, temporal.propositions.len());
        let expected = satisfies(&temporal.formulas, temporal.formula, &word);
        let names = temporal.names();
        let claim = never::print(&automata(&mut temporal).1, &names, text);
        let model = format!("{}{claim}", run_through(&word, &names));
        assert_eq!(spin_finds(&model), expected, "{model}");
        found += usize::from(expected);
    }
    assert!((1..10).contains(&found), "{found}");
}

#[test]
fn operators_group_as_spin_groups_them() {
    if !spin::available() {
        return;
    }
    for text in [
        "a U b U c",
        "a -> b -> c",
        "a U b && c",
        "a && b U c",
        "a || b && c",
        "a <-> b -> c",
        "a -> b <-> c",
        "!a U b",
        "[] a U b",
        "a W b U c",
        "a V b U c",
        "a U b V c",
        "a == b U c",
        "always a -> b",
        "X a U b",
        "a implies b || c",
        "a until b release c",
        "<> [] a -> b",
    ] {
        let model = format!("byte a, b, c; active proctype P() {{ a = 1 }} ltl p {{ {text} }}");
        let said = ask_spin(&model);
        // `ltl p: (a) U (b)`
        let grouped = said.lines().find_map(|line| line.strip_prefix("ltl p: ")).expect("SPIN repeats formulas");
        let mut same = read(&format!("({text}) <-> ({grouped})"));
        let (automaton, _) = automata(&mut same);
        let satisfiability = satisfiability(&mut same.formulas, same.formula, &automaton, Limits::default());
        assert_eq!(satisfiability, Ok(Satisfiability::Tautology), "{text} is {grouped}");
    }
}
