use super::{check, check_body, check_problems};

#[test]
fn a_line_ends_a_statement() {
    check_body(&[
        ("x = a\n y = b", "(= x a); (= y b)"),
        ("x = a\n -b", "(= x a); (neg b)"),
        ("x\n !y", "x; (! y)"),
        ("c!x\n (y)", "(! c x); y"),
        ("c?x\n (y)", "(? c x); y"),
        ("a[1]\n {b}", "a[1]; {b}"),
        ("x++\n y--\n z", "(++ x); (-- y); z"),
        ("goto L\n break\n skip\n x", "(goto L); break; 1; x"),
        ("timeout\n x = 'a'\n x", "timeout; (= x 97); x"),
        ("if :: a fi\n do :: b od\n c", "(if :: a); (do :: b); c"),
        ("int x\n int y = 1\n x", "int x; int y = 1; x"),
        ("run P()\n x", "(run P); x"),
        ("if\n :: a\n :: b -> c\n fi\n", "(if :: a :: b; c)"),
        ("L:\n x\n", "L: x"),
    ]);
}

#[test]
fn a_line_does_not_end_what_cannot_be_a_statement() {
    check_body(&[
        ("x =\n a +\n b", "(= x (+ a b))"),
        ("x = (a\n + b)", "(= x (+ a b))"),
        ("a[1\n + x\n]", "a[(+ 1 x)]"),
        ("printf(\"a\",\n x\n , y\n )", "(printf \"a\" x y)"),
        ("atomic\n {\n a\n }", "(atomic a)"),
        ("for (i : 1 .. 2)\n { x }", "(for i 1 2 {x})"),
        ("for (i in a)\n { x }", "(for i in a {x})"),
        ("T\n t", "T t"),
        ("int\n x,\n y", "int x, y"),
        ("P\n [1]@here", "P[1]@here"),
        ("np_\n - 1", "(- np_ 1)"),
        ("x\n -> y\n ; z", "x; y; z"),
        ("{ x }\n unless\n { y }", "(unless {x} {y})"),
        ("x = 1\n unless { y }", "(unless (= x 1) {y})"),
    ]);
    check("int a = 1\n + 2\n byte b init\n { skip }", "(int a = (+ 1 2)) (byte b) (init 1)");
}

#[test]
fn a_brace_ends_a_statement() {
    check_body(&[
        ("{ a } b", "{a}; b"),
        ("atomic { a } x = 1", "(atomic a); (= x 1)"),
        ("{ a } -> b", "{a}; b"),
        ("do :: { a } :: { b } od", "(do :: {a} :: {b})"),
        ("chan c = [1] of {byte} c!1", "chan c = [1] of byte; (! c 1)"),
        ("for (i : 1 .. 2) { x } y", "(for i 1 2 {x}); y"),
    ]);
    check("typedef T { int x } T t", "(typedef T int x) (T t)");
    check("typedef T { int x\n byte y\n }", "(typedef T int x; byte y)");
    check("mtype = {a} int x", "(mtype a) (int x)");
}

#[test]
fn else_needs_no_separator() {
    check_body(&[
        ("if :: else x = 1 fi", "(if :: else; (= x 1))"),
        ("if :: else -> x fi", "(if :: else; x)"),
        ("if :: else :: a fi", "(if :: else :: a)"),
        ("do :: else od", "(do :: else)"),
        ("do :: a :: else\n break od", "(do :: a :: else; break)"),
    ]);
}

#[test]
fn separators_can_be_repeated_and_end_a_sequence() {
    check_body(&[
        ("a;; b;", "a; b"),
        ("a -> -> b ->", "a; b"),
        ("if :: a; :: b -> fi;", "(if :: a :: b)"),
        ("{ a; };", "{a}"),
        ("a;;;;;; b;;;;", "a; b"),
    ]);
}

#[test]
fn a_line_that_begins_with_an_operator_is_an_error() {
    check_problems("init { x = a\n && b }", &["2:2 expected a statement, found `&&`"]);
    check_problems("init { c!1\n , 2 }", &["2:2 expected a statement, found `,`"]);
}
