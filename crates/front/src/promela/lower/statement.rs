//! Lowers simple statements to actions.

use super::expr::{Access, Lowering, Transfer, is_predefined};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{Expr, ExprKind, Receive, Send, Stmt, StmtKind, UnaryOp, VarRef};
use crate::source::Span;
use entail_ir::{self as ir, Action, BinaryOp, Meaning, Scalar};

impl Lowering<'_> {
    /// The action of a simple statement.
    pub fn action(&mut self, stmt: &Stmt) -> Action {
        let action = match &stmt.kind {
            StmtKind::Assign(var, value) => self.assignment(var, value),
            StmtKind::Increment(var) => self.step_by_one(var, BinaryOp::Add),
            StmtKind::Decrement(var) => self.step_by_one(var, BinaryOp::Sub),
            StmtKind::Send(send) => self.send(send, stmt.span),
            StmtKind::Receive(receive) => self.receive(receive, stmt.span),
            StmtKind::Expr(guard) => self.guard(guard),
            StmtKind::Assert(condition) => Action::Assert(self.expr(condition)),
            StmtKind::Printf(format, args) => {
                let args = args.iter().map(|arg| self.expr(arg)).collect();
                Action::Print(unescaped(format), args)
            }
            StmtKind::Printm(name) => Action::PrintName(self.expr(name)),
            StmtKind::SetPriority(process, priority) => {
                self.uses.priorities = true;
                Action::SetPriority(Box::new((self.expr(process), self.expr(priority))))
            }
            StmtKind::Labelled(_, inner) => return self.action(inner),
            StmtKind::Else
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::ForRange { .. }
            | StmtKind::ForIn { .. }
            | StmtKind::Select { .. }
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Block(_)
            | StmtKind::Inlined { .. }
            | StmtKind::Unless(..)
            | StmtKind::Break
            | StmtKind::Goto(_) => unreachable!("control flow has elements of its own"),
        };
        match self.run.take() {
            Some(run) => Action::Run(Box::new(run), Box::new(action)),
            None => action,
        }
    }

    fn guard(&mut self, guard: &Expr) -> Action {
        let lowered = self.expr(guard);
        match (&self.run, &lowered) {
            // The number of a started process is never 0.
            (Some(_), ir::Expr::Started) => Action::Skip,
            (Some(_), _) => {
                self.problems.push(
                    Diagnostic::error(guard.span, "`run` inside a larger condition")
                        .hint("assign its result to a variable first"),
                );
                Action::Skip
            }
            (None, ir::Expr::Const(1)) => Action::Skip,
            (None, _) => {
                self.warn_about_assignment(guard);
                Action::Guard(lowered)
            }
        }
    }

    /// `!c` is a condition, but `c!x` was probably meant.
    fn warn_about_assignment(&mut self, guard: &Expr) {
        let ExprKind::Unary(UnaryOp::Not, operand) = &guard.kind else { return };
        let ExprKind::Var(var) = &operand.kind else { return };
        let Some(name) = var.name() else { return };
        let found = self.scopes.find(&name.name, self.scope, self.order);
        let is_channel = found.is_some_and(|id| {
            matches!(
                self.scopes.vars[id.0 as usize].ty,
                super::scope::Ty::Scalar(Scalar { meaning: Meaning::Channel, .. })
            )
        });
        if is_channel {
            let message = format!("this tests whether `{}` is not a channel", name.name);
            self.problems.push(Diagnostic::warning(guard.span, message).hint("to send, write `channel!message`"));
        }
    }

    fn assignment(&mut self, var: &VarRef, value: &Expr) -> Action {
        let lowered = self.expr(value);
        let Some(place) = self.target(var) else { return self.no_target(var, lowered) };
        if let Some(constant) = lowered.constant() {
            self.check_constant(place.scalar, constant, value.span);
        }
        Action::Assign(Box::new(place), lowered)
    }

    /// Assignments without a place: `_priority = e` and `_ = e`.
    fn no_target(&mut self, var: &VarRef, value: ir::Expr) -> Action {
        if var.is("_priority") {
            self.uses.priorities = true;
            return Action::SetPriority(Box::new((ir::Expr::Myself, value)));
        }
        // The value is evaluated, because this may fault, and discarded.
        Action::Print(String::new(), vec![value])
    }

    /// The place of an assigned variable; `None` if it has none, with or without an error.
    fn target(&mut self, var: &VarRef) -> Option<ir::Place> {
        if let Some(name) = var.name() {
            if matches!(&*name.name, "_" | "_priority") {
                return None;
            }
            if is_predefined(&name.name) {
                return self.refuse(var.span, format!("`{}` cannot be assigned to", name.name));
            }
            if self.scopes.member(&name.name).is_some() {
                return self.refuse(var.span, format!("`{}` is a constant, the name of an mtype value", name.name));
            }
        }
        self.place(var, Access::Write)
    }

    fn step_by_one(&mut self, var: &VarRef, op: BinaryOp) -> Action {
        let Some(place) = self.target(var) else { return Action::Skip };
        if place.scalar.meaning == Meaning::Channel {
            self.error(var.span, "arithmetic on a channel");
        }
        let value = ir::Expr::binary(op, ir::Expr::load(place.clone()), ir::Expr::Const(1));
        Action::Assign(Box::new(place), value)
    }

    fn send(&mut self, send: &Send, span: Span) -> Action {
        let (channel, channel_type) = self.channel(&send.channel);
        let fields = self.args(&send.args);
        self.check_arity(fields.len(), Transfer::Send, channel_type, span);
        if let Some(channel_type) = channel_type {
            let types = self.scopes.channel_types[channel_type.index()].fields.clone();
            for ((field, ty), arg) in fields.iter().zip(types).zip(&send.args) {
                if let (Some(constant), true) = (field.constant(), fields.len() == send.args.len()) {
                    self.check_constant(ty, constant, arg.span);
                }
            }
        }
        Action::Send(Box::new(ir::Send { channel, fields, sorted: send.sorted, when: None }))
    }

    fn receive(&mut self, receive: &Receive, span: Span) -> Action {
        let (channel, channel_type) = self.channel(&receive.channel);
        let (anywhere, keep) = (receive.random, receive.keep);
        let transfer = if keep { Transfer::Copy } else { Transfer::Receive };
        let fields = self.patterns(&receive.args, transfer, channel_type, span);
        Action::Receive(Box::new(ir::Receive { channel, fields, anywhere, keep, when: None }))
    }

    /// Warns about a constant that does not fit.
    pub fn check_constant(&mut self, scalar: Scalar, constant: i32, span: Span) {
        let stored = scalar.truncate(constant);
        if stored != constant {
            let plural = if scalar.bits == 1 { "" } else { "s" };
            let message = format!("{constant} does not fit into {} bit{plural}: {stored} is stored", scalar.bits);
            self.problems.push(Diagnostic::warning(span, message));
        }
    }
}

/// A string without its quotes, its escapes resolved.
fn unescaped(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    text
}
