//! Visitors for all declarations, statements and expressions of a program.

use super::ast::{Child, Decl, Expr, ExprKind, Initialiser, Program, Step, Stmt, Unit, VarRef};

#[derive(Clone, Copy)]
pub enum Item<'a> {
    Decl(&'a Decl),
    Stmt(&'a Stmt),
}

/// Calls `each` for the declarations and statements of a sequence, including those inside others.
pub fn items<'a>(steps: &'a [Step], each: &mut dyn FnMut(Item<'a>)) {
    for step in steps {
        match step {
            Step::Decl(decl) => each(Item::Decl(decl)),
            Step::Exclusive(_) => {}
            Step::Stmt(stmt) => items_of(stmt, each),
        }
    }
}

/// Calls `each` for a statement, and for the declarations and statements inside it.
pub fn items_of<'a>(stmt: &'a Stmt, each: &mut dyn FnMut(Item<'a>)) {
    each(Item::Stmt(stmt));
    stmt.kind.each_child(&mut |child| match child {
        Child::Expr(_) | Child::Var(_) => {}
        Child::Steps(body) => items(body, each),
        Child::Stmt(inner) => items_of(inner, each),
    });
}

/// Calls `each` for every expression in statements, clauses and formulas, including those inside others.
pub fn each_expr(program: &Program, each: &mut dyn FnMut(&Expr)) {
    program.units.iter().for_each(|unit| unit_exprs(unit, each));
}

/// The same for one unit.
pub fn unit_exprs(unit: &Unit, each: &mut dyn FnMut(&Expr)) {
    match unit {
        Unit::Proctype(proctype) => {
            proctype.provided.iter().for_each(|provided| expr(provided, each));
            body_exprs(&proctype.body, each);
        }
        Unit::Init(init) => body_exprs(&init.body, each),
        Unit::Never(claim) => body_exprs(&claim.body, each),
        Unit::Trace(trace) => body_exprs(&trace.body, each),
        Unit::Ltl(formula) | Unit::Ctl(formula) => formula.expr.iter().for_each(|formula| expr(formula, each)),
        Unit::HoaClaim(hoa_claim) => exprs(&hoa_claim.propositions, each),
        Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => {}
    }
}

fn body_exprs(body: &[Step], each: &mut dyn FnMut(&Expr)) {
    items(body, &mut |item| match item {
        Item::Decl(decl) => {
            for var in &decl.vars {
                if let Some(Initialiser::Expr(value)) = &var.init {
                    expr(value, each);
                }
            }
        }
        Item::Stmt(stmt) => stmt.kind.each_child(&mut |part| child(part, each)),
    });
}

fn child(part: Child, each: &mut dyn FnMut(&Expr)) {
    match part {
        Child::Expr(value) => expr(value, each),
        Child::Var(var) => variable(var, each),
        Child::Steps(_) | Child::Stmt(_) => {}
    }
}

fn exprs(list: &[Expr], each: &mut dyn FnMut(&Expr)) {
    list.iter().for_each(|item| expr(item, each));
}

fn variable(var: &VarRef, each: &mut dyn FnMut(&Expr)) {
    let indices = var.parts.iter().filter_map(|part| part.index.as_deref());
    indices.for_each(|index| expr(index, each));
}

/// Calls `each` for an expression and those inside it.
pub fn expr(value: &Expr, each: &mut dyn FnMut(&Expr)) {
    each(value);
    match &value.kind {
        ExprKind::Const(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
        ExprKind::Var(var) | ExprKind::Len(var) | ExprKind::Channel(_, var) => variable(var, each),
        ExprKind::Unary(_, operand)
        | ExprKind::Enabled(operand)
        | ExprKind::PcValue(operand)
        | ExprKind::GetPriority(operand)
        | ExprKind::Runs(_, operand) => expr(operand, each),
        ExprKind::Binary(_, left, right) => {
            expr(left, each);
            expr(right, each);
        }
        ExprKind::Conditional(condition, yes, no) => {
            expr(condition, each);
            expr(yes, each);
            expr(no, each);
        }
        ExprKind::Run { args, .. } | ExprKind::Temporal(_, args) => exprs(args, each),
        ExprKind::Poll { channel, args, .. } => {
            variable(channel, each);
            args.iter().for_each(|arg| arg.each_child(&mut |part| child(part, each)));
        }
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|pid| expr(pid, each)),
        ExprKind::RemoteVar { pid, var, .. } => {
            pid.iter().for_each(|pid| expr(pid, each));
            var.index.iter().for_each(|index| expr(index, each));
        }
    }
}

/// Whether a condition holds for an expression or one inside it.
pub fn any(value: &Expr, is: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr(value, &mut |inner| found |= is(inner));
    found
}
