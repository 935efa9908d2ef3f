//! Statements and expressions as text, for reports, automata and traces.

use super::ast::{
    BinaryOp, Expr, ExprKind, Part, Quantifier, Receive, ReceiveArg, Send, Stmt, StmtKind, TemporalOp, VarRef,
};
use entail_model::Named;
use std::fmt::Write;

/// A statement on one line; a compound statement is represented by its keyword.
pub fn statement(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Labelled(_, inner) => statement(inner),
        StmtKind::Assign(var, value) => format!("{} = {}", variable(var), expression(value)),
        StmtKind::Increment(var) => format!("{}++", variable(var)),
        StmtKind::Decrement(var) => format!("{}--", variable(var)),
        StmtKind::Send(send) => self::send(send),
        StmtKind::Receive(receive) => self::receive(receive),
        StmtKind::Expr(guard) => match guard.kind {
            ExprKind::Const(1) => "skip".into(),
            _ => expression(guard),
        },
        StmtKind::Else => "else".into(),
        StmtKind::Assert(condition) => format!("assert({})", expression(condition)),
        StmtKind::Printf(format, args) => {
            let args: String = args.iter().map(|arg| format!(", {}", expression(arg))).collect();
            format!("printf({format}{args})")
        }
        StmtKind::Printm(name) => format!("printm({})", expression(name)),
        StmtKind::SetPriority(process, priority) => {
            format!("set_priority({}, {})", expression(process), expression(priority))
        }
        StmtKind::If(_) => "if".into(),
        StmtKind::Do(_) => "do".into(),
        StmtKind::ForRange { var, from, to, .. } => {
            format!("for ({} : {} .. {})", variable(var), expression(from), expression(to))
        }
        StmtKind::ForIn { var, over, .. } => format!("for ({} in {})", variable(var), variable(over)),
        StmtKind::Select { var, from, to } => {
            format!("select ({} : {} .. {})", variable(var), expression(from), expression(to))
        }
        StmtKind::Atomic(_) => "atomic".into(),
        StmtKind::DStep(_) => "d_step".into(),
        StmtKind::Block(_) => "{ … }".into(),
        StmtKind::Inlined { name, .. } => format!("{}(…)", name.name),
        StmtKind::Unless(..) => "unless".into(),
        StmtKind::Break => "break".into(),
        StmtKind::Goto(label) => format!("goto {}", label.name),
    }
}

pub fn expression(expr: &Expr) -> String {
    let mut text = String::new();
    write_expr(&mut text, expr, 0);
    text
}

pub fn variable(var: &VarRef) -> String {
    var.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn part(part: &Part) -> String {
    match &part.index {
        Some(index) => format!("{}[{}]", part.name.name, expression(index)),
        None => part.name.name.to_string(),
    }
}

fn send(send: &Send) -> String {
    let operator = if send.sorted { "!!" } else { "!" };
    format!("{}{operator}{}", variable(&send.channel), list(&send.args))
}

fn receive(receive: &Receive) -> String {
    let operator = if receive.random { "??" } else { "?" };
    let args = receive_args(&receive.args);
    let (open, close) = if receive.keep { ("<", ">") } else { ("", "") };
    format!("{}{operator}{open}{args}{close}", variable(&receive.channel))
}

fn receive_args(args: &[ReceiveArg]) -> String {
    let args = args.iter().map(|arg| match arg {
        ReceiveArg::Var(var) => variable(var),
        ReceiveArg::Eval(value) => format!("eval({})", expression(value)),
        ReceiveArg::Const(value, _) => value.to_string(),
    });
    args.collect::<Vec<_>>().join(",")
}

fn list(args: &[Expr]) -> String {
    args.iter().map(expression).collect::<Vec<_>>().join(",")
}

/// How tightly an operator binds; operands that bind less are put in parentheses.
fn precedence(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::BitOr => 3,
        BinaryOp::BitXor => 4,
        BinaryOp::BitAnd => 5,
        BinaryOp::Eq | BinaryOp::Ne => 6,
        BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => 7,
        BinaryOp::Shl | BinaryOp::Shr => 8,
        BinaryOp::Add | BinaryOp::Sub => 9,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 10,
    }
}

/// `&&` binds less tightly than `U`; all other binary operators bind tighter.
const TEMPORAL: u8 = 3;
const UNARY: u8 = 11;

