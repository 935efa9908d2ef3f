//! Tokens, as the preprocessor hands them to the parser.

use crate::source::Span;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Its text. Strings and characters keep their quotes and escapes.
    pub text: Arc<str>,
    /// Its position. A token from a macro has the position of the outermost macro use, which is in the text
    /// that the user wrote.
    pub span: Span,
    /// Whether a line break precedes this token, where the outermost macro use counts as one token. Promela
    /// allows semicolons to be omitted at the end of a line.
    pub first_on_line: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Keywords are words too: whether a word is a keyword depends on the context (`U` in a formula).
    Word,
    Number,
    String,
    Character,
    /// Operators and punctuation, longest first: `-> :: ++ -- << >> <= >= == != !! ?? && || ..` and single
    /// characters. The parser combines `[]`, `<>` and `<->`, which are sequences of single characters here.
    Punct,
    /// A character that begins no token; the parser reports it.
    Unknown,
}
