//! SPIN as the oracle of the grammar.

use super::parse_text;
use std::process::{Command, Stdio};

/// Models that SPIN and entail accept. Each is a body for [`PRELUDE`], or a whole model if it begins with `@`.
const RIGHT: &[&str] = &[
    // Expressions.
    "x = 1 + 2 * 3 - 4 / 2 % 3",
    "x = a[1] + a[x]",
    "x = (x > 1 -> 2 : 3)",
    "x = (x -> (y -> 1 : 2) : -3)",
    "x = ~x & -y | !x ^ x << 2 >> 1",
    "x == 1 && y != 2 || x <= 3 && y >= 4",
    "x = 'a'",
    "x = '\\n'",
    "x = true",
    "x = skip + false",
    "! ! x",
    "x = - - y",
    "x - -y > 0",
    "t.fa = t.ga[1]",
    "len(c) > 0",
    "full(c)",
    "full(c) || x == 1",
    "x == 1 && (nempty(c) || nfull(c))",
    "b = full(c)",
    "assert(full(c) || empty(c))",
    "c?[m, x]",
    "!c?[m, x] && y",
    "c??[m, 1]",
    "c?[m(x)]",
    "x = c?[m, eval(y)]",
    "run Q(1, 2)",
    "x = run Q(x, y)",
    "run Q(1, 2) priority 3",
    "x = _pid",
    "Q[1]@here",
    "Q@here",
    "Q[x]:q == 1",
    "Q:q > 2",
    "(Q[1]@here && x)",
    "timeout",
    "(timeout) -> skip",
    "timeout -> x = 1",
    "x = 2147483648",
    "x = 4294967295",
    // Statements.
    "x++; y--",
    "a[x]++",
    "c!m,1",
    "c!m(1)",
    "c!m,x+1",
    "c!!m(2)",
    "c?m,x",
    "c?m(x)",
    "c?(m,x)",
    "c?((m,x))",
    "c?m,(x)",
    "c?m,_",
    "c?eval(m),x",
    "c??m,1",
    "c?<m,x>",
    "c??<m(x)>",
    "c?m,-1",
    "c?m,'a'",
    "d?[true]",
    "assert x > 0",
    "assert(x > 0)",
    "printf(\"a\\n\")",
    "printf(\"%d %d\", x, y+1)",
    "printm(m)",
    "printm(red)",
    "goto l; l: skip",
    "skip; l: x = 1; goto l",
    "skip; l: m1: skip; goto m1",
    "skip; l: ; goto l",
    "skip; l: x = 1; if :: x -> l2: fi",
    "if :: x fi",
    "if :: x -> y :: else fi",
    "if :: x -> y = 1 :: else -> y = 2 fi; x",
    "do :: x -> break :: else break od",
    "do :: break od",
    "do :: x; :: y -> break; od;",
    "atomic { x = 1; y = 1 }",
    "d_step { x = 1; y = 1 }",
    "atomic { d_step { x = 1 } }",
    "{ x = 1 }",
    "{ x = 1; { y = 1 } }",
    "{ x = 1 } unless { y }",
    "x = 1 unless y",
    "do :: x = 1 od unless { y }",
    "skip; l: { x = 1 } unless y",
    "for (x : 1 .. 3) { y = x }",
    "for (x : y .. y + 3) { skip; }",
    "for (x in a) { y = x }",
    "for (x : 1 .. 3)\n{ y = x }",
    "select (x : 1 .. 3)",
    "select (x : y .. y + 3)",
    "select (x : 1 .. 100)",
    "xr c; xs c; x = 1",
    "int z; z = 1",
    "x = 1; int z = x; z = 1",
    "int z = 1, w = 2; z = w",
    "int z[3] = 4; z[0] = 1",
    "@init { int z[2] = {1, 2}; z[0] = 1 }",
    "unsigned z : 3 = 1; z = 2",
    "@init { chan z = [1] of {byte}; z!1 }",
    "T z; z.fa = 1",
    "@hidden int z; init { z = 1 }",
    "local byte z; z = 1",
    "mtype z = red; z = green",
    "mtype:fruit z; z = apple",
    "int U; U = 1",
    "int in; in = 1",
    "int always; always = 1",
    // Separators.
    "x = 1\ny = 2",
    "x = 1\n-x",
    "x\n!y",
    "x = 1;;y = 1",
    "x = 1 -> y = 1 ->",
    "x = 1\n\n;y = 1",
    "{ x = 1 } y = 1",
    "if\n:: x\n:: y -> x\nfi\nx = 1",
    "do\n:: x -> break\n:: else\nod\nx = 1",
    "atomic\n{\nx = 1\n}\nx = 1",
    "x =\n1",
    "x = (1\n+ 2)",
    "printf(\"a\",\nx\n)\nx = 1",
    "{ x = 1 }\nunless\n{ y }",
    "x++\ny--\nbreak_ = 1",
    "int z\nint w\nz = w",
    "T\nz\nz.fa = 1",
    "if :: else x = 1 fi",
    "if :: else :: x fi",
    "c!m,1\n(x)",
    "goto l\nl: skip",
    // Inlines.
    "f(x, y)",
    "f(x, y); f(y, 1)",
    "f(x, y) x = 1",
    "f(x, y)\nx = 1",
    "if :: f(x, y) -> skip fi",
    "x = r(y)",
    "x = r(y) y = r(1)",
    "g()",
    "skip; l: f(x, y); goto l",
    "f(a[x], (y + 1))",
    "f\n(x, y)",
    "{ f(x, y) } unless { g() }",
    // Units.
    "@proctype A() { skip } init { run A() }",
    "@active proctype A() { skip }",
    "@active [2] proctype A() { skip }",
    "@active [1 + 1] proctype A() { skip }",
    "@active D_proctype A() { skip }",
    "@proctype A(int x, y; byte z) { x = y + z } init { run A(1, 2, 3) }",
    "@proctype A(int x;; byte y) { x = y } init { run A(1, 2) }",
    "@byte x; active proctype A() provided (x == 0) { skip }",
    "@active proctype A() priority 2 { skip }",
    "@init priority 2 { skip }",
    "@byte x int y; init { x = y };",
    "@byte x;; -> int y; init { x = y }",
    "@mtype = {a, b, c}; init { skip }",
    "@mtype {a b,, c,} init { skip }",
    "@mtype:s = {a, b} mtype:s x; init { x = a }",
    "@typedef A { int x, y; byte z[2]; }; A a; init { a.x = 1 }",
    "@typedef A { int x\nbyte y\n} A a; init { a.x = 1 }",
    "@typedef A { int x } typedef B { A a[2] } B b; init { b.a[1].x = 1 }",
    "@never { do :: skip od } init { skip }",
    "@never n { skip } init { skip }",
    "@chan c = [1] of {byte}; byte x; trace { do :: c!x; c?x od } init { c!1 }",
    "@byte x; ltl p { [] x } init { x = 1 }",
    "@byte x; ltl { <> (x == 1) } init { x = 1 }",
    "@byte x, y; ltl p { [](x -> <>y) && !x U y || (x W y) } init { x = 1 }",
    "@byte x, y; ltl p { always (x implies eventually y) } init { x = 1 }",
    "@byte x, y; ltl p { x <-> y ; } init { x = 1 }",
    "@ltl p { [] A@l } active proctype A() { l: skip }",
    "@inline f() { skip } init { f() }",
    "@proctype A() { B: skip; goto B } proctype B() { skip } init { run A() }",
    "@byte N = 3; byte a[N]; init { a[0] = 1 }",
    "@chan c = [1] of { byte, mtype, chan }; init { skip }",
    "@chan c[2] = [0] of { bit }; init { skip }",
    "@show int x; hidden byte y; init { x = y }",
    "@byte x; never { if :: np_ fi } init { x = 1 }",
    "@init { skip };",
    "@proctype A() { skip } init { run\nA() }",
];

