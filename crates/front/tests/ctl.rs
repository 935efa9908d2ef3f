//! CTL formulas about models, in their text and from the command line.

use entail_front::diagnostic::render;
use entail_front::{Asked, AskedKind, Loaded, Options, Property, PropertyKind, Specification, load};
use std::fs;
use std::path::{Path, PathBuf};

fn asked(formulas: &[&str]) -> Vec<Asked> {
    let asked = |text: &&str| Asked { kind: AskedKind::Ctl, source: "--ctl".to_owned(), text: (*text).to_owned() };
    formulas.iter().map(asked).collect()
}

/// The properties of a model in a file with their meanings, or the problems.
fn read_file(path: &Path, formulas: &[&str]) -> Result<Vec<(String, String)>, String> {
    let options = Options { asked: asked(formulas), ..Options::default() };
    let Loaded { sources, problems, model } = load(path, &options);
    let model = model.ok_or_else(|| render(&problems, &sources, false))?;
    let branching = model.properties.iter().filter(|property| property.kind == PropertyKind::Ctl);
    let says = |property: &Property| {
        assert!(property.by_default);
        let meaning = property.meaning.as_ref().expect("it means something");
        let Specification::Ctl(formula) = &meaning.says else {
            panic!("{}: not about branching time", property.name)
        };
        let names =
            meaning.propositions.iter().map(|(_, statement)| model.system.statement(*statement).text.clone());
        (property.name.clone(), formula.print(&names.collect::<Vec<_>>()).to_string())
    };
    Ok(branching.map(says).collect())
}

fn read(ending: &str, model: &str, formulas: &[&str]) -> Result<Vec<(String, String)>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model").with_extension(ending);
    fs::write(&path, model).unwrap();
    read_file(&path, formulas)
}

#[track_caller]
fn check(ending: &str, model: &str, formula: &str, expected: &str) {
    let read = read(ending, model, &[formula]).unwrap_or_else(|shown| panic!("{shown}"));
    assert_eq!(read, [(formula.trim().to_owned(), expected.to_owned())]);
}

#[track_caller]
fn check_refused(ending: &str, model: &str, formula: &str, expected: &str) {
    let shown = read(ending, model, &[formula]).unwrap_err();
    assert!(shown.contains(expected), "{shown}");
}

const PROMELA: &str = "
#define granted (x == 2)
byte x;
chan c = [2] of { byte };
active [2] proctype P() { byte y; y = 1; end: x = y }
";

const ESML: &str = "
MODEL M;
CONST limit = 2;
TYPE digit = 0..9; digits = LIST [2] OF digit; row = ARRAY [3] OF digit; pair = (a, b: digit);
PROCESS P; VAR x: digit; b: BOOLEAN; q: digits; r: row; t: pair; BEGIN x := 1; APPEND(q, x) END P;
PROCESS Q; VAR x: digit; BEGIN x := 1 END Q;
PROCESS AG; VAR x: digit; BEGIN x := 1 END AG;
BEGIN P; Q; Q; AG END M
";

#[test]
fn models_in_promela_have_formulas_of_their_own() {
    let formulas = "ctl { AG (x < 2) } ctl name { EF P@end } ctl { A(x == 0 W P[1]:y == 1) && EF nempty(c) }";
    let read = read("pml", &format!("{PROMELA}{formulas}"), &["  EF granted "]).unwrap();
    let pair = |(name, says): (&str, &str)| (name.to_owned(), says.to_owned());
    let expected = [
        ("ctl_0", "AG (x < 2)"),
        ("name", "EF P@end"),
        ("ctl_1", "A((x == 0) W (P[1]:y == 1)) && EF (nempty(c))"),
        ("EF granted", "EF (x == 2)"),
    ];
    assert_eq!(read, expected.map(pair));
}

