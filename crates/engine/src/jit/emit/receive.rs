//! Receiving and polling.

use super::channel::Channel;
use super::number::{Number, Offset};
use super::offer::offset as offer_offset;
use super::{Emitter, Env};
use crate::jit::by_interpreter::Helper;
use crate::jit::code::Callee;
use crate::jit::context::{Context, MAX_FIELDS, Offer};
use crate::jit::program::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types};
use entail_ir::{BinaryOp, FaultKind, Pattern, Poll, Range, Receive, Scalar};
use std::mem::{offset_of, size_of};

/// The message that a receive would take.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub channel: Channel,
    pub slot: Number,
}

/// The source of a message's fields.
#[derive(Clone, Copy)]
enum Message {
    Buffered { at: Offset, shape: usize },
    Offered,
}

impl Emitter<'_, '_> {
    /// Continues only if the receive is executable.
    pub(super) fn matching(&mut self, receive: &Receive, env: &Env, no: Block) -> Match {
        let channel = if env.offered {
            let channel = self.offered_here(receive, env, no);
            self.fits(&receive.fields, Message::Offered, env, no);
            self.holds_afterwards(receive, Message::Offered, env, no);
            return Match { channel, slot: Number::Known(0) };
        } else {
            self.channel(&receive.channel, env)
        };
        let found = self.block();
        // The slot is a parameter only if it can be another one than the first.
        let slot = receive.anywhere.then(|| self.b.append_block_param(found, types::I32));
        self.by_shape(&channel, |this, shape| {
            if this.shape(shape).capacity == 0 {
                if receive.keep {
                    this.fault(FaultKind::Rendezvous, env);
                }
                return this.jump(no);
            }
            let slot = this.search(&channel, shape, &receive.fields, receive.anywhere, env, no);
            let at = this.message(&channel, shape, slot);
            this.holds_afterwards(receive, Message::Buffered { at, shape }, env, no);
            if receive.anywhere {
                let slot = this.value(slot);
                this.jump_with(found, slot);
            } else {
                this.jump(found);
            }
        });
        self.go_on_in(found);
        let range = Range { low: 0, high: 1 << 16 };
        Match { channel, slot: slot.map_or(Number::Known(0), |slot| Number::Computed(slot, range)) }
    }

    /// Continues only if the message is offered on the channel of the receive.
    fn offered_here(&mut self, receive: &Receive, env: &Env, no: Block) -> Channel {
        let number = self.eval(&receive.channel, env);
        let offers = self.offers();
        let offered = self.load(types::I32, offers, offer_offset(env.purpose) + offset_of!(Offer, channel));
        let value = self.value(number);
        let same = self.b.ins().icmp(IntCC::Equal, offered, value);
        if number.known().and_then(|number| self.program.global_channel(number)).is_some() {
            self.unless_leave(same, no);
        } else {
            let (on, other) = (self.block(), self.block());
            self.b.ins().brif(same, on, &[], other, &[]);
            self.go_on_in(other);
            let (_, missing) = self.channel_index(number);
            self.fault_if(missing, FaultKind::NoChannel, env);
            self.jump(no);
            self.go_on_in(on);
        }
        self.channel_with(number, env)
    }

    pub(super) fn poll(&mut self, poll: &Poll, env: &Env) -> Number {
        let channel = self.channel(&poll.channel, env);
        let [no, join] = [self.block(), self.block()];
        let result = self.b.append_block_param(join, types::I32);
        self.by_shape(&channel, |this, shape| {
            if this.shape(shape).capacity == 0 {
                this.fault(FaultKind::Rendezvous, env);
            } else {
                this.search(&channel, shape, &poll.fields, poll.anywhere, env, no);
            }
            let yes = this.value(Number::Known(1));
            this.jump_with(join, yes);
        });
        self.go_on_in(no);
        let zero = self.value(Number::Known(0));
        self.jump_with(join, zero);
        self.go_on_in(join);
        Number::Computed(result, super::number::BOOLEAN)
    }

