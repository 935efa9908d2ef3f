//! Sends and receives.

use super::{Parsed, Parser};
use crate::promela::ast::{Expr, ExprKind, Receive, ReceiveArg, Send, VarRef};
use crate::promela::token::TokenKind;
use crate::source::Span;

impl Parser<'_> {
    /// `! a, b`, `! a(b)`, `!! …` after the channel.
    pub(super) fn send(&mut self, channel: VarRef) -> Parsed<Send> {
        let sorted = self.at("!!");
        self.cursor.advance();
        let mut args = vec![self.expr()?];
        if self.at("(") {
            args.extend(self.parenthesised(|parser| parser.list(Self::expr))?);
        } else {
            while self.eat(",") {
                args.push(self.expr()?);
            }
        }
        Ok(Send { channel, sorted, args })
    }

    /// `? a, b`, `? a(b)`, `? <a, b>`, `?? …` after the channel.
    pub(super) fn receive(&mut self, channel: VarRef) -> Parsed<Receive> {
        let random = self.at("??");
        self.cursor.advance();
        let opener = self.cursor.place();
        let keep = self.eat("<");
        let args = self.receive_args()?;
        if keep {
            self.expect_closing(">", opener)?;
        }
        Ok(Receive { channel, random, keep, args })
    }

    /// `? [a, b]`, `?? [a, b]` after the channel.
    pub(super) fn poll(&mut self, channel: VarRef) -> Parsed<ExprKind> {
        let random = self.at("??");
        self.cursor.advance();
        let opener = self.expect("[")?;
        let args = self.receive_args()?;
        self.expect_closing("]", opener)?;
        Ok(ExprKind::Poll { channel, random, args })
    }

    pub(super) fn at_poll(&self) -> bool {
        matches!(self.text(), "?" | "??") && self.cursor.ahead(1) == "["
    }

    /// Arguments separated by commas. A parenthesis can open before or after each, and then closes at the
    /// end: `a, b(c, (d))` is `a, b, c, d`.
    fn receive_args(&mut self) -> Parsed<Vec<ReceiveArg>> {
        let mut args = Vec::new();
        let mut openers: Vec<Span> = Vec::new();
        loop {
            while self.at("(") {
                openers.push(self.expect("(")?);
            }
            args.push(self.receive_arg()?);
            if !self.eat(",") && !self.at("(") {
                break;
            }
        }
        while let Some(opener) = openers.pop() {
            self.expect_closing(")", opener)?;
        }
        Ok(args)
    }

    fn receive_arg(&mut self) -> Parsed<ReceiveArg> {
        let start = self.cursor.place();
        if self.at_name() {
            return self.var_ref().map(ReceiveArg::Var);
        }
        if self.eat("eval") {
            return self.parenthesised(Self::expr).map(ReceiveArg::Eval);
        }
        if self.eat("-") {
            let (value, _) = self.number("a number")?;
            return Ok(ReceiveArg::Const(value.wrapping_neg(), self.cursor.since(start)));
        }
        match self.constant_or("a variable, `eval(…)` or a constant")? {
            Expr { kind: ExprKind::Const(value), span } => Ok(ReceiveArg::Const(value, span)),
            other => Ok(ReceiveArg::Eval(other)),
        }
    }

    /// A constant: a number, a character, `true`, `false`, `skip` or a name.
    pub(super) fn constant(&mut self) -> Parsed<Expr> {
        self.constant_or("a constant")
    }

    pub(super) fn constant_or(&mut self, what: &str) -> Parsed<Expr> {
        if self.at_name() {
            return self.var_ref().map(Expr::var);
        }
        let (value, span) = self.number(what)?;
        Ok(Expr::constant(value, span))
    }

    pub(super) fn number(&mut self, what: &str) -> Parsed<(i32, Span)> {
        let Some(token) = self.cursor.token() else { return Err(self.expected(what)) };
        let span = token.span;
        let value = match (token.kind, &*token.text) {
            (TokenKind::Number, text) => decimal(text).ok_or("is not a number of 32 bits"),
            (TokenKind::Character, text) => character(text).ok_or("is not one character"),
            (TokenKind::Word, "true" | "skip") => Ok(1),
            (TokenKind::Word, "false") => Ok(0),
            _ => return Err(self.expected(what)),
        };
        match value {
            Ok(value) => {
                self.cursor.advance();
                Ok((value, span))
            }
            Err(why) => {
                let message = format!("`{}` {why}", token.text);
                Err(self.error(span, message))
            }
        }
    }
}

/// As in SPIN, numbers that need all 32 bits are negative.
fn decimal(text: &str) -> Option<i32> {
    text.parse::<u32>().ok().map(|value| value as i32)
}

/// The value of `'c'`. SPIN knows these escapes; in others, the character after the backslash is the value.
fn character(text: &str) -> Option<i32> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let byte = match inner.as_bytes() {
        b"\\n" => b'\n',
        b"\\r" => b'\r',
        b"\\t" => b'\t',
        b"\\f" => 0x0c,
        [b'\\', other] | [other] => *other,
        _ => return None,
    };
    Some(i32::from(byte))
}
