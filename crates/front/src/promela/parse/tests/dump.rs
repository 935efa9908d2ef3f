//! Trees as concise text for expected results.

use crate::promela::ast::*;
use entail_model::Named;

pub(super) fn program(program: &Program) -> String {
    join(&program.units, " ", unit)
}

fn join<T>(items: &[T], between: &str, show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(between)
}

fn optional<T>(item: &Option<T>, show: impl Fn(&T) -> String) -> String {
    item.as_ref().map(show).unwrap_or_default()
}

fn unit(unit: &Unit) -> String {
    match unit {
        Unit::Proctype(p) => {
            let active = optional(&p.active, |count| format!("active {} ", expr(count)));
            let kind = if p.deterministic { "D_proctype" } else { "proctype" };
            let priority = optional(&p.priority, |n| format!(" priority {}", expr(n)));
            let provided = optional(&p.provided, |e| format!(" provided {}", expr(e)));
            let params = join(&p.params, "; ", decl);
            format!("({active}{kind} {} ({params}){priority}{provided} {})", p.name.name, steps(&p.body))
        }
        Unit::Init(i) => {
            let priority = optional(&i.priority, |n| format!("priority {} ", expr(n)));
            format!("(init {priority}{})", steps(&i.body))
        }
        Unit::Never(c) => format!("(never {}{})", optional(&c.name, |n| format!("{} ", n.name)), steps(&c.body)),
        Unit::Trace(t) => format!("({} {})", if t.negated { "notrace" } else { "trace" }, steps(&t.body)),
        Unit::HoaClaim(w) => format!("(watcher {})", w.name.name),
        Unit::Ltl(l) => format!(
            "(ltl {}{})",
            optional(&l.name, |n| format!("{} ", n.name)),
            l.expr.as_ref().map_or_else(String::new, expr)
        ),
        Unit::Ctl(c) => format!(
            "(ctl {}{})",
            optional(&c.name, |n| format!("{} ", n.name)),
            c.expr.as_ref().map_or_else(String::new, expr)
        ),
        Unit::Typedef(t) => format!("(typedef {} {})", t.name.name, join(&t.fields, "; ", decl)),
        Unit::Mtype(m) => {
            let subtype = optional(&m.subtype, |n| format!(":{}", n.name));
            format!("(mtype{subtype} {})", join(&m.names, " ", |n| n.name.to_string()))
        }
        Unit::Decl(d) => format!("({})", decl(d)),
    }
}

fn decl(decl: &Decl) -> String {
    let visibility = match decl.visibility {
        Visibility::Normal => "",
        Visibility::Hidden => "hidden ",
        Visibility::Show => "show ",
        Visibility::Local => "local ",
    };
    format!("{visibility}{} {}", ty(&decl.ty), join(&decl.vars, ", ", declarator))
}

fn ty(ty: &Type) -> String {
    match ty {
        Type::Bit => "bit".into(),
        Type::Bool => "bool".into(),
        Type::Byte => "byte".into(),
        Type::Pid => "pid".into(),
        Type::Short => "short".into(),
        Type::Int => "int".into(),
        Type::Unsigned => "unsigned".into(),
        Type::Chan => "chan".into(),
        Type::Mtype(subtype) => format!("mtype{}", optional(subtype, |n| format!(":{}", n.name))),
        Type::Record(name) => name.name.to_string(),
    }
}

fn declarator(var: &Declarator) -> String {
    let width = var.width.map_or(String::new(), |(bits, _)| format!(":{bits}"));
    let array = optional(&var.array, |size| format!("[{}]", expr(size)));
    let init = optional(&var.init, |init| match init {
        Initialiser::Expr(e) => format!(" = {}", expr(e)),
        Initialiser::List(values, _) => format!(" = {{{}}}", join(values, " ", expr)),
        Initialiser::Channel(c) => {
            format!(" = [{}] of {}", expr(&c.capacity), join(&c.fields, " ", |(field, _)| ty(field)))
        }
    });
    format!("{}{width}{array}{init}", var.name.name)
}

fn steps(steps: &[Step]) -> String {
    join(steps, "; ", |step| match step {
        Step::Decl(d) => decl(d),
        Step::Exclusive(x) => {
            format!("({} {})", if x.receive { "xr" } else { "xs" }, join(&x.channels, " ", var_ref))
        }
        Step::Stmt(s) => stmt(s),
    })
}