/// Models that SPIN and entail reject.
const WRONG: &[&str] = &[
    "",
    "x =",
    "x = = 1",
    "x += 1",
    "x = 1 y = 1",
    "x == 1 y = 1",
    "(x",
    "x)",
    "x = (x -> 1)",
    "x = x -> 1 : 2",
    "!full(c)",
    "full(c) == 1",
    "x = 1 + (full(c))",
    "bool z = full(c)",
    "x = (full(c) -> 1 : 2)",
    "!!x",
    "a[1",
    "x = a[]",
    "x\n&& y",
    "c!m\n,1",
    "x = 1\n+ 2",
    "c!",
    "c?",
    "c?x+1",
    "c?m(x),1",
    "c!m,x(1)",
    "c?<m,x",
    "c?[m,x",
    "eval(x)",
    "assert",
    "printf(x)",
    "printf(\"a\" \"b\")",
    "printf(\"a\",)",
    "printm(1 + 2)",
    "goto",
    "goto 1",
    "l: int z",
    "l: xr c",
    "if fi",
    "if x fi",
    "if :: fi",
    "if :: x od",
    "if :: x",
    "do :: x fi",
    "do od",
    "do :: x :: :: y od",
    "x :: y",
    "od",
    "x fi",
    "{ }",
    "{ ; x }",
    "; x",
    "atomic x",
    "atomic { }",
    "for (x = 1; x < 2; x++) { y = 1 }",
    "for (x : 1 .. 2) y = 1",
    "for (x : 1) { y = 1 }",
    "for x : 1 .. 2 { y = 1 }",
    "select x : 1 .. 2",
    "select (x : 1)",
    "while (x) { y = 1 }",
    "if (x) { y = 1 }",
    "x unless",
    "unless x",
    "x unless y unless x",
    "int",
    "int 1",
    "int z,",
    "int z, byte w",
    "int z == 1",
    "int z[1][2]",
    "int len",
    "Foo z",
    "mtype = {z}",
    "chan z = [1] of byte",
    "chan z = [1] {byte}",
    "chan z = [] of {byte}",
    "chan z = [1] of {}",
    "chan z = [1] of {foo}",
    "run",
    "run Q",
    "run Q(1,)",
    "len c",
    "enabled()",
    "Q:skip",
    "f(x)",
    "f(x, y, y)",
    "f(x = 1, y)",
    "x = 1 + r(y)",
    "r(y)",
    "inline z() { skip }",
    "x = 0x10",
    "x # y",
    "}",
    "@init",
    "@init { skip",
    "@init { skip } }",
    "@proctype A { skip }",
    "@proctype () { skip }",
    "@proctype A(int) { skip }",
    "@proctype A(int x, byte y) { skip }",
    "@proctype A(int x = 1) { skip } init { run A(1) }",
    "@active [] proctype A() { skip }",
    "@active A() { skip }",
    "@proctype A() provided x { skip }",
    "@proctype A() priority { skip }",
    "@init { skip } x = 1",
    "@int x y; init { skip }",
    "@mtype = {}; init { skip }",
    "@mtype = {, a}; init { skip }",
    "@mtype:s {a}; init { skip }",
    "@hidden mtype = {a}; init { skip }",
    "@typedef A { } init { skip }",
    "@typedef A { int x y } init { skip }",
    "@typedef { int x } init { skip }",
    "@typedef A { A x } init { skip }",
    "@byte x; ltl p { !!x } init { skip }",
    "@byte x; ltl p { } init { skip }",
    "@byte x; ltl p [] x init { skip }",
    "@byte x; ltl p { x U } init { skip }",
    "@byte x; ltl p { (x -> 1 : 2) } init { skip }",
    "@chan c = [1] of {byte}; ltl p { [] full(c) } init { skip }",
    "@init { f() } inline f() { skip }",
    "@inline f() { f() } init { f() }",
    "@inline f(a, 1) { skip } init { f(1, 1) }",
    "@inline f { skip } init { f() }",
    "@inline f() { skip",
    "@inline f() { } init { f() }",
    "@proctype B() { skip } proctype A() { B: skip; goto B } init { run A() }",
];

