use super::{check_problems, parse_text};

#[test]
fn problems_say_where_they_are_and_what_is_expected() {
    for (model, expected) in [
        ("init { x = }", &["1:12 expected an expression, found `}`"][..]),
        ("init { x y = 1 }", &["1:10 expected `;` after this statement, found `y`"]),
        ("init { x = (1 + 2; y }", &["1:18 expected `)`, found `;`"]),
        ("init { c! }", &["1:11 expected an expression, found `}`"]),
        ("init { c?1+2 }", &["1:11 expected `;` after this statement, found `+`"]),
        ("init { a[1 }", &["1:12 expected `]`, found `}`"]),
        ("init { goto len }", &["1:13 expected a label, but `len` is a keyword"]),
        ("init { int len }", &["1:12 expected the name of a variable, but `len` is a keyword"]),
        ("init { L: int x }", &["1:11 expected a statement after the label, found `int`"]),
        (
            "init { x # y; z = }",
            &["1:10 the character `#` has no meaning in Promela", "1:19 expected an expression, found `}`"],
        ),
        ("init { x = 4294967296 }", &["1:12 `4294967296` is not a number of 32 bits"]),
        ("init { mtype = {a} }", &["1:8 the constants of an `mtype` can be declared only outside processes"]),
        ("init { !full(c) }", &["1:9 expected an expression other than a test of a channel, found `full`"]),
        ("init { full(c) == 1 }", &["1:8 a test of a channel can only be combined by `&&` and `||`"]),
        ("init { x = 1 + (full(c)) }", &["1:17 a test of a channel can only be combined by `&&` and `||`"]),
        ("init { bool b = full(c) }", &["1:17 a test of a channel can only be combined by `&&` and `||`"]),
        (
            "proctype P(int a, byte b) { skip; ) }",
            &["1:19 expected the name of a variable, found `byte`", "1:35 expected a statement, found `)`"],
        ),
        ("proctype P(int a = 1) { skip }", &["1:16 a parameter cannot have an initial value"]),
        ("proctype P(Foo a) { skip }", &["1:12 expected a parameter such as `int x`, found `Foo`"]),
        ("int x == 3; byte y", &["1:7 expected `=`, found `==`"]),
        ("int x[2][3]; byte y", &["1:9 expected the end of this declaration, found `[`"]),
        ("chan c = [1] of { unsigned }", &["1:19 a message cannot have a field of type `unsigned`"]),
        (
            "chan c = [1] of { foo }; int x y",
            &[
                "1:19 expected the type of a message's field, found `foo`",
                "1:32 expected a proctype, `init`, a declaration or another unit, found `y`",
            ],
        ),
        (
            "typedef T { int a b; byte c d }",
            &[
                "1:19 expected `;` or `}` after this field, found `b`",
                "1:29 expected `;` or `}` after this field, found `d`",
            ],
        ),
        ("typedef T { }", &["1:11 a type needs at least one field"]),
        ("mtype = { }", &["1:11 expected the name of a constant, found `}`"]),
        ("hidden mtype = { a }", &["1:1 constants cannot be `hidden`, `show` or `local`"]),
        (
            "ltl p { !!x } int y = ;",
            &["1:9 expected an expression, found `!!`", "1:23 expected an expression, found `;`"],
        ),
        ("ltl p { [] full(c) }", &["1:12 expected an expression other than a test of a channel, found `full`"]),
        ("ltl p { a b }", &["1:11 expected `}`, found `b`"]),
        (
            "proctpe P(int x) { int y; y = 1 } int z = ;",
            &[
                "1:1 expected a proctype, `init`, a declaration or another unit, found `proctpe`",
                "1:43 expected an expression, found `;`",
            ],
        ),
        ("proctype B() { skip } proctype A() { B: skip }", &["1:41 expected the name of a variable, found `skip`"]),
    ] {
        check_problems(model, expected);
    }
}

#[test]
fn a_sequence_needs_a_statement() {
    let message = "expected at least one statement after this; `skip` does nothing";
    for (model, place) in [
        ("init { }", "1:6"),
        ("init { if :: fi }", "1:11"),
        ("init { do :: a :: :: b od }", "1:16"),
        ("init { atomic { } }", "1:15"),
        ("never { }", "1:7"),
    ] {
        check_problems(model, &[&format!("{place} {message}")]);
    }
    check_problems("init { ; x }", &["1:8 expected a statement, found `;`"]);
}

