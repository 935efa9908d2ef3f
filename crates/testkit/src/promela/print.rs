//! Prints programs with as few parentheses as the grammar allows, to test precedence too.

use super::ast::*;
use std::fmt::{self, Display, Formatter, Write};

/// Binds tighter than every binary operator.
const UNARY: u8 = 11;

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.units.iter().try_for_each(|unit| writeln!(f, "{unit}"))
    }
}

impl Display for Unit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Define { name, params, body } if params.is_empty() => write!(f, "#define {name} {}", Atom(body)),
            Self::Define { name, params, body } => {
                write!(f, "#define {name}({}) {}", params.join(", "), Atom(body))
            }
            Self::Mtype { subtype, names } => match subtype {
                Some(subtype) => write!(f, "mtype:{subtype} = {{ {} }};", names.join(", ")),
                None => write!(f, "mtype = {{ {} }};", names.join(", ")),
            },
            Self::Typedef { name, fields } => write!(f, "typedef {name} {{ {} }}", List(fields, "; ")),
            Self::Global(decl) => write!(f, "{decl};"),
            Self::Inline { name, params, body } => {
                writeln!(f, "inline {name}({}) {{", params.join(", "))?;
                block(f, body, 1)?;
                write!(f, "}}")
            }
            Self::Process(process) => process.fmt(f),
            Self::Always { name, formula } => write!(f, "ltl {name} {{ [] ({formula}) }}"),
        }
    }
}

impl Display for Process {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            ProcessKind::Init => write!(f, "init")?,
            ProcessKind::Proctype { active, deterministic } => {
                match active {
                    Some(1) => write!(f, "active ")?,
                    Some(count) => write!(f, "active [{count}] ")?,
                    None => {}
                }
                let keyword = if deterministic { "D_proctype" } else { "proctype" };
                write!(f, "{keyword} {}({})", self.name, List(&self.params, "; "))?;
            }
        }
        if let Some(priority) = self.priority {
            write!(f, " priority {priority}")?;
        }
        if let Some(condition) = &self.provided {
            write!(f, " provided ({condition})")?;
        }
        writeln!(f, " {{")?;
        block(f, &self.body, 1)?;
        write!(f, "}}")
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bit => "bit",
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::Pid => "pid",
            Self::Short => "short",
            Self::Int => "int",
            Self::Unsigned(_) => "unsigned",
            Self::Mtype(None) => "mtype",
            Self::Mtype(Some(subtype)) => return write!(f, "mtype:{subtype}"),
            Self::Chan => "chan",
            Self::Record(name) => name,
        })
    }
}

impl Display for Decl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(visibility) = self.visibility {
            write!(f, "{visibility} ")?;
        }
        write!(f, "{} {}", self.ty, self.name)?;
        if let Type::Unsigned(bits) = self.ty {
            write!(f, " : {bits}")?;
        }
        if let Some(length) = self.array {
            write!(f, "[{length}]")?;
        }
        match &self.init {
            None => Ok(()),
            Some(Init::Value(value)) => write!(f, " = {value}"),
            Some(Init::List(values)) => write!(f, " = {{ {} }}", List(values, ", ")),
            Some(Init::Channel { capacity, fields }) => {
                write!(f, " = [{capacity}] of {{ {} }}", List(fields, ", "))
            }
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(index) = &self.index {
            write!(f, "[{index}]")?;
        }
        match &self.field {
            Some(field) => write!(f, ".{field}"),
            None => Ok(()),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(place) => place.fmt(f),
            Self::Constant(value) => value.fmt(f),
            Self::Eval(value) => write!(f, "eval({value})"),
            Self::Ignore => f.write_str("_"),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(f, self, 0)
    }
}

impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        statement(f, self, 0)
    }
}

/// An expression where only a primary is safe: a macro body, an argument, an operand of `!`.
struct Atom<'a>(&'a Expr);

