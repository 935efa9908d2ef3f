//! Steps: a copy of the state is changed and becomes an entry.

use super::coding::Coding;
use super::number::{Number, Offset};
use super::{CurrentProcess, Emitter, Env, Failures, Purpose, TRUSTED};
use crate::jit::UNKNOWN;
use crate::jit::by_interpreter::Helper;
use crate::jit::code::Callee;
use crate::jit::context::{CHUNK, Context, DONE, HEADER, failure, shape, stride};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use entail_ir::interpret::Far;
use entail_ir::{Edge, EdgeId, FaultKind, LocationId, ProcessTypeId, Range, Scalar, StatementId};
use std::mem::offset_of;

/// Larger states are copied by a function.
const INLINE_COPY: usize = 64;
/// Larger states are copied by a loop.
const UNROLLED_COPY: usize = 512;

impl Emitter<'_, '_> {
    /// Begins an entry with a copy of the state; returns the address of the copy. There is room for as many entries as
    /// a process can begin by itself.
    pub(super) fn open(&mut self, state: Value) -> Value {
        if self.program.only_words {
            // Stands for the copy, which exists only as words.
            let to = self.word(0);
            self.begin_coding(to);
            return to;
        }
        let out = self.b.use_var(self.out);
        let to = self.b.ins().iadd_imm_u(out, HEADER as i64);
        match self.program.len {
            Some(len) if len <= INLINE_COPY => self.copy_chunks(len, state, to),
            Some(_) | None => {
                let context = self.context;
                self.call(Callee::Copy, &[context, state, to]);
            }
        }
        self.begin_coding(to);
        to
    }

    /// The same, with a check for room.
    pub(super) fn open_with_care(&mut self, state: Value) -> Value {
        let out = self.b.use_var(self.out);
        let end = self.context_word(offset_of!(Context, room.end));
        let too_far = self.b.ins().icmp(IntCC::UnsignedGreaterThan, out, end);
        let (cold, on) = (self.cold_block(), self.block());
        self.b.ins().brif(too_far, cold, &[], on, &[]);
        self.go_on_in(cold);
        let context = self.context;
        let first = self.help(Helper::Overflow, &[context]).expect("it returns a pointer");
        self.b.def_var(self.out, first);
        self.jump(on);
        self.go_on_in(on);
        self.open(state)
    }

    fn after_entry(&mut self, out: Value) -> Value {
        match self.program.len {
            Some(len) => self.b.ins().iadd_imm_u(out, stride(len) as i64),
            None => {
                let stride = self.context_word(offset_of!(Context, room.stride));
                self.b.ins().iadd(out, stride)
            }
        }
    }

    fn copy_chunks(&mut self, len: usize, from: Value, to: Value) {
        // Never beyond the end: the last piece may overlap the one before.
        let last = len.checked_sub(CHUNK);
        for at in (0..len).step_by(CHUNK).map(|at| last.map_or(at, |last| at.min(last))) {
            let chunk = self.load(types::I8X16, from, at);
            self.store(chunk, to, at);
        }
    }

