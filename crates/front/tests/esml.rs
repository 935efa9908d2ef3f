//! ESML's front end on invalid, truncated and oversized models.

mod common;

use common::{cut_off, defines, excess, mangle};
use entail_front::esml::load_text;

const FOLDERS: &[&str] = &["examples/esml", "tests/models/esml"];

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
    let model = |decls: &str| format!("MODEL M; {decls} PROCESS P; BEGIN SKIP END P; BEGIN P END M");
    let body = |commands: &str| {
        let decls = "TYPE d = 0..9; q = LIST [9] OF d; qs = ARRAY [9] OF q; big = ARRAY [4000] OF d;";
        let vars = "VAR x: d; b: BOOLEAN; l: q; ls: qs; a, c: big;";
        format!("MODEL M; {decls} PROCESS P; {vars} BEGIN {commands} END P; BEGIN P END M")
    };
    let nested_types: String = (1..1000).map(|n| format!("t{n} = ARRAY [1] OF t{}; ", n - 1)).collect();
    let doubled_types: String = (1..40).map(|n| format!("t{n} = ARRAY [2] OF t{}; ", n - 1)).collect();
    let enumerations: String = (0..66_000).map(|n| format!("e{n} = a{n}, b{n}; ")).collect();
    let fields: Vec<_> = (0..30_000).map(|n| format!("f{n}")).collect();
    let tuple = format!("b = ({}: BOOLEAN);", fields.join(", "));
    let arrays: String = (0..10_000).map(|n| format!("t{n} = ARRAY [1] OF b; ")).collect();
    let signals: String = (0..300).map(|n| format!(", s{n}")).collect();
    let channels: String = (0..300).map(|n| format!("c{n}: s; ")).collect();
    let heads = format!("x := {}0{}", many("HEAD(ls[", 90), many("])", 90));
    let activations: Vec<_> = (0..250).map(|n| format!("P(c, {n})")).collect();
    let activated_often = format!(
        "MODEL M; TYPE n = 0..999; s = {{go}}; VAR c: s; PROCESS P(OUT c: s; x: n); BEGIN c!go{} END P; BEGIN {} END M",
        many("; c!go", 50_000),
        activations.join("; ")
    );
    excess(
        load_text,
        &[
            (model("TYPE t = ARRAY [1000000000] OF BOOLEAN;"), "expected a number of elements from 1"),
            (model(&format!("TYPE t0 = 0..1; {nested_types}")), "nested more than 30 deep"),
            (model(&format!("TYPE t0 = 0..1; {doubled_types}")), "would take more than"),
            (model(&format!("TYPE {enumerations}")), "more than 65536 enumerations"),
            (model(&format!("TYPE {tuple} {arrays}")), "consist of more than 1000000 parts"),
            (model(&format!("TYPE s = {{s{signals}}};")), "`s` has more than 255 signals"),
            (model(&format!("TYPE s = {{go}}; VAR {channels}")), "more than 255 signals"),
            (model(&format!("CONST c = {}1{};", many("(", 10_000), many(")", 10_000))), "nested more than"),
            (model(&format!("CONST c = {}1;", many("-", 100_000))), "nested more than"),
            (model(&format!("CONST c = 1{};", many(" + 1", 100_000))), "more than 300 parts"),
            (model(&format!("CONST c = {};", many("9", 1 << 20))), "does not fit 32 bits"),
            (model(&format!("CONST {} = 1;", many("y", 1 << 20))), ""),
            (model(&format!("CONST c = {};", many("y", 1 << 20))), "is not declared"),
            (model(&format!("TYPE e = A{};", many(", A", 100_000))), "`A` is declared twice"),
            (model(&many("CONST c = ; ", 100_000)), "expected an expression"),
            (model(&many("\u{a7}", 100_000)), "has no meaning here"),
            (model(&many("(*", 100_000)), "this comment is not closed"),
            (body(&format!("x := 1{}", many("; x := 1", 70_000))), "more than 60000 instructions"),
            (body(&format!("a := c{}", many("; a := c", 5_000))), "the model is too large"),
            (body(&heads), "the model is too large"),
            (activated_often, "the model is too large"),
            (body(&format!("{}SKIP{}", many("IF b -> ", 10_000), many(" END", 10_000))), "nested more than"),
            (body(&format!("{}SKIP{}", many("DO b -> ", 150), many(" END", 150))), ""),
            (body(&format!("IF b -> SKIP {} END", many("[] b -> SKIP ", 5_000))), ""),
            (body(&many("unknown := 1; ", 10_000)), "expected a command after"),
            (
                format!("MODEL M; PROCESS P; BEGIN SKIP END P; BEGIN P{} END M", many("; P", 300)),
                "no more than 255",
            ),
            (many("END ", 1 << 20), "expected `MODEL`"),
            (format!("MODEL M; {}", many("PROCESS ", 100_000)), "is a keyword"),
            (String::new(), "expected `MODEL`"),
        ],
    );
}

#[test]
fn constants_can_be_given_other_values() {
    let text = "MODEL M; CONST n = 2; m = n + 1; sise = 1; TYPE d = 0..n; PROCESS P(x: d); BEGIN SKIP END P; BEGIN P(m - 1) END M";
    defines(
        load_text,
        text,
        &[
            (&[], ""),
            (&["n=7"], ""),
            (&["m=9"], "8 is outside of `d`, which is 0..2"),
            (&["n=-1"], "the range 0..-1 is empty"),
            (&["size=3"], "the model has no constant `size`; did you mean `sise`?"),
            (&["n"], "`-D n` gives no constant a value"),
            (&["n=x"], "`-D n=x` gives no constant a value"),
        ],
    );
}
