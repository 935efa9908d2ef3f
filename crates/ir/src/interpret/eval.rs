//! Evaluates expressions and guards in a state.

use super::layout::{load, store};
use super::{ChannelView, Evaluated, Interpreter, Offer, View};
use crate::{
    Action, Base, BinaryOp, ChannelTest, ChannelType, Enabling, Expr, Location, Pattern, Place, Poll, Receive,
    Scalar, Send,
};
use entail_model::{FaultKind, State};

/// A state with everything that an expression can refer to.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'a> {
    pub interpreter: &'a Interpreter<'a>,
    pub state: &'a State,
    pub view: &'a View,
    /// The process that evaluates.
    pub process: usize,
    /// A claim or a formula evaluates. It is no process: its `_pid` is 0, but it is not process 0.
    pub watches: bool,
    /// Whether no other step is enabled.
    pub timeout: bool,
    /// A message that is offered in a rendezvous: only its receipt is enabled.
    pub offer: Option<&'a Offer>,
    /// The number of the process that the current action started.
    pub started: i32,
    /// The nesting depth of `enabled()`: processes may ask for each other.
    pub asking: u8,
    /// Another edge of the location is enabled. If a process evaluates the `else` of another one through
    /// `enabled()`, SPIN considers the process that evaluates.
    pub moved: bool,
    /// The run has ended, and its last state is evaluated once more.
    pub ended: bool,
}

/// The nesting depth at which `enabled()` is cyclic.
const MAX_ASKING: u8 = 16;

/// The address of a value: in the state, or nowhere (in a process that does not exist), where it reads as 0.
pub(crate) enum Address {
    At(usize),
    Nowhere,
}

