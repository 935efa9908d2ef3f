//! Models as ESML text.

use super::{Command, Communication, Data, Expr, Model, Op, Place, Process, Signal, Ty};

pub fn text(model: &Model) -> String {
    let channels: Vec<_> = (0..model.channels).map(|number| format!("c{number}")).collect();
    let processes = model.processes.iter().enumerate();
    let processes: String =
        processes.map(|(number, one)| process_text(number, one, &channels.join(", "))).collect();
    let activations: Vec<_> = model
        .processes
        .iter()
        .enumerate()
        .map(|(number, process)| format!("P{number}({}, {})", process.me, channels.join(", ")))
        .collect();
    format!(
        "MODEL Random;
TYPE
  digit = 0..3;
  queue = LIST [2] OF digit;
  row = ARRAY [2] OF digit;
  pair = (f0: digit; f1: BOOLEAN);
  pairs = LIST [2] OF pair;
  line = {{plain, digit(digit), boolean(BOOLEAN), queue(queue), row(row), pair(pair), pairs(pairs)}};
VAR {}: line;
{processes}
BEGIN
  {}
END Random
",
        channels.join(", "),
        activations.join(";\n  ")
    )
}

fn process_text(number: usize, process: &Process, channels: &str) -> String {
    let vars: String =
        process.vars.iter().enumerate().map(|(number, ty)| format!("  v{number}: {};\n", type_name(*ty))).collect();
    let vars = if vars.is_empty() { vars } else { format!("VAR\n{vars}") };
    let body = commands(&process.body, 1);
    format!("\nPROCESS P{number}(me: digit; {channels}: line);\n{vars}BEGIN\n{body}\nEND P{number};\n")
}

fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Digit => "digit",
        Ty::Boolean => "BOOLEAN",
        Ty::Queue => "queue",
        Ty::Row => "row",
        Ty::Pair => "pair",
        Ty::Pairs => "pairs",
    }
}

fn commands(body: &[Command], depth: usize) -> String {
    let margin = "  ".repeat(depth);
    let lines: Vec<_> = body.iter().map(|one| format!("{margin}{}", command(one, depth))).collect();
    lines.join(";\n")
}

fn command(command: &Command, depth: usize) -> String {
    let margin = "  ".repeat(depth);
    let guarded = |alternatives: &[(Expr, Vec<Command>)]| {
        let one =
            |(guard, body): &(Expr, Vec<Command>)| format!("{} ->\n{}\n", expr(guard), commands(body, depth + 1));
        alternatives.iter().map(one).collect::<Vec<_>>().join(&format!("{margin}[] "))
    };
    match command {
        Command::Skip => "SKIP".to_owned(),
        Command::Assign(target, value) => format!("{} := {}", place(target), expr(value)),
        Command::Empty(list) => format!("EMPTY(v{list})"),
        Command::Remove(list) => format!("REMOVE(v{list})"),
        Command::Append(list, value) => format!("APPEND(v{list}, {})", expr(value)),
        Command::Prepend(list, value) => format!("PREPEND(v{list}, {})", expr(value)),
        Command::Communicate(one) => communication(one),
        Command::If(alternatives) => format!("IF {}{margin}END", guarded(alternatives)),
        Command::Do(alternatives) => format!("DO {}{margin}END", guarded(alternatives)),
        Command::Poll(alternatives) => {
            let one = |(one, condition, body): &(Communication, Option<Expr>, Vec<Command>)| {
                let condition =
                    condition.as_ref().map_or(String::new(), |condition| format!(" & {}", expr(condition)));
                format!("{}{condition} ->\n{}\n", communication(one), commands(body, depth + 1))
            };
            let alternatives: Vec<_> = alternatives.iter().map(one).collect();
            format!("POLL {}{margin}END", alternatives.join(&format!("{margin}[] ")))
        }
    }
}

fn communication(one: &Communication) -> String {
    let signal = signal_name(one.signal);
    let (sign, data) = match &one.data {
        Data::Sent(data) => ("!", data.as_ref().map(expr)),
        Data::Received(data) => ("?", data.as_ref().map(place)),
        Data::Matched => ("?", Some("me".to_owned())),
    };
    let data = data.map_or(String::new(), |data| format!("({data})"));
    format!("c{}{sign}{signal}{data}", one.channel)
}

fn signal_name(signal: Signal) -> &'static str {
    match signal {
        None => "plain",
        Some(Ty::Boolean) => "boolean",
        Some(ty) => type_name(ty),
    }
}

fn place(place: &Place) -> String {
    match place {
        Place::Whole(var) => format!("v{var}"),
        Place::Element(var, index) => format!("v{var}[{}]", expr(index)),
        Place::Field(var, field) => format!("v{var}.f{field}"),
    }
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Number(number) => number.to_string(),
        Expr::Boolean(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Expr::Me => "me".to_owned(),
        Expr::Load(from) => place(from),
        Expr::Len(list) => format!("LEN(v{list})"),
        Expr::Head(list) => format!("HEAD(v{list})"),
        Expr::Not(operand) => format!("~({})", expr(operand)),
        Expr::Binary(op, operands) => {
            let sign = match op {
                Op::Add => "+",
                Op::Subtract => "-",
                Op::Multiply => "*",
                Op::Divide => "DIV",
                Op::Modulo => "MOD",
                Op::Equal => "=",
                Op::Unequal => "#",
                Op::Less => "<",
                Op::And => "&",
                Op::Or => "OR",
            };
            let (left, right) = (operand(*op, &operands.0, true), operand(*op, &operands.1, false));
            match op {
                // The surrounding expression adds parentheses where they are needed.
                Op::And | Op::Or => format!("{left} {sign} {right}"),
                Op::Add
                | Op::Subtract
                | Op::Multiply
                | Op::Divide
                | Op::Modulo
                | Op::Equal
                | Op::Unequal
                | Op::Less => {
                    format!("({left} {sign} {right})")
                }
            }
        }
    }
}

/// An operand, in parentheses only if they are needed: `&` binds tighter than `OR`, and both are left-associative.
fn operand(of: Op, value: &Expr, is_left: bool) -> String {
    let needs = match value {
        Expr::Binary(Op::Or, _) => of != Op::Or || !is_left,
        Expr::Binary(Op::And, _) => !(of == Op::Or || of == Op::And && is_left),
        _ => false,
    };
    if needs { format!("({})", expr(value)) } else { expr(value) }
}
