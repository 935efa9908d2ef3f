use super::*;
use crate::promela::token::TokenKind;
use std::fs;
use tempfile::TempDir;

mod against_gcc;
mod limits;
mod properties;

struct Outcome {
    tokens: Vec<Token>,
    problems: Vec<Diagnostic>,
    sources: Sources,
}

impl Outcome {
    fn of(text: &str) -> Self {
        Self::with(text, &[])
    }

    fn with(text: &str, defines: &[&str]) -> Self {
        let options = Options { defines: defines.iter().map(|it| it.to_string()).collect(), ..Options::default() };
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let tokens = preprocess_text("m.pml", text, &options, &mut sources, &mut problems);
        Self { tokens, problems, sources }
    }

    fn of_file(path: &Path, options: &Options) -> Self {
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let tokens = preprocess(path, options, &mut sources, &mut problems);
        Self { tokens, problems, sources }
    }

    /// The tokens as text, with line breaks as recorded in the tokens.
    fn text(&self) -> String {
        let mut text = String::new();
        for token in &self.tokens {
            text.push_str(if token.first_on_line { "\n" } else { " " });
            text.push_str(&token.text);
        }
        text.trim_start().to_owned()
    }

    /// `line:column message`, one for each problem.
    fn problems(&self) -> String {
        let show = |problem: &Diagnostic| match problem.span.map(|span| self.sources.place(span)) {
            Some(place) => format!("{}:{} {}", place.line, place.column, problem.message),
            None => problem.message.clone(),
        };
        self.problems.iter().map(show).collect::<Vec<_>>().join("\n")
    }
}

/// `input` becomes `expected`, without problems.
#[track_caller]
fn check(input: &str, expected: &str) {
    let outcome = Outcome::of(input);
    assert_eq!(outcome.text(), expected, "from {input}");
    assert_eq!(outcome.problems(), "", "from {input}");
}

#[track_caller]
fn check_problems(input: &str, expected_text: &str, expected_problems: &str) {
    let outcome = Outcome::of(input);
    assert_eq!(outcome.text(), expected_text, "from {input}");
    assert_eq!(outcome.problems(), expected_problems, "from {input}");
}

#[test]
fn promela_is_cut_into_its_tokens() {
    check(
        ":: a!b -> c?d,e; f??g; h!!i /* x */ // y\n[]<>(p<->q) && x[1]@l ..!=~1",
        ":: a ! b -> c ? d , e ; f ?? g ; h !! i\n[ ] < > ( p < -> q ) && x [ 1 ] @ l .. != ~ 1",
    );
}

#[test]
fn numbers_are_decimal_digits() {
    check("1..3 0x1F 12ab a.b .5", "1 .. 3 0 x1F 12 ab a . b . 5");
}

#[test]
fn tokens_have_kinds() {
    use TokenKind::*;
    let kinds = |text: &str| Outcome::of(text).tokens.iter().map(|token| token.kind).collect::<Vec<_>>();
    assert_eq!(
        kinds("if 12 \"s\\\"t\" $[]p$ 'x' '\\n' '\\\\' '\\'' ->"),
        [Word, Number, String, String, Character, Character, Character, Character, Punct]
    );
    assert_eq!(kinds("# ` \\ é 'ab' '' '\\012' 'é'"), []);
    assert_eq!(
        kinds("x # ` \\ é 'ab' '' '\\012' 'é'"),
        [Word, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown]
    );
    assert_eq!(kinds("don't know"), [Word, Unknown]);
}

#[test]
fn embedded_c_is_no_problem() {
    check(
        "c_code { \\#include <stdio.h>\n x += '}'; y->z ^= 0x1fUL; s = L\"\\x41\"; @`$ }",
        "c_code { \\ # include < stdio . h >\nx + = '}' ; y -> z ^ = 0 x1fUL ; s = L \"\\x41\" ; @ ` $ }",
    );
}

#[test]
fn an_unclosed_string_is_one_problem_and_ends_with_its_line() {
    check_problems("a \"bc d\ne", "a \"bc d\"\ne", "1:3 this string is not closed on its line");
}