/// Models that SPIN rejects and entail accepts, because the meaning is clear.
const LENIENT: &[&str] = &[
    "x = 1;;;;",
    "do :: x;;; :: break od",
    "x = 1\nunless { y }",
    "a[1\n] = 1",
    "@mtype = { red }; init { red: skip; goto red }",
    "int z[2] = {1, 2}, w; z[0] = w",
    "int z[2] = {-1, 1 + 1}; z[0] = 1",
    "h(run Q(1, 2))",
    "@proctype A(int x;) { skip } init { run A(1) }",
    "l: x = 1; goto l",
    "@int x[2] = {1, 2}, y; init { x[0] = y }",
    "@chan c = [1] of {byte}, d = [1] of {byte}; init { skip }",
    "@never { if :: A@l fi } active proctype A() { l: skip }",
];

const PRELUDE: &str = "mtype = { red, green }; mtype:fruit = { apple };
typedef T { byte fa; byte ga[2] };
int x, y, a[3], break_; bool b; T t; mtype m;
chan c = [2] of { mtype, byte }; chan d = [1] of { bool };
inline f(p, q) { p = q + 1; q }
inline h(p) { x = p }
inline g() { f(x, y)\n x = 1 }
inline r(p) { x = p; return p + 1 }
proctype Q(byte n; byte k) { byte q; here: q = n + k }
";

