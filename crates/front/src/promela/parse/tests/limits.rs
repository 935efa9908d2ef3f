//! No input overflows the stack, runs forever or exhausts memory.

use super::{check_problems, parse_text};

/// Runs in a thread with a fixed stack size, independently of the test runner.
fn messages(model: String) -> Vec<String> {
    let read = move || parse_text(&model).1.into_iter().map(|problem| problem.message).collect();
    std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap()
}

fn nested(open: &str, inside: &str, close: &str, times: usize) -> String {
    format!("init {{ {}{inside}{} }}", open.repeat(times), close.repeat(times))
}

const TOO_DEEP: &str = "this is nested more than 128 levels deep";
const TOO_HIGH: &str = "this expression is too large: it is nested more than 500 operators deep";

#[test]
fn what_is_nested_too_deep_is_one_error() {
    for (open, inside, close) in [
        ("(", "x", ")"),
        ("{", "x", "}"),
        ("a[", "x", "]"),
        ("do :: ", "x", " od"),
        ("if :: atomic { ", "x", " } fi"),
        ("L: ", "x", ""),
        ("(x -> 1 : ", "x", ")"),
        ("c?[eval(", "x", ")]"),
        ("run P(", "x", ")"),
        ("-(", "x", ")"),
        ("for (i in x) { ", "x", " }"),
        ("(", "", ""),
        ("{", "", ""),
    ] {
        assert_eq!(messages(nested(open, inside, close, 10_000)), [TOO_DEEP], "for {open}");
    }
    for (open, inside, close) in [("(", "x", ")"), ("{", "x", "}"), ("do :: ", "x", " od"), ("a[", "x", "]")] {
        assert_eq!(messages(nested(open, inside, close, 100)), [""; 0], "for {open}");
    }
}

#[test]
fn what_is_not_nested_may_be_long() {
    assert_eq!(messages(nested("c?(", "x", ")", 1)), [""; 0]);
    assert_eq!(messages(format!("init {{ c?{}x{} }}", "(".repeat(10_000), ")".repeat(10_000))), [""; 0]);
    assert_eq!(messages(nested("x = 1; ", "x", "", 10_000)), [""; 0]);
    assert_eq!(messages(nested("c!x", ",1", "", 1)), [""; 0]);
    assert_eq!(messages(format!("init {{ x{} }}", " + x".repeat(490))), [""; 0]);
}

#[test]
fn an_expression_may_not_be_too_high() {
    assert_eq!(messages(format!("init {{ x{} }}", " + x".repeat(100_000))), [TOO_HIGH]);
    assert_eq!(messages(format!("init {{ {}x }}", "- ".repeat(100_000))), [TOO_HIGH]);
    let chain = " + x".repeat(300);
    assert_eq!(messages(format!("init {{ (x{chain}){chain} }}")), [TOO_HIGH]);
    assert_eq!(messages(format!("init {{ a[x{chain}]{chain} }}")), [TOO_HIGH]);
    assert_eq!(messages(format!("init {{ x{chain}; a[x{chain}]; b[x] + x{chain} }}")), [""; 0]);
}

#[test]
fn inlines_may_not_expand_without_end() {
    let mut model = "inline f0(a) { skip }\n".to_string();
    for n in 1..40 {
        model += &format!("inline f{n}(a) {{ f{}(a); f{}(a) }}\n", n - 1, n - 1);
    }
    model += "init { f39(x) }";
    assert_eq!(messages(model), ["the inlines of this model expand to more than 1000000 tokens"]);

    let arg = "x + ".repeat(400);
    let body = "a; ".repeat(10_000);
    let model = format!("inline f(a) {{ {body} }} init {{ f({arg} x) }}");
    assert_eq!(messages(model), ["the inlines of this model expand to more than 1000000 tokens"]);
}

#[test]
fn a_deep_chain_of_inlines_is_an_error_too() {
    let mut model = "inline f0() { skip }\n".to_string();
    for n in 1..1000 {
        model += &format!("inline f{n}() {{ f{}() }}\n", n - 1);
    }
    assert_eq!(messages(format!("{model} init {{ f999() }}")), [TOO_DEEP]);
    assert_eq!(messages(format!("{model} init {{ f99() }}")), [""; 0]);
}

#[test]
fn after_a_hundred_errors_the_parser_stops() {
    let problems = messages(nested("x = ; ", "", "", 10_000));
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[100], "too many errors; the rest of the model is not read");
}

#[test]
fn unclosed_things_do_not_take_quadratic_time() {
    for piece in ["( ", "if ", "{ int x ", "inline f() { ", "c_code { ", "int x ( ", ":: ", "if ( ", "proctype P("]
    {
        assert!(messages(piece.repeat(100_000)).len() <= 101, "for {piece}");
        assert!(messages(format!("init {{ {}", piece.repeat(100_000))).len() <= 101, "for {piece}");
    }
}

#[test]
fn a_wrong_inline_is_said_once_however_often_it_is_called() {
    let calls = "f(); ".repeat(500);
    check_problems(
        &format!("inline f() {{ if x fi }} init {{ {calls} }}"),
        &["1:17 expected `::` after `if`, found `x`"],
    );
}