#[test]
fn an_unclosed_comment_is_one_problem() {
    check_problems("#define F(x) x\na F /* b\nc", "a F", "2:5 this comment is not closed");
    check_problems("a /*/ b", "a", "1:3 this comment is not closed");
}

#[test]
fn line_breaks_are_those_of_the_page() {
    check("a /*\n*/ b", "a\nb");
    check("a \\\n b", "a\nb");
    check("a /* */ b // c\nd\n\n\ne", "a b\nd\ne");
    check("a\r\nb\rc", "a\nb c");
}

#[test]
fn a_macro_use_counts_as_one_token_of_its_line() {
    let macros = "#define F(x) x x\n#define E\n#define TWO 1\\\n2\n";
    check(&format!("{macros}a F(b\nc\n) d"), "a b c b c d");
    check(&format!("{macros}a\nE b E\nE\nc"), "a\nb\nc");
    check(&format!("{macros}a TWO\nTWO b"), "a 12\n12 b");
    check(&format!("{macros}a F\nb F\n(c)"), "a F\nb c c");
}

#[test]
fn a_continuation_may_stand_anywhere() {
    check("#def\\\nine A 1\\\n2 \\  \nb\nA i\\\r\nf /\\\n/ comment \\\n more\n\"a\\\nb\"\\", "12 b if\n\"ab\"");
}

#[test]
fn macros_are_expanded_again_but_never_in_themselves() {
    check("#define a b\n#define b c a\na b", "c a c b");
    check("#define f(x) x f\nf(1)(2) f (f(3))", "1 f ( 2 ) 3 f f");
    check("#define foo foo + 1\nfoo", "foo + 1");
}

#[test]
fn arguments_are_split_at_their_own_commas_only() {
    check("#define F(x, y) <x|y>\nF((a, b), c) F(,) F(F(1,2),)", "< ( a , b ) | c > < | > < < 1 | 2 > | >");
    check("#define Z() z\nZ() Z( ) Z", "z z Z");
}

#[test]
fn variadic_macros_take_the_rest() {
    check("#define P(f, ...) printf(f, __VA_ARGS__)\nP(a, b, c)", "printf ( a , b , c )");
    check("#define P(f, ...) printf(f, ## __VA_ARGS__)\nP(a) P(a, b, c)", "printf ( a ) printf ( a , b , c )");
    check("#define P(f, rest...) f rest\nP(a) P(a, b, c)", "a a b , c");
}

#[test]
fn tokens_are_pasted_and_made_strings() {
    check(
        "#define C(x, y) x ## y\n#define S(x) #x\n#define N 3\nC(a, 1) C(N, N) C(,a) C(a,) C(,) S( a  \"b\\n\" )",
        "a1 NN a a \"a \\\"b\\\\n\\\"\"",
    );
    check("#define X a ## b # c\nX", "ab # c");
    check("#define S(x) #x\n#define T(x) S(x)\n#define N 3\nS(N) T(N)", "\"N\" \"3\"");
}

#[test]
fn line_and_file_are_known() {
    check("__LINE__\n#define L __LINE__\nL __FILE__", "1\n3 \"m.pml\"");
    check("#define F(x) x\nF(\n__LINE__ )", "3");
    check("#ifdef __LINE__\nyes\n#endif\n#undef __LINE__\n__LINE__", "yes\n__LINE__");
    check("#ifdef __GNUC__\nno\n#endif\n#if __STDC__ || linux\nno\n#endif", "");
}

