//! What breaks a `trace` or `notrace` is told, however it is looked for, and the run can be seen again.

use entail_testkit::files::models_in;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

/// Models with a trace that is broken, each with the name of the property.
fn broken() -> Vec<(PathBuf, &'static str)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models/trace");
    let mut broken = Vec::new();
    for model in models_in(&folder) {
        let text = fs::read_to_string(&model).unwrap();
        let names = ["trace", "notrace"].into_iter();
        broken.extend(
            names
                .filter(|name| text.contains(&format!("expect: {name} violated")))
                .map(|name| (model.clone(), name)),
        );
    }
    assert!(broken.len() > 10, "only {} models found", broken.len());
    broken
}

fn entail(args: &[&str], paths: &[&Path]) -> (i32, String) {
    let output = Command::new(ENTAIL).args(args).args(paths).output().expect("entail runs");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn counterexamples_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let trail = folder.path().join("trail");
    for (model, name) in broken() {
        for search in ["bfs", "dfs"] {
            let trail_option = format!("--trail={}", trail.display());
            let (code, report) = entail(
                &["check", "--format", "json", "--property", name, "--search", search, &trail_option],
                &[&model],
            );
            assert_eq!(code, 1, "{}: {report}", model.display());
            let report: Value = serde_json::from_str(&report).unwrap();
            let found = &report["properties"][0]["counterexample"];
            let message = found["message"].as_str().unwrap();
            let (code, told) = entail(&["replay", "--property", name], &[&model, &trail]);
            assert_eq!(code, 0, "{}: {told}", model.display());
            assert!(told.contains(message), "{}: {message} expected:\n{told}", model.display());
            let (_, told) = entail(&["replay", "--format", "json", "--property", name], &[&model, &trail]);
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told["error"]["kind"], found["kind"], "{}: {told}", model.display());
        }
    }
}

#[test]
fn traces_are_checked_unless_told_otherwise() {
    for (model, name) in broken() {
        let (code, told) = entail(&["check", "--trail", "/dev/null"], &[&model]);
        assert_eq!(code, 1, "{told}");
        let verdict = format!("{}: {name} is violated\n", model.display());
        assert!(told.contains(&verdict), "{verdict} expected:\n{told}");
        assert!(told.contains("interpreted: channels are watched"), "{told}");
        let (_, told) = entail(&["check", "--trail", "/dev/null", "--property", "safety"], &[&model]);
        assert!(!told.contains(&verdict), "{told}");
    }
}

#[test]
fn trails_of_pan_can_be_replayed() {
    if Command::new("spin").arg("-V").output().is_err() {
        return;
    }
    for (name, property, message) in [
        ("unexpected", "trace", "`c!2` is not what the trace expects"),
        ("rendezvous-reversed", "trace", "`c!1` is not what the trace expects"),
        ("incomplete", "trace", "when the run ends, the trace still expects `c!1`"),
        ("forbidden", "notrace", "the notrace reaches its end at `c!1`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models/trace");
        fs::copy(source.join(name).with_extension("pml"), folder.path().join("model.pml")).unwrap();
        let run = |program: &str, args: &[&str]| {
            Command::new(program).args(args).current_dir(folder.path()).output().expect("SPIN and cc are there");
        };
        run("spin", &["-o1", "-o2", "-o3", "-a", "model.pml"]);
        run("cc", &["-w", "-DNOREDUCE", "-DSAFETY", "-o", "pan", "pan.c"]);
        run("./pan", &["-w10"]);
        let (model, trail) = (folder.path().join("model.pml"), folder.path().join("model.pml.trail"));
        let (code, told) = entail(&["replay", "--property", property], &[&model, &trail]);
        assert_eq!(code, 0, "{name}");
        assert!(told.contains(message), "{name}: {message} expected:\n{told}");
    }
}