impl Display for Atom<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(f, self.0, UNARY + 1)
    }
}

struct List<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

fn expression(f: &mut Formatter<'_>, expr: &Expr, context: u8) -> fmt::Result {
    let level = match expr {
        Expr::Binary(op, ..) => op.notation().1,
        Expr::Unary(..) => UNARY,
        Expr::Number(value) if *value < 0 => UNARY,
        // `run` would consume a following priority; `P:x` and `P@L` would merge with an adjacent colon.
        Expr::Run { .. } | Expr::Remote { .. } | Expr::AtLabel { .. } if context > 0 => 0,
        _ => UNARY + 1,
    };
    let wrap = level < context;
    if wrap {
        f.write_char('(')?;
    }
    match expr {
        Expr::Number(value) => write!(f, "{value}")?,
        Expr::Character(value) => write!(f, "'{value}'")?,
        Expr::Word(word) => f.write_str(word)?,
        Expr::Read(place) => place.fmt(f)?,
        Expr::Unary(op, operand) => {
            f.write_char(match op {
                Unary::Not => '!',
                Unary::Minus => '-',
                Unary::Complement => '~',
            })?;
            Atom(operand).fmt(f)?;
        }
        Expr::Binary(op, left, right) => {
            let (symbol, level) = op.notation();
            expression(f, left, level)?;
            write!(f, " {symbol} ")?;
            expression(f, right, level + 1)?;
        }
        Expr::Conditional(test, yes, no) => write!(f, "({} -> {} : {})", Atom(test), Atom(yes), Atom(no))?,
        Expr::Ask(question, channel) => write!(f, "{question}({channel})")?,
        Expr::Apply(name, args) => {
            write!(f, "{name}(")?;
            atoms(f, args)?;
            f.write_char(')')?;
        }
        Expr::Poll { channel, anywhere, args } => {
            write!(f, "{channel}{}[{}]", if *anywhere { "??" } else { "?" }, List(args, ", "))?;
        }
        Expr::Run { process, args, priority } => {
            write!(f, "run {process}({})", List(args, ", "))?;
            if let Some(priority) = priority {
                write!(f, " priority {priority}")?;
            }
        }
        Expr::AtLabel { process, pid, label } => {
            instance(f, process, pid.as_deref())?;
            write!(f, "@{label}")?;
        }
        Expr::Remote { process, pid, variable } => {
            instance(f, process, pid.as_deref())?;
            write!(f, ":{variable}")?;
        }
    }
    if wrap {
        f.write_char(')')?;
    }
    Ok(())
}

fn instance(f: &mut Formatter<'_>, process: &str, pid: Option<&Expr>) -> fmt::Result {
    match pid {
        Some(pid) => write!(f, "{process}[{pid}]"),
        None => f.write_str(process),
    }
}

fn atoms(f: &mut Formatter<'_>, args: &[Expr]) -> fmt::Result {
    let args: Vec<_> = args.iter().map(Atom).collect();
    List(&args, ", ").fmt(f)
}

fn block(f: &mut Formatter<'_>, block: &[Stmt], depth: usize) -> fmt::Result {
    for (position, stmt) in block.iter().enumerate() {
        indent(f, depth)?;
        statement(f, stmt, depth)?;
        writeln!(f, "{}", if position + 1 < block.len() { ";" } else { "" })?;
    }
    Ok(())
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| f.write_str("  "))
}

fn braces(f: &mut Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
    writeln!(f, "{{")?;
    block(f, body, depth + 1)?;
    indent(f, depth)?;
    f.write_char('}')
}

fn options(f: &mut Formatter<'_>, words: [&str; 2], options: &[Block], depth: usize) -> fmt::Result {
    writeln!(f, "{}", words[0])?;
    for option in options {
        indent(f, depth)?;
        f.write_str(":: ")?;
        let (first, rest) = option.split_first().expect("an option has a statement");
        statement(f, first, depth + 1)?;
        writeln!(f, "{}", if rest.is_empty() { "" } else { " ->" })?;
        block(f, rest, depth + 1)?;
    }
    indent(f, depth)?;
    f.write_str(words[1])
}