#[test]
fn conditions_compute_as_c_does() {
    for (condition, holds) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9 && 10 - 3 - 2 == 5", true),
        ("0 && 1 / 0", false),
        ("1 || 1 % 0", true),
        ("0 ? 1 / 0 : 2", true),
        ("1 ? 0 : 1 / 0", false),
        ("1 || (0 && (1 / 0))", true),
        ("UNKNOWN", false),
        ("UNKNOWN == 0", true),
        ("defined N && !defined(M) && defined ( F )", true),
        ("N > 3 == 1", true),
        ("F(2) == 4", true),
        ("F", false),
        ("-1 < 0 && -1 > 0u", true),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 10UL == 10 && 5ull == 5LLU", true),
        ("'a' == 97 && '\\n' == 10 && '\\'' == 39 && '\\x41' == 65 && '\\101' == 65 && '\\\\' == 92", true),
        ("'ab' == 24930 && '\\377' < 0", true),
        ("~0 == -1 && !!7 == 1 && - - 3 == + 3", true),
        ("1 << 3 == 8 && -8 >> 1 == -4 && (1 << 64) == 0", true),
        ("7 / -2 == -3 && 7 % -2 == 1", true),
        ("(6 & 3 ^ 1 | 8) == 11", true),
        ("1 ? 2 : 3 ? 4 : 5", true),
        ("(0, 1)", true),
        ("9223372036854775807 + 1 < 0", true),
        ("18446744073709551615u == -1", true),
        ("IS_N", true),
        ("/* a\n comment */ 1 // another", true),
    ] {
        let macros = "#define N 4\n#define F(x) x*2\n#define IS_N defined(N)\n";
        let expected = if holds { "yes" } else { "no" };
        check(&format!("{macros}#if {condition}\nyes\n#else\nno\n#endif"), expected);
    }
}

#[test]
fn bad_conditions_are_reported_and_do_not_hold() {
    for (condition, problem) in [
        ("", "1:1 `#if` without a condition"),
        ("1 +", "1:7 the condition ends too early"),
        ("(1", "1:6 expected `)` after this"),
        ("1)", "1:6 `)` is not allowed here in a condition"),
        ("1 2", "1:7 `2` is not allowed here in a condition"),
        ("1 ? 2", "1:9 expected `:` after this"),
        ("x = 3", "1:7 `=` is not allowed here in a condition"),
        ("1 / 0", "1:7 division by zero in a condition"),
        ("1.5", "1:5 `1.5` is not an integer"),
        ("0x", "1:5 `0x` is not an integer"),
        ("08", "1:5 `08` is not an integer"),
        ("99999999999999999999", "1:5 `99999999999999999999` is not an integer"),
        ("\"a\"", "1:5 `\"a\"` is not allowed here in a condition"),
        ("defined", "1:5 `defined` needs the name of a macro"),
        ("defined(3)", "1:5 `defined` needs the name of a macro"),
        ("++x", "1:5 `++` is not allowed here in a condition"),
    ] {
        check_problems(&format!("#if {condition}\nyes\n#else\nno\n#endif"), "no", problem);
    }
}

#[test]
fn one_group_of_an_if_is_read() {
    check("#if 0\na\n#elif 1\nb\n#elif 1 / 0\nc\n#else\nd\n#endif\ne", "b\ne");
    check("#ifdef X\n#if 1 / 0 nonsense\n#else junk\n#endif junk\n#unknown don't \"\n#endif\na", "a");
    check("#ifndef X\n#define X\n#endif\n#ifdef X\na\n#endif", "a");
    check("#if 0\nit is /* not\n#endif\n here */ gone\n#endif\na", "a");
    check("# if 1 /* c */\n  #  define X 1\n#endif // d\n#\nX", "1");
}

#[test]
fn directives_work_inside_arguments() {
    check("#define F(x) <x>\nF(a\n#ifdef F\nb\n#else\nc\n#endif\n)", "< a b >");
    check("#define F(x) <x>\nF\n#define G\n(a)", "F\n( a )");
}

#[test]
fn misplaced_conditionals_are_reported() {
    check_problems("#endif\na", "a", "1:1 `#endif` without `#if`");
    check_problems("#else\n#elif 1\na", "a", "1:1 `#else` without `#if`\n2:1 `#elif` without `#if`");
    check_problems(
        "#if 1\n#else\n#else\n#elif 1\n#endif\na",
        "a",
        "3:1 `#else` after `#else`\n4:1 `#elif` after `#else`",
    );
    check_problems(
        "a\n#if 1\nb\n#ifdef X\nc",
        "a\nb",
        "4:1 this `#if` is not closed\n2:1 this `#if` is not closed",
    );
}

