//! A search that did not see everything says so, in every format, whatever ended it.

use serde_json::Value;
use std::process::{Command, Output};
use std::time::Duration;

/// About 10⁷ states; no run is wrong.
const LARGE: &str = "byte a, b, c, d;
active proctype P() { do :: a < 60 -> a++ :: a > 0 -> a-- od }
active proctype Q() { do :: b < 60 -> b++ :: b > 0 -> b-- od }
active proctype R() { do :: c < 60 -> c++ :: c > 0 -> c-- od }
active proctype S() { do :: d < 60 -> d++; assert(a + b + c + d < 1000) :: d > 0 -> d-- od }
ltl bounded { [] (a + b < 200) }
ltl again { [] <> (a + b + c + d < 300) }
ctl back { AG EF (a + b + c + d == 0) }";

fn command(options: &[&str]) -> (tempfile::TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.pml"), LARGE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(["check", "m.pml", "--reduce", "none"]).args(options).current_dir(folder.path());
    (folder, command)
}

fn run(options: &[&str]) -> Output {
    let (_folder, mut command) = command(options);
    command.output().unwrap()
}

/// What every limit must say, in each format.
fn check(options: &[&str], reason: &str) {
    let output = run(&[options, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(3), "{options:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let property = &report["properties"][0];
    assert_eq!(property["verdict"], "inconclusive", "{options:?}");
    let told = property["reason"].as_str().unwrap_or_default();
    assert!(told.contains(reason), "{options:?}: {told}");
    let store = &property["store"];
    assert!(store["coverage"].as_f64().is_none_or(|coverage| coverage < 1.0), "{options:?}: {store}");
    assert_ne!(store["guarantee"], "exact", "{options:?}");
    for format in ["text", "spin"] {
        let output = run(&[options, &["--format", format]].concat());
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{options:?}: {told}");
        assert!(told.contains(reason), "{options:?} {format}: {told}");
    }
}

#[test]
fn every_limit_is_the_reason_in_every_format() {
    for property in ["safety", "bounded", "again", "back"] {
        for (limit, value) in [("--time", "100ms"), ("--depth", "20")] {
            let reason = if limit == "--time" {
                "reached the time limit of 0.100 s"
            } else {
                "reached the depth limit of 20"
            };
            check(&["--property", property, limit, value], reason);
        }
    }
    check(
        &["--property", "safety", "--memory", "24M", "--scratch", "/nowhere/at/all", "--store", "plain"],
        "reached the memory limit of 24.0 MB",
    );
}

#[test]
fn lossy_stores_and_swarms_say_what_they_do_not_know() {
    let lossy = ["--property", "safety", "--depth", "5", "--store"];
    for store in [&["bitstate", "--array", "1K"][..], &["compact", "--hash-bits", "8"]] {
        check(&[&lossy[..], store].concat(), "reached the depth limit of 5");
        let timed = ["--property", "safety", "--time", "200ms", "--runs", "50000", "--store"];
        check(&[&timed[..], store].concat(), "reached the time limit of 0.200 s");
        let whole = ["--property", "safety", "--store"];
        check(&[&whole[..], store].concat(), "no error found in ");
    }
}

/// With this many collisions, the usual estimate would be that all states were missed.
#[test]
fn a_share_that_cannot_be_estimated_is_not_zero() {
    let output = run(&["--property", "safety", "--store", "bitstate", "--array", "1K"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("hash collisions omitted too many states to estimate the coverage"), "{told}");
    assert!(!told.contains("0.00%"), "{told}");
}

#[test]
fn an_interrupted_search_says_so() {
    for format in ["json", "text", "spin"] {
        let (_folder, mut command) = command(&["--property", "safety", "--format", format]);
        let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains("interrupted"), "{format}: {told}");
        if format == "json" {
            let report: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(report["properties"][0]["store"]["coverage"], Value::Null);
            assert_eq!(report["properties"][0]["store"]["guarantee"], "none");
        }
    }
}

#[test]
fn errors_that_were_not_all_counted_have_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let failing = LARGE.replace("< 1000", "< 3");
    std::fs::write(folder.path().join("m.pml"), failing).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let options = ["check", "m.pml", "--property", "safety", "--all-errors", "--depth", "12", "--format", "json"];
    let output = command.args(options).current_dir(folder.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let property = &report["properties"][0];
    assert_eq!(property["verdict"], "violated");
    assert_eq!(property["reason"], "reached the depth limit of 12");
    assert_eq!((&property["store"]["coverage"], &property["store"]["guarantee"]), (&Value::Null, &"none".into()));
}

#[test]
fn parts_of_memory_are_not_more_than_all_of_it() {
    let output = run(&["--property", "safety", "--store", "bitstate", "--depth", "3", "--format", "spin"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let megabytes = |words: &str| {
        let line = told.lines().find(|line| line.contains(words)).unwrap();
        line.split_whitespace().next().unwrap().parse::<f64>().unwrap()
    };
    assert!(megabytes("actual memory usage for states") <= megabytes("total actual memory usage"), "{told}");
    let output = run(&["--property", "safety", "--store", "bitstate", "--depth", "3"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains(" allocated for states ") && told.contains(" used at peak in total"), "{told}");
}

#[test]
fn variables_that_states_leave_out_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let model = "byte a[90]; byte b;\nactive proctype P() { byte i; do :: i < 90 -> a[i] = b; i++ :: b++ od }";
    std::fs::write(folder.path().join("m.pml"), model).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    let output = command.args(["check", "m.pml"]).current_dir(folder.path()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("states omit the variables `a`, `b`, which cannot change the verdict"), "{told}");
}
