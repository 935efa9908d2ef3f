//! Visitors for all expressions of a program.

use super::ast::{Child, Expr, ExprKind, Initialiser, Program, Step, Unit, VarRef};

/// Calls `each` for every expression in statements, clauses and formulas, including those inside others.
pub fn each_expr(program: &Program, each: &mut dyn FnMut(&Expr)) {
    for unit in &program.units {
        match unit {
            Unit::Proctype(proctype) => {
                proctype.provided.iter().for_each(|provided| expr(provided, each));
                steps(&proctype.body, each);
            }
            Unit::Init(init) => steps(&init.body, each),
            Unit::Never(claim) => steps(&claim.body, each),
            Unit::Trace(trace) => steps(&trace.body, each),
            Unit::Ltl(formula) | Unit::Ctl(formula) => formula.expr.iter().for_each(|formula| expr(formula, each)),
            Unit::HoaClaim(hoa_claim) => exprs(&hoa_claim.propositions, each),
            Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => {}
        }
    }
}

fn steps(steps: &[Step], each: &mut dyn FnMut(&Expr)) {
    for step in steps {
        match step {
            Step::Decl(decl) => {
                for var in &decl.vars {
                    if let Some(Initialiser::Expr(value)) = &var.init {
                        expr(value, each);
                    }
                }
            }
            Step::Exclusive(_) => {}
            Step::Stmt(stmt) => child(Child::Stmt(stmt), each),
        }
    }
}

fn child(part: Child, each: &mut dyn FnMut(&Expr)) {
    match part {
        Child::Expr(value) => expr(value, each),
        Child::Var(var) => variable(var, each),
        Child::Steps(body) => steps(body, each),
        Child::Stmt(stmt) => stmt.kind.each_child(&mut |part| child(part, each)),
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
        ExprKind::Var(var)
        | ExprKind::Len(var)
        | ExprKind::Full(var)
        | ExprKind::Empty(var)
        | ExprKind::NotFull(var)
        | ExprKind::NotEmpty(var) => variable(var, each),
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
