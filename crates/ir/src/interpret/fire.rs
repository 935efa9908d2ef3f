//! Executes a step.

use super::eval::{Address, Evaluator};
use super::layout::store;
use super::watch::{MonitorFault, MonitorStep, ObservedEvent};
use super::{ChannelView, Evaluated, Interpreter, MAX_CHANNELS, MAX_PROCESSES, MAX_STATE_BYTES, Offer, Step, View};
use crate::monitor::Direction;
use crate::{
    Action, Base, Block, BlockNode, Edge, Init, NodeId, Pattern, Place, ProcessTypeId, Receive, Run, Send,
    StatementId,
};
use entail_model::{Fault, FaultKind, Fired, State, StateBuf};

/// The execution of a step, in place.
struct Execution<'a> {
    interpreter: &'a Interpreter<'a>,
    state: &'a mut StateBuf,
    view: View,
    process: usize,
    timeout: bool,
    offer: Option<Offer>,
    started: i32,
    /// The number of failures that do not end the run, and the first of them.
    failed: u32,
    first_failed: (FaultKind, StatementId),
    /// The statement that is executed, for a fault.
    statement: StatementId,
    /// The destination of printed text, if it is wanted.
    printed: Option<&'a mut String>,
}

/// A block that executes fewer nodes is not checked for an endless loop.
const FIRST_LOOK: u64 = 1 << 14;
/// The limit on the text that a step prints.
const MOST_PRINTED: usize = 1 << 16;

impl Interpreter<'_> {
    /// Builds the initial state: globals, then the initial processes.
    pub(super) fn start(&self, state: &mut StateBuf) -> Result<(), Fault> {
        let view = self.view(state);
        let mut execution = Execution::new(self, state, view, 0);
        let populate = |execution: &mut Execution<'_>| {
            execution.initialise(&self.system.globals.init, 0)?;
            for start in &self.system.start {
                let run = Run { process_type: start.process_type, args: Vec::new(), priority: start.priority };
                execution.run(&run)?;
            }
            Ok(())
        };
        populate(&mut execution).map_err(|kind| Fault { kind, place: 0, times: 1 })?;
        let broken = self.broken_invariant(state).filter(|_| !self.system.forgives_start);
        broken.map_or(Ok(()), Err)
    }

    /// The first invariant that fails in a stable state.
    fn broken_invariant(&self, state: &StateBuf) -> Option<Fault> {
        let invariants = &self.system.invariants;
        if invariants.is_empty() || state[0] != 0 {
            return None;
        }
        let view = self.view(state);
        let evaluator = self.evaluator(state, &view, 0);
        invariants.iter().find_map(|(condition, statement)| {
            let kind = match evaluator.eval(condition) {
                Ok(0) => FaultKind::Invariant,
                Ok(_) => return None,
                Err(kind) => kind,
            };
            Some(Fault { kind, place: statement.0, times: 1 })
        })
    }

    pub(super) fn take(&self, step: Step, state: &mut StateBuf) -> Fired {
        self.take_printing(step, state, None)
    }

    /// The text that an enabled step prints.
    pub(super) fn printed(&self, step: Step, state: &State) -> String {
        let mut printed = String::new();
        // The outcome of the step does not matter here.
        let _ = self.take_printing(step, &mut state.to_vec(), Some(&mut printed));
        printed
    }

    fn take_printing(&self, step: Step, state: &mut StateBuf, printed: Option<&mut String>) -> Fired {
        let view = self.view(state);
        let edge = self.system.edge(step.edge());
        let nondeterministic = self.breaks_determinism(step, edge, state, &view);

        let mut execution = Execution::new(self, state, view, step.process());
        execution.timeout = step.is_timeout();
        execution.statement = edge.statement;
        execution.printed = printed;
        let outcome = match step.partner() {
            None => execution.take(edge),
            Some((partner, partner_edge)) => execution.meet(edge, partner, self.system.edge(partner_edge)),
        };
        let Execution { failed, first_failed, statement, .. } = execution;
        let fault = |kind, statement: StatementId, times| Fault { kind, place: statement.0, times };
        match outcome {
            // The violation that the monitor has reported takes precedence.
            Err(_) if failed > 0 && first_failed.0.is_of_events() => {
                Fired::Broken(fault(first_failed.0, first_failed.1, failed))
            }
            Err(kind) => Fired::Broken(fault(kind, statement, 1 + failed)),
            Ok(()) => {
                self.settle(state);
                if nondeterministic && self.system.monitor.is_none() {
                    Fired::Failed(fault(FaultKind::Choice, edge.statement, 1 + failed))
                } else if failed > 0 {
                    Fired::Failed(fault(first_failed.0, first_failed.1, failed))
                } else {
                    self.broken_invariant(state).map_or(Fired::Done, Fired::Failed)
                }
            }
        }
    }

    /// An exclusive process that cannot continue loses its exclusivity.
    fn settle(&self, state: &mut StateBuf) {
        let exclusive = usize::from(state[0]);
        if exclusive > 0 {
            let view = self.view(state);
            let mut steps = Vec::new();
            self.steps_of_one(&self.evaluator(state, &view, exclusive - 1), &mut steps);
            if steps.is_empty() {
                state[0] = 0;
            }
        }
    }

    /// Whether a process that must be deterministic has another enabled step before this one.
    fn breaks_determinism(&self, step: Step, edge: &Edge, state: &StateBuf, view: &View) -> bool {
        let process = view.processes[step.process()];
        // SPIN ignores steps without effect.
        let exempt = edge.action.waits_for_others() || edge.action == Action::Skip;
        if !self.system.process_type(process.process_type).deterministic || exempt {
            return false;
        }
        let evaluator = Evaluator { timeout: step.is_timeout(), ..self.evaluator(state, view, step.process()) };
        let mut steps = Vec::new();
        self.steps_of_one(&evaluator, &mut steps);
        steps.iter().take_while(|other| **other != step).any(|other| other.partner().is_none())
    }
}

