//! Lowers instructions to automata with the step granularity of ESML.
//!
//! A location is the address of an instruction. A process that takes a step follows jumps and `SKIP`s in the
//! same step, so it never stops at them. The receiver of a message takes no step of its own, and may stop at
//! a jump after its `?`.
//!
//! A state contains only location counters and variables. Parameters and channels are constant from the
//! activation of a process on, so every combination of them becomes a process type of its own.

mod value;

use super::code::{
    Address, Alternative, Argument, Channel, Communication, Data, Direction, Guard, InstructionKind, Operation,
    Process, Program, Traced, TypeKind, Value,
};
use crate::diagnostic::Diagnostic;
use crate::kit::automata::sequence;
use crate::kit::data::{defaults, scalars};
use crate::kit::{Access, Automata, Automaton, frame_variable};
use crate::source::{Sources, Span};
use crate::{Granularity, Specification};
use entail_ir::{
    Action, Base, BinaryOp, ChannelType, ChannelTypeId, Entry, Enumeration, Expr, FaultKind, Frame, Init,
    LocationId, Meaning, Place, ProcessTypeId, Receive, Scalar, Send, Start, StatementId, System, UnaryOp,
};
use std::collections::{HashMap, HashSet};
use value::{Values, balanced};

/// SPIN's limit, which is also that of the intermediate representation.
const MAX_CHANNELS: u32 = 255;
/// Limit on the amount of generated code; hand-written models stay below it.
const MAX_WORK: usize = 1_000_000;

/// The system of a program, and the meanings of its formulas.
pub struct Lowered {
    pub system: System,
    pub retries: HashSet<StatementId>,
    pub meanings: Vec<crate::Meaning>,
}

/// Lowers a checked program; `None` if it is too large.
pub fn lower(
    program: &Program,
    granularity: Granularity,
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<Lowered> {
    let mut lowering = Lowering {
        program,
        granularity,
        sources,
        automata: Automata::default(),
        channels: Vec::new(),
        statements: HashMap::new(),
        retries: HashSet::new(),
        work: 0,
    };
    lowering.automata.system.oldest_first = true;
    lowering.automata.system.lazy_messages = true;
    lowering.enumerations();
    let lowered = lowering.channels().and_then(|()| lowering.activations()).and_then(|()| lowering.formulas());
    match lowered {
        Ok(meanings) => Some(Lowered { system: lowering.automata.system, retries: lowering.retries, meanings }),
        Err(problem) => problem.refuse(problems),
    }
}

struct Lowering<'p> {
    program: &'p Program,
    granularity: Granularity,
    sources: &'p Sources,
    automata: Automata,
    /// The number of the first channel of each variable.
    channels: Vec<u32>,
    /// The statements of instructions. Process types that differ only in their parameters share them.
    statements: HashMap<(usize, Address, usize), StatementId>,
    /// Steps in which a process evaluates its guards again.
    retries: HashSet<StatementId>,
    /// The amount of code generated so far.
    work: usize,
}

impl<'p> Lowering<'p> {
    fn enumerations(&mut self) {
        for ty in &self.program.types {
            if let TypeKind::Enumeration(members) = &ty.kind {
                let (name, members) = (ty.name.clone(), members.clone());
                self.automata.system.enumerations.push(Enumeration { name, first: 0, members });
            }
        }
    }

    /// Every signal of a channel becomes a rendezvous channel of its own: a message can only be received as
    /// the signal that it was sent as.
    fn channels(&mut self) -> Result<(), Diagnostic> {
        let mut next = 1;
        for Channel { name, ty } in &self.program.channels {
            let (copies, signals) = self.program.channel_type(*ty);
            self.channels.push(next);
            next += copies.saturating_mul(signals.len() as u32);
            if next > MAX_CHANNELS + 1 {
                let problem = format!("the channels have more than {MAX_CHANNELS} signals in all");
                return Err(Diagnostic::general(problem).hint("use smaller arrays of channels"));
            }
            let first = self.automata.system.channel_types.len();
            for (signal, data) in signals {
                let fields = data.map_or(Vec::new(), |data| scalars(&self.program.ty(data).shape));
                let name = format!("{name} {signal}");
                self.automata.system.channel_types.push(ChannelType { name, capacity: 0, fields });
            }
            let nowhere = Place::nowhere(Scalar::unsigned(8).meaning(Meaning::Channel));
            for signal in (0..copies).flat_map(|_| 0..signals.len()) {
                let channel_type = ChannelTypeId((first + signal) as u16);
                self.automata.system.globals.init.push(Init::Channel(nowhere.clone(), channel_type));
            }
        }
        Ok(())
    }

