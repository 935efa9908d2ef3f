//! The preprocessor terminates quickly on any input.

use super::*;
use crate::source::MAX_FILE_BYTES;

#[track_caller]
fn check_gives_up(input: &str, message: &str) {
    let outcome = Outcome::of(input);
    let last = outcome.problems.last().expect("a problem");
    assert!(last.message.contains(message), "{}", outcome.problems());
    assert!(last.is_error());
    assert!(last.hint.is_some());
    assert!(outcome.problems.len() <= MAX_PROBLEMS + 1);
}

#[test]
fn unreadable_files_are_named() {
    let root =
        files(&[("m.pml", "a\n#include \"none.h\"\nb\n#include \"sub\"\n#include \"latin.h\"\nc"), ("sub/x", "")]);
    fs::write(root.path().join("latin.h"), b"d // na\xefve").unwrap();
    fs::write(root.path().join("binary.pml"), b"ok\n\0").unwrap();
    let read = |name: &str| Outcome::of_file(&root.path().join(name), &Options::default());
    let shown = |name: &str| format!("`{}`", root.path().join(name).display());

    assert_eq!(read("none.pml").problems(), format!("cannot read {}: no such file", shown("none.pml")));
    assert_eq!(read("sub").problems(), format!("cannot read {}: it is a directory", shown("sub")));
    let binary = format!("{} is a binary file: a zero byte at offset 3, line 2", shown("binary.pml"));
    assert_eq!(read("binary.pml").problems(), binary);

    let outcome = read("m.pml");
    assert_eq!(outcome.text(), "a\nb\nd\nc");
    let expected = [
        "2:10 cannot read `none.h`: no such file".to_owned(),
        format!("4:10 cannot read {}: it is a directory", shown("sub")),
        "1:8 byte 0xef is not UTF-8; such bytes are read as Latin-1".to_owned(),
    ];
    assert_eq!(outcome.problems(), expected.join("\n"));
    assert!(outcome.problems.iter().all(|problem| problem.hint.is_some()));
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let outcome = Outcome::of_file(Path::new("/dev/zero"), &Options::default());
    assert_eq!(outcome.problems(), "cannot read `/dev/zero`: it is not a regular file");
}

#[test]
fn files_have_a_size_limit() {
    let comment = |length: usize| format!("//{}", "x".repeat(length - 2));
    check(&comment(MAX_FILE_BYTES), "");
    check_gives_up(&comment(MAX_FILE_BYTES + 1), "`m.pml` is larger than 8 MiB");
}

#[test]
fn include_cycles_are_named() {
    let root =
        files(&[("a.h", "#include \"b.h\"\n#include \"b.h\""), ("b.h", "#include \"a.h\"\n#include \"a.h\"\nb")]);
    let outcome = Outcome::of_file(&root.path().join("a.h"), &Options::default());
    let [a, b] = ["a.h", "b.h"].map(|name| root.path().join(name).display().to_string());
    let expected = format!("1:10 `{a}` includes itself without end: `{a}` → `{b}` → `{a}`");
    assert_eq!(outcome.problems(), expected);
}

#[test]
fn includes_have_a_depth_limit() {
    let names: Vec<(String, String)> =
        (0..70).map(|i| (format!("{i}.h"), format!("#include \"{}.h\"\nx", i + 1))).collect();
    let root = files(&names.iter().map(|(name, text)| (&**name, &**text)).collect::<Vec<_>>());
    let outcome = Outcome::of_file(&root.path().join("0.h"), &Options::default());
    assert_eq!(outcome.problems(), "1:10 includes are nested more than 64 deep");
    assert_eq!(outcome.tokens.len(), 64);
}

#[test]
fn files_that_include_two_files_that_include_two_files_end() {
    let names: Vec<(String, String)> = (0..40)
        .map(|i| (format!("{i}.h"), format!("#include \"{0}.h\"\n#include \"{0}.h\"\n", i + 1)))
        .chain([("40.h".into(), "x".into())])
        .collect();
    let root = files(&names.iter().map(|(name, text)| (&**name, &**text)).collect::<Vec<_>>());
    let outcome = Outcome::of_file(&root.path().join("0.h"), &Options::default());
    assert_eq!(outcome.problems(), "the files of this model add up to more than 64 MiB");
}

#[test]
fn laughs_end_before_a_billion() {
    let mut text = "#define L0 lol\n".to_owned();
    for i in 1..40 {
        text += &format!("#define L{i} L{0} + L{0}\n", i - 1);
    }
    check_gives_up(&format!("{text}L39"), "the model is longer than 2000000 tokens");
    // Expanded, then discarded.
    check_gives_up(&format!("{text}#define V(x) V2(x)\n#define V2(x)\nV(L39)"), "more than 8000000 tokens");
    check_gives_up(&format!("{text}#if L39\n#endif"), "more than 8000000 tokens");
}

