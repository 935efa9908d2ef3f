//! Expressions.

use super::number::{BOOLEAN, Number};
use super::place::Other;
use super::{Emitter, Env, Purpose};
use crate::jit::context::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use entail_ir::{BinaryOp, ChannelTest, Expr, FaultKind, Range, Scalar, UnaryOp, ranges};
use std::mem::offset_of;

/// Emits one instruction on two values.
type Emit = fn(&mut FunctionBuilder, Value, Value) -> Value;

impl Emitter<'_, '_> {
    pub(super) fn eval(&mut self, expr: &Expr, env: &Env) -> Number {
        match expr {
            Expr::Const(value) => Number::Known(*value),
            Expr::Load(place) => self.load_place(place, env),
            Expr::Unary(op, operand) => {
                let operand = self.eval(operand, env);
                self.unary(*op, operand)
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, _) => self.as_number(expr, env),
            Expr::Binary(op, sides) => {
                let left = self.eval(&sides.0, env);
                let right = self.eval(&sides.1, env);
                self.binary(*op, left, right, env)
            }
            Expr::Conditional(parts) => self.conditional(&parts.0, &parts.1, &parts.2, env),
            Expr::Length(channel) => {
                let channel = self.channel(channel, env);
                self.length(&channel, env)
            }
            Expr::Channel(test, channel) => {
                let channel = self.channel(channel, env);
                let full = match test {
                    ChannelTest::Full | ChannelTest::NotFull => self.is_full(&channel, env),
                    ChannelTest::Empty | ChannelTest::NotEmpty => {
                        let length = self.length(&channel, env);
                        self.unary(UnaryOp::Not, length)
                    }
                };
                match test {
                    ChannelTest::Full | ChannelTest::Empty => full,
                    ChannelTest::NotFull | ChannelTest::NotEmpty => self.unary(UnaryOp::Not, full),
                }
            }
            Expr::Poll(poll) => self.poll(poll, env),
            Expr::Myself => env.who.number,
            Expr::ProcessCount => {
                let count = self.process_count(env.state);
                Number::Computed(count, Range { low: 0, high: 255 })
            }
            Expr::Last => match self.program.layout.last {
                None => Number::Known(0),
                Some(at) => self.load_scalar(env.state, super::Offset::fixed(at as u32), Scalar::unsigned(8)),
            },
            Expr::Timeout => match env.purpose {
                Purpose::Whether => Number::Known(0),
                Purpose::ForSteps => {
                    let bit = self.context_word(offset_of!(Context, timeout));
                    let flag = self.b.ins().ushr_imm_u(bit, 63);
                    Number::Computed(self.b.ins().ireduce(types::I32, flag), BOOLEAN)
                }
            },
            Expr::Fault(kind) => {
                self.fault(*kind, env);
                Number::Known(0)
            }
            Expr::LocationOf(process) => self.location_of(process, env),
            Expr::At(process, location) => {
                let here = self.location_of(process, env);
                self.binary(BinaryOp::Eq, here, Number::Known(i32::from(location.0)), env)
            }
            // Systems with priorities are not compiled; in others, all priorities are 1.
            Expr::PriorityOf(process) => match self.process_at(process, env) {
                Other::At(_) => Number::Known(1),
                Other::Missing => Number::Known(0),
                Other::If(exists, _) => self.boolean(exists),
            },
            Expr::Find(process_type) => {
                let fixed = self.program.facts.fixed().expect("searching among changing processes is hard");
                let position = fixed.iter().position(|process| process.process_type == *process_type);
                let Some(position) = position else { return Number::Known(-1) };
                match self.exists(position, env.state) {
                    None => Number::Known(position as i32),
                    Some(exists) => {
                        let [yes, no] = [position as i32, -1].map(|number| self.value(Number::Known(number)));
                        let found = self.b.ins().select(exists, yes, no);
                        Number::Computed(found, Range { low: -1, high: position as i32 })
                    }
                }
            }
            Expr::Started | Expr::Enabled(_) | Expr::NonProgress | Expr::Accepting => {
                unreachable!("hard expressions are left to the interpreter")
            }
        }
    }

    /// Jumps to one of two blocks.
    pub(super) fn branch(&mut self, expr: &Expr, env: &Env, yes: Block, no: Block) {
        match expr {
            Expr::Unary(UnaryOp::Not, operand) => self.branch(operand, env, no, yes),
            Expr::Binary(BinaryOp::And, sides) => {
                let both = self.block();
                self.branch(&sides.0, env, both, no);
                self.go_on_in(both);
                self.branch(&sides.1, env, yes, no);
            }
            Expr::Binary(BinaryOp::Or, sides) => {
                let second = self.block();
                self.branch(&sides.0, env, yes, second);
                self.go_on_in(second);
                self.branch(&sides.1, env, yes, no);
            }
            other => match self.eval(other, env) {
                Number::Known(0) => self.jump(no),
                Number::Known(_) => self.jump(yes),
                Number::Computed(value, _) => {
                    self.b.ins().brif(value, yes, &[], no, &[]);
                }
            },
        }
    }

