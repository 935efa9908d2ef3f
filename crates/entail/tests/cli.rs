//! What the command prints, and how it ends. To accept new output: `TRYCMD=overwrite cargo test --test cli`.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

#[test]
fn commands_print_what_is_written_next_to_them() {
    trycmd::TestCases::new().case("tests/cli/*.trycmd");
}

#[test]
fn a_reader_that_leaves_does_not_change_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("counter.pml");
    fs::copy("tests/cli/check.in/counter.pml", &model).unwrap();
    let mut command = Command::new(ENTAIL);
    command.args(["check", "--format", "json"]).arg(&model).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(complaints, "");
}

#[test]
fn the_trail_goes_where_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let trail = folder.path().join("elsewhere");
    let model = Path::new("tests/cli/check.in/counter.pml");
    let checked = Command::new(ENTAIL).arg("check").arg(model).arg("--trail").arg(&trail).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    let replayed = Command::new(ENTAIL).arg("replay").arg(model).arg(&trail).output().unwrap();
    assert_eq!(replayed.status.code(), Some(0));
    let told = String::from_utf8(replayed.stdout).unwrap();
    assert!(told.contains("assertion violated: counter == 2"), "{told}");
}

#[test]
fn a_model_that_was_changed_since_is_pointed_out() {
    let folder = tempfile::tempdir().unwrap();
    let (model, trail) = (folder.path().join("counter.pml"), folder.path().join("counter.pml.trail"));
    fs::copy("tests/cli/check.in/counter.pml", &model).unwrap();
    Command::new(ENTAIL).arg("check").arg(&model).output().unwrap();
    let complaints = || {
        let replayed = Command::new(ENTAIL).arg("replay").arg(&model).output().unwrap();
        String::from_utf8(replayed.stderr).unwrap()
    };
    assert_eq!(complaints(), "");
    // What SPIN's `pan` writes does not say what it was written for.
    let text = fs::read_to_string(&trail).unwrap();
    let (moves, provenance) = text.split_once("# entail ").unwrap();
    fs::write(&trail, moves).unwrap();
    let earlier = fs::metadata(&model).unwrap().modified().unwrap() - Duration::from_secs(3600);
    fs::File::options().append(true).open(&trail).unwrap().set_modified(earlier).unwrap();
    assert!(complaints().contains("counter.pml was changed after"), "{}", complaints());
    // Other trails do, and when it was changed does not matter.
    fs::write(&trail, format!("{moves}# entail {provenance}")).unwrap();
    assert_eq!(complaints(), "");
    let changed = fs::read_to_string(&model).unwrap().replace("counter == 2", "counter == 3");
    fs::write(&model, changed).unwrap();
    assert!(complaints().contains("counter.pml was changed after"), "{}", complaints());
}

#[test]
fn damaged_trails_are_refused_or_replayed_but_never_crash() {
    let folder = tempfile::tempdir().unwrap();
    let trail = folder.path().join("trail");
    let model = Path::new("tests/cli/check.in/counter.pml");
    Command::new(ENTAIL).arg("check").arg(model).arg("--trail").arg(&trail).output().unwrap();
    let whole = fs::read(&trail).unwrap();
    let moves = whole.iter().position(|byte| *byte == b'#').unwrap();
    for at in (0..moves).chain((moves..whole.len()).step_by(9)) {
        for damage in [b'9', b':', b'-', b'\n', 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = damage;
            fs::write(&trail, damaged).unwrap();
            let replayed = Command::new(ENTAIL).arg("replay").arg(model).arg(&trail).output().unwrap();
            let code = replayed.status.code();
            assert!(code == Some(0) || code == Some(2), "byte {at} replaced by {damage}: {code:?}");
        }
    }
}
