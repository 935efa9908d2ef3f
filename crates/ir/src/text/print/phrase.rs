//! Prints the parts of a line: actions, expressions, places and shapes.

use super::{Name, Priority, Shown, write_if};
use crate::text::lex::quote;
use crate::text::names::{Names, Step};
use crate::{Action, Base, Entry, Expr, Field, Meaning, Pattern, Place, ProcessTypeId, Range, Scalar, Shape};
use entail_model::Named;
use std::fmt::{self, Display, Formatter};

impl Display for Shown<'_, Action> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.item {
            Action::Skip => f.write_str("skip"),
            Action::Guard(condition) => write!(f, "when {}", names.show(condition)),
            Action::Else => f.write_str("else"),
            Action::Assign(place, value) => write!(f, "{} = {}", names.show(&**place), names.show(value)),
            Action::Send(send) => {
                let symbol = if send.sorted { "!!" } else { "!" };
                write!(f, "{} {symbol} ({})", names.operand(&send.channel), names.show(&send.fields[..]))?;
                write_condition(f, names, &send.when)
            }
            Action::Receive(receive) => {
                write_receive(f, names, &receive.channel, receive.anywhere, &receive.fields)?;
                write_if(f, receive.keep, " keep")?;
                write_condition(f, names, &receive.when)
            }
            Action::Assert(condition) => write!(f, "assert {}", names.show(condition)),
            Action::Print(text, values) => {
                write!(f, "print {}", quote(text))?;
                write_if(f, !values.is_empty(), format_args!(" ({})", names.show(&values[..])))
            }
            Action::PrintName(value) => write!(f, "printname {}", names.show(value)),
            Action::SetPriority(parts) => {
                write!(f, "priority({}) = {}", names.show(&parts.0), names.show(&parts.1))
            }
            Action::Run(run, then) => {
                let args = names.show(&run.args[..]);
                write!(f, "run {}({args}){}", names.show(&run.process_type), Priority(run.priority))?;
                write!(f, " then {}", names.show(&**then))
            }
            Action::End => f.write_str("end"),
            Action::Deterministic(block) => f.write_str(match block.entry {
                Entry::Always => "deterministic always",
                Entry::Otherwise => "deterministic otherwise",
                Entry::AnyOf(_) => "deterministic",
            }),
        }
    }
}

fn write_condition(f: &mut Formatter<'_>, names: Names, condition: &Option<Expr>) -> fmt::Result {
    condition.iter().try_for_each(|condition| write!(f, " when {}", names.show(condition)))
}

fn write_receive(
    f: &mut Formatter<'_>,
    names: Names,
    channel: &Expr,
    anywhere: bool,
    fields: &[Pattern],
) -> fmt::Result {
    let symbol = if anywhere { "??" } else { "?" };
    write!(f, "{} {symbol} ({})", names.operand(channel), names.show(fields))
}

impl Display for Shown<'_, Pattern> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item {
            Pattern::Store(place) => self.names.show(place).fmt(f),
            Pattern::Equal(value) => write!(f, "== {}", self.names.operand(value)),
            Pattern::Ignore => f.write_str("_"),
        }
    }
}

impl Display for Shown<'_, Expr> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.item {
            Expr::Const(value) => value.fmt(f),
            Expr::Load(place) => names.show(&**place).fmt(f),
            Expr::Unary(op, operand) => {
                let symbol = op.symbol();
                // `-5` is the number, `-(5)` the operation.
                if let Expr::Const(value) = &**operand {
                    write!(f, "{symbol}({value})")
                } else {
                    write!(f, "{symbol}{}", names.operand(operand))
                }
            }
            Expr::Binary(op, sides) => {
                let (left, right) = &**sides;
                let continues = matches!(left, Expr::Binary(before, _) if before == op);
                if continues { names.show(left).fmt(f) } else { names.operand(left).fmt(f) }?;
                write!(f, " {} {}", op.symbol(), names.operand(right))
            }
            Expr::Conditional(parts) => {
                let (condition, yes, no) = &**parts;
                write!(f, "{} ? {} : {}", names.operand(condition), names.operand(yes), names.operand(no))
            }
            Expr::Length(channel) => write!(f, "len({})", names.show(&**channel)),
            Expr::Channel(test, channel) => {
                write!(f, "{}({})", test.name(), names.show(&**channel))
            }
            Expr::Poll(poll) => {
                f.write_str("poll(")?;
                write_receive(f, names, &poll.channel, poll.anywhere, &poll.fields)?;
                f.write_str(")")
            }
            Expr::Myself => f.write_str("_self"),
            Expr::ProcessCount => f.write_str("_processes"),
            Expr::Last => f.write_str("_last"),
            Expr::Timeout => f.write_str("_timeout"),
            Expr::Started => f.write_str("_started"),
            Expr::Enabled(process) => write!(f, "enabled({})", names.show(&**process)),
            Expr::LocationOf(process) => write!(f, "location({})", names.show(&**process)),
            Expr::At(process, location) => write!(f, "at({}, {location})", names.show(&**process)),
            Expr::PriorityOf(process) => write!(f, "priority({})", names.show(&**process)),
            Expr::Find(process_type) => write!(f, "find({})", names.show(process_type)),
            Expr::NonProgress => f.write_str("_nonprogress"),
            Expr::Accepting => f.write_str("_accepting"),
            Expr::Fault(kind) => write!(f, "fault({})", kind.name()),
        }
    }
}

