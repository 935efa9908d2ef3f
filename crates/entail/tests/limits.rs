//! Models that are too large for something end in an answer that says so, not in a crash.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

/// A model in a folder of its own, where its trail goes too.
struct Written {
    folder: tempfile::TempDir,
}

impl Written {
    fn new(text: &str) -> Written {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("model.pml"), text).unwrap();
        Written { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("model.pml")
    }
}

fn check(model: &Path, options: &[&str]) -> Output {
    Command::new(ENTAIL).arg("check").args(options).arg(model).output().unwrap()
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Processes that go through many values each. Without an end, so that the search ends in some limit.
const LARGE: &str = "
    active [6] proctype counter() {
        byte near, far;
        do
        :: near++
        :: near > 200 -> far = far + near; near = 0
        od
    }";

/// A single run that is as long as there are states.
const DEEP: &str = "
    int steps;
    active proctype runner() {
        do
        :: steps < 100000000 -> steps++
        od
    }";

/// Processes that are started one after the other, so that states become ever longer, and have much to keep.
const LONG: &str = "
    proctype part(byte number) {
        int cells[60];
        byte at;
        do
        :: at < 60 -> cells[at] = cells[at] * 3 + number; at++
        :: at == 60 -> at = 0
        od
    }
    init {
        byte number;
        do
        :: number < 60 -> run part(number); number++
        :: else -> break
        od
    }";

#[test]
#[cfg(target_os = "linux")]
fn where_addresses_are_limited_a_search_ends_in_the_memory_limit() {
    for (text, search) in [
        (LARGE, "bfs"),
        (LARGE, "dfs"),
        (DEEP, "dfs"),
        (LONG, "bfs"),
        (LONG, "dfs"),
        (DEEP, "nested --property '[] <> (steps < 0)' --ltl '[] <> (steps < 0)'"),
    ] {
        let model = Written::new(text);
        for kilobytes in [100_000, 150_000] {
            // In one order of steps, there are too few states to fill the memory soon.
            let options = format!("--no-end --reduce none --scratch /nowhere/at/all --search {search}");
            let limited = format!("ulimit -v {kilobytes}; exec \"$0\" check {options} \"$1\"");
            let mut command = Command::new("sh");
            let checked = command.args(["-c", &limited, ENTAIL]).arg(model.path()).output().unwrap();
            let told = told(&checked);
            assert_eq!(checked.status.code(), Some(3), "{search} in {kilobytes} KB: {text}\n{told}");
            assert!(told.contains("inconclusive: reached the memory limit"), "{told}");
            assert!(told.contains("states stored"), "{told}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn where_addresses_are_limited_a_search_goes_on_with_less_of_each_state() {
    for (text, search) in [(LARGE, "bfs"), (LARGE, "dfs"), (DEEP, "dfs"), (LONG, "bfs")] {
        let model = Written::new(text);
        let options = format!("--no-end --reduce none --time 5s --search {search}");
        let limited = format!("ulimit -v 100000; exec \"$0\" check {options} \"$1\"");
        let checked = Command::new("sh").args(["-c", &limited, ENTAIL]).arg(model.path()).output().unwrap();
        let told = told(&checked);
        assert_eq!(checked.status.code(), Some(3), "{search}: {text}\n{told}");
        assert!(told.contains("is inconclusive"), "{told}");
    }
}

/// A model of 27,000 states, of which the last one is wrong; its states need about 200 KB.
const COUNTERS: &str = "
    byte done;
    active [3] proctype counter() {
        byte count;
        do
        :: count < 29 -> count++
        :: count == 29 -> break
        od;
        done++;
        assert(done < 3)
    }";

/// A model of 753,571 states, of which the last ones are wrong; without the process, its states need more than 4 MB.
const MANY: &str = "
    short total;
    active [3] proctype counter() {
        byte count;
        end: do
        :: d_step { count < 90 -> count++; total++; assert(total < 260) }
        od
    }";

#[test]
#[cfg(target_os = "linux")]
fn what_memory_has_no_room_for_goes_to_files_and_errors_are_still_found() {
    let model = Written::new(MANY);
    let told_of = |model: &Written, options: &[&str]| {
        told(&check(&model.path(), &[&["--no-opt", "--memory", "16M"], options].concat()))
    };
    let json = told_of(&model, &["--format", "json"]);
    assert!(json.contains(r#""verdict": "violated""#) && json.contains(r#""rungs": ["#), "{json}");
    assert!(json.contains(r#""steps": 260"#) && json.contains("model.pml.trail"), "{json}");
    let replayed = told(&Command::new(ENTAIL).arg("replay").arg(model.path()).output().unwrap());
    assert!(replayed.contains("assertion violated"), "{replayed}");
    let model = Written::new(&MANY.replace("total < 260", "total < 300"));
    for search in ["bfs", "dfs"] {
        let text = told_of(&model, &["--search", search]);
        assert!(text.contains("is inconclusive: no error found in an estimated "), "{text}");
        assert!(text.contains("memory ran short: after "), "{text}");
        let json = told_of(&model, &["--search", search, "--format", "json"]);
        assert!(json.contains(r#""rungs": ["#) && json.contains(r#""from_states": "#), "{json}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_room_for_files_it_is_said_why() {
    let model = Written::new(COUNTERS);
    let elsewhere = ["--no-opt", "--memory", "700K", "--scratch", "/nowhere/at/all"];
    let told_elsewhere = told(&check(&model.path(), &elsewhere));
    assert!(told_elsewhere.contains("; no room in /nowhere/at/all: "), "{told_elsewhere}");
    // Files may not be longer than a few blocks of 512 or 1024 bytes.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" check --no-opt --memory 700K --trail /dev/null \"$1\"";
    let checked = Command::new("sh").args(["-c", limited, ENTAIL]).arg(model.path()).output().unwrap();
    let told = told(&checked);
    assert_eq!(checked.status.code(), Some(3), "{told}");
    assert!(told.contains("reached the memory limit") && told.contains("; no room in "), "{told}");
}

#[test]
fn what_is_too_much_to_be_compiled_is_interpreted() {
    let mut text = "byte x[8];\n".to_owned();
    for process in 0..8 {
        writeln!(text, "active proctype p{process}() {{").unwrap();
        for number in 0..2500 {
            let other = (process + 1) % 8;
            writeln!(text, "x[{process}] = (x[{process}] * 5 + x[{other}] + {number}) % 251;").unwrap();
        }
        text.push_str("}\n");
    }
    let model = Written::new(&text);
    let checked = check(&model.path(), &["--depth", "3"]);
    let told_text = told(&checked);
    assert_eq!(checked.status.code(), Some(3), "{told_text}");
    assert!(told_text.contains("interpreted: too much code"), "{told_text}");
    let json = told(&check(&model.path(), &["--depth", "3", "--format", "json"]));
    assert!(
        json.contains(r#""backend": "interpret""#) && json.contains(r#""fallback": "too much code""#),
        "{json}"
    );
}

#[test]
fn a_state_that_becomes_too_large_is_an_error_of_the_step_that_does_it() {
    let model = Written::new(
        "proctype p() { int cells[2000]; cells[1] == 2 }
        active proctype main() { byte i; do :: i < 20 -> run p(); i++ :: else -> break od }",
    );
    for backend in ["jit", "interpret"] {
        let checked = check(&model.path(), &["--backend", backend]);
        let told = told(&checked);
        assert_eq!(checked.status.code(), Some(1), "{told}");
        assert!(told.contains("`run p()`: the state would exceed 65536 bytes"), "{told}");
    }
}