#[test]
fn bad_directives_are_reported() {
    for (line, problem) in [
        ("#defin X", "1:1 there is no directive `#defin`"),
        ("#!/bin/sh", "1:1 there is no directive `#!`"),
        ("#define", "1:1 `#define` needs the name of a macro"),
        ("#define 3", "1:9 `3` cannot be the name of a macro"),
        ("#define defined", "1:9 `defined` cannot be the name of a macro"),
        ("#define F(x", "1:10 the parameter list of this macro is not closed"),
        ("#define F(", "1:10 the parameter list of this macro is not closed"),
        ("#define F(x,x)", "1:13 the parameter `x` is named twice"),
        ("#define F(x y)", "1:13 expected `,` or `)` in the parameter list"),
        ("#define F(..., x)", "1:14 expected `)` in the parameter list"),
        ("#define F(1)", "1:11 expected the name of a macro parameter"),
        ("#define F(x) #y", "1:14 `#` must precede a parameter of the macro"),
        ("#define X ## a", "1:11 `##` is not allowed at an end of a macro"),
        ("#define X a ##", "1:13 `##` is not allowed at an end of a macro"),
        ("#undef", "1:1 `#undef` needs the name of a macro"),
        ("#undef X Y", "1:10 the rest of this `#undef` line is ignored"),
        ("#include", "1:1 `#include` needs the name of a file"),
        ("#include <a", "1:1 `#include` needs the name of a file"),
        ("#include \"\"", "1:1 `#include` needs the name of a file"),
        ("#error you don't  say", "1:1 you don't  say"),
        ("#error", "1:1 `#error`"),
        ("#warning mind the gap", "1:1 mind the gap"),
        ("#ifdef\n#endif", "1:1 `#ifdef` needs the name of a macro"),
        ("#if 1\n#endif X", "2:8 the rest of this `#endif` line is ignored"),
    ] {
        check_problems(&format!("{line}\na"), "a", problem);
    }
    check("#pragma whatever\n#line 12 \"x\"\n# 13 \"y\" 2\n#ident \"z\"\na", "a");
}

#[test]
fn a_misspelt_directive_is_guessed() {
    assert_eq!(Outcome::of("#inlcude \"a\"").problems[0].hint.as_deref(), Some("did you mean `#include`?"));
}

#[test]
fn bad_calls_are_reported_and_leave_the_name() {
    let f = "#define F(x, y) x\n";
    check_problems(&format!("{f}F(1) a"), "F a", "2:1 the macro `F` takes 2 arguments, but gets 1");
    check_problems(&format!("{f}F(1,2,3) a"), "F a", "2:1 the macro `F` takes 2 arguments, but gets 3");
    check_problems(&format!("{f}a F(1\nb"), "a F", "2:3 the arguments of the macro `F` do not end");
    check_problems("#define Z() 1\nZ(2)", "Z", "2:1 the macro `Z` takes 0 arguments, but gets 1");
    check_problems("#define V(a, b, ...) 1\nV(2)", "V", "2:1 the macro `V` takes at least 2 arguments, but gets 1");
    check_problems("#define P(x) x ## +\na P(b)", "a b +", "2:3 `b` and `+` do not make one token");
}

#[test]
fn redefinition_is_a_warning_unless_it_says_the_same() {
    check("#define X a  b\n#define X a b /* c */\nX", "a b");
    check("#define X 1\n#undef X\n#define X 2\nX", "2");
    for (first, second) in [("X 1", "X 2"), ("X(a) a", "X (a) a"), ("X(a) 1", "X(b) 1"), ("X a b", "X ab")] {
        let outcome = Outcome::of(&format!("#define {first}\n#define {second}"));
        assert_eq!(outcome.problems(), "2:9 the macro `X` is defined anew", "{first} / {second}");
        assert!(!outcome.problems[0].is_error());
        assert_eq!(outcome.problems[0].related.len(), 1);
    }
}

