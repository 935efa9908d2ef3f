//! A search that is killed and resumed finds what it would have found.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use entail_testkit::rng::Rng;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

/// It takes a second or so with this `N`.
const LEVELS: &str = include_str!("../../../tests/models/levels.pml");
const N: &str = "#define N 45";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("levels.pml"), LEVELS.replace("#define N 6", N)).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn entail(&self, words: &[&str]) -> Command {
        let mut command = Command::new(ENTAIL);
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.entail(words).output().unwrap()
    }
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// What must be the same.
fn facts(output: &Output) -> Value {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(output)));
    let property = &report["properties"][0];
    serde_json::json!({
        "verdict": property["verdict"], "errors": property["errors"], "counterexample": property["counterexample"],
        "states": property["states"], "search": property["search"], "omitted": property["store"]["omitted"],
        "bits": property["store"]["state_bits"], "unreached": report["unreached"], "status": output.status.code(),
    })
}

/// Kills a search at some moments, and resumes it; returns what comes out in the end, and how often there was something to
/// resume.
fn killed(folder: &Folder, options: &[&str], rng: &mut Rng) -> (Output, u32) {
    let checkpoint = folder.path("search");
    let begin = [&["check", "levels.pml", "--checkpoint", "search", "--every", "20ms"], options].concat();
    let resume = ["check", "--resume", "search", "--format", "json"];
    let mut resumed = 0;
    for _ in 0..2 {
        let words = if checkpoint.exists() { &resume[..] } else { &begin };
        resumed += u32::from(checkpoint.exists());
        let mut child = folder.entail(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Even on a slow machine, a checkpoint is written eventually.
        while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(rng.below(200) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Frequent checkpoints take longer than the search.
    let at_last = [&resume[..], &["--every", "10m"]].concat();
    (folder.run(if checkpoint.exists() { &at_last } else { &begin }), resumed)
}

#[test]
fn a_search_that_is_killed_again_and_again_finds_the_same() {
    let mut rng = Rng::new(11);
    let mut resumed = 0;
    for how in [
        "",
        "--reduce por",
        "--search dfs -DN=20 --no-assert --reduce none",
        "--store compact --hash-bits 20 --no-assert",
        "--store bitstate --array 2M --no-assert",
        "--store tree -DN=15 --no-assert --reduce none",
        "--store plain -DN=15 --no-assert --reduce none",
        "--store collapse -DN=15 --no-assert --reduce none",
        "--store dfa -DN=15 --no-assert --reduce none",
        "--store cache --cache-slots 200000 -DN=15 --no-assert --reduce none",
    ] {
        let folder = Folder::new();
        let options: Vec<&str> =
            how.split_whitespace().chain(["--property", "safety", "--format", "json"]).collect();
        let expected = facts(&folder.run(&[&["check", "levels.pml"], &options[..]].concat()));
        let (output, times) = killed(&folder, &options, &mut rng);
        assert_eq!(facts(&output), expected, "{how}: {}", told(&output));
        resumed += times;
        if expected["verdict"] == "violated" {
            let constants = options.iter().copied().filter(|option| option.starts_with("-D"));
            let replayed = folder.run(&["replay", "levels.pml"].into_iter().chain(constants).collect::<Vec<_>>());
            assert!(told(&replayed).contains("assertion violated"), "{how}: {}", told(&replayed));
        }
    }
    let folder = Folder::new();
    let formula = "[] (level[0] <= 45 || level[1] > 7)";
    let options = ["--property", formula, "--ltl", formula, "--format", "json"];
    let expected = facts(&folder.run(&[&["check", "levels.pml"], &options[..]].concat()));
    let (output, times) = killed(&folder, &options, &mut rng);
    assert_eq!(facts(&output), expected, "{}", told(&output));
    assert!(resumed + times > 2, "{resumed}, {times}");
}

/// A search that was kept after a short time, and one more time, and its file.
fn kept(folder: &Folder) -> PathBuf {
    let words = ["check", "levels.pml", "--property", "safety", "--reduce", "none", "--checkpoint", "search"];
    let output = folder.run(&[&words[..], &["--every", "10ms", "--time", "200ms"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("entail check --resume search\n"), "{}", told(&output));
    let checkpoint = folder.path("search");
    assert!(checkpoint.exists() && folder.path("search.previous").exists());
    checkpoint
}

#[test]
fn a_damaged_checkpoint_is_replaced_by_the_one_before() {
    let folder = Folder::new();
    let expected =
        folder.run(&["check", "levels.pml", "--property", "safety", "--reduce", "none", "--format", "json"]);
    let checkpoint = kept(&folder);
    let whole = fs::read(&checkpoint).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for damaged in [&whole[..whole.len() / 2], &flipped, b""] {
        fs::write(&checkpoint, damaged).unwrap();
        let output = folder.run(&["check", "--resume", "search", "--checkpoint", "other", "--format", "json"]);
        let warning = "warning: cannot resume from search: ";
        assert!(told(&output).contains(warning), "{}", told(&output));
        assert!(told(&output).contains("the checkpoint before it is used, search.previous"), "{}", told(&output));
        assert_eq!(facts(&output), facts(&expected));
    }
    fs::write(folder.path("search.previous"), b"entail").unwrap();
    let output = folder.run(&["check", "--resume", "search"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("check the model from the beginning, without `--resume`"), "{}", told(&output));
}

#[test]
fn another_search_is_not_resumed() {
    let folder = Folder::new();
    kept(&folder);
    let refused = |options: &[&str], reason: &str| {
        let output = folder.run(&[&["check", "--resume", "search"], options].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(reason), "{}", told(&output));
    };
    refused(&["--search", "dfs"], "`--search` was not given when the search began, and is `dfs` now; leave it out");
    refused(&["-DN=5"], "`-D` was not given when the search began, and is `N=5` now");
    refused(&["--memory", "64K"], "needs more memory than there may be; give it more `--memory`");
    // What is as it was may be said again.
    let output = folder.run(&["check", "levels.pml", "--resume", "search", "--reduce", "none", "--time", "1ms"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    fs::write(folder.path("other.pml"), LEVELS.replace("> 1", "> 2")).unwrap();
    refused(&["other.pml"], "the model has changed since the search began");
    fs::remove_file(folder.path("levels.pml")).unwrap();
    refused(&[], "levels.pml is not here; the search began in ");
    fs::remove_file(folder.path("search")).unwrap();
    fs::remove_file(folder.path("search.previous")).unwrap();
    refused(&[], "cannot resume from search: ");
}

#[test]
fn what_cannot_be_kept_is_refused_at_once() {
    let folder = Folder::new();
    let refused = |options: &[&str], reason: &str| {
        let output = folder.run(&[&["check", "levels.pml", "--checkpoint", "search"], options].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(reason), "{}", told(&output));
    };
    refused(&[], "several properties to check: safety, bounded; choose one with `--property`");
    for (option, formula) in [("--ltl", "<> (level[0] == 3)"), ("--ctl", "AG EF (level[0] == 3)")] {
        refused(&["--property", formula, option, formula], "can be saved; leave out `--checkpoint`");
    }
    let output = folder.run(&["check", "levels.pml", "--property", "safety", "--checkpoint", "nowhere/search"]);
    assert!(told(&output).contains("cannot write nowhere/search: "), "{}", told(&output));
    assert!(!Path::new(&folder.path("search")).exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_how_to_go_on() {
    let folder = Folder::new();
    let options = ["--property", "safety", "--reduce", "none", "--format", "json", "-DN=200", "--no-assert"];
    let begin = [&["check", "levels.pml", "--checkpoint", "search"], &options[..]].concat();
    let child = folder.entail(&begin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(sent.success() && output.status.code() == Some(3), "{}", told(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let property = &report["properties"][0];
    assert_eq!(property["checkpoint"]["resume"], "entail check --resume search");
    let resumed = folder.run(&["check", "--resume", "search", "--time", "1ms"]);
    let told = told(&resumed);
    assert!(told.contains("reached the time limit") && told.contains("entail check --resume search"), "{told}");
}
