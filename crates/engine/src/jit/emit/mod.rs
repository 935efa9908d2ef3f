//! Translation of a system's parts to Cranelift's instructions.

mod accept;
mod action;
mod block;
mod channel;
mod coding;
mod expr;
mod number;
mod offer;
mod place;
mod process;
mod receive;
mod step;

use crate::jit::by_interpreter::Helper;
use crate::jit::code::{Callee, Code};
use crate::jit::context::Context;
use crate::jit::program::Program;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, Function, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use entail_ir::{FaultKind, ProcessTypeId};
use std::collections::{HashMap, HashSet};
use std::mem::{offset_of, size_of};

pub(crate) use number::{Number, Offset};

/// Emits one function.
pub(crate) fn function(
    program: &Program<'_>,
    code: &mut Code,
    callee: Callee,
    function: &mut Function,
    builder_context: &mut FunctionBuilderContext,
) {
    let mut b = FunctionBuilder::new(function, builder_context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    let out = b.declare_var(types::I64);
    let mut emitter = Emitter {
        program,
        code,
        b,
        context: params[0],
        out,
        taking: None,
        failures: None,
        coding: None,
        source: None,
        source_words: Vec::new(),
        references: HashMap::new(),
        faulted: HashSet::new(),
    };
    emitter.body(callee, &params);
    let Emitter { mut b, .. } = emitter;
    b.seal_all_blocks();
    b.finalize(code.target());
}

/// A function under construction.
pub(crate) struct Emitter<'a, 'f> {
    program: &'a Program<'a>,
    code: &'a mut Code,
    b: FunctionBuilder<'f>,
    context: Value,
    /// The address of the next entry.
    out: Variable,
    /// The step under construction.
    taking: Option<Taking>,
    /// The failures of that step, if it can have any.
    failures: Option<Failures>,
    /// The packed state under construction.
    coding: Option<coding::Coding>,
    /// The expanded state, in a function that reads it, and its words.
    source: Option<Value>,
    source_words: Vec<Value>,
    references: HashMap<Callee, cranelift_codegen::ir::FuncRef>,
    /// Blocks for faults that are the target of a jump.
    faulted: HashSet<Block>,
}

/// A step, and the block for when it cannot be completed.
#[derive(Clone, Copy)]
struct Taking {
    step: Value,
    then: Block,
}

/// The number of failures in a step, and the kind and place of the first.
#[derive(Clone, Copy)]
struct Failures {
    count: Variable,
    first: Variable,
}

/// The environment of an expression.
#[derive(Clone, Copy)]
struct Env {
    /// The address of the state.
    state: Value,
    who: CurrentProcess,
    purpose: Purpose,
    /// A message is offered in a rendezvous: then only receiving it is possible.
    offered: bool,
    /// The target of faults, which takes their kind.
    fault: Block,
}

/// The process that evaluates.
#[derive(Clone, Copy)]
struct CurrentProcess {
    /// `None` for an invariant.
    of: Option<ProcessTypeId>,
    number: Number,
    /// The offset of the process in the state.
    start: Offset,
}

/// The reason for evaluating a guard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To take every step.
    ForSteps,
    /// To find out whether there is a step, while another step is taken: never by a timeout.
    Whether,
}

/// All memory belongs to this process.
const TRUSTED: MemFlagsData = MemFlagsData::new().with_notrap();

impl Emitter<'_, '_> {
    fn body(&mut self, callee: Callee, params: &[Value]) {
        match callee {
            Callee::Expand => self.expand(params[1]),
            Callee::ExpandOne(of) => self.expand_one(of, params),
            Callee::CanMove(of) => self.can_move(of, params),
            Callee::Accept(of) => self.accept(of, params),
            Callee::CanAccept(of) => self.can_accept(of, params),
            Callee::Invariants => self.invariants(params[1]),
            Callee::Propositions => self.propositions(),
            Callee::Copy => self.copy_function(params[1], params[2]),
            Callee::Helper(helper) => unreachable!("{helper:?} is written in Rust"),
        }
    }

    fn call(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let reference = match self.references.get(&callee) {
            Some(reference) => *reference,
            None => {
                let reference = self.code.reference(callee, self.b.func);
                self.references.insert(callee, reference);
                reference
            }
        };
        let call = self.b.ins().call(reference, args);
        self.b.inst_results(call).first().copied()
    }

    fn help(&mut self, helper: Helper, args: &[Value]) -> Option<Value> {
        self.call(Callee::Helper(helper), args)
    }

