//! Bad input: the command reports all errors with their positions, and exits with the documented status.
//!
//! Every model under `tests/problems` says in comments which problems must be reported, in this order and no others:
//!
//! ```text
//! // problem: 7:2 error: `trun` is not declared; did you mean `turn`?
//! // problem: parts/worker.h:6:6 warning: 256 does not fit
//! // problem: error: the model has no process
//! ```
//!
//! It is enough to write the beginning of a message. A hint follows the message it belongs to.

use entail_front::diagnostic::{Diagnostic, Severity};
use entail_front::source::Sources;
use entail_front::{Loaded, Options};
use entail_testkit::files::models_in;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn every_problem_is_reported_at_its_place() {
    let models = models();
    assert!(models.len() >= 120, "only {} models found", models.len());
    let failures: Vec<String> = models.iter().filter_map(|model| compare(model).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_command_says_as_much_and_ends_as_it_should() {
    for model in models() {
        let text = fs::read_to_string(&model).unwrap();
        let expected = expectations(&text);
        let has_error = expected.iter().any(|line| line.contains("error: "));
        let ended = entail(&["check".as_ref(), model.as_ref(), "--trail".as_ref(), "/dev/null".as_ref()]);
        assert_eq!(ended.code == 2, has_error, "{}: {ended:?}", model.display());
        let said = ended.errors.lines().filter(|line| line.starts_with("error: ") || line.starts_with("warning: "));
        assert_eq!(said.count(), expected.len(), "{}: {ended:?}", model.display());
    }
}

#[test]
fn line_ends_of_other_systems_change_no_place() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["undeclared-name", "several-syntax-errors", "macros", "misplaced-labels"] {
        let original = problems_folder().join(name).with_extension("pml");
        let text = fs::read_to_string(&original).unwrap();
        let copy = folder.path().join("model.pml");
        fs::write(&copy, text.replace('\n', "\r\n")).unwrap();
        assert_eq!(problems(&copy), problems(&original));
    }
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("folder.pml")).unwrap();
    fs::write(path("empty.pml"), "").unwrap();
    fs::write(path("binary.pml"), b"byte x;\n\x7fELF\0\0").unwrap();
    fs::write(path("latin.esml"), b"(* \xfcber *)\n").unwrap();
    File::create(path("huge.pml")).unwrap().set_len(100 << 20).unwrap();
    for (name, expected) in [
        ("missing.pml", "no such file"),
        ("folder.pml", "it is a directory"),
        ("empty.pml", "the model has no process"),
        ("binary.pml", "is a binary file: a zero byte at offset 12, line 2"),
        ("latin.esml", "is not UTF-8 text: byte 0xfc at offset 3, line 1"),
        ("huge.pml", "is larger than"),
        ("model.txt", "no such file"),
    ] {
        refused(&path(name), expected);
    }
}

/// As text of Windows, which has all characters of Latin-1.
#[test]
fn bytes_that_are_not_utf_8_are_read_as_latin_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pml");
    let text =
        b"byte x; // it\x92s \xe9 \xc3\xa9\ninit { printf(\"\xfcber \x80\"); assert(x == /* \xff\xfe */ 1) }\n";
    fs::write(&path, text).unwrap();
    let first = "1:14 warning: byte 0x92 is not UTF-8; such bytes are read as Latin-1; convert the file: `iconv ";
    let found = problems(&path);
    assert!(found.len() == 1 && found[0].starts_with(first), "{found:?}");
    let ended = entail(&["check".as_ref(), path.as_ref()]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let replayed = entail(&["replay".as_ref(), path.as_ref()]);
    assert!(replayed.output.contains("prints \"über €\""), "{replayed:?}");
    // Outside of comments and strings they mean nothing.
    fs::write(&path, b"byte x\xe9;\ninit { skip }\n").unwrap();
    assert_eq!(problems(&path)[1], "1:7 error: the character `é` has no meaning in Promela");
}

/// SPIN reads files with any ending.
#[test]
fn files_with_other_endings_are_promela() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.prm", "model.i", "model", "model.txt", "model.PML"] {
        let path = folder.path().join(name);
        fs::write(&path, "init { skip }").unwrap();
        assert_eq!(check(&path).code, 0, "{name}");
    }
}