#[test]
fn a_macro_hidden_in_a_number_is_warned_of() {
    let outcome = Outcome::of("#define N 3\nfor (i : 1..N)");
    assert_eq!(outcome.text(), "for ( i : 1 .. N )");
    assert_eq!(outcome.problems(), "2:10 the macro `N` is not expanded inside `1..N`");
    assert_eq!(outcome.problems[0].hint.as_deref(), Some("put a blank before it: `1 .. N`"));
    check("#define N 3\nfor (i : 1 .. N)", "for ( i : 1 .. 3 )");
}

#[test]
fn definitions_come_from_the_command_line() {
    let outcome = Outcome::with("A B C(4) D", &["A", "B=2+2", "C(x)=x*x", "D=\\", "E="]);
    assert_eq!((outcome.text().as_str(), outcome.problems().as_str()), ("1 2 + 2 4 * 4", ""));
    let outcome = Outcome::with("a", &["3=4", ""]);
    assert_eq!(outcome.text(), "a");
    assert_eq!(
        outcome.problems(),
        "1:9 `3` cannot be the name of a macro\n2:1 `#define` needs the name of a macro"
    );
}

/// Each token with the text of its span, if this differs from the token.
fn covered(text: &str) -> String {
    let Outcome { tokens, sources, .. } = Outcome::of(text);
    let show = |token: &Token| match sources.text(token.span) {
        same if *same == *token.text => same.to_owned(),
        other => format!("{}<{}>", token.text, other.replace('\n', "¶")),
    };
    tokens.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn spans_point_to_what_the_person_wrote() {
    for (input, expected) in [
        ("a bc 1..3", "a bc 1 .. 3"),
        ("#define N 3\nx N y", "x 3<N> y"),
        ("#define N 4..5\nN", "4<N> ..<N> 5<N>"),
        ("#define F(x) x + 1\nF(a) b", "a +<F(a)> 1<F(a)> b"),
        ("#define F(x) x + 1\n#define G F(2)\nG", "2<G> +<G> 1<G>"),
        ("#define F(x) x + 1\n#define G(y) F(y)\nG(\na)", "a +<G(¶a)> 1<G(¶a)>"),
        ("#define F(x) x 1\n#define N 3\nF(N)", "3<N> 1<F(N)>"),
        ("#define F(x) 1\n#define G F\nG (2)", "1<G (2)>"),
        ("#define C(x, y) x ## y\nC(a, b)", "ab<C(a, b)>"),
        ("#define S(x) #x\nS(a)", "\"a\"<S(a)>"),
        ("#define F(x) x 3\n#define G(x) F(1 x\nG(2))", "1<G(2)> 2 3<G(2))>"),
        ("i\\\nf x", "if<i\\¶f> x"),
        ("a\\\n b", "a b"),
        ("/* ü */ y", "y"),
        ("\u{feff}y", "y"),
    ] {
        assert_eq!(covered(input), expected, "from {input}");
    }
}

#[test]
fn includes_are_found_beside_the_file_and_in_the_given_directories() {
    let root = files(&[
        ("m.pml", "#include \"sub/a.h\"\n#include <s.h>\n#define NAME \"c.h\"\n#include NAME\nmain __FILE__"),
        ("sub/a.h", "#include \"b.h\"\na"),
        ("sub/b.h", "beside"),
        ("b.h", "wrong"),
        ("inc/s.h", "system"),
        ("inc/c.h", "computed"),
        ("s.h", "wrong"),
    ]);
    let options = Options { include_dirs: vec![root.path().join("inc")], ..Options::default() };
    let outcome = Outcome::of_file(&root.path().join("m.pml"), &options);
    let expected = format!("beside\na\nsystem\ncomputed\nmain \"{}\"", root.path().join("m.pml").display());
    assert_eq!((outcome.text(), outcome.problems()), (expected, String::new()));
    let place = outcome.sources.place(outcome.tokens[1].span);
    assert_eq!((place.file, place.line), (root.path().join("sub/a.h").display().to_string(), 2));
}

#[cfg(unix)]
#[test]
fn files_outside_of_the_model_are_not_included_unless_that_is_allowed() {
    use std::os::unix::fs::symlink;
    let root = files(&[
        ("secret", "secret 1"),
        ("home/m.pml", ""),
        ("home/sub/near.h", "#include \"../beside.h\"\nnear"),
        ("home/beside.h", "beside"),
        ("inc/deep/given.h", "#include \"../other.h\"\ngiven"),
        ("inc/other.h", "other"),
        ("homestead/far.h", "far"),
    ]);
    let path = |name: &str| root.path().join(name);
    symlink(path("secret"), path("home/link.h")).unwrap();
    symlink(root.path(), path("home/up")).unwrap();
    symlink(path("home/sub"), path("inside")).unwrap();
    let read = |text: &str, allow_include| {
        fs::write(path("home/m.pml"), text).unwrap();
        let options = Options { include_dirs: vec![path("inc")], allow_include, ..Options::default() };
        Outcome::of_file(&path("home/m.pml"), &options)
    };
    for allowed in ["sub/near.h", "./sub/../sub/near.h", "deep/given.h", "../inside/near.h", "../home/beside.h"] {
        assert_eq!(read(&format!("#include \"{allowed}\""), false).problems(), "", "{allowed}");
    }
    let absolute = path("secret").display().to_string();
    let places = [
        "../secret",
        "link.h",
        "up/secret",
        "sub/../../secret",
        "../homestead/far.h",
        &absolute,
        "/proc/self/maps",
    ];
    for name in places {
        let outcome = read(&format!("#include \"{name}\"\nend"), false);
        assert_eq!(outcome.text(), "end", "{name}");
        let problems = outcome.problems();
        assert!(
            problems.starts_with("1:") && problems.ends_with("is outside of the model's directory"),
            "{problems}"
        );
        assert!(name == "/proc/self/maps" || read(&format!("#include \"{name}\""), true).problems().is_empty());
    }
    // The message does not quote the text.
    fs::write(path("secret"), "#error\n#define F(x\nsecret").unwrap();
    let outcome = read("#include \"../secret\"", true);
    assert!(!outcome.problems.is_empty());
    let shown = crate::diagnostic::render(&outcome.problems, &outcome.sources, false);
    assert!(shown.contains("secret:2:") && !shown.contains("F(x") && !shown.contains('|'), "{shown}");
}

#[test]
fn a_file_is_included_once_if_it_says_so() {
    let root = files(&[
        ("m.pml", "#include \"once.h\"\n#include \"./once.h\"\n#include \"guard.h\"\n#include \"guard.h\""),
        ("once.h", "#pragma once\n#include \"once.h\"\nonce"),
        ("guard.h", "#ifndef G\n#define G\n#include \"guard.h\"\nguarded\n#endif"),
    ]);
    let outcome = Outcome::of_file(&root.path().join("m.pml"), &Options::default());
    assert_eq!((outcome.text().as_str(), outcome.problems().as_str()), ("once\nguarded", ""));
}

#[test]
fn conditionals_and_calls_end_with_their_file() {
    let root = files(&[
        ("m.pml", "#define F(x) x\n#include \"a.h\"\n)\n#endif\nb"),
        ("a.h", "#if 1\nF\n"),
        ("n.pml", "#define F(x) x\n#include \"b.h\"\n) c"),
        ("b.h", "F(1"),
    ]);
    let outcome = Outcome::of_file(&root.path().join("m.pml"), &Options::default());
    assert_eq!(outcome.text(), "F\n)\nb");
    assert_eq!(outcome.problems(), "1:1 this `#if` is not closed\n4:1 `#endif` without `#if`");
    let outcome = Outcome::of_file(&root.path().join("n.pml"), &Options::default());
    assert_eq!(outcome.text(), "F\n) c");
    assert_eq!(outcome.problems(), "1:1 the arguments of the macro `F` do not end");
}

fn files(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}
