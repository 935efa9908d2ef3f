//! Places of variables.

use super::number::{Number, Offset};
use super::{Emitter, Env};
use crate::jit::context::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use entail_ir::{Base, Expr, FaultKind, Place, ProcessTypeId, Range, Scalar};
use std::mem::offset_of;

/// The offset of a place in a state, if it exists.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub at: Offset,
    pub exists: Exists,
}

#[derive(Clone, Copy)]
pub(super) enum Exists {
    Always,
    Never,
    If(Value),
}

/// A process that an expression refers to.
#[derive(Clone, Copy)]
pub(super) enum Other {
    /// At this offset.
    At(Offset),
    /// Exists only if the value is not 0.
    If(Value, Offset),
    Missing,
}

impl Emitter<'_, '_> {
    pub(super) fn find(&mut self, place: &Place, env: &Env) -> Spot {
        let layout = self.program.layout;
        let header = layout.process_header as u32;
        let always = |at| Spot { at, exists: Exists::Always };
        match &place.base {
            Base::Global => {
                let base = Offset::fixed(layout.globals() as u32 + place.offset);
                always(self.add_indices(base, place, env))
            }
            Base::Local => {
                let base = env.who.start.plus(header + place.offset);
                always(self.add_indices(base, place, env))
            }
            Base::Nowhere => {
                self.add_indices(Offset::fixed(0), place, env);
                Spot { at: Offset::fixed(0), exists: Exists::Never }
            }
            Base::Remote(process, of) => match self.process_of_type(process, *of, env) {
                Other::At(start) => always(self.add_indices(start.plus(header + place.offset), place, env)),
                Other::Missing => Spot { at: Offset::fixed(0), exists: Exists::Never },
                Other::If(exists, start) => {
                    let (found, join) = (self.block(), self.block());
                    let there = self.b.append_block_param(join, types::I8);
                    let at = self.b.append_block_param(join, types::I64);
                    let none = [self.b.ins().iconst(types::I8, 0), self.b.ins().iconst(types::I64, 0)];
                    self.b.ins().brif(exists, found, &[], join, &none.map(BlockArg::Value));
                    self.go_on_in(found);
                    let offset = self.add_indices(start.plus(header + place.offset), place, env);
                    let some = [self.b.ins().iconst(types::I8, 1), self.offset_value(offset)];
                    self.b.ins().jump(join, &some.map(BlockArg::Value));
                    self.go_on_in(join);
                    Spot { at: Offset { fixed: 0, computed: Some(at) }, exists: Exists::If(there) }
                }
            },
        }
    }

