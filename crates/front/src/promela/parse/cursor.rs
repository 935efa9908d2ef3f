//! Where the parser stands in the tokens, and the separators that are not written.
//!
//! Promela lets `;` be left out in three places: behind `else`, behind `}`, and at the end of a line inside a body,
//! unless a parenthesis or bracket is open or the line ends with something that cannot end a statement. The cursor shows
//! such a separator as a `;`. That is more than a convenience: `x = a` and, on the next line, `-b` are two
//! statements.

use super::words::is_keyword;
use crate::promela::ast::{Ident, VarRef};
use crate::promela::token::{Token, TokenKind};
use crate::source::{FileId, Span};

pub(super) struct Cursor {
    /// The model itself and, above it, the bodies of the inlines that are being expanded. Never empty.
    frames: Vec<Frame>,
    last: Last,
    last_text: std::sync::Arc<str>,
    last_place: Span,
    /// Whether a separator that is not written comes next.
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

/// A token, and the place it takes in the text that is being read. That is where it was written, except for the
/// argument of an inline: it takes the place of the parameter.
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

/// The last token, as far as separators are concerned.
#[derive(Clone, Copy)]
enum Last {
    Brace,
    Else,
    /// Something a statement can end with.
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

    /// The next token's text; `;` also where it is left out; nothing at the end.
    pub fn text(&self) -> &str {
        if self.implied { ";" } else { self.ahead(0) }
    }

    /// The text of the `n`th token after the next one, as written.
    pub fn ahead(&self, n: usize) -> &str {
        self.placed(n).map_or("", |placed| &placed.token.text)
    }

    /// The `n`th token after the next one, as written.
    pub fn token_ahead(&self, n: usize) -> Option<&Token> {
        self.placed(n).map(|placed| &placed.token)
    }

    /// The next token, unless a separator that is not written comes first.
    pub fn token(&self) -> Option<&Token> {
        self.placed(0).filter(|_| !self.implied).map(|placed| &placed.token)
    }

    /// The next token as written.
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

    /// Where the next token stands, or the last one if there is none.
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

    /// Says that nothing ends here, whatever the last token looks like.
    pub fn join(&mut self) {
        (self.implied, self.last) = (false, Last::Other);
    }

    /// Says that no parenthesis is open.
    pub fn forget_parentheses(&mut self) {
        self.parens = 0;
        self.implied = self.separator_is_missing();
    }

    /// In a body the end of a line can end a statement.
    pub fn set_in_body(&mut self, in_body: bool) {
        self.in_body = in_body;
    }

    /// How far the current text has been read; see [`Cursor::between`].
    pub fn position(&self) -> usize {
        self.frame().next
    }

    /// The tokens from an earlier position to this one.
    pub fn between(&self, start: usize) -> &[Placed] {
        &self.frame().tokens[start..self.frame().next]
    }

    /// Reads `call`'s body, to be followed by what comes next now.
    pub fn enter(&mut self, tokens: Vec<Placed>, call: Call) {
        self.frames.push(Frame { tokens, next: 0, call: Some(call) });
        self.join();
    }

    /// Drops what is left of the innermost body and goes on behind its call.
    pub fn leave(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
        let behind = self.frame().next.saturating_sub(1);
        self.last_place = self.frame().tokens.get(behind).map_or(self.last_place, |placed| placed.place);
        self.end_call();
    }

    /// Says that the last thing was an inline's body, which ends with a brace.
    pub fn end_call(&mut self) {
        (self.last, self.last_text) = (Last::Brace, "}".into());
        self.implied = self.separator_is_missing();
    }

    /// Says that the last thing was an operand, whatever it ended with.
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

    /// The inlines being expanded, the innermost first.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.frames.iter().rev().filter_map(|frame| frame.call.as_ref())
    }

    /// Nothing comes next any more.
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