#[test]
fn words_of_branching_time_stay_names() {
    let model = "
        typedef EF { byte AG; byte U };
        byte ctl, A, E = 1, AX[2];
        EF AF;
        proctype ctl_(byte EG) { ctl = EG + A; AF.AG = E }
        init { int EX = A - 1; A = E; run ctl_(EX); ctl: if :: ctl -> goto ctl :: else fi }
        ltl { [] (A < E || AX[0] == AF.AG) }
        ctl ctl { AG (A < E || AX[0] == AF.AG || ctl) }
    ";
    assert_eq!(
        read("pml", model, &[]).unwrap(),
        [("ctl".to_owned(), "AG (((A < E) || (AX[0] == AF.AG)) || ctl)".to_owned())]
    );
    let model = "typedef ctl { byte x }; ctl c; active proctype P() { ctl d; d.x = c.x }";
    assert_eq!(read("pml", model, &[]), Ok(Vec::new()));
}

#[test]
fn mistakes_about_a_promela_model_are_shown_in_the_formula() {
    check_refused("pml", PROMELA, "AG z", "--ctl:1:4");
    check_refused("pml", PROMELA, "AG P@nowhere", "has no label `nowhere`");
    check_refused("pml", PROMELA, "", "the formula is empty");
    check_refused("pml", PROMELA, "AG (x", "--ctl:1:5");
    check_refused("pml", PROMELA, "AG granted U x", "`U` needs a quantifier");
    check("pml", PROMELA, "AG x", "AG x");
}

#[test]
fn esml_has_its_own_notation() {
    let check = |formula: &str, expected: &str| check("esml", ESML, formula, expected);
    check("AG(P.x < 3)", "AG (P.x < 3)");
    check("AF P.x = 2", "AF (P.x = 2)");
    check("AX P.b", "AX P.b");
    check("EG ~P.b", "EG (~P.b)");
    check("EF (P.b)", "EF P.b");
    check("EX(TRUE)", "EX true");
    check("A(P.b U P.x = limit)", "A(P.b U (P.x = limit))");
    check("E(P.x + 1 < 3 W P.b OR P.x = 1)", "E((P.x + 1 < 3) W (P.b OR P.x = 1))");
    check("A(P.b R AF(P.b))", "A(P.b R AF P.b)");
    check("AG(P.b) & EF(P.x = 1)", "AG (P.b && EF (P.x = 1))");
    check("(AG P.b) & EF(P.x = 1)", "AG P.b && EF (P.x = 1)");
    check("AG P.b & P.x = 1 OR EF P.b", "AG ((P.b & P.x = 1) || EF P.b)");
    check("~AG(P.b) => EF(P.b) => AX(P.b)", "!AG (P.b -> EF (P.b -> AX P.b))");
    check("AG(P.x = 1 => AF(P.x = 2))", "AG ((P.x = 1) -> AF (P.x = 2))");
    check("AG(LEN(P.q) > 0 => HEAD(P.q) = 1)", "AG (LEN(P.q) > 0 => HEAD(P.q) = 1)");
    check("AG(P.r[Q[1].x] = P.t.b)", "AG (P.r[Q[1].x] = P.t.b)");
    check("EF((Q[1].x = 1) & (Q[2].x = 0))", "EF ((Q[1].x = 1) & (Q[2].x = 0))");
    check("AG(AG.x < 3)", "AG (AG.x < 3)");
    check("AG(limit = 2)", "AG true");
}

#[test]
fn mistakes_in_esml_are_shown_in_the_formula() {
    let check_refused = |formula: &str, expected: &str| check_refused("esml", ESML, formula, expected);
    check_refused("", "the formula is empty");
    check_refused("(* nothing *)", "the formula is empty");
    check_refused("AG(P.x < 3", "--ctl:1:11");
    check_refused("AG(P.x < 3))", "expected an operator or the end of the formula");
    check_refused("AG(P.y < 3)", "`P` has no variable `y`");
    check_refused("AG(p.x < 3)", "did you mean `P`?");
    check_refused("AG(P.x)", "expected a condition, but `(P.x)` is a number");
    check_refused("AG(P.x = TRUE)", "expected a number");
    check_refused("AG(P.x == 1)", "to compare, write `=`");
    check_refused("AG(Q.x = 1)", "there are 2 processes `Q`: which one is meant?");
    check_refused("AG(Q.x = 1)", "write `Q[1].x` or `Q[2].x`");
    check_refused("AG(Q[0].x = 1)", "process 0 is no `Q`");
    check_refused("AG(Q[P.x].x = 1)", "`P.x` is not constant");
    check_refused("AG(1 + AF(P.b) = 2)", "--ctl:1:8");
    check_refused("A P.b", "`A` quantifies over runs, and needs a temporal operator");
    check_refused("E(P.b)", "write `EG f`, `EF f`, `EX f` or `E(f U g)`");
    check_refused("F(P.b)", "write `AF` or `EF`");
    check_refused("P.b W P.b", "`W` needs a quantifier of its own");
    check_refused("A(P.b U P.b U P.b)", "--ctl:1:13");
    check_refused("A(P.b P.b)", "expected `U`, `W` or `R`");
}

