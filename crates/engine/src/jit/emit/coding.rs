//! Packed successors: only the numbers that a step writes are coded again.
//!
//! The position of a number in the word is looked up at run time, unless the code is specialised for one packing. If
//! that has two words, so has the successor.

use super::number::{Number, Offset};
use super::{Emitter, TRUSTED};
use crate::jit::by_interpreter::Helper;
use crate::jit::context::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use entail_ir::Scalar;
use entail_ir::interpret::{Code, Codes};
use std::mem::{offset_of, size_of};

/// The words of the state under construction.
#[derive(Clone, Copy)]
pub(super) struct Coding {
    /// The address of the state.
    to: Value,
    words: [Variable; 2],
    /// Negative as long as all numbers have codes.
    fits: Variable,
    /// The block for states that do not fit into words.
    pub(super) otherwise: Block,
    /// Something unknown was written, so all numbers must be coded again.
    whole: bool,
}

impl Emitter<'_, '_> {
    /// From now on, stores to the state at `to`, a copy of the expanded state, also update the code.
    pub(super) fn begin_coding(&mut self, to: Value) {
        let [low, high, fits] = [(); 3].map(|()| self.b.declare_var(types::I64));
        let coding = Coding { to, words: [low, high], fits, otherwise: self.cold_block(), whole: false };
        for word in 0..self.coded_words() {
            let value = match self.source_words.get(word) {
                Some(value) => *value,
                None => self.context_word(offset_of!(Context, words) + 8 * word),
            };
            self.b.def_var(coding.words[word], value);
        }
        let fits = self.word(u64::MAX);
        self.b.def_var(coding.fits, fits);
        self.coding = Some(coding);
    }

    /// The words of a state that exists only as words.
    fn words_of(&mut self, state: Value) -> Vec<Value> {
        match self.coding {
            Some(coding) if coding.to == state => {
                (0..self.coded_words()).map(|word| self.b.use_var(coding.words[word])).collect()
            }
            Some(_) | None => {
                debug_assert_eq!(self.source, Some(state), "a state that has been read or written here");
                self.source_words.clone()
            }
        }
    }

