//! `entail simulate`: the same run again, with both backends, as a trail, and however it is cut short.

use entail_testkit::files::models_in;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

#[test]
fn a_seed_gives_the_same_run_on_both_backends() {
    let mut different = 0;
    for model in models_in(&root().join("examples")) {
        let path = model.to_str().unwrap();
        let run = |seed: &str, backend: &str| {
            let output = simulate(&[path, "--as", "steps", "--steps", "200", "--seed", seed, "--backend", backend]);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{path}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let first = run("1", "jit");
        assert_eq!(first, run("1", "interpret"), "{path}");
        let steps = |told: &str| told.split_once('\n').map(|(_, steps)| steps.to_owned());
        different += usize::from(steps(&run("2", "jit")) != steps(&first));
    }
    assert!(different > 5, "another seed makes no difference");
}

#[test]
fn a_seed_that_was_chosen_can_be_chosen_again() {
    let model = root().join("examples/leader.pml");
    let model = model.to_str().unwrap();
    let first = text(&simulate(&[model, "--as", "steps"]).stdout);
    let headline = first.lines().next().unwrap();
    let (_, seed) = headline.split_once("with seed ").expect("the seed is said");
    assert_eq!(text(&simulate(&[model, "--as", "steps", "--seed", seed]).stdout), first);
}

/// Every run is seen again in the same way; by the real SPIN too, where it is installed.
#[test]
fn runs_become_trails() {
    let folder = tempfile::tempdir().unwrap();
    for model in models_in(&root().join("examples")) {
        let name = model.file_name().unwrap().to_str().unwrap();
        fs::copy(&model, folder.path().join(name)).unwrap();
        let trail = format!("{name}.trail");
        let here = |args: &[&str]| Command::new(ENTAIL).args(args).current_dir(folder.path()).output().unwrap();
        let run = here(&["simulate", name, "--seed", "5", "--steps", "50", "--as", "steps", "--trail", &trail]);
        let replayed = here(&["replay", name]);
        let told = |output: &Output| {
            let told = text(&output.stdout);
            told.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(told(&run), told(&replayed), "{name}");
        let along = here(&["simulate", name, "--seed", "6", "--steps", "50", "--as", "steps", "--along", &trail]);
        assert_eq!(told(&run), told(&along), "{name}");
        let spin = Command::new("spin").args(["-t", "-p", name]).current_dir(folder.path()).output();
        if let Some(spin) = spin.ok().filter(|_| name.ends_with(".pml")) {
            let moves = moves_in(&folder.path().join(&trail));
            let told = text(&spin.stdout);
            let end = format!("trail ends after {moves} steps");
            assert!(told.contains(&end) && !told.contains("transition failed"), "{name}: {end} expected:\n{told}");
        }
    }
}

/// How many moves a trail has, without the line that says where it comes from.
fn moves_in(trail: &Path) -> usize {
    let text = fs::read_to_string(trail).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn lines_are_read_until_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let trail = folder.path().join("trail");
    let typed = format!("1\n9\nb\nw {}\nr 3\nw {}\nzzz\n", folder.path().display(), trail.display());
    let output = typed_into(&["-i", "--seed", "1", &example("peterson.pml")], typed.as_bytes());
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for expected in
        ["there is no step 9: 1 to 2 are possible", "cannot write", "3 steps written to", "`zzz` is not a command"]
    {
        assert!(said.contains(expected), "{expected} expected:\n{said}");
    }
    assert_eq!(moves_in(&trail), 3);
}

#[test]
fn any_bytes_may_be_typed() {
    let mut noise: Vec<u8> = (0..=255).cycle().step_by(7).take(20_000).collect();
    noise.extend([b'1'; 100_000]);
    let output = typed_into(&["-i", "--plain", "--seed", "1", &example("counter.pml")], &noise);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
}

#[test]
fn a_session_that_ends_in_an_error_says_so() {
    let output = typed_into(&["-i", "--seed", "1", &example("peterson-wrong.pml")], b"u\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("assertion violated: inside == 1"));
}

/// A run that outlasts its reader.
fn endless_run() -> Command {
    let mut command = Command::new(ENTAIL);
    command.args(["simulate", "--as", "steps", "--seed", "1", "--steps", "1000000000"]);
    command.arg(example("alternating-bit.pml")).stdout(Stdio::piped());
    command
}

#[test]
fn a_run_ends_when_its_reader_leaves() {
    let mut child = endless_run().stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!((child.wait().unwrap().code(), complaints.as_str()), (Some(3), ""));
}

#[test]
#[cfg(unix)]
fn an_interruption_ends_the_run_in_good_order() {
    let mut child = endless_run().spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // It runs, and is asked to stop.
    assert!(lines.by_ref().nth(100).is_some());
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    let last = lines.map_while(Result::ok).last().unwrap();
    assert_eq!(last, "The run stops here: further steps are possible.");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

/// The session in the guide shows the actual output.
#[test]
fn the_session_in_the_guide_is_a_real_one() {
    let guide = fs::read_to_string(root().join("docs/simulate.md")).unwrap();
    let (_, shown) =
        guide.split_once("```text\npeterson-wrong.pml, seed 7; ? for help\n").expect("there is a session");
    let (shown, _) = shown.split_once("```").expect("it ends");
    let typed = shown.lines().filter_map(|line| line.split_once("> ").filter(|(at, _)| at.parse::<u32>().is_ok()));
    let typed: String = typed.map(|(_, typed)| format!("{typed}\n")).collect();
    let mut command = Command::new(ENTAIL);
    command.args(["simulate", "-i", "--seed", "7", "peterson-wrong.pml"]).current_dir(root().join("examples"));
    let said = text(&run_with(command, typed.as_bytes()).stdout);
    assert_eq!(said, format!("peterson-wrong.pml, seed 7; ? for help\n{shown}"));
}

fn simulate(args: &[&str]) -> Output {
    Command::new(ENTAIL).arg("simulate").args(args).output().unwrap()
}

fn typed_into(args: &[&str], typed: &[u8]) -> Output {
    let mut command = Command::new(ENTAIL);
    command.arg("simulate").args(args);
    run_with(command, typed)
}

fn run_with(mut command: Command, typed: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let typed = typed.to_vec();
    let typist = std::thread::spawn(move || {
        // It may have quit before all is typed.
        let _ = input.write_all(&typed);
    });
    let output = child.wait_with_output().unwrap();
    typist.join().unwrap();
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
