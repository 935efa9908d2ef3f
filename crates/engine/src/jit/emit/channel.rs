//! Channels: their indices, lengths, and sends to their buffers.

use super::number::{BOOLEAN, Number, Offset};
use super::{Emitter, Env};
use crate::jit::by_interpreter::Helper;
use crate::jit::context::{Context, Offer};
use crate::jit::program::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Switch;
use entail_ir::{BinaryOp, Expr, FaultKind, Range, Send};
use std::mem::offset_of;

/// A channel that exists.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub number: Number,
    /// Its offset in the state.
    pub start: Offset,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Index of its shape.
    Shape(usize),
    /// A value: the channel type.
    Computed(Value),
}

impl Emitter<'_, '_> {
    /// The channel that an expression refers to; a fault if there is none.
    pub(super) fn channel(&mut self, expr: &Expr, env: &Env) -> Channel {
        let number = self.eval(expr, env);
        self.channel_with(number, env)
    }

    pub(super) fn channel_with(&mut self, number: Number, env: &Env) -> Channel {
        if let Some(known) = number.known() {
            if let Some(global) = self.program.global_channel(known) {
                return Channel { number, start: Offset::fixed(global.start), kind: Kind::Shape(global.shape) };
            }
            if known <= 0 {
                self.fault(FaultKind::NoChannel, env);
                return Channel { number, start: Offset::fixed(0), kind: Kind::Shape(0) };
            }
        }
        let (index, missing) = self.channel_index(number);
        self.fault_if(missing, FaultKind::NoChannel, env);
        let start = self.context_element(offset_of!(Context, channel_starts), index);
        let kind = if self.program.shapes.len() == 1 {
            Kind::Shape(0)
        } else {
            Kind::Computed(self.context_element(offset_of!(Context, channel_types), index))
        };
        Channel { number, start: Offset { fixed: 0, computed: Some(start) }, kind }
    }

