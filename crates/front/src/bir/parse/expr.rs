//! Expressions, with the operator precedence of Java.

use super::Parser;
use crate::bir::ast::{Expr, ExprKind, Operator, Type, TypeKind};
use crate::bir::token::Kind;
use crate::diagnostic::Diagnostic;
use crate::kit::Parsed;
use crate::source::Span;
use entail_ir::{BinaryOp, UnaryOp};

/// The maximum height of an expression tree, so that recursive visitors are safe. Long sums reach it without nesting.
const MAX_HEIGHT: u16 = 500;

/// A cast lowers to several operators.
const CAST_HEIGHT: u16 = 6;

impl<'t> Parser<'t, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr<'t>> {
        self.nested(|this| {
            let condition = this.binary(0)?;
            if !this.eat(Kind::Question) {
                return Ok(condition);
            }
            let yes = this.expr()?;
            this.expect(Kind::Colon)?;
            let no = this.expr()?;
            let start = condition.span;
            let height = condition.height.max(yes.height).max(no.height);
            this.above(start, height, 1, ExprKind::Conditional(Box::new((condition, yes, no))))
        })
    }

    /// Binary operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed<Expr<'t>> {
        let mut left = self.unary()?;
        while let Some((strength, operator)) = operator(self.kind()).filter(|(strength, _)| *strength >= least) {
            self.skip();
            let right = self.binary(strength + 1)?;
            let start = left.span;
            let height = left.height.max(right.height);
            let weight = if operator == Operator::ShrUnsigned { 4 } else { 1 };
            left = self.above(start, height, weight, ExprKind::Binary(operator, Box::new((left, right))))?;
        }
        if self.kind() == Kind::Equals {
            return self.report(self.wrong("an operator").hint("to compare, write `==`"));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr<'t>> {
        let start = self.span();
        if self.kind() == Kind::Minus && self.second() == Kind::Number {
            self.skip();
            return self.number(start, true);
        }
        let operator = match self.kind() {
            Kind::Not => Some(UnaryOp::Not),
            Kind::Minus => Some(UnaryOp::Negate),
            Kind::Complement => Some(UnaryOp::Complement),
            Kind::Plus => None,
            _ => return self.operand(),
        };
        self.skip();
        let operand = self.nested(Self::unary)?;
        let height = operand.height;
        let operand = Box::new(operand);
        let kind = match operator {
            Some(operator) => ExprKind::Unary(operator, operand),
            None => ExprKind::Plus(operand),
        };
        self.above(start, height, 1, kind)
    }

    /// An operand with its fields and indices.
    pub(super) fn operand(&mut self) -> Parsed<Expr<'t>> {
        let start = self.span();
        let mut operand = self.atom()?;
        loop {
            let height = operand.height;
            operand = if self.eat(Kind::Dot) {
                let name = self.name("the name of a field")?;
                self.above(start, height, 1, ExprKind::Field(Box::new(operand), name))?
            } else if self.eat(Kind::OpenBracket) {
                let index = self.expr()?;
                self.expect(Kind::CloseBracket)?;
                let height = height.max(index.height);
                self.above(start, height, 1, ExprKind::Index(Box::new((operand, index))))?
            } else {
                return Ok(operand);
            };
        }
    }

    fn atom(&mut self) -> Parsed<Expr<'t>> {
        let start = self.span();
        match self.kind() {
            Kind::Number => self.number(start, false),
            Kind::True | Kind::False => {
                let value = self.skip_kind() == Kind::True;
                self.above(start, 0, 1, ExprKind::Boolean(value))
            }
            Kind::Open => self.parenthesised(),
            Kind::Name => {
                if matches!(self.text(start), "new" | "null" | "invoke") {
                    self.refuse_missing()?;
                }
                let name = self.name("a name")?;
                if self.kind() != Kind::Open {
                    return self.above(start, 0, 1, ExprKind::Name(name));
                }
                let args = self.arguments()?;
                let height = args.iter().map(|arg| arg.height).max().unwrap_or(0);
                self.above(start, height, 4, ExprKind::Call(name, args))
            }
            Kind::Text => self.refuse_text(),
            Kind::Start => {
                let problem = Diagnostic::error(start, "`start` inside an expression");
                self.report(problem.hint("assign its result to a variable first: `t := start T();`"))
            }
            _ => self.unexpected("an expression"),
        }
    }

    /// `(a, b)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr<'t>>> {
        self.expect(Kind::Open)?;
        let args = if self.kind() == Kind::Close { Vec::new() } else { self.separated(Kind::Comma, Self::expr)? };
        self.expect(Kind::Close)?;
        Ok(args)
    }

    /// `(e)`, or a cast.
    fn parenthesised(&mut self) -> Parsed<Expr<'t>> {
        let start = self.skip();
        if matches!(self.kind(), Kind::Boolean | Kind::Int | Kind::Tid | Kind::Lock) {
            let ty = self.ty()?;
            self.expect(Kind::Close)?;
            return self.cast(start, ty);
        }
        let inner = self.expr()?;
        self.expect(Kind::Close)?;
        match inner.kind {
            // `(x) - 1` is a difference. To convert -1, write `(x) (-1)`.
            ExprKind::Name(name) if self.begins_operand() => {
                let ty = Type { kind: TypeKind::Named(name), span: name.span };
                self.cast(start, ty)
            }
            kind => Ok(Expr { kind, span: self.since(start), height: inner.height }),
        }
    }

    fn cast(&mut self, start: Span, ty: Type<'t>) -> Parsed<Expr<'t>> {
        let operand = self.nested(Self::unary)?;
        let height = operand.height;
        self.above(start, height, CAST_HEIGHT, ExprKind::Cast(Box::new((ty, operand))))
    }

    /// Whether the next token begins an operand and cannot continue an expression.
    fn begins_operand(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Name | Kind::Number | Kind::Open | Kind::True | Kind::False | Kind::Not | Kind::Complement
        )
    }

    fn number(&mut self, start: Span, negative: bool) -> Parsed<Expr<'t>> {
        let span = self.skip();
        let text = self.text(span);
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match hexadecimal {
            // All 32 bits can be written, as in Java.
            Some(digits) => u32::from_str_radix(digits, 16).ok().map(|value| value as i32),
            None => text
                .parse::<i64>()
                .ok()
                .map(|value| if negative { -value } else { value })
                .and_then(|value| i32::try_from(value).ok()),
        };
        let value = value.map(|value| if negative && hexadecimal.is_some() { value.wrapping_neg() } else { value });
        if let Some(value) = value {
            return self.above(start, 0, 1, ExprKind::Number(value));
        }
        let is_number = match hexadecimal {
            Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => text.bytes().all(|byte| byte.is_ascii_digit()),
        };
        let message = if is_number {
            format!("`{text}` does not fit into 32 bits")
        } else {
            format!("`{text}` is not a number")
        };
        self.report(Diagnostic::error(span, message))
    }

    /// An expression over operands of the given height.
    fn above(&mut self, start: Span, height: u16, weight: u16, kind: ExprKind<'t>) -> Parsed<Expr<'t>> {
        let span = self.since(start);
        if height + weight > MAX_HEIGHT {
            let message =
                format!("this expression is too large: it is nested more than {MAX_HEIGHT} operators deep");
            return self.report(Diagnostic::error(span, message));
        }
        Ok(Expr { kind, span, height: height + weight })
    }
}