#[test]
fn excess_is_refused_or_endured() {
    let many = |text: &str, times: usize| text.repeat(times);
    let process = |body: &str| format!("byte x; active proctype p() {{ {body} }}");
    let nested = |open: &str, close: &str| process(&format!("{}x = 1{}", many(open, 10_000), many(close, 10_000)));
    let macros: String = (1..40).map(|n| format!("#define M{n} M{0} + M{0}\n", n - 1)).collect();
    let inlines: String = (1..40).map(|n| format!("inline f{n}() {{ f{0}(); f{0}() }}\n", n - 1)).collect();
    let unknown: String = (0..1000).map(|n| format!("unknown{n} = 1;\n")).collect();
    for (model, expected) in [
        (process(&format!("x = {}1{}", many("(", 10_000), many(")", 10_000))), "this is nested more than"),
        (process(&many("(", 10_000)), "this is nested more than"),
        (nested("{ ", " }"), "this is nested more than"),
        (nested("if :: ", " fi"), "this is nested more than"),
        (nested("do :: atomic { ", " } od"), "this is nested more than"),
        (nested("d_step { ", ""), "this is nested more than"),
        (nested("L: ", ""), "this is nested more than"),
        (process(&format!("x = 1{}", many(" + 1", 100_000))), "this expression is too large"),
        (process(&format!("{}y = 1", many("x = 1; ", 150_000))), "`p` has more than 65535 statements"),
        (process(&format!("x = 1{} §", many(" ", 1 << 20))), "the character `§` has no meaning"),
        (process(&format!("{} = 1", many("y", 1 << 20))), "`yyyyyyyyyyyy"),
        (process(&format!("x = {}", many("9", 1 << 20))), "`9999999999"),
        (process(&format!("printf(\"{}\")", many("é", 1 << 20))), ""),
        (process(&many("§; ", 10_000)), "too many errors"),
        (format!("#define M0 1\n{macros}{}", process("x = M39")), "the model is longer than"),
        (format!("inline f0() {{ skip }}\n{inlines}{}", process("f39()")), "expand to more than"),
        (process(&unknown), "`unknown999` is not declared"),
        (many("}", 1 << 20), "too many errors"),
        (many("/*", 1 << 20), "this comment is not closed"),
        (many("#if 1\n", 100_000), "given up"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.pml");
        fs::write(&path, &model).unwrap();
        if expected.is_empty() {
            assert_eq!(check(&path).code, 0);
        } else {
            let said = refused(&path, expected);
            assert!(said.lines().all(|line| line.chars().count() < 2500), "a line too long to read:\n{said}");
        }
    }
}

#[test]
fn limits_met_on_the_way_are_errors_of_that_run() {
    for (model, expected) in [
        ("proctype p() { do :: run p() od } init { run p() }", "`run p()` starts more than 255 processes"),
        ("active [200] proctype p() { skip } active [100] proctype q() { skip }", "too many processes"),
        ("proctype p() { chan c[9] = [0] of { byte }; c[1]?_ } init { do :: run p() od }", "channels"),
        ("chan c = [1] of { byte, byte }; init { c!1 }", "another number of fields than the channel"),
        ("byte a[2], i = 2; init { a[i] = 1 }", "array index out of range in `a[i] = 1`"),
        ("byte a, i; init { a = 1 / i }", "division by zero in `a = 1 / i`"),
        ("byte i; init { d_step { i = 1; i == 2 } }", "`i == 2` blocks inside a deterministic sequence"),
        ("byte i; init { d_step { do :: i = 1 - i od } }", "does not end"),
        ("chan c; init { c!1 }", "the channel in `c!1` is not initialised"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.pml");
        fs::write(&path, model).unwrap();
        let ended = check(&path);
        assert_eq!(ended.code, 1, "{model}: {ended:?}");
        assert!(ended.output.contains("safety is violated"), "{model}: {ended:?}");
        let what = ended.output.lines().nth(2).unwrap_or_default();
        assert!(what.contains(expected), "{model}: expected {expected}\n{ended:?}");
        let replayed = entail(&["replay".as_ref(), path.as_ref()]);
        assert_eq!(replayed.code, 0, "{model}: {replayed:?}");
        assert!(replayed.output.contains(what.trim()), "{model}: {replayed:?}");
    }
}

#[test]
fn trails_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let example = |name: &str| problems_folder().join("../../examples").join(name);
    let (counter, philosophers) = (example("counter.pml"), example("philosophers.pml"));
    let trail_of = |model: &PathBuf, trail: &str| {
        let ended = entail(&["check".as_ref(), model.as_ref(), "--trail".as_ref(), path(trail).as_ref()]);
        assert_eq!(ended.code, 1, "{ended:?}");
    };
    trail_of(&counter, "counter.trail");
    trail_of(&philosophers, "philosophers.trail");
    let whole = fs::read_to_string(path("counter.trail")).unwrap();
    let third = whole.lines().nth(2).unwrap();
    fs::write(path("process.trail"), whole.replace(third, "3:99:0")).unwrap();
    fs::write(path("statement.trail"), whole.replace(third, "3:0:4000000")).unwrap();
    fs::write(path("words.trail"), whole.replace(third, "three")).unwrap();
    fs::write(path("binary.trail"), b"\x7fELF\0\xff").unwrap();
    fs::create_dir(path("folder.trail")).unwrap();
    for (trail, expected) in [
        ("philosophers.trail", "does not fit this model at step "),
        ("process.trail", "does not fit this model at step 3: there is no process 99"),
        ("statement.trail", "does not fit this model at step 3: there is no statement 4000000"),
        ("words.trail", "is not a trail: line 3"),
        ("binary.trail", "is not a trail: "),
        ("folder.trail", "irectory"),
        ("missing.trail", "run `entail check "),
    ] {
        let ended = entail(&["replay".as_ref(), counter.as_ref(), path(trail).as_ref()]);
        assert_eq!(ended.code, 2, "{trail}: {ended:?}");
        assert!(ended.errors.contains(expected), "{trail}: expected {expected}\n{ended:?}");
    }
}

fn problems_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/problems")
}