    /// Continues only if the expression is not 0.
    pub(super) fn require(&mut self, expr: &Expr, env: &Env, no: Block) {
        let yes = self.block();
        self.branch(expr, env, yes, no);
        self.go_on_in(yes);
    }

    /// The value of an expression that is evaluated by branching.
    fn as_number(&mut self, expr: &Expr, env: &Env) -> Number {
        if let Some(known) = expr.constant() {
            return Number::Known(known);
        }
        let [yes, no, join] = [self.block(), self.block(), self.block()];
        let result = self.b.append_block_param(join, types::I32);
        self.branch(expr, env, yes, no);
        for (block, value) in [(yes, 1), (no, 0)] {
            self.go_on_in(block);
            let value = self.value(Number::Known(value));
            self.jump_with(join, value);
        }
        self.go_on_in(join);
        Number::Computed(result, BOOLEAN)
    }

    fn conditional(&mut self, condition: &Expr, yes: &Expr, no: &Expr, env: &Env) -> Number {
        if let Some(known) = self.program.known(condition, env.who.of) {
            return self.eval(if known != 0 { yes } else { no }, env);
        }
        let [yes_block, no_block, join] = [self.block(), self.block(), self.block()];
        let result = self.b.append_block_param(join, types::I32);
        self.branch(condition, env, yes_block, no_block);
        let ranges = [(yes_block, yes), (no_block, no)].map(|(block, expr)| {
            self.go_on_in(block);
            let number = self.eval(expr, env);
            let value = self.value(number);
            self.jump_with(join, value);
            number.range()
        });
        self.go_on_in(join);
        let [one, other] = ranges;
        Number::Computed(result, Range { low: one.low.min(other.low), high: one.high.max(other.high) })
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: Number) -> Number {
        let value = match operand {
            Number::Known(value) => return Number::Known(op.apply(value)),
            Number::Computed(value, _) => value,
        };
        match op {
            UnaryOp::Not => {
                let zero = self.b.ins().icmp_imm_u(IntCC::Equal, value, 0);
                self.boolean(zero)
            }
            UnaryOp::Negate => Number::Computed(self.b.ins().ineg(value), ranges::unary(op, operand.range())),
            UnaryOp::Complement => Number::Computed(self.b.ins().bnot(value), Range::ANY),
        }
    }

    /// All operators but `And` and `Or`.
    pub(super) fn binary(&mut self, op: BinaryOp, left: Number, right: Number, env: &Env) -> Number {
        if let (Some(left), Some(right)) = (left.known(), right.known()) {
            return match op.apply(left, right) {
                Some(value) => Number::Known(value),
                None => {
                    self.fault(FaultKind::DivisionByZero, env);
                    Number::Known(0)
                }
            };
        }
        match op {
            BinaryOp::Add => self.compute(op, left, right, |b, left, right| b.ins().iadd(left, right)),
            BinaryOp::Sub => self.compute(op, left, right, |b, left, right| b.ins().isub(left, right)),
            BinaryOp::Mul => self.compute(op, left, right, |b, left, right| b.ins().imul(left, right)),
            BinaryOp::BitAnd => self.compute(op, left, right, |b, left, right| b.ins().band(left, right)),
            BinaryOp::BitXor => self.compute(op, left, right, |b, left, right| b.ins().bxor(left, right)),
            BinaryOp::BitOr => self.compute(op, left, right, |b, left, right| b.ins().bor(left, right)),
            // These use only the lowest five bits, as Rust's wrapping shifts do.
            BinaryOp::Shl => self.compute(op, left, right, |b, left, right| b.ins().ishl(left, right)),
            BinaryOp::Shr => self.compute(op, left, right, |b, left, right| b.ins().sshr(left, right)),
            BinaryOp::Lt => self.compare(IntCC::SignedLessThan, left, right),
            BinaryOp::Gt => self.compare(IntCC::SignedGreaterThan, left, right),
            BinaryOp::Le => self.compare(IntCC::SignedLessThanOrEqual, left, right),
            BinaryOp::Ge => self.compare(IntCC::SignedGreaterThanOrEqual, left, right),
            BinaryOp::Eq => self.compare(IntCC::Equal, left, right),
            BinaryOp::Ne => self.compare(IntCC::NotEqual, left, right),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, left, right, env),
            BinaryOp::And | BinaryOp::Or => unreachable!("{op:?} is evaluated by branching"),
        }
    }

    fn compute(&mut self, op: BinaryOp, left: Number, right: Number, emit: Emit) -> Number {
        let range = range_after(op, left.range(), right.range());
        let (left, right) = (self.value(left), self.value(right));
        Number::Computed(emit(&mut self.b, left, right), range)
    }

    fn compare(&mut self, comparison: IntCC, left: Number, right: Number) -> Number {
        if let Some(known) = compare_ranges(comparison, left.range(), right.range()) {
            return Number::Known(i32::from(known));
        }
        let (left, right) = (self.value(left), self.value(right));
        let holds = self.b.ins().icmp(comparison, left, right);
        self.boolean(holds)
    }

    pub(super) fn boolean(&mut self, holds: Value) -> Number {
        Number::Computed(self.b.ins().uextend(types::I32, holds), BOOLEAN)
    }

    fn divide(&mut self, op: BinaryOp, left: Number, right: Number, env: &Env) -> Number {
        let range = range_after(op, left.range(), right.range());
        let divisor_range = right.range();
        let (dividend, divisor) = (self.value(left), self.value(right));
        if divisor_range.contains(0) {
            let zero = self.b.ins().icmp_imm_u(IntCC::Equal, divisor, 0);
            self.fault_if(zero, FaultKind::DivisionByZero, env);
        }
        let divide = |this: &mut Self| {
            let ins = this.b.ins();
            if op == BinaryOp::Div { ins.sdiv(dividend, divisor) } else { ins.srem(dividend, divisor) }
        };
        if !divisor_range.contains(-1) || !left.range().contains(i32::MIN) {
            return Number::Computed(divide(self), range);
        }
        // Dividing the smallest number by -1 traps on the processor, and must give the number itself.
        let [minus, other, join] = [self.block(), self.block(), self.block()];
        let result = self.b.append_block_param(join, types::I32);
        let is_minus = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
        self.b.ins().brif(is_minus, minus, &[], other, &[]);
        self.go_on_in(minus);
        let special =
            if op == BinaryOp::Div { self.b.ins().ineg(dividend) } else { self.b.ins().iconst(types::I32, 0) };
        self.b.ins().jump(join, &[BlockArg::Value(special)]);
        self.go_on_in(other);
        let usual = divide(self);
        self.jump_with(join, usual);
        self.go_on_in(join);
        Number::Computed(result, Range::ANY)
    }

    fn location_of(&mut self, process: &Expr, env: &Env) -> Number {
        if matches!(process, Expr::Myself) && env.who.of.is_some() {
            return self.load_location(env.state, env.who.start);
        }
        match self.process_at(process, env) {
            Other::At(start) => self.load_location(env.state, start),
            Other::Missing => Number::Known(0),
            Other::If(exists, start) => self.if_exists(exists, |this| this.load_location(env.state, start)),
        }
    }
}

