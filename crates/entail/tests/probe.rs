//! Errors that lie deep are found by a depth-first probe, and the report says so.

use serde_json::Value;
use std::process::Command;

/// Breadth first, the error is 141,511,505 states away.
const DEEP: &str = "byte n, a, b, c;
active proctype P()
{
	do
	:: n < 200 -> n++
	:: n == 200 -> assert(a == b && b == c)
	:: a++
	:: b++
	:: c++
	od
}
ltl small { [] (n < 200 || a + b + c == 0) }";

fn entail(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn deep() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.pml"), DEEP).unwrap();
    folder
}

/// The report on one property.
fn checked(folder: &tempfile::TempDir, options: &[&str]) -> Value {
    let usual = ["check", "m.pml", "--format", "json"];
    let mut report: Value = serde_json::from_str(&entail(folder, &[&usual[..], options].concat())).unwrap();
    report["properties"][0].take()
}

#[test]
fn a_deep_error_is_found_in_depth() {
    let folder = deep();
    // With several threads, a probe begins after a round, which may have reached a greater depth.
    let safety = checked(&folder, &["--property", "safety", "--threads", "1"]);
    assert_eq!((&safety["verdict"], &safety["states"]["depth"]), (&"violated".into(), &27.into()), "{safety}");
    assert_eq!(safety["counterexample"]["found_by"], "probe");
    // Twice for each number, and three steps more.
    assert_eq!(safety["counterexample"]["steps"], 403);
    let told = entail(&folder, &["replay", "m.pml"]);
    assert!(told.contains("assertion violated: a == b && b == c"), "{told}");
    let told = entail(&folder, &["check", "m.pml", "--property", "safety"]);
    assert!(told.contains("This run was found by a depth-first probe"), "{told}");
}

#[test]
fn so_is_a_run_that_breaks_a_formula() {
    let folder = deep();
    let broken = checked(&folder, &["--property", "small"]);
    assert_eq!((&broken["verdict"], &broken["counterexample"]["found_by"]), (&"violated".into(), &"probe".into()));
    let told = entail(&folder, &["replay", "m.pml"]);
    assert!(told.contains("the property is violated, however the run continues"), "{told}");
}

/// The same, where a search without probes is soon over too.
const SHALLOW: &str = "byte n, a, b, c;
active proctype P()
{
	do
	:: n < 40 -> n++
	:: n == 40 -> assert(a == b && b == c)
	:: a < 15 -> a++
	:: b < 15 -> b++
	:: c < 15 -> c++
	od
}";

/// An explicit search order disables probes; so do a depth limit, `--all-errors` and `--no-opt`.
#[test]
fn no_search_is_probed_where_something_else_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.pml"), SHALLOW).unwrap();
    let found_by = |options: &[&str]| {
        let safety = checked(&folder, options);
        assert_eq!(safety["verdict"], "violated", "{options:?}");
        assert!(safety["states"]["stored"].as_u64().unwrap() > 1 << 16, "{options:?}");
        safety["counterexample"]["found_by"].clone()
    };
    assert_eq!(found_by(&[]), "probe");
    for options in [&["--search", "bfs"][..], &["--all-errors"], &["--no-opt"], &["--depth", "1000"]] {
        assert_eq!(found_by(options), Value::Null, "{options:?}");
    }
}
