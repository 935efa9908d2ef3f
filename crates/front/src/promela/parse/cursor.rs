//! The parser's position among the tokens, and implicit separators.
//!
//! Promela allows `;` to be omitted in three places: after `else`, after `}`, and at the end of a line inside
//! a body, unless a parenthesis or bracket is open or the line ends with a token that cannot end a statement.
//! The cursor presents such a separator as a `;`. This affects the meaning: `x = a` and, on the next line,
//! `-b` are two statements.

use super::words::is_keyword;
use crate::promela::ast::{Ident, VarRef};
use crate::promela::token::{Token, TokenKind};
use crate::source::{FileId, Span};

pub(super) struct Cursor {
    /// The model, followed by the bodies of the inlines that are being expanded. Never empty.
    frames: Vec<Frame>,
    last: Last,
    last_text: std::sync::Arc<str>,
    last_place: Span,
    /// Whether the next token is an implicit separator.
    implied: bool,
    parens: u32,
    in_body: bool,
    halted: bool,
}

struct Frame {
    tokens: Vec<Placed>,
    next: usize,
    call: Option<Call>,
}

/// A token and its position in the text that is being read. This is where it was written, except for an
/// argument of an inline, which has the position of the parameter.
#[derive(Clone)]
pub(super) struct Placed {
    pub token: Token,
    pub place: Span,
}

/// An inline being expanded.
pub(super) struct Call {
    pub name: Ident,
    /// The variable that `return` assigns to.
    pub target: Option<VarRef>,
    /// The variables declared in the body so far.
    pub declared: Vec<Ident>,
}

/// The last token, classified for separators.
#[derive(Clone, Copy)]
enum Last {
    Brace,
    Else,
    /// A token that can end a statement.
    Ending,
    Other,
}

impl Cursor {
    pub fn new(tokens: Vec<Token>) -> Self {
        let tokens = tokens.into_iter().map(|token| Placed { place: token.span, token }).collect();
        Cursor {
            frames: vec![Frame { tokens, next: 0, call: None }],
            last: Last::Other,
            last_text: "".into(),
            last_place: Span { file: FileId(0), start: 0, end: 0 },
            implied: false,
            parens: 0,
            in_body: false,
            halted: false,
        }
    }

    /// The text of the next token: `;` for an implicit separator, empty at the end.
    pub fn text(&self) -> &str {
        if self.implied { ";" } else { self.ahead(0) }
    }

    /// The text of the `n`th token after the next one. Ignores implicit separators.
    pub fn ahead(&self, n: usize) -> &str {
        self.placed(n).map_or("", |placed| &placed.token.text)
    }

    /// The `n`th token after the next one. Ignores implicit separators.
    pub fn token_ahead(&self, n: usize) -> Option<&Token> {
        self.placed(n).map(|placed| &placed.token)
    }

    /// The next token, unless an implicit separator comes first.
    pub fn token(&self) -> Option<&Token> {
        self.placed(0).filter(|_| !self.implied).map(|placed| &placed.token)
    }

    /// The next token. Ignores implicit separators.
    pub fn written(&self) -> Option<&Token> {
        self.placed(0).map(|placed| &placed.token)
    }

    pub fn is_implied(&self) -> bool {
        self.implied
    }

    /// The text of the token before this one.
    pub fn last_text(&self) -> &str {
        &self.last_text
    }

    pub fn last_place(&self) -> Span {
        self.last_place
    }

    /// The span of the next token, or of the last one if there is none.
    pub fn place(&self) -> Span {
        self.placed(0).map_or(self.last_place, |placed| placed.place)
    }

    /// From `start` to the token before this one.
    pub fn since(&self, start: Span) -> Span {
        start.to(self.last_place)
    }

    pub fn advance(&mut self) {
        if self.implied {
            (self.implied, self.last) = (false, Last::Other);
            return;
        }
        let frame = self.frame_mut();
        let Some(placed) = frame.tokens.get(frame.next) else { return };
        let (place, text) = (placed.place, placed.token.text.clone());
        let last = Last::from(&placed.token);
        frame.next += 1;
        match &*text {
            "(" | "[" => self.parens += 1,
            ")" | "]" => self.parens = self.parens.saturating_sub(1),
            _ => {}
        }
        (self.last, self.last_text, self.last_place) = (last, text, place);
        self.implied = self.separator_is_missing();
    }

