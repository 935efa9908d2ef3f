//! Preprocessing tokens: the lexical structure of C, independent of Promela.

use super::text::Text;
use crate::source::{FileId, Span};
use logos::Logos;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct PpToken {
    pub kind: Kind,
    pub text: Arc<str>,
    pub span: Span,
    /// White space precedes it; `#` (stringification) needs this.
    pub spaced: bool,
    /// A line break precedes it.
    pub broken: bool,
    /// It named a macro inside that macro's own expansion, and is therefore never expanded ("blue paint").
    pub painted: bool,
}

impl PpToken {
    pub fn is(&self, text: &str) -> bool {
        &*self.text == text && matches!(self.kind, Kind::Word | Kind::Punct | Kind::Other)
    }
}

/// A preprocessing number as in C: `1..N` and `0x1F` are single tokens, and the `N` in it is never expanded.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    #[regex(r"[ \t\r\x0b\x0c]+")]
    Space,
    #[token("\n")]
    Newline,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[token("/*", to_end_of_comment)]
    Comment,
    /// The end of a comment without a beginning.
    #[token("*/")]
    CommentEnd,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"\.?[0-9]([0-9A-Za-z_.]|[eEpP][+\-])*")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r"\$[^$\n]*\$")]
    String,
    /// A string without a closing quote on its line.
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    OpenString,
    #[regex(r"'([^'\\\n]|\\[^\n])*'")]
    Character,
    /// An apostrophe without a closing one on its line: the rest of the line, as in C.
    #[regex(r"'([^'\\\n]|\\[^\n])*")]
    OpenCharacter,
    #[regex(r"-->|->|::|\+\+|--|<<|>>|<=|>=|==|!=|!!|\?\?|&&|\|\||\.\.|[()\[\]{},;:.+\-*/%&|^~!?<>=@]")]
    Punct,
    #[token("...")]
    Ellipsis,
    #[token("##")]
    #[regex(r"[^\n]", priority = 0)]
    Other,
}

impl Kind {
    pub fn is_blank(self) -> bool {
        matches!(self, Kind::Space | Kind::Newline | Kind::Comment)
    }
}

fn to_end_of_comment(lexer: &mut logos::Lexer<Kind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |end| end + 2));
}

/// The token at the beginning of `text`, and its length.
pub fn first(text: &str) -> Option<(Kind, usize)> {
    let mut lexer = Kind::lexer(text);
    let kind = lexer.next()?.unwrap_or(Kind::Other);
    // In `*/*` and `*//` a comment begins after the asterisk.
    if kind == Kind::CommentEnd && lexer.remainder().starts_with(['*', '/']) {
        return Some((Kind::Punct, 1));
    }
    Some((kind, lexer.span().end))
}

/// Interned texts: each is stored once.
#[derive(Default)]
pub struct Words(HashSet<Arc<str>>);

impl Words {
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.0.insert(new.clone());
        new
    }
}

/// Reads the tokens of one file. Tokens are produced on demand, so that memory is bounded by the text.
#[derive(Clone)]
pub struct Reader {
    pub file: FileId,
    text: Rc<Text>,
    at: usize,
    /// The end of the last token in the file as written; `None` before the first.
    last_end: Option<u32>,
    /// A comment that extends to the end of the file.
    pub open_comment: Option<Span>,
}

impl Reader {
    pub fn new(file: FileId, text: Rc<Text>) -> Self {
        let byte_order_mark = if text.joined.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { file, text, at: byte_order_mark, last_end: None, open_comment: None }
    }

    /// The next token, and whether it is the first on its (continued) line, where `#` begins a directive.
    pub fn next(&mut self, words: &mut Words) -> Option<(PpToken, bool)> {
        let mut first_on_line = self.last_end.is_none();
        loop {
            if let Some(token) = self.next_on_line(words) {
                return Some((token, first_on_line));
            }
            let (_newline, length) = first(&self.text.joined[self.at..])?;
            self.at += length;
            first_on_line = true;
        }
    }

    /// The next token of this line; from its end on always `None`.
    pub fn next_on_line(&mut self, words: &mut Words) -> Option<PpToken> {
        let mut spaced = false;
        loop {
            let (kind, length) = first(&self.text.joined[self.at..])?;
            let range = self.at..self.at + length;
            match kind {
                Kind::Newline => return None,
                Kind::Space => {}
                Kind::Comment => self.note_open_comment(range.clone()),
                _ => {
                    self.at = range.end;
                    return Some(self.token(kind, range, spaced, words));
                }
            }
            spaced = true;
            self.at = range.end;
        }
    }

    fn token(&mut self, kind: Kind, range: Range<usize>, spaced: bool, words: &mut Words) -> PpToken {
        let text = words.intern(&self.text.joined[range.clone()]);
        let span = self.span(range);
        let broken = self.last_end.is_none_or(|end| self.text.breaks_between(end, span.start));
        self.last_end = Some(span.end);
        PpToken { kind, text, span, spaced, broken, painted: false }
    }

    fn note_open_comment(&mut self, range: Range<usize>) {
        let comment = &self.text.joined[range.clone()];
        if comment.starts_with("/*") && (comment.len() < 4 || !comment.ends_with("*/")) {
            self.open_comment = Some(self.span(range.start..range.start + 2));
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        let (start, end) = self.text.as_written(range);
        Span { file: self.file, start, end }
    }
}
