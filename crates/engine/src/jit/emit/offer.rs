//! The sending side of a rendezvous.

use super::channel::Channel;
use super::number::{Number, Offset};
use super::{Emitter, Env, Purpose};
use crate::jit::code::Callee;
use crate::jit::context::{Context, Forgotten, MAX_FIELDS, Offer, failure};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Switch;
use entail_ir::{Edge, EdgeId, FaultKind, LocationId, ProcessTypeId, Scalar, Send};
use std::mem::{offset_of, size_of};

/// The offset of the offer: one made while another is pending must not overwrite it.
pub(super) fn offset(purpose: Purpose) -> usize {
    match purpose {
        Purpose::ForSteps => 0,
        Purpose::Whether => size_of::<Offer>(),
    }
}

impl Emitter<'_, '_> {
    pub(super) fn offers(&mut self) -> Value {
        self.context_word(offset_of!(Context, room.offers))
    }

    /// The steps of a send that may be a rendezvous. Ends in `next`.
    pub(super) fn take_send(&mut self, id: EdgeId, edge: &Edge, send: &Send, env: &Env, step: Value, next: Block) {
        let channel = self.channel(&send.channel, env);
        self.by_shape(&channel, |this, shape| {
            if this.shape(shape).capacity == 0 {
                if let Some(condition) = &send.when {
                    this.require(condition, env, next);
                }
                return this.meet(id, edge, send, (channel.number, shape), env, next);
            }
            this.leave_if_full(&channel, shape, env, next);
            if let Some(condition) = &send.when {
                this.require(condition, env, next);
            }
            let mut to = None;
            this.send_to_buffer(send, &channel, shape, env, |this| *to.insert(this.open(env.state)));
            if this.shape(shape).fields.len() != send.fields.len() {
                this.fail(FaultKind::MessageFields, edge.statement);
            }
            this.conclude(edge, env, to.expect("the send has opened an entry"), step);
            this.jump(next);
        });
    }

    /// Offers a message to all possible receivers. Ends in `next`.
    fn meet(
        &mut self,
        id: EdgeId,
        edge: &Edge,
        send: &Send,
        (channel, shape): (Number, usize),
        env: &Env,
        next: Block,
    ) {
        // If a fault is possible only when the message is received, the interpreter decides.
        let lazy = self.program.system.lazy_messages.then(|| self.fault_block());
        self.make_offer(send, channel, shape, &Env { fault: lazy.unwrap_or(env.fault), ..*env });
        self.tell_about_sender(id, edge, send, shape, env);
        self.call_partners(channel, env);
        self.jump(next);
        if lazy.is_some_and(|fault| self.enter_fault(fault).is_some()) {
            self.leave_to_interpreter(id.0, env);
            self.jump(next);
        }
    }

    /// Whether a send that may be a rendezvous is executable. Ends in `yes` or `next`.
    pub(super) fn ask_send(&mut self, send: &Send, env: &Env, yes: Block, next: Block) {
        let channel = self.channel(&send.channel, env);
        self.by_shape(&channel, |this, shape| {
            let capacity = this.shape(shape).capacity;
            if capacity > 0 {
                this.leave_if_full(&channel, shape, env, next);
            }
            if let Some(condition) = &send.when {
                this.require(condition, env, next);
            }
            if capacity > 0 {
                return this.jump(yes);
            }
            this.make_offer(send, channel.number, shape, env);
            this.ask_partners(channel.number, env, yes);
            this.jump(next);
        });
    }

