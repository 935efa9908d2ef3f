//! Expressions.

use super::{HEIGHT, Logic, Parsed, Parser};
use crate::promela::ast::{
    BinaryOp, ChannelTest, Expr, ExprKind, Ident, Part, Quantifier, TemporalOp, UnaryOp, VarRef,
};
use crate::source::Span;
use entail_model::Named;

#[derive(Clone, Copy)]
pub(super) enum Prefix {
    Unary(UnaryOp),
    Temporal(TemporalOp),
    /// A quantifier, with the temporal operator if they are written as one word.
    Runs(Quantifier, Option<TemporalOp>),
}

#[derive(Clone, Copy)]
pub(super) enum Operator {
    Binary(BinaryOp),
    Temporal(TemporalOp),
}

/// A binary operator. A higher level binds tighter; all operators are left-associative.
#[derive(Clone, Copy)]
pub(super) struct Infix {
    pub operator: Operator,
    pub level: u8,
    /// The number of tokens that it consists of.
    pub tokens: usize,
}

/// An expression that may become part of a larger one. Boxed, because many of them are on the stack when they
/// are nested.
struct Operand {
    expr: Box<Expr>,
    /// A test `full(…)`, `empty(…)`, … in it, which only `&&` and `||` may combine: partial-order reduction
    /// does not support negated or compared tests.
    probe: Option<Span>,
    height: u32,
}