/// An expression as a part of a larger one.
pub(super) struct Operand<'a>(Shown<'a, Expr>);

impl<'a> Names<'a> {
    pub(super) fn operand(self, item: &'a Expr) -> Operand<'a> {
        Operand(self.show(item))
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.item {
            Expr::Binary(..) | Expr::Conditional(_) => write!(f, "({})", self.0),
            Expr::Const(_)
            | Expr::Load(_)
            | Expr::Unary(..)
            | Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Started
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Find(_)
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Fault(_) => self.0.fmt(f),
        }
    }
}

impl Display for Shown<'_, Place> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown { names, item: place } = *self;
        let Some(path) = names.path(place) else { return write_position(f, names, place) };
        match &place.base {
            Base::Global | Base::Local | Base::Nowhere => {}
            Base::Remote(process, of) => write!(f, "{}({}).", names.show(of), names.show(&**process))?,
        }
        Name(path.name).fmt(f)?;
        let mut indices = place.indices.iter();
        for step in path.steps {
            match step {
                Step::Field(name) => write!(f, ".{}", Name(name))?,
                Step::Constant(at) => write!(f, "[{at}]")?,
                Step::Computed => match indices.next().map(|index| &index.value) {
                    Some(Expr::Const(value)) => write!(f, "[({value})]")?,
                    Some(value) => write!(f, "[{}]", names.show(value))?,
                    None => {}
                },
            }
        }
        Ok(())
    }
}

/// A place that cannot be written by name.
fn write_position(f: &mut Formatter<'_>, names: Names, place: &Place) -> fmt::Result {
    match &place.base {
        Base::Global => f.write_str("global")?,
        Base::Local => f.write_str("local")?,
        Base::Remote(process, of) => write!(f, "{}({})", names.show(of), names.show(&**process))?,
        Base::Nowhere => f.write_str("nowhere")?,
    }
    write!(f, "[{}]", place.offset)?;
    for index in &place.indices {
        write!(f, "[{} of {} by {}]", names.show(&index.value), index.len, index.stride)?;
    }
    write!(f, ":{}", names.show(&place.scalar))
}

impl Display for Shown<'_, Shape> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item {
            Shape::Scalar(scalar) => self.names.show(scalar).fmt(f),
            Shape::Array { element, len } => write!(f, "[{}; {len}]", self.names.show(&**element)),
            Shape::Record { fields, size } => write!(f, "record {size} {{ {} }}", self.names.show(&fields[..])),
        }
    }
}

impl Display for Shown<'_, Field> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Field { name, offset, shape } = self.item;
        write!(f, "{}: {} at {offset}", Name(name), self.names.show(shape))
    }
}

impl Display for Shown<'_, Scalar> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Scalar { bits, signed, range, meaning } = *self.item;
        write!(f, "{}{bits}", if signed { 'i' } else { 'u' })?;
        range.iter().try_for_each(|Range { low, high }| write!(f, "[{low}, {high}]"))?;
        match meaning {
            Meaning::Number => Ok(()),
            Meaning::Boolean => f.write_str("(bool)"),
            Meaning::Channel => f.write_str("(chan)"),
            Meaning::Process => f.write_str("(pid)"),
            Meaning::Thread => f.write_str("(tid)"),
            Meaning::Enumeration(id) => {
                let enumeration = self.names.system.enumerations.get(id.index());
                let name = enumeration.map(|enumeration| enumeration.name.as_str());
                match name.filter(|name| self.names.enumeration(name) == Some(id)) {
                    Some(name) => write!(f, "({})", Name(name)),
                    None => write!(f, "(#{})", id.0),
                }
            }
        }
    }
}

impl Display for Shown<'_, ProcessTypeId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let id = *self.item;
        let name = self.names.system.process_types.get(id.index()).map(|process| process.name.as_str());
        match name.filter(|name| self.names.process_type(name) == Some(id)) {
            Some(name) => Name(name).fmt(f),
            None => write!(f, "#{}", id.0),
        }
    }
}

impl<'a, T> Display for Shown<'a, [T]>
where
    Shown<'a, T>: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, item) in self.item.iter().enumerate() {
            write_if(f, position > 0, ", ")?;
            self.names.show(item).fmt(f)?;
        }
        Ok(())
    }
}