/// The precedence of a binary operator.
fn operator(kind: Kind) -> Option<(u8, Operator)> {
    let (strength, operator) = match kind {
        Kind::Or => (0, BinaryOp::Or),
        Kind::And => (1, BinaryOp::And),
        Kind::BitOr => (2, BinaryOp::BitOr),
        Kind::BitXor => (3, BinaryOp::BitXor),
        Kind::BitAnd => (4, BinaryOp::BitAnd),
        Kind::Eq => (5, BinaryOp::Eq),
        Kind::Ne => (5, BinaryOp::Ne),
        Kind::Lt => (6, BinaryOp::Lt),
        Kind::Le => (6, BinaryOp::Le),
        Kind::Gt => (6, BinaryOp::Gt),
        Kind::Ge => (6, BinaryOp::Ge),
        Kind::Shl => (7, BinaryOp::Shl),
        Kind::Shr => (7, BinaryOp::Shr),
        Kind::ShrUnsigned => return Some((7, Operator::ShrUnsigned)),
        Kind::Plus => (8, BinaryOp::Add),
        Kind::Minus => (8, BinaryOp::Sub),
        Kind::Times => (9, BinaryOp::Mul),
        Kind::Divide => (9, BinaryOp::Div),
        Kind::Remainder => (9, BinaryOp::Rem),
        _ => return None,
    };
    Some((strength, Operator::Plain(operator)))
}
