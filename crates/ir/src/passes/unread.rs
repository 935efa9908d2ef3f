//! Removal of variables that are never read.
//!
//! A variable that is read only to compute values of unread variables is unread too. Assignments to it are discarded.
//! A field of messages that no receiver reads is sent as 0. Expressions that may fault stay, and count as reads.

use std::collections::{HashMap, HashSet};

use super::faults::{is_always_there, may_fault, takes_all};
use crate::{
    Action, Base, ChannelTypeId, Child, ChildMut, Effect, Expr, Frame, Init, Pattern, Place, ProcessTypeId, Range,
    Ranges, Receive, Run, Send, System,
};

/// Removes unread variables; returns the names of those that statements assign to.
pub(super) fn unread(system: &mut System) -> Vec<String> {
    let readers = Readers::of(system);
    let original = system.clone();
    let rewriter = |of: Option<ProcessTypeId>| Rewriter { system: &original, readers: &readers, of };
    rewriter(None).inits(&mut system.globals);
    for (id, process) in (0..).map(ProcessTypeId).zip(&mut system.process_types) {
        rewriter(Some(id)).inits(&mut process.frame);
        for location in &process.locations {
            for edge in location.edges() {
                rewriter(Some(id)).action(&mut system.edges[edge.index()].action);
            }
        }
    }
    readers.unread(&original)
}

/// A variable or a field of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Storage {
    /// By its index in the frame of the globals, or of a process type.
    Variable(Option<ProcessTypeId>, usize),
    /// Of the messages of a channel type.
    Field(ChannelTypeId, usize),
}

/// Which storage is read.
struct Readers {
    ranges: Ranges,
    /// The types of the initial channels; number `n` is at `n - 1`.
    channels: Vec<ChannelTypeId>,
    /// The storage that is read.
    seen: HashSet<Storage>,
    /// The storage that statements assign to.
    assigned: HashSet<Storage>,
    /// For each storage, the storage that its values are computed from.
    behind: HashMap<Storage, Vec<Storage>>,
}

impl Readers {
    fn of(system: &System) -> Readers {
        let channel = |init: &Init| match init {
            Init::Channel(_, channel_type) => Some(*channel_type),
            Init::Value(..) => None,
        };
        let mut readers = Readers {
            ranges: Ranges::new(system),
            channels: system.globals.init.iter().filter_map(channel).collect(),
            seen: HashSet::new(),
            assigned: HashSet::new(),
            behind: HashMap::new(),
        };
        readers.outside(system);
        readers.inits(system, None, &system.globals);
        for (id, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
            readers.inits(system, Some(id), &process.frame);
            process.provided.iter().for_each(|condition| readers.look(system, Some(id), condition));
            for edge in process.locations.iter().flat_map(|location| system.edges_of(location)) {
                readers.action(system, id, &edge.action);
            }
        }
        readers.close();
        readers
    }

    /// The names of the variables that statements assign to and nothing reads.
    fn unread(&self, system: &System) -> Vec<String> {
        let named = |of: Option<ProcessTypeId>, process: Option<&str>, frame: &Frame| {
            let unread = frame.variables.iter().enumerate();
            let unread = unread.filter(|(number, _)| {
                let variable = Storage::Variable(of, *number);
                self.assigned.contains(&variable) && !self.seen.contains(&variable)
            });
            let name = |name: &str| process.map_or(name.to_owned(), |process| format!("{process}.{name}"));
            unread.map(|(_, variable)| name(&variable.name)).collect::<Vec<_>>()
        };
        let processes = (0..).map(ProcessTypeId).zip(&system.process_types);
        let local = processes.flat_map(|(id, process)| named(Some(id), Some(&process.name), &process.frame));
        named(None, None, &system.globals).into_iter().chain(local).collect()
    }

