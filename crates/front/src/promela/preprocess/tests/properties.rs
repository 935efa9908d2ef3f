//! Properties of the preprocessor on arbitrary text.

use super::*;
use proptest::prelude::*;

/// Text with many constructs: pieces of directives, macros and tokens.
fn busy_text() -> impl Strategy<Value = String> {
    let pieces = "#define ¦#undef ¦#if ¦#ifdef ¦#elif ¦#else¦#endif¦#include ¦#error ¦#line ¦#pragma once¦# 1 \"x\"¦\n¦\n¦\n¦\
                  \\\n¦ ¦A¦B¦F(¦G(¦F¦G¦(¦)¦,¦...¦#¦##¦__VA_ARGS__¦__LINE__¦__FILE__¦defined¦1¦1..A¦0x¦&&¦||¦?¦:¦/¦-¦!¦\
                  \"¦'¦$¦\\¦/*¦*/¦//¦<¦>¦ü¦\u{feff}¦\r¦\t";
    let pieces = pieces.split('¦').collect::<Vec<_>>();
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

fn check_sane(text: &str) -> Result<(), TestCaseError> {
    let outcome = Outcome::with(text, &["A=B B", "F(x)=x G(x", "G(x, y...)=#x y##x F"]);
    for token in &outcome.tokens {
        prop_assert!(!token.text.is_empty());
        prop_assert!(outcome.sources.file(token.span.file).text.get(range(token.span)).is_some());
    }
    crate::diagnostic::render(&outcome.problems, &outcome.sources, true);
    Ok(())
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>()) {
        check_sane(&text)?;
    }

    #[test]
    fn arbitrary_macros_are_read_or_refused(text in busy_text()) {
        check_sane(&text)?;
    }

    #[test]
    fn text_without_directives_keeps_its_tokens(words in prop::collection::vec("[a-z]{1,4}|[0-9]{1,4}|[-+*/(){};]", 0..30)) {
        let outcome = Outcome::of(&words.join(" "));
        let texts: Vec<String> = outcome.tokens.iter().map(|token| token.text.to_string()).collect();
        prop_assert_eq!(texts, words);
    }
}
