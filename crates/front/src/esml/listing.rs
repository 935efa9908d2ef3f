//! The code of ESML's abstract machine as text.
//!
//! The machine evaluates expressions on a stack: `pushValue 3` pushes a number, `pushVariable x` the value of
//! a variable, `pushAddress x` its address; operators pop their operands. A process can only stop at
//! instructions that have an address.

use super::code::{
    Access, Arithmetic, BinaryOp, Communication, Data, Direction, InstructionKind, Operation, Process, Program,
    Relation, Root, Selector, Traced, Value, ValueKind,
};
use std::fmt::Write;

/// The listing of all processes of a program.
pub fn listing(program: &Program) -> String {
    let processes: Vec<_> = program.processes.iter().map(|process| process_listing(program, process)).collect();
    processes.join("\n")
}

fn process_listing(program: &Program, process: &Process) -> String {
    let mut listing = Listing { program, text: format!("PROCESS {}\n", process.name), address: None };
    for (address, instruction) in process.code.iter().enumerate() {
        listing.address = Some(address);
        listing.instruction(&instruction.kind);
    }
    listing.text
}

struct Listing<'p> {
    program: &'p Program,
    text: String,
    /// The address of the instruction that begins with the next line.
    address: Option<usize>,
}

impl Listing<'_> {
    fn line(&mut self, what: &str) {
        let address = self.address.take().map_or(String::new(), |address| address.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{address:>5}  {what}");
    }

    fn instruction(&mut self, kind: &InstructionKind) {
        match kind {
            InstructionKind::Plain(operation) => self.operation(operation),
            InstructionKind::Guards { guards, otherwise } => {
                self.line(&format!("guards {}, otherwise {otherwise}", guards.len()));
                for guard in guards {
                    self.value(&guard.condition);
                    self.line(&format!("guard {}", guard.body));
                }
            }
            InstructionKind::Poll(alternatives) => {
                self.line(&format!("poll {}", alternatives.len()));
                for alternative in alternatives {
                    self.communication(&alternative.communication);
                    if let Some(condition) = &alternative.condition {
                        self.value(condition);
                        self.line("condition");
                    }
                    self.line(&format!("alternative {}", alternative.body));
                }
            }
            InstructionKind::Bang(communication) | InstructionKind::Hook(communication) => {
                self.communication(communication);
            }
            InstructionKind::Jump(target) => self.line(&format!("jump {target}")),
            InstructionKind::Skip => self.line("skip"),
            InstructionKind::Trap => self.line("trap"),
            InstructionKind::Terminate => self.line("terminate"),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Assign(access, value) => self.on_access(access, Some(value), "assign"),
            Operation::Empty(list) => self.on_access(list, None, "empty"),
            Operation::Remove(list) => self.on_access(list, None, "remove"),
            Operation::Append(list, value) => self.on_access(list, Some(value), "append"),
            Operation::Prepend(list, value) => self.on_access(list, Some(value), "prepend"),
            Operation::Trace(traced) => {
                for part in traced {
                    match part {
                        Traced::Text(text) => self.line(&format!("pushText {text:?}")),
                        Traced::Value(value) => self.value(value),
                    }
                }
                self.line(&format!("trace {}", traced.len()));
            }
        }
    }

    fn on_access(&mut self, access: &Access, value: Option<&Value>, name: &str) {
        self.address_of(access);
        value.into_iter().for_each(|value| self.value(value));
        self.line(name);
    }

    fn communication(&mut self, communication: &Communication) {
        let Communication { channel, direction, signal, data } = communication;
        self.address_of(channel);
        match data {
            Some(Data::Sent(value)) => self.value(value),
            Some(Data::Received(access)) => self.address_of(access),
            None => {}
        }
        let signals = self.program.channel_type(channel.ty).1;
        let signal = signals.get(*signal).map_or("?", |(name, _)| name);
        let name = match direction {
            Direction::Out => "bang",
            Direction::In => "hook",
        };
        self.line(&format!("{name} {signal}"));
    }

    fn address_of(&mut self, access: &Access) {
        let what = match access.root {
            Root::Variable(_) | Root::Remote { .. } => "pushAddress",
            Root::Param(_) if self.program.is_channel(access.ty) => "pushChannel",
            Root::Param(_) => "pushParameter",
            Root::Channel(_) => "pushChannel",
        };
        self.line(&format!("{what} {}", access.name));
        self.selectors(access);
    }

    fn selectors(&mut self, access: &Access) {
        for selector in &access.selectors {
            match selector {
                Selector::Index(index, len) => {
                    self.value(index);
                    self.line(&format!("index {len}"));
                }
                Selector::Field(position) => self.line(&format!("field {position}")),
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match &value.kind {
            ValueKind::Constant(value) => self.line(&format!("pushValue {value}")),
            ValueKind::Load(access) if access.selectors.is_empty() => {
                let what = if matches!(access.root, Root::Param(_)) { "pushParameter" } else { "pushVariable" };
                self.line(&format!("{what} {}", access.name));
            }
            ValueKind::Load(access) => self.on_access(access, None, "load"),
            ValueKind::Len(list) => self.on_access(list, None, "len"),
            ValueKind::Head(list) => self.on_access(list, None, "head"),
            ValueKind::Not(operand) => {
                self.value(operand);
                self.line("not");
            }
            ValueKind::Negate(operand) => {
                self.value(operand);
                self.line("negate");
            }
            ValueKind::Binary(op, operands) => self.binary(*op, &operands.0, &operands.1),
        }
    }

    /// `&` and `OR` skip their right operand where it does not matter; the number is the length of the jump in lines.
    fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) {
        let name = match op {
            BinaryOp::And | BinaryOp::Or => {
                self.value(left);
                let start = self.text.len();
                self.value(right);
                let skipped = self.text[start..].lines().count();
                let word = if op == BinaryOp::And { "skipIfFalse" } else { "skipIfTrue" };
                self.text.insert_str(start, &format!("{:>5}  {word} {skipped}\n", ""));
                return;
            }
            BinaryOp::Compare(Relation::Equal) => "equal",
            BinaryOp::Compare(Relation::Unequal) => "notEqual",
            BinaryOp::Compare(Relation::Less) => "less",
            BinaryOp::Compare(Relation::LessEqual) => "lessOrEqual",
            BinaryOp::Compare(Relation::Greater) => "greater",
            BinaryOp::Compare(Relation::GreaterEqual) => "greaterOrEqual",
            BinaryOp::Compute(Arithmetic::Add) => "add",
            BinaryOp::Compute(Arithmetic::Subtract) => "subtract",
            BinaryOp::Compute(Arithmetic::Multiply) => "multiply",
            BinaryOp::Compute(Arithmetic::Divide) => "divide",
            BinaryOp::Compute(Arithmetic::Modulo) => "modulo",
        };
        self.value(left);
        self.value(right);
        self.line(name);
    }
}
