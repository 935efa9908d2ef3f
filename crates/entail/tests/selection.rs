//! Which properties a command checks, by which names, and with which values of constants.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Its assertion fails, and so does `late`.
const FAILING: &str = "byte x;
active proctype P() { x = 1; assert(x == 2) }
ltl late { <> (x == 3) }";

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

    /// The exit status, and the verdict of each property.
    fn verdicts(&self, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
        let output = self.run(&[&["check", "--format", "json"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let properties = report["properties"].as_array().unwrap().iter();
        let word = |property: &Value, key: &str| property[key].as_str().unwrap().to_owned();
        let verdicts =
            properties.map(|property| format!("{} {}", word(property, "name"), word(property, "verdict")));
        (output.status.code(), verdicts.collect())
    }
}

#[test]
fn a_formula_on_the_command_line_hides_no_failing_assertion() {
    let folder = Folder::with("m.pml", FAILING);
    folder.write("formula", "[] (x < 2)");
    folder.write("claim", "never { do :: x == 2 -> break :: else od }");
    for (option, given, name) in [
        ("--ltl", "[] (x < 2)", "[] (x < 2)"),
        ("--ctl", "AG (x < 2)", "AG (x < 2)"),
        ("-F", "formula", "[] (x < 2)"),
        ("-N", "claim", "claim"),
    ] {
        let (status, verdicts) = folder.verdicts(&["m.pml", option, given]);
        let holds = format!("{name} holds");
        assert!(verdicts.starts_with(&["safety violated".to_owned()]), "{option}: {verdicts:?}");
        assert!(verdicts.contains(&"late violated".to_owned()), "{option}: {verdicts:?}");
        assert!(verdicts.contains(&holds), "{option}: {verdicts:?}");
        assert_eq!(status, Some(1), "{option}");
        // Only `--property` selects.
        let (_, verdicts) = folder.verdicts(&["m.pml", option, given, "--property", "late"]);
        assert_eq!(verdicts, ["late violated".to_owned(), holds.clone()], "{option}");
        let (status, verdicts) = folder.verdicts(&["m.pml", option, given, "--property", name]);
        assert_eq!((status, verdicts), (Some(0), vec![holds]), "{option}");
    }
    let formulas = ["m.pml", "--property", "safety", "--ltl", "[] (x < 2)", "--ctl", "AG (x < 1)"];
    let expected = ["safety violated", "[] (x < 2) holds", "AG (x < 1) violated"];
    assert_eq!(folder.verdicts(&formulas).1, expected);
}

#[test]
fn a_formula_may_be_called_like_a_built_in_property() {
    let model = "byte x;
        ltl safety { [] (x < 1) }
        ltl progress { <> (x == 1) }
        never acceptance { do :: x == 9 -> break :: else od }
        active proctype P() { x = 1; assert(x == 1) }";
    let folder = Folder::with("m.pml", model);
    let expected = ["safety holds", "ltl:safety violated", "ltl:progress holds", "never:acceptance holds"];
    assert_eq!(folder.verdicts(&["m.pml"]), (Some(1), expected.map(str::to_owned).to_vec()));
    for (name, verdict) in [
        ("safety", "safety holds"),
        ("ltl:safety", "ltl:safety violated"),
        ("ltl:progress", "ltl:progress holds"),
        ("progress", "progress holds"),
        ("never:acceptance", "never:acceptance holds"),
        ("acceptance", "acceptance holds"),
    ] {
        assert_eq!(folder.verdicts(&["m.pml", "--property", name]).1, [verdict]);
        // A slice keeps the names.
        assert_eq!(folder.verdicts(&["m.pml", "--slice", "--property", name]).1, [verdict]);
    }
    let (_, told) = folder.told(&["check", "m.pml"]);
    assert!(told.contains("warning: `safety` is also the name of a built-in property\n --> m.pml:2:13"), "{told}");
    assert!(told.contains("write `--property ltl:safety`"), "{told}");
}

#[test]
fn the_value_given_for_a_constant_wins_over_the_one_in_the_model() {
    let folder = Folder::with("m.pml", "#define N 4\nbyte x = N;\nactive proctype P() { assert(x < 7) }");
    let (status, told) = folder.told(&["check", "m.pml", "--for", "N=5..9"]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("safety holds for N = 5..6 (2 values)"), "{told}");
    assert!(told.contains("safety is violated for N = 7..9 (3 values)"), "{told}");
    assert!(!told.contains("warning"), "{told}");
    // Nor does `#undef` take it away.
    folder.write("m.pml", "#undef N\n#define N 4\nbyte x = N;\nactive proctype P() { assert(x < 7) }");
    let (_, told) = folder.told(&["check", "m.pml", "--for", "N=6..7"]);
    assert!(told.contains("m.pml, N = 7: safety is violated"), "{told}");
}

#[test]
fn a_constant_that_nothing_uses_cannot_be_given_values() {
    let promela = "#define N 4\n#define M N\n#ifdef K\n#endif\nbyte x = 1;\nactive proctype P() { assert(x == 1) }";
    let folder = Folder::with("m.pml", promela);
    folder.write(
        "m.esml",
        "MODEL M; CONST N = 1; TYPE d = 0..3; PROCESS P; VAR x: d; BEGIN x := N END P; BEGIN P END M",
    );
    folder.write(
        "m.bir",
        "system m { const C { N = 1; } int x := 0; active thread T() { loc a: do { x := C.N; } return; } }",
    );
    for (model, name, reason) in [
        ("m.pml", "N", "nothing in the model uses a macro `N`"),
        ("m.pml", "M", "nothing in the model uses a macro `M`"),
        ("m.pml", "K", "nothing in the model uses a macro `K`"),
        ("m.pml", "NN", "nothing in the model uses a macro `NN`"),
        ("m.esml", "NN", "the model has no constant `NN`"),
        ("m.bir", "NN", "the model has no constant `NN`"),
    ] {
        let (status, told) = folder.told(&["check", model, "--for", &format!("{name}=1..2")]);
        assert_eq!(status, Some(2), "{model} {name}: {told}");
        assert!(told.contains(reason), "{model} {name}: {told}");
    }
    // For `-D`, a macro that nothing uses stays legal, as for the C preprocessor.
    assert_eq!(folder.told(&["check", "m.pml", "-D", "K=1"]).0, Some(0));
    for model in ["m.esml", "m.bir"] {
        let (status, told) = folder.told(&["check", model, "--for", "N=1..2"]);
        assert_eq!(status, Some(0), "{told}");
    }
}

#[test]
fn a_definition_in_the_model_does_not_silently_replace_an_option() {
    let folder = Folder::with("m.pml", "#define N 4\nbyte x = N;\nactive proctype P() { assert(x == 4) }");
    let (status, told) = folder.told(&["check", "m.pml", "-D", "N=5"]);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("warning: this definition replaces the value that `-D N` gives"), "{told}");
    assert!(told.contains("write `#ifndef N` before it"), "{told}");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = Folder::with("m.pml", FAILING);
    for (options, reason) in [
        (&["--no-opt", "--reduce", "por"][..], "leave out `--reduce por` or `--no-opt`"),
        (&["--no-opt", "--reduce", "ample"], "leave out `--reduce ample` or `--no-opt`"),
        (&["--hash-bits", "20"], "`--hash-bits` needs `--store compact` or `--store bitstate`"),
        (&["--store", "plain", "--hash-bits", "20"], "`--hash-bits` needs"),
        (&["--store", "compact", "--array", "1M"], "`--array` needs `--store bitstate`"),
        (&["--cache-slots", "20"], "`--cache-slots` needs `--store cache`"),
        (&["--cache-probes", "16"], "`--cache-probes` needs `--store cache`"),
        (&["--store", "tree", "--cache-collisions", "16"], "`--cache-collisions` needs `--store cache`"),
        (&["--every", "5m"], "add `--checkpoint FILE`"),
        (&["--for", "N=1..2", "-D", "N=1"], "give values to the same name"),
    ] {
        let (status, told) = folder.told(&[&["check", "m.pml"], options].concat());
        assert_eq!(status, Some(2), "{options:?}: {told}");
        assert!(told.contains(reason), "{options:?}: {told}");
    }
    for options in [&["--no-opt", "--reduce", "none"][..], &["--store", "cache", "--cache-slots", "100"]] {
        assert_eq!(folder.told(&[&["check", "m.pml"], options].concat()).0, Some(1), "{options:?}");
    }
}