    pub(super) fn copy_function(&mut self, from: Value, to: Value) {
        match self.program.len {
            Some(len) if len <= UNROLLED_COPY => self.copy_chunks(len, from, to),
            Some(_) | None => {
                let bytes = self.context_word(offset_of!(Context, room.padded));
                let [header, done] = [self.block(), self.block()];
                let at = self.b.append_block_param(header, types::I64);
                let zero = self.word(0);
                self.jump_with(header, zero);
                self.go_on_in(header);
                let (source, target) = (self.b.ins().iadd(from, at), self.b.ins().iadd(to, at));
                let chunk = self.load(types::I8X16, source, 0);
                self.store(chunk, target, 0);
                let next = self.b.ins().iadd_imm_u(at, CHUNK as i64);
                let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, bytes);
                self.b.ins().brif(more, header, &[next.into()], done, &[]);
                self.go_on_in(done);
            }
        }
        self.b.ins().return_(&[]);
    }

    /// The location of a process whose type may be known only at run time.
    pub(super) fn load_location(&mut self, state: Value, start: Offset) -> Number {
        let station = self.load_station(state, start);
        let station = self.index(station);
        let of = self.load_scalar(state, start, Scalar::unsigned(8));
        let of = self.index(of);
        let width = self.word(self.program.most_stations() as u64);
        let row = self.b.ins().imul(of, width);
        let at = self.b.ins().iadd(row, station);
        let at = self.b.ins().iadd(at, at);
        let locations = self.context_word(offset_of!(Context, locations));
        let at = self.b.ins().iadd(locations, at);
        Number::Computed(self.b.ins().uload16(types::I32, TRUSTED, at, 0), Range { low: 0, high: 0xffff })
    }

    /// The station of a process.
    pub(super) fn load_station(&mut self, state: Value, start: Offset) -> Number {
        let at = start.plus(1);
        let station = self.load_scalar(state, at, Scalar::unsigned(8 * self.program.layout.location_bytes as u8));
        let Some(codes) = self.program.codes.filter(|_| self.program.only_words) else { return station };
        // Only the words contain the location, possibly one far from those in which the process can stay.
        let far = codes.far().iter().filter(|far| at.computed.is_some() || at.fixed == far.at);
        far.fold(station, |station, far| {
            let exclusive = self.load_scalar(state, Offset::fixed(0), Scalar::unsigned(8));
            let exclusive = self.value(exclusive);
            let is_far = self.b.ins().icmp_imm_u(IntCC::Equal, exclusive, i64::from(far.alias));
            let here = self.offset_value(at);
            let is_it = self.b.ins().icmp_imm_u(IntCC::Equal, here, i64::from(far.at));
            let is_far = self.b.ins().band(is_far, is_it);
            let near = self.value(station);
            let ahead = self.b.ins().iadd_imm_u(near, i64::from(far.ahead));
            Number::Computed(self.b.ins().select(is_far, ahead, near), Range { low: 0, high: 0xffff })
        })
    }

    /// The bits of a step without a partner.
    pub(super) fn step_bits(&mut self, edge: EdgeId, env: &Env) -> Value {
        const NO_PARTNER: u64 = 0xff;
        let bits = self.step_begin(edge, NO_PARTNER << 32, env);
        self.with_timeout(bits, env)
    }

    /// The process and the edge of a step, and more bits.
    pub(super) fn step_begin(&mut self, edge: EdgeId, more: u64, env: &Env) -> Value {
        let bits = u64::from(edge.0) << 8 | more;
        match env.who.number {
            Number::Known(process) => self.word(bits | process as u64),
            Number::Computed(..) => {
                let process = self.index(env.who.number);
                let bits = self.word(bits);
                self.b.ins().iadd(bits, process)
            }
        }
    }

    pub(super) fn with_timeout(&mut self, bits: Value, env: &Env) -> Value {
        if !self.program.uses_timeout || env.purpose == Purpose::Whether {
            return bits;
        }
        let timeout = self.context_word(offset_of!(Context, timeout));
        self.b.ins().bor(bits, timeout)
    }

    /// From now on, failures are possible that do not end the step.
    pub(super) fn begin_failures(&mut self, count: Value, first: Value) {
        let failures = Failures { count: self.b.declare_var(types::I32), first: self.b.declare_var(types::I64) };
        self.b.def_var(failures.count, count);
        self.b.def_var(failures.first, first);
        self.failures = Some(failures);
    }

    pub(super) fn begin_no_failures(&mut self) {
        let (count, first) = (self.b.ins().iconst(types::I32, 0), self.word(0));
        self.begin_failures(count, first);
    }

    /// Records a failure that does not end the step.
    pub(super) fn fail(&mut self, kind: FaultKind, statement: StatementId) {
        let failures = self.failures.expect("it was said that something may fail");
        let count = self.b.use_var(failures.count);
        let first = self.b.use_var(failures.first);
        let this = self.word(failure(kind, statement.0));
        let first = self.b.ins().select(count, first, this);
        let count = self.b.ins().iadd_imm_u(count, 1);
        self.b.def_var(failures.first, first);
        self.b.def_var(failures.count, count);
    }

    /// Fills a block for faults, if there are any: writes an entry with the fault at the statement.
    pub(super) fn write_broken(&mut self, faults: Block, step: Value, statement: StatementId, then: Block) {
        let Some(kind) = self.enter_fault(faults) else { return };
        let place = self.word(u64::from(statement.0) << 32);
        let what = self.b.ins().bor(kind, place);
        let times = match self.failures {
            None => self.b.ins().iconst(types::I32, 1),
            Some(failures) => {
                let count = self.b.use_var(failures.count);
                self.b.ins().iadd_imm_u(count, 1)
            }
        };
        let context = self.context;
        self.call_writer(Callee::Helper(Helper::Broken), &[context], &[step, what, times]);
        self.jump(then);
    }

    /// Moves the process along the edge in the state at `to`, and ends the entry.
    pub(super) fn conclude(&mut self, edge: &Edge, env: &Env, to: Value, step: Value) {
        let who = env.who;
        let layout = self.program.layout;
        for place in &edge.forgets {
            let spot = self.find(place, env);
            self.store_spot(to, spot, place.scalar, Number::Known(place.scalar.blank()));
        }
        if let Some(last) = layout.last {
            self.store_bytes(to, Offset::fixed(last as u32), 1, who.number);
        }
        match edge.target {
            Some(target) => {
                let of = who.of.expect("a process that moves");
                let far = self.far(edge, &who, of, target);
                self.set_location(to, of, who.start, target, far);
                self.set_exclusive(edge, &who, to, far);
                if edge.atomic {
                    self.settle(&who, target, to);
                }
            }
            None => {
                let count = self.process_count(to);
                let fewer = self.b.ins().iadd_imm_s(count, -1);
                self.write_bytes(to, Offset::fixed(layout.process_count as u32), 1, fewer);
                self.set_exclusive(edge, &who, to, None);
            }
        }
        let coding = self.coding.take().filter(|_| edge.target.is_some());
        let on = self.block();
        if let Some(coding) = coding {
            let in_full = coding.otherwise;
            self.write_words(coding, edge, to, step, in_full);
            self.jump(on);
            self.go_on_in(in_full);
        }
        if self.program.only_words {
            let context = self.context;
            self.call_writer(Callee::Helper(Helper::Fire), &[context], &[step]);
            self.jump(on);
            return self.go_on_in(on);
        }
        let out = self.b.use_var(self.out);
        self.store(step, out, 0);
        let shape = self.shape_word(edge, &who);
        self.store(shape, out, 8);
        self.report(edge, out, to);
        let next = self.after_entry(out);
        self.b.def_var(self.out, next);
        self.jump(on);
        self.go_on_in(on);
    }

    /// Ends the entry with words, if the state fits into them and there is no failure.
    fn write_words(&mut self, coding: Coding, edge: &Edge, to: Value, step: Value, otherwise: Block) {
        if let Some(failures) = self.failures {
            let count = self.b.use_var(failures.count);
            self.if_leave(count, otherwise);
        }
        let words = self.coded(coding, otherwise);
        if !self.program.system.invariants.is_empty() {
            let hold = self.block();
            if edge.atomic {
                let exclusive = self.b.ins().uload8(types::I32, TRUSTED, to, 0);
                self.if_leave(exclusive, hold);
            }
            let context = self.context;
            let broken = self.call(Callee::Invariants, &[context, to]).expect("it returns a word");
            self.b.ins().brif(broken, otherwise, &[], hold, &[]);
            self.go_on_in(hold);
        }
        let out = self.b.use_var(self.out);
        self.store(step, out, 0);
        for (at, word) in words.iter().enumerate() {
            self.store(*word, out, 8 + 8 * at);
        }
        let next = self.b.ins().iadd_imm_u(out, 8 + 8 * words.len() as i64);
        self.b.def_var(self.out, next);
    }

    /// The code of a process that continues with exclusive control from a location in which it could not stay.
    fn far(&self, edge: &Edge, who: &CurrentProcess, of: ProcessTypeId, target: LocationId) -> Option<Far> {
        let codes = self.program.codes.filter(|_| edge.atomic && self.program.is_never_stuck(of, target))?;
        let at = Some(who.start.plus(1)).filter(|at| at.computed.is_none())?.fixed;
        let station = u64::from(self.program.layout.station(of, target));
        codes.far_at(at, station.checked_sub(codes.table()[at as usize].low)?).copied()
    }

    fn set_location(&mut self, to: Value, of: ProcessTypeId, start: Offset, target: LocationId, far: Option<Far>) {
        let bytes = self.program.layout.location_bytes as u32;
        let station = i32::from(self.program.layout.station(of, target));
        let coded = Number::Known(station - far.map_or(0, |far| far.ahead.cast_signed()));
        self.store_bytes_as(to, start.plus(1), bytes, Number::Known(station), coded);
    }

    fn set_exclusive(&mut self, edge: &Edge, who: &CurrentProcess, to: Value, far: Option<Far>) {
        if !self.program.uses_exclusive {
            return;
        }
        let exclusive = match who.number {
            _ if !edge.atomic || edge.target.is_none() => Number::Known(0),
            Number::Known(process) => Number::Known(process + 1),
            Number::Computed(process, Range { low, high }) => {
                Number::Computed(self.b.ins().iadd_imm_u(process, 1), Range { low: low + 1, high: high + 1 })
            }
        };
        let coded = far.map_or(exclusive, |far| Number::Known(i32::from(far.alias)));
        self.store_bytes_as(to, Offset::fixed(0), 1, exclusive, coded);
    }

    /// A process inside an atomic sequence that is blocked loses exclusive control.
    fn settle(&mut self, who: &CurrentProcess, target: LocationId, to: Value) {
        let of = who.of.expect("a process moves");
        if self.program.is_never_stuck(of, target) {
            return;
        }
        let context = self.context;
        let can_move = if self.program.asks_interpreter(of, target) {
            self.help(Helper::CanMove, &[context, to])
        } else {
            let (number, start) = (self.value(who.number), self.offset_value(who.start));
            self.call(Callee::CanMove(of), &[context, to, number, start])
        };
        let can_move = can_move.expect("it returns a number");
        let (stuck, on) = (self.block(), self.block());
        self.b.ins().brif(can_move, on, &[], stuck, &[]);
        self.go_on_in(stuck);
        self.store_bytes(to, Offset::fixed(0), 1, Number::Known(0));
        self.jump(on);
        self.go_on_in(on);
    }

    /// The second word of an entry without a fault.
    fn shape_word(&mut self, edge: &Edge, who: &CurrentProcess) -> Value {
        let program = self.program;
        match (edge.target, program.len) {
            (Some(_), Some(len)) if !program.may_end => self.word(shape(len, DONE, 0)),
            (Some(_), _) => self.context_word(offset_of!(Context, shape)),
            (None, _) => {
                // The state ends where the process began.
                let usual = self.context_word(offset_of!(Context, shape));
                let mask = self.word(!u64::from(u32::MAX));
                let rest = self.b.ins().band(usual, mask);
                let len = self.offset_value(who.start);
                self.b.ins().bor(rest, len)
            }
        }
    }

    /// Writes failures, or the violated invariant, to the entry.
    fn report(&mut self, edge: &Edge, entry: Value, to: Value) {
        if self.failures.is_none() && self.program.system.invariants.is_empty() {
            return;
        }
        let done = self.block();
        if let Some(failures) = self.failures {
            let count = self.b.use_var(failures.count);
            let (cold, on) = (self.cold_block(), self.block());
            self.b.ins().brif(count, cold, &[], on, &[]);
            self.go_on_in(cold);
            let first = self.b.use_var(failures.first);
            self.help(Helper::Failed, &[entry, first, count]);
            self.jump(done);
            self.go_on_in(on);
        }
        if !self.program.system.invariants.is_empty() {
            if edge.atomic && edge.target.is_some() {
                let exclusive = self.b.ins().uload8(types::I32, TRUSTED, to, 0);
                self.if_leave(exclusive, done);
            }
            let context = self.context;
            let broken = self.call(Callee::Invariants, &[context, to]).expect("it returns a word");
            let (cold, on) = (self.cold_block(), self.block());
            self.b.ins().brif(broken, cold, &[], on, &[]);
            self.go_on_in(cold);
            let what = self.b.ins().iadd_imm_s(broken, -1);
            let once = self.b.ins().iconst(types::I32, 1);
            self.help(Helper::Failed, &[entry, what, once]);
            self.jump(on);
            self.go_on_in(on);
        }
        self.jump(done);
        self.go_on_in(done);
    }

    /// Returns the propositions that hold, one bit for each; the last bit if one cannot be evaluated.
    pub(super) fn propositions(&mut self) {
        let program = self.program;
        let state = self.source();
        let fault = self.fault_block();
        let who = CurrentProcess { of: None, number: Number::Known(0), start: Offset::fixed(0) };
        let env = Env { state, who, purpose: Purpose::Whether, offered: false, fault };
        let mut all = self.word(0);
        for (bit, (condition, _)) in program.system.propositions.iter().enumerate() {
            let [yes, no, next] = [self.block(), self.block(), self.block()];
            let joined = self.b.append_block_param(next, types::I64);
            self.branch(condition, &env, yes, no);
            self.go_on_in(yes);
            let bit = self.word(1 << bit);
            let with = self.b.ins().bor(all, bit);
            self.jump_with(next, with);
            self.go_on_in(no);
            self.jump_with(next, all);
            self.go_on_in(next);
            all = joined;
        }
        self.b.ins().return_(&[all]);
        if self.enter_fault(fault).is_some() {
            let unknown = self.word(UNKNOWN);
            self.b.ins().return_(&[unknown]);
        }
    }

    /// Returns the failure of the first invariant that does not hold, plus 1; 0 if all hold.
    pub(super) fn invariants(&mut self, state: Value) {
        let program = self.program;
        let who = CurrentProcess { of: None, number: Number::Known(0), start: Offset::fixed(0) };
        for (condition, statement) in &program.system.invariants {
            let (holds, violated) = (self.block(), self.cold_block());
            let fault = self.fault_block();
            let env = Env { state, who, purpose: Purpose::Whether, offered: false, fault };
            self.branch(condition, &env, holds, violated);
            self.go_on_in(violated);
            let what = self.word(failure(FaultKind::Invariant, statement.0) + 1);
            self.b.ins().return_(&[what]);
            if let Some(kind) = self.enter_fault(fault) {
                let what = self.b.ins().iadd_imm_u(kind, ((u64::from(statement.0) << 32) + 1) as i64);
                self.b.ins().return_(&[what]);
            }
            self.go_on_in(holds);
        }
        let fine = self.word(0);
        self.b.ins().return_(&[fine]);
    }
}