    /// Reads by properties and monitors.
    fn outside(&mut self, system: &System) {
        if system.reclaims {
            self.seen.extend(references(system));
        }
        for (condition, _) in system.propositions.iter().chain(&system.invariants) {
            self.look(system, None, condition);
        }
        let Some(monitor) = &system.monitor else { return };
        monitor.watched.iter().for_each(|watched| self.look(system, None, &watched.channel));
        for event in monitor.states.iter().flat_map(|post| &post.edges).filter_map(|edge| edge.event.as_ref()) {
            self.look(system, None, &event.channel);
            for pattern in &event.fields {
                pattern.each_child(&mut |expr| self.look(system, None, expr));
            }
        }
        for (id, channel_type) in (0..).map(ChannelTypeId).zip(&system.channel_types) {
            self.seen.extend((0..channel_type.fields.len()).map(|field| Storage::Field(id, field)));
        }
    }

    /// The closure of `seen` under data dependence.
    fn close(&mut self) {
        let mut waiting: Vec<Storage> = self.seen.iter().copied().collect();
        while let Some(storage) = waiting.pop() {
            for &more in self.behind.get(&storage).into_iter().flatten() {
                if self.seen.insert(more) {
                    waiting.push(more);
                }
            }
        }
    }

    fn look(&mut self, system: &System, of: Option<ProcessTypeId>, expr: &Expr) {
        self.seen.extend(loads(system, of, expr));
        self.peek(system, of, expr);
    }

    /// A poll reads the fields of messages.
    fn peek(&mut self, system: &System, of: Option<ProcessTypeId>, expr: &Expr) {
        expr.each(&mut |part| {
            let Expr::Poll(poll) = part else { return };
            for (field, _) in poll.fields.iter().enumerate().filter(|(_, field)| **field != Pattern::Ignore) {
                let fields = self.fields(system, of, &poll.channel, field);
                self.seen.extend(fields);
            }
        });
    }

    fn look_for_place(&mut self, system: &System, of: Option<ProcessTypeId>, place: &Place) {
        place.each_expr(&mut |expr| self.look(system, of, expr));
    }

    /// A value is stored to one of `into`; with `at_once`, it is read in any case.
    fn put(&mut self, system: &System, of: Option<ProcessTypeId>, value: &Expr, into: &[Storage], at_once: bool) {
        if at_once || may_fault(value) {
            return self.look(system, of, value);
        }
        for storage in into {
            self.behind.entry(*storage).or_default().extend(loads(system, of, value));
        }
    }

    fn store(&mut self, system: &System, of: Option<ProcessTypeId>, place: &Place, value: &Expr) {
        self.look_for_place(system, of, place);
        let into: Vec<Storage> = variable(system, of, place).into_iter().collect();
        // Places outside of all variables are left alone.
        let at_once = !takes_all(place) || into.is_empty() && place.base != Base::Nowhere;
        self.seen.extend(into.iter().filter(|_| !place.is_near()));
        let rest = elsewhere(value, place);
        if at_once || may_fault(&rest) {
            return self.look(system, of, value);
        }
        self.put(system, of, &rest, &into, false);
    }

    fn inits(&mut self, system: &System, of: Option<ProcessTypeId>, frame: &Frame) {
        for init in &frame.init {
            match init {
                Init::Value(place, value) => self.store(system, of, place, value),
                Init::Channel(place, _) => self.look_for_place(system, of, place),
            }
        }
    }

    fn action(&mut self, system: &System, id: ProcessTypeId, action: &Action) {
        let of = Some(id);
        if let Some(args) = action.printed() {
            // A search ignores what is printed.
            return args.iter().for_each(|arg| self.put(system, of, arg, &[], false));
        }
        match action.effect() {
            Effect::Nothing | Effect::Other => action.each_child(&mut |child| match child {
                Child::Expr(expr) => self.look(system, of, expr),
                Child::Store(place) => self.look_for_place(system, of, place),
                Child::Action(part) => self.action(system, id, part),
            }),
            Effect::Assign(place, value) => {
                self.assigned.extend(variable(system, of, place));
                self.store(system, of, place, value);
            }
            Effect::Send(send) => self.send(system, id, send),
            Effect::Receive(receive) => self.receive(system, id, receive),
            Effect::Run(run, then) => {
                self.run(system, id, run);
                self.action(system, id, then);
            }
            Effect::Block(block) => block.each_action(&mut |part| self.action(system, id, part)),
        }
    }