    fn activations(&mut self) -> Result<(), Diagnostic> {
        let mut known: HashMap<(usize, &[Argument]), ProcessTypeId> = HashMap::new();
        for activation in &self.program.activations {
            let key = (activation.process, &activation.args[..]);
            let process_type = match known.get(&key) {
                Some(id) => *id,
                None => {
                    let id = self.process_type(activation.process, &activation.args);
                    known.insert(key, id);
                    id
                }
            };
            if self.work > MAX_WORK {
                return Err(Diagnostic::general("the model is too large"));
            }
            self.automata.system.start.push(Start { process_type, priority: 1 });
        }
        Ok(())
    }

    fn formulas(&mut self) -> Result<Vec<crate::Meaning>, Diagnostic> {
        let types = self.automata.system.start.iter().map(|start| start.process_type).collect();
        let mut values = Values::of_formulas(self.program, types);
        let mut meanings = Vec::new();
        for formula in &self.program.formulas {
            let propositions = formula.propositions.iter().map(|proposition| {
                let condition = values.scalar(&proposition.condition);
                (condition, self.automata.statement(self.sources, proposition.span, &*proposition.text))
            });
            let propositions = propositions.collect();
            let says = Specification::Ctl(formula.says.clone());
            meanings.push(crate::Meaning { says, propositions, antecedents: Vec::new() });
            if values.work() > MAX_WORK {
                return Err(Diagnostic::error(formula.span, "the formula is too large"));
            }
        }
        Ok(meanings)
    }

    fn process_type(&mut self, number: usize, args: &'p [Argument]) -> ProcessTypeId {
        let process = &self.program.processes[number];
        let mut frame = Frame::default();
        let mut offsets = Vec::new();
        for (name, ty) in &process.vars {
            let shape = &self.program.ty(*ty).shape;
            let offset = frame_variable(&mut frame, name, shape.clone());
            frame.init.extend(defaults(&Access::new(Base::Local, offset, shape)));
            offsets.push(offset);
            self.work += self.program.ty(*ty).parts;
        }
        let mut automaton = Automaton::default();
        for _ in &process.code {
            automaton.location();
        }
        let values = Values::new(self.program, process, args, self.channels.clone(), offsets);
        let rests = rests(process, self.granularity);
        let mut body = Body { lowering: self, number, process, values, automaton, rests };
        for address in 0..process.code.len() {
            // A model that is too large is rejected at the end; generating the rest is unnecessary.
            if body.lowering.work + body.values.work() <= MAX_WORK {
                body.lowering.work += 1;
                body.instruction(address);
            }
        }
        let entry = body.entry();
        let Body { values, automaton, .. } = body;
        self.work += values.work();
        let declared_at =
            self.statement((number, usize::MAX, 0), process.span, || format!("PROCESS {}", process.name));
        let id = self.automata.add(&process.name, frame, Vec::new(), automaton, declared_at);
        self.automata.system.process_types[id.index()].entry = entry;
        id
    }

    fn statement(
        &mut self,
        key: (usize, Address, usize),
        span: Span,
        text: impl FnOnce() -> String,
    ) -> StatementId {
        if let Some(id) = self.statements.get(&key) {
            return *id;
        }
        let id = self.automata.statement(self.sources, span, text());
        self.statements.insert(key, id);
        id
    }
}

/// The code of one process type.
struct Body<'l, 'p> {
    lowering: &'l mut Lowering<'p>,
    number: usize,
    process: &'p Process,
    values: Values<'p>,
    automaton: Automaton,
    /// Addresses where a process can stop even if they are jumps: the entry, and those after a `?`.
    rests: HashSet<Address>,
}

impl Body<'_, '_> {
    fn instruction(&mut self, address: Address) {
        let instruction = &self.process.code[address];
        let at = location(address);
        match &instruction.kind {
            InstructionKind::Plain(_) => {
                let statement = self.statement(address, 0, instruction.span);
                let action = sequence(Entry::Always, self.effects(address), statement);
                self.edge(at, action, self.followed(address + 1), statement);
            }
            InstructionKind::Guards { guards, otherwise } => self.guards(address, guards, *otherwise),
            InstructionKind::Poll(alternatives) => {
                for (number, alternative) in alternatives.iter().enumerate() {
                    let Alternative { communication, condition, body, span } = alternative;
                    let statement = self.statement(address, number, *span);
                    self.communicate(address, communication, condition.as_ref(), *body, statement);
                }
            }
            InstructionKind::Bang(communication) | InstructionKind::Hook(communication) => {
                let statement = self.statement(address, 0, instruction.span);
                self.communicate(address, communication, None, address + 1, statement);
            }
            // No process stops here, so no step begins here.
            InstructionKind::Jump(_) | InstructionKind::Skip if !self.rests.contains(&address) => {}
            InstructionKind::Jump(target) => {
                let line = self.lowering.sources.place(self.process.code[*target].span).line;
                let key = (self.number, address, 0);
                let statement = self.lowering.statement(key, instruction.span, || format!("goto line {line}"));
                self.edge(at, Action::Skip, self.followed(*target), statement);
            }
            InstructionKind::Skip => {
                let statement = self.statement(address, 0, instruction.span);
                self.edge(at, Action::Skip, self.followed(address + 1), statement);
            }
            // No process stops here: the fault belongs to the guards.
            InstructionKind::Trap => {}
            InstructionKind::Terminate => self.automaton.end(at),
        }
    }