    /// Reads a number from the words of a state.
    pub(super) fn decode(&mut self, state: Value, at: Offset, scalar: Scalar) -> Number {
        let words = self.words_of(state);
        let read = Scalar { bits: if scalar.signed { scalar.bits } else { 8 * scalar.size() as u8 }, ..scalar };
        let table = self.program.codes.expect("it is known how states are packed").table();
        let Some(computed) = at.computed else {
            let code = table[at.fixed as usize];
            if code.limit == 1 {
                // Without bits for a process with exclusive control, there is none.
                let only = if at.fixed == 0 { 0 } else { read.truncate(code.low as u32 as i32) };
                return Number::Known(only);
            }
            let word = words[(code.shift / 64) as usize];
            let number = match code.shift % 64 {
                0 => word,
                shift => self.b.ins().ushr_imm_u(word, shift.cast_signed()),
            };
            let number = self.b.ins().band_imm_u(number, (code.limit - 1).cast_signed());
            let number = self.b.ins().ireduce(types::I32, number);
            let number = match code.low {
                0 => number,
                low => {
                    let sum = self.b.ins().iadd_imm_s(number, i64::from(low as u32 as i32));
                    // The process with exclusive control; if there is none, the code is 0 in any case.
                    if at.fixed == 0 { self.b.ins().select(number, sum, number) } else { sum }
                }
            };
            if at.fixed == 0 {
                return Number::Computed(number, scalar.representable());
            }
            let range = self.range_at(state, at, scalar);
            let is_exact = range != scalar.representable();
            return Number::Computed(if is_exact { number } else { self.truncate_value(number, read) }, range);
        };
        let table = self.word(table.as_ptr() as u64);
        let rows = self.b.ins().ishl_imm_u(computed, i64::from(size_of::<Code>().ilog2()));
        let row = self.b.ins().iadd(table, rows);
        let row_at = at.fixed as usize * size_of::<Code>();
        let shift = self.load(types::I64, row, row_at + offset_of!(Code, shift));
        let limit = self.load(types::I64, row, row_at + offset_of!(Code, limit));
        let word = match words[..] {
            [low, high] => {
                let is_high = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, shift, 64);
                self.b.ins().select(is_high, high, low)
            }
            _ => words[0],
        };
        let number = self.b.ins().ushr(word, shift);
        let mask = self.b.ins().iadd_imm_s(limit, -1);
        let number = self.b.ins().band(number, mask);
        let number = self.b.ins().ireduce(types::I32, number);
        let low = self.load(types::I32, row, row_at + offset_of!(Code, low));
        let number = self.b.ins().iadd(number, low);
        Number::Computed(self.truncate_value(number, read), scalar.representable())
    }

    /// The number of words of a packed state.
    pub(super) fn coded_words(&self) -> usize {
        if self.program.codes.is_some_and(Codes::is_wide) { 2 } else { 1 }
    }

    /// Codes the lowest 1, 2 or 4 bytes of a number that is stored.
    fn code(&mut self, state: Value, at: Offset, bytes: u32, number: Number) {
        let Some(coding) = self.coding.filter(|coding| coding.to == state && !coding.whole) else { return };
        if at == Offset::fixed(0) && matches!(number, Number::Known(0)) {
            return self.code_no_process(coding);
        }
        match self.program.codes {
            Some(codes) if at.computed.is_none() => {
                self.code_known(coding, codes.table()[at.fixed as usize], bytes, number);
            }
            Some(_) | None => {
                let value = self.value(number);
                self.code_computed(coding, at, bytes, value);
            }
        }
    }

    /// Codes that no process has exclusive control: always 0.
    fn code_no_process(&mut self, coding: Coding) {
        let (keep, variable) = match self.program.codes.map(|codes| codes.table()[0]) {
            Some(code) => (self.word(code.keep), coding.words[(code.shift / 64) as usize]),
            None => {
                let table = self.context_word(offset_of!(Context, codes));
                (self.load(types::I64, table, offset_of!(Code, keep)), coding.words[0])
            }
        };
        let word = self.b.use_var(variable);
        let word = self.b.ins().band(word, keep);
        self.b.def_var(variable, word);
    }

    /// Codes a number whose bits are known at compile time.
    fn code_known(&mut self, coding: Coding, code: Code, bytes: u32, number: Number) {
        let wide = u32::MAX >> (32 - 8 * bytes);
        let low = code.low as u32;
        let coded = match number {
            Number::Known(value) => {
                let number = u64::from((value as u32).wrapping_sub(low) & wide);
                if number >= code.limit {
                    return self.never_fits(coding);
                }
                self.word(number << (code.shift % 64))
            }
            Number::Computed(value, _) => {
                let number = self.b.ins().iadd_imm_s(value, i64::from(low.cast_signed().wrapping_neg()));
                let number = self.cut(number, bytes);
                let number = self.b.ins().uextend(types::I64, number);
                if code.limit <= u64::from(wide) {
                    let below = self.b.ins().iadd_imm_s(number, -code.limit.cast_signed());
                    self.require_fit(coding, below);
                }
                self.b.ins().ishl_imm_u(number, (code.shift % 64).cast_signed())
            }
        };
        let variable = coding.words[(code.shift / 64) as usize];
        let word = self.b.use_var(variable);
        let others = self.b.ins().band_imm_s(word, code.keep.cast_signed());
        let word = self.b.ins().bor(others, coded);
        self.b.def_var(variable, word);
    }

    fn code_computed(&mut self, coding: Coding, at: Offset, bytes: u32, value: Value) {
        let table = self.context_word(offset_of!(Context, codes));
        let row = match at.computed {
            None => table,
            Some(computed) => {
                let rows = self.b.ins().ishl_imm_u(computed, i64::from(size_of::<Code>().ilog2()));
                self.b.ins().iadd(table, rows)
            }
        };
        let row_at = at.fixed as usize * size_of::<Code>();
        let low = self.load(types::I32, row, row_at + offset_of!(Code, low));
        let number = self.b.ins().isub(value, low);
        let number = self.cut(number, bytes);
        let number = self.b.ins().uextend(types::I64, number);
        let limit = self.load(types::I64, row, row_at + offset_of!(Code, limit));
        let below = self.b.ins().isub(number, limit);
        self.require_fit(coding, below);
        let shift = self.load(types::I64, row, row_at + offset_of!(Code, shift));
        let coded = self.b.ins().ishl(number, shift);
        let keep = self.load(types::I64, row, row_at + offset_of!(Code, keep));
        if self.coded_words() == 1 {
            let word = self.b.use_var(coding.words[0]);
            let others = self.b.ins().band(word, keep);
            let word = self.b.ins().bor(others, coded);
            return self.b.def_var(coding.words[0], word);
        }
        let is_high = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, shift, 64);
        let [low, high] = coding.words.map(|word| self.b.use_var(word));
        let word = self.b.ins().select(is_high, high, low);
        let others = self.b.ins().band(word, keep);
        let word = self.b.ins().bor(others, coded);
        let new_low = self.b.ins().select(is_high, low, word);
        let new_high = self.b.ins().select(is_high, word, high);
        self.b.def_var(coding.words[0], new_low);
        self.b.def_var(coding.words[1], new_high);
    }

    /// The lowest 1, 2 or 4 bytes.
    fn cut(&mut self, number: Value, bytes: u32) -> Value {
        match bytes {
            1 => self.b.ins().band_imm_u(number, 0xff),
            2 => self.b.ins().band_imm_u(number, 0xffff),
            _ => number,
        }
    }

    /// Records that the state does not fit into words.
    fn never_fits(&mut self, coding: Coding) {
        if self.program.only_words {
            self.jump(coding.otherwise);
            // The following code is unreachable, but must exist.
            let nowhere = self.block();
            return self.go_on_in(nowhere);
        }
        let never = self.word(0);
        self.b.def_var(coding.fits, never);
    }

    /// The state fits into words only if this is negative.
    fn require_fit(&mut self, coding: Coding, below: Value) {
        if self.program.only_words {
            // The words may be read again from here on.
            let fits = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, below, 0);
            return self.unless_leave(fits, coding.otherwise);
        }
        let fits = self.b.use_var(coding.fits);
        let fits = self.b.ins().band(fits, below);
        self.b.def_var(coding.fits, fits);
    }

    /// Records a store that is not a single number.
    pub(super) fn code_whole(&mut self, state: Value) {
        if let Some(coding) = self.coding.as_mut().filter(|coding| coding.to == state) {
            coding.whole = true;
        }
    }

    /// The words, the last one first; jumps to `otherwise` if the state does not fit.
    pub(super) fn coded(&mut self, coding: Coding, otherwise: Block) -> Vec<Value> {
        let words = (0..self.coded_words()).rev();
        if !coding.whole {
            if !self.program.only_words {
                let fits = self.b.use_var(coding.fits);
                let fits = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, fits, 0);
                self.unless_leave(fits, otherwise);
            }
            return words.map(|word| self.b.use_var(coding.words[word])).collect();
        }
        let context = self.context;
        let fits = self.help(Helper::Pack, &[context, coding.to]).expect("it returns a number");
        self.unless_leave(fits, otherwise);
        words.map(|word| self.context_word(offset_of!(Context, packed) + 8 * word)).collect()
    }

    /// Writes the lowest 1, 2 or 4 bytes of a number.
    pub(super) fn store_bytes(&mut self, state: Value, at: Offset, bytes: u32, number: Number) {
        self.store_bytes_as(state, at, bytes, number, number);
    }

    /// The same, but codes another number.
    pub(super) fn store_bytes_as(&mut self, state: Value, at: Offset, bytes: u32, number: Number, coded: Number) {
        if !self.program.only_words {
            let value = self.value(number);
            self.write_bytes(state, at, bytes, value);
        }
        self.code(state, at, bytes, coded);
    }

    /// The same outside of a packed state.
    pub(super) fn write_bytes(&mut self, state: Value, at: Offset, bytes: u32, value: Value) {
        let (pointer, offset) = self.address(state, at);
        match bytes {
            1 => self.b.ins().istore8(TRUSTED, value, pointer, offset),
            2 => self.b.ins().istore16(TRUSTED, value, pointer, offset),
            _ => self.b.ins().store(TRUSTED, value, pointer, offset),
        };
    }
}