    fn run(&mut self, system: &System, id: ProcessTypeId, run: &Run) {
        let params = &system.process_type(run.process_type).params;
        for (arg, param) in run.args.iter().zip(params) {
            let into = variable(system, Some(run.process_type), param);
            let at_once = !takes_all(param) || into.is_none();
            self.put(system, Some(id), arg, into.as_slice(), at_once);
        }
    }

    fn send(&mut self, system: &System, id: ProcessTypeId, send: &Send) {
        self.look(system, Some(id), &send.channel);
        send.when.iter().for_each(|condition| self.look(system, Some(id), condition));
        for (field, value) in send.fields.iter().enumerate() {
            let into = self.fields(system, Some(id), &send.channel, field);
            if send.sorted {
                self.seen.extend(&into);
            }
            self.put(system, Some(id), value, &into, is_checked(system, &into));
        }
    }

    fn receive(&mut self, system: &System, id: ProcessTypeId, receive: &Receive) {
        let of = Some(id);
        self.look(system, of, &receive.channel);
        receive.when.iter().for_each(|condition| self.look(system, of, condition));
        for (field, pattern) in receive.fields.iter().enumerate() {
            let from = self.fields(system, Some(id), &receive.channel, field);
            match pattern {
                Pattern::Store(place) => {
                    self.look_for_place(system, of, place);
                    match variable(system, of, place) {
                        Some(storage) if takes_all(place) => self.behind.entry(storage).or_default().extend(from),
                        None if takes_all(place) && place.base == Base::Nowhere => {}
                        Some(_) | None => self.seen.extend(from),
                    }
                    self.seen.extend(variable(system, of, place).filter(|_| !place.is_near()));
                }
                Pattern::Equal(expr) => {
                    self.look(system, of, expr);
                    self.seen.extend(from);
                }
                Pattern::Ignore => {}
            }
        }
    }

    /// A field of the messages of all channels that an expression may denote.
    fn fields(&self, system: &System, of: Option<ProcessTypeId>, channel: &Expr, field: usize) -> Vec<Storage> {
        let numbers = match channel {
            Expr::Load(place) => Some(self.ranges.of(place, of)),
            other => other.constant().map(|value| Range { low: value, high: value }),
        };
        let known = numbers.and_then(|Range { low, high }| {
            let first = usize::try_from(low).ok()?.checked_sub(1)?;
            self.channels.get(first..usize::try_from(high).ok()?)
        });
        let all = (0..system.channel_types.len()).map(|number| ChannelTypeId(number as u16));
        let types = known.map_or_else(|| all.collect(), <[ChannelTypeId]>::to_vec);
        let has_it = |id: &ChannelTypeId| field < system.channel_types[id.index()].fields.len();
        types.into_iter().filter(has_it).map(|id| Storage::Field(id, field)).collect()
    }

    fn is_seen(&self, storage: Storage) -> bool {
        self.seen.contains(&storage)
    }
}

/// Removes unread storage.
struct Rewriter<'a> {
    system: &'a System,
    readers: &'a Readers,
    /// The process type of the actions.
    of: Option<ProcessTypeId>,
}

