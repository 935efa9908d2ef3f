//! Every option that names a file to write, against everything that may have that name already.

#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

const MODEL: &str =
    "#include \"part.h\"\nactive proctype P() { x = 1; assert(x == 0); do :: x++ :: x = x * 3 od }\n";
const NOTES: &str = "years of work\n";

/// What each option writes to the file `out`, in a folder with a model `m.pml` that has a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    Trail,
    /// The trail that is written without any option.
    DefaultTrail,
    Evidence,
    LogFile,
    Checkpoint,
    /// The file that a checkpoint becomes when there is a newer one.
    PreviousCheckpoint,
    PartialCheckpoint,
    SimulatedTrail,
    /// What is written in an interactive simulation.
    TypedTrail,
}

const OPTIONS: [Writes; 9] = [
    Writes::Trail,
    Writes::DefaultTrail,
    Writes::Evidence,
    Writes::LogFile,
    Writes::Checkpoint,
    Writes::PreviousCheckpoint,
    Writes::PartialCheckpoint,
    Writes::SimulatedTrail,
    Writes::TypedTrail,
];

/// What is there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existing {
    Nothing,
    Empty,
    /// What the option itself has written before.
    Same,
    SameButReadOnly,
    Notes,
    /// What begins like a trail, but is none.
    Times,
    OtherKind,
    HardLinkToModel,
    HardLinkToInclude,
    HardLinkToFormula,
    HardLinkToClaim,
    LinkToModel,
    LinkToNotes,
    LinkToSame,
    LinkToNothing,
    LinkToDirectory,
    LinkToDevice,
    Directory,
    Pipe,
    Socket,
}

const EXISTING: [Existing; 20] = [
    Existing::Nothing,
    Existing::Empty,
    Existing::Same,
    Existing::SameButReadOnly,
    Existing::Notes,
    Existing::Times,
    Existing::OtherKind,
    Existing::HardLinkToModel,
    Existing::HardLinkToInclude,
    Existing::HardLinkToFormula,
    Existing::HardLinkToClaim,
    Existing::LinkToModel,
    Existing::LinkToNotes,
    Existing::LinkToSame,
    Existing::LinkToNothing,
    Existing::LinkToDirectory,
    Existing::LinkToDevice,
    Existing::Directory,
    Existing::Pipe,
    Existing::Socket,
];

impl Existing {
    /// Whether it may be replaced, without or with `--force`.
    fn may_go(self, force: bool) -> bool {
        match self {
            Existing::Nothing | Existing::Empty | Existing::Same => true,
            Existing::SameButReadOnly
            | Existing::Notes
            | Existing::Times
            | Existing::OtherKind
            | Existing::LinkToNotes
            | Existing::LinkToSame
            | Existing::LinkToNothing => force,
            Existing::HardLinkToModel
            | Existing::HardLinkToInclude
            | Existing::HardLinkToFormula
            | Existing::HardLinkToClaim
            | Existing::LinkToModel
            | Existing::LinkToDirectory
            | Existing::LinkToDevice
            | Existing::Directory
            | Existing::Pipe
            | Existing::Socket => false,
        }
    }
}