impl<'a> Execution<'a> {
    fn new(interpreter: &'a Interpreter<'a>, state: &'a mut StateBuf, view: View, process: usize) -> Self {
        let statement = StatementId(0);
        Execution {
            interpreter,
            state,
            view,
            process,
            timeout: false,
            offer: None,
            started: 0,
            failed: 0,
            first_failed: (FaultKind::Assertion, statement),
            statement,
            printed: None,
        }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator {
            interpreter: self.interpreter,
            state: self.state,
            view: &self.view,
            process: self.process,
            watches: false,
            timeout: self.timeout,
            offer: self.offer.as_ref(),
            started: self.started,
            asking: 0,
            moved: false,
            ended: false,
        }
    }

    fn take(&mut self, edge: &Edge) -> Evaluated<()> {
        // Evaluated again, although it is known to be enabled: a guard that faults is reported here.
        if !edge.action.waits_for_others() {
            self.evaluator().possible(&edge.action)?;
        }
        self.perform(&edge.action)?;
        self.advance(edge);
        Ok(())
    }

    /// A rendezvous: the message is passed directly, and the receiver decides whether the sequence stays atomic.
    fn meet(&mut self, sent: &Edge, partner: usize, received: &Edge) -> Evaluated<()> {
        let Action::Send(send) = &sent.action else { unreachable!("a rendezvous begins with a send") };
        let offer = self.evaluator().offer_of(send)?;
        let fields = offer.fields.as_ref().map_err(|kind| *kind)?;
        if fields.len() != send.fields.len() {
            self.fail(FaultKind::MessageFields);
        }
        self.observe(Direction::Send, offer.channel, fields)?;
        self.offer = Some(offer);
        self.advance(sent);
        self.process = partner;
        self.statement = received.statement;
        self.take(received)
    }

    /// Moves the process to the edge's target.
    fn advance(&mut self, edge: &Edge) {
        let process = self.view.processes[self.process];
        let layout = &self.interpreter.layout;
        for place in &edge.forgets {
            let frame = if place.base == Base::Global { layout.globals } else { process.locals };
            store(self.state, frame + place.offset as usize, place.scalar, place.scalar.blank());
        }
        match edge.target {
            Some(target) => {
                layout.set_location(self.state, process.start, target);
                self.view.processes[self.process].location = target;
                self.state[0] = if edge.atomic { self.process as u8 + 1 } else { 0 };
            }
            None => {
                self.state.truncate(process.start);
                self.state[layout.process_count] -= 1;
                self.state[0] = 0;
            }
        }
        if let Some(last) = layout.last {
            self.state[last] = self.process as u8;
        }
    }

