//! Reports on runs of BIR models.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A thread tells another one that does not wait yet, chooses between two ways to do so, and starts a third.
const MODEL: &str = "system TraceStep {
  lock l;
  boolean ready;
  tid t;
  active thread Waiter() {
    loc a: when !ready do { lock(l); } goto b;
    loc b: do { wait(l); } return;
  }
  active thread Explainer() {
    loc a: do { lock(l); choose do ready := true; do ready := true; skip; end notify(l); t := start Third(); } goto b;
    loc b: when !ready do { unlock(l); } return;
  }
  thread Third() { loc a: do { skip; } return; }
}";

struct Case {
    folder: TempDir,
}

impl Case {
    fn new(model: &str) -> Case {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.bir"), model).unwrap();
        Case { folder }
    }

    fn entail(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        let output = command.current_dir(&self.folder).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn a_transformation_is_one_step_in_every_view() {
    let case = Case::new(MODEL);
    let report = case.entail(&["check", "model.bir", "--no-opt"]);
    assert!(report.contains("after 2 steps:") || report.contains("after 1 step:"), "{report}");
    let steps: Vec<&str> = report.lines().filter(|line| line.contains("Explainer(1)  ")).collect();
    assert_eq!(steps.len(), 1, "{report}");
    let json: Value = serde_json::from_str(&case.entail(&["replay", "model.bir", "--as", "json"])).unwrap();
    let told = json["steps"].as_array().unwrap().len();
    assert_eq!(report.contains("after 2 steps:"), told == 2, "{json}");
    let shown = case.entail(&["replay", "model.bir"]);
    assert!(shown.contains("[do ready := true]") && shown.contains("[notify(l): no thread waits]"), "{shown}");
    for view in ["steps", "table", "chart"] {
        let shown = case.entail(&["replay", "model.bir", "--as", view]);
        assert!(!shown.lines().any(|line| line.trim_start().starts_with("3 ")), "{view}:\n{shown}");
    }
    assert!(case.path("model.bir.trail").exists());
}

#[test]
fn threads_are_told_by_name_and_internal_variables_are_not() {
    let case = Case::new(MODEL);
    case.entail(&["check", "model.bir", "--no-opt"]);
    let told = case.entail(&["replay", "model.bir"]);
    assert!(told.contains("l.owner: none → Explainer(1)"), "{told}");
    assert!(told.contains("t: none → Third(2)"), "{told}");
    let json = case.entail(&["replay", "model.bir", "--as", "json"]);
    assert!(!json.contains("(waits)") && !json.contains("(depth)"), "{json}");
}

#[test]
fn alternatives_that_look_alike_are_told_apart() {
    let model = "system Alike { int x;
        active thread T() { loc a: do { choose do x := 1; do x := 2; do x := 1; end } goto b; loc b: do { assert x == 0; } return; }
    }";
    let case = Case::new(model);
    let choices = case.entail(&["graph", "model.bir", "--format", "json"]);
    for expected in ["[do x := 1]", "[do x := 2]", "[do x := 1 (number 2 of these)]"] {
        assert!(choices.contains(expected), "{expected} is not in\n{choices}");
    }
}
