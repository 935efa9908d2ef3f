//! Compiles commands to instructions.

use super::expr::is_alike;
use super::{Checker, or_similar};
use crate::diagnostic::Diagnostic;
use crate::esml::ast::{self, CommandKind, Direction};
use crate::esml::code::{
    Access, Address, Alternative, Communication, Data, Guard, Instruction, InstructionKind, Operation, Root,
    Selector, Traced, TypeId, TypeKind, Value, ValueKind,
};
use crate::source::Span;
use entail_ir::Shape;

/// The maximum number of locations of a process, minus one.
const MAX_CODE: usize = 60_000;

/// A placeholder for an address that is not known yet.
const LATER: Address = 0;

impl Checker<'_> {
    pub fn body(&mut self, process: &ast::Process) -> Vec<Instruction> {
        let mut code = Vec::new();
        self.commands(&process.body, &mut code);
        if code.len() > MAX_CODE {
            let problem = format!("`{}` has more than {MAX_CODE} instructions", process.name.text);
            self.problems.error(process.name.span, problem);
            code.clear();
        }
        code.push(Instruction { kind: InstructionKind::Terminate, span: process.end });
        code
    }

    fn commands(&mut self, commands: &[ast::Command], code: &mut Vec<Instruction>) {
        for command in commands {
            self.command(command, code);
        }
    }

    fn command(&mut self, command: &ast::Command, code: &mut Vec<Instruction>) {
        let span = command.span;
        let mut add = |kind: Option<InstructionKind>| code.extend(kind.map(|kind| Instruction { kind, span }));
        let operation = match &command.kind {
            CommandKind::Assign(target, value) => {
                let value_checked = self.value(value);
                self.target(target).and_then(|access| {
                    let fits = self.fits(&value_checked, access.ty, value.span);
                    fits.then_some(Operation::Assign(access, value_checked))
                })
            }
            CommandKind::Communicate(communication) => {
                return add(self.communication(communication).map(|checked| match checked.direction {
                    Direction::Out => InstructionKind::Bang(checked),
                    Direction::In => InstructionKind::Hook(checked),
                }));
            }
            CommandKind::Activate(name, _) => {
                let problem = Diagnostic::error(name.span, "processes are activated in the main body only");
                return self.problems.report(problem.hint("to assign, write `:=`; to communicate, `!` or `?`"));
            }
            CommandKind::If(alternatives) => return self.guards(alternatives, span, true, code),
            CommandKind::Do(alternatives) => return self.guards(alternatives, span, false, code),
            CommandKind::Poll(alternatives) => return self.poll(alternatives, span, code),
            CommandKind::Skip => return add(Some(InstructionKind::Skip)),
            CommandKind::Trace(traced) => Some(Operation::Trace(self.traced(traced))),
            CommandKind::Empty(list) => self.list_target(list).map(|(list, _)| Operation::Empty(list)),
            CommandKind::Remove(list) => self.list_target(list).map(|(list, _)| Operation::Remove(list)),
            CommandKind::Append(list, value) => {
                self.insertion(list, value).map(|(list, value)| Operation::Append(list, value))
            }
            CommandKind::Prepend(list, value) => {
                self.insertion(list, value).map(|(list, value)| Operation::Prepend(list, value))
            }
        };
        add(operation.map(InstructionKind::Plain));
    }

    /// A `DO` jumps back to its guards. After the bodies of an `IF` follows the trap for the case that no
    /// guard is true.
    fn guards(&mut self, alternatives: &[ast::Guarded], span: Span, is_if: bool, code: &mut Vec<Instruction>) {
        let first = code.len();
        code.push(Instruction { kind: InstructionKind::Skip, span });
        let (mut guards, mut jumps) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            let condition = self.condition(&alternative.guard);
            guards.push(Guard { condition, body: code.len(), span: alternative.guard.span });
            self.commands(&alternative.body, code);
            jumps.push(code.len());
            code.push(Instruction { kind: InstructionKind::Jump(LATER), span });
        }
        let otherwise = code.len();
        if is_if {
            code.push(Instruction { kind: InstructionKind::Trap, span });
        }
        let back = if is_if { code.len() } else { first };
        jumps.into_iter().for_each(|jump| code[jump].kind = InstructionKind::Jump(back));
        code[first].kind = InstructionKind::Guards { guards, otherwise };
    }

    fn poll(&mut self, alternatives: &[ast::Alternative], span: Span, code: &mut Vec<Instruction>) {
        let first = code.len();
        code.push(Instruction { kind: InstructionKind::Skip, span });
        let (mut checked, mut jumps) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            let communication = self.communication(&alternative.communication);
            let condition = alternative.condition.as_ref().map(|condition| self.condition(condition));
            let body = code.len();
            self.commands(&alternative.body, code);
            jumps.push(code.len());
            code.push(Instruction { kind: InstructionKind::Jump(LATER), span });
            let span = match &alternative.condition {
                Some(condition) => alternative.communication.span.to(condition.span),
                None => alternative.communication.span,
            };
            checked.extend(communication.map(|communication| Alternative { communication, condition, body, span }));
        }
        let after = code.len();
        jumps.into_iter().for_each(|jump| code[jump].kind = InstructionKind::Jump(after));
        code[first].kind = InstructionKind::Poll(checked);
    }

    fn communication(&mut self, communication: &ast::Communication) -> Option<Communication> {
        let checked = self.signal(communication);
        if let (None, Some(data), Direction::Out) = (&checked, &communication.data, communication.direction) {
            // Checked even if there are errors before it.
            self.value(data);
        }
        let (access, number, carried) = checked?;
        let ast::Communication { channel, direction, signal, data, span } = communication;
        self.check_direction(&access, *direction, channel.span);
        let data = match (carried, data) {
            (None, None) => None,
            (Some(ty), Some(data)) => Some(self.data(*direction, ty, data)?),
            (None, Some(data)) => {
                return self.problems.refuse(data.span, format!("the signal `{}` carries no data", signal.text));
            }
            (Some(ty), None) => {
                let ty = self.type_name(ty);
                let problem = format!("the signal `{}` carries data of type {ty}", signal.text);
                let example = self.text(*span);
                self.problems.report(Diagnostic::error(signal.span, problem).hint(format!("write `{example}(…)`")));
                return None;
            }
        };
        Some(Communication { channel: access, direction: *direction, signal: number, data })
    }

    /// The channel of a communication, the number of its signal, and the type of the data.
    fn signal(&mut self, communication: &ast::Communication) -> Option<(Access, usize, Option<TypeId>)> {
        let ast::Communication { channel, signal, .. } = communication;
        let access = self.access(channel)?;
        let TypeKind::Alphabet(signals) = &self.program.ty(access.ty).kind else {
            let message = format!("`{}` is not a channel", self.text(channel.span));
            return self.misfit(access.ty, channel.span, message);
        };
        let Some(number) = signals.iter().position(|(name, _)| *name == signal.text) else {
            let ty = self.type_name(access.ty);
            let known = signals.iter().map(|(name, _)| name.as_str());
            let message = or_similar(format!("{ty} has no signal `{}`", signal.text), &signal.text, known);
            return self.problems.refuse(signal.span, message);
        };
        let carried = signals[number].1;
        Some((access, number, carried))
    }

    /// Whether a communication in this direction is allowed.
    fn check_direction(&mut self, access: &Access, direction: Direction, span: Span) {
        let Some(param) = self.param(access) else { return };
        let problem = match (param.direction, direction) {
            (Some(Direction::In), Direction::Out) => {
                format!("`{}` is `IN`: it can only be received from", param.name)
            }
            (Some(Direction::Out), Direction::In) => format!("`{}` is `OUT`: it can only be sent to", param.name),
            (Some(Direction::In), Direction::In) | (Some(Direction::Out), Direction::Out) | (None, _) => return,
        };
        self.problems.error(span, problem);
    }

    fn data(&mut self, direction: Direction, ty: TypeId, data: &ast::Expr) -> Option<Data> {
        match direction {
            Direction::Out => {
                let value = self.value(data);
                self.fits(&value, ty, data.span).then_some(Data::Sent(value))
            }
            Direction::In => {
                let ast::ExprKind::Access(access) = &data.kind else {
                    return self.problems.refuse(
                        data.span,
                        format!("`{}` is not a variable that can receive", self.text(data.span)),
                    );
                };
                let access = self.received(access)?;
                let (carried, kept) = (self.ty_of(ty), self.ty_of(access.ty));
                if !is_alike(carried, kept) {
                    let (carried, kept) = (self.show(carried), self.show(kept));
                    return self.problems.refuse(
                        data.span,
                        format!("`{}` is {kept}, but the signal's data is {carried}", self.text(data.span)),
                    );
                }
                Some(Data::Received(access))
            }
        }
    }

    /// The destination of a message: a variable, or a parameter that the message must equal.
    fn received(&mut self, access: &ast::Access) -> Option<Access> {
        let checked = self.access(access)?;
        if matches!(checked.root, Root::Param(_)) && !self.program.is_channel(checked.ty) {
            return Some(checked);
        }
        self.target(access)
    }

    /// An assignable variable.
    fn target(&mut self, access: &ast::Access) -> Option<Access> {
        let checked = self.access(access)?;
        let what = match checked.root {
            Root::Variable(_) => {
                self.refuse_self_reference(access, &checked);
                return Some(checked);
            }
            Root::Param(_) => "a parameter: it cannot be changed",
            Root::Channel(_) => "a channel: it cannot be changed",
            Root::Remote { .. } => "a variable of another process: it cannot be changed",
        };
        let problem = format!("`{}` is {what}", access.name.text);
        self.problems.report(Diagnostic::error(access.span, problem).hint("declare a variable for it"));
        None
    }

    /// A composite value is stored part by part, so the address of the target must not depend on the target.
    fn refuse_self_reference(&mut self, access: &ast::Access, checked: &Access) {
        let is_simple = matches!(self.program.ty(checked.ty).shape, Shape::Scalar(_));
        let indices = checked.selectors.iter().filter_map(|selector| match selector {
            Selector::Index(value, _) => Some(value),
            Selector::Field(_) => None,
        });
        if !is_simple && indices.into_iter().any(|index| mentions(index, checked.root)) {
            let problem = format!("an index in `{}` depends on the assigned variable", self.text(access.span));
            self.problems
                .report(Diagnostic::error(access.span, problem).hint("keep the index in a variable of its own"));
        }
    }

    fn list_target(&mut self, access: &ast::Access) -> Option<(Access, TypeId)> {
        let (_, _, element) = self.list(access)?;
        self.target(access).map(|list| (list, element))
    }

    fn insertion(&mut self, list: &ast::Access, value: &ast::Expr) -> Option<(Access, Value)> {
        let value_checked = self.value(value);
        let (list, element) = self.list_target(list)?;
        self.fits(&value_checked, element, value.span).then_some((list, value_checked))
    }

    fn traced(&mut self, traced: &[ast::Traced]) -> Vec<Traced> {
        let one = |traced: &ast::Traced| match traced {
            ast::Traced::Text(text) => Traced::Text(text.clone()),
            ast::Traced::Value(expr) => Traced::Value(self.value(expr)),
        };
        traced.iter().map(one).collect()
    }
}

/// Whether a value depends on a variable.
fn mentions(value: &Value, root: Root) -> bool {
    let access_mentions = |access: &Access| {
        let in_index = |selector: &Selector| match selector {
            Selector::Index(index, _) => mentions(index, root),
            Selector::Field(_) => false,
        };
        access.root == root || access.selectors.iter().any(in_index)
    };
    match &value.kind {
        ValueKind::Constant(_) => false,
        ValueKind::Load(access) | ValueKind::Len(access) | ValueKind::Head(access) => access_mentions(access),
        ValueKind::Not(operand) | ValueKind::Negate(operand) => mentions(operand, root),
        ValueKind::Binary(_, operands) => mentions(&operands.0, root) || mentions(&operands.1, root),
    }
}
