//! Limits of the tool are not errors of the model, and time limits hold before and inside of steps too.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn check(name: &str, model: &str, options: &[&str]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder for the model");
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, model).expect("the model can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let output = command.arg("check").arg(&path).args(["--format", "json"]).args(options).output();
    let output = output.expect("entail runs");
    let report = serde_json::from_slice(&output.stdout).expect("a report in JSON");
    (output.status.code(), report)
}

/// No sequence of values comes back within the limit.
const VERY_LONG: &str = "int x, y;
active proctype p() { d_step { do :: x++; if :: x == 0 -> y++ :: else fi od }; assert(y == 3) }
";

#[test]
fn a_sequence_that_takes_too_long_is_inconclusive() {
    for backend in ["jit", "interpret"] {
        let (status, report) = check("long.pml", VERY_LONG, &["--backend", backend, "--time", "1s"]);
        let property = &report["properties"][0];
        assert_eq!((status, property["verdict"].as_str()), (Some(3), Some("inconclusive")), "{backend}: {report}");
        assert_eq!(property["errors"], 0);
        assert!(report["unreached"].as_array().is_none_or(Vec::is_empty), "what was not seen is not known");
    }
}

#[test]
fn a_state_that_grows_too_large_is_inconclusive() {
    let model = "proctype p() { int a[60000]; end: a[1] == 1 }
init { run p(); run p(); run p(); run p(); run p() }
";
    for backend in ["jit", "interpret"] {
        let (status, report) = check("large.pml", model, &["--backend", backend, "--no-opt"]);
        let property = &report["properties"][0];
        assert_eq!((status, property["verdict"].as_str()), (Some(3), Some("inconclusive")), "{backend}: {report}");
        assert_eq!(property["errors"], 0);
    }
}

/// Each statement of a sequence is compared with all that follow it: beyond some length, nobody waits for that.
#[test]
fn a_very_long_sequence_is_not_reduced_and_the_report_says_so() {
    let body = "x = x + 1; ".repeat(2_000);
    let model = format!("byte x;\nactive [2] proctype p() {{ byte y; atomic {{ {body} }}; y = x }}\n");
    let (status, report) = check("sequence.pml", &model, &["--reduce", "por"]);
    let property = &report["properties"][0];
    assert_eq!((status, property["verdict"].as_str()), (Some(0), Some("holds")), "{report}");
    assert_eq!(property["search"]["reduction"], "none");
    assert!(report.to_string().contains("indivisible sequences are too long"), "{report}");
}