impl<'a> Evaluator<'a> {
    pub fn eval(&self, expr: &Expr) -> Evaluated<i32> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Load(place) => match self.find(place)? {
                Address::At(at) => load(self.state, at, place.scalar),
                Address::Nowhere => 0,
            },
            Expr::Unary(op, operand) => op.apply(self.eval(operand)?),
            Expr::Binary(op, operands) => return self.binary(*op, &operands.0, &operands.1),
            Expr::Conditional(parts) => {
                return if self.eval(&parts.0)? != 0 { self.eval(&parts.1) } else { self.eval(&parts.2) };
            }
            Expr::Length(channel) => {
                let number = self.eval(channel)?;
                self.length(number)? as i32
            }
            Expr::Channel(test, channel) => i32::from(self.test(*test, channel)?),
            Expr::Poll(poll) => i32::from(self.poll(poll)?),
            Expr::Myself => self.process as i32,
            Expr::ProcessCount => self.view.processes.len() as i32,
            Expr::Last => self.interpreter.layout.last.map_or(0, |at| i32::from(self.state[at])),
            Expr::Timeout => i32::from(self.timeout),
            Expr::Fault(kind) => return Err(*kind),
            Expr::Started => self.started,
            Expr::Enabled(process) => {
                let number = self.eval(process)?;
                // SPIN's verifier numbers a claim before all processes.
                let own = if self.watches { -1 } else { self.process as i32 };
                if number == own || self.asking >= MAX_ASKING {
                    return Err(FaultKind::SelfReference);
                }
                let (asking, watches) = (self.asking + 1, false);
                let other =
                    self.process_index(number).map(|process| Evaluator { process, asking, watches, ..*self });
                i32::from(other.is_some_and(|other| self.interpreter.could_move(&other)))
            }
            Expr::LocationOf(process) => self.location_of(process)?,
            Expr::At(process, location) => i32::from(self.location_of(process)? == i32::from(location.0)),
            Expr::PriorityOf(process) => {
                let process = self.eval(process)?;
                self.process_index(process).map_or(0, |process| {
                    let start = self.view.processes[process].start;
                    i32::from(self.interpreter.layout.priority(self.state, start))
                })
            }
            Expr::Find(process_type) => {
                let position = self.view.processes.iter().position(|process| process.process_type == *process_type);
                position.map_or(-1, |process| process as i32)
            }
            Expr::NonProgress => i32::from(!self.ended && !self.is_anywhere(|location| location.progress)),
            Expr::Accepting => i32::from(self.is_anywhere(|location| location.accept)),
        })
    }

    /// Whether some process is at such a location.
    fn is_anywhere(&self, such: impl Fn(&Location) -> bool) -> bool {
        self.view.processes.iter().any(|process| {
            let process_type = self.interpreter.system.process_type(process.process_type);
            such(&process_type.locations[process.location.index()])
        })
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Evaluated<i32> {
        let left = self.eval(left)?;
        match op {
            BinaryOp::And if left == 0 => return Ok(0),
            BinaryOp::Or if left != 0 => return Ok(1),
            _ => {}
        }
        let right = self.eval(right)?;
        op.apply(left, right).ok_or(FaultKind::DivisionByZero)
    }

    /// The address of a place in the state.
    pub fn find(&self, place: &Place) -> Evaluated<Address> {
        let base = match &place.base {
            Base::Global => self.interpreter.layout.globals,
            Base::Local => self.view.processes[self.process].locals,
            Base::Nowhere => return self.index_offset(place).map(|_| Address::Nowhere),
            Base::Remote(process, process_type) => {
                let process = self.eval(process)?;
                let process = self.process_index(process).map(|process| self.view.processes[process]);
                match process.filter(|process| process.process_type == *process_type) {
                    Some(process) => process.locals,
                    None => return Ok(Address::Nowhere),
                }
            }
        };
        Ok(Address::At(base + place.offset as usize + self.index_offset(place)?))
    }

    /// The offset that the indices of the place add.
    fn index_offset(&self, place: &Place) -> Evaluated<usize> {
        let mut offset = 0;
        for index in &place.indices {
            let value = self.eval(&index.value)?;
            if value < 0 || value >= index.len as i32 {
                return Err(FaultKind::Index);
            }
            offset += value as usize * index.stride as usize;
        }
        Ok(offset)
    }

    fn location_of(&self, process: &Expr) -> Evaluated<i32> {
        let process = self.eval(process)?;
        Ok(self.process_index(process).map_or(0, |process| i32::from(self.view.processes[process].location.0)))
    }

    pub fn process_index(&self, number: i32) -> Option<usize> {
        usize::try_from(number).ok().filter(|&process| process < self.view.processes.len())
    }

    /// Whether the action is enabled. Not for `Else`.
    pub fn possible(&self, action: &Action) -> Evaluated<bool> {
        match action.enabling() {
            Enabling::Receive(receive) => Ok(self.matching(receive)?.is_some()),
            Enabling::AnyOf(actions) => self.any_possible(actions),
            _ if self.offer.is_some() => Ok(false),
            Enabling::Condition(condition) => Ok(self.eval(condition)? != 0),
            Enabling::Send(send) => {
                let number = self.eval(&send.channel)?;
                Ok(!self.is_full(number)? && self.holds(send.when.as_ref())?)
            }
            Enabling::Youngest => Ok(self.process + 1 == self.view.processes.len()),
            Enabling::Always | Enabling::Else => Ok(true),
        }
    }

    fn any_possible(&self, actions: &[Action]) -> Evaluated<bool> {
        for action in actions {
            if self.possible(action)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The slot of the message that the receive would take.
    pub fn matching(&self, receive: &Receive) -> Evaluated<Option<usize>> {
        let number = self.eval(&receive.channel)?;
        let channel = self.channel(number)?;
        let rendezvous = self.channel_type_of(channel).is_rendezvous();
        match self.offer {
            Some(offer) => {
                // The receiver finds that there is no message.
                let Ok(fields) = &offer.fields else { return Ok((offer.channel == number).then_some(0)) };
                let field = |i: usize| fields.get(i).copied();
                let accepted = offer.channel == number
                    && self.fits(&receive.fields, field)?
                    && self.holds_afterwards(receive, field)?;
                Ok(accepted.then_some(0))
            }
            None if rendezvous && receive.keep => Err(FaultKind::Rendezvous),
            None => match self.search(channel, &receive.fields, receive.anywhere)? {
                Some(slot) => {
                    let holds = self.holds_afterwards(receive, |field| self.field(channel, slot, field))?;
                    Ok(holds.then_some(slot))
                }
                None => Ok(None),
            },
        }
    }

    fn holds(&self, condition: Option<&Expr>) -> Evaluated<bool> {
        condition.map_or(Ok(true), |condition| Ok(self.eval(condition)? != 0))
    }

    /// Whether the condition of a receive holds after the message has been stored, tried on a copy.
    fn holds_afterwards(&self, receive: &Receive, field: impl Fn(usize) -> Option<i32>) -> Evaluated<bool> {
        let Some(condition) = &receive.when else { return Ok(true) };
        let mut state = self.state.to_vec();
        for (i, pattern) in receive.fields.iter().enumerate() {
            if let Pattern::Store(place) = pattern {
                let value = place.scalar.stored(field(i).unwrap_or(0))?;
                if let Address::At(at) = (Evaluator { state: &state, ..*self }).find(place)? {
                    store(&mut state, at, place.scalar, value);
                }
            }
        }
        Evaluator { state: &state, offer: None, ..*self }.holds(Some(condition))
    }

    /// The first slot with a matching message; without `anywhere`, only slot 0 is considered.
    fn search(&self, channel: ChannelView, fields: &[Pattern], anywhere: bool) -> Evaluated<Option<usize>> {
        let length = self.interpreter.layout.channel_length(self.state, channel);
        let candidates = if anywhere { length } else { length.min(1) };
        for slot in 0..candidates {
            if self.fits(fields, |field| self.field(channel, slot, field))? {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    pub fn fits(&self, patterns: &[Pattern], field: impl Fn(usize) -> Option<i32>) -> Evaluated<bool> {
        for (i, pattern) in patterns.iter().enumerate() {
            if let Pattern::Equal(expected) = pattern
                && field(i).unwrap_or(0) != self.eval(expected)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A field of a message in a buffer; `None` if messages have no such field.
    pub fn field(&self, channel: ChannelView, slot: usize, field: usize) -> Option<i32> {
        let fields = &self.channel_type_of(channel).fields;
        let scalar = *fields.get(field)?;
        let before: u32 = fields[..field].iter().map(|field| field.size()).sum();
        Some(load(self.state, self.interpreter.layout.message(channel, slot) + before as usize, scalar))
    }

    fn poll(&self, poll: &Poll) -> Evaluated<bool> {
        let number = self.eval(&poll.channel)?;
        let channel = self.channel(number)?;
        if self.channel_type_of(channel).is_rendezvous() {
            return Err(FaultKind::Rendezvous);
        }
        Ok(self.search(channel, &poll.fields, poll.anywhere)?.is_some())
    }

    fn test(&self, test: ChannelTest, channel: &Expr) -> Evaluated<bool> {
        let number = self.eval(channel)?;
        Ok(match test {
            ChannelTest::Full => self.is_full(number)?,
            ChannelTest::NotFull => !self.is_full(number)?,
            ChannelTest::Empty => self.length(number)? == 0,
            ChannelTest::NotEmpty => self.length(number)? > 0,
        })
    }

    /// A rendezvous channel is full only while a message is being passed.
    pub fn is_full(&self, number: i32) -> Evaluated<bool> {
        let channel = self.channel(number)?;
        let capacity = usize::from(self.channel_type_of(channel).capacity).max(1);
        Ok(self.length(number)? >= capacity)
    }

    fn length(&self, number: i32) -> Evaluated<usize> {
        let channel = self.channel(number)?;
        if self.offer.is_some_and(|offer| offer.channel == number) {
            return Ok(1);
        }
        Ok(self.interpreter.layout.channel_length(self.state, channel))
    }

    pub fn channel(&self, number: i32) -> Evaluated<ChannelView> {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| self.view.channels.get(index)).copied().ok_or(FaultKind::NoChannel)
    }

    pub fn channel_type(&self, channel: &Expr) -> Evaluated<&'a ChannelType> {
        let number = self.eval(channel)?;
        Ok(self.channel_type_of(self.channel(number)?))
    }

    pub fn channel_type_of(&self, channel: ChannelView) -> &'a ChannelType {
        &self.interpreter.system.channel_types[channel.channel_type.index()]
    }

    /// The message that a send through a rendezvous channel offers.
    pub fn offer_of(&self, send: &Send) -> Evaluated<Offer> {
        let number = self.eval(&send.channel)?;
        let types = &self.channel_type_of(self.channel(number)?).fields;
        let fields = send.fields.iter().zip(types);
        let fields = fields.map(|(field, scalar)| scalar.stored(self.eval(field)?)).collect::<Evaluated<Vec<_>>>();
        if !self.interpreter.system.lazy_messages {
            fields.as_ref().map_err(|kind| *kind)?;
        }
        let fields = fields.map(|mut fields| {
            fields.resize(types.len(), 0);
            fields
        });
        Ok(Offer { channel: number, fields })
    }
}

impl Scalar {
    /// Whether a value may be stored.
    pub(crate) fn check(self, value: i32) -> Evaluated<()> {
        let fits = self.range.is_none_or(|range| range.contains(value));
        if fits { Ok(()) } else { Err(FaultKind::Range) }
    }

    /// The value after it has been stored.
    pub(crate) fn stored(self, value: i32) -> Evaluated<i32> {
        self.check(value).map(|()| self.truncate(value))
    }
}