impl Rewriter<'_> {
    fn is_unread(&self, place: &Place) -> bool {
        let storage = variable(self.system, self.of, place);
        place.is_near() && storage.is_some_and(|storage| !self.readers.is_seen(storage))
    }

    fn inits(&self, frame: &mut Frame) {
        frame.init.retain(|init| match init {
            Init::Value(place, value) => {
                let can_go = takes_all(place) && is_always_there(place) && !may_fault(value);
                !(can_go && self.is_unread(place))
            }
            // The channels keep their numbers.
            Init::Channel(..) => true,
        });
    }

    fn action(&self, action: &mut Action) {
        match action {
            Action::Assign(place, value) => self.assignment(place, value),
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive),
            Action::Run(run, _) => self.run(run),
            // Other actions store nothing that can be removed.
            _ => {}
        }
        action.each_child_mut(&mut |child| match child {
            ChildMut::Expr(_) | ChildMut::Store(_) => {}
            ChildMut::Action(part) => self.action(part),
        });
    }

    fn assignment(&self, place: &mut Place, value: &mut Expr) {
        if !self.is_unread(place) {
            return;
        }
        let may_fault = may_fault(&elsewhere(value, place));
        place.base = Base::Nowhere;
        if takes_all(place) && !may_fault {
            *value = Expr::Const(0);
        }
        if is_always_there(place) {
            *place = Place::nowhere(place.scalar);
        }
    }

    fn receive(&self, receive: &mut Receive) {
        for pattern in &mut receive.fields {
            let Pattern::Store(place) = pattern else { continue };
            if !self.is_unread(place) {
                continue;
            }
            place.base = Base::Nowhere;
            if takes_all(place) && is_always_there(place) {
                *pattern = Pattern::Ignore;
            }
        }
    }

    fn run(&self, run: &mut Run) {
        let params = &self.system.process_type(run.process_type).params;
        let of_started = Rewriter { of: Some(run.process_type), ..*self };
        for (arg, param) in run.args.iter_mut().zip(params) {
            if of_started.is_unread(param) && takes_all(param) && !may_fault(arg) {
                *arg = Expr::Const(0);
            }
        }
    }

    fn send(&self, send: &mut Send) {
        for (field, value) in send.fields.iter_mut().enumerate() {
            let into = self.readers.fields(self.system, self.of, &send.channel, field);
            let is_unread = into.iter().all(|storage| !self.readers.is_seen(*storage));
            if is_unread && !is_checked(self.system, &into) && !may_fault(value) {
                *value = Expr::Const(0);
            }
        }
    }
}

/// A value, without loads of the place that it is assigned to: such a load faults only if the store faults.
fn elsewhere(value: &Expr, place: &Place) -> Expr {
    let mut value = value.clone();
    match &mut value {
        Expr::Load(found) if **found == *place => **found = Place::nowhere(place.scalar),
        _ => value.each_child_mut(&mut |part| *part = elsewhere(part, place)),
    }
    value
}

/// Whether one of the fields has a range, so that a value may be out of it.
fn is_checked(system: &System, fields: &[Storage]) -> bool {
    fields.iter().any(|storage| match storage {
        Storage::Field(id, field) => system.channel_types[id.index()].fields[*field].range.is_some(),
        Storage::Variable(..) => false,
    })
}

/// The variables that an expression reads.
fn loads(system: &System, of: Option<ProcessTypeId>, expr: &Expr) -> Vec<Storage> {
    let mut found = Vec::new();
    expr.each(&mut |part| {
        if let Expr::Load(place) = part {
            found.extend(variable(system, of, place));
        }
    });
    found
}

/// The variable that contains a place.
fn variable(system: &System, of: Option<ProcessTypeId>, place: &Place) -> Option<Storage> {
    let owner = match &place.base {
        Base::Global => None,
        Base::Local => Some(of?),
        Base::Remote(_, of) => Some(*of),
        Base::Nowhere => return None,
    };
    let frame = owner.map_or(&system.globals, |owner| &system.process_type(owner).frame);
    let holds = |offset: u32, size: u32| offset <= place.offset && place.offset < offset + size;
    let number = frame.variables.iter().position(|variable| holds(variable.offset, variable.shape.size()));
    number.map(|number| Storage::Variable(owner, number))
}

/// The variables that hold numbers of threads: which slots can be reused depends on them.
fn references(system: &System) -> impl Iterator<Item = Storage> {
    let frames =
        (0..).map(ProcessTypeId).zip(&system.process_types).map(|(id, process)| (Some(id), &process.frame));
    let variables = frames.chain([(None, &system.globals)]).flat_map(|(of, frame)| {
        frame.variables.iter().enumerate().map(move |(number, variable)| (of, number, &variable.shape))
    });
    variables.filter(|(_, _, shape)| shape.keeps_threads()).map(|(of, number, _)| Storage::Variable(of, number))
}