/// The constant result of a comparison of all numbers of two ranges, if there is one.
fn compare_ranges(comparison: IntCC, left: Range, right: Range) -> Option<bool> {
    let less = left.high < right.low;
    let greater = left.low > right.high;
    let no_greater = left.high <= right.low;
    let no_less = left.low >= right.high;
    let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match comparison {
        IntCC::SignedLessThan => decided(less, no_less),
        IntCC::SignedGreaterThan => decided(greater, no_greater),
        IntCC::SignedLessThanOrEqual => decided(no_greater, greater),
        IntCC::SignedGreaterThanOrEqual => decided(no_less, less),
        IntCC::Equal => decided(false, less || greater),
        IntCC::NotEqual => decided(less || greater, false),
        _ => None,
    }
}

/// The range of an operation's result.
fn range_after(op: BinaryOp, left: Range, right: Range) -> Range {
    match op {
        BinaryOp::Div if left.low < 0 && right.low > 0 => Range { low: left.low, high: left.high.max(0) },
        _ => ranges::binary(op, left, right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges of results contain the results.
    #[test]
    fn ranges_hold_all_results() {
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::BitAnd,
            BinaryOp::BitXor,
            BinaryOp::BitOr,
            BinaryOp::Shl,
            BinaryOp::Shr,
        ];
        let ranges =
            [(-3, 2), (0, 5), (1, 4), (-7, -1), (0, 0), (i32::MIN, i32::MIN + 2), (i32::MAX - 1, i32::MAX)];
        let ranges = ranges.map(|(low, high)| Range { low, high });
        for op in ops {
            for (left, right) in ranges.iter().flat_map(|left| ranges.iter().map(move |right| (left, right))) {
                let after = range_after(op, *left, *right);
                for (a, b) in (left.low..=left.high).flat_map(|a| (right.low..=right.high).map(move |b| (a, b))) {
                    if let Some(result) = op.apply(a, b) {
                        assert!(after.contains(result), "{a} {} {b} is {result}, not in {after:?}", op.symbol());
                    }
                    let comparisons = [
                        (BinaryOp::Lt, IntCC::SignedLessThan),
                        (BinaryOp::Gt, IntCC::SignedGreaterThan),
                        (BinaryOp::Le, IntCC::SignedLessThanOrEqual),
                        (BinaryOp::Ge, IntCC::SignedGreaterThanOrEqual),
                        (BinaryOp::Eq, IntCC::Equal),
                    ];
                    for (comparison, code) in comparisons {
                        if let Some(known) = compare_ranges(code, *left, *right) {
                            assert_eq!(comparison.apply(a, b), Some(i32::from(known)));
                        }
                    }
                }
            }
        }
    }
}
