//! Trails: which file each goes to, what it knows about the check that made it, and what `replay` does with that.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn with(name: &str, text: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write(name, text);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn exists(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
        command.args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// The exit status, and what is printed.
    fn told(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (output.status.code(), text)
    }

    /// The commands that a check prints to see its runs, each run by a shell.
    fn follow_hints(&self, arguments: &[&str]) -> Vec<(Option<i32>, String)> {
        let (_, told) = self.told(arguments);
        let hints = told.lines().filter_map(|line| line.split_once("to see it:  entail "));
        let hints: Vec<&str> = hints.map(|(_, command)| command).collect();
        assert!(!hints.is_empty(), "{told}");
        let run = |hint: &&str| {
            let command = format!("{} {hint}", env!("CARGO_BIN_EXE_entail"));
            let output = Command::new("sh").args(["-c", &command]).current_dir(self.0.path()).output().unwrap();
            let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
            (output.status.code(), text)
        };
        hints.iter().map(run).collect()
    }
}

/// Its assertion fails after as many steps as `N` says.
const COUNTER: &str = "#ifndef N
#define N 2
#endif
byte x;
active proctype P() { do :: x < N -> x++ :: else -> break od; assert(x < 2) }
ltl small { [] (x < 2) }
ltl late { <> (x == 9) }";

