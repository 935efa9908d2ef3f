//! The receiving side of a rendezvous.

use super::number::{Number, Offset};
use super::offer::offset;
use super::{Emitter, Env, Purpose, Taking};
use crate::jit::by_interpreter::Helper;
use crate::jit::code::Callee;
use crate::jit::context::{Forgotten, Offer};
use crate::jit::fallback::Execution;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use entail_ir::{
    Action, Base, Edge, EdgeId, Expr, FaultKind, Location, LocationId, Pattern, Place, ProcessTypeId, Range,
    Receive,
};
use std::mem::{offset_of, size_of};

impl Emitter<'_, '_> {
    /// The steps by which a process receives the offered message.
    pub(super) fn accept(&mut self, of: ProcessTypeId, params: &[Value]) {
        self.begin_writing(params[1]);
        let state = self.source();
        let who = self.who(of, params[2], params[3]);
        let done = self.block();
        let fault = self.fault_block();
        let env = Env { state, who, purpose: Purpose::ForSteps, offered: true, fault };
        self.if_provided(of, &env, done);
        let program = self.program;
        let accepts = |_: LocationId, location: &Location| program.accepts_at(of, location);
        self.by_location(of, &env, accepts, done, |this, _, location| {
            this.accept_at(location, &env, done);
        });
        self.go_on_in(done);
        self.finish_writing();
    }

    /// Whether a process could receive the offered message: 1 or 0.
    pub(super) fn can_accept(&mut self, of: ProcessTypeId, params: &[Value]) {
        let program = self.program;
        let who = self.who(of, params[2], params[3]);
        let [yes, no] = [self.block(), self.block()];
        let fault = self.fault_block();
        let env = Env { state: params[1], who, purpose: Purpose::Whether, offered: true, fault };
        self.if_provided(of, &env, no);
        let accepts = |_: LocationId, location: &Location| program.accepts_at(of, location);
        self.by_location(of, &env, accepts, no, |this, _, location| {
            for edge in program.system.edges_of(location).iter().filter(|edge| program.may_accept(edge, of)) {
                let next = this.block();
                this.possible(&edge.action, &env, next);
                this.jump(yes);
                this.go_on_in(next);
            }
            this.jump(no);
        });
        self.answer(&env, yes, no);
    }

    fn accept_at(&mut self, location: &Location, env: &Env, done: Block) {
        let program = self.program;
        let of = env.who.of.expect("a process receives");
        let since = self.b.use_var(self.out);
        let mut group = None;
        let mut perhaps_moved = false;
        for id in location.first..location.first + location.count {
            let edge = program.system.edge(EdgeId(id));
            if group.is_some() && edge.escape != group && perhaps_moved {
                let moved = self.has_moved(since);
                self.if_leave(moved, done);
                perhaps_moved = false;
            }
            group = edge.escape;
            if program.may_accept(edge, of) {
                let next = self.block();
                self.accept_edge(EdgeId(id), edge, env, next);
                self.go_on_in(next);
                perhaps_moved = true;
            }
        }
        self.jump(done);
    }

    fn accept_edge(&mut self, id: EdgeId, edge: &Edge, env: &Env, next: Block) {
        let of = env.who.of.expect("a process receives");
        let env = Env { fault: self.fault_block(), ..*env };
        let step = self.meeting_bits(id, &env);
        self.taking = Some(Taking { step, then: next });
        self.failures = None;
        if self.program.offers_may_fail {
            let count = self.of_offer(types::I32, offset_of!(Offer, failed));
            let first = self.of_offer(types::I64, offset_of!(Offer, failure));
            self.begin_failures(count, first);
        }
        let found = self.possible(&edge.action, &env, next);
        let Some((receive, fields)) = self.received_natively(id, edge, of) else {
            let context = self.context;
            let fire = |this: &mut Self| {
                this.call_writer(Callee::Helper(Helper::Fire), &[context], &[step]);
                this.jump(next);
            };
            fire(self);
            // A fault before the sender has moved need not occur afterwards.
            if self.enter_fault(env.fault).is_some() {
                fire(self);
            }
            return;
        };
        found.expect("a receive finds a message");
        let wrong = fields != receive.fields.len() && !receive.keep;
        if wrong && self.failures.is_none() {
            self.begin_no_failures();
        }
        let to = self.open_with_care(env.state);
        self.move_sender(to);
        self.receive_offer(receive, &env, to);
        if wrong {
            self.fail(FaultKind::MessageFields, edge.statement);
        }
        self.conclude(edge, &env, to, step);
        self.jump(next);
        self.write_broken(env.fault, step, edge.statement, next);
    }

