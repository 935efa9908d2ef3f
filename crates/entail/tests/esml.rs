//! Formulas about ESML models.

/// Two processes of a kind, each with a second variable that counts; what a formula asks of them changes when they do.
#[test]
fn formulas_see_the_variables_of_the_process_they_name() {
    let model = "MODEL M; TYPE d = 0..3; q = LIST [2] OF d; s = {go}; VAR c, e: s;
        PROCESS P(step: d); VAR l: q; x: d; BEGIN APPEND(l, step); x := x + step END P;
        PROCESS Q; VAR y: d; BEGIN y := 1 DIV (y - y) END Q;
        BEGIN P(1); P(3); Q END M";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.esml");
    std::fs::write(&path, model).unwrap();
    let formula = "(EF P[0].x = 1) & (EF P[1].x = 3) & (EF LEN(P[1].l) > 0 & HEAD(P[1].l) = 3) & (EF P[0].x = 3)";
    let entail = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_entail"));
        String::from_utf8(command.args(arguments).arg(&path).output().unwrap().stdout).unwrap()
    };
    // The whole run, depth-first: other processes move before the division by zero.
    entail(&["check", "--no-opt", "--search", "dfs", "--property", "safety"]);
    let told = entail(&["replay", "--ctl", formula]);
    let becomes_true: Vec<&str> = told.lines().map(str::trim).filter(|line| line.ends_with("true")).collect();
    let expected = ["`P[0].x = 1`", "`LEN(P[1].l) > 0 & HEAD(P[1].l) = 3`", "`P[1].x = 3`"];
    assert_eq!(becomes_true, expected.map(|condition| format!("{condition} becomes true")), "{told}");
}

/// `EF P.b & P.x = 1` is `EF (P.b & P.x = 1)`: both become true, but never together before.
#[test]
fn the_operand_of_a_temporal_operator_is_a_whole_formula() {
    let model = "MODEL M; TYPE d = 0..3; PROCESS P; VAR b: BOOLEAN; x: d; BEGIN b := TRUE; x := 1; b := FALSE END P; BEGIN P END M";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.esml");
    std::fs::write(&path, model).unwrap();
    for (formula, holds) in [
        ("EF P.b & P.x = 1", true),
        ("(EF P.b) & P.x = 1", false),
        ("EF(P.b) & P.x = 1", true),
        ("AG P.x = 0 OR P.x = 1 & P.x < 2", true),
        ("~EF P.b & P.x = 0", false),
        ("AG P.b => EF ~P.b", true),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_entail"));
        let arguments = ["check", "--property", formula, "--ctl", formula, "--trail", "/dev/null"];
        let status = command.args(arguments).arg(&path).output().unwrap().status;
        assert_eq!(status.code(), Some(if holds { 0 } else { 1 }), "{formula}");
    }
}

/// No process stops at a `SKIP` behind a send or a guard: it is part of the same step, and so it counts as reached.
#[test]
fn a_skip_that_is_passed_at_once_counts_as_reached() {
    let model = "MODEL M; TYPE s = {go}; VAR c: s;
        PROCESS P(OUT c: s); VAR b: BOOLEAN;
        BEGIN b := TRUE; SKIP; POLL c!go -> SKIP END; IF b -> SKIP [] ~b -> b := FALSE END END P;
        PROCESS Q(IN c: s); BEGIN c?go END Q;
        BEGIN P(c); Q(c) END M";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.esml");
    std::fs::write(&path, model).unwrap();
    for granularity in ["exact", "statement"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_entail"));
        command.args(["check", "--format", "json", "--granularity", granularity]).arg(&path);
        let report: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let unreached = report["unreached"].as_array().unwrap().iter();
        let statements: Vec<&str> = unreached.filter_map(|one| one["statement"].as_str()).collect();
        assert_eq!(statements, ["b := FALSE"], "{granularity}");
    }
}
