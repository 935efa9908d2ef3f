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
        (DEEP, "nested --ltl '[] <> (steps < 0)'"),
    ] {
        let model = Written::new(text);
        for kilobytes in [100_000, 150_000] {
            // In one order of steps, there are too few states to fill the memory soon.
            let options = format!("--no-end --reduce none --search {search}");
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