    /// The receive of an edge and the number of fields of the message, if generated code can take the step.
    fn received_natively<'e>(&self, id: EdgeId, edge: &'e Edge, of: ProcessTypeId) -> Option<(&'e Receive, usize)> {
        let Action::Receive(receive) = &edge.action else { return None };
        let fields = self.program.offered_fields(receive, of)?;
        // The sender has moved before these are evaluated a second time.
        let forgotten = |place: &Place| self.program.told_to_forget.iter().any(|other| may_meet(place, other));
        let moving = |expr: &Expr| {
            matches!(expr, Expr::LocationOf(_) | Expr::At(..) | Expr::Last)
                || matches!(expr, Expr::Load(place) if forgotten(place))
        };
        // The offer no longer exists when the indices are evaluated.
        let offered = |expr: &Expr| matches!(expr, Expr::Length(_) | Expr::Channel(..) | Expr::Poll(_));
        let changes = receive.channel.any(moving)
            || receive.when.as_ref().is_some_and(|condition| condition.any(moving))
            || receive.fields.iter().any(|pattern| match pattern {
                Pattern::Equal(expected) => expected.any(moving),
                Pattern::Store(place) => {
                    let mut found = false;
                    place.each_expr(&mut |expr| found |= moving(expr) || receive.when.is_some() && offered(expr));
                    found
                }
                Pattern::Ignore => false,
            });
        (self.program.execution(id) == Execution::Native && !changes).then_some((&**receive, fields))
    }

    /// The bits of a step whose first half is in the offer.
    fn meeting_bits(&mut self, edge: EdgeId, env: &Env) -> Value {
        let sent = self.of_offer(types::I64, offset_of!(Offer, step));
        let partner = self.index(env.who.number);
        let partner = self.b.ins().ishl_imm_u(partner, 32);
        let edge = self.word(u64::from(edge.0) << 40);
        let received = self.b.ins().bor(partner, edge);
        self.b.ins().bor(sent, received)
    }

    fn of_offer(&mut self, of: cranelift_codegen::ir::Type, part: usize) -> Value {
        let offers = self.offers();
        self.load(of, offers, offset(Purpose::ForSteps) + part)
    }

    /// Moves the sender to its target. Exclusive control and the last process to move depend on the receiver.
    fn move_sender(&mut self, to: Value) {
        let at = self.of_offer(types::I64, offset_of!(Offer, location_at));
        let target = self.of_offer(types::I32, offset_of!(Offer, target));
        let bytes = self.program.layout.location_bytes as u32;
        let target = Number::Computed(target, Range::ANY);
        self.store_bytes(to, Offset { fixed: 0, computed: Some(at) }, bytes, target);
        if !self.program.told_to_forget.is_empty() {
            self.forget_for_sender(to);
        }
    }

    /// Resets the dead variables of the sender.
    fn forget_for_sender(&mut self, to: Value) {
        let [header, body, next, done] = [self.block(), self.block(), self.block(), self.block()];
        let turn = self.b.append_block_param(header, types::I64);
        let count = self.of_offer(types::I64, offset_of!(Offer, forgets));
        self.jump_with(header, count);
        self.go_on_in(header);
        self.b.ins().brif(turn, body, &[], done, &[]);
        self.go_on_in(body);
        let rest = self.b.ins().iadd_imm_s(turn, -1);
        let before = self.b.ins().imul_imm_u(rest, size_of::<Forgotten>() as i64);
        let offers = self.offers();
        let row = self.b.ins().iadd(offers, before);
        let first = offset(Purpose::ForSteps) + offset_of!(Offer, forgotten);
        let at = self.load(types::I64, row, first + offset_of!(Forgotten, at));
        let bytes = self.load(types::I32, row, first + offset_of!(Forgotten, bytes));
        let blank = self.load(types::I32, row, first + offset_of!(Forgotten, blank));
        let sizes = self.program.forgotten_sizes();
        for (number, size) in sizes.iter().enumerate() {
            let other = (number + 1 < sizes.len()).then(|| self.block());
            if let Some(other) = other {
                let is_it = self.b.ins().icmp_imm_u(IntCC::Equal, bytes, i64::from(*size));
                self.unless_leave(is_it, other);
            }
            self.store_bytes(
                to,
                Offset { fixed: 0, computed: Some(at) },
                *size,
                Number::Computed(blank, Range::ANY),
            );
            self.jump(next);
            if let Some(other) = other {
                self.go_on_in(other);
            }
        }
        self.go_on_in(next);
        self.jump_with(header, rest);
        self.go_on_in(done);
    }
}

/// Whether `place` of a process may alias `forgotten` of another one.
fn may_meet(place: &Place, forgotten: &Place) -> bool {
    match &place.base {
        Base::Local | Base::Nowhere => false,
        Base::Remote(..) => forgotten.base == Base::Local,
        Base::Global => {
            let reach: u32 = place.indices.iter().map(|index| index.len.saturating_sub(1) * index.stride).sum();
            forgotten.base == Base::Global
                && place.offset < forgotten.offset + forgotten.scalar.size()
                && forgotten.offset < place.offset + reach + place.scalar.size()
        }
    }
}
