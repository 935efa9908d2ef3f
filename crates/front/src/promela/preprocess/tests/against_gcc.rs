//! gcc as the oracle of the preprocessor.

use super::*;
use std::io::Write;
use std::process::{Command, Stdio};

/// The output of `gcc -E` for `text`, tokenised without macros; `Err` if gcc rejects it, `None` without gcc.
fn gcc(text: &str) -> Option<Result<Outcome, String>> {
    let command = ["-std=gnu99", "-E", "-undef", "-x", "c", "-"];
    let (input, output, error) = (Stdio::piped(), Stdio::piped(), Stdio::piped());
    let mut gcc = Command::new("gcc").args(command).stdin(input).stdout(output).stderr(error).spawn().ok()?;
    gcc.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = gcc.wait_with_output().unwrap();
    if !output.status.success() {
        return Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Some(Ok(Outcome::of(&String::from_utf8_lossy(&output.stdout))))
}

/// Compares tokens, line breaks, and the existence of errors; false without gcc. (gcc places a macro where it
/// begins: it reports a line break after a macro of several lines even where there is none.)
#[track_caller]
fn check_same(text: &str) -> bool {
    check_same_when(text, Outcome::text)
}

#[track_caller]
fn check_same_when(text: &str, shown: impl Fn(&Outcome) -> String) -> bool {
    let ours = Outcome::of(text);
    match gcc(text) {
        None => {
            eprintln!("skipped: there is no gcc");
            return false;
        }
        Some(Ok(theirs)) => {
            assert_eq!(shown(&ours), shown(&theirs), "ours and theirs, from\n{text}\n{}", ours.problems());
            assert!(!ours.problems.iter().any(Diagnostic::is_error), "{}\nfrom\n{text}", ours.problems());
        }
        Some(Err(problem)) => {
            assert!(ours.problems.iter().any(Diagnostic::is_error), "gcc says\n{problem}\nof\n{text}");
        }
    }
    true
}

#[test]
fn tricky_macros_expand_as_in_gcc() {
    for text in [
        // The examples of the C standard, 6.10.3.
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n\
         #define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n\
         #define str(x) # x\nf(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m(f)^m(m);\n\
         p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };",
        "#define str(s) # s\n#define xstr(s) str(s)\n#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n\
         x ## s, x ## t)\n#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n\
         #define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\ndebug(1, 2);\n\
         fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') == 0) str(: @\\n), s);\nxstr(INCFILE(2).h)\n\
         glue(HIGH, LOW);\nxglue(HIGH, LOW)",
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
         #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
        "#define t(x,y,z) x ## y ## z\nj[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
        // Cases that the standard leaves open.
        "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)\n",
        "#define f(a) a + f(a)\nf(f(1)) f(f)(2)",
        "#define AA BB\n#define BB AA\nAA BB\n#define CC(x) DD x\n#define DD(x) CC x\nCC((1)) DD((CC)(2)) CC(CC(3))",
        "#define foo() bar\nfoo()() foo\n()\n(foo)()",
        "#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)",
        "#define EMPTY\n#define DEFER(x) x EMPTY\n#define A() 123\n#define EXPAND(x) x\nDEFER(A)() EXPAND(DEFER(A)())",
        "#define LP (\n#define RP )\n#define f(x) <x>\nf LP 1 RP\n#define g f LP 2 RP\ng f(LP) f(RP)\n#define e(x) x\ne(f LP 3 RP)",
        "#define f(x) x\n#define g f(\ng 1) g 2, 3\n)",
        // Variadic macros and GNU's comma.
        "#define p(f, ...) q(f, ## __VA_ARGS__)\np(1) ; p(1,) ; p(1, 2, 3) ; p() ; p(,)",
        "#define p(...) q(0, ## __VA_ARGS__)\np() ; p(1) ; p(1,2) ; p(,)",
        "#define p(a...) q(a) #a\np() ; p( 1 , 2 )",
        "#define V(x, ...) #__VA_ARGS__ x\nV(1, a , (b,c)  d) ; V(1)",
        "#define N 1\n#define p(x, ...) (x, ## __VA_ARGS__)\np(N, N, p(N))",
        // Strings with unusual contents.
        "#define s(x) #x\ns( a  +\nb/* c */d )\ns(\"\\\\\") s('\"') s('\\'') s(\\) s( ) s(a\"b c\"d)",
        "#define s(x) #x\n#define t(x) s(x)\n#define E\n#define f(x) [x]\nt(f(1) E f( 2 )E f) t(a E b) t(E a)",
        // Numbers are tokens as in C.
        "#define N 3\n1..N 1.N .N N..N N.N 1e+N 0x1p-N 1N",
        "#define E\n#define N 3\n1 .. N 1 E..N 1 ..E N",
        // Directives in unusual positions.
        "#define f(x) x\nf(1\n#undef f\n#define f(x) 2 x\nf(3))",
        "#define x 1\n#if x\n#define y 2\n#elif 1/0\n#endif\ny\n#undef x\nx",
        "#if 0\nit's /* not\n#endif\nc",
        "#if 0\n'\n#else\na\n#endif\n#if 0\n\"/*\n#endif\nb",
        "#define A 1 /* c\n d */ 2 // e\nA\n#/**/define/**/B/**/3/**/\nB",
        "a\n#define F() 1\\\n2 \\\n 3\nF(\n)\nF\n\n\n\n\n\n\n\n\n\n\n\nb",
        "??= <: :> %: <% a<::>b",
        // Errors are errors for both.
        "#define f(x) x\nf(1,2)",
        "#define f(x) x\nf(1",
        "#define f(x,y) x\nf(1)",
        "#define f(x) #y",
        "#define f(x) ##x",
        "#define f(x,x) 1",
        "#define f(x) x ## +\nf(a)",
        "#if\n#endif",
        "#if 1 +\n#endif",
        "#if 1",
        "#else",
        "#endif",
        "#error no",
        "#nonsense",
        "#define",
        "#define 1",
        "#if 0\n#nonsense\n#endif",
    ] {
        if !check_same(text) {
            return;
        }
    }
}