    fn perform(&mut self, action: &Action) -> Evaluated<()> {
        match action {
            Action::Skip | Action::Guard(_) | Action::Else | Action::End => {}
            Action::Assign(place, value) => {
                let value = self.evaluator().eval(value)?;
                self.assign(place, value)?;
            }
            Action::Send(send) => self.send(send)?,
            Action::Receive(receive) => self.receive(receive)?,
            Action::Assert(condition) => {
                if self.evaluator().eval(condition)? == 0 {
                    self.fail(FaultKind::Assertion);
                }
            }
            Action::Print(format, args) => {
                let args = args.iter().map(|arg| self.evaluator().eval(arg)).collect::<Evaluated<Vec<_>>>()?;
                self.print(|interpreter| interpreter.formatted(format, &args));
            }
            Action::PrintName(name) => {
                let name = self.evaluator().eval(name)?;
                self.print(|interpreter| interpreter.member_name(name));
            }
            Action::SetPriority(parts) => {
                let (process, priority) = (self.evaluator().eval(&parts.0)?, self.evaluator().eval(&parts.1)?);
                if let Some(process) = self.evaluator().process_index(process) {
                    let priority = u8::try_from(priority).ok().filter(|&p| p > 0).ok_or(FaultKind::Priority)?;
                    let start = self.view.processes[process].start;
                    self.interpreter.layout.set_priority(self.state, start, priority);
                }
            }
            Action::Run(run, then) => {
                self.started = self.run(run)?;
                self.perform(then)?;
            }
            Action::Deterministic(block) => self.run_block(block)?,
        }
        Ok(())
    }

    fn print(&mut self, text: impl FnOnce(&Interpreter) -> String) {
        if let Some(printed) = self.printed.as_mut().filter(|printed| printed.len() < MOST_PRINTED) {
            printed.push_str(&text(self.interpreter));
        }
    }

    /// Records a failure that does not end the run.
    fn fail(&mut self, kind: FaultKind) {
        if self.interpreter.system.monitor.is_some() && !kind.is_of_events() {
            return;
        }
        if self.failed == 0 {
            self.first_failed = (kind, self.statement);
        }
        self.failed += 1;
    }

    fn assign(&mut self, place: &Place, value: i32) -> Evaluated<()> {
        let address = self.evaluator().find(place)?;
        place.scalar.check(value)?;
        if let Address::At(at) = address {
            store(self.state, at, place.scalar, value);
        }
        Ok(())
    }

    fn send(&mut self, send: &Send) -> Evaluated<()> {
        let interpreter = self.interpreter;
        let layout = &interpreter.layout;
        let evaluator = self.evaluator();
        let number = evaluator.eval(&send.channel)?;
        let channel = evaluator.channel(number)?;
        let channel_type = &interpreter.system.channel_types[channel.channel_type.index()];
        if channel_type.is_rendezvous() {
            // There is no message to offer, or no process may receive it here.
            return Err(evaluator.offer_of(send)?.fields.err().unwrap_or(FaultKind::Rendezvous));
        }
        let mut fields = send.fields.iter().map(|field| evaluator.eval(field)).collect::<Evaluated<Vec<_>>>()?;
        fields.resize(channel_type.fields.len(), 0);
        channel_type.fields.iter().zip(&fields).try_for_each(|(scalar, value)| scalar.check(*value))?;
        let length = layout.channel_length(self.state, channel);
        let message_in =
            |slot: usize| (0..fields.len()).map(move |i| evaluator.field(channel, slot, i).unwrap_or(0));
        let greater = |slot: &usize| message_in(*slot).gt(fields.iter().copied());
        let slot = if send.sorted { (0..length).find(greater).unwrap_or(length) } else { length };
        let (at, end) = (layout.message(channel, slot), layout.message(channel, length));
        let message = layout.channel(channel.channel_type).message;
        self.state.copy_within(at..end, at + message);
        let mut at = at;
        for (scalar, value) in channel_type.fields.iter().zip(fields) {
            store(self.state, at, *scalar, value);
            at += scalar.size() as usize;
        }
        layout.set_channel_length(self.state, channel, length + 1);
        self.observe_buffer(Direction::Send, number, channel, length)?;
        if channel_type.fields.len() != send.fields.len() {
            self.fail(FaultKind::MessageFields);
        }
        Ok(())
    }