impl Writes {
    fn file(self) -> &'static str {
        match self {
            Writes::DefaultTrail => "m.pml.trail",
            Writes::PreviousCheckpoint => "kept.previous",
            Writes::PartialCheckpoint => "kept.partial",
            Writes::Trail
            | Writes::Evidence
            | Writes::LogFile
            | Writes::Checkpoint
            | Writes::SimulatedTrail
            | Writes::TypedTrail => "out",
        }
    }

    fn words(self) -> Vec<&'static str> {
        let check = ["check", "m.pml", "--property", "safety", "-F", "f.ltl", "-N", "never.pml"];
        let keep = ["check", "m.pml", "--property", "safety", "--no-assert", "--time", "0s", "--checkpoint"];
        let simulate = ["simulate", "m.pml", "--seed", "1"];
        match self {
            Writes::Trail => [&check[..], &["--trail", "out"]].concat(),
            Writes::DefaultTrail => check.to_vec(),
            Writes::Evidence => [&check[..], &["--ctl", "AG (x == 0)", "--evidence", "out"]].concat(),
            Writes::LogFile => [&check[..], &["--log", "search", "--log-file", "out"]].concat(),
            Writes::Checkpoint => [&keep[..], &["out"]].concat(),
            Writes::PreviousCheckpoint | Writes::PartialCheckpoint => [&keep[..], &["kept"]].concat(),
            Writes::SimulatedTrail => [&simulate[..], &["--trail", "out"]].concat(),
            Writes::TypedTrail => [&simulate[..], &["--interactive", "--plain"]].concat(),
        }
    }

    /// Whether the file is there, as it should be.
    fn has_written(self, path: &Path) -> bool {
        let begins: &[u8] = match self {
            // What stands in trails is tested where they are replayed.
            Writes::Trail | Writes::DefaultTrail | Writes::SimulatedTrail | Writes::TypedTrail => b"",
            Writes::Evidence => b"digraph evidence ",
            Writes::LogFile => b"event=begin ",
            Writes::Checkpoint => b"entail saved\r\n",
            // The first checkpoint leaves neither of these.
            Writes::PreviousCheckpoint | Writes::PartialCheckpoint => return true,
        };
        let written = fs::read(path).unwrap();
        fs::symlink_metadata(path).unwrap().is_file()
            && written.starts_with(begins)
            && !written.starts_with(NOTES.as_bytes())
            && !written.is_empty()
    }

    /// Whether formulas and claims are among what this reads.
    fn reads_formulas(self) -> bool {
        match self {
            Writes::Trail | Writes::DefaultTrail | Writes::Evidence | Writes::LogFile => true,
            Writes::Checkpoint
            | Writes::PreviousCheckpoint
            | Writes::PartialCheckpoint
            | Writes::SimulatedTrail
            | Writes::TypedTrail => false,
        }
    }

    /// The exit status if the file may not be written: a command that names it is wrong, others have their verdict.
    fn refused(self) -> i32 {
        match self {
            Writes::DefaultTrail => 1,
            Writes::TypedTrail => 0,
            Writes::Trail
            | Writes::Evidence
            | Writes::LogFile
            | Writes::Checkpoint
            | Writes::PreviousCheckpoint
            | Writes::PartialCheckpoint
            | Writes::SimulatedTrail => 2,
        }
    }
}

/// Everything that must not change.
#[derive(Debug, PartialEq, Eq)]
struct Snapshot {
    files: Vec<(PathBuf, u32, u64, Vec<u8>)>,
}

impl Snapshot {
    fn of(folder: &Path, without: &str) -> Snapshot {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name != without) {
                files.push(Snapshot::one(&path));
            }
        }
        files.sort();
        Snapshot { files }
    }

    fn one(path: &Path) -> (PathBuf, u32, u64, Vec<u8>) {
        let metadata = fs::symlink_metadata(path).unwrap();
        let content = if metadata.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        (path.to_owned(), metadata.mode(), metadata.ino(), content)
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("m.pml", MODEL),
        ("part.h", "byte x;\n"),
        ("f.ltl", "[] (x < 2)\n"),
        ("never.pml", "never { do :: x > 2 -> break :: else od }\n"),
        ("notes", NOTES),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::create_dir(folder.path().join("directory")).unwrap();
    folder
}

fn entail(folder: &Path, words: &[&str]) -> Output {
    entail_told(folder, words, "")
}