#[test]
fn every_property_has_a_trail_of_its_own() {
    let folder = Folder::with("m.pml", COUNTER);
    let formulas = ["--ltl", "[] (x < 1)", "--ltl", "<> (x > 7)", "--ctl", "AF AG (x == 3)"];
    for (trail, files) in
        [("T", ["T", "T.small", "T.late"]), ("t.trail", ["t.trail", "t.small.trail", "t.late.trail"])]
    {
        let arguments = [&["check", "m.pml", "--format", "json", "--trail", trail], &formulas[..]].concat();
        let report: Value = serde_json::from_slice(&folder.run(&arguments).stdout).unwrap();
        let properties = report["properties"].as_array().unwrap();
        let trails: Vec<String> = properties
            .iter()
            .map(|property| property["counterexample"]["trail"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(trails[..3], files);
        let mut different = trails.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 6, "{trails:?}");
        for (property, trail) in properties.iter().zip(&trails) {
            let name = property["name"].as_str().unwrap();
            let last = folder.read(trail).lines().last().unwrap().to_owned();
            assert!(last.contains(&format!("\"name\":\"{name}\"")), "{trail}: {last}");
        }
    }
}

#[test]
fn the_runs_of_a_formula_of_branching_time_are_numbered() {
    let folder = Folder::with("m.pml", COUNTER);
    let formula = "EF (x == 1) && EF (x == 2)";
    let (_, told) = folder.told(&["check", "m.pml", "--ctl", formula, "--trail", "T", "--property", "late"]);
    assert!(folder.exists("T.late") && folder.exists("T.EF__x____1_____EF__x____2_"), "{told}");
    assert!(folder.exists("T.EF__x____1_____EF__x____2_.2"), "{told}");
}

#[test]
fn the_commands_in_a_report_work_as_they_are_printed() {
    for name in ["m.pml", "my model's.pml"] {
        let folder = Folder::with(name, COUNTER);
        folder.write("claim", "never { do :: x == 2 -> break :: else od }");
        folder.write("formula", "<> (x == 7)");
        for options in [
            &["-D", "N=3", "--property", "safety"][..],
            &["-D", "N=4", "--property", "small"],
            &["-D", "N=4"],
            &["--ltl", "[] (x != 1)"],
            &["--ctl", "AG (x != 1)", "-D", "N=5"],
            &["-N", "claim"],
            &["-F", "formula"],
            &["--slice"],
            &["--slice", "--property", "late", "-D", "N=3"],
            &["--trail", "the trail"],
            &["--for", "N=3..3"],
        ] {
            let arguments = [&["check", name], options].concat();
            for (status, told) in folder.follow_hints(&arguments) {
                assert_eq!(status, Some(0), "{name} {options:?}: {told}");
                assert!(!told.contains("warning") && !told.contains("error:"), "{name} {options:?}: {told}");
            }
        }
    }
    let esml = "MODEL M; TYPE d = 0..3; PROCESS P; VAR x: d; BEGIN x := 3; x := x + 1 END P; BEGIN P END M";
    let folder = Folder::with("m.esml", esml);
    for (status, told) in folder.follow_hints(&["check", "m.esml", "--granularity", "statement"]) {
        assert_eq!(status, Some(0), "{told}");
        assert!(told.contains("read with `--granularity statement`"), "{told}");
    }
}

#[test]
fn a_trail_is_replayed_with_the_options_it_was_made_with() {
    let folder = Folder::with("m.pml", COUNTER);
    folder.run(&["check", "m.pml", "-D", "N=5", "--property", "safety"]);
    for replay in [&["replay", "m.pml"][..], &["simulate", "m.pml", "--along", "m.pml.trail", "--as", "steps"]] {
        let (_, told) = folder.told(replay);
        assert!(told.contains("note: the model is read with `-D N=5`, as when m.pml.trail was made"), "{told}");
        assert!(told.contains("x: 4 → 5"), "{told}");
    }
    // Other options are used, and pointed out.
    let (_, told) = folder.told(&["replay", "m.pml", "-D", "N=3"]);
    assert!(told.contains("warning: m.pml.trail was made with `-D N=5`"), "{told}");
    assert!(told.contains("warning: m.pml was changed after m.pml.trail was written"), "{told}");
    // A trail of a simulation knows as much.
    folder.run(&["simulate", "m.pml", "-D", "N=4", "--trail", "run", "--seed", "1"]);
    let (_, told) = folder.told(&["replay", "m.pml", "run"]);
    assert!(told.contains("`-D N=4`") && told.contains("x: 3 → 4"), "{told}");
    // Comments and formulas do not change runs; another property is pointed out.
    folder.write("m.pml", &format!("/* new */ {}", COUNTER.replace("x == 9", "x == 8")));
    assert!(!folder.told(&["replay", "m.pml"]).1.contains("warning"));
    let (_, told) = folder.told(&["replay", "m.pml", "--property", "late"]);
    assert!(told.contains("warning: m.pml.trail was written for the property `safety`, not for `late`"), "{told}");
}

#[test]
fn a_formula_that_was_changed_since_is_pointed_out() {
    let folder = Folder::with("m.pml", COUNTER);
    folder.run(&["check", "m.pml", "--property", "late"]);
    assert!(!folder.told(&["replay", "m.pml"]).1.contains("warning"));
    folder.write("m.pml", &COUNTER.replace("x == 9", "x == 8"));
    let (_, told) = folder.told(&["replay", "m.pml"]);
    assert!(told.contains("warning: when m.pml.trail was written, `late` was"), "{told}");
    folder.write("m.pml", &COUNTER.replace("ltl late", "ltl later"));
    let (status, told) = folder.told(&["replay", "m.pml"]);
    assert!(told.contains("was written for `late`, which the model no longer has"), "{told}");
    assert_eq!(status, Some(0), "{told}");
}

#[test]
fn the_trail_of_a_property_that_holds_now_is_gone() {
    let folder = Folder::with("m.pml", COUNTER);
    folder.run(&["check", "m.pml"]);
    assert!(folder.exists("m.pml.trail") && folder.exists("m.pml.small.trail"));
    // It holds with other options: what these trails show is as true as before.
    folder.run(&["check", "m.pml", "-D", "N=1"]);
    assert!(folder.exists("m.pml.trail") && folder.exists("m.pml.small.trail"));
    folder.write("m.pml", &COUNTER.replace("N 2", "N 1"));
    let (_, told) = folder.told(&["check", "m.pml"]);
    assert!(!folder.exists("m.pml.trail") && !folder.exists("m.pml.small.trail"), "{told}");
    assert!(told.contains("note: removed m.pml.trail, an earlier run that broke `safety`"), "{told}");
    let (status, told) = folder.told(&["replay", "m.pml"]);
    assert_eq!(status, Some(2), "{told}");
    assert!(told.contains("there is no m.pml.trail; run `entail check m.pml` first"), "{told}");
    assert!(told.contains("or replay one of these: m.pml.late.trail"), "{told}");
    // What is not a trail of ours stays.
    for other in ["1:0:0\n", "my notes\n"] {
        folder.write("m.pml.trail", other);
        folder.run(&["check", "m.pml"]);
        assert_eq!(folder.read("m.pml.trail"), other);
    }
}

#[test]
fn spin_follows_a_trail_that_says_where_it_comes_from() {
    let folder = Folder::with("m.pml", COUNTER);
    folder.run(&["check", "m.pml", "--property", "safety"]);
    assert!(folder.read("m.pml.trail").contains("\n# entail {"));
    let Ok(spin) = Command::new("spin").args(["-t", "-p", "m.pml"]).current_dir(folder.0.path()).output() else {
        return;
    };
    let told = String::from_utf8(spin.stdout).unwrap();
    assert!(told.contains("assertion violated") && told.contains("trail ends after"), "{told}");
}