fn write_expr(text: &mut String, expr: &Expr, outer: u8) {
    // Writing to a string cannot fail.
    let _ = match &expr.kind {
        ExprKind::Const(value) => write!(text, "{value}"),
        ExprKind::Var(var) => write!(text, "{}", variable(var)),
        ExprKind::Unary(op, operand) => {
            text.push(op.symbol());
            // `--` and `!!` would be other operators.
            if matches!(operand.kind, ExprKind::Unary(..) | ExprKind::Const(..0)) {
                text.push(' ');
            }
            write_expr(text, operand, UNARY);
            Ok(())
        }
        ExprKind::Binary(op, left, right) => {
            let inner = precedence(*op);
            let parenthesise = inner < outer;
            if parenthesise {
                text.push('(');
            }
            write_expr(text, left, inner);
            let _ = write!(text, " {} ", op.symbol());
            write_expr(text, right, inner + 1);
            if parenthesise {
                text.push(')');
            }
            Ok(())
        }
        ExprKind::Conditional(condition, yes, no) => {
            write!(text, "({} -> {} : {})", expression(condition), expression(yes), expression(no))
        }
        ExprKind::Run { proctype, args, priority } => {
            let priority = priority.as_ref().map_or(String::new(), |it| format!(" priority {}", expression(it)));
            write!(text, "run {}({}){priority}", proctype.name, list(args))
        }
        ExprKind::Len(channel) => write!(text, "len({})", variable(channel)),
        ExprKind::Channel(test, channel) => write!(text, "{}({})", test.name(), variable(channel)),
        ExprKind::Poll { channel, random, args } => {
            let operator = if *random { "??" } else { "?" };
            write!(text, "{}{operator}[{}]", variable(channel), receive_args(args))
        }
        ExprKind::Enabled(process) => write!(text, "enabled({})", expression(process)),
        ExprKind::PcValue(process) => write!(text, "pc_value({})", expression(process)),
        ExprKind::GetPriority(process) => write!(text, "get_priority({})", expression(process)),
        ExprKind::Timeout => write!(text, "timeout"),
        ExprKind::NonProgress => write!(text, "np_"),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            write!(text, "{}{}@{}", proctype.name, bracketed(pid.as_deref()), label.name)
        }
        ExprKind::RemoteVar { proctype, pid, var } => {
            write!(text, "{}{}:{}", proctype.name, bracketed(pid.as_deref()), part(var))
        }
        ExprKind::Temporal(op, operands) => write!(text, "({})", temporal(*op, operands)),
        ExprKind::Runs(quantifier, path) => {
            write_runs(text, *quantifier, path);
            Ok(())
        }
    };
}

fn bracketed(index: Option<&Expr>) -> String {
    index.map_or(String::new(), |index| format!("[{}]", expression(index)))
}

/// `AG p`, `A(p U q)`
fn write_runs(text: &mut String, quantifier: Quantifier, path: &Expr) {
    text.push(quantifier.letter());
    match &path.kind {
        ExprKind::Temporal(op, operands) if let [operand] = &operands[..] => {
            text.push_str(match op {
                TemporalOp::Always => "G ",
                TemporalOp::Eventually => "F ",
                TemporalOp::Next => "X ",
                TemporalOp::Until
                | TemporalOp::WeakUntil
                | TemporalOp::Release
                | TemporalOp::Implies
                | TemporalOp::Equivalent => " ",
            });
            write_expr(text, operand, UNARY);
        }
        ExprKind::Temporal(op, operands) if let [left, right] = &operands[..] => {
            text.push('(');
            write_expr(text, left, TEMPORAL);
            let _ = write!(text, " {} ", symbol(*op));
            write_expr(text, right, TEMPORAL);
            text.push(')');
        }
        _ => {
            text.push(' ');
            write_expr(text, path, UNARY);
        }
    }
}

fn temporal(op: TemporalOp, operands: &[Expr]) -> String {
    let symbol = symbol(op);
    match operands {
        [operand] => format!("{symbol} {}", expression(operand)),
        operands => operands.iter().map(expression).collect::<Vec<_>>().join(&format!(" {symbol} ")),
    }
}

pub(super) fn symbol(op: TemporalOp) -> &'static str {
    match op {
        TemporalOp::Always => "[]",
        TemporalOp::Eventually => "<>",
        TemporalOp::Next => "X",
        TemporalOp::Until => "U",
        TemporalOp::WeakUntil => "W",
        TemporalOp::Release => "V",
        TemporalOp::Implies => "->",
        TemporalOp::Equivalent => "<->",
    }
}
