//! A formula that cannot be read is an error of that property alone.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

const MODEL: &str = "byte x;
active proctype p() { x = 1; assert(x == 1) }
ltl good { <> (x == 1) }
ltl number { <> x == 0 }
ltl unknown { [] (y < 2) }
ctl unquantified { [] (x < 2) }
ltl { [] (x < }
ltl { [] (x < 2) }
";

fn check(model: &str, options: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("model.pml");
    std::fs::write(&path, model).expect("the model is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let output =
        command.args(["check", "--format", "json"]).args(options).arg(&path).output().expect("entail runs");
    let report = serde_json::from_slice(&output.stdout).expect("there is a report");
    (output, report)
}

fn verdicts(report: &Value) -> Vec<(&str, &str)> {
    let properties = report["properties"].as_array().expect("a list");
    properties
        .iter()
        .map(|property| {
            (property["name"].as_str().unwrap_or_default(), property["verdict"].as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn the_other_properties_are_checked() {
    let (output, report) = check(MODEL, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        verdicts(&report),
        [
            ("safety", "holds"),
            ("good", "holds"),
            ("number", "inconclusive"),
            ("unknown", "inconclusive"),
            ("unquantified", "inconclusive"),
            ("ltl_0", "inconclusive"),
            ("ltl_1", "holds"),
        ]
    );
    let errors = report["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert_eq!(report["properties"][2]["reason"], "not checked: it cannot be read");
}

#[test]
fn a_violation_beside_it_is_found() {
    let (output, report) = check(&MODEL.replace("x == 1) }\nltl good", "x == 2) }\nltl good"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(verdicts(&report)[0], ("safety", "violated"));
}

#[test]
fn it_does_not_matter_where_it_is_not_asked_for() {
    let (output, report) = check(MODEL, &["--property", "safety", "--property", "good"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(verdicts(&report), [("safety", "holds"), ("good", "holds")]);
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(0));
    assert!(report["warnings"].as_array().is_some_and(|warnings| warnings.len() >= 4));
}

#[test]
fn it_is_wrong_where_it_is_asked_for() {
    let (output, report) = check(MODEL, &["--property", "number"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(verdicts(&report), [("number", "inconclusive")]);
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_the_command_asks_must_be_readable() {
    let (output, report) = check(MODEL, &["--ltl", "<> x == 0"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(report["properties"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_makes_the_rest_unreadable_stays_an_error_of_the_model() {
    let (output, report) = check("ltl open { [] (x < 2)\nbyte x; active proctype p() { x = 1 }", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(report["properties"].as_array().map(Vec::len), Some(0));
}
