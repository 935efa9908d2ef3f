//! The log of a search has all that its report counts.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs `entail check` in a folder of its own, where `log` is.
fn check(folder: &Path, args: &[&str], model: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(["check", "--trail", "/dev/null", "--format", "json"]).args(args).arg(model);
    command.current_dir(folder).output().unwrap()
}

/// What a log says of its last search for each property, in order: how many states are new, and how many steps led to known ones.
fn counted(log: &str) -> Vec<(&str, u64, u64)> {
    let mut searches: Vec<(&str, u64, u64)> = Vec::new();
    let mut inside = 0;
    for line in log.lines() {
        let event = line.strip_prefix("event=").and_then(|rest| rest.split(' ').next()).unwrap();
        match event {
            "begin" => {
                let property = line.rsplit_once("property=").unwrap().1;
                searches.retain(|(known, ..)| *known != property);
                searches.push((property, 0, 0));
                inside = 0;
            }
            "inside" => inside += if line.ends_with("yes") { 1 } else { -1 },
            "new" => searches.last_mut().unwrap().1 += 1,
            "match" | "cycle" if inside == 0 => searches.last_mut().unwrap().2 += 1,
            _ => {}
        }
    }
    searches
}

#[test]
fn a_log_has_all_states_and_steps_that_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let models = [
        "lock.pml",
        "peterson-live.pml",
        "philosophers-live.pml",
        "wordcount.pml",
        "leader.pml",
        "reset.pml",
        "esml/buffer.esml",
        "bir/BoundedBuffer.bir",
    ];
    for model in models {
        for how in [
            &[][..],
            &["--search", "dfs"],
            &["--search", "nested", "--reduce", "none"],
            &["--no-opt", "--store", "bitstate", "--array", "256K"],
            &["--reduce", "por", "--backend", "interpret"],
        ] {
            let output = check(
                folder.path(),
                &[how, &["--log", "search", "--log-file", "log"]].concat(),
                &examples().join(model),
            );
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let log = fs::read_to_string(folder.path().join("log")).unwrap();
            let told = counted(&log);
            let properties = report["properties"].as_array().unwrap();
            assert_eq!(told.len(), properties.len(), "{model} {how:?}");
            for ((name, new, known), property) in told.into_iter().zip(properties) {
                assert_eq!(name, property["name"].to_string());
                let states = &property["states"];
                assert_eq!(states["stored"], new, "{model} {how:?} {name}");
                // Questions of branching time are asked inside of others.
                if property["kind"] != "ctl" {
                    assert_eq!(states["matched"], known, "{model} {how:?} {name}");
                }
            }
        }
    }
}

#[test]
fn only_what_is_asked_for_is_written_and_numbers_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let log = |kinds: &str| {
        check(folder.path(), &["--log", kinds, "--log-file", "log"], &examples().join("peterson-wrong.pml"));
        fs::read_to_string(folder.path().join("log")).unwrap()
    };
    let (all, some) = (log("search"), log("error,new"));
    let wanted =
        |line: &&str| ["begin ", "error ", "new "].iter().any(|kind| line.starts_with(&format!("event={kind}")));
    let expected: Vec<&str> = all.lines().filter(wanted).collect();
    assert!(expected.len() > 50 && expected.len() < all.lines().count() / 2, "{}", expected.len());
    assert_eq!(some.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_log_that_cannot_be_written_is_a_mistake_or_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let model = examples().join("counter.pml");
    let output = check(folder.path(), &["--log", "search", "--log-file", "no/such/folder"], &model);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("cannot write no/such/folder"), "{complaint}");
    let mut limited = Command::new("bash");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "bash"]);
    limited.args([
        env!("CARGO_BIN_EXE_entail"),
        "check",
        "--trail",
        "/dev/null",
        "--log",
        "search",
        "--log-file",
        "log",
    ]);
    let output = limited.arg(&model).current_dir(folder.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "the verdict is there all the same");
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("warning: cannot write log"), "{complaint}");
}

#[test]
fn an_array_that_fills_up_is_searched_again_with_fewer_bits_for_each_state() {
    let folder = tempfile::tempdir().unwrap();
    for (array, searches, bits) in [("64K", 1, "k = 4 "), ("512", 2, "k = 3 ")] {
        let how = ["--no-opt", "--store", "bitstate", "--array", array, "--log", "error", "--log-file", "log"];
        let output = check(folder.path(), &how, &examples().join("lock.pml"));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["properties"][0]["verdict"], "inconclusive", "{report}");
        let formula = report["properties"][0]["store"]["formula"].as_str().unwrap();
        assert!(formula.contains(bits), "{formula}");
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert_eq!(log.lines().filter(|line| line.starts_with("event=begin")).count(), searches, "{log}");
    }
}
