//! Trails are exchanged with the real SPIN, where it is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

const ASSERTION: &str = "
    byte x; chan c = [0] of { byte }; chan q = [2] of { byte, bit };
    proctype A() { byte l; l = 3; c!l; d_step { x = 1; x = 3 }; q!x,1 }
    active proctype B() {
        byte v;
        run A();
        c?v;
        atomic { v = 0; q?v,_; x = v + 1 };
        if :: x == 100 -> skip :: else -> assert(x == 3) fi
    }";

const DEADLOCK: &str = "
    byte x; chan c = [0] of { byte };
    active proctype P() { x = 1; c!x; x == 2 }
    active proctype Q() { byte y; c?y; y = 2; y = 3 }";

#[test]
fn spin_replays_our_trails() {
    let Some(folder) = folder_with(&[("assertion.pml", ASSERTION), ("deadlock.pml", DEADLOCK)]) else { return };
    for (model, search) in [("assertion.pml", "bfs"), ("assertion.pml", "dfs"), ("deadlock.pml", "bfs")] {
        let checked = run(&folder, ENTAIL, &["check", "--search", search, model]);
        assert!(checked.contains("is violated"), "{checked}");
        let trail = fs::read_to_string(folder.path().join(format!("{model}.trail"))).unwrap();
        let replayed = run(&folder, "spin", &["-t", "-p", model]);
        let end = format!("trail ends after {} steps", trail.lines().filter(|line| !line.starts_with('#')).count());
        assert!(replayed.contains(&end), "{end} expected:\n{replayed}");
        assert!(!replayed.contains("transition failed"), "{replayed}");
        assert_eq!(replayed.contains("assertion violated"), model == "assertion.pml", "{replayed}");
    }
}

const CLAIMS: &str = "
    byte x; chan c = [0] of { byte };
    never ends { do :: x == 3 -> break :: else od; true }
    never asserts { do :: atomic { x == 2 -> assert(x != 2) } :: true od }
    active proctype P() { atomic { x = 1; c!x }; x = 3 }
    never rests { do :: x < 3 :: x == 3 -> break od; x == 3; accept: do :: x == 3; x == 3 od }
    active proctype Q() { c?x; x = 2 }";

#[test]
fn spin_moves_never_claims_along_our_trails() {
    let Some(folder) = folder_with(&[("claims.pml", CLAIMS)]) else { return };
    for (claim, number, last) in [
        ("ends", 0, "(ends:1) claims.pml:3 (state 8) <valid end state>"),
        ("asserts", 1, "text of failed assertion: assert((x!=2))"),
        ("rests", 3, "(rests:1) claims.pml:6 (state 10)"),
    ] {
        let checked = run(&folder, ENTAIL, &["check", "--property", claim, "claims.pml"]);
        assert!(checked.contains("is violated"), "{checked}");
        let trail = fs::read_to_string(folder.path().join("claims.pml.trail")).unwrap();
        let moves = trail.lines().filter(|line| !line.starts_with(['-', '#'])).count();
        let replayed = run(&folder, "spin", &["-t", "-p", "claims.pml"]);
        for expected in [
            format!("starting claim {number}"),
            "Never claim moves to line".to_owned(),
            format!("trail ends after {moves} steps"),
            last.to_owned(),
        ] {
            assert!(replayed.contains(&expected), "{expected} expected:\n{trail}\n{replayed}");
        }
        assert!(!replayed.contains("transition failed") && !replayed.contains("couldn't find"), "{replayed}");
        let again = run(&folder, ENTAIL, &["replay", "--property", claim, "claims.pml"]);
        assert!(!again.contains("error"), "{again}");
    }
}

#[test]
fn a_claim_from_elsewhere_is_followed_by_who_knows_it() {
    let Some(folder) =
        folder_with(&[("deadlock.pml", DEADLOCK), ("is_one", "never { do :: x == 1 -> break :: else od }")])
    else {
        return;
    };
    let checked = run(&folder, ENTAIL, &["check", "--property", "is_one", "-N", "is_one", "deadlock.pml"]);
    assert!(checked.contains("is violated"), "{checked}");
    for (options, expected) in [
        (&["-t", "-p", "-N", "is_one", "deadlock.pml"][..], "Never claim moves to line 1"),
        (&["-t", "-p", "deadlock.pml"], "couldn't find claim 2 (ignored)"),
    ] {
        let replayed = run(&folder, "spin", options);
        assert!(replayed.contains(expected) && replayed.contains("[x = 1]"), "{replayed}");
        assert!(!replayed.contains("transition failed"), "{replayed}");
    }
}

#[test]
fn we_replay_trails_of_pan() {
    let Some(folder) = folder_with(&[("assertion.pml", ASSERTION), ("deadlock.pml", DEADLOCK)]) else { return };
    for (model, error) in [("assertion.pml", "assertion violated: x == 3"), ("deadlock.pml", "invalid end state")] {
        for spin in [&["-o1", "-o2", "-o3", "-a", model][..], &["-a", model]] {
            for cc in [&["-DSAFETY"][..], &["-DSAFETY", "-DBFS"]] {
                run(&folder, "spin", spin);
                run(&folder, "cc", &[&["-w", "-DNOREDUCE", "-o", "pan", "pan.c"], cc].concat());
                run(&folder, "./pan", &["-w10"]);
                let replayed = run(&folder, ENTAIL, &["replay", model]);
                assert!(replayed.contains(error), "{model} {spin:?} {cc:?}:\n{replayed}");
            }
        }
    }
}

/// A folder with these models; `None` if there is no SPIN to compare with.
fn folder_with(models: &[(&str, &str)]) -> Option<tempfile::TempDir> {
    Command::new("spin").arg("-V").output().ok()?;
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in models {
        fs::write(folder.path().join(name), text).unwrap();
    }
    Some(folder)
}

fn run(folder: &tempfile::TempDir, program: &str, args: &[&str]) -> String {
    let path = if program == "./pan" { folder.path().join("pan") } else { Path::new(program).to_owned() };
    let output = Command::new(path).args(args).current_dir(folder.path()).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