fn entail_told(folder: &Path, words: &[&str], input: &str) -> Output {
    let mut command = Command::new(ENTAIL);
    command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have ended before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

fn run(option: Writes, folder: &Path, force: bool) -> Output {
    let force: &[&str] = if force { &["--force"] } else { &[] };
    entail_told(folder, &[&option.words(), force].concat(), "1\nw out\nq\n")
}

/// Puts something where the option writes; returns what must live as long.
fn put(existing: Existing, option: Writes, folder: &Path) -> Option<UnixListener> {
    let file = folder.join(option.file());
    let made_by = |option: Writes| {
        assert!(run(option, folder, false).status.code().is_some_and(|code| code != 2), "{option:?}");
    };
    let same = || match option {
        Writes::PreviousCheckpoint | Writes::PartialCheckpoint => {
            made_by(option);
            fs::rename(folder.join("kept"), &file).unwrap();
        }
        option => made_by(option),
    };
    let link = |target: &str| symlink(folder.join(target), &file).unwrap();
    let hard_link = |target: &str| fs::hard_link(folder.join(target), &file).unwrap();
    match existing {
        Existing::Nothing => {}
        Existing::Empty => fs::write(&file, "").unwrap(),
        Existing::Same => same(),
        Existing::SameButReadOnly => {
            same();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        }
        Existing::Notes => fs::write(&file, NOTES).unwrap(),
        Existing::Times => fs::write(&file, "1:0:4\n12:30 coffee\n").unwrap(),
        Existing::OtherKind => {
            let other = match option {
                Writes::LogFile => "entail saved\r\n\x1a\n",
                Writes::Trail | Writes::DefaultTrail | Writes::SimulatedTrail | Writes::TypedTrail => {
                    "event=begin model=\"m.pml\" property=\"safety\"\n"
                }
                Writes::Checkpoint | Writes::PreviousCheckpoint | Writes::PartialCheckpoint => "1:0:4\n",
                Writes::Evidence => "digraph plans { a -> b }\n",
            };
            fs::write(&file, other).unwrap();
        }
        Existing::HardLinkToModel => hard_link("m.pml"),
        Existing::HardLinkToInclude => hard_link("part.h"),
        Existing::HardLinkToFormula => hard_link(if option.reads_formulas() { "f.ltl" } else { "m.pml" }),
        Existing::HardLinkToClaim => hard_link(if option.reads_formulas() { "never.pml" } else { "m.pml" }),
        Existing::LinkToModel => link("m.pml"),
        Existing::LinkToNotes => link("notes"),
        Existing::LinkToSame => {
            same();
            fs::rename(&file, folder.join("target")).unwrap();
            link("target");
        }
        Existing::LinkToNothing => link("nothing"),
        Existing::LinkToDirectory => link("directory"),
        Existing::LinkToDevice => symlink("/dev/full", &file).unwrap(),
        Existing::Directory => fs::create_dir(&file).unwrap(),
        Existing::Pipe => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
        Existing::Socket => return Some(UnixListener::bind(&file).unwrap()),
    }
    None
}

/// Files that come and go with a run, whatever is tested.
fn tidy(folder: &Path, keep: &str) {
    for file in ["m.pml.trail", "kept", "kept.previous", "out.previous"] {
        if file != keep {
            let _ = fs::remove_file(folder.join(file));
        }
    }
    // Each property has a trail of its own beside the one that is named.
    let of_property = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".trail") || name.starts_with(&format!("{keep}."))
    };
    let trails = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for trail in trails.filter(|path| of_property(path) && !path.ends_with(keep)) {
        fs::remove_file(trail).unwrap();
    }
}

#[test]
fn no_option_replaces_what_it_did_not_write() {
    for option in OPTIONS {
        for existing in EXISTING {
            for force in [false, true] {
                let folder = folder();
                let (folder, case) = (folder.path(), format!("{option:?}, {existing:?}, force: {force}"));
                let _socket = put(existing, option, folder);
                tidy(folder, option.file());
                let (others, path) = (Snapshot::of(folder, option.file()), folder.join(option.file()));
                let before = fs::symlink_metadata(&path).is_ok().then(|| Snapshot::one(&path));
                let output = run(option, folder, force);
                let told = told(&output);
                tidy(folder, option.file());
                if existing.may_go(force) {
                    assert!(!told.contains("cannot write") && output.status.code() != Some(2), "{case}: {told}");
                    assert!(option.has_written(&path), "{case}: {told}");
                } else {
                    assert!(told.contains("cannot write"), "{case}: {told}");
                    assert_eq!(output.status.code(), Some(option.refused()), "{case}: {told}");
                    assert_eq!(before, Some(Snapshot::one(&path)), "{case}: {told}");
                }
                let _ = fs::remove_file(folder.join(if option == Writes::Checkpoint { "-" } else { "kept" }));
                assert_eq!(others, Snapshot::of(folder, option.file()), "{case}: {told}");
            }
        }
    }
}

