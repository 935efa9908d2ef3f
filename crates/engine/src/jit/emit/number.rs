//! Numbers that are known at compile time or at run time.

use super::{Emitter, TRUSTED};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use entail_ir::{Range, Scalar};

/// A 32-bit number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Known(i32),
    /// A value within the range.
    Computed(Value, Range),
}

/// An offset in a state, in bytes: a fixed part, and a part computed at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset {
    pub fixed: u32,
    /// A 64-bit value.
    pub computed: Option<Value>,
}

pub(crate) const BOOLEAN: Range = Range { low: 0, high: 1 };

impl Number {
    pub fn range(self) -> Range {
        match self {
            Number::Known(value) => Range { low: value, high: value },
            Number::Computed(_, range) => range,
        }
    }

    pub fn known(self) -> Option<i32> {
        match self {
            Number::Known(value) => Some(value),
            Number::Computed(..) => None,
        }
    }

    /// Whether it is known to be within the range.
    pub fn is_within(self, range: Range) -> bool {
        range.contains(self.range().low) && range.contains(self.range().high)
    }
}

impl Offset {
    pub const fn fixed(fixed: u32) -> Self {
        Offset { fixed, computed: None }
    }

    #[must_use]
    pub fn plus(self, bytes: u32) -> Self {
        Offset { fixed: self.fixed + bytes, ..self }
    }
}

impl Emitter<'_, '_> {
    /// The number as a value of the code.
    pub(super) fn value(&mut self, number: Number) -> Value {
        match number {
            Number::Known(value) => self.b.ins().iconst(types::I32, i64::from(value as u32)),
            Number::Computed(value, _) => value,
        }
    }

    /// The nonnegative number as a 64-bit value.
    pub(super) fn index(&mut self, number: Number) -> Value {
        match number {
            Number::Known(value) => self.b.ins().iconst(types::I64, i64::from(value)),
            Number::Computed(value, _) => self.b.ins().uextend(types::I64, value),
        }
    }

    /// The offset plus `number` times `bytes`.
    pub(super) fn add_times(&mut self, offset: Offset, number: Number, bytes: u32) -> Offset {
        match number {
            Number::Known(value) => offset.plus(value as u32 * bytes),
            Number::Computed(..) => {
                let index = self.index(number);
                let more = match bytes {
                    1 => index,
                    bytes if bytes.is_power_of_two() => self.b.ins().ishl_imm_u(index, i64::from(bytes.ilog2())),
                    bytes => self.b.ins().imul_imm_u(index, i64::from(bytes)),
                };
                self.add_word(offset, more)
            }
        }
    }

    pub(super) fn add_word(&mut self, offset: Offset, more: Value) -> Offset {
        let computed = match offset.computed {
            Some(value) => self.b.ins().iadd(value, more),
            None => more,
        };
        Offset { computed: Some(computed), ..offset }
    }

    /// The offset as a 64-bit value.
    pub(super) fn offset_value(&mut self, offset: Offset) -> Value {
        match offset.computed {
            None => self.b.ins().iconst(types::I64, i64::from(offset.fixed)),
            Some(value) if offset.fixed == 0 => value,
            Some(value) => self.b.ins().iadd_imm_u(value, i64::from(offset.fixed)),
        }
    }

    /// A pointer, and an offset to add to it.
    pub(super) fn address(&mut self, state: Value, offset: Offset) -> (Value, i32) {
        let pointer = match offset.computed {
            Some(value) => self.b.ins().iadd(state, value),
            None => state,
        };
        (pointer, offset.fixed as i32)
    }

    /// Reads a number from a state.
    pub(super) fn load_scalar(&mut self, state: Value, at: Offset, scalar: Scalar) -> Number {
        if self.program.only_words {
            return self.decode(state, at, scalar);
        }
        let (pointer, offset) = self.address(state, at);
        let whole = u32::from(scalar.bits) == 8 * scalar.size();
        let ins = self.b.ins();
        let value = match (scalar.size(), scalar.signed && whole) {
            (1, false) => ins.uload8(types::I32, TRUSTED, pointer, offset),
            (1, true) => ins.sload8(types::I32, TRUSTED, pointer, offset),
            (2, false) => ins.uload16(types::I32, TRUSTED, pointer, offset),
            (2, true) => ins.sload16(types::I32, TRUSTED, pointer, offset),
            (_, _) => ins.load(types::I32, TRUSTED, pointer, offset),
        };
        let value = if scalar.signed && !whole { self.truncate_value(value, scalar) } else { value };
        Number::Computed(value, self.range_at(state, at, scalar))
    }

    /// The range of a number read from a state: in packed states, only values with a code.
    pub(super) fn range_at(&self, state: Value, at: Offset, scalar: Scalar) -> Range {
        let range = scalar.representable();
        let packed = self.program.only_words || self.source == Some(state);
        let code = self.program.codes.filter(|_| packed && at.computed.is_none());
        let code = code
            .filter(|codes| codes.far().iter().all(|far| far.at != at.fixed))
            .map(|codes| codes.table()[at.fixed as usize]);
        let Some(code) = code.filter(|code| code.limit > 0) else {
            return range;
        };
        // If the codes wrap around from the greatest number to the least one, nothing is known.
        let (low, high) = (code.low, code.low + code.limit - 1);
        match (i32::try_from(low), i32::try_from(high)) {
            (Ok(low), Ok(high)) if range.contains(low) && range.contains(high) => Range { low, high },
            _ => range,
        }
    }

    /// Writes a number to a state, truncated to its size.
    pub(super) fn store_scalar(&mut self, state: Value, at: Offset, scalar: Scalar, number: Number) {
        let unsigned = Scalar { signed: false, ..scalar };
        let cut = match number {
            Number::Known(value) => Number::Known(unsigned.truncate(value)),
            Number::Computed(..) if u32::from(scalar.bits) == 8 * scalar.size() => number,
            Number::Computed(..) if number.is_within(unsigned.representable()) => number,
            Number::Computed(value, _) => {
                let mask = u32::MAX >> (32 - u32::from(scalar.bits));
                Number::Computed(self.b.ins().band_imm_u(value, i64::from(mask)), Range::ANY)
            }
        };
        self.store_bytes(state, at, scalar.size(), cut);
    }

    /// A number after it was stored and read again.
    pub(super) fn truncate(&mut self, number: Number, scalar: Scalar) -> Number {
        match number {
            Number::Known(value) => Number::Known(scalar.truncate(value)),
            Number::Computed(..) if number.is_within(scalar.representable()) => number,
            Number::Computed(value, _) => {
                Number::Computed(self.truncate_value(value, scalar), scalar.representable())
            }
        }
    }

    pub(super) fn truncate_value(&mut self, value: Value, scalar: Scalar) -> Value {
        let unused = i64::from(32 - u32::from(scalar.bits));
        match (unused, scalar.signed) {
            (0, _) => value,
            (_, true) => {
                let up = self.b.ins().ishl_imm_u(value, unused);
                self.b.ins().sshr_imm_u(up, unused)
            }
            (_, false) => self.b.ins().band_imm_u(value, i64::from(u32::MAX >> unused)),
        }
    }
}