fn model(snippet: &str) -> String {
    match snippet.strip_prefix('@') {
        Some(model) => model.to_string(),
        None => format!("{PRELUDE}init {{ do :: {{ {snippet} }} od }}\n"),
    }
}

/// Whether SPIN accepts a model; `None` without SPIN.
fn spin_accepts(model: &str, directory: &std::path::Path) -> Option<bool> {
    std::fs::write(directory.join("model.pml"), model).expect("a writable directory");
    let mut spin = Command::new("spin");
    spin.args(["-a", "model.pml"]).current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    spin.status().ok().map(|status| status.success())
}

/// Unexpected answers about a snippet that SPIN and entail should accept, or not.
fn differences(snippet: &str, spin_should: bool, we_should: bool, directory: &std::path::Path) -> Vec<String> {
    let mut differences = Vec::new();
    let model = model(snippet);
    let (_, problems) = parse_text(&model);
    if problems.is_empty() != we_should {
        differences.push(format!("we should accept: {we_should}, for {snippet:?}: {problems:?}"));
    }
    match spin_accepts(&model, directory) {
        Some(accepts) if accepts != spin_should => {
            differences.push(format!("SPIN should accept: {spin_should}, for {snippet:?}"));
        }
        Some(_) => {}
        None => eprintln!("spin is not installed: {snippet:?} is not compared"),
    }
    differences
}

#[test]
fn we_accept_what_spin_accepts() {
    let expectations = [(RIGHT, true, true), (WRONG, false, false), (LENIENT, false, true)];
    let found: Vec<String> = std::thread::scope(|scope| {
        let chunks = expectations.iter().flat_map(|&(snippets, spin_should, we_should)| {
            snippets.chunks(25).map(move |chunk| (chunk, spin_should, we_should))
        });
        let compare = |(chunk, spin_should, we_should): (&'static [&'static str], bool, bool)| {
            scope.spawn(move || {
                let directory = tempfile::tempdir().expect("a temporary directory");
                let of = |snippet: &&str| differences(snippet, spin_should, we_should, directory.path());
                chunk.iter().flat_map(of).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = chunks.map(compare).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}
