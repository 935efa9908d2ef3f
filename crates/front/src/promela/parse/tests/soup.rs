use super::{dump, parse_text};
use proptest::prelude::*;

const VOCABULARY: &str = "x y P f T L 1 3 'a' \"s\" ; ; -> -> :: :: { } { } ( ) [ ] , . .. : = == ! !! ? ?? < > + - * \
     ++ -- && || ~ @ # if fi do od else for in select atomic d_step unless goto break skip true timeout assert \
     printf printm run len full empty eval xr xs int byte chan mtype hidden of unsigned typedef inline proctype \
     active init never trace ltl priority provided return c_code c_expr np_ U X always enabled set_priority";

/// Fragments that are valid by themselves, so that parsing continues after the first token.
const PIECES: [&str; 16] = [
    "init {",
    "proctype P(int x) {",
    "inline f(a) {",
    "typedef T { int x }",
    "x = 1;",
    "do :: x ->",
    "if :: x",
    "od",
    "fi",
    "}",
    "f(x)",
    "x = f(y + 1)",
    "L: c?x(y);",
    "(x -> 1 : y)",
    "for (x : 1 .. 3) {",
    "ltl p { [] x",
];

fn soup() -> impl Strategy<Value = String> {
    let words: Vec<&str> = VOCABULARY.split_whitespace().collect();
    let word = prop_oneof![3 => prop::sample::select(words), 2 => prop::sample::select(&PIECES[..])];
    let line = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_tokens_are_the_parser_comes_to_an_end(model in soup()) {
        let (program, problems) = parse_text(&model);
        dump::program(&program);
        for problem in problems {
            let span = problem.span.expect("every problem of the parser has a place");
            prop_assert!(model.get(span.start as usize..span.end as usize).is_some());
        }
    }

    #[test]
    fn whatever_follows_a_right_beginning_too(model in soup()) {
        parse_text(&format!("inline f(a) {{ a = a }} init {{ int x; {model}"));
    }
}
