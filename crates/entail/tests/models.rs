//! Every model under `examples` and `tests/models` says in its first comment what must come out of checking it.
//!
//! ```text
//! expect: safety holds
//! expect: safety violated: assertion
//! expect: served holds, fair weak                  a property, with a kind of fairness
//! expect: stored 12, transitions 20, errors 1      as written, counting every error
//! expect: rejected
//! ```

use entail_testkit::files::models_in;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

#[test]
fn models_give_what_their_first_comment_expects() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut models = models_in(&root.join("examples"));
    models.extend(models_in(&root.join("tests/models")));
    assert!(models.len() >= 100, "only {} models found", models.len());
    let failures: Vec<String> = models.iter().filter_map(|model| check(model).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_system_expects_the_same_in_every_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models/same");
    let mut systems: BTreeMap<OsString, Vec<Vec<String>>> = BTreeMap::new();
    for model in models_in(&folder) {
        let text = std::fs::read_to_string(&model).expect("the model can be read");
        let expected = text.lines().filter_map(|line| line.split_once("expect: ")).map(|(_, it)| it.to_owned());
        systems.entry(model.file_stem().unwrap_or_default().to_owned()).or_default().push(expected.collect());
    }
    assert!(!systems.is_empty());
    for (system, expectations) in systems {
        assert_eq!(expectations.len(), 3, "{system:?} is not there in every language");
        assert!(expectations.iter().all(|other| *other == expectations[0]), "{system:?}: {expectations:?}");
    }
}

fn check(model: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(model).map_err(|error| error.to_string())?;
    let expectations: Vec<_> = text.lines().filter_map(|line| line.split_once("expect: ")).collect();
    if expectations.is_empty() {
        return Err(format!("{}: expects nothing", model.display()));
    }
    for (_, expected) in expectations {
        let found = answer(model, expected);
        let expected = expected.trim_end_matches("*/").trim_end_matches("*)").trim();
        if found != expected {
            return Err(format!("{}:\n  expected {expected}\n  found    {found}", model.display()));
        }
    }
    Ok(())
}

/// What entail says, in the words of the expectation.
fn answer(model: &Path, expected: &str) -> String {
    let counts = expected.starts_with("stored");
    let name = if counts || expected.starts_with("rejected") { "safety" } else { first_word(expected) };
    let fair = expected.split_once(", fair ").map(|(_, fair)| first_word(fair));
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(["check", "--property", name, "--format", "json", "--trail", "/dev/null"]).arg(model);
    fair.map(|fair| command.args(["--fair", fair]));
    if counts {
        command.args(["--no-opt", "--all-errors"]);
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
    let verdict = match property["verdict"].as_str() {
        Some("violated") => {
            let kind = property["counterexample"]["kind"].as_str().unwrap_or("?").replace('_', " ");
            format!("{name} violated: {kind}")
        }
        Some(verdict) => format!("{name} {verdict}"),
        None => "no verdict".into(),
    };
    fair.map_or(verdict.clone(), |fair| format!("{verdict}, fair {fair}"))
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