    /// Calls a function that writes entries.
    fn call_writer(&mut self, callee: Callee, before: &[Value], after: &[Value]) {
        let out = self.b.use_var(self.out);
        let args: Vec<_> = before.iter().chain([&out]).chain(after).copied().collect();
        let out = self.call(callee, &args).expect("it returns where the next entry goes");
        self.b.def_var(self.out, out);
    }

    fn block(&mut self) -> Block {
        self.b.create_block()
    }

    /// A block for a rare case.
    fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn go_on_in(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }

    fn jump(&mut self, to: Block) {
        self.b.ins().jump(to, &[]);
    }

    fn jump_with(&mut self, to: Block, value: Value) {
        self.b.ins().jump(to, &[BlockArg::Value(value)]);
    }

    /// Continues only if the condition holds.
    fn unless_leave(&mut self, condition: Value, leave: Block) {
        let on = self.block();
        self.b.ins().brif(condition, on, &[], leave, &[]);
        self.go_on_in(on);
    }

    /// Continues only if the condition does not hold.
    fn if_leave(&mut self, condition: Value, leave: Block) {
        let on = self.block();
        self.b.ins().brif(condition, leave, &[], on, &[]);
        self.go_on_in(on);
    }

    /// Jumps to the environment's fault block.
    fn fault(&mut self, kind: FaultKind, env: &Env) {
        let kind = self.b.ins().iconst(types::I64, kind as i64);
        self.faulted.insert(env.fault);
        self.jump_with(env.fault, kind);
        // The following code is unreachable, but must exist.
        let nowhere = self.block();
        self.go_on_in(nowhere);
    }

    /// A fault if the condition holds.
    fn fault_if(&mut self, condition: Value, kind: FaultKind, env: &Env) {
        let on = self.block();
        let kind = self.b.ins().iconst(types::I64, kind as i64);
        self.faulted.insert(env.fault);
        self.b.ins().brif(condition, env.fault, &[BlockArg::Value(kind)], on, &[]);
        self.go_on_in(on);
    }

    /// A block for faults, which takes their kind.
    fn fault_block(&mut self) -> Block {
        let block = self.cold_block();
        self.b.append_block_param(block, types::I64);
        block
    }

    /// Continues in a block for faults, with their kind, if any can occur.
    fn enter_fault(&mut self, block: Block) -> Option<Value> {
        self.faulted.remove(&block).then(|| {
            self.go_on_in(block);
            self.b.block_params(block)[0]
        })
    }

    fn word(&mut self, value: u64) -> Value {
        self.b.ins().iconst(types::I64, value as i64)
    }

    fn load(&mut self, of: Type, pointer: Value, offset: usize) -> Value {
        self.b.ins().load(of, TRUSTED, pointer, offset as i32)
    }

    fn store(&mut self, value: Value, pointer: Value, offset: usize) {
        self.b.ins().store(TRUSTED, value, pointer, offset as i32);
    }

    fn context_word(&mut self, offset: usize) -> Value {
        let context = self.context;
        self.load(types::I64, context, offset)
    }

    /// An element of one of the context's arrays of 32-bit numbers, as a word.
    fn context_element(&mut self, array: usize, index: Value) -> Value {
        let array = self.context_word(array);
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(index, 2);
        let at = self.b.ins().iadd(array, offset);
        self.b.ins().uload32(TRUSTED, at, 0)
    }

    /// The number of processes in a state.
    fn process_count(&mut self, state: Value) -> Value {
        if self.program.only_words {
            let fixed = self.program.facts.fixed().expect("all have the same processes");
            return self.b.ins().iconst(types::I32, fixed.len() as i64);
        }
        let offset = self.program.layout.process_count as i32;
        self.b.ins().uload8(types::I32, TRUSTED, state, offset)
    }

    /// The expanded state.
    fn source(&mut self) -> Value {
        let state = self.context_word(offset_of!(Context, state));
        self.source = Some(state);
        self.source_words = (0..self.coded_words())
            .map(|word| self.context_word(offset_of!(Context, words) + size_of::<u64>() * word))
            .collect();
        state
    }

    /// Prepares a function that writes entries.
    fn begin_writing(&mut self, out: Value) {
        self.b.def_var(self.out, out);
    }

    fn finish_writing(&mut self) {
        let out = self.b.use_var(self.out);
        self.b.ins().return_(&[out]);
    }

    /// Whether an entry was written since `out` had this value.
    fn has_moved(&mut self, since: Value) -> Value {
        let out = self.b.use_var(self.out);
        self.b.ins().icmp(IntCC::NotEqual, out, since)
    }
}