fn statement(f: &mut Formatter<'_>, stmt: &Stmt, depth: usize) -> fmt::Result {
    match stmt {
        Stmt::Declare(decl) => decl.fmt(f),
        Stmt::Exclusive(keyword, channel) => write!(f, "{keyword} {channel}"),
        Stmt::Labelled(label, stmt) => {
            write!(f, "{label}: ")?;
            statement(f, stmt, depth)
        }
        Stmt::Assign(place, value) => write!(f, "{place} = {value}"),
        Stmt::Bump(place, op) => write!(f, "{place}{op}"),
        Stmt::Guard(condition) => condition.fmt(f),
        Stmt::Else => f.write_str("else"),
        Stmt::Choice(choices) => options(f, ["if", "fi"], choices, depth),
        Stmt::Loop(choices) => options(f, ["do", "od"], choices, depth),
        Stmt::For { index, over, body } => {
            // Spaces around `..`: a C preprocessor reads `1..N` as one number.
            match over {
                Span::Range(from, to) => write!(f, "for ({index} : {from} .. {to}) ")?,
                Span::Elements(of) => write!(f, "for ({index} in {of}) ")?,
            }
            braces(f, body, depth)
        }
        Stmt::Select { index, from, to } => write!(f, "select ({index} : {from} .. {to})"),
        Stmt::Goto(label) => write!(f, "goto {label}"),
        Stmt::Break => f.write_str("break"),
        Stmt::Group(group, body) => {
            f.write_str(match group {
                Group::Plain => "",
                Group::Atomic => "atomic ",
                Group::DStep => "d_step ",
            })?;
            braces(f, body, depth)
        }
        Stmt::Unless(body, escape) => {
            braces(f, body, depth)?;
            f.write_str(" unless ")?;
            braces(f, escape, depth)
        }
        Stmt::Send { channel, sorted, args } => {
            write!(f, "{channel}{}", if *sorted { "!!" } else { "!" })?;
            match &args[..] {
                // The other notation for a message whose first field is its kind.
                [Expr::Word(kind), rest @ ..] if !rest.is_empty() => {
                    write!(f, "{kind}(")?;
                    atoms(f, rest)?;
                    f.write_char(')')
                }
                _ => atoms(f, args),
            }
        }
        Stmt::Receive { channel, mode, args } => {
            if let (Receive::First, [Pattern::Constant(Expr::Word(kind)), rest @ ..]) = (mode, &args[..])
                && !rest.is_empty()
            {
                return write!(f, "{channel}?{kind}({})", List(rest, ", "));
            }
            let args = List(args, ", ");
            match mode {
                Receive::First => write!(f, "{channel}?{args}"),
                Receive::Any => write!(f, "{channel}??{args}"),
                Receive::PeekFirst => write!(f, "{channel}?<{args}>"),
                Receive::PeekAny => write!(f, "{channel}??<{args}>"),
            }
        }
        Stmt::Print(values) => {
            write!(f, "printf(\"{}\\n\"", vec!["%d"; values.len()].join(" "))?;
            values.iter().try_for_each(|value| write!(f, ", {value}"))?;
            f.write_char(')')
        }
        Stmt::PrintM(value) => write!(f, "printm({value})"),
        Stmt::Assert(condition) => write!(f, "assert({condition})"),
        Stmt::Call { result, name, args } => {
            if let Some(result) = result {
                write!(f, "{result} = ")?;
            }
            write!(f, "{name}(")?;
            atoms(f, args)?;
            f.write_char(')')
        }
        Stmt::Return(value) => write!(f, "return {value}"),
        Stmt::SetPriority(pid, priority) => write!(f, "set_priority({pid}, {priority})"),
    }
}
