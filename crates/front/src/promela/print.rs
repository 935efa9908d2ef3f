//! Prints a model as Promela, with macros and inlines expanded. The text parses to the same tree, except that the
//! body of an inline becomes a block.

use super::ast::{
    Branch, ChannelInit, Decl, Declarator, Expr, ExprKind, Formula, Ident, Initialiser, Proctype, Program, Step,
    Stmt, StmtKind, Structure, TemporalOp, Type, UnaryOp, Unit, Visibility,
};
use super::text::{self, expression, variable};
use entail_ir::BinaryOp;

/// The text of a model. An automaton in the HOA format has none, and is omitted.
pub fn program(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), depth: 0, inlines: 0 };
    for unit in &program.units {
        printer.unit(unit);
    }
    printer.text
}

/// A formula, with parentheses around all operands but single words.
pub fn formula(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => format!("!{}", operand_of(operand)),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            format!("{} {} {}", operand_of(left), op.symbol(), operand_of(right))
        }
        ExprKind::Temporal(op, operands) => temporal(*op, operands),
        ExprKind::Runs(quantifier, path) => format!("{} ({})", quantifier.letter(), formula(path)),
        _ => expression(expr),
    }
}

fn operand_of(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Const(0..) => expression(expr),
        ExprKind::Var(var) if var.parts.iter().all(|part| part.index.is_none()) => variable(var),
        _ => format!("({})", formula(expr)),
    }
}

fn temporal(op: TemporalOp, operands: &[Expr]) -> String {
    match operands {
        [operand] => format!("{} {}", text::symbol(op), operand_of(operand)),
        operands => {
            let operands: Vec<_> = operands.iter().map(operand_of).collect();
            operands.join(&format!(" {} ", text::symbol(op)))
        }
    }
}

struct Printer {
    text: String,
    depth: usize,
    /// The number of surrounding bodies of inlines.
    inlines: usize,
}

impl Printer {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"\t".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Proctype(proctype) => {
                let head = proctype_head(proctype);
                self.body(&head, &proctype.body);
            }
            Unit::Init(init) => {
                let priority = priority(init.priority.as_ref());
                self.body(&format!("init{priority}"), &init.body);
            }
            Unit::Never(claim) => self.body(&format!("never{}", name_of(&claim.name, "claim")), &claim.body),
            Unit::Trace(trace) => self.body(if trace.negated { "notrace" } else { "trace" }, &trace.body),
            Unit::Ltl(formula) => self.formula("ltl", formula),
            Unit::Ctl(formula) => self.formula("ctl", formula),
            Unit::HoaClaim(_) => {}
            Unit::Typedef(typedef) => {
                self.line(&format!("typedef {} {{", typedef.name.name));
                self.depth += 1;
                let last = typedef.fields.len().saturating_sub(1);
                for (index, field) in typedef.fields.iter().enumerate() {
                    self.line(&format!("{}{}", declaration(field), if index < last { ";" } else { "" }));
                }
                self.depth -= 1;
                self.line("}");
            }
            Unit::Mtype(mtype) => {
                let subtype = mtype.subtype.as_ref().map_or(String::new(), |name| format!(":{}", name.name));
                let names: Vec<_> = mtype.names.iter().map(|name| &*name.name).collect();
                self.line(&format!("mtype{subtype} = {{ {} }};", names.join(", ")));
            }
            Unit::Decl(decl) => self.line(&format!("{};", declaration(decl))),
        }
    }

    fn formula(&mut self, word: &str, unit: &Formula) {
        let name = name_of(&unit.name, "asked");
        let text = unit.expr.as_ref().map_or_else(String::new, formula);
        self.line(&format!("{word}{name} {{ {text} }}"));
    }

    fn body(&mut self, head: &str, body: &[Step]) {
        self.text.push('\n');
        self.line(&format!("{head} {{"));
        self.inside(body);
        self.line("}");
    }

    fn inside(&mut self, steps: &[Step]) {
        self.depth += 1;
        self.steps(steps, "", "");
        self.depth -= 1;
    }

    /// Prints steps; `before` opens the sequence, `after` closes it.
    fn steps(&mut self, steps: &[Step], before: &str, after: &str) {
        for (index, step) in steps.iter().enumerate() {
            let before = if index == 0 { before } else { "" };
            let after = if index + 1 == steps.len() { after } else { ";" };
            match step {
                Step::Decl(decl) => self.line(&format!("{before}{}{after}", declaration(decl))),
                Step::Exclusive(exclusive) => {
                    let word = if exclusive.receive { "xr" } else { "xs" };
                    let channels: Vec<_> = exclusive.channels.iter().map(variable).collect();
                    self.line(&format!("{before}{word} {}{after}", channels.join(", ")));
                }
                Step::Stmt(stmt) => self.statement(stmt, before, after),
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt, before: &str, after: &str) {
        match stmt.kind.structure() {
            // The label had no statement. A trace may contain only events, so print none.
            Structure::Labelled(label, inner) if inner.span == label.span => {
                self.line(&format!("{before}{}:{after}", label.name));
            }
            Structure::Labelled(label, inner) => {
                self.statement(inner, &format!("{before}{}: ", label.name), after);
            }
            Structure::If(branches) => self.choice("if", "fi", branches, before, after),
            Structure::Do(branches) => self.choice("do", "od", branches, before, after),
            Structure::For(body) => {
                self.block(&text::statement(stmt), body, before, after);
            }
            Structure::Atomic(body) => self.block("atomic", body, before, after),
            Structure::DStep(body) => self.block("d_step", body, before, after),
            Structure::Block(body) => self.block("", body, before, after),
            Structure::Inlined(_, body) => {
                self.inlines += 1;
                self.block("", body, before, after);
                self.inlines -= 1;
            }
            Structure::Unless(body, escape) => {
                self.statement(body, before, "");
                // On the same line, because SPIN may end a statement at the end of a line.
                let end = self.text.trim_end().len();
                let escape_begins = self.text.len();
                self.statement(escape, "", after);
                let escape = self.text.split_off(escape_begins);
                self.text.truncate(end);
                self.text.push_str(" unless ");
                self.text.push_str(escape.trim_start());
            }
            Structure::Simple | Structure::Break | Structure::Goto(_) => {
                let text = self.simple(stmt);
                self.line(&format!("{before}{text}{after}"));
            }
        }
    }

    fn simple(&self, stmt: &Stmt) -> String {
        match &stmt.kind {
            // Between constants, SPIN expands a `select` in an inline to another loop than elsewhere.
            StmtKind::Select { var, from, to } if self.inlines > 0 && matches!(from.kind, ExprKind::Const(_)) => {
                format!("select ({} : {} + 0 .. {})", variable(var), expression(from), expression(to))
            }
            StmtKind::Send(send) => {
                let operator = if send.sorted { "!!" } else { "!" };
                let args: Vec<_> = send.args.iter().map(expression).collect();
                // With spaces: `c!!x` would be another statement.
                format!("{} {operator} {}", variable(&send.channel), args.join(", "))
            }
            _ => text::statement(stmt),
        }
    }

    fn choice(&mut self, opener: &str, closer: &str, branches: &[Branch], before: &str, after: &str) {
        self.line(&format!("{before}{opener}"));
        for branch in branches {
            match &branch.body[..] {
                [Step::Stmt(first), rest @ ..] if !rest.is_empty() && is_simple(first) => {
                    self.statement(first, ":: ", " ->");
                    self.inside(rest);
                }
                body => self.steps(body, ":: ", ""),
            }
        }
        self.line(&format!("{closer}{after}"));
    }

    fn block(&mut self, head: &str, body: &[Step], before: &str, after: &str) {
        let space = if head.is_empty() { "" } else { " " };
        self.line(&format!("{before}{head}{space}{{"));
        self.inside(body);
        self.line(&format!("}}{after}"));
    }
}

fn is_simple(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::Else | StmtKind::Receive(_) | StmtKind::Send(_))
}

