//! Loops that `for` and `select` expand to, as in SPIN.

use super::{Builder, Jump, Kind, LoopId, Place, Prepared, load, simple};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{BinaryOp, Expr, ExprKind, Receive, ReceiveArg, Send, Step, StmtKind, VarRef};
use crate::source::Span;

/// When a generated loop ends: if its condition fails, or nondeterministically.
#[derive(PartialEq, Eq)]
enum Leave {
    Else,
    AnyTime,
}

impl Builder<'_> {
    pub(super) fn for_range(
        &mut self,
        var: &VarRef,
        from: &Expr,
        to: &Expr,
        body: &[Step],
        span: Span,
    ) -> Prepared {
        let id = self.enter_loop();
        self.begin_loop(var, from.clone(), BinaryOp::Le, to.clone(), span);
        self.loop_body(body);
        self.end_loop(var, Leave::Else, id, span)
    }

    pub(super) fn for_in(&mut self, var: &VarRef, over: &VarRef, body: &[Step], span: Span) -> Prepared {
        let id = self.enter_loop();
        let Some(count) = self.scopes.channel_loop(self.scope, var, over, span, self.problems) else {
            let last = self.scopes.array_len(self.scope, over, self.problems).unwrap_or(1) as i32 - 1;
            self.begin_loop(var, Expr::constant(0, span), BinaryOp::Le, Expr::constant(last, span), span);
            self.loop_body(body);
            return self.end_loop(var, Leave::Else, id, span);
        };
        // Over a channel: receives every message into `var` and sends it again, as often as there are messages.
        let length = Expr { kind: ExprKind::Len(over.clone()), span };
        self.begin_loop(&count, Expr::constant(0, span), BinaryOp::Lt, length, span);
        let args = vec![ReceiveArg::Var(var.clone())];
        let receive = Receive { channel: over.clone(), random: false, keep: false, args };
        self.add(simple(StmtKind::Receive(receive), span));
        let send = Send { channel: over.clone(), sorted: false, args: vec![load(var, span)] };
        self.add(simple(StmtKind::Send(send), span));
        self.loop_body(body);
        self.end_loop(&count, Leave::Else, id, span)
    }

    /// SPIN has three expansions of `select`. Constant bounds give a choice of assignments, or a loop if
    /// there are many values. Other bounds, and every `select` in an inline, give a slightly different loop.
    pub(super) fn select(&mut self, var: &VarRef, from: &Expr, to: &Expr, span: Span) -> Prepared {
        let plain = matches!(&var.parts[..], [part] if part.index.is_none() && !part.name.name.contains('_'));
        let bounds = match (&from.kind, &to.kind) {
            (ExprKind::Const(from @ 0..), ExprKind::Const(to @ 0..)) if plain && self.inlines == 0 => {
                Some((*from, *to))
            }
            _ => None,
        };
        match bounds {
            Some((from, to)) if from > to => {
                self.problems.push(Diagnostic::error(span, "the range of this `select` is empty"));
                Prepared::Simple(Kind::Nothing, span)
            }
            Some((from, to)) if to - from <= 32 => {
                let branches = (from..=to).map(|value| {
                    let assignment = simple(StmtKind::Assign(var.clone(), Expr::constant(value, span)), span);
                    self.alone(assignment, &Place::Own)
                });
                Prepared::If(branches.collect(), span)
            }
            _ => {
                let id = self.enter_loop();
                self.begin_loop(var, from.clone(), BinaryOp::Lt, to.clone(), span);
                let Prepared::Do(mut branches, id, span) = self.end_loop(var, Leave::AnyTime, id, span) else {
                    unreachable!("a loop ends as a loop");
                };
                if bounds.is_some() {
                    branches.reverse();
                }
                Prepared::Do(branches, id, span)
            }
        }
    }

    pub(super) fn enter_loop(&mut self) -> LoopId {
        self.flow.exits.push(None);
        let id = LoopId(self.flow.exits.len() as u32 - 1);
        self.loops.push(id);
        id
    }

    /// `var = from`, then the beginning of a branch with the guard `var op to`.
    fn begin_loop(&mut self, var: &VarRef, from: Expr, op: BinaryOp, to: Expr, span: Span) {
        self.add(simple(StmtKind::Assign(var.clone(), from), span));
        self.open();
        let condition = ExprKind::Binary(op, Box::new(load(var, span)), Box::new(to));
        self.add(simple(StmtKind::Expr(Expr { kind: condition, span }), span));
    }

    fn loop_body(&mut self, steps: &[Step]) {
        let outer = self.enter();
        self.steps(steps);
        self.scope = outer;
    }

    /// `var++`, then the other branch, which exits the loop.
    fn end_loop(&mut self, var: &VarRef, leave: Leave, id: LoopId, span: Span) -> Prepared {
        self.add(simple(StmtKind::Increment(var.clone()), span));
        let body = self.close(&Place::Own);
        self.open();
        if leave == Leave::Else {
            self.add(Prepared::Simple(Kind::Else, span));
        }
        self.add(Prepared::Simple(Kind::Goto(Jump::Break(id)), span));
        let exit = self.close(&Place::Own);
        self.loops.pop();
        Prepared::Do(vec![exit, body], id, span)
    }
}
