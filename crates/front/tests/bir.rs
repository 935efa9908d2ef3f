//! BIR's front end on invalid, truncated and oversized models.

mod common;

use common::{cut_off, defines, excess, mangle, read_with};
use entail_front::bir::load_text;

const FOLDERS: &[&str] = &["examples/bir", "tests/models/bir"];

#[test]
fn a_model_that_is_cut_off_anywhere_is_refused() {
    cut_off(load_text, FOLDERS);
}

#[test]
fn a_model_with_any_word_missing_or_doubled_has_an_answer() {
    mangle(load_text, FOLDERS);
}

#[test]
fn excess_is_refused_or_endured() {
    let many = |text: &str, times: usize| text.repeat(times);
    let model = |members: &str| format!("system M {{ {members} active thread T() {{ loc a: do {{ }} return; }} }}");
    let block = |actions: &str| {
        let variables =
            "int x; boolean b; int[16000] a; int[16] c, d; lock l; lock[9] ls; record R { int v; } R[9] r;";
        format!("system M {{ {variables} active thread T() {{ loc a: do {{ {actions} }} return; }} }}")
    };
    let records: String = (1..300).map(|n| format!("record R{n} {{ R{} x; }} ", n - 1)).collect();
    let doubled: String = (1..40).map(|n| format!("record R{n} {{ R{0} x; R{0} y; }} ", n - 1)).collect();
    let locations: String = (0..70_000).map(|n| format!("loc l{n}: do {{ }} return; ")).collect();
    let casts = (0..60).map(|n| format!("(int (0, {}))", 100 + n)).collect::<String>();
    let wide = format!("r[{}0{}]", many("x + (", 100), many(")", 100));
    let cases = [
        (model("int[1000000000] a;"), "the size of an array must be"),
        (model("int[60000][60000] a;"), "takes more than 65536 bytes"),
        (model(&format!("int{} a;", many("[2]", 100_000))), "too many dimensions"),
        (model(&format!("record R0 {{ int x; }} {records}")), "nested more than 200 deep"),
        (model(&format!("record R0 {{ int x; }} {doubled}")), "takes more than 65536 bytes"),
        (model(&many("int[4000] a; ", 10_000)), "take more than 65536 bytes"),
        (model(&format!("int x := {}1{};", many("(", 10_000), many(")", 10_000))), "nested more than"),
        (model(&format!("int x := {}1;", many("-", 100_000))), "nested more than"),
        (model(&format!("int x := 1{};", many(" + 1", 100_000))), "this expression is too large"),
        (model(&format!("int x := {};", many("9", 1 << 20))), "does not fit into 32 bits"),
        (model(&format!("int {};", many("y", 1 << 20))), ""),
        (model(&format!("int x := {};", many("y", 1 << 20))), "is not declared"),
        (model(&many("boolean ; ", 100_000)), "expected the name of a variable"),
        (model(&many("§", 100_000)), "has no meaning here"),
        (model(&many("/*", 100_000)), "this comment is not closed"),
        (model(&many("active thread U() { loc a: do { } return; } ", 300)), "more than 256 threads"),
        (model(&many("unknown x; ", 100_000)), "there is no type `unknown`"),
        (model("active [1000000000] thread U() { loc a: do { } return; }"), "the number of threads must be"),
        (model(&format!("active thread U() {{ {locations} }}")), "`U` has more than 65535 locations"),
        (model(&format!("enum E {{ A{} }}", many(", A", 100_000))), "`A` is declared twice"),
        (block(&many("x := 1; ", 300_000)), "expands to more than"),
        (block(&many("a := a; ", 100_000)), "expands to more than"),
        (block(&many("c := d; ", 1000)), ""),
        (block(&many("if b do ", 10_000)), "nested more than"),
        (block(&many("choose do ", 10_000)), "nested more than"),
        (block(&format!("{}skip;{}", many("choose do ", 150), many(" end", 150))), ""),
        (block(&format!("x := {casts} x;")), "this expression is too large"),
        (block(&format!("x := {}x{};", many("x >>> (", 100), many(")", 100))), "this expression is too large"),
        (block(&format!("x := {}x;", many("x & ", 400))), ""),
        (block(&many(&format!("{wide} := r[1]; "), 5000)), "expands to more than"),
        (block(&many("notify(ls[x]); ", 20_000)), ""),
        (block(&format!("{}x := 1;", many("\n", 1 << 20))), ""),
        (format!("system M {}", many("{", 100_000)), "expected"),
        (many("}", 1 << 20), "expected `system`"),
        (String::new(), "expected `system`"),
    ];
    excess(load_text, &cases);
}

#[test]
fn constants_can_be_given_other_values() {
    let text =
        "system M { const A { N = 2; ON = true; } const B { N = A.N + 1; LIMIT = 1; } int (0, A.N) x := B.N - 1;
        active [B.LIMIT] thread T() { loc a: when A.ON do { } return; } }";
    let cases = [
        (&[][..], ""),
        (&["LIMIT=3", "A.N=7", "ON=false"], ""),
        (&["B.N=9"], "8 is outside the range 0 to 2"),
        (&["A.N=-1"], "the range from 0 to -1 is empty"),
        (&["LIMTI=3"], "the model has no constant `LIMTI`"),
        (&["C.N=3"], "the model has no constant `C.N`"),
        (&["N=3"], "more than one constant has the name `N`"),
        (&["LIMIT"], "the constant `LIMIT` is given no value"),
        (&["LIMIT=x"], "`x` cannot be the value of the constant `LIMIT`"),
        (&["LIMIT=99999999999"], "`99999999999` cannot be the value"),
        (&["LIMIT=true"], "the constant `LIMIT` is a number, but it is given a boolean"),
        (&["LIMIT=300"], "the number of threads must be 0 to 255"),
    ];
    defines(load_text, text, &cases);
}

#[test]
fn a_similar_constant_is_suggested() {
    let text = "system M { const A { LIMIT = 2; } active thread T() { loc a: do { } return; } }";
    let problems = read_with(load_text, text, &["LIMTI=3"]).unwrap_err();
    assert_eq!(problems[0].hint.as_deref(), Some("did you mean `LIMIT`?"));
}