/// A small generator. The bodies contain the macros themselves, so that expansions overlap.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Tokens with balanced parentheses.
    fn tokens(&mut self, length: usize, words: &[&str]) -> String {
        let mut text = String::new();
        for _ in 0..self.below(length) {
            let word = self.pick(words);
            text += &match self.below(8) {
                0 => format!("({})", self.tokens(length / 2, words)),
                1 | 2 => format!("{}({})", self.pick(&["F", "G", "F ", "x"]), self.tokens(length / 2, words)),
                3 => format!("H({} ,{})", self.tokens(length / 2, words), self.tokens(length / 2, words)),
                _ => word.to_owned(),
            };
            text += self.pick(&[" ", " ", ""]);
        }
        text
    }

    fn program(&mut self) -> String {
        let plain = ["A", "B", "F", "G", "H", "x", "1", "+", ","];
        let with_x = [&plain[..], &["x", "x", "#x", "x ## 1", "A ## x", "x##x"]].concat();
        let with_xy = [&with_x[..], &["y", "#y", "x##y", "y ## x", "x ## y ## x"]].concat();
        let mut text = String::new();
        for (head, words) in
            [("A", &plain[..]), ("B", &plain), ("F(x)", &with_x), ("G(x)", &with_x), ("H(x, y)", &with_xy)]
        {
            text += &format!("#define {head} {}\n", self.tokens(6, words));
        }
        for _ in 0..8 {
            text += &format!("{};\n", self.tokens(8, &plain));
        }
        text
    }
}

/// Ignores blanks in strings: whether gcc leaves a blank for an empty macro in a string is not documented.
fn text_without_blanks_in_strings(outcome: &Outcome) -> String {
    let mut tokens = outcome.tokens.clone();
    for token in tokens.iter_mut().filter(|token| token.kind == TokenKind::String) {
        token.text = token.text.replace(' ', "").into();
    }
    Outcome { tokens, problems: Vec::new(), sources: Sources::default() }.text()
}

#[test]
fn random_macros_expand_as_in_gcc() {
    let mut random = Random(0x5eed);
    for _ in 0..100 {
        if !check_same_when(&random.program(), text_without_blanks_in_strings) {
            return;
        }
    }
}

#[test]
fn conditions_hold_as_in_gcc() {
    let operators =
        ["+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||"];
    let operands =
        ["0", "1", "2", "-1", "5u", "0x7fffffffffffffff", "(-7)", "~3", "!4", "U", "'a'", "63", "defined U"];
    let mut random = Random(0xc0de);
    let operand = |random: &mut Random| random.pick(&operands).to_owned();
    for _ in 0..20 {
        let mut text = String::new();
        for number in 0..40 {
            let mut condition = operand(&mut random);
            for _ in 0..random.below(5) {
                let next = operand(&mut random);
                condition = match random.below(6) {
                    0 => format!("({condition})"),
                    1 => format!("{condition} ? {next} : {condition}"),
                    _ => format!("{condition} {} {next}", random.pick(&operators)),
                };
            }
            // Both reject divisions by zero, which would hide all other differences.
            let condition = condition.replace("/ 0", "/ 3").replace("% 0", "% 3");
            let condition = ["U", "!4", "defined U"].iter().fold(condition, |text, zero| {
                text.replace(&format!("/ {zero}"), "/ 3").replace(&format!("% {zero}"), "% 3")
            });
            text += &format!("#if {condition}\n{number}\n#endif\n");
        }
        if !check_same(&text) {
            return;
        }
    }
}