    /// The first slot whose message matches; without `anywhere`, only the first slot is checked.
    fn search(
        &mut self,
        channel: &Channel,
        shape: usize,
        patterns: &[Pattern],
        anywhere: bool,
        env: &Env,
        no: Block,
    ) -> Number {
        let length = self.stored(channel, shape, env.state);
        if !anywhere {
            let length = self.value(length);
            self.unless_leave(length, no);
            let at = self.message(channel, shape, Number::Known(0));
            self.fits(patterns, Message::Buffered { at, shape }, env, no);
            return Number::Known(0);
        }
        let [header, body, next] = [self.block(), self.block(), self.block()];
        let slot = self.b.append_block_param(header, types::I32);
        let (first, length_value) = (self.value(Number::Known(0)), self.value(length));
        self.jump_with(header, first);
        self.go_on_in(header);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, slot, length_value);
        self.b.ins().brif(inside, body, &[], no, &[]);
        self.go_on_in(next);
        let following = self.b.ins().iadd_imm_u(slot, 1);
        self.jump_with(header, following);
        self.go_on_in(body);
        let slot = Number::Computed(slot, length.range());
        let at = self.message(channel, shape, slot);
        self.fits(patterns, Message::Buffered { at, shape }, env, next);
        slot
    }

    fn fits(&mut self, patterns: &[Pattern], message: Message, env: &Env, no: Block) {
        for (i, pattern) in patterns.iter().enumerate() {
            match pattern {
                Pattern::Equal(expected) => {
                    let field = self.message_field(message, i, env);
                    let expected = self.eval(expected, env);
                    let equal = self.binary(BinaryOp::Eq, field, expected, env);
                    match equal {
                        Number::Known(0) => {
                            self.jump(no);
                            let nowhere = self.block();
                            self.go_on_in(nowhere);
                        }
                        Number::Known(_) => {}
                        Number::Computed(equal, _) => self.unless_leave(equal, no),
                    }
                }
                Pattern::Store(_) | Pattern::Ignore => {}
            }
        }
    }

    fn message_field(&mut self, message: Message, field: usize, env: &Env) -> Number {
        match message {
            Message::Buffered { at, shape } => self.field(at, shape, field, env.state),
            Message::Offered => self.offered_field(field, env),
        }
    }

    /// A field of the offered message; the sender adds zeros for fields that a receiver may read.
    fn offered_field(&mut self, field: usize, env: &Env) -> Number {
        debug_assert!(field < MAX_FIELDS);
        let at = offer_offset(env.purpose) + offset_of!(Offer, fields) + field * size_of::<i32>();
        let offers = self.offers();
        Number::Computed(self.load(types::I32, offers, at), Range::ANY)
    }

    /// Continues only if the condition of a receive holds after the message was stored, tried on a copy.
    fn holds_afterwards(&mut self, receive: &Receive, message: Message, env: &Env, no: Block) {
        let Some(condition) = &receive.when else { return };
        let trial = self.context_word(offset_of!(Context, room.trial));
        let context = self.context;
        self.call(Callee::Copy, &[context, env.state, trial]);
        let tried = Env { state: trial, ..*env };
        for (i, pattern) in receive.fields.iter().enumerate() {
            let Some(place) = pattern.stored() else { continue };
            let field = self.message_field(message, i, env);
            self.check(field, place.scalar, env);
            let spot = self.find(place, &tried);
            self.store_spot(trial, spot, place.scalar, field);
        }
        self.require(condition, &Env { offered: false, ..tried }, no);
    }

    /// Receives a message from a buffer. Reads from the environment's state, and writes to the state that `open`
    /// returns.
    pub(super) fn receive_from_buffer(
        &mut self,
        receive: &Receive,
        found: &Match,
        shape: usize,
        env: &Env,
        open: impl FnOnce(&mut Self) -> Value,
    ) {
        let at = self.message(&found.channel, shape, found.slot);
        self.store_fields(&receive.fields, Message::Buffered { at, shape }, env, open, |this, to| {
            if !receive.keep {
                this.remove(found, shape, env.state, to);
            }
        });
    }

    /// Receives the offered message.
    pub(super) fn receive_offer(&mut self, receive: &Receive, env: &Env, to: Value) {
        self.store_fields(&receive.fields, Message::Offered, env, |_| to, |_, _| {});
    }

    /// Fields are stored in order, so that in `c?i,a[i]` the index is the `i` just received.
    fn store_fields(
        &mut self,
        patterns: &[Pattern],
        message: Message,
        env: &Env,
        open: impl FnOnce(&mut Self) -> Value,
        finally: impl FnOnce(&mut Self, Value),
    ) {
        let stored = patterns.iter().enumerate().filter_map(|(i, pattern)| Some((i, pattern.stored()?)));
        let fields: Vec<_> = stored.map(|(i, place)| (place, self.message_field(message, i, env))).collect();
        let to = open(self);
        // The offer has been accepted.
        let mut seen = Env { offered: false, ..*env };
        for (place, field) in fields {
            let spot = self.find(place, &seen);
            self.check(field, place.scalar, &seen);
            self.store_spot(to, spot, place.scalar, field);
            seen.state = to;
        }
        finally(self, to);
    }

    /// Removes a message from its buffer. Free slots are 0, so the first message is removed by moving all.
    fn remove(&mut self, found: &Match, shape: usize, from: Value, to: Value) {
        const AT_ONCE: u32 = 64;
        const ONE_BY_ONE: usize = 6;
        let (capacity, message) = (self.shape(shape).capacity, self.shape(shape).message);
        let length = match capacity {
            1 => Number::Known(1),
            _ => self.stored(&found.channel, shape, from),
        };
        let kept = (capacity - 1) * message;
        let first = self.message(&found.channel, shape, Number::Known(0));
        let is_first = found.slot.known() == Some(0);
        if is_first && capacity as usize * self.shape(shape).fields.len() <= ONE_BY_ONE {
            self.move_fields(shape, first, from, to);
        } else if is_first && kept + message <= AT_ONCE {
            self.move_bytes(first.plus(message), first, kept, from, to);
            self.clear_bytes(first.plus(kept), message, to);
            self.code_whole(to);
        } else {
            self.move_messages(Helper::Remove, &found.channel, shape, found.slot, length, to);
        }
        let shorter = match length {
            Number::Known(length) => Number::Known(length - 1),
            Number::Computed(value, range) => Number::Computed(self.b.ins().iadd_imm_s(value, -1), range),
        };
        self.set_length(&found.channel, shape, to, shorter);
    }

    /// Moves all messages of a buffer down by one, field by field.
    fn move_fields(&mut self, shape: usize, first: Offset, from: Value, to: Value) {
        let program = self.program;
        let Shape { capacity, message, fields, .. } = &program.shapes[shape];
        for slot in 0..*capacity {
            let mut at = first.plus(slot * message);
            for field in fields {
                let next = match slot + 1 < *capacity {
                    true => self.load_scalar(from, at.plus(*message), Scalar::unsigned(8 * field.size() as u8)),
                    false => Number::Known(0),
                };
                self.store_bytes(to, at, field.size(), next);
                at = at.plus(field.size());
            }
        }
    }

    /// Moves bytes down, in as few pieces as possible.
    fn move_bytes(&mut self, source: Offset, target: Offset, bytes: u32, from: Value, to: Value) {
        for (piece, at) in pieces(bytes) {
            let (pointer, offset) = self.address(from, source.plus(at));
            let value = self.b.ins().load(piece, super::TRUSTED, pointer, offset);
            let (pointer, offset) = self.address(to, target.plus(at));
            self.b.ins().store(super::TRUSTED, value, pointer, offset);
        }
    }

    fn clear_bytes(&mut self, target: Offset, bytes: u32, to: Value) {
        for (piece, at) in pieces(bytes) {
            let zero = self.b.ins().iconst(piece, 0);
            let (pointer, offset) = self.address(to, target.plus(at));
            self.b.ins().store(super::TRUSTED, zero, pointer, offset);
        }
    }
}

/// Pieces of so many bytes in total, each of the size of a register.
fn pieces(bytes: u32) -> Vec<(Type, u32)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for piece in [types::I64, types::I32, types::I16, types::I8] {
        while at + piece.bytes() <= bytes {
            pieces.push((piece, at));
            at += piece.bytes();
        }
    }
    pieces
}
