//! Helpers that generated code calls for rare cases: the interpreter handles them on the same bytes.

use crate::jit::context::{Context, FAILED, HEADER, stride, write};
use entail_ir::interpret::Step;
use entail_model::{Fault, FaultKind, Fired, Model, State, named};

/// Functions that generated code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Helper {
    Overflow,
    Broken,
    Failed,
    Fire,
    Steps,
    CanMove,
    Insert,
    Remove,
    Pack,
}

/// Stands for an arbitrary edge.
pub(crate) const ANY_EDGE: u32 = u32::MAX;

named!(Helper { "overflow" => Overflow, "broken" => Broken, "failed" => Failed, "fire" => Fire, "steps" => Steps,
    "can_move" => CanMove, "insert" => Insert, "remove" => Remove, "pack" => Pack });

impl Helper {
    pub fn address(self) -> *const u8 {
        match self {
            Helper::Overflow => overflow as *const u8,
            Helper::Broken => broken as *const u8,
            Helper::Failed => failed as *const u8,
            Helper::Fire => fire as *const u8,
            Helper::Steps => steps as *const u8,
            Helper::CanMove => can_move as *const u8,
            Helper::Insert => insert as *const u8,
            Helper::Remove => remove as *const u8,
            Helper::Pack => pack as *const u8,
        }
    }
}

/// The buffer is full: further entries overwrite earlier ones, and the expansion is repeated with a larger buffer.
extern "C" fn overflow(context: &mut Context<'_>) -> *mut u8 {
    context.overflowed = 1;
    context.room.first
}

/// Writes the entry of a step that cannot be completed; `what` is a [`crate::jit::context::failure`].
extern "C" fn broken(context: &mut Context<'_>, out: *mut u8, step: u64, what: u64, times: u32) -> *mut u8 {
    let fault = Fault { kind: kind(what), place: (what >> 32) as u32, times };
    push(context, out, Step::from_bits(step), Fired::Broken(fault), &[])
}

/// Changes an entry to one of a step with a fault.
extern "C" fn failed(entry: *mut u8, what: u64, times: u32) {
    // SAFETY: the generated code has written the first two words of the entry, and there is room for the third.
    unsafe {
        let shape = entry.add(8).cast::<u64>();
        shape.write_unaligned(shape.read_unaligned() | FAILED << 32 | (what & 0xff) << 40);
        entry.add(16).cast::<u64>().write_unaligned(what >> 32 | u64::from(times) << 32);
    }
}

/// Takes a step that is known to be enabled.
extern "C" fn fire(context: &mut Context<'_>, out: *mut u8, step: u64) -> *mut u8 {
    let mut successor = std::mem::take(&mut context.aside.successor);
    context.write_original(&mut successor);
    let step = Step::from_bits(step);
    let fired = context.interpreter.fire(step, &mut successor);
    let out = push(context, out, step, fired, &successor);
    context.aside.successor = successor;
    out
}

/// Takes the steps that begin with an edge of a process, or any edge.
extern "C" fn steps(context: &mut Context<'_>, mut out: *mut u8, process: u32, edge: u32) -> *mut u8 {
    let mut steps = std::mem::take(&mut context.aside.steps);
    if !context.listed {
        let mut state = std::mem::take(&mut context.aside.successor);
        context.write_original(&mut state);
        steps.clear();
        context.interpreter.enabled(&state, &mut steps);
        context.aside.successor = state;
        context.listed = true;
    }
    for step in &steps {
        let asked = step.process() == process as usize && (edge == ANY_EDGE || step.edge().0 == edge);
        if asked && step.is_timeout() == (context.timeout != 0) {
            out = fire(context, out, step.bits());
        }
    }
    context.aside.steps = steps;
    out
}

/// Whether the process with exclusive control can move in a state. The state has the length of the expanded one.
extern "C" fn can_move(context: &mut Context<'_>, state: *const u8) -> u32 {
    // SAFETY: generated code passes a state that it has written.
    let state = unsafe { std::slice::from_raw_parts(state, context.original.len()) };
    let mut steps = Vec::new();
    context.interpreter.enabled(state, &mut steps);
    u32::from(!steps.is_empty())
}

/// Makes room for a message before the one at `slot`, moving that and all later ones.
extern "C" fn insert(messages: *mut u8, slot: u32, length: u32, size: u32) {
    let [slot, length, size] = [slot, length, size].map(|number| number as usize);
    // SAFETY: the channel is not full, so its messages may move up by one.
    unsafe {
        let at = messages.add(slot * size);
        std::ptr::copy(at, at.add(size), (length - slot) * size);
    }
}

/// Removes the message at `slot`.
extern "C" fn remove(messages: *mut u8, slot: u32, length: u32, size: u32) {
    let [slot, length, size] = [slot, length, size].map(|number| number as usize);
    // SAFETY: the slot is one of `length` used slots.
    unsafe {
        let at = messages.add(slot * size);
        std::ptr::copy(at.add(size), at, (length - slot - 1) * size);
        messages.add((length - 1) * size).write_bytes(0, size);
    }
}

/// Stores the words of a state in the context; returns 0 if it does not fit. The state has the length of the expanded
/// one.
extern "C" fn pack(context: &mut Context<'_>, state: *const u8) -> u32 {
    // SAFETY: generated code passes a state that it has written.
    let state = unsafe { std::slice::from_raw_parts(state, context.original.len()) };
    let packed = context.packing.and_then(|codes| codes.pack(state));
    context.packed = packed.unwrap_or_default();
    u32::from(packed.is_some())
}

fn push(context: &mut Context<'_>, out: *mut u8, step: Step, fired: Fired, state: &State) -> *mut u8 {
    let needed = stride(state.len());
    let last = context.room.end as usize;
    let fits = |out: *mut u8| out as usize + needed <= last;
    let out = if fits(out) { out } else { overflow(context) };
    if !fits(out) {
        return out;
    }
    // SAFETY: there is room for the entry.
    unsafe {
        write(out, step, fired, state.len());
        std::ptr::copy_nonoverlapping(state.as_ptr(), out.add(HEADER), state.len());
        out.add(needed)
    }
}

fn kind(what: u64) -> FaultKind {
    FaultKind::ALL[what as usize & 0xff]
}
