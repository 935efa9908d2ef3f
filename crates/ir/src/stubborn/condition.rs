//! The guards of a move, as far as they can be evaluated on the numbers of a state.

use crate::footprint::{FootprintAnalysis, Known, Object, Part, Span};
use crate::interpret::{ChannelLayout, Layout, ProcessVector};
use crate::{
    Action, Base, BinaryOp, ChannelType, ChannelTypeId, Enabling, Expr, Pattern, Place, ProcessTypeId, Scalar,
    System, UnaryOp,
};

/// A conjunct of the condition under which a move is enabled.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// The term is not 0.
    True(Term),
    /// The channel whose length is here has fewer messages than its capacity.
    Room { length: Number, capacity: i32 },
    /// The channel has a message.
    Message { length: Number },
    /// The first message, if there is one, has this value in a field.
    First { length: Number, field: Number, value: Term },
}

/// An expression over the numbers of the states of one process vector.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Const(i32),
    Number(Number),
    /// An element of an array of `len` elements.
    Element {
        first: Number,
        stride: u32,
        len: i32,
        index: Box<Term>,
    },
    Unary(UnaryOp, Box<Term>),
    Binary(BinaryOp, Box<(Term, Term)>),
}

/// A number in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    at: u32,
    scalar: Scalar,
}

/// Reads numbers of a state, given where they begin and how many bytes they take.
pub trait StateReader {
    fn number(&self, at: u32, bytes: u8) -> u32;
}

impl Number {
    fn of(self, reader: &impl StateReader) -> i32 {
        let bits = reader.number(self.at, self.scalar.size() as u8) as i32;
        if self.scalar.signed { self.scalar.truncate(bits) } else { bits }
    }
}

impl Term {
    fn value(&self, reader: &impl StateReader) -> Option<i32> {
        match self {
            Term::Const(value) => Some(*value),
            Term::Number(number) => Some(number.of(reader)),
            Term::Element { first, stride, len, index } => {
                let index = index.value(reader).filter(|index| (0..*len).contains(index))?;
                Some(Number { at: first.at + index as u32 * stride, ..*first }.of(reader))
            }
            Term::Unary(op, operand) => Some(op.apply(operand.value(reader)?)),
            Term::Binary(BinaryOp::And, operands) if operands.0.value(reader)? == 0 => Some(0),
            Term::Binary(BinaryOp::Or, operands) if operands.0.value(reader)? != 0 => Some(1),
            Term::Binary(op, operands) => op.apply(operands.0.value(reader)?, operands.1.value(reader)?),
        }
    }
}

impl Condition {
    /// Whether it is certainly false.
    pub fn fails(&self, reader: &impl StateReader) -> bool {
        match self {
            Condition::True(term) => term.value(reader) == Some(0),
            Condition::Room { length, capacity } => length.of(reader) >= *capacity,
            Condition::Message { length } => length.of(reader) == 0,
            Condition::First { length, field, value } => {
                length.of(reader) > 0 && value.value(reader).is_some_and(|value| value != field.of(reader))
            }
        }
    }
}

/// A guard, and what it reads.
pub(super) struct GuardReads {
    pub condition: Condition,
    pub objects: Vec<Object>,
    /// The locals of the process itself among them.
    pub own: Vec<Object>,
    /// The comparison of one number with a constant, if the guard is one.
    pub compared: Option<(Place, BinaryOp, i32)>,
}

/// The process whose guards are computed.
pub(super) struct GuardContext<'a> {
    pub system: &'a System,
    pub analysis: &'a FootprintAnalysis<'a>,
    pub layout: &'a Layout,
    pub vector: &'a ProcessVector,
    pub process: usize,
    pub known: Known<'a>,
}

