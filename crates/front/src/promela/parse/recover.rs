//! Reports errors, and recovers from them.

use super::words::{begins_unit, is_infix, is_keyword, is_type, is_visibility};
use super::{PROBLEMS, Parser, Reported, Seen};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::Expr;
use crate::promela::token::TokenKind;
use crate::source::Span;

/// An open construct that must be closed.
#[derive(Clone, Copy)]
pub(super) struct Open {
    /// `{`, `if` or `do`.
    pub opener: &'static str,
    pub closer: &'static str,
    pub place: Span,
}

/// The result of looking for a closing token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    Closed,
    /// It is missing: the next token belongs to a surrounding construct.
    Missing,
    /// A closing word without an opener. It was reported and skipped, and the construct is still open.
    Stray,
}

impl Parser<'_> {
    /// Adds a problem, unless there are too many.
    pub(super) fn report(&mut self, mut problem: Diagnostic) -> Reported {
        if self.cursor.is_halted() {
            return Reported;
        }
        for call in self.cursor.calls().take(5) {
            problem = problem.related(call.name.span, format!("while expanding this call of `{}`", call.name.name));
        }
        let span = problem.span;
        self.problems.push(problem);
        if self.problems.len() - self.first_problem >= PROBLEMS {
            let message = "too many errors; the rest of the model is not read";
            self.problems.push(span.map_or(Diagnostic::general(message), |span| Diagnostic::error(span, message)));
            self.cursor.halt();
        }
        Reported
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(span, message))
    }

    /// Reports an error after which parsing cannot continue.
    pub(super) fn give_up(&mut self, message: String) -> Reported {
        let reported = self.error(self.place_to_report(), message);
        self.cursor.halt();
        reported
    }

    /// The number of problems so far.
    pub(super) fn reported(&self) -> usize {
        self.problems.len()
    }

    /// Reports that `what` was expected here.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let problem = self.unexpected(what);
        self.report(problem)
    }

    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        let span = self.place_to_report();
        let message = match self.cursor.token() {
            Some(token) if token.kind == TokenKind::Unknown => {
                format!("the character `{}` has no meaning in Promela", token.text)
            }
            _ => format!("expected {what}, found {}", self.found()),
        };
        let problem = Diagnostic::error(span, message);
        match self.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }

    fn place_to_report(&self) -> Span {
        if self.cursor.is_implied() {
            return self.cursor.last_place();
        }
        self.cursor.token().map_or(self.cursor.last_place(), |token| token.span)
    }

    fn found(&self) -> String {
        match (self.cursor.token(), self.cursor.call()) {
            (Some(token), _) if token.kind == TokenKind::String => "a string".into(),
            (Some(token), _) => format!("`{}`", token.text),
            (None, _) if self.cursor.is_implied() => "the end of the line".into(),
            (None, Some(call)) => format!("the end of the inline `{}`", call.name.name),
            // A formula outside of a model; other formulas are in braces.
            (None, None) if self.logic.is_some() && self.open.is_empty() => "its end".into(),
            (None, None) => "the end of the file".into(),
        }
    }

    /// Hints for common mistakes.
    fn hint(&self) -> Option<String> {
        let (last, found) = (self.cursor.last_text(), self.text());
        let begins_line = self.cursor.token().is_some_and(|token| token.first_on_line);
        let is_name =
            |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !is_keyword(text);
        Some(match (last, found) {
            ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>", "=") => {
                format!("there is no `{last}=` in Promela; write `x = x {last} …`")
            }
            ("while", "(") => "Promela has no `while`; write `do :: condition -> … :: else -> break od`".into(),
            ("switch", "(") => "Promela has no `switch`; write `if :: x == 1 -> … :: else -> … fi`".into(),
            ("!", "full") => "a test of a channel cannot be negated; write `nfull(…)`".into(),
            ("!", "nfull") => "a test of a channel cannot be negated; write `full(…)`".into(),
            ("!", "empty") => "a test of a channel cannot be negated; write `nempty(…)`".into(),
            ("!", "nempty") => "a test of a channel cannot be negated; write `empty(…)`".into(),
            (_, "!!") => "`!!` is the sorted send; for a double negation write `! !`".into(),
            (_, "=") => "to compare, write `==`; an assignment is a statement of its own".into(),
            (_, "pid") => "`pid` is a type; the number of the process itself is `_pid`".into(),
            (_, found) if begins_line && is_infix(found) => {
                format!("the end of a line ends the statement; put `{found}` at the end of the line above")
            }
            (_, "?") => "a receive is a statement of its own; a choice is `(condition -> yes : no)`".into(),
            (last, "(") if self.inlines.is_defined_further_down(last) => {
                format!("the inline `{last}` is defined further down; it must be defined before it is used")
            }
            (last, "(") if self.inlines.is_defined(last) => {
                "an inline is called as a statement of its own, or as all of the right side of `x = name(…)`".into()
            }
            (last, "(") if is_name(last) => format!("there is no inline `{last}` that could be called"),
            (last, ":") if self.proctypes.get(last) == Some(&Seen::FurtherDown) => {
                format!("the variables of `{last}` can be named only after its declaration")
            }
            ("0", found) if found.starts_with(['x', 'X']) => "numbers are decimal".into(),
            _ => return None,
        })
    }

    /// Expects the closing token of the construct that begins at `opener`.
    pub(super) fn expect_closing(&mut self, closer: &str, opener: Span) -> Result<Span, Reported> {
        let place = self.cursor.place();
        if self.eat(closer) {
            return Ok(place);
        }
        let problem = self.unexpected(&format!("`{closer}`")).related(opener, "opened here");
        Err(self.report(problem))
    }

    /// Closes the innermost open construct.
    pub(super) fn close(&mut self) -> Closing {
        let Some(&Open { opener, closer, place }) = self.open.last() else { return Closing::Closed };
        if self.eat(closer) {
            return Closing::Closed;
        }
        if matches!(self.text(), "}" | "fi" | "od" | "::") && !self.open.iter().any(|open| open.admits(self.text()))
        {
            self.stray();
            return Closing::Stray;
        }
        let problem =
            self.unexpected(&format!("`{closer}`")).related(place, format!("this `{opener}` is not closed"));
        self.report(problem);
        Closing::Missing
    }

    /// Reports a word that closes or divides no open construct, and skips it.
    pub(super) fn stray(&mut self) {
        let message = match self.text() {
            "::" => "this `::` is not inside an `if` or `do`".to_string(),
            "fi" => "there is no `if` for this `fi`".to_string(),
            "od" => "there is no `do` for this `od`".to_string(),
            other => format!("there is nothing open that this `{other}` could close"),
        };
        self.error(self.place_to_report(), message);
        self.cursor.advance();
        self.separators();
    }

    /// Whether a sequence of statements ends here, correctly or not.
    pub(super) fn at_sequence_end(&self) -> bool {
        matches!(self.text(), "" | "}" | "::" | "od" | "fi") || begins_unit(self.text())
    }

    /// Error recovery: skips to the end of a statement, or to a construct inside it that can be parsed.
    pub(super) fn skip_statement(&mut self) {
        self.cursor.forget_parentheses();
        while !self.at_sequence_end()
            && !matches!(self.text(), ";" | "->" | "{" | "if" | "do" | "atomic" | "d_step" | "for")
        {
            self.cursor.advance();
        }
    }

    /// Error recovery: skips to the next unit.
    pub(super) fn skip_unit(&mut self) {
        self.cursor.forget_parentheses();
        while !self.at("") && !self.at_unit() {
            match self.text() {
                "{" => {
                    self.skip_group("{", "}");
                }
                "(" => {
                    self.skip_group("(", ")");
                }
                _ => self.cursor.advance(),
            }
        }
    }

    /// Skips from an opening token, which comes next, to its closing one.
    pub(super) fn skip_group(&mut self, opener: &str, closer: &str) -> Closing {
        self.cursor.advance();
        self.skip_behind(opener, closer)
    }

    /// Skips to the position after the closing token of the current group. If there is none, skips to the
    /// next unit or, from parentheses, to a brace.
    pub(super) fn skip_behind(&mut self, opener: &str, closer: &str) -> Closing {
        if let Some(tokens) = self.tokens_to_closer(0, opener, closer) {
            self.skip_tokens(tokens);
            return Closing::Closed;
        }
        let stops = |text: &str| text.is_empty() || begins_unit(text) || (closer == ")" && text == "{");
        while !stops(self.text()) {
            self.cursor.advance();
        }
        Closing::Missing
    }

    /// Whether `( … ) {` comes next.
    pub(super) fn brace_behind_parentheses(&self) -> bool {
        self.tokens_to_closer(1, "(", ")").is_some_and(|tokens| self.cursor.ahead(1 + tokens) == "{")
    }

    /// The number of tokens from the one with the index `from` to the end of the group that is open there.
    fn tokens_to_closer(&self, from: usize, opener: &str, closer: &str) -> Option<usize> {
        let mut depth = 1;
        for ahead in from.. {
            match self.cursor.ahead(ahead) {
                "" => return None,
                "{" | "}" if closer == ")" => return None,
                text if text == opener => depth += 1,
                text if text == closer => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(ahead + 1 - from);
            }
        }
        None
    }

    fn skip_tokens(&mut self, tokens: usize) {
        for _ in 0..tokens {
            self.cursor.join();
            self.cursor.advance();
        }
    }

    /// Skips C code, and reports it. Returns `true` as a placeholder.
    pub(super) fn embedded_c(&mut self) -> Expr {
        let start = self.cursor.place();
        self.error(start, "embedded C is not supported yet");
        let takes_strings = matches!(self.text(), "c_state" | "c_track");
        self.cursor.advance();
        while takes_strings && self.cursor.token().is_some_and(|token| token.kind == TokenKind::String) {
            self.cursor.advance();
        }
        if !takes_strings && self.at("[") {
            self.skip_group("[", "]");
            self.cursor.join();
        }
        if !takes_strings && self.at("{") {
            self.skip_group("{", "}");
        }
        Expr::constant(1, start)
    }

    /// Whether a unit or a global declaration begins here.
    fn at_unit(&self) -> bool {
        let text = self.text();
        begins_unit(text)
            || self.at_ctl()
            || matches!(text, "c_code" | "c_decl")
            || is_type(text)
            || is_visibility(text)
            || self.typedefs.contains(text)
    }

    /// Skips to the position after `closer`, if there is one, of a construct that cannot be parsed. The
    /// skipped tokens are balanced.
    pub(super) fn skip_to_closer(&mut self, closer: &'static str) {
        let mut open = vec![closer];
        let mut ahead = 0;
        while let Some(&innermost) = open.last() {
            match self.cursor.ahead(ahead) {
                "if" => open.push("fi"),
                "do" => open.push("od"),
                "{" => open.push("}"),
                text if text == innermost => {
                    open.pop();
                }
                "" | "fi" | "od" | "}" => return,
                text if begins_unit(text) => return,
                _ => {}
            }
            ahead += 1;
        }
        self.skip_tokens(ahead);
    }
}

impl Open {
    /// Whether `word` closes or divides this construct.
    fn admits(&self, word: &str) -> bool {
        word == self.closer || (word == "::" && self.closer != "}")
    }
}
