//! What a move waits for, as far as it can be seen in a state without taking the move.

use crate::footprint::{Object, Part, Span, Surveyor};
use crate::interpret::{Layout, Outline};
use crate::{Action, Base, BinaryOp, Entry, Expr, Place, ProcessTypeId, Scalar, System, UnaryOp};

/// Something that must hold for a move to be possible.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// The term is not 0.
    True(Term),
    /// The channel whose length is here has less than so many messages.
    Room { length: Number, capacity: i32 },
    /// It has some.
    Message { length: Number },
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
        }
    }
}

/// A condition, and what it looks at.
pub(super) struct Looking {
    pub condition: Condition,
    pub objects: Vec<Object>,
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
}

impl Seat<'_> {
    fn of(&self) -> ProcessTypeId {
        ProcessTypeId(self.outline.types[self.process] as u16)
    }

    /// All that must hold for an action to be possible, as far as it can be said.
    pub fn conditions(&self, action: &Action) -> Vec<Looking> {
        match action {
            Action::Guard(condition) => self.conjuncts(condition),
            Action::Send(send) => {
                let mut all = self.channel(&send.channel, Part::Front, |length, capacity| Condition::Room {
                    length,
                    capacity: i32::from(capacity),
                });
                all.extend(send.when.iter().flat_map(|condition| self.conjuncts(condition)));
                all
            }
            Action::Receive(receive) => {
                self.channel(&receive.channel, Part::Back, |length, _| Condition::Message { length })
            }
            Action::Deterministic(block) => match &block.entry {
                Entry::AnyOf(actions) => match &actions[..] {
                    [only] => self.conditions(only),
                    _ => Vec::new(),
                },
                Entry::Always | Entry::Otherwise => Vec::new(),
            },
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End => Vec::new(),
        }
    }

    /// The parts of a condition that must all hold. Those behind one that may have no value are left out: without a value,
    /// a condition counts as true, whatever comes behind.
    fn conjuncts(&self, condition: &Expr) -> Vec<Looking> {
        let mut parts = Vec::new();
        split(condition, &mut parts);
        let sound = parts.iter().position(|part| part.may_fault()).map_or(parts.len(), |at| at + 1);
        let looking = |part: &&Expr| {
            let objects = self.surveyor.looks(part, self.of(), Some(self.process as i32));
            let condition = Condition::True(self.term(part)?);
            Some(Looking { condition, objects, compared: compared(part) })
        };
        parts[..sound].iter().filter_map(looking).collect()
    }

    /// Something about the length of a channel that is always the same. `part` is what changes it for the better.
    fn channel(&self, channel: &Expr, part: Part, condition: impl Fn(Number, u16) -> Condition) -> Vec<Looking> {
        let Span { from, to } = self.surveyor.channels(channel, self.of());
        let found = from
            .checked_sub(1)
            .map(|index| index as usize)
            .filter(|index| to == from + 1 && *index < self.layout.global_channels.len());
        let Some(index) = found else { return Vec::new() };
        let of = self.layout.global_channels[index];
        let bytes = self.layout.channel(of).length_bytes;
        if bytes == 0 {
            return Vec::new();
        }
        let length = Number { at: self.outline.channel_starts[index], scalar: Scalar::unsigned(8 * bytes as u8) };
        let condition = condition(length, self.system.channel_types[of.index()].capacity);
        let objects = vec![Object::Channels(Span { from, to }, part)];
        vec![Looking { condition, objects, compared: None }]
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

/// The parts of a conjunction, in the order in which they are evaluated.
fn split<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Binary(BinaryOp::And, both) => {
            split(&both.0, parts);
            split(&both.1, parts);
        }
        other => parts.push(other),
    }
}

/// A comparison of one number with a constant.
fn compared(condition: &Expr) -> Option<(Place, BinaryOp, i32)> {
    let Expr::Binary(op, operands) = condition else { return None };
    let is_comparison =
        matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
    let (Expr::Load(place), Some(value)) = (&operands.0, operands.1.constant()) else { return None };
    let is_exact = place.indices.iter().all(|index| index.value.constant().is_some());
    (is_comparison && is_exact).then(|| ((**place).clone(), *op, value))
}