impl GuardContext<'_> {
    pub fn of(&self) -> ProcessTypeId {
        ProcessTypeId(self.vector.types[self.process] as u16)
    }

    /// The guards of an action, as far as they are known.
    pub fn conditions(&self, action: &Action) -> Vec<GuardReads> {
        match action.enabling() {
            Enabling::Condition(condition) => self.conjuncts(condition),
            Enabling::Send(send) => {
                let queue = self.queue(&send.channel);
                let mut all: Vec<_> = queue.iter().map(Queue::room).collect();
                all.extend(send.when.iter().flat_map(|condition| self.conjuncts(condition)));
                all
            }
            Enabling::Receive(receive) => {
                let Some(queue) = self.queue(&receive.channel) else { return Vec::new() };
                let mut all = vec![queue.message()];
                if !receive.anywhere {
                    let equals = (0..).zip(&receive.fields).filter_map(|(field, pattern)| match pattern {
                        Pattern::Equal(expr) if !expr.may_fault() => {
                            let reads = self.analysis.reads(expr, self.of(), self.known);
                            queue.first(field, self.term(expr)?, reads)
                        }
                        Pattern::Equal(_) | Pattern::Store(_) | Pattern::Ignore => None,
                    });
                    all.extend(equals);
                }
                all
            }
            Enabling::AnyOf([only]) => self.conditions(only),
            Enabling::AnyOf(_) | Enabling::Always | Enabling::Else | Enabling::Youngest => Vec::new(),
        }
    }

    /// The conjuncts of a condition, up to the first that may fault. The rest is not needed: a condition that faults
    /// counts as true.
    fn conjuncts(&self, condition: &Expr) -> Vec<GuardReads> {
        let parts = condition.conjuncts();
        let sound = parts.iter().position(|part| part.may_fault()).map_or(parts.len(), |at| at + 1);
        let guard_reads = |part: &&Expr| {
            let (objects, own) = self.analysis.reads(part, self.of(), self.known);
            let condition = Condition::True(self.term(part)?);
            Some(GuardReads { condition, objects, own, compared: compared(part) })
        };
        parts[..sound].iter().filter_map(guard_reads).collect()
    }

    /// The buffered channel that an expression always denotes.
    fn queue(&self, channel: &Expr) -> Option<Queue<'_>> {
        let Span { from, to } = self.analysis.channels(channel, self.of(), self.known);
        let index = from.checked_sub(1).filter(|_| to == from + 1)? as usize;
        let of = ChannelTypeId(*self.vector.channel_types.get(index)? as u16);
        let ChannelLayout { length_bytes, .. } = self.layout.channel(of);
        let start = self.vector.channel_starts[index];
        let length = Number { at: start, scalar: Scalar::unsigned(8 * length_bytes as u8) };
        let of = &self.system.channel_types[of.index()];
        (length_bytes > 0).then_some(Queue { number: from, length, first: start + length_bytes as u32, of })
    }

    fn term(&self, expr: &Expr) -> Option<Term> {
        Some(match expr {
            Expr::Const(value) => Term::Const(*value),
            Expr::Myself => Term::Const(self.process as i32),
            Expr::Load(place) => self.place(place)?,
            Expr::Unary(op, operand) => Term::Unary(*op, Box::new(self.term(operand)?)),
            Expr::Binary(op, operands) => {
                Term::Binary(*op, Box::new((self.term(&operands.0)?, self.term(&operands.1)?)))
            }
            _ => return None,
        })
    }

    fn place(&self, place: &Place) -> Option<Term> {
        let frame = match place.base {
            Base::Global => self.layout.globals() as u32,
            Base::Local => self.vector.starts[self.process] + self.layout.process_header as u32,
            Base::Remote(..) | Base::Nowhere => return None,
        };
        let first = Number { at: frame + place.offset, scalar: place.scalar };
        match &place.indices[..] {
            [] => Some(Term::Number(first)),
            [index] => Some(Term::Element {
                first,
                stride: index.stride,
                len: index.len as i32,
                index: Box::new(self.term(&index.value)?),
            }),
            _ => None,
        }
    }
}

/// A buffered channel.
struct Queue<'a> {
    number: u32,
    length: Number,
    /// The offset of the first message.
    first: u32,
    of: &'a ChannelType,
}

impl Queue<'_> {
    /// `part` is the part of the channel whose change can make the guard true.
    fn guard_reads(&self, condition: Condition, part: Part) -> GuardReads {
        let objects = vec![Object::Channels(Span::one(self.number), part)];
        GuardReads { condition, objects, own: Vec::new(), compared: None }
    }

    fn room(&self) -> GuardReads {
        self.guard_reads(
            Condition::Room { length: self.length, capacity: i32::from(self.of.capacity) },
            Part::Front,
        )
    }

    fn message(&self) -> GuardReads {
        self.guard_reads(Condition::Message { length: self.length }, Part::Back)
    }

    fn first(&self, field: usize, value: Term, looks: (Vec<Object>, Vec<Object>)) -> Option<GuardReads> {
        let scalar = *self.of.fields.get(field)?;
        let before: u32 = self.of.fields[..field].iter().map(|scalar| scalar.size()).sum();
        let field = Number { at: self.first + before, scalar };
        let mut guard_reads = self.guard_reads(Condition::First { length: self.length, field, value }, Part::Front);
        guard_reads.objects.extend(looks.0);
        guard_reads.own = looks.1;
        Some(guard_reads)
    }
}

/// A comparison of one number with a constant.
fn compared(condition: &Expr) -> Option<(Place, BinaryOp, i32)> {
    let (place, op, value) = match condition {
        Expr::Load(place) => (place, BinaryOp::Ne, 0),
        Expr::Unary(UnaryOp::Not, operand) => match &**operand {
            Expr::Load(place) => (place, BinaryOp::Eq, 0),
            _ => return None,
        },
        Expr::Binary(
            op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge),
            operands,
        ) => match (&operands.0, operands.1.constant()) {
            (Expr::Load(place), Some(value)) => (place, *op, value),
            _ => return None,
        },
        _ => return None,
    };
    let is_exact = place.indices.iter().all(|index| index.value.constant().is_some());
    is_exact.then(|| ((**place).clone(), op, value))
}