    /// Fields are stored one after the other, so that in `c?i,a[i]` the index is the `i` just received.
    fn receive(&mut self, receive: &Receive) -> Evaluated<()> {
        let evaluator = self.evaluator();
        let slot = evaluator.matching(receive)?.ok_or(FaultKind::Blocked)?;
        let number = evaluator.eval(&receive.channel)?;
        let channel = evaluator.channel(number)?;
        let complete = receive.fields.len() == evaluator.channel_type_of(channel).fields.len();
        let message: Vec<i32> = match self.offer.take() {
            Some(offer) => offer.fields?,
            None => {
                let fields = 0..receive.fields.len();
                fields.map(|field| self.evaluator().field(channel, slot, field).unwrap_or(0)).collect()
            }
        };
        let rendezvous = self.evaluator().channel_type_of(channel).is_rendezvous();
        let last = receive.fields.len().saturating_sub(1);
        for (index, pattern) in receive.fields.iter().enumerate() {
            // In SPIN, it is the last field that takes the message out of the channel.
            if index == last && !receive.keep {
                if rendezvous {
                    self.observe(Direction::Receive, number, &message)?;
                } else {
                    self.observe_buffer(Direction::Receive, number, channel, 0)?;
                }
            }
            if let Pattern::Store(place) = pattern {
                // A field that the message lacks is 0.
                self.assign(place, message.get(index).copied().unwrap_or(0))?;
            }
        }
        if !rendezvous && !receive.keep {
            let layout = &self.interpreter.layout;
            let length = layout.channel_length(self.state, channel);
            let (next, end) = (layout.message(channel, slot + 1), layout.message(channel, length));
            let size = layout.channel(channel.channel_type).message;
            self.state.copy_within(next..end, next - size);
            self.state[end - size..end].fill(0);
            layout.set_channel_length(self.state, channel, length - 1);
        }
        if !complete && !receive.keep {
            self.fail(FaultKind::MessageFields);
        }
        Ok(())
    }

    /// Passes an event to the monitor. Like SPIN, this reads one end of the buffer, even if the message was inserted
    /// or removed elsewhere.
    fn observe_buffer(
        &mut self,
        direction: Direction,
        number: i32,
        channel: ChannelView,
        slot: usize,
    ) -> Evaluated<()> {
        if self.interpreter.layout.watch.is_none() {
            return Ok(());
        }
        let evaluator = self.evaluator();
        let fields = 0..evaluator.channel_type_of(channel).fields.len();
        let message: Vec<i32> = fields.map(|field| evaluator.field(channel, slot, field).unwrap_or(0)).collect();
        self.observe(direction, number, &message)
    }

    fn observe(&mut self, direction: Direction, channel: i32, fields: &[i32]) -> Evaluated<()> {
        let Interpreter { layout, system, .. } = self.interpreter;
        let (Some(at), Some(monitor)) = (layout.watch, &system.monitor) else { return Ok(()) };
        let post = layout.watch(self.state, at);
        match self.evaluator().watch(monitor, post, &ObservedEvent { direction, channel, fields }) {
            Ok(None) => {}
            Ok(Some(MonitorStep { post, fault })) => {
                layout.set_watch(self.state, at, post);
                fault.into_iter().for_each(|kind| self.fail(kind));
            }
            Err(MonitorFault(statement)) => {
                self.statement = statement;
                return Err(FaultKind::Proposition);
            }
        }
        Ok(())
    }

    /// Starts a process and returns its number.
    fn run(&mut self, run: &Run) -> Evaluated<i32> {
        let interpreter = self.interpreter;
        let layout = &interpreter.layout;
        let first_channel = self.view.channels.len();
        let reclaimed = interpreter.reclaimed(run.process_type, self.state, &self.view);
        if reclaimed.is_none() {
            self.check_room(run.process_type)?;
        }
        let args = run.args.iter().map(|arg| self.evaluator().eval(arg)).collect::<Evaluated<Vec<_>>>()?;
        let number = match reclaimed {
            Some(number) => {
                let start = self.view.processes[number].start;
                self.state[start..start + layout.process_size(run.process_type)].fill(0);
                number
            }
            None => self.append(run.process_type),
        };
        let process_type = interpreter.system.process_type(run.process_type);
        let start = self.view.processes[number].start;
        self.state[start] = run.process_type.0 as u8;
        layout.set_location(self.state, start, process_type.entry);
        layout.set_priority(self.state, start, run.priority);
        self.view.processes[number].location = process_type.entry;

        let parent = std::mem::replace(&mut self.process, number);
        for (place, value) in process_type.params.iter().zip(args) {
            self.assign(place, value)?;
        }
        self.initialise(&process_type.frame.init, first_channel)?;
        self.process = parent;
        Ok(number as i32)
    }