    fn add_indices(&mut self, mut at: Offset, place: &Place, env: &Env) -> Offset {
        for index in &place.indices {
            let number = self.eval(&index.value, env);
            let len = index.len as i32;
            if len <= 0 || number.known().is_some_and(|value| value < 0 || value >= len) {
                self.fault(FaultKind::Index, env);
                continue;
            }
            if !number.is_within(Range { low: 0, high: len - 1 }) {
                let value = self.value(number);
                // As an unsigned number, a negative number is large.
                let outside = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, value, i64::from(len));
                self.fault_if(outside, FaultKind::Index, env);
            }
            at = self.add_times(at, number, index.stride);
        }
        at
    }

    pub(super) fn load_place(&mut self, place: &Place, env: &Env) -> Number {
        if let Some(known) = self.program.facts.known(place, env.who.of) {
            return Number::Known(known);
        }
        let Spot { at, exists } = self.find(place, env);
        match exists {
            Exists::Always => self.load_scalar(env.state, at, place.scalar),
            Exists::Never => Number::Known(0),
            Exists::If(exists) => self.if_exists(exists, |this| this.load_scalar(env.state, at, place.scalar)),
        }
    }

    /// Stores to a state; the value was checked before.
    pub(super) fn store_spot(&mut self, state: Value, spot: Spot, scalar: Scalar, number: Number) {
        match spot.exists {
            Exists::Always => self.store_scalar(state, spot.at, scalar, number),
            Exists::Never => {}
            Exists::If(exists) => {
                let (found, on) = (self.block(), self.block());
                self.b.ins().brif(exists, found, &[], on, &[]);
                self.go_on_in(found);
                self.store_scalar(state, spot.at, scalar, number);
                self.jump(on);
                self.go_on_in(on);
            }
        }
    }

    /// A fault if the value may not be stored.
    pub(super) fn check(&mut self, number: Number, scalar: Scalar, env: &Env) {
        let Some(range) = scalar.range else { return };
        if number.is_within(range) {
            return;
        }
        let known_bad = number.range().high < range.low || number.range().low > range.high;
        if known_bad {
            return self.fault(FaultKind::Range, env);
        }
        let value = self.value(number);
        // The distance from `low`.
        let distance = self.b.ins().iadd_imm_s(value, i64::from(range.low.wrapping_neg()));
        let width = i64::from(range.high.wrapping_sub(range.low) as u32);
        let outside = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, distance, width);
        self.fault_if(outside, FaultKind::Range, env);
    }

    /// The result of `found` if the value is not 0; 0 otherwise.
    pub(super) fn if_exists(&mut self, exists: Value, found: impl FnOnce(&mut Self) -> Number) -> Number {
        let (there, join) = (self.block(), self.block());
        let result = self.b.append_block_param(join, types::I32);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.ins().brif(exists, there, &[], join, &[BlockArg::Value(zero)]);
        self.go_on_in(there);
        let number = found(self);
        let value = self.value(number);
        self.jump_with(join, value);
        self.go_on_in(join);
        let Range { low, high } = number.range();
        Number::Computed(result, Range { low: low.min(0), high: high.max(0) })
    }

    /// The process with the number that an expression gives.
    pub(super) fn process_at(&mut self, process: &Expr, env: &Env) -> Other {
        let number = self.eval(process, env);
        match number.known() {
            Some(known) => self.known_process(known, env.state),
            None => {
                let number = self.value(number);
                self.computed_process(number, env.state)
            }
        }
    }

    fn known_process(&mut self, number: i32, state: Value) -> Other {
        let Ok(index) = u8::try_from(number) else { return Other::Missing };
        if let Some(fixed) = self.program.facts.fixed() {
            let Some(process) = fixed.get(usize::from(index)) else { return Other::Missing };
            let start = Offset::fixed(process.start);
            return match self.exists(usize::from(index), state) {
                None => Other::At(start),
                Some(exists) => Other::If(exists, start),
            };
        }
        let number = self.b.ins().iconst(types::I32, i64::from(index));
        self.computed_process(number, state)
    }

    /// Whether a process that existed initially still exists; `None` if it certainly does.
    pub(super) fn exists(&mut self, process: usize, state: Value) -> Option<Value> {
        self.program.may_end.then(|| {
            let count = self.process_count(state);
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, process as i64)
        })
    }

    fn computed_process(&mut self, number: Value, state: Value) -> Other {
        let count = self.process_count(state);
        let exists = self.b.ins().icmp(IntCC::UnsignedLessThan, number, count);
        let (found, join) = (self.block(), self.block());
        let there = self.b.append_block_param(join, types::I8);
        let start = self.b.append_block_param(join, types::I64);
        let none = [self.b.ins().iconst(types::I8, 0), self.b.ins().iconst(types::I64, 0)];
        self.b.ins().brif(exists, found, &[], join, &none.map(BlockArg::Value));
        self.go_on_in(found);
        let some = [self.b.ins().iconst(types::I8, 1), self.context_element(offset_of!(Context, starts), number)];
        self.b.ins().jump(join, &some.map(BlockArg::Value));
        self.go_on_in(join);
        Other::If(there, Offset { fixed: 0, computed: Some(start) })
    }

    /// The process with the number that an expression gives, if it is of a type.
    fn process_of_type(&mut self, process: &Expr, of: ProcessTypeId, env: &Env) -> Other {
        let number = self.eval(process, env);
        if let (Some(fixed), Some(known)) = (self.program.facts.fixed(), number.known()) {
            let right = usize::try_from(known).ok().and_then(|index| fixed.get(index));
            return match right {
                Some(process) if process.process_type == of => self.known_process(known, env.state),
                Some(_) | None => Other::Missing,
            };
        }
        let number = self.value(number);
        match self.computed_process(number, env.state) {
            Other::Missing => Other::Missing,
            Other::At(start) => Other::At(start),
            Other::If(exists, start) => {
                // The first byte of a process is its type. If there is no process, the value read is irrelevant.
                let (pointer, offset) = self.address(env.state, start);
                let found = self.b.ins().uload8(types::I32, super::TRUSTED, pointer, offset);
                let same = self.b.ins().icmp_imm_u(IntCC::Equal, found, i64::from(of.0));
                Other::If(self.b.ins().band(exists, same), start)
            }
        }
    }
}