fn proctype_head(proctype: &Proctype) -> String {
    let active = match &proctype.active {
        None => String::new(),
        Some(Expr { kind: ExprKind::Const(1), .. }) => "active ".into(),
        Some(count) => format!("active [{}] ", expression(count)),
    };
    let word = if proctype.deterministic { "D_proctype" } else { "proctype" };
    let params: Vec<_> = proctype.params.iter().map(declaration).collect();
    let provided = proctype.provided.as_ref().map_or(String::new(), |e| format!(" provided ({})", expression(e)));
    let (name, priority) = (&proctype.name.name, priority(proctype.priority.as_ref()));
    format!("{active}{word} {name}({}){priority}{provided}", params.join("; "))
}

fn priority(priority: Option<&Expr>) -> String {
    priority.map_or(String::new(), |priority| format!(" priority {}", expression(priority)))
}

/// The name after `ltl` or `never`. A property from outside is named by its text, which is no name in Promela.
fn name_of(name: &Option<Ident>, otherwise: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name {
        None => String::new(),
        Some(name) if name.name.chars().all(is_letter) => format!(" {}", name.name),
        Some(_) => format!(" {otherwise}"),
    }
}

fn declaration(decl: &Decl) -> String {
    let visibility = match decl.visibility {
        Visibility::Normal => "",
        Visibility::Hidden => "hidden ",
        Visibility::Show => "show ",
        Visibility::Local => "local ",
    };
    let vars: Vec<_> = decl.vars.iter().map(declarator).collect();
    format!("{visibility}{} {}", type_name(&decl.ty), vars.join(", "))
}

fn declarator(var: &Declarator) -> String {
    let width = var.width.map_or(String::new(), |(bits, _)| format!(" : {bits}"));
    let array = var.array.as_ref().map_or(String::new(), |size| format!("[{}]", expression(size)));
    let init = match &var.init {
        None => String::new(),
        Some(Initialiser::Expr(value)) => format!(" = {}", expression(value)),
        Some(Initialiser::List(values, _)) => {
            let values: Vec<_> = values.iter().map(expression).collect();
            format!(" = {{ {} }}", values.join(", "))
        }
        Some(Initialiser::Channel(channel)) => format!(" = {}", channel_init(channel)),
    };
    format!("{}{width}{array}{init}", var.name.name)
}

fn channel_init(channel: &ChannelInit) -> String {
    let fields: Vec<_> = channel.fields.iter().map(|(ty, _)| type_name(ty)).collect();
    format!("[{}] of {{ {} }}", expression(&channel.capacity), fields.join(", "))
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Bit => "bit".into(),
        Type::Bool => "bool".into(),
        Type::Byte => "byte".into(),
        Type::Pid => "pid".into(),
        Type::Short => "short".into(),
        Type::Int => "int".into(),
        Type::Unsigned => "unsigned".into(),
        Type::Chan => "chan".into(),
        Type::Mtype(None) => "mtype".into(),
        Type::Mtype(Some(subtype)) => format!("mtype:{}", subtype.name),
        Type::Record(name) => name.name.to_string(),
    }
}