impl Parser<'_> {
    /// An expression without tests on channels.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let operand = self.nested(|parser| parser.operation("an expression"))?;
        match operand.probe {
            None => Ok(*operand.expr),
            Some(probe) => Err(self.misplaced_probe(probe)),
        }
    }

    /// An expression that may contain tests on channels.
    pub(super) fn full_expr(&mut self) -> Parsed<Expr> {
        self.full_expr_or("an expression")
    }

    /// Like `full_expr`, where alternatives are possible too: `what` is expected.
    pub(super) fn full_expr_or(&mut self, what: &str) -> Parsed<Expr> {
        Ok(*self.nested(|parser| parser.operation(what))?.expr)
    }

    /// The expression that begins with `first`.
    pub(super) fn full_expr_from(&mut self, first: Box<Expr>) -> Parsed<Expr> {
        let height = std::mem::take(&mut self.height) + 1;
        Ok(*self.operation_from(Operand { expr: first, probe: None, height })?.expr)
    }

    fn operation(&mut self, what: &str) -> Parsed<Operand> {
        let first = self.operand(what)?;
        self.operation_from(first)
    }

    fn operation_from(&mut self, mut right: Operand) -> Parsed<Operand> {
        let mut waiting: Vec<(Operand, Infix)> = Vec::new();
        loop {
            let infix = self.infix();
            let is_due = |before: &Infix| infix.is_none_or(|infix| infix.level <= before.level);
            while let Some((left, before)) = waiting.pop_if(|(_, before)| is_due(before)) {
                right = self.combine(left, before.operator, right)?;
            }
            let Some(infix) = infix else { break };
            (0..infix.tokens).for_each(|_| self.cursor.advance());
            waiting.push((right, infix));
            right = self.operand("an expression")?;
        }
        self.height = self.height.max(right.height);
        Ok(right)
    }

    fn infix(&self) -> Option<Infix> {
        if let Some(infix) = self.temporal_infix() {
            return Some(infix);
        }
        let (op, level) = match self.text() {
            "||" => (BinaryOp::Or, 1),
            "&&" => (BinaryOp::And, 2),
            "|" => (BinaryOp::BitOr, 4),
            "^" => (BinaryOp::BitXor, 5),
            "&" => (BinaryOp::BitAnd, 6),
            "==" => (BinaryOp::Eq, 7),
            "!=" => (BinaryOp::Ne, 7),
            "<" => (BinaryOp::Lt, 8),
            ">" => (BinaryOp::Gt, 8),
            "<=" => (BinaryOp::Le, 8),
            ">=" => (BinaryOp::Ge, 8),
            "<<" => (BinaryOp::Shl, 9),
            ">>" => (BinaryOp::Shr, 9),
            "+" => (BinaryOp::Add, 10),
            "-" => (BinaryOp::Sub, 10),
            "*" => (BinaryOp::Mul, 11),
            "/" => (BinaryOp::Div, 11),
            "%" => (BinaryOp::Rem, 11),
            _ => return None,
        };
        Some(Infix { operator: Operator::Binary(op), level, tokens: 1 })
    }

    fn combine(&mut self, left: Operand, operator: Operator, right: Operand) -> Parsed<Operand> {
        let probe = left.probe.or(right.probe);
        let may_probe = matches!(operator, Operator::Binary(BinaryOp::And | BinaryOp::Or));
        if let Some(probe) = probe.filter(|_| !may_probe) {
            return Err(self.misplaced_probe(probe));
        }
        let span = left.expr.span.to(right.expr.span);
        let height = self.raise(left.height.max(right.height), span)?;
        let kind = match operator {
            Operator::Binary(op) => ExprKind::Binary(op, left.expr, right.expr),
            Operator::Temporal(op) => ExprKind::Temporal(op, vec![*left.expr, *right.expr]),
        };
        Ok(Operand { expr: Box::new(Expr { kind, span }), probe, height })
    }

    /// A primary with its unary operators, which bind tighter than all binary ones.
    fn operand(&mut self, what: &str) -> Parsed<Operand> {
        let mut prefixes = Vec::new();
        while let Some((prefix, tokens)) = self.prefix() {
            prefixes.push((prefix, self.cursor.place()));
            (0..tokens).for_each(|_| self.cursor.advance());
        }
        if self.at_probe() && !prefixes.is_empty() {
            return Err(self.expected("an expression other than a test of a channel"));
        }
        let mut operand = self.atom(what)?;
        while let Some((prefix, place)) = prefixes.pop() {
            operand = self.apply(prefix, place, operand)?;
        }
        Ok(operand)
    }

    /// A parenthesised or primary expression.
    fn atom(&mut self, what: &str) -> Parsed<Operand> {
        let outer = std::mem::take(&mut self.height);
        let is_probe = self.at_probe();
        let (expr, probe) = if self.at("(") { self.group()? } else { (self.primary(what)?, None) };
        let height = self.raise(self.height, expr.span)?;
        self.height = outer;
        Ok(Operand { probe: probe.or(is_probe.then_some(expr.span)), expr, height })
    }

    /// In CTL, which SPIN does not support, tests on channels are ordinary expressions.
    fn at_probe(&self) -> bool {
        self.logic != Some(Logic::Ctl) && ChannelTest::find(self.text()).is_some()
    }

    fn prefix(&self) -> Option<(Prefix, usize)> {
        let op = match self.text() {
            "!" => UnaryOp::Not,
            "-" => UnaryOp::Negate,
            "~" => UnaryOp::Complement,
            _ => return self.temporal_prefix(),
        };
        Some((Prefix::Unary(op), 1))
    }

    fn apply(&mut self, prefix: Prefix, place: Span, operand: Operand) -> Parsed<Operand> {
        if let Some(probe) = operand.probe {
            return Err(self.misplaced_probe(probe));
        }
        let span = place.to(operand.expr.span);
        let height = self.raise(operand.height, span)?;
        let kind = match prefix {
            Prefix::Unary(op) => ExprKind::Unary(op, operand.expr),
            Prefix::Temporal(op) => ExprKind::Temporal(op, vec![*operand.expr]),
            Prefix::Runs(quantifier, None) => ExprKind::Runs(quantifier, operand.expr),
            Prefix::Runs(quantifier, Some(op)) => {
                let path = Expr { kind: ExprKind::Temporal(op, vec![*operand.expr]), span };
                ExprKind::Runs(quantifier, Box::new(path))
            }
        };
        Ok(Operand { expr: Box::new(Expr { kind, span }), probe: None, height })
    }

    /// The height of an operator over an operand of this height.
    fn raise(&mut self, height: u32, span: Span) -> Parsed<u32> {
        if height < HEIGHT {
            return Ok(height + 1);
        }
        let message = format!("this expression is too large: it is nested more than {HEIGHT} operators deep");
        Err(self.error(span, message))
    }

    fn misplaced_probe(&mut self, probe: Span) -> super::Reported {
        let message = "a test of a channel can only be combined by `&&` and `||`";
        let hint = "instead of `!full(c)` write `nfull(c)`; for everything else there is `len(c)`";
        self.report(crate::diagnostic::Diagnostic::error(probe, message).hint(hint))
    }

    /// `(expr)` or `(condition -> yes : no)`, and a test on a channel in it.
    fn group(&mut self) -> Parsed<(Box<Expr>, Option<Span>)> {
        let opener = self.expect("(")?;
        let Operand { mut expr, mut probe, .. } = self.nested(|parser| parser.operation("an expression"))?;
        if self.at("->") {
            if let Some(probe) = probe.take() {
                return Err(self.misplaced_probe(probe));
            }
            expr = self.conditional(expr)?;
        }
        self.expect_closing(")", opener)?;
        expr.span = self.cursor.since(opener);
        Ok((expr, probe))
    }

    /// `-> yes : no` after the condition.
    fn conditional(&mut self, condition: Box<Expr>) -> Parsed<Box<Expr>> {
        self.expect("->")?;
        let yes = Box::new(self.expr()?);
        if !self.at(":") {
            let problem = self.unexpected("`:`").hint("a conditional expression is `(condition -> yes : no)`");
            return Err(self.report(problem));
        }
        self.cursor.advance();
        let no = Box::new(self.expr()?);
        let span = condition.span;
        Ok(Box::new(Expr { kind: ExprKind::Conditional(condition, yes, no), span }))
    }

    /// An expression without operators.
    pub(super) fn primary(&mut self, what: &str) -> Parsed<Box<Expr>> {
        let start = self.cursor.place();
        let kind = if self.at_name() { self.variable(start)? } else { self.primary_kind(what)? };
        Ok(Box::new(Expr { kind, span: self.cursor.since(start) }))
    }

    fn primary_kind(&mut self, what: &str) -> Parsed<ExprKind> {
        if let Some(test) = ChannelTest::find(self.text()) {
            return self.channel_of().map(|channel| ExprKind::Channel(test, channel));
        }
        match self.text() {
            "timeout" => self.behind_token(|_| Ok(ExprKind::Timeout)),
            "np_" => self.behind_token(|_| Ok(ExprKind::NonProgress)),
            "run" => self.run(),
            "len" => self.channel_of().map(ExprKind::Len),
            "enabled" => self.process_of().map(ExprKind::Enabled),
            "pc_value" => self.process_of().map(ExprKind::PcValue),
            "get_priority" => self.process_of().map(ExprKind::GetPriority),
            "c_expr" => {
                let expr = self.embedded_c();
                self.cursor.end_operand();
                Ok(expr.kind)
            }
            _ => self.number(what).map(|(value, _)| ExprKind::Const(value)),
        }
    }

    fn channel_of(&mut self) -> Parsed<VarRef> {
        self.behind_token(|parser| parser.parenthesised(Self::var_ref))
    }

    fn process_of(&mut self) -> Parsed<Box<Expr>> {
        self.behind_token(|parser| parser.parenthesised(Self::expr)).map(Box::new)
    }

    fn run(&mut self) -> Parsed<ExprKind> {
        self.cursor.advance();
        let proctype = self.name("the name of a proctype")?;
        self.cursor.join();
        let args = self.arguments(Self::expr)?;
        let priority = self.priority()?.map(Box::new);
        Ok(ExprKind::Run { proctype, args, priority })
    }

    /// A variable, a poll, or a remote reference.
    fn variable(&mut self, start: Span) -> Parsed<ExprKind> {
        let name = self.name("a name")?;
        let is_proctype = self.is_proctype(&name.name);
        if is_proctype {
            self.cursor.join();
        }
        let index = self.index()?;
        if self.at("@") || (is_proctype && self.at(":")) {
            return self.remote(name, index);
        }
        let var = self.var_ref_from(name, index, start)?;
        if self.at_poll() { self.poll(var) } else { Ok(ExprKind::Var(var)) }
    }

    /// `@label` or `:variable` after a process.
    fn remote(&mut self, proctype: Ident, pid: Option<Box<Expr>>) -> Parsed<ExprKind> {
        if self.eat("@") {
            return Ok(ExprKind::RemoteLabel { proctype, pid, label: self.name("a label")? });
        }
        self.cursor.advance();
        if !self.at_name() {
            let hint = format!("`{}` is a proctype, so this is no label", proctype.name);
            let problem = self.unexpected("the name of a variable").hint(hint);
            return Err(self.report(problem));
        }
        let name = self.name("the name of a variable")?;
        Ok(ExprKind::RemoteVar { proctype, pid, var: Part { name, index: self.index()? } })
    }

    /// `a[i].b.c[j]`
    pub(super) fn var_ref(&mut self) -> Parsed<VarRef> {
        let start = self.cursor.place();
        let name = self.name("the name of a variable")?;
        let index = self.index()?;
        self.var_ref_from(name, index, start)
    }

    fn var_ref_from(&mut self, name: Ident, index: Option<Box<Expr>>, start: Span) -> Parsed<VarRef> {
        let mut parts = vec![Part { name, index }];
        while self.eat(".") {
            let name = self.name("the name of a field")?;
            parts.push(Part { name, index: self.index()? });
        }
        Ok(VarRef { parts, span: self.cursor.since(start) })
    }

    /// `[expr]`, if it is there.
    pub(super) fn index(&mut self) -> Parsed<Option<Box<Expr>>> {
        let opener = self.cursor.place();
        if !self.eat("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.expect_closing("]", opener)?;
        Ok(Some(Box::new(index)))
    }
}