    /// Prevents an implicit separator here, whatever the last token is.
    pub fn join(&mut self) {
        (self.implied, self.last) = (false, Last::Other);
    }

    /// Resets the count of open parentheses.
    pub fn forget_parentheses(&mut self) {
        self.parens = 0;
        self.implied = self.separator_is_missing();
    }

    /// Inside a body, the end of a line can end a statement.
    pub fn set_in_body(&mut self, in_body: bool) {
        self.in_body = in_body;
    }

    /// The position in the current text; see [`Cursor::between`].
    pub fn position(&self) -> usize {
        self.frame().next
    }

    /// The tokens from an earlier position to this one.
    pub fn between(&self, start: usize) -> &[Placed] {
        &self.frame().tokens[start..self.frame().next]
    }

    /// Reads the body of `call` before the next token.
    pub fn enter(&mut self, tokens: Vec<Placed>, call: Call) {
        self.frames.push(Frame { tokens, next: 0, call: Some(call) });
        self.join();
    }

    /// Skips the rest of the innermost body, and continues after its call.
    pub fn leave(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
        let behind = self.frame().next.saturating_sub(1);
        self.last_place = self.frame().tokens.get(behind).map_or(self.last_place, |placed| placed.place);
        self.end_call();
    }

    /// Marks the last item as the body of an inline, which ends with a brace.
    pub fn end_call(&mut self) {
        (self.last, self.last_text) = (Last::Brace, "}".into());
        self.implied = self.separator_is_missing();
    }

    /// Marks the last item as an operand, whatever its last token is.
    pub fn end_operand(&mut self) {
        self.last = Last::Ending;
        self.implied = self.separator_is_missing();
    }

    /// The innermost inline being expanded.
    pub fn call(&self) -> Option<&Call> {
        self.frame().call.as_ref()
    }

    pub fn call_mut(&mut self) -> Option<&mut Call> {
        self.frame_mut().call.as_mut()
    }

    /// The inlines being expanded, innermost first.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.frames.iter().rev().filter_map(|frame| frame.call.as_ref())
    }

    /// Ends the text here.
    pub fn halt(&mut self) {
        (self.halted, self.implied) = (true, false);
    }

    pub fn is_halted(&self) -> bool {
        self.halted
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("the model itself is never left")
    }

    fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the model itself is never left")
    }

    fn placed(&self, n: usize) -> Option<&Placed> {
        let frame = self.frame();
        frame.tokens.get(frame.next + n).filter(|_| !self.halted)
    }

    fn separator_is_missing(&self) -> bool {
        let Some(next) = self.written() else { return false };
        match self.last {
            Last::Else => !matches!(&*next.text, ";" | "->" | "fi"),
            Last::Brace => !matches!(
                &*next.text,
                ";" | "->" | "::" | "fi" | "od" | "}" | "unless" | "proctype" | "init" | "never" | ","
            ),
            Last::Ending => {
                self.in_body
                    && self.parens == 0
                    && next.first_on_line
                    && !matches!(&*next.text, ";" | "->" | "}" | "unless")
            }
            Last::Other => false,
        }
    }
}

impl From<&Token> for Last {
    fn from(token: &Token) -> Self {
        let ends = match token.kind {
            TokenKind::Word => {
                !is_keyword(&token.text)
                    || matches!(&*token.text, "od" | "fi" | "break" | "skip" | "true" | "false" | "timeout")
            }
            TokenKind::Number | TokenKind::Character => true,
            TokenKind::Punct => matches!(&*token.text, ")" | "]" | "++" | "--"),
            TokenKind::String | TokenKind::Unknown => false,
        };
        match &*token.text {
            "}" => Last::Brace,
            "else" => Last::Else,
            _ if ends => Last::Ending,
            _ => Last::Other,
        }
    }
}
