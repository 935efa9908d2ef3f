//! What a move waits for, as far as it can be seen in a state without taking the move.

use crate::footprint::{Known, Object, Part, Span, Surveyor};
use crate::interpret::{ChannelLayout, Layout, Outline};
use crate::{
    Action, Base, BinaryOp, ChannelType, ChannelTypeId, Enabling, Expr, Pattern, Place, ProcessTypeId, Scalar,
    System, UnaryOp,
};

/// Something that must hold for a move to be possible.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// The term is not 0.
    True(Term),
    /// The channel whose length is here has less than so many messages.
    Room { length: Number, capacity: i32 },
    /// It has some.
    Message { length: Number },
    /// The first one, if there is one, has this value in a field.
    First { length: Number, field: Number, value: Term },
}

/// An expression over the numbers of states of one outline.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Const(i32),
    Number(Number),
    /// The element with this number, of so many that lie one after the other.
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

/// How the numbers of a state are read: where one begins, and how many bytes it has.
pub trait Sight {
    fn number(&self, at: u32, bytes: u8) -> u32;
}

impl Number {
    fn of(self, sight: &impl Sight) -> i32 {
        let bits = sight.number(self.at, self.scalar.size() as u8) as i32;
        if self.scalar.signed { self.scalar.truncate(bits) } else { bits }
    }
}

impl Term {
    fn value(&self, sight: &impl Sight) -> Option<i32> {
        match self {
            Term::Const(value) => Some(*value),
            Term::Number(number) => Some(number.of(sight)),
            Term::Element { first, stride, len, index } => {
                let index = index.value(sight).filter(|index| (0..*len).contains(index))?;
                Some(Number { at: first.at + index as u32 * stride, ..*first }.of(sight))
            }
            Term::Unary(op, operand) => Some(op.apply(operand.value(sight)?)),
            Term::Binary(BinaryOp::And, operands) if operands.0.value(sight)? == 0 => Some(0),
            Term::Binary(BinaryOp::Or, operands) if operands.0.value(sight)? != 0 => Some(1),
            Term::Binary(op, operands) => op.apply(operands.0.value(sight)?, operands.1.value(sight)?),
        }
    }
}

impl Condition {
    /// Whether it certainly does not hold.
    pub fn fails(&self, sight: &impl Sight) -> bool {
        match self {
            Condition::True(term) => term.value(sight) == Some(0),
            Condition::Room { length, capacity } => length.of(sight) >= *capacity,
            Condition::Message { length } => length.of(sight) == 0,
            Condition::First { length, field, value } => {
                length.of(sight) > 0 && value.value(sight).is_some_and(|value| value != field.of(sight))
            }
        }
    }
}

/// A condition, and what it looks at.
pub(super) struct Looking {
    pub condition: Condition,
    pub objects: Vec<Object>,
    /// Of these, locals of the process itself.
    pub own: Vec<Object>,
    /// The one number that it compares with a constant, if it does no more than that.
    pub compared: Option<(Place, BinaryOp, i32)>,
}

/// Who the conditions are about.
pub(super) struct Seat<'a> {
    pub system: &'a System,
    pub surveyor: &'a Surveyor<'a>,
    pub layout: &'a Layout,
    pub outline: &'a Outline,
    pub process: usize,
    pub known: Known<'a>,
}

impl Seat<'_> {
    pub fn of(&self) -> ProcessTypeId {
        ProcessTypeId(self.outline.types[self.process] as u16)
    }

    /// All that must hold for an action to be possible, as far as it can be said.
    pub fn conditions(&self, action: &Action) -> Vec<Looking> {
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
                            let looks = self.surveyor.looks(expr, self.of(), self.known);
                            queue.first(field, self.term(expr)?, looks)
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

    /// The parts of a condition that must all hold. Those behind one that may have no value are left out: without a value,
    /// a condition counts as true, whatever comes behind.
    fn conjuncts(&self, condition: &Expr) -> Vec<Looking> {
        let parts = condition.conjuncts();
        let sound = parts.iter().position(|part| part.may_fault()).map_or(parts.len(), |at| at + 1);
        let looking = |part: &&Expr| {
            let (objects, own) = self.surveyor.looks(part, self.of(), self.known);
            let condition = Condition::True(self.term(part)?);
            Some(Looking { condition, objects, own, compared: compared(part) })
        };
        parts[..sound].iter().filter_map(looking).collect()
    }

    /// The channel that an expression always stands for, if messages wait there.
    fn queue(&self, channel: &Expr) -> Option<Queue<'_>> {
        let Span { from, to } = self.surveyor.channels(channel, self.of(), self.known);
        let index = from.checked_sub(1).filter(|_| to == from + 1)? as usize;
        let of = ChannelTypeId(*self.outline.channel_types.get(index)? as u16);
        let ChannelLayout { length_bytes, .. } = self.layout.channel(of);
        let start = self.outline.channel_starts[index];
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
            Base::Local => self.outline.starts[self.process] + self.layout.process_header as u32,
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

/// A channel where messages wait.
struct Queue<'a> {
    number: u32,
    length: Number,
    /// Where the first message begins.
    first: u32,
    of: &'a ChannelType,
}

impl Queue<'_> {
    /// `part` is what changes a condition for the better.
    fn looking(&self, condition: Condition, part: Part) -> Looking {
        let objects = vec![Object::Channels(Span::one(self.number), part)];
        Looking { condition, objects, own: Vec::new(), compared: None }
    }

    fn room(&self) -> Looking {
        self.looking(Condition::Room { length: self.length, capacity: i32::from(self.of.capacity) }, Part::Front)
    }

    fn message(&self) -> Looking {
        self.looking(Condition::Message { length: self.length }, Part::Back)
    }

    fn first(&self, field: usize, value: Term, looks: (Vec<Object>, Vec<Object>)) -> Option<Looking> {
        let scalar = *self.of.fields.get(field)?;
        let before: u32 = self.of.fields[..field].iter().map(|scalar| scalar.size()).sum();
        let field = Number { at: self.first + before, scalar };
        let mut looking = self.looking(Condition::First { length: self.length, field, value }, Part::Front);
        looking.objects.extend(looks.0);
        looking.own = looks.1;
        Some(looking)
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
