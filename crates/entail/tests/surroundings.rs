//! A command among others: whatever its output, its stack and its input are, it ends in a status and a message.

#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("holds.pml", "active proctype P() { printf(\"hello\") }\n"),
        ("violated.pml", "active proctype P() { assert(false) }\n"),
        ("wrong.pml", "active proctype P() { x = 1 }\n"),
        ("long.pml", "active proctype P() { do :: printf(\"%d\", _pid) od }\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Runs a line of a shell in which `entail` is the command; its status is that of `entail`.
fn shell(folder: &Path, line: &str) -> Output {
    let script = format!("set -o pipefail; entail() {{ \"$ENTAIL\" \"$@\"; }}; {line}");
    Command::new("bash").args(["-c", &script]).env("ENTAIL", ENTAIL).current_dir(folder).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn the_status_is_that_of_the_verdict_although_nobody_reads_the_report() {
    let folder = folder();
    for (command, status) in [
        ("check holds.pml", 0),
        ("check violated.pml", 1),
        ("check violated.pml --format json", 1),
        ("check violated.pml --format spin", 1),
        ("check wrong.pml", 2),
        ("check violated.pml --depth 0 --no-assert", 3),
        ("check holds.pml --log search", 0),
        ("replay violated.pml violated.pml.trail", 0),
        ("simulate holds.pml --seed 1", 0),
        ("simulate violated.pml --seed 1 --as steps", 1),
        ("show automata holds.pml", 0),
        ("graph holds.pml", 0),
        ("slice holds.pml", 0),
        ("ltl '[] p'", 0),
        ("--help", 0),
        ("check --help", 0),
        ("--version", 0),
        ("check --unknown", 2),
    ] {
        shell(folder.path(), "entail check violated.pml");
        for to in [">&-", "| true", "| head -c 1 >/dev/null", "2>&-", ">&- 2>&-", "2>/dev/full", "<&- >&- 2>&-"] {
            let output = shell(folder.path(), &format!("entail {command} {to}"));
            assert_eq!(output.status.code(), Some(status), "{command} {to}: {}", told(&output));
        }
        // The requested output is lost.
        let output = shell(folder.path(), &format!("entail {command} >/dev/full"));
        let writes_to_stderr = command == "check --unknown";
        assert_eq!(output.status.code(), Some(2), "{command}: {}", told(&output));
        let complains = told(&output).contains("error: cannot write: No space left on device");
        assert!(complains || writes_to_stderr, "{command}: {}", told(&output));
    }
}

#[test]
fn a_run_without_end_ends_when_its_reader_leaves() {
    let folder = folder();
    let output = shell(folder.path(), "entail simulate long.pml --seed 1 --steps 1000000000 | head -c 10");
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
}

#[test]
fn a_small_stack_is_enough() {
    let folder = folder();
    for kilobytes in [64, 128, 8192] {
        for (command, status) in [
            ("--version", 0),
            ("check holds.pml", 0),
            ("check violated.pml", 1),
            ("check wrong.pml", 2),
            ("check violated.pml --format json --ltl '[] (true U false)'", 1),
            ("check holds.pml --store bitstate --runs 3 --threads 2", 3),
            ("replay violated.pml", 0),
            ("simulate holds.pml --seed 1", 0),
            ("graph holds.pml --format svg", 0),
            ("show code holds.pml", 0),
        ] {
            let output = shell(folder.path(), &format!("ulimit -s {kilobytes}; entail {command}"));
            assert_eq!(output.status.code(), Some(status), "{kilobytes} KB, {command}: {}", told(&output));
        }
    }
}

/// Levels of this model have more states than are worth several threads.
const LARGE: &str = "byte a, b;
active proctype A() { do :: a < 30 -> a++ od }
active proctype B() { do :: b < 30 -> b++ od }
active proctype C() { byte c; do :: c < 30 -> c++ od }
active proctype D() { bool d; do :: d = !d od }
";

const STATES: u64 = 453_962;

/// How a large model is searched, in words of the report.
fn search(before: &str, options: &str) -> Value {
    let folder = folder();
    fs::write(folder.path().join("large.pml"), LARGE).unwrap();
    let command = format!("{before} \"$ENTAIL\" check large.pml --no-opt --no-end --format json {options}");
    let output = shell(folder.path(), &command);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    assert_eq!(report["properties"][0]["verdict"], "holds", "{report}");
    assert_eq!(report["properties"][0]["states"]["stored"], STATES, "{report}");
    report["properties"][0]["search"].clone()
}

/// The number of threads that a search of a large model uses.
fn threads(before: &str, options: &str) -> u64 {
    search(before, options)["threads"].as_u64().expect("a number")
}

#[test]
fn the_phases_of_a_search_are_in_the_report_if_they_are_measured() {
    assert_eq!(search("", "--threads 3")["phases"], Value::Null);
    for (how, threads) in [("together", 3), ("in-turn", 1)] {
        let found = search("", &format!("--threads 3 --phases {how}"));
        assert_eq!(found["threads"], threads, "{found}");
        for phase in ["expansion", "lookup"] {
            let number = |figure: &str| found["phases"][phase][figure].as_f64().expect(figure);
            assert!(number("count") > 0.0 && 0.0 < number("longest_s"), "{found}");
            assert!(number("longest_s") < number("work_s"), "{found}");
        }
    }
}

#[test]
fn a_search_uses_the_cores_that_it_may_use() {
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    let smt = fs::read_to_string("/sys/devices/system/cpu/smt/active").unwrap_or_default();
    let least = if smt.trim() == "1" { cores.div_ceil(8) } else { cores };
    assert!((least..=cores).contains(&threads("", "")));
    let only_one = "taskset -c $(sed -n 's/^Cpus_allowed_list:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/self/status)";
    assert_eq!(threads(only_one, ""), 1);
    assert_eq!(threads(only_one, "--threads 3"), 3);
    assert_eq!(threads("", &format!("--threads {}", 2 * cores)), 2 * cores);
    assert_eq!(threads("", "--search dfs"), 1);
    assert_eq!(threads("", "--log error"), 1);
}

/// Another user, who runs no other process.
const ALONE: &str = "setpriv --reuid 54321 --regid 54321 --clear-groups";

#[test]
fn a_search_that_may_start_no_threads_has_one() {
    if !shell(Path::new("."), &format!("{ALONE} \"$ENTAIL\" --version")).status.success() {
        eprintln!("skipped: only root becomes another user");
        return;
    }
    // Further ones are for Ctrl-C and for the command itself.
    let folder = folder();
    fs::write(folder.path().join("large.pml"), LARGE).unwrap();
    let search = |most: u32, options: &str| {
        let command =
            format!("{ALONE} prlimit --nproc={most} \"$ENTAIL\" check large.pml --trail /dev/null {options}");
        let output = shell(folder.path(), &command);
        (output.status.code(), told(&output))
    };
    const NOTE: &str = "no further threads could be started: Resource temporarily unavailable";
    let whole = "--no-opt --no-end --threads 3";
    // The search itself is one of the threads, and there are no more than processors.
    let helpers = std::thread::available_parallelism().unwrap().get().min(3) as u32 - 1;
    for most in 3..8 {
        let (status, told) = search(most, whole);
        assert_eq!(status, Some(0), "{most}: {told}");
        assert!(told.contains("  453 962 states stored"), "{most}: {told}");
        let has_threads = most >= 3 + helpers;
        assert_eq!(told.matches(NOTE).count(), usize::from(!has_threads), "{most}: {told}");
        assert_eq!(told.contains("3 threads"), has_threads, "{most}: {told}");
        let (status, told) = search(most, "--no-end --store bitstate --array 64K --runs 3 --threads 3");
        assert_eq!(status, Some(3), "{most}: {told}");
        assert_eq!(told.matches(NOTE).count(), usize::from(most < 6), "{most}: {told}");
    }
    let (status, told) = search(1, whole);
    assert!(status == Some(2) && told.contains("error: cannot start a thread"), "{told}");
}

/// `inner`, repeated between two other texts.
fn nested(before: &str, inner: &str, after: &str) -> String {
    const DEPTH: usize = 100_000;
    format!("{}{inner}{}", before.repeat(DEPTH), after.repeat(DEPTH))
}

#[test]
fn nesting_without_end_is_read_or_refused() {
    let folder = folder();
    let promela = |statement: String| {
        format!("byte x, a[2]; int i; chan c = [1] of {{ byte }}; active proctype P() {{ {statement} }}")
    };
    let esml = |statement: String| {
        format!(
            "MODEL M; TYPE digit = 0..1; line = {{write(digit)}}; VAR l: line;\n\
             PROCESS P(OUT l: line); VAR n: digit; BEGIN {statement} END P;\n\
             PROCESS Q(IN l: line); VAR n: digit; BEGIN l?write(n) END Q;\nBEGIN P(l); Q(l) END M"
        )
    };
    let bir = |action: String| format!("system S {{ int x; active thread T() {{ loc a: {action} return; }} }}");
    let hoa = |name: String, acceptance: String, label: String| {
        format!(
            "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"{name}\"\nAcceptance: 1 {acceptance}\n--BODY--\nState: 0\n[{label}] 0 {{0}}\n--END--\n"
        )
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for (before, inner, after) in [
        ("(", "x", ")"),
        ("!", "x", ""),
        ("-", "x", ""),
        ("~", "x", ""),
        ("1+", "x", ""),
        ("x && ", "x", ""),
        ("x -> 1 : ", "x", ""),
        ("(x -> 1 : ", "x", ")"),
        ("a[", "0", "]"),
        ("eval(", "x", ")"),
        ("run P(", "x", ")"),
        ("enabled(", "x", ")"),
        ("(", "x", ""),
    ] {
        files.push(("pml".into(), promela(format!("i = {}", nested(before, inner, after)))));
        files.push(("pml".into(), format!("byte x; ltl f {{ {} }} init {{ skip }}", nested(before, inner, after))));
        files.push(("pml".into(), format!("#if {}\n#endif\ninit {{ skip }}", nested(before, inner, after))));
    }
    for (before, inner, after) in [
        ("{ ", "skip", " }"),
        ("atomic { ", "skip", " }"),
        ("d_step { ", "skip", " }"),
        ("if :: ", "skip", " fi"),
        ("do :: ", "skip", " od"),
        ("do :: ", "skip", ""),
        ("skip unless ", "skip", ""),
        ("{ skip } unless { ", "skip", " }"),
        ("for (i : 1 .. 2) { ", "skip", " }"),
        ("c!1(", "1", ")"),
        ("L: ", "skip", ""),
        ("/*", "*/ skip", ""),
    ] {
        files.push(("pml".into(), promela(nested(before, inner, after))));
        files.push(("pml".into(), format!("byte x; never {{ {} }} init {{ skip }}", nested(before, inner, after))));
        files.push(("pml".into(), format!("byte x; trace {{ {} }} init {{ skip }}", nested(before, inner, after))));
    }
    for (before, inner, after) in
        [("[]<>", "x", ""), ("X ", "x", ""), ("x U ", "x", ""), ("x -> ", "x", ""), ("(x U ", "x", ")")]
    {
        files.push(("pml".into(), format!("byte x; ltl f {{ {} }} init {{ skip }}", nested(before, inner, after))));
        files.push(("ltl".into(), nested(before, inner, after)));
    }
    files.push(("pml".into(), nested("#ifdef A\n", "", "#endif\n") + "init { skip }"));
    files.push(("pml".into(), format!("#define F(x) x\n{}", promela(format!("i = {}", nested("F(", "1", ")"))))));
    files.push(("ltl".into(), nested("(", "p", ")")));
    files.push(("ltl".into(), nested("p && ", "p", "")));
    files.push(("hoa".into(), hoa("p".into(), "Inf(0)".into(), nested("(", "0", ")"))));
    files.push(("hoa".into(), hoa("p".into(), "Inf(0)".into(), nested("!", "0", ""))));
    files.push(("hoa".into(), hoa("p".into(), nested("(", "Inf(0)", ")"), "0".into())));
    files.push(("hoa".into(), hoa(nested("(", "p", ")"), "Inf(0)".into(), "0".into())));
    files.push(("hoa".into(), nested("/*", "", "*/")));
    for (before, inner, after) in [
        ("n := (", "0", ")"),
        ("n := -", "0", ""),
        ("n := 0 + ", "0", ""),
        ("n := HEAD(", "0", ")"),
        ("IF ~", "TRUE -> n := 0 END", ""),
        ("IF TRUE -> ", "n := 0", " END"),
        ("DO TRUE -> ", "n := 0", " END"),
        ("DO TRUE -> ", "", ""),
        ("POLL l!write(0) -> ", "n := 0", " END"),
        ("(* ", "n := 0", " *)"),
        ("n := 0 + (", "0", ")"),
    ] {
        files.push(("esml".into(), esml(nested(before, inner, after))));
    }
    files.push(("esml".into(), esml(format!("n := {}", nested("(", "0", ")")))));
    files.push(("esml".into(), esml(format!("IF {} -> n := 0 END", nested("~", "TRUE", "")))));
    files.push(("esml".into(), esml(format!("IF {} -> n := 0 END", nested("TRUE & ", "TRUE", "")))));
    files.push((
        "esml".into(),
        format!("MODEL M; TYPE t = {} BOOLEAN; BEGIN END M", nested("ARRAY 0..1 OF ", "", "")),
    ));
    for (before, inner, after) in
        [("(", "1", ")"), ("-", "1", ""), ("1 + ", "1", ""), ("!", "1", ""), ("(", "1", "")]
    {
        files.push(("bir".into(), bir(format!("do {{ x := {}; }}", nested(before, inner, after)))));
        files.push(("bir".into(), bir(format!("when {} do {{ x := 1; }}", nested(before, inner, after)))));
    }
    files.push(("bir".into(), bir(nested("do { ", "x := 1;", " }"))));
    files.push(("bir".into(), bir(nested("if x == 1 do { ", "x := 1;", " }"))));
    files.push(("bir".into(), nested("/* ", "", " */")));
    files.push(("bir".into(), nested("system S { ", "", " }")));
    for (index, (ending, text)) in files.iter().enumerate() {
        let name = format!("deep{index}.{ending}");
        fs::write(folder.path().join(&name), text).unwrap();
        let commands = match &**ending {
            "ltl" => vec![format!("ltl -F {name}"), format!("check holds.pml --time 2s -F {name}")],
            "hoa" => vec![format!("ltl --hoa {name}"), format!("check holds.pml --time 2s -N {name}")],
            _ => vec![format!("check {name} --time 2s --trail /dev/null")],
        };
        for command in commands {
            let output = shell(folder.path(), &format!("ulimit -s 64; entail {command}"));
            let start: String = text.chars().take(150).collect();
            assert!(output.status.code().is_some_and(|code| code <= 3), "{command} of {start}: {}", told(&output));
        }
        fs::remove_file(folder.path().join(&name)).unwrap();
    }
}

#[test]
fn includes_stay_with_the_model() {
    let folder = folder();
    fs::create_dir(folder.path().join("home")).unwrap();
    fs::write(folder.path().join("secret"), "the secret is 1234\n").unwrap();
    for name in ["../secret", "/proc/self/environ", "/dev/zero", "pipe"] {
        fs::write(folder.path().join("home/m.pml"), format!("#include \"{name}\"\ninit {{ skip }}\n")).unwrap();
        shell(folder.path(), "test -e home/pipe || mkfifo home/pipe");
        let output = shell(folder.path(), "timeout 10 \"$ENTAIL\" check home/m.pml");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", told(&output));
        let expected = if name == "pipe" { "not a regular file" } else { "is outside of the model's directory" };
        assert!(told(&output).contains(expected), "{name}: {}", told(&output));
        assert!(!told(&output).contains("1234"), "{name}: {}", told(&output));
    }
    fs::write(folder.path().join("home/m.pml"), "#include \"../secret\"\ninit { skip }\n").unwrap();
    let output = shell(folder.path(), "entail check home/m.pml --allow-include");
    assert!(told(&output).contains("secret:1:") && !told(&output).contains("1234"), "{}", told(&output));
    fs::write(folder.path().join("secret"), "byte x;\n").unwrap();
    for option in ["--allow-include", "-I ."] {
        let output = shell(folder.path(), &format!("entail check home/m.pml {option}"));
        assert_eq!(output.status.code(), Some(0), "{option}: {}", told(&output));
    }
}
