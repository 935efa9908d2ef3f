//! Limits of the tool are not errors of the model, and time limits hold before and inside of steps too.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

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

/// Each statement of a sequence is compared with all that follow it, up to a maximum length.
#[test]
fn a_very_long_sequence_is_not_reduced_and_the_report_says_so() {
    let body = "x = x + 1; ".repeat(2_000);
    let model = format!("byte x;\nactive [2] proctype p() {{ byte y; atomic {{ {body} }}; y = x }}\n");
    let (status, report) = check("sequence.pml", &model, &["--reduce", "por"]);
    let property = &report["properties"][0];
    assert_eq!((status, property["verdict"].as_str()), (Some(0), Some("holds")), "{report}");
    assert_eq!(property["search"]["reduction"], "none");
    assert!(report.to_string().contains("atomic sequences are too long"), "{report}");
}

/// Far more than `--time 2s` and less than what each of these took when the time grew with the square of the text.
const LONG: Duration = Duration::from_secs(12);

/// Checks a model with `--time 2s`, and sees that it ends about then.
fn check_in_time(model: &str, options: &[&str]) -> (Option<i32>, Value) {
    let began = Instant::now();
    let checked = check("large.pml", model, &[&["--time", "2s"], options].concat());
    assert!(began.elapsed() < LONG, "{options:?}: {:?}", began.elapsed());
    checked
}

fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn long_chains_of_jumps_are_read_in_time() {
    let jumps = repeated(40_000, |i| format!("L{i}: goto L{};\n", i + 1));
    let model = format!("byte x;\nactive proctype p() {{\n{jumps}L40000: x = 1; assert(x == 0) }}\n");
    for options in [&[][..], &["--slice"]] {
        let (status, report) = check_in_time(&model, options);
        let verdict = report["properties"][0]["verdict"].as_str();
        assert!(
            [(1, "violated"), (3, "inconclusive")]
                .map(|(status, verdict)| (Some(status), Some(verdict)))
                .contains(&(status, verdict)),
            "{verdict:?}"
        );
    }
}

#[test]
fn long_sequences_with_labels_are_sliced_in_time() {
    let steps = repeated(40_000, |i| format!("L{i}: x = {};\n", i % 250));
    let model = format!("byte x, y;\nactive proctype p() {{\n{steps}y = 1 }}\nltl f {{ [] (y < 2) }}\n");
    let (status, report) = check_in_time(&model, &["--slice", "--property", "f"]);
    assert!([Some(0), Some(3)].contains(&status), "{report}");
}

#[test]
fn many_unknown_names_are_reported_in_time() {
    let names = repeated(4_000, |i| format!("byte v{i};\n"));
    let steps = repeated(20_000, |i| format!("v{} = w{i};\n", i % 4_000));
    let model = format!("{names}active proctype p() {{\n{steps} }}\n");
    let (status, report) = check_in_time(&model, &[]);
    assert_eq!(status, Some(2));
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(20_000));
    let first = report["errors"][0].as_str().unwrap_or_default();
    assert!(first.contains("`w0` is not declared"), "{first}");
}

/// Its automaton is given up after some 10⁸ steps, or when there is no time left.
#[test]
fn a_formula_that_is_hard_to_translate_is_inconclusive_in_time() {
    let parts: Vec<String> = (0..60).map(|i| format!("(x == {i})")).collect();
    let formula = parts.join(" U ");
    let model = "byte x;\nactive proctype p() { do :: x = 1 - x od }\n";
    let options = ["--ltl", &formula, "--property", "safety", "--time", "500ms"];
    let (status, report) = check("hard.pml", model, &options);
    assert_eq!(status, Some(3), "{report}");
    assert_eq!(report["properties"][0]["verdict"], "holds");
    let reason = report["properties"][1]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("reached the time limit of 0.500 s: "), "{reason}");
}

#[test]
fn a_long_counterexample_is_minimised_in_time() {
    let model = "int x;
active [3] proctype p() { do :: x < 100000 -> x++ :: else -> assert(false) od }
";
    let (status, report) = check_in_time(model, &["--minimise", "--search", "dfs"]);
    assert_eq!(status, Some(1), "{report}");
    assert_eq!(report["properties"][0]["counterexample"]["kind"], "assertion");
}
