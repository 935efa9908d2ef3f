//! Data-driven tests: an input with its tree or its problems.

mod dump;
mod errors;
mod grammar;
mod inlines;
mod limits;
mod separators;
mod soup;
mod spin;

use super::parse;
use crate::diagnostic::Diagnostic;
use crate::promela::ast::Program;
use crate::promela::token::{Token, TokenKind};
use crate::source::{FileId, Sources, Span};

/// Tokenises text without macros, so that these tests depend only on the parser.
fn tokenize(text: &str) -> Vec<Token> {
    const OPERATORS: [&str; 15] =
        ["->", "::", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&", "||", ".."];
    let mut tokens = Vec::new();
    let (mut at, mut first_on_line) = (0, true);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            first_on_line |= c == '\n';
            at += c.len_utf8();
            continue;
        }
        let while_true = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let quoted = |quote: char| rest[1..].find(quote).map_or(rest.len(), |end| end + 2);
        let (kind, len) = match c {
            '_' | 'a'..='z' | 'A'..='Z' => (TokenKind::Word, while_true(|c| c.is_ascii_alphanumeric() || c == '_')),
            '0'..='9' => (TokenKind::Number, while_true(|c| c.is_ascii_digit())),
            '"' => (TokenKind::String, quoted('"')),
            '\'' => (TokenKind::Character, quoted('\'')),
            _ if OPERATORS.iter().any(|op| rest.starts_with(op)) => (TokenKind::Punct, 2),
            '!'..='~' if !"#$\\`".contains(c) => (TokenKind::Punct, 1),
            _ => (TokenKind::Unknown, c.len_utf8()),
        };
        let span = Span { file: FileId(0), start: at as u32, end: (at + len) as u32 };
        tokens.push(Token { kind, text: rest[..len].into(), span, first_on_line });
        (at, first_on_line) = (at + len, false);
    }
    tokens
}

fn parse_text(text: &str) -> (Program, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let program = parse(tokenize(text), &mut problems);
    (program, problems)
}

/// The model is valid, and this is its tree.
#[track_caller]
fn check(model: &str, expected: &str) {
    let (program, problems) = parse_text(model);
    assert_eq!(show(model, &problems), Vec::<String>::new(), "in {model}");
    assert_eq!(dump::program(&program), expected, "for {model}");
}

/// These statements are valid, and these are their trees. They may use the proctype `P`, which is declared
/// before them, and the type `T`.
#[track_caller]
fn check_body(cases: &[(&str, &str)]) {
    let prelude = "typedef T { int f }\nproctype P() { skip }\n";
    for (body, expected) in cases {
        check(
            &format!("{prelude}init {{ {body} }}"),
            &format!("(typedef T int f) (proctype P () 1) (init {expected})"),
        );
    }
}

/// The model has these problems, each as `line:column message`.
#[track_caller]
fn check_problems(model: &str, expected: &[&str]) {
    let (_, problems) = parse_text(model);
    assert_eq!(show(model, &problems), expected, "in {model}");
}

fn show(model: &str, problems: &[Diagnostic]) -> Vec<String> {
    let mut sources = Sources::default();
    sources.add("model", model);
    let show = |problem: &Diagnostic| match problem.span {
        Some(span) => {
            let place = sources.place(span);
            format!("{}:{} {}", place.line, place.column, problem.message)
        }
        None => problem.message.clone(),
    };
    problems.iter().map(show).collect()
}
