//! Converts preprocessing tokens to Promela's tokens.

use super::lex::{Kind, PpToken};
use super::{MAX_TOKENS, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::promela::token::{Token, TokenKind};
use crate::source::Span;
use logos::Logos;
use std::ops::Range;
use std::sync::Arc;

/// Promela's tokens inside one of C's numbers, such as `1..N`.
#[derive(Logos, Clone, Copy)]
enum Part {
    #[regex("[0-9]+")]
    Number,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"\.\.|[.+\-]")]
    Punct,
}

impl Preprocessor<'_> {
    pub fn emit(&mut self, token: PpToken) {
        self.broken |= token.broken;
        if token.is("-->") {
            self.report(Diagnostic::warning(token.span, "`-->` is read as `->`"));
            let arrow = self.words.intern("->");
            return self.push(TokenKind::Punct, arrow, token.span);
        }
        let kind = match token.kind {
            Kind::Space | Kind::Newline | Kind::Comment => return,
            Kind::CommentEnd => {
                let hint = "comments do not nest: the first `*/` closes them";
                let warning = Diagnostic::warning(token.span, "`*/` without a comment is ignored").hint(hint);
                return self.report(warning);
            }
            Kind::Word => TokenKind::Word,
            Kind::String => TokenKind::String,
            Kind::Punct => TokenKind::Punct,
            Kind::Character if is_character(&token.text) => TokenKind::Character,
            Kind::Character | Kind::OpenCharacter | Kind::Other => TokenKind::Unknown,
            Kind::OpenString => return self.emit_open_string(&token),
            Kind::Number | Kind::Ellipsis => return self.emit_parts(&token),
        };
        self.push(kind, token.text, token.span);
    }

    fn emit_open_string(&mut self, token: &PpToken) {
        self.report(
            Diagnostic::error(token.span, "this string is not closed on its line").hint("close it with `\"`"),
        );
        let closed = self.words.intern(&format!("{}\"", token.text));
        self.push(TokenKind::String, closed, token.span);
    }

    fn emit_parts(&mut self, token: &PpToken) {
        self.warn_of_hidden_macro(token);
        let stands_in_text = self.sources.text(token.span) == &*token.text;
        for (part, range) in Part::lexer(&token.text).spanned() {
            let kind = match part {
                Ok(Part::Number) => TokenKind::Number,
                Ok(Part::Word) => TokenKind::Word,
                Ok(Part::Punct) => TokenKind::Punct,
                Err(()) => TokenKind::Unknown,
            };
            let text = self.words.intern(&token.text[range.clone()]);
            self.push(kind, text, if stands_in_text { within(token.span, range) } else { token.span });
        }
    }

    /// For C, `1..N` is a single number, so the macro `N` in it is not expanded. Warns about this.
    fn warn_of_hidden_macro(&mut self, number: &PpToken) {
        let words = Part::lexer(&number.text).spanned().filter(|(part, _)| matches!(part, Ok(Part::Word)));
        let Some(name) = words.map(|(_, range)| &number.text[range]).find(|&name| self.macros.contains_key(name))
        else {
            return;
        };
        self.report(
            Diagnostic::warning(
                number.span,
                format!("the macro `{name}` is not expanded inside `{}`", number.text),
            )
            .hint(format!("put a blank before it: `{}`", number.text.replacen("..", " .. ", 1))),
        );
    }

    fn push(&mut self, kind: TokenKind, text: Arc<str>, span: Span) {
        if self.output.len() >= MAX_TOKENS {
            return self.give_up(
                Diagnostic::error(span, format!("the model is longer than {MAX_TOKENS} tokens"))
                    .label("given up here")
                    .hint("do its macros, or its includes, repeat more than they should?"),
            );
        }
        let first_on_line = std::mem::take(&mut self.broken);
        self.output.push(Token { kind, text, span, first_on_line });
    }
}

/// Promela's characters are `'x'` and `'\x'`; C has further ones.
fn is_character(text: &str) -> bool {
    matches!(text.as_bytes(), [b'\'', b'\\', escaped, b'\''] if escaped.is_ascii())
        || matches!(text.as_bytes(), [b'\'', plain, b'\''] if plain.is_ascii())
}

fn within(span: Span, range: Range<usize>) -> Span {
    let (start, end) = (span.start + range.start as u32, span.start + range.end as u32);
    Span { start, end, ..span }
}