#[test]
fn devices_stay_devices_even_by_force() {
    let folder = folder();
    let device = Path::new("/dev/full");
    if !device.exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    for option in OPTIONS {
        let words: Vec<_> =
            option.words().iter().map(|word| if *word == "out" { "/dev/full" } else { word }).collect();
        if words == option.words() {
            continue;
        }
        for force in [&[][..], &["--force"]] {
            let output = entail(folder.path(), &[&words, force].concat());
            assert_eq!(output.status.code(), Some(2), "{}", told(&output));
            assert!(told(&output).contains("cannot write /dev/full: it is a device"), "{}", told(&output));
            assert!(fs::symlink_metadata(device).unwrap().file_type().is_char_device(), "{option:?}");
        }
    }
    assert!(!Path::new("/dev/full.partial").exists() && !Path::new("/dev/full.previous").exists());
    // `/dev/null` disables the trails of all properties.
    let words = ["check", "m.pml", "-F", "f.ltl", "-N", "never.pml", "--ctl", "EF (x == 7) && !EF (x == 1)"];
    let output = entail(folder.path(), &[&words[..], &["--trail", "/dev/null"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let beside = ["/dev/null.____x___2_", "/dev/null.never_pml", "/dev/null.EF__x____7______EF__x____1_"];
    assert!(!beside.iter().any(|file| Path::new(file).exists()), "{}", told(&output));
    assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn a_name_that_is_none_is_refused() {
    let folder = folder();
    let long = "n".repeat(300);
    for (name, reason) in [
        ("-", "`-` is not standard output here"),
        ("new/", "it does not name a file"),
        ("..", "it does not name a file"),
        ("directory/..", "it does not name a file"),
        ("notes/out", "Not a directory"),
        ("missing/out", "No such file or directory"),
        (&long, "File name too long"),
    ] {
        for option in ["--trail", "--evidence", "--checkpoint"] {
            let output = entail(folder.path(), &["check", "m.pml", "--property", "safety", option, name]);
            assert_eq!(output.status.code(), Some(2), "{option} {name:?}: {}", told(&output));
            assert!(told(&output).contains(reason), "{option} {name:?}: {}", told(&output));
        }
    }
}

#[test]
fn two_options_do_not_share_a_file() {
    let folder = folder();
    symlink(folder.path(), folder.path().join("here")).unwrap();
    for words in [
        ["--trail", "out", "--log-file", "./out"],
        ["--trail", "out", "--evidence", "here/out"],
        ["--log-file", "directory/../out", "--evidence", "out"],
    ] {
        let output = entail(folder.path(), &[&["check", "m.pml", "--log", "search"], &words[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains("name the same file"), "{}", told(&output));
        assert!(!folder.path().join("out").exists());
    }
    for trail in ["kept", "kept.previous", "kept.partial"] {
        let words = ["check", "m.pml", "--property", "safety", "--checkpoint", "kept", "--trail", trail];
        let output = entail(folder.path(), &words);
        assert!(told(&output).contains("`--trail` and `--checkpoint` name the same file"), "{}", told(&output));
    }
}

#[test]
fn a_trail_does_not_replace_the_next_model() {
    let folder = folder();
    let next = folder.path().join("m.pml.trail");
    fs::write(&next, MODEL).unwrap();
    let words = ["check", "--lang", "promela", "--format", "json", "--force", "m.pml", "m.pml.trail"];
    let output = entail(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert_eq!(fs::read_to_string(&next).unwrap(), MODEL);
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports[0]["properties"][0]["counterexample"]["trail"], Value::Null);
    let warning = reports[0]["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("cannot write m.pml.trail: this command reads it"), "{warning}");
    assert_eq!(reports[1]["properties"][0]["counterexample"]["trail"], "m.pml.trail.trail");
}

/// The size of files is limited as on a full disk. Only what is written to files counts: the report is not.
#[test]
fn a_full_disk_leaves_the_old_file_and_the_verdict() {
    let folder = folder();
    fs::write(folder.path().join("m.pml.trail"), "1:0:0\n").unwrap();
    fs::write(folder.path().join("log"), "event=begin \n").unwrap();
    let before = Snapshot::of(folder.path(), "log");
    for (words, status) in [
        (&["check", "m.pml"][..], 1),
        (&["check", "m.pml", "--log", "search", "--log-file", "log"], 1),
        (&["check", "m.pml", "--property", "safety", "--evidence", "graph", "--ctl", "EF (x == 1)"], 1),
        (&["simulate", "m.pml", "--seed", "1", "--trail", "m.pml.trail"], 1),
    ] {
        let limited = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let mut command = Command::new("bash");
        command.args(["-c", limited, "bash", ENTAIL]).args(words).current_dir(folder.path());
        let output = command.output().unwrap();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {told}");
        assert!(told.contains("warning: cannot write "), "{words:?}: {told}");
        let is_check = words[0] == "check";
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(!is_check || report.contains("warning: cannot write "), "{words:?}: {report}");
        assert_eq!(before, Snapshot::of(folder.path(), "log"), "{words:?}: {told}");
    }
}

#[test]
fn permissions_and_other_names_of_a_replaced_file_stay() {
    let folder = folder();
    let (trail, other) = (folder.path().join("m.pml.trail"), folder.path().join("other"));
    fs::write(&trail, "1:0:0\n").unwrap();
    fs::set_permissions(&trail, fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(&trail, &other).unwrap();
    let output = entail(folder.path(), &["check", "m.pml"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert_eq!(fs::read_to_string(&other).unwrap(), "1:0:0\n");
    assert_ne!(fs::read_to_string(&trail).unwrap(), "1:0:0\n");
    assert_eq!(fs::symlink_metadata(&trail).unwrap().permissions().mode() & 0o777, 0o640);
}
