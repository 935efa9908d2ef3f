//! Macro calls: reads the arguments, and substitutes them in the body.

use super::lex::{self, Kind, PpToken};
use super::macros::{Parameters, Piece, Slot};
use super::{MAX_NESTING, Preprocessor, cost, length};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::rc::Rc;

type Argument = Vec<PpToken>;

/// A call of a macro.
pub struct Call {
    arguments: Vec<Argument>,
    /// The macro-expanded arguments, computed on demand.
    expanded: Vec<Option<Rc<[PpToken]>>>,
    /// The variadic parameter has no argument, not even an empty one.
    variadic_omitted: bool,
    span: Span,
}

impl Call {
    /// The call of a macro without parameters.
    pub fn bare(span: Span) -> Self {
        Self { arguments: Vec::new(), expanded: Vec::new(), variadic_omitted: false, span }
    }
}

impl Preprocessor<'_> {
    /// Reads the arguments of a call after its opening parenthesis.
    pub fn call(&mut self, name: &PpToken, parameters: &Parameters) -> Result<Call, Diagnostic> {
        let in_arguments = std::mem::replace(&mut self.in_arguments, true);
        let arguments = self.arguments(name, parameters);
        self.in_arguments = in_arguments;
        let (mut arguments, close) = arguments?;
        let span = covering(name.span, close);
        let (given, expected) = (arguments.len(), parameters.count());
        let blank = given == 1 && arguments[0].is_empty();
        let variadic_omitted = parameters.variadic && (given < expected || blank && expected == 1);
        if expected == 0 && blank {
            arguments.clear();
        } else if given + 1 == expected && parameters.variadic {
            arguments.push(Vec::new());
        } else if given != expected {
            return Err(wrong_arity(name, span, parameters, given));
        }
        let expanded = vec![None; arguments.len()];
        Ok(Call { arguments, expanded, variadic_omitted, span })
    }

    /// The arguments, and the position of the closing parenthesis.
    fn arguments(&mut self, name: &PpToken, parameters: &Parameters) -> Result<(Vec<Argument>, Span), Diagnostic> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        while let Some(mut token) = self.next_painted() {
            if !self.afford(1, name.span) {
                break;
            }
            // The whole call counts as one token on the line where it begins.
            token.spaced |= std::mem::take(&mut token.broken);
            let all_taken = parameters.variadic && arguments.len() == parameters.count();
            match &*token.text {
                ")" if depth == 0 => return Ok((arguments, token.span)),
                "," if depth == 0 && !all_taken => {
                    arguments.push(Vec::new());
                    continue;
                }
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            arguments.last_mut().expect("there is always a last argument").push(token);
        }
        Err(Diagnostic::error(name.span, format!("the arguments of the macro `{}` do not end", name.text))
            .label("its `(` is never closed"))
    }

    /// The body of a macro with the arguments substituted.
    pub fn substitute(&mut self, pieces: &[Piece], mut call: Call) -> Vec<PpToken> {
        let mut result = Vec::new();
        let mut pasting = false;
        // The left operand is empty: `##` then has no effect, whatever precedes it.
        let mut left_empty = true;
        for piece in pieces {
            if let Piece::Paste = piece {
                pasting = true;
                continue;
            }
            let start = result.len();
            self.append(piece, &mut call, &mut result);
            if !self.afford(cost(&result[start..]).max(1), call.span) {
                return Vec::new();
            }
            let empty = result.len() == start;
            if pasting && !left_empty && !empty {
                self.paste(&mut result, start, call.span);
            }
            left_empty = empty && (left_empty || !pasting);
            pasting = false;
        }
        result
    }

    fn append(&mut self, piece: &Piece, call: &mut Call, result: &mut Vec<PpToken>) {
        let start = result.len();
        let spaced = match piece {
            Piece::Paste => return,
            Piece::Comma(_) if call.variadic_omitted => return,
            Piece::Token(token) | Piece::Comma(token) => {
                result.push(PpToken { span: call.span, ..token.clone() });
                return;
            }
            Piece::Expanded(slot) => {
                result.extend_from_slice(&self.expanded(call, *slot));
                slot.spaced
            }
            Piece::AsWritten(slot) => {
                result.extend_from_slice(&call.arguments[slot.index]);
                slot.spaced
            }
            Piece::Stringified(slot) => {
                let argument = &call.arguments[slot.index];
                if !self.afford(length(argument), call.span) {
                    return;
                }
                result.push(self.made(Kind::String, &stringified(argument), call.span));
                slot.spaced
            }
        };
        if let Some(first) = result.get_mut(start) {
            first.spaced = spaced;
        }
    }

    fn expanded(&mut self, call: &mut Call, slot: Slot) -> Rc<[PpToken]> {
        if let Some(known) = &call.expanded[slot.index] {
            return known.clone();
        }
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            self.give_up(
                Diagnostic::error(call.span, format!("macro calls are nested more than {MAX_NESTING} deep"))
                    .hint("a macro call is an argument of a macro call, which is an argument of a macro call, …"),
            );
        }
        let tokens: Rc<[PpToken]> = self.expand_all(call.arguments[slot.index].clone()).into();
        self.nesting -= 1;
        call.expanded[slot.index] = Some(tokens.clone());
        tokens
    }

    /// Concatenates the token at `right` with the one before it.
    fn paste(&mut self, tokens: &mut Vec<PpToken>, right: usize, span: Span) {
        let (left_token, right_token) = (&tokens[right - 1], &tokens[right]);
        if !self.afford(length(&tokens[right - 1..=right]), span) {
            return;
        }
        let text = format!("{}{}", left_token.text, right_token.text);
        match lex::first(&text) {
            Some((kind, length)) if length == text.len() && !kind.is_blank() => {
                let spaced = left_token.spaced;
                tokens[right - 1] = PpToken { spaced, ..self.made(kind, &text, span) };
                tokens.remove(right);
            }
            _ => {
                let message = format!("`{}` and `{}` do not make one token", left_token.text, right_token.text);
                self.report(Diagnostic::error(span, message).hint("look for `##` in the macro"));
            }
        }
    }
}

fn wrong_arity(name: &PpToken, call: Span, parameters: &Parameters, given: usize) -> Diagnostic {
    let count = parameters.count();
    let (at_least, expected) = if parameters.variadic { ("at least ", count - 1) } else { ("", count) };
    let plural = if expected == 1 { "" } else { "s" };
    let message =
        format!("the macro `{}` takes {at_least}{expected} argument{plural}, but gets {given}", name.text);
    Diagnostic::error(call, message)
}

/// The span from a macro's name to the end of its call, if both are in the same text; else the span of the name.
fn covering(name: Span, close: Span) -> Span {
    if close.start >= name.start && close.end > name.end { name.to(close) } else { name }
}

/// The text of `tokens` as a string.
fn stringified(tokens: &[PpToken]) -> String {
    let mut text = String::from('"');
    for token in tokens {
        if token.spaced && text.len() > 1 {
            text.push(' ');
        }
        match token.kind {
            Kind::String | Kind::OpenString | Kind::Character | Kind::OpenCharacter => {
                escape(&token.text, &mut text);
            }
            _ => text.push_str(&token.text),
        }
    }
    // A lone backslash at the end would escape the closing quote; gcc drops it.
    if (text.len() - text.trim_end_matches('\\').len()) % 2 == 1 {
        text.pop();
    }
    text.push('"');
    text
}

pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    escape(text, &mut quoted);
    quoted.push('"');
    quoted
}

fn escape(text: &str, into: &mut String) {
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            into.push('\\');
        }
        into.push(character);
    }
}