#[test]
fn what_is_not_closed_is_said_once() {
    for (model, expected) in [
        ("init { do :: x; y }", &["1:19 expected `od`, found `}`"][..]),
        ("init { do :: if :: x od }", &["1:22 expected `fi`, found `od`"]),
        ("init { x\nproctype P() { y }", &["2:1 expected `}`, found `proctype`"]),
        ("init { x", &["1:8 expected `}`, found the end of the file"]),
        (
            "init { x }\n}\nint y = ;",
            &["2:1 there is nothing open that this `}` could close", "3:9 expected an expression, found `;`"],
        ),
        ("init { x od; y = }", &["1:10 there is no `do` for this `od`", "1:18 expected an expression, found `}`"]),
        ("init { x :: y }", &["1:10 this `::` is not inside an `if` or `do`"]),
        (
            "init { if :: a od; b fi; c = }",
            &["1:16 there is no `do` for this `od`", "1:30 expected an expression, found `}`"],
        ),
        (
            "init { { x fi }",
            &["1:12 there is no `if` for this `fi`", "1:15 expected `}`, found the end of the file"],
        ),
    ] {
        check_problems(model, expected);
    }
}

#[test]
fn every_problem_is_reported_in_one_run() {
    check_problems(
        "int a b;\ninit {\n  x = ;\n  do :: y + -> skip\n  :: z = = 1\n  od;\n  c ! ;\n  w\n}\nproctype P( { q = }\nnever { ( }",
        &[
            "1:7 expected a proctype, `init`, a declaration or another unit, found `b`",
            "3:7 expected an expression, found `;`",
            "4:13 expected an expression, found `->`",
            "5:10 expected an expression, found `=`",
            "7:7 expected an expression, found `;`",
            "10:13 expected a parameter such as `int x`, found `{`",
            "10:19 expected an expression, found `}`",
            "11:11 expected an expression, found `}`",
        ],
    );
}

#[test]
fn habits_from_other_languages_get_a_hint() {
    for (statement, hint) in [
        ("x += 1", "there is no `+=` in Promela; write `x = x + …`"),
        ("while (x) { y = 1 }", "Promela has no `while`; write `do :: condition -> … :: else -> break od`"),
        ("if (x) { y = 1 }", "write `if :: condition -> … :: else -> … fi`"),
        ("if (x) -> y = 1 fi", "write `if :: condition -> … :: else -> … fi`"),
        ("if x -> y; z fi", "write `if :: condition -> … :: else -> … fi`"),
        ("if :: x -> y :: else if (z) { y } fi", "write `if :: condition -> … :: else -> … fi`"),
        ("(x = 1) -> y", "to compare, write `==`; an assignment is a statement of its own"),
        ("for (i = 0; i < 3; i++) { y }", "a loop is `for (x : 1 .. 9) { … }` or `for (x in array) { … }`"),
        ("x = a\n&& b", "the end of a line ends the statement; put `&&` at the end of the line above"),
        ("foo(1, 2)", "there is no inline `foo` that could be called"),
        ("x = 0x1F", "numbers are decimal"),
        ("!empty(c)", "a test of a channel cannot be negated; write `nempty(…)`"),
        ("L: int x", "move the declaration before the label"),
        ("int x, byte y", "declarations of different types are separated by `;`, not `,`"),
        ("x = (a -> b)", "a conditional expression is `(condition -> yes : no)`"),
    ] {
        let (_, problems) = parse_text(&format!("init {{ {statement}; x = 2 }}"));
        let hints: Vec<_> = problems.iter().map(|problem| problem.hint.as_deref()).collect();
        assert_eq!(hints, [Some(hint)], "for {statement}: {problems:?}");
    }
}

#[test]
fn embedded_c_is_one_error_each_and_the_rest_is_read() {
    let model = "c_decl { typedef struct { int init; } proctype; }\nc_state \"int x\" \"Global\" \"3\"\nc_track \"a\" \"b\";\n\
                 init {\nc_code [x > 1] { if (a) { b[0]; } } y = 1;\nif :: c_expr { x[1]; } && y -> skip fi\nz = }";
    check_problems(
        model,
        &[
            "1:1 embedded C is not supported yet",
            "2:1 embedded C is not supported yet",
            "3:1 embedded C is not supported yet",
            "5:1 embedded C is not supported yet",
            "6:7 embedded C is not supported yet",
            "7:5 expected an expression, found `}`",
        ],
    );
}