    /// Whether there is room for another process.
    fn check_room(&self, of: ProcessTypeId) -> Evaluated<()> {
        let interpreter = self.interpreter;
        let layout = &interpreter.layout;
        if self.view.processes.len() >= MAX_PROCESSES {
            let is_limit_of_ours = interpreter.system.reclaims;
            return Err(if is_limit_of_ours { FaultKind::TooManyThreads } else { FaultKind::TooManyProcesses });
        }
        if self.view.channels.len() + layout.channels_of(of) > MAX_CHANNELS {
            return Err(FaultKind::TooManyChannels);
        }
        if self.state.len() + layout.process_size(of) > MAX_STATE_BYTES {
            return Err(FaultKind::StateSize);
        }
        Ok(())
    }

    /// Makes room for another process and returns its number.
    fn append(&mut self, of: ProcessTypeId) -> usize {
        let interpreter = self.interpreter;
        let layout = &interpreter.layout;
        let (number, start) = (self.view.processes.len(), self.state.len());
        self.state.resize(start + layout.process_size(of), 0);
        self.state[start] = of.0 as u8;
        layout.set_location(self.state, start, interpreter.system.process_type(of).entry);
        self.state[layout.process_count] += 1;
        layout.add_process(interpreter.system, self.state, start, &mut self.view);
        number
    }

    /// Initialises the variables of a new frame; its channels are numbered from `first_channel` on.
    fn initialise(&mut self, init: &[Init], first_channel: usize) -> Evaluated<()> {
        let mut channel = first_channel as i32;
        for init in init {
            match init {
                Init::Value(place, value) => {
                    let value = self.evaluator().eval(value)?;
                    self.assign(place, value)?;
                }
                Init::Channel(place, _) => {
                    channel += 1;
                    self.assign(place, channel)?;
                }
            }
        }
        Ok(())
    }

    fn run_block(&mut self, block: &Block) -> Evaluated<()> {
        let mut current = Some(NodeId(0));
        // After Brent: an improved Monte Carlo factorization algorithm, BIT 1980. A block that passes a node in the same state
        // twice does not end; it is compared with what it was after a power of two.
        let mut before = None;
        for passed in 0..Block::LIMIT {
            let Some(id) = current else { return Ok(()) };
            if passed >= FIRST_LOOK {
                if before.as_ref().is_some_and(|(node, state)| *node == id && state == &*self.state) {
                    return Err(FaultKind::Endless);
                }
                if passed.is_power_of_two() {
                    before = Some((id, self.state.clone()));
                }
                if passed.is_multiple_of(FIRST_LOOK) && self.interpreter.deadline.is_over() {
                    return Err(FaultKind::TooLong);
                }
            }
            current = match &block.nodes[id.0 as usize] {
                BlockNode::Do { action, statement, next } => {
                    self.statement = *statement;
                    if !self.evaluator().possible(action)? {
                        return Err(FaultKind::Blocked);
                    }
                    self.perform(action)?;
                    *next
                }
                BlockNode::Choose { alternatives, statement } => {
                    self.statement = *statement;
                    Some(self.choose(block, alternatives)?)
                }
                BlockNode::Jump(next) => *next,
            };
        }
        Err(FaultKind::TooLong)
    }

    fn choose(&self, block: &Block, alternatives: &[NodeId]) -> Evaluated<NodeId> {
        for &alternative in alternatives {
            let taken = match &block.nodes[alternative.0 as usize] {
                BlockNode::Do { action, .. } => self.evaluator().possible(action)?,
                BlockNode::Choose { .. } | BlockNode::Jump(_) => true,
            };
            if taken {
                return Ok(alternative);
            }
        }
        Err(FaultKind::Blocked)
    }
}