    /// Adds an edge into the body of each guard.
    fn guards(&mut self, address: Address, guards: &[Guard], otherwise: Address) {
        let at = location(address);
        let conditions: Vec<Expr> = guards.iter().map(|guard| self.values.scalar(&guard.condition)).collect();
        for (number, (guard, condition)) in guards.iter().zip(&conditions).enumerate() {
            if condition.constant() != Some(0) {
                self.branch(address, number, condition, guard);
            }
        }
        let (last, others) = conditions.split_last().expect("there is always a guard");
        if !conditions.iter().any(Expr::is_true) {
            self.otherwise(address, guards.len() + 1, otherwise);
        }
        if self.lowering.granularity == Granularity::Exact && !last.is_true() && !others.is_empty() {
            // ESML's model checker evaluated the guards again from the next one on, and so revisited this state.
            let some = balanced(BinaryOp::Or, others.to_vec());
            let again = Expr::binary(BinaryOp::And, some, Expr::unary(UnaryOp::Not, last.clone()));
            let statement = self.special(address, guards.len(), " (again)");
            self.lowering.retries.insert(statement);
            // The last edge of its location: it is removed where retries do not count.
            self.edge(at, Action::Guard(again), at, statement);
        }
    }

    /// Adds an edge for the case that no guard is true.
    fn otherwise(&mut self, address: Address, number: usize, otherwise: Address) {
        let at = location(address);
        if matches!(self.process.code[otherwise].kind, InstructionKind::Trap) {
            let statement = self.special(address, number, "");
            let fault = Action::Guard(Expr::Fault(FaultKind::NoAlternative));
            let action = sequence(Entry::Otherwise, vec![(fault, statement)], statement);
            return self.edge(at, action, at, statement);
        }
        let statement = self.special(address, number, " (no guard is true)");
        let target = self.followed(otherwise);
        match self.merged(target) {
            Some(next) => {
                let action = sequence(Entry::Otherwise, self.effects(address_of(target)), statement);
                self.edge(at, action, next, statement);
            }
            None => self.edge(at, Action::Else, target, statement),
        }
    }

    fn branch(&mut self, address: Address, number: usize, condition: &Expr, guard: &Guard) {
        let (at, target) = (location(address), self.followed(guard.body));
        let statement = self.statement(address, number, guard.span);
        let possible = Action::Guard(condition.clone());
        match self.merged(target) {
            Some(next) => {
                let action = sequence(Entry::AnyOf(vec![possible]), self.effects(address_of(target)), statement);
                self.edge(at, action, next, statement);
            }
            None => self.edge(at, possible, target, statement),
        }
    }

    /// The location that a step continues to if the statement at `target` is part of it: with coarse steps,
    /// if the statement is no communication.
    fn merged(&self, target: LocationId) -> Option<LocationId> {
        let address = address_of(target);
        let is_coarse = self.lowering.granularity == Granularity::Statement;
        let is_plain = matches!(self.process.code[address].kind, InstructionKind::Plain(_));
        (is_coarse && is_plain).then(|| self.followed(address + 1))
    }

    fn communicate(
        &mut self,
        address: Address,
        communication: &Communication,
        condition: Option<&Value>,
        next: Address,
        statement: StatementId,
    ) {
        let channel = self.values.channel(&communication.channel, communication.signal);
        let when = condition.map(|condition| self.values.scalar(condition)).filter(|when| !when.is_true());
        let (action, target) = match communication.direction {
            Direction::Out => {
                let fields = match &communication.data {
                    Some(Data::Sent(value)) => self.values.scalars(value),
                    Some(Data::Received(_)) | None => Vec::new(),
                };
                let send = Send { channel, fields, sorted: false, when };
                (Action::Send(Box::new(send)), self.followed(next))
            }
            Direction::In => {
                let fields = match &communication.data {
                    Some(Data::Received(access)) => self.values.patterns(access),
                    Some(Data::Sent(_)) | None => Vec::new(),
                };
                let receive = Receive { channel, fields, anywhere: false, keep: false, when };
                // The receiver takes no step of its own, and so does not follow jumps.
                let target = match self.lowering.granularity {
                    Granularity::Exact => location(next),
                    Granularity::Statement => self.followed(next),
                };
                (Action::Receive(Box::new(receive)), target)
            }
        };
        self.edge(location(address), action, target, statement);
    }