    /// The index for a channel number, and whether there is no such channel.
    pub(super) fn channel_index(&mut self, number: Number) -> (Value, Value) {
        let value = self.value(number);
        let index = self.b.ins().iadd_imm_s(value, -1);
        let count = self.context_word(offset_of!(Context, channels));
        let count = self.b.ins().ireduce(types::I32, count);
        (index, self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, count))
    }

    /// Emits code for every shape that the channel may have. Unless there is only one, `each` must leave its block.
    /// Returns whether there is only one.
    pub(super) fn by_shape(&mut self, channel: &Channel, mut each: impl FnMut(&mut Self, usize)) -> bool {
        let program = self.program;
        match channel.kind {
            Kind::Shape(shape) => {
                each(self, shape);
                true
            }
            Kind::Computed(channel_type) => {
                let blocks: Vec<_> = program.shapes.iter().map(|_| self.block()).collect();
                let mut switch = Switch::new();
                for (id, shape) in program.shape_of.iter().enumerate().skip(1) {
                    switch.set_entry(id as u128, blocks[*shape]);
                }
                switch.emit(&mut self.b, channel_type, blocks[program.shape_of[0]]);
                for (shape, block) in blocks.into_iter().enumerate() {
                    self.go_on_in(block);
                    each(self, shape);
                }
                false
            }
        }
    }

    pub(super) fn shape(&self, shape: usize) -> &Shape {
        let program = self.program;
        &program.shapes[shape]
    }

    /// A number that depends on the shape.
    fn number_by_shape(
        &mut self,
        channel: &Channel,
        range: Range,
        mut each: impl FnMut(&mut Self, usize) -> Number,
    ) -> Number {
        if let Kind::Shape(shape) = channel.kind {
            return each(self, shape);
        }
        let join = self.block();
        let result = self.b.append_block_param(join, types::I32);
        self.by_shape(channel, |this, shape| {
            let number = each(this, shape);
            let value = this.value(number);
            this.jump_with(join, value);
        });
        self.go_on_in(join);
        Number::Computed(result, range)
    }

    /// The number of messages in the buffer.
    pub(super) fn stored(&mut self, channel: &Channel, shape: usize, state: Value) -> Number {
        let Shape { length_bytes, capacity, .. } = *self.shape(shape);
        if length_bytes == 0 {
            return Number::Known(0);
        }
        let (pointer, offset) = self.address(state, channel.start);
        let ins = self.b.ins();
        let value = match length_bytes {
            1 => ins.uload8(types::I32, super::TRUSTED, pointer, offset),
            _ => ins.uload16(types::I32, super::TRUSTED, pointer, offset),
        };
        Number::Computed(value, Range { low: 0, high: capacity as i32 })
    }

    /// The length as expressions see it: an offered message counts.
    pub(super) fn length(&mut self, channel: &Channel, env: &Env) -> Number {
        let range = Range { low: 0, high: 1 << 16 };
        self.number_by_shape(channel, range, |this, shape| this.length_of(channel, shape, env))
    }

    fn length_of(&mut self, channel: &Channel, shape: usize, env: &Env) -> Number {
        if env.offered && self.shape(shape).capacity == 0 {
            let offered = self.offered_channel(env);
            return self.binary(BinaryOp::Eq, offered, channel.number, env);
        }
        self.stored(channel, shape, env.state)
    }

    pub(super) fn is_full(&mut self, channel: &Channel, env: &Env) -> Number {
        self.number_by_shape(channel, BOOLEAN, |this, shape| {
            let length = this.length_of(channel, shape, env);
            let capacity = this.shape(shape).capacity.max(1);
            this.binary(BinaryOp::Ge, length, Number::Known(capacity as i32), env)
        })
    }

    fn offered_channel(&mut self, env: &Env) -> Number {
        let offset = super::offer::offset(env.purpose) + offset_of!(Offer, channel);
        let offers = self.offers();
        Number::Computed(self.load(types::I32, offers, offset), Range::ANY)
    }

    /// The offset of a message.
    pub(super) fn message(&mut self, channel: &Channel, shape: usize, slot: Number) -> Offset {
        let Shape { length_bytes, message, .. } = *self.shape(shape);
        self.add_times(channel.start.plus(length_bytes), slot, message)
    }

    /// A field of a message in the buffer; 0 if messages have no such field.
    pub(super) fn field(&mut self, message: Offset, shape: usize, field: usize, state: Value) -> Number {
        let shape = self.shape(shape);
        match shape.fields.get(field).copied() {
            Some(scalar) => {
                let at = message.plus(shape.field_offset(field));
                self.load_scalar(state, at, scalar)
            }
            None => Number::Known(0),
        }
    }

    pub(super) fn set_length(&mut self, channel: &Channel, shape: usize, state: Value, length: Number) {
        let bytes = self.shape(shape).length_bytes;
        self.store_bytes(state, channel.start, bytes, length);
    }

    /// Appends a message to the buffer, which is known not to be full. Reads from the environment's state, and writes
    /// to the state that `open` returns.
    pub(super) fn send_to_buffer(
        &mut self,
        send: &Send,
        channel: &Channel,
        shape: usize,
        env: &Env,
        open: impl FnOnce(&mut Self) -> Value,
    ) {
        let program = self.program;
        let kinds = &program.shapes[shape].fields;
        let mut fields: Vec<_> = send.fields.iter().map(|field| self.eval(field, env)).collect();
        fields.resize(kinds.len(), Number::Known(0));
        for (scalar, field) in kinds.iter().zip(&fields) {
            self.check(*field, *scalar, env);
        }
        let length = match program.shapes[shape].capacity {
            1 => Number::Known(0),
            _ => self.stored(channel, shape, env.state),
        };
        let slot = if send.sorted { self.sorted_slot(channel, shape, &fields, length, env) } else { length };
        let to = open(self);
        if send.sorted {
            self.move_messages(Helper::Insert, channel, shape, slot, length, to);
        }
        let mut at = self.message(channel, shape, slot);
        for (scalar, field) in kinds.iter().zip(fields) {
            self.store_scalar(to, at, *scalar, field);
            at = at.plus(scalar.size());
        }
        let longer = self.binary(BinaryOp::Add, length, Number::Known(1), env);
        self.set_length(channel, shape, to, longer);
    }

    /// The first slot whose message is greater than the new one.
    fn sorted_slot(
        &mut self,
        channel: &Channel,
        shape: usize,
        fields: &[Number],
        length: Number,
        env: &Env,
    ) -> Number {
        let [header, body, next, found] = [self.block(), self.block(), self.block(), self.block()];
        let slot = self.b.append_block_param(header, types::I32);
        let result = self.b.append_block_param(found, types::I32);
        let (first, length_value) = (self.value(Number::Known(0)), self.value(length));
        self.jump_with(header, first);
        self.go_on_in(header);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, slot, length_value);
        self.b.ins().brif(inside, body, &[], found, &[BlockArg::Value(slot)]);
        self.go_on_in(body);
        let message = self.message(channel, shape, Number::Computed(slot, length.range()));
        for (i, field) in fields.iter().enumerate() {
            let old = self.field(message, shape, i, env.state);
            let (old, new) = (self.value(old), self.value(*field));
            let equal = self.block();
            let greater = self.b.ins().icmp(IntCC::SignedGreaterThan, old, new);
            let differ = self.block();
            self.b.ins().brif(greater, found, &[BlockArg::Value(slot)], differ, &[]);
            self.go_on_in(differ);
            let same = self.b.ins().icmp(IntCC::Equal, old, new);
            self.b.ins().brif(same, equal, &[], next, &[]);
            self.go_on_in(equal);
        }
        self.jump(next);
        self.go_on_in(next);
        let following = self.b.ins().iadd_imm_u(slot, 1);
        self.jump_with(header, following);
        self.go_on_in(found);
        Number::Computed(result, length.range())
    }

    /// Calls a helper that moves messages up or down from a slot on.
    pub(super) fn move_messages(
        &mut self,
        helper: Helper,
        channel: &Channel,
        shape: usize,
        slot: Number,
        length: Number,
        state: Value,
    ) {
        let messages = self.message(channel, shape, Number::Known(0));
        let (pointer, offset) = self.address(state, messages);
        let pointer = self.b.ins().iadd_imm_u(pointer, i64::from(offset));
        let size = Number::Known(self.shape(shape).message as i32);
        let [slot, length, size] = [slot, length, size].map(|number| self.value(number));
        self.help(helper, &[pointer, slot, length, size]);
        self.code_whole(state);
    }
}
