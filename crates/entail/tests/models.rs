//! Every model under `examples` and `tests/models` says in its first comment what must come out of checking it.
//!
//! ```text
//! expect: safety holds
//! expect: safety violated: assertion
//! expect: served holds, fair weak                  a property, with a kind of fairness
//! expect: stored 12, transitions 20, errors 1      as written, counting every error
//! expect: reduced 5                                states, with all that can be left out, counting every error
//! expect: rejected
//! ```

use entail_testkit::files::models_in;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn models_give_what_their_first_comment_expects() {
    let models = models();
    assert!(models.len() >= 100, "only {} models found", models.len());
    let failures: Vec<String> = models.iter().filter_map(|model| check(model).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn infinite_runs_are_also_found_by_nested_search() {
    let mut checked = 0;
    for model in models() {
        for expected in expectations(&model).iter().filter(|expected| is_about_runs(expected)) {
            assert_eq!(answer(&model, expected, &["--search", "nested"]), *expected, "{}", model.display());
            checked += 1;
        }
    }
    assert!(checked >= 17, "only {checked} properties found");
}

#[test]
fn no_verdict_depends_on_steps_that_are_left_out() {
    let verdict = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let mut checked = 0;
    for model in models() {
        for expected in expectations(&model).iter().filter(|expected| is_verdict(expected)) {
            for how in [["--reduce", "por"], ["--reduce", "ample"]] {
                assert_eq!(verdict(&answer(&model, expected, &how)), verdict(expected), "{}", model.display());
                checked += 1;
            }
        }
    }
    assert!(checked >= 200, "only {checked} properties found");
}

/// Formulas whose automata have several acceptance sets.
#[test]
fn both_searches_for_infinite_runs_say_the_same() {
    let (mut holding, mut violated) = (0, 0);
    for (model, propositions) in [
        ("examples/peterson-live.pml", ["inside[0]", "inside[1]", "wants[0]"]),
        ("examples/lock-live.pml", ["inside[0]", "inside[1]", "taken"]),
        ("tests/models/liveness/claims.pml", ["x == 1", "x == 2", "x == 5"]),
        ("tests/models/liveness/fairness.pml", ["clock == 1", "moved", "caught"]),
        ("tests/models/liveness/ends.pml", ["x == 1", "x == 2", "x == 0"]),
        ("tests/models/liveness/labels.pml", ["x == 1", "x == 0", "x == 2"]),
    ] {
        let [a, b, c] = propositions.map(|proposition| format!("({proposition})"));
        for formula in [
            format!("!([] <> {a} && [] <> {b} && [] <> {c})"),
            format!("!([] <> {a} && [] <> {b} && <> [] !{c})"),
            format!("([] <> {a} && [] <> !{a}) -> ([] <> {b} || <> [] {c})"),
            format!("[] ({a} -> <> {b}) || ! [] <> {c}"),
            format!("<> [] {a} || <> [] ! {b}"),
        ] {
            let [by_components, by_nested] =
                [&["--search", "bfs"], &["--search", "nested"]].map(|how| ask(&root().join(model), &formula, how));
            assert_eq!(by_components, by_nested, "{model}: {formula}");
            match by_nested.as_str() {
                "holds" => holding += 1,
                "violated: acceptance cycle" => violated += 1,
                other => panic!("{model}: {formula}: {other}"),
            }
        }
    }
    assert!(holding >= 5 && violated >= 5, "{holding} hold, {violated} do not");
}

#[test]
fn a_system_expects_the_same_in_every_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models/same");
    let mut systems: BTreeMap<OsString, Vec<Vec<String>>> = BTreeMap::new();
    for model in models_in(&folder) {
        let expected = expectations(&model);
        systems.entry(model.file_stem().unwrap_or_default().to_owned()).or_default().push(expected);
    }
    assert!(!systems.is_empty());
    for (system, expectations) in systems {
        assert_eq!(expectations.len(), 3, "{system:?} is not there in every language");
        assert!(expectations.iter().all(|other| *other == expectations[0]), "{system:?}: {expectations:?}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn models() -> Vec<PathBuf> {
    ["examples", "tests/models"].iter().flat_map(|folder| models_in(&root().join(folder))).collect()
}

fn expectations(model: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(model).expect("the model can be read");
    let expected = text.lines().filter_map(|line| line.split_once("expect: "));
    expected.map(|(_, it)| it.trim_end_matches("*/").trim_end_matches("*)").trim().to_owned()).collect()
}

/// Whether it concerns infinite runs, for any fairness.
fn is_about_runs(expected: &str) -> bool {
    is_verdict(expected) && first_word(expected) != "safety"
}

/// Whether it concerns a property, for any fairness.
fn is_verdict(expected: &str) -> bool {
    !["stored", "reduced", "rejected"].contains(&first_word(expected)) && !expected.contains(", fair ")
}

fn check(model: &Path) -> Result<(), String> {
    let expectations = expectations(model);
    if expectations.is_empty() {
        return Err(format!("{}: expects nothing", model.display()));
    }
    for expected in expectations {
        let found = answer(model, &expected, &[]);
        if found != expected {
            return Err(format!("{}:\n  expected {expected}\n  found    {found}", model.display()));
        }
    }
    Ok(())
}

/// What entail says, in the words of the expectation.
fn answer(model: &Path, expected: &str, options: &[&str]) -> String {
    let counts = expected.starts_with("stored");
    let is_reduced = expected.starts_with("reduced");
    let is_asked = !(counts || is_reduced || expected.starts_with("rejected"));
    let name = if is_asked { first_word(expected) } else { "safety" };
    let fair = expected.split_once(", fair ").map(|(_, fair)| first_word(fair));
    let mut command = entail(model);
    command.args(["--property", name]).args(options);
    fair.map(|fair| command.args(["--fair", fair]));
    if counts {
        command.args(["--no-opt", "--all-errors"]);
    }
    if is_reduced {
        command.args(["--reduce", "por", "--all-errors"]);
    }
    let output = command.output().expect("entail runs");
    if output.status.code() == Some(2) {
        return "rejected".into();
    }
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else { return "no report".into() };
    let property = &report["properties"][0];
    if counts {
        let states = &property["states"];
        return format!(
            "stored {}, transitions {}, errors {}",
            states["stored"], states["transitions"], property["errors"]
        );
    }
    if is_reduced {
        return format!("reduced {}", property["states"]["stored"]);
    }
    let verdict = format!("{name} {}", verdict(property));
    fair.map_or(verdict.clone(), |fair| format!("{verdict}, fair {fair}"))
}

/// What entail says of a formula.
fn ask(model: &Path, formula: &str, options: &[&str]) -> String {
    let output =
        entail(model).args(["--property", formula, "--ltl", formula]).args(options).output().expect("entail runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("there is a report");
    verdict(&report["properties"][0])
}

fn entail(model: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(["check", "--format", "json", "--trail", "/dev/null"]).arg(model);
    command
}

fn verdict(property: &Value) -> String {
    match property["verdict"].as_str() {
        Some("violated") => {
            let kind = property["counterexample"]["kind"].as_str().unwrap_or("?").replace('_', " ");
            format!("violated: {kind}")
        }
        Some(verdict) => verdict.to_owned(),
        None => "no verdict".into(),
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
