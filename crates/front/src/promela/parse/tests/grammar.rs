use super::{check, check_body};

#[test]
fn operators_bind_as_in_spin() {
    check_body(&[
        ("a || b && c", "(|| a (&& b c))"),
        ("a && b | c ^ d & e", "(&& a (| b (^ c (& d e))))"),
        ("a & b == c", "(& a (== b c))"),
        ("a == b < c", "(== a (< b c))"),
        ("a < b << c + d * e", "(< a (<< b (+ c (* d e))))"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b * c % d", "(% (* (/ a b) c) d)"),
        ("a != b == c", "(== (!= a b) c)"),
        ("a <= b >= c", "(>= (<= a b) c)"),
        ("a && b || c && d", "(|| (&& a b) (&& c d))"),
        ("a * (b + c)", "(* a (+ b c))"),
        ("x = a >> 2 >> b", "(= x (>> (>> a 2) b))"),
    ]);
}

#[test]
fn operators_before_an_expression_bind_tightest() {
    check_body(&[
        ("!a == b", "(== (! a) b)"),
        ("-a * b", "(* (neg a) b)"),
        ("~a + b", "(+ (~ a) b)"),
        ("a - -b", "(- a (neg b))"),
        ("! ! a", "(! (! a))"),
        ("!-~a", "(! (neg (~ a)))"),
        ("!c?[x]", "(! (?[] c x))"),
        ("-a[1].b", "(neg a[1].b)"),
    ]);
}

#[test]
fn an_expression_can_be_conditional_in_parentheses() {
    check_body(&[
        ("x = (a -> b : c)", "(= x (-> a b c))"),
        ("x = (a > 1 -> (b -> 1 : 2) : -c)", "(= x (-> (> a 1) (-> b 1 2) (neg c)))"),
        ("(a -> b : c) + 1 > 2", "(> (+ (-> a b c) 1) 2)"),
        ("(a) -> b", "a; b"),
    ]);
}

#[test]
fn constants_have_their_values() {
    check_body(&[
        ("x = 2147483647", "(= x 2147483647)"),
        ("x = 2147483648", "(= x -2147483648)"),
        ("x = 4294967295", "(= x -1)"),
        ("x = 'a'", "(= x 97)"),
        ("x = '\\n'", "(= x 10)"),
        ("x = '\\0'", "(= x 48)"),
        ("x = true; x = false; x = skip", "(= x 1); (= x 0); (= x 1)"),
        ("skip; true; 1", "1; 1; 1"),
    ]);
}

#[test]
fn primaries() {
    check_body(&[
        ("run P()", "(run P)"),
        ("x = run P(1, a + b) priority 3", "(= x (run P 1 (+ a b) priority 3))"),
        ("len(c) > 1 && nfull(c[2])", "(&& (> (len c) 1) (nfull c[2]))"),
        ("full(c) || (empty(d) && a == b)", "(|| (full c) (&& (empty d) (== a b)))"),
        ("x = nempty(c)", "(= x (nempty c))"),
        ("enabled(_pid) && pc_value(1) == 2", "(&& (enabled _pid) (== (pc_value 1) 2))"),
        ("get_priority(_pid) > 1", "(> (get_priority _pid) 1)"),
        ("timeout", "timeout"),
        ("np_", "np_"),
        ("c?[a, 1, eval(b), -2]", "(?[] c a 1 (eval b) -2)"),
        ("a[1].c??[x(y)] && z", "(&& (??[] a[1].c x y) z)"),
        ("a[i + 1].b.c[j]", "a[(+ i 1)].b.c[j]"),
        ("a[b[c[1]]]", "a[b[c[1]]]"),
        ("P@here", "P@here"),
        ("P[1]@here && a", "(&& P[1]@here a)"),
        ("P:x > 1", "(> P:x 1)"),
        ("P[a]:x[2] == 1", "(== P[a]:x[2] 1)"),
        ("Q@here || Q[1]@here", "(|| Q@here Q[1]@here)"),
    ]);
}

#[test]
fn statements() {
    check_body(&[
        ("x = y", "(= x y)"),
        ("a[i].b = full(c)", "(= a[i].b (full c))"),
        ("x++; y--", "(++ x); (-- y)"),
        ("c!1", "(! c 1)"),
        ("c!a, b + 1", "(! c a (+ b 1))"),
        ("c!a(b, c)", "(! c a b c)"),
        ("c!a + 1(b)", "(! c (+ a 1) b)"),
        ("c!(a)", "(! c a)"),
        ("c[1]!!a, b", "(!! c[1] a b)"),
        ("c?a", "(? c a)"),
        ("c?a, b[1].f", "(? c a b[1].f)"),
        ("c?a(b, _)", "(? c a b _)"),
        ("c?(a, b)", "(? c a b)"),
        ("c?a, b(d, (e))", "(? c a b d e)"),
        ("c??eval(x), -1, 'a', true", "(?? c (eval x) -1 97 1)"),
        ("c?<a, b>", "(?<> c a b)"),
        ("c??<a>", "(??<> c a)"),
        ("assert(x > 1)", "(assert (> x 1))"),
        ("assert x > 1 && nfull(c)", "(assert (&& (> x 1) (nfull c)))"),
        ("printf(\"a\")", "(printf \"a\")"),
        ("printf(\"%d\", a, b + 1)", "(printf \"%d\" a (+ b 1))"),
        ("printm(x); printm(a.b[1])", "(printm x); (printm a.b[1])"),
        ("set_priority(_pid, 2 + 1)", "(set_priority _pid (+ 2 1))"),
        ("goto end; break", "(goto end); break"),
        ("xr c, d[1]; xs e", "(xr c d[1]); (xs e)"),
        ("in = 1", "(= in 1)"),
        ("U = X + always", "(= U (+ X always))"),
    ]);
}

#[test]
fn compound_statements() {
    check_body(&[
        ("if :: a -> b :: else fi", "(if :: a; b :: else)"),
        ("do :: a -> break :: else -> skip; x = 1 od", "(do :: a; break :: else; 1; (= x 1))"),
        ("do :: if :: a fi od", "(do :: (if :: a))"),
        ("atomic { a; b }", "(atomic a; b)"),
        ("d_step { a; { b } }", "(d_step a; {b})"),
        ("for (i : 1 .. n + 1) { x++ }", "(for i 1 (+ n 1) {(++ x)})"),
        ("for (i in a) { x++; skip }", "(for i in a {(++ x); 1})"),
        ("for (m.f in c[1]) { skip }", "(for m.f in c[1] {1})"),
        ("select (i : -1 .. 8)", "(select i (neg 1) 8)"),
        ("{ a } unless { b }", "(unless {a} {b})"),
        ("a -> b unless c; d", "a; (unless b c); d"),
        ("L: a unless M: b", "(unless L: a M: b)"),
        ("atomic { a } unless atomic { b }", "(unless (atomic a) (atomic b))"),
    ]);
}

#[test]
fn labels_stand_before_statements_or_alone() {
    check_body(&[
        ("L: x = 1", "L: (= x 1)"),
        ("L: M: skip", "L: M: 1"),
        ("L:", "L: 1"),
        ("L: ; x", "L: 1; x"),
        ("if :: a -> L: :: L: b fi", "(if :: a; L: 1 :: L: b)"),
        ("do :: L: od", "(do :: L: 1)"),
        ("Q: x; goto Q", "Q: x; (goto Q)"),
    ]);
}

#[test]
fn declarations_stand_anywhere_in_a_sequence() {
    check_body(&[
        ("int x; x = 1; byte y = 2, z[3]", "int x; (= x 1); byte y = 2, z[3]"),
        ("T t; T u[2]; t.f = 1", "T t; T u[2]; (= t.f 1)"),
        ("hidden bit a; show bool b; local pid c", "hidden bit a; show bool b; local pid c"),
        ("unsigned x : 5 = 3, y : 1", "unsigned x:5 = 3, y:1"),
        ("mtype m; mtype:fruit n = apple", "mtype m; mtype:fruit n = apple"),
        ("short s[3] = 7; int a[2] = {1, 2}", "short s[3] = 7; int a[2] = {1 2}"),
        ("chan c; chan d = [2 * 3] of { byte, mtype:x, T }", "chan c; chan d = [(* 2 3)] of byte mtype:x T"),
        ("chan c[2] = [0] of { mtype, chan }", "chan c[2] = [0] of mtype chan"),
    ]);
}

#[test]
fn units() {
    for (model, expected) in [
        ("active proctype P() { skip }", "(active 1 proctype P () 1)"),
        ("active [3] proctype P() { skip }", "(active 3 proctype P () 1)"),
        ("active [N] D_proctype P() { skip }", "(active N D_proctype P () 1)"),
        (
            "proctype P(int a, b; mtype:x c) priority 3 provided (a > 1) { skip }",
            "(proctype P (int a, b; mtype:x c) priority 3 provided (> a 1) 1)",
        ),
        ("proctype P(byte a[2]) provided (empty(c)) { a }", "(proctype P (byte a[2]) provided (empty c) a)"),
        ("init priority 2 { skip }", "(init priority 2 1)"),
        ("never { skip } never n { skip }", "(never 1) (never n 1)"),
        ("trace { c!1; c?x } notrace { c?x, 2 }", "(trace (! c 1); (? c x)) (notrace (? c x 2))"),
        ("typedef T { int a, b; bit c[2] = 1; }; T t", "(typedef T int a, b; bit c[2] = 1) (T t)"),
        ("typedef T { int a }\ntypedef U { T t[2] }", "(typedef T int a) (typedef U T t[2])"),
        ("mtype = { a, b, c }", "(mtype a b c)"),
        ("mtype { a b, c,, d, }", "(mtype a b c d)"),
        ("mtype:fruit = { apple }; mtype:fruit f = apple", "(mtype:fruit apple) (mtype:fruit f = apple)"),
        ("int x int y = 1; byte z ;;; -> bit q", "(int x) (int y = 1) (byte z) (bit q)"),
        ("hidden int x[2] = 3", "(hidden int x[2] = 3)"),
        ("int a[2] = {1, 2}, b; chan c = [1] of {int}, d", "(int a[2] = {1 2}, b) (chan c = [1] of int, d)"),
        ("", ""),
    ] {
        check(model, expected);
    }
}

#[test]
fn formulas() {
    for (formula, expected) in [
        ("[] p", "(Always p)"),
        ("[]<>!p", "(Always (Eventually (! p)))"),
        ("[](p-><>q)", "(Always (Implies p (Eventually q)))"),
        ("p <-> q", "(Equivalent p q)"),
        ("p -> q -> r", "(Implies (Implies p q) r)"),
        ("p -> q <-> r", "(Equivalent (Implies p q) r)"),
        ("p U q U r", "(Until (Until p q) r)"),
        ("[] p U q", "(Until (Always p) q)"),
        ("X p && q", "(&& (Next p) q)"),
        ("p && q U r || s", "(|| (&& p (Until q r)) s)"),
        ("p W q V r", "(Release (WeakUntil p q) r)"),
        ("a == 1 U b > 2", "(Until (== a 1) (> b 2))"),
        ("a | b U c & d", "(Until (| a b) (& c d))"),
        ("always eventually p until next q", "(Until (Always (Eventually p)) (Next q))"),
        ("p stronguntil q weakuntil r release s", "(Release (WeakUntil (Until p q) r) s)"),
        ("p implies q equivalent r", "(Equivalent (Implies p q) r)"),
        ("[] (a[1].b <= 3 - x)", "(Always (<= a[1].b (- 3 x)))"),
        ("<> P@end && Q[1]:x == 2", "(&& (Eventually P@end) (== Q[1]:x 2))"),
        ("[] c?[x]", "(Always (?[] c x))"),
        ("full(c) && p", "(&& (full c) p)"),
        ("p;", "p"),
    ] {
        // The processes come later: SPIN parses formulas at the end.
        let processes = "proctype P() { end: skip } proctype Q() { skip }";
        let tree = "(proctype P () end: 1) (proctype Q () 1)";
        check(&format!("ltl f {{ {formula} }} {processes}"), &format!("(ltl f {expected}) {tree}"));
    }
    check("ltl { p }", "(ltl p)");
}