    fn leave_if_full(&mut self, channel: &Channel, shape: usize, env: &Env, next: Block) {
        let length = self.stored(channel, shape, env.state);
        let length = self.value(length);
        let capacity = i64::from(self.shape(shape).capacity);
        let full = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, length, capacity);
        self.if_leave(full, next);
    }

    /// The values of the fields of a channel of this shape.
    pub(super) fn offered_values(&mut self, send: &Send, shape: usize, env: &Env) -> Vec<Number> {
        let program = self.program;
        let kinds = &program.shapes[shape].fields;
        let fields = send.fields.iter().zip(kinds);
        fields
            .map(|(field, scalar)| {
                let value = self.eval(field, env);
                self.check(value, *scalar, env);
                self.truncate(value, *scalar)
            })
            .collect()
    }

    fn make_offer(&mut self, send: &Send, channel: Number, shape: usize, env: &Env) {
        let mut fields = self.offered_values(send, shape, env);
        let looked_at = self.program.most_fields.max(self.shape(shape).fields.len());
        fields.resize(looked_at.min(MAX_FIELDS), Number::Known(0));
        let (offers, offer) = (self.offers(), offset(env.purpose));
        for (i, field) in fields.into_iter().enumerate() {
            let value = self.value(field);
            self.store(value, offers, offer + offset_of!(Offer, fields) + i * size_of::<i32>());
        }
        let channel = self.value(channel);
        self.store(channel, offers, offer + offset_of!(Offer, channel));
    }

    /// Passes the sender's next state to the receiver's code, which writes it.
    fn tell_about_sender(&mut self, id: EdgeId, edge: &Edge, send: &Send, shape: usize, env: &Env) {
        let (offers, offer) = (self.offers(), offset(env.purpose));
        let step = self.step_begin(id, 0, env);
        let step = self.with_timeout(step, env);
        self.store(step, offers, offer + offset_of!(Offer, step));
        let location_at = self.offset_value(env.who.start.plus(1));
        self.store(location_at, offers, offer + offset_of!(Offer, location_at));
        let target = edge.target.expect("a send that ends its process is left to the interpreter");
        let of = env.who.of.expect("a process that sends");
        let target = self.value(Number::Known(i32::from(self.program.layout.station(of, target))));
        self.store(target, offers, offer + offset_of!(Offer, target));
        if self.program.offers_may_fail {
            let failed = self.shape(shape).fields.len() != send.fields.len();
            let count = self.b.ins().iconst(types::I32, i64::from(failed));
            self.store(count, offers, offer + offset_of!(Offer, failed));
            let what = self.word(failure(FaultKind::MessageFields, edge.statement.0));
            self.store(what, offers, offer + offset_of!(Offer, failure));
        }
        if !self.program.told_to_forget.is_empty() {
            let count = self.word(edge.forgets.len() as u64);
            self.store(count, offers, offer + offset_of!(Offer, forgets));
            for (number, place) in edge.forgets.iter().enumerate() {
                let row = offer + offset_of!(Offer, forgotten) + number * size_of::<Forgotten>();
                let spot = self.find(place, env);
                let at = self.offset_value(spot.at);
                self.store(at, offers, row + offset_of!(Forgotten, at));
                let bytes = self.value(Number::Known(place.scalar.size() as i32));
                self.store(bytes, offers, row + offset_of!(Forgotten, bytes));
                let bits = Scalar { signed: false, ..place.scalar };
                let blank = self.value(Number::Known(bits.truncate(place.scalar.blank())));
                self.store(blank, offers, row + offset_of!(Forgotten, blank));
            }
        }
    }

    /// Calls the code of all other processes that may receive.
    fn call_partners(&mut self, channel: Number, env: &Env) {
        self.each_partner(channel, env, |this, of, number, start| {
            let context = this.context;
            this.call_writer(Callee::Accept(of), &[context], &[number, start]);
        });
    }

    fn ask_partners(&mut self, channel: Number, env: &Env, yes: Block) {
        let state = env.state;
        self.each_partner(channel, env, |this, of, number, start| {
            let context = this.context;
            let args = [context, state, number, start];
            let accepts = this.call(Callee::CanAccept(of), &args).expect("it returns a number");
            this.if_leave(accepts, yes);
        });
    }

    /// Emits code for every other process that may receive from the channel, with its number and start.
    fn each_partner(
        &mut self,
        channel: Number,
        env: &Env,
        mut each: impl FnMut(&mut Self, ProcessTypeId, Value, Value),
    ) {
        let program = self.program;
        let types = (0..program.system.process_types.len()).map(|id| ProcessTypeId(id as u16));
        let accepting: Vec<_> = types.map(|of| program.accepting(of, channel.known())).collect();
        let Some(fixed) = program.facts.fixed() else {
            return self.each_changing_partner(&accepting, env, &mut each);
        };
        for partner in self.in_turn(fixed.len()) {
            let of = fixed[partner].process_type;
            if accepting[of.index()].is_empty() || env.who.number.known() == Some(partner as i32) {
                continue;
            }
            let next = self.block();
            if let Some(exists) = self.exists(partner, env.state) {
                self.unless_leave(exists, next);
            }
            if env.who.of == Some(of) {
                let sender = self.value(env.who.number);
                let itself = self.b.ins().icmp_imm_u(IntCC::Equal, sender, partner as i64);
                self.if_leave(itself, next);
            }
            self.if_accepting(&accepting[of.index()], env, Offset::fixed(fixed[partner].start), next);
            let number = self.b.ins().iconst(types::I32, partner as i64);
            let start = self.word(u64::from(fixed[partner].start));
            each(self, of, number, start);
            self.jump(next);
            self.go_on_in(next);
        }
    }

    /// Continues only if the process at `start` is at one of the locations, if that is fast to check.
    fn if_accepting(&mut self, locations: &[LocationId], env: &Env, start: Offset, no: Block) {
        let here = self.load_location(env.state, start);
        let here = self.value(here);
        let accepts = match locations {
            [only] => self.b.ins().icmp_imm_u(IntCC::Equal, here, i64::from(only.0)),
            several => {
                let first = several.iter().map(|location| location.0).min().unwrap_or(0);
                if several.iter().any(|location| location.0 - first >= 64) {
                    return;
                }
                // One bit for each location; the others are far away or do not exist.
                let bits = several.iter().fold(0_u64, |bits, location| bits | 1 << (location.0 - first));
                let bit = self.b.ins().iadd_imm_s(here, -i64::from(first));
                let near = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, bit, 64);
                let bits = self.word(bits);
                let shifted = self.b.ins().ushr(bits, bit);
                let shifted = self.b.ins().ireduce(types::I8, shifted);
                self.b.ins().band(shifted, near)
            }
        };
        self.unless_leave(accepts, no);
    }

    fn each_changing_partner(
        &mut self,
        accepting: &[Vec<LocationId>],
        env: &Env,
        each: &mut dyn FnMut(&mut Self, ProcessTypeId, Value, Value),
    ) {
        let program = self.program;
        let oldest_first = program.system.oldest_first;
        let [header, body, next, done] = [self.block(), self.block(), self.block(), self.block()];
        let turn = self.b.append_block_param(header, types::I32);
        let count = self.process_count(env.state);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.jump_with(header, if oldest_first { zero } else { count });
        self.go_on_in(header);
        // When counting down, the counter is one more than the number of the process.
        let (number, more) = if oldest_first {
            (turn, self.b.ins().icmp(IntCC::UnsignedLessThan, turn, count))
        } else {
            (self.b.ins().iadd_imm_s(turn, -1), self.b.ins().icmp_imm_u(IntCC::NotEqual, turn, 0))
        };
        self.b.ins().brif(more, body, &[], done, &[]);
        self.go_on_in(body);
        let sender = self.value(env.who.number);
        let itself = self.b.ins().icmp(IntCC::Equal, sender, number);
        self.if_leave(itself, next);
        let start = self.context_element(offset_of!(Context, starts), number);
        let process_type = self.context_element(offset_of!(Context, types), number);
        let mut switch = Switch::new();
        let types = (0..program.system.process_types.len()).map(|id| ProcessTypeId(id as u16));
        let accepted = types.filter(|of| !accepting[of.index()].is_empty());
        let blocks: Vec<_> = accepted.map(|of| (of, self.block())).collect();
        for (of, block) in &blocks {
            switch.set_entry(u128::from(of.0), *block);
        }
        switch.emit(&mut self.b, process_type, next);
        for (of, block) in blocks {
            self.go_on_in(block);
            let at = Offset { fixed: 0, computed: Some(start) };
            self.if_accepting(&accepting[of.index()], env, at, next);
            each(self, of, number, start);
            self.jump(next);
        }
        self.go_on_in(next);
        let following = if oldest_first { self.b.ins().iadd_imm_u(turn, 1) } else { number };
        self.jump_with(header, following);
        self.go_on_in(done);
    }
}