#[test]
fn texts_do_not_grow_without_end() {
    let mut pasted = "#define P0(x) x\n".to_owned();
    let mut quoted = "#define Q0(x) x\n".to_owned();
    for i in 1..40 {
        pasted += &format!("#define P{i}(x) P{}(x ## x)\n", i - 1);
        quoted += &format!("#define Q{i}(x) Q{}(#x)\n", i - 1);
    }
    check_gives_up(&format!("{pasted}P39(a)"), "more than 8000000 tokens");
    check_gives_up(&format!("{quoted}Q39(a)"), "more than 8000000 tokens");
}

#[test]
fn empty_expansions_are_work_too() {
    let text = format!("#define F(x) {}\n{}", "x ".repeat(20_000), "F() ".repeat(20_000));
    check_gives_up(&text, "more than 8000000 tokens");
}

#[test]
fn long_models_end() {
    check_gives_up(&"a ".repeat(MAX_TOKENS + 1), "the model is longer than 2000000 tokens");
}

#[test]
fn nesting_needs_no_stack() {
    let nested = |depth: usize| format!("{}1{}", "F(".repeat(depth), ")".repeat(depth));
    check(&format!("#define F(x) x\n{}", nested(MAX_NESTING - 1)), "1");
    check_gives_up(&format!("#define F(x) x\n{}", nested(MAX_NESTING + 1)), "nested more than 256 deep");
    check_gives_up(&format!("#define F(x) x\n{}", nested(1_000_000)), "more than 8000000 tokens");
    let parentheses = |depth: usize| format!("#if {}1{}\na\n#endif", "(".repeat(depth), ")".repeat(depth));
    check(&parentheses(MAX_NESTING - 1), "a");
    for deep in [
        parentheses(100_000),
        format!("#if {}1\n#endif", "!".repeat(100_000)),
        format!("#if {}1\n#endif", "- ".repeat(100_000)),
        format!("#if {}1\n#endif", "1?".repeat(100_000)),
        format!("#if {}1\n#endif", "1?1:".repeat(100_000)),
    ] {
        check_gives_up(&deep, "the condition is nested more than 256 deep");
    }
    check(&format!("#if {}1\na\n#endif", "1 + ".repeat(100_000)), "a");
    check(&format!("{}a{}", "#if 1\n".repeat(100_000), "\n#endif".repeat(100_000)), "a");
}

#[test]
fn a_long_chain_of_macros_needs_no_stack() {
    let mut text = String::new();
    for i in 0..100_000 {
        text += &format!("#define A{i} A{}\n", i + 1);
    }
    check(&format!("{text}A0"), "A100000");
}

#[test]
fn long_tokens_need_no_stack() {
    let million = 1_000_000;
    for long in [
        "a".repeat(million),
        format!("\"{}\"", "\\a".repeat(million)),
        format!("'{}", "\\'".repeat(million)),
        "1e+".repeat(million),
        "$".repeat(2 * million),
        "'".repeat(million),
        "/**/".repeat(million),
        "\\\n".repeat(million),
        "\\ ".repeat(million),
    ] {
        Outcome::of(&long);
        Outcome::of(&format!("#define X {long}"));
    }
}

#[test]
fn too_many_errors_end_the_model_and_too_many_warnings_do_not() {
    let outcome = Outcome::of(&"#nonsense\na\n".repeat(100_000));
    assert_eq!(outcome.problems.len(), MAX_PROBLEMS + 1);
    assert_eq!(outcome.problems[MAX_PROBLEMS].message, "more than 100 errors: given up");
    assert_eq!(outcome.tokens.len(), MAX_PROBLEMS);
    let outcome = Outcome::of(&"#warning\na\n".repeat(100_000));
    assert_eq!((outcome.problems.len(), outcome.tokens.len()), (MAX_PROBLEMS, 100_000));
}

#[test]
fn long_words_are_dear() {
    let long = "w".repeat(1_000_000);
    let uses = "W ".repeat(100_000);
    check_gives_up(&format!("#define W {long}\n{uses}"), "more than 8000000 tokens");
    let strings = "#define S(x) #x\n#define T(x) S(x)";
    check_gives_up(&format!("#define W {long}\n{strings}\nT({uses})"), "more than 8000000 tokens");
    check_gives_up(&format!("#define W <{long}\n#include {uses}"), "more than 8000000 tokens");
    let hidden = "1..N".repeat(100_000);
    let outcome = Outcome::of(&format!("#define N 3\n{hidden}\n#if {long}{hidden}\"\n#endif"));
    assert!(outcome.problems.iter().all(|problem| problem.message.len() < 2000));
}

#[test]
fn many_parameters_are_found_fast() {
    let names = (0..100_000).map(|i| format!("p{i}")).collect::<Vec<_>>();
    let text = format!("#define F({}) {}\n", names.join(","), names.join(" "));
    check(&text, "");
}

#[test]
fn line_numbers_of_a_long_line_are_found_fast() {
    assert_eq!(Outcome::of(&"__LINE__ ".repeat(500_000)).tokens.len(), 500_000);
}