    /// The action of a plain instruction.
    fn effects(&mut self, address: Address) -> Vec<(Action, StatementId)> {
        let instruction = &self.process.code[address];
        let statement = self.statement(address, 0, instruction.span);
        let InstructionKind::Plain(operation) = &instruction.kind else { return Vec::new() };
        let actions = match operation {
            Operation::Assign(access, value) => self.values.assign(access, value),
            Operation::Empty(list) => self.values.empty(list),
            Operation::Remove(list) => self.values.remove(list),
            Operation::Append(list, value) => self.values.append(list, value),
            Operation::Prepend(list, value) => self.values.prepend(list, value),
            Operation::Trace(traced) => vec![self.trace(traced)],
        };
        actions.into_iter().map(|action| (action, statement)).collect()
    }

    fn trace(&mut self, traced: &[Traced]) -> Action {
        let (mut format, mut values) = (String::new(), Vec::new());
        for part in traced {
            match part {
                Traced::Text(text) => format += &text.replace('%', "%%"),
                Traced::Value(value) => {
                    let scalars = self.values.scalars(value);
                    format += &vec!["%d"; scalars.len()].join(" ");
                    values.extend(scalars);
                }
            }
        }
        Action::Print(format + "\n", values)
    }

    fn edge(&mut self, from: LocationId, action: Action, target: LocationId, statement: StatementId) {
        self.automaton.edge(from, action, target, statement);
    }

    fn statement(&mut self, address: Address, number: usize, span: Span) -> StatementId {
        let sources = self.lowering.sources;
        self.lowering.statement((self.number, address, number), span, || sources.line(span))
    }

    /// The statement for a step of an `IF` or a `DO` without a text of its own.
    fn special(&mut self, address: Address, number: usize, what: &str) -> StatementId {
        let span = self.process.code[address].span;
        let word = self.lowering.sources.text(span).get(..2).unwrap_or_default().to_owned();
        self.lowering.statement((self.number, address, number), span, || format!("{word}{what}"))
    }

    /// The location where a process that jumps to `address` stops.
    fn followed(&self, mut address: Address) -> LocationId {
        // Every jump leads forward or to guards. Coarse steps may pass guards, but not in a cycle.
        let mut passed = HashSet::new();
        loop {
            address = match &self.process.code[address].kind {
                InstructionKind::Jump(target) => *target,
                InstructionKind::Skip => address + 1,
                InstructionKind::Guards { guards, .. } if self.is_passed(guards) && passed.insert(address) => {
                    guards[0].body
                }
                InstructionKind::Guards { .. }
                | InstructionKind::Plain(_)
                | InstructionKind::Poll(_)
                | InstructionKind::Bang(_)
                | InstructionKind::Hook(_)
                | InstructionKind::Trap
                | InstructionKind::Terminate => return location(address),
            };
        }
    }

    /// Whether the guards are deterministic, and coarse steps do not stop at them.
    fn is_passed(&self, guards: &[Guard]) -> bool {
        self.lowering.granularity == Granularity::Statement && guards.len() == 1 && guards[0].condition.is_true()
    }

    fn entry(&self) -> LocationId {
        match self.lowering.granularity {
            Granularity::Exact => location(0),
            Granularity::Statement => self.followed(0),
        }
    }
}

fn rests(process: &Process, granularity: Granularity) -> HashSet<Address> {
    if granularity == Granularity::Statement {
        return HashSet::new();
    }
    let mut rests = HashSet::from([0]);
    for (address, instruction) in process.code.iter().enumerate() {
        match &instruction.kind {
            InstructionKind::Hook(_) => rests.extend([address + 1]),
            InstructionKind::Poll(alternatives) => {
                let received = alternatives.iter().filter(|one| one.communication.direction == Direction::In);
                rests.extend(received.map(|alternative| alternative.body));
            }
            InstructionKind::Plain(_)
            | InstructionKind::Guards { .. }
            | InstructionKind::Bang(_)
            | InstructionKind::Jump(_)
            | InstructionKind::Skip
            | InstructionKind::Trap
            | InstructionKind::Terminate => {}
        }
    }
    rests
}

/// Location 0 is not used.
fn location(address: Address) -> LocationId {
    LocationId(address as u16 + 1)
}

fn address_of(location: LocationId) -> Address {
    location.index() - 1
}