fn models() -> Vec<PathBuf> {
    models_in(&problems_folder())
}

fn expectations(text: &str) -> Vec<&str> {
    text.lines().filter_map(problem).collect()
}

/// What a comment says, in whatever way the language writes comments.
fn problem(line: &str) -> Option<&str> {
    line.strip_prefix("// problem: ").or_else(|| line.strip_prefix("(* problem: ")?.strip_suffix(" *)"))
}

fn compare(model: &Path) -> Result<(), String> {
    let text = fs::read_to_string(model).unwrap();
    let (expected, found) = (expectations(&text), problems(model));
    let fits = |(expected, found): (&&str, &String)| found.starts_with(*expected);
    if !expected.is_empty() && expected.len() == found.len() && expected.iter().zip(&found).all(fits) {
        return Ok(());
    }
    let list = |lines: Vec<&str>| lines.iter().map(|line| format!("// problem: {line}\n")).collect::<String>();
    let found = list(found.iter().map(String::as_str).collect());
    Err(format!("{}\nexpected:\n{}found:\n{found}", model.display(), list(expected)))
}

/// Everything that is reported about a model, in the words of an expectation.
fn problems(model: &Path) -> Vec<String> {
    let Loaded { sources, problems, model: loaded } = entail_front::load(model, &Options::default());
    assert_eq!(loaded.is_none(), problems.iter().any(Diagnostic::is_error), "{}", model.display());
    problems.iter().map(|problem| describe(problem, &sources, model)).collect()
}

fn describe(problem: &Diagnostic, sources: &Sources, model: &Path) -> String {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = problem.span.map(|span| sources.place(span));
    let place = place.map_or(String::new(), |place| format!("{}:{}:{} ", place.file, place.line, place.column));
    let hint = problem.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
    let line = format!("{place}{severity}: {}{hint}", problem.message);
    let folder = format!("{}/", model.parent().unwrap().display());
    let itself = format!("{}:", model.display());
    line.strip_prefix(&itself).unwrap_or(&line).replace(&folder, "")
}

fn refused(model: &Path, expected: &str) -> String {
    let ended = check(model);
    assert_eq!(ended.code, 2, "{expected}: {ended:?}");
    let errors = ended.errors;
    let beginning: String = errors.chars().take(2000).collect();
    assert!(errors.contains(expected), "expected {expected}, found {beginning}");
    errors
}

fn check(model: &Path) -> Ended {
    entail(&["check".as_ref(), model.as_ref()])
}

/// How the command ended: by itself, and soon.
#[derive(Debug)]
struct Ended {
    code: i32,
    output: String,
    errors: String,
}

fn entail(args: &[&OsStr]) -> Ended {
    // Ten times what it takes on a slow and busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);
    let (output, errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_entail"));
    command.args(args).stdout(output.try_clone().unwrap()).stderr(errors.try_clone().unwrap());
    let mut child = command.spawn().expect("entail runs");
    let started = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if started.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            None => {
                child.kill().unwrap();
                panic!("still running after {PATIENCE:?}: {args:?}");
            }
        }
    };
    let code = status.code().unwrap_or_else(|| panic!("killed, {status}: {args:?}"));
    assert!(code <= 3, "{args:?}: {}", content(errors));
    Ended { code, output: content(output), errors: content(errors) }
}

fn content(mut file: File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}