#[test]
fn formulas_in_esml_have_limits() {
    let many = |count: usize| (0..count).map(|n| format!("EX(P.x = {n})")).collect::<Vec<_>>().join(" & ");
    assert_eq!(read("esml", ESML, &[&many(64)]).map(|read| read.len()), Ok(1));
    check_refused("esml", ESML, &many(65), "more than 64 propositions");
    let same = |count: usize| format!("(EX P.b){}", " & P.b".repeat(count));
    assert!(read("esml", ESML, &[&same(200)]).is_ok());
    check_refused("esml", ESML, &same(290), "it is nested more than 256 operators deep");
    check_refused("esml", ESML, &format!("{}P.b", "EX ".repeat(1000)), "nested more than 200 deep");
}

#[test]
fn an_assertion_is_a_property() {
    let model = format!("{ESML} ASSERT (AG(P.x < 3)) & EF(P.b)");
    let read = read("esml", &model, &["AF(P.b)"]).unwrap();
    let pair = |(name, says): (&str, &str)| (name.to_owned(), says.to_owned());
    assert_eq!(read, [("assert", "AG (P.x < 3) && EF P.b"), ("AF(P.b)", "AF P.b")].map(pair));
}

#[test]
fn a_formula_with_anything_missing_or_doubled_has_an_answer() {
    let promela = "AG (x == 1 -> A(granted U [] P@end)) || !E <> nempty(c) <-> EX (len(c) > 1)";
    let esml = "AG(P.x = 1 => A(P.b U LEN(P.q) > 0)) OR ~E(P.b R Q[1].x # 2) & EX P.r[1] > 1";
    for (ending, model, text) in [("pml", PROMELA, promela), ("esml", ESML, esml)] {
        for at in 0..text.len() {
            let (before, after) = text.split_at(at);
            let (less, more) = (format!("{before}{}", &after[1..]), format!("{before}{}{after}", &after[..1]));
            for mangled in [less, more, before.to_owned(), after.to_owned()] {
                if let Err(shown) = read(ending, model, &[&mangled]) {
                    assert!(shown.contains("--ctl:1:") || mangled.is_empty(), "{mangled}: {shown}");
                }
            }
        }
    }
}

#[test]
fn other_languages_have_no_formulas() {
    check_refused("bir", "", "AG p", "CTL formulas are supported for Promela and ESML models only");
    let options = Options {
        asked: vec![Asked { kind: AskedKind::Formula, source: "--ltl".to_owned(), text: "[] p".to_owned() }],
        ..Options::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.esml");
    fs::write(&path, ESML).unwrap();
    let Loaded { sources, problems, model } = load(&path, &options);
    assert!(model.is_none());
    assert!(render(&problems, &sources, false).contains("are supported for Promela models only"));
}

/// Formulas about the process scheduler of ESML's thesis.
#[test]
fn formulas_about_the_scheduler_are_read() {
    let scheduler: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/esml/PS2.esml");
    if !scheduler.exists() {
        return;
    }
    let formulas = ["AG(DeviceDriver.id < 3)", "AF(DeviceDriver.id = 2)", "AF(DeviceDriver.id = 3)"];
    let read = read_file(&scheduler, &formulas).unwrap_or_else(|shown| panic!("{shown}"));
    let says: Vec<_> = read.into_iter().map(|(_, says)| says).collect();
    assert_eq!(says, ["AG (DeviceDriver.id < 3)", "AF (DeviceDriver.id = 2)", "AF (DeviceDriver.id = 3)"]);
    let shown = read_file(&scheduler, &["AG(User.p < 3)"]).unwrap_err();
    assert!(shown.contains("write `User[5].p` or `User[6].p`"), "{shown}");
}
