//! Tokens, as the preprocessor hands them to the parser.

use crate::source::Span;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Its text. Strings and characters keep their quotes and escapes.
    pub text: Arc<str>,
    /// Where it was written: for a token that came out of a macro, its place in the macro's use
    /// (the outermost use, so that it points into what the person is looking at).
    pub span: Span,
    /// Whether a line break stood between the previous token and this one, counting the outermost macro use as
    /// one token. Promela allows semicolons to be left out at the end of a line.
    pub first_on_line: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Keywords are words too: which words are keywords depends on where they stand (`U` in a formula).
    Word,
    Number,
    String,
    Character,
    /// Operators and punctuation, longest first: `-> :: ++ -- << >> <= >= == != !! ?? && || ..` and single
    /// characters. In formulas `[]`, `<>` and `<->` arrive as single characters and are put together there.
    Punct,
    /// A character that begins no token; the parser reports it.
    Unknown,
}
