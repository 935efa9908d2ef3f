//! Macro expansion.
//!
//! As in gcc, the expansions being read form a stack. A macro is busy as long as its expansion is on the
//! stack. A word that names a busy macro is painted when it is read, and never expanded afterwards. An
//! expansion leaves the stack when a token after it is requested; this decides the cases that the C standard
//! leaves open.

use super::Preprocessor;
use super::call::{Call, quoted};
use super::lex::{Kind, PpToken};
use super::macros::{Body, Macro};
use crate::source::Span;
use std::sync::Arc;

/// Tokens to be read before all others.
pub struct Expansion {
    tokens: std::vec::IntoIter<PpToken>,
    origin: Origin,
}

enum Origin {
    Macro(Arc<str>),
    /// An argument or a directive: reading does not continue after its end.
    Closed,
}

impl Preprocessor<'_> {
    /// The next token after macro expansion.
    pub fn next_expanded(&mut self) -> Option<PpToken> {
        loop {
            let token = self.next_painted()?;
            if token.kind != Kind::Word || token.painted {
                return Some(token);
            }
            let Some(entry) = self.macros.get(&token.text) else { return Some(token) };
            let definition = entry.definition.clone();
            if let Some(is_used) = self.fixed.get_mut(&token.text) {
                *is_used = true;
            }
            if let Some(token) = self.expand(token, &definition) {
                return Some(token);
            }
        }
    }

    /// Expands `tokens` in isolation.
    pub fn expand_all(&mut self, tokens: Vec<PpToken>) -> Vec<PpToken> {
        self.expand_closed(tokens, |this| std::iter::from_fn(|| this.next_expanded()).collect())
    }

    /// Calls `read`, which reads `tokens` and nothing after them.
    pub fn expand_closed<T>(&mut self, tokens: Vec<PpToken>, read: impl FnOnce(&mut Self) -> T) -> T {
        let below = self.expansions.len();
        self.expansions.push(Expansion { tokens: tokens.into_iter(), origin: Origin::Closed });
        let result = read(self);
        while self.expansions.len() > below {
            self.leave_expansion();
        }
        result
    }

    /// The next token without expansion.
    pub fn next_painted(&mut self) -> Option<PpToken> {
        let mut token = self.next_plain()?;
        if token.kind == Kind::Word && self.macros.get(&token.text).is_some_and(|entry| entry.busy) {
            token.painted = true;
        }
        Some(token)
    }

    fn next_plain(&mut self) -> Option<PpToken> {
        while let Some(expansion) = self.expansions.last_mut()
            && !self.exhausted
        {
            if let Some(token) = expansion.tokens.next() {
                return Some(token);
            }
            match expansion.origin {
                Origin::Closed => return None,
                Origin::Macro(_) => self.leave_expansion(),
            }
        }
        self.next_from_files()
    }

    /// Takes an opening parenthesis, if one comes next.
    fn take_parenthesis(&mut self) -> bool {
        while let Some(expansion) = self.expansions.last_mut() {
            match (expansion.tokens.as_slice().first(), &expansion.origin) {
                (Some(next), _) if next.is("(") => return expansion.tokens.next().is_some(),
                (Some(_), _) | (None, Origin::Closed) => return false,
                (None, Origin::Macro(_)) => self.leave_expansion(),
            }
        }
        let Some(file) = self.open.last_mut() else { return false };
        let mut ahead = file.reader.clone();
        let found = ahead.next(&mut self.words).is_some_and(|(token, _)| token.is("("));
        if found {
            file.reader = ahead;
        }
        found
    }

    fn leave_expansion(&mut self) {
        if let Some(Expansion { origin: Origin::Macro(name), .. }) = self.expansions.pop() {
            self.set_busy(&name, false);
        }
    }

    fn set_busy(&mut self, name: &str, busy: bool) {
        if let Some(entry) = self.macros.get_mut(name) {
            entry.busy = busy;
        }
    }

    /// Pushes the expansion of `name` onto the stack. Returns the name if it is not to be expanded.
    fn expand(&mut self, name: PpToken, definition: &Macro) -> Option<PpToken> {
        let tokens = match &definition.body {
            Body::Line => vec![self.made(Kind::Number, &self.line(name.span).to_string(), name.span)],
            Body::File => {
                let file = quoted(&self.sources.file(name.span.file).name);
                vec![self.made(Kind::String, &file, name.span)]
            }
            Body::Object(pieces) => self.substitute(pieces, Call::bare(name.span)),
            Body::Function(parameters, pieces) => {
                if !self.take_parenthesis() {
                    return Some(name);
                }
                match self.call(&name, parameters) {
                    Ok(call) => self.substitute(pieces, call),
                    Err(problem) => {
                        self.report(match definition.defined_at {
                            Some(at) => problem.related(at, "the macro is defined here"),
                            None => problem,
                        });
                        return Some(PpToken { painted: true, ..name });
                    }
                }
            }
        };
        self.enter_expansion(name, tokens);
        None
    }

    fn enter_expansion(&mut self, name: PpToken, mut tokens: Vec<PpToken>) {
        self.broken |= name.broken;
        if let Some(first) = tokens.first_mut() {
            first.spaced = name.spaced;
        }
        self.set_busy(&name.text, true);
        self.expansions.push(Expansion { tokens: tokens.into_iter(), origin: Origin::Macro(name.text) });
    }

    /// A token that does not occur in the text.
    pub fn made(&mut self, kind: Kind, text: &str, span: Span) -> PpToken {
        let text = self.words.intern(text);
        PpToken { kind, text, span, spaced: false, broken: false, painted: false }
    }
}