fn stmt(s: &Stmt) -> String {
    match &s.kind {
        StmtKind::Labelled(label, inner) => format!("{}: {}", label.name, stmt(inner)),
        StmtKind::Assign(var, value) => format!("(= {} {})", var_ref(var), expr(value)),
        StmtKind::Increment(var) => format!("(++ {})", var_ref(var)),
        StmtKind::Decrement(var) => format!("(-- {})", var_ref(var)),
        StmtKind::Send(send) => {
            let op = if send.sorted { "!!" } else { "!" };
            format!("({op} {} {})", var_ref(&send.channel), join(&send.args, " ", expr))
        }
        StmtKind::Receive(receive) => {
            let op = if receive.random { "??" } else { "?" };
            let keep = if receive.keep { "<>" } else { "" };
            format!("({op}{keep} {} {})", var_ref(&receive.channel), join(&receive.args, " ", receive_arg))
        }
        StmtKind::Expr(e) => expr(e),
        StmtKind::Else => "else".into(),
        StmtKind::Assert(e) => format!("(assert {})", expr(e)),
        StmtKind::Printf(format, args) => {
            let args: String = args.iter().map(|arg| format!(" {}", expr(arg))).collect();
            format!("(printf {format}{args})")
        }
        StmtKind::Printm(e) => format!("(printm {})", expr(e)),
        StmtKind::SetPriority(process, n) => format!("(set_priority {} {})", expr(process), expr(n)),
        StmtKind::If(branches) => format!("(if{})", options(branches)),
        StmtKind::Do(branches) => format!("(do{})", options(branches)),
        StmtKind::ForRange { var, from, to, body } => {
            format!("(for {} {} {} {{{}}})", var_ref(var), expr(from), expr(to), steps(body))
        }
        StmtKind::ForIn { var, over, body } => {
            format!("(for {} in {} {{{}}})", var_ref(var), var_ref(over), steps(body))
        }
        StmtKind::Select { var, from, to } => format!("(select {} {} {})", var_ref(var), expr(from), expr(to)),
        StmtKind::Atomic(body) => format!("(atomic {})", steps(body)),
        StmtKind::DStep(body) => format!("(d_step {})", steps(body)),
        StmtKind::Block(body) => format!("{{{}}}", steps(body)),
        StmtKind::Inlined { name, body } => format!("({} {{{}}})", name.name, steps(body)),
        StmtKind::Unless(body, escape) => format!("(unless {} {})", stmt(body), stmt(escape)),
        StmtKind::Break => "break".into(),
        StmtKind::Goto(label) => format!("(goto {})", label.name),
    }
}

fn options(branches: &[Branch]) -> String {
    branches.iter().map(|branch| format!(" :: {}", steps(&branch.body))).collect()
}

fn receive_arg(arg: &ReceiveArg) -> String {
    match arg {
        ReceiveArg::Var(var) => var_ref(var),
        ReceiveArg::Eval(e) => format!("(eval {})", expr(e)),
        ReceiveArg::Const(value, _) => value.to_string(),
    }
}

fn var_ref(var: &VarRef) -> String {
    join(&var.parts, ".", part)
}

fn part(part: &Part) -> String {
    format!("{}{}", part.name.name, index(&part.index))
}

fn index(index: &Option<Box<Expr>>) -> String {
    optional(index, |e| format!("[{}]", expr(e)))
}

fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Const(value) => value.to_string(),
        ExprKind::Var(var) => var_ref(var),
        ExprKind::Unary(op, inner) => {
            let op = match op {
                UnaryOp::Not => "!",
                UnaryOp::Negate => "neg",
                UnaryOp::Complement => "~",
            };
            format!("({op} {})", expr(inner))
        }
        ExprKind::Binary(op, left, right) => format!("({} {} {})", op.symbol(), expr(left), expr(right)),
        ExprKind::Conditional(c, yes, no) => format!("(-> {} {} {})", expr(c), expr(yes), expr(no)),
        ExprKind::Run { proctype, args, priority } => {
            let args: String = args.iter().map(|arg| format!(" {}", expr(arg))).collect();
            format!("(run {}{args}{})", proctype.name, optional(priority, |n| format!(" priority {}", expr(n))))
        }
        ExprKind::Len(var) => format!("(len {})", var_ref(var)),
        ExprKind::Channel(test, var) => format!("({} {})", test.name(), var_ref(var)),
        ExprKind::Poll { channel, random, args } => {
            let op = if *random { "??" } else { "?" };
            format!("({op}[] {} {})", var_ref(channel), join(args, " ", receive_arg))
        }
        ExprKind::Enabled(pid) => format!("(enabled {})", expr(pid)),
        ExprKind::PcValue(pid) => format!("(pc_value {})", expr(pid)),
        ExprKind::GetPriority(pid) => format!("(get_priority {})", expr(pid)),
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            format!("{}{}@{}", proctype.name, index(pid), label.name)
        }
        ExprKind::RemoteVar { proctype, pid, var } => format!("{}{}:{}", proctype.name, index(pid), part(var)),
        ExprKind::Temporal(op, args) => format!("({op:?} {})", join(args, " ", expr)),
        ExprKind::Runs(quantifier, path) => format!("({quantifier:?} {})", expr(path)),
    }
}
