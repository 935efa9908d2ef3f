use super::{check, check_problems, parse_text};
use crate::promela::ast::{Step, StmtKind, Unit};

#[test]
fn a_call_becomes_a_block_with_the_arguments_in_it() {
    for (model, expected) in [
        ("inline f(a, b) { a = b + 1 } init { f(x, y[2]) }", "(init (f {(= x (+ y[2] 1))}))"),
        ("inline f() { skip } init { f(); f() }", "(init (f {1}); (f {1}))"),
        ("inline f() { skip } init { f() x = 1 }", "(init (f {1}); (= x 1))"),
        ("inline f(a) { a; a } init { f(run P(x, y)) }", "(init (f {(run P x y); (run P x y)}))"),
        (
            "inline f(a) { int i; a = i } init { L: f(x) unless f(y) }",
            "(init (unless L: (f {int i; (= x i)}) (f {int i; (= y i)})))",
        ),
        (
            "inline f(a) { c?a } inline g(b) { f(b.x); f(b.y) } init { g(r[1]) }",
            "(init (g {(f {(? c r[1].x)}); (f {(? c r[1].y)})}))",
        ),
        ("inline f(a, b) { a = b } init { f(b, a) }", "(init (f {(= b a)}))"),
        ("inline f(a) { a\n a } init { f(x\n+\ny) }", "(init (f {(+ x y); (+ x y)}))"),
        ("inline f(a) { x = 1\n a } init { f(-y) }", "(init (f {(= x 1); (neg y)}))"),
        (
            "inline f(a) { if :: a -> x = 1 :: else fi } init { if :: f(y) -> z fi }",
            "(init (if :: (f {(if :: y; (= x 1) :: else)}); z))",
        ),
        ("inline f(a) { printf(\"a\", a); goto a } init { f(b) }", "(init (f {(printf \"a\" b); (goto b)}))"),
        ("inline f\n(a)\n{ a\n}\ninit { f\n(x)\n}", "(init (f {x}))"),
    ] {
        check(model, expected);
    }
}

#[test]
fn return_assigns_to_the_left_side_of_the_call() {
    for (model, expected) in [
        ("inline f(a) { return a + 1 } init { x[2] = f(y) }", "(init (f {(= x[2] (+ y 1))}))"),
        (
            "inline f(a) { if :: a -> return 1 :: else -> return 2 fi } init { x = f(y); z }",
            "(init (f {(if :: y; (= x 1) :: else; (= x 2))}); z)",
        ),
        (
            "inline g() { return 2 } inline f() { y = g(); return y } init { x = f() }",
            "(init (f {(g {(= y 2)}); (= x y)}))",
        ),
    ] {
        check(model, expected);
    }
    check_problems(
        "inline f() { return 1 }\ninit { f() }",
        &["1:14 `return` is possible only in an inline that is called as `x = name(…)`"],
    );
    check_problems(
        "inline f() { int x; return x }\ninit { x = f() }",
        &["1:21 `return` cannot reach `x`: the inline has a variable of this name"],
    );
}

#[test]
fn wrong_calls_are_errors() {
    for (model, expected) in [
        (
            "inline f(a) { a }\ninit { f(1, 2); f() }",
            &[
                "2:8 wrong number of arguments for `f`: 1 expected, 2 given",
                "2:17 wrong number of arguments for `f`: 1 expected, 0 given",
            ][..],
        ),
        ("inline f() { f() }\ninit { f() }", &["1:14 the inline `f` calls itself"]),
        (
            "inline f() { skip }\ninline g() { f(1) }\ninit { g(); g() }",
            &["2:14 wrong number of arguments for `f`: 0 expected, 1 given"],
        ),
        ("init { f() }\ninline f() { skip }", &["1:9 expected `;` after this statement, found `(`"]),
        ("inline f() { skip }\ninit { x = 1 + f() }", &["2:17 expected `;` after this statement, found `(`"]),
        ("inline f(a) { a }\ninit { f(x = 1) }", &["2:12 expected `)`, found `=`"]),
        ("inline f(a) { x = ; a }\ninit { f(1); f(2) }", &["1:19 expected an expression, found `;`"]),
        ("inline f() { skip }\ninline f() { skip }", &["2:8 there is an inline `f` already"]),
        ("inline f() { skip\ninit { skip }", &["2:1 expected `}`, found `init`"]),
        ("inline f() { { skip }\ninit { skip }", &["2:1 expected `}`, found `init`"]),
        ("inline f() { do :: skip }\ninit { do :: f() od }", &["1:25 expected `od`, found `}`"]),
        ("inline f() { skip }\ninit { f(); x = }", &["2:17 expected an expression, found `}`"]),
    ] {
        check_problems(model, expected);
    }
}

#[test]
fn a_problem_in_an_inline_names_the_calls_that_lead_to_it() {
    let (_, problems) = parse_text("inline f() { ) } inline g() { f() } init { g() }");
    let places: Vec<u32> = problems[0].related.iter().map(|(span, _)| span.start).collect();
    assert_eq!((problems.len(), places), (1, vec![30, 43]));
}

#[test]
fn statements_stand_where_the_body_was_written_and_arguments_where_they_were() {
    let model = "inline f(a) { a = a + 1 } init { f(xyz) }";
    let (program, _) = parse_text(model);
    let Unit::Init(init) = &program.units[0] else { panic!("{program:?}") };
    let Step::Stmt(call) = &init.body[0] else { panic!("{init:?}") };
    let StmtKind::Inlined { body, .. } = &call.kind else { panic!("{call:?}") };
    let Step::Stmt(stmt) = &body[0] else { panic!("{body:?}") };
    let StmtKind::Assign(var, _) = &stmt.kind else { panic!("{stmt:?}") };
    let written = |span: crate::source::Span| &model[span.start as usize..span.end as usize];
    assert_eq!(written(call.span), "f(xyz)");
    assert_eq!(written(stmt.span), "a = a + 1");
    assert_eq!(written(var.parts[0].name.span), "xyz");
}
