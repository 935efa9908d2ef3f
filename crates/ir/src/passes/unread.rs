//! What nobody ever looks at is not kept.
//!
//! A variable that is only looked at to find out what to store in others that nobody looks at is not looked at either. What
//! is stored in it goes nowhere. What is sent in a field of messages that no receiver looks at is 0. What may go wrong on the
//! way still does: such values and indices stay, and count as being looked at.

use std::collections::{HashMap, HashSet};

use super::faults::{is_always_there, may_fault, takes_all};
use crate::{
    Action, Base, ChannelTypeId, Child, ChildMut, Effect, Expr, Frame, Init, Pattern, Place, ProcessTypeId, Range,
    Ranges, Receive, Run, Send, System,
};

/// The names of the variables that statements assign to and that are not kept.
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

/// Something that may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Storage {
    /// By its number in the frame of the globals, or of a process type.
    Variable(Option<ProcessTypeId>, usize),
    /// Of the messages of a channel type.
    Field(ChannelTypeId, usize),
}

/// Who looks at what.
struct Readers {
    ranges: Ranges,
    /// The types of the channels that exist from the beginning; number `n` is at `n - 1`.
    channels: Vec<ChannelTypeId>,
    /// All that somebody looks at.
    seen: HashSet<Storage>,
    /// All that statements assign to.
    assigned: HashSet<Storage>,
    /// What is looked at to find out what to put into something else.
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

    /// The names of the variables that statements assign to and nothing looks at.
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

    /// What is looked at by others than processes.
    fn outside(&mut self, system: &System) {
        if system.reclaims {
            self.seen.extend(references(system));
        }
        for (condition, _) in system.propositions.iter().chain(&system.invariants) {
            self.look(system, None, condition);
        }
        let Some(monitor) = &system.monitor else { return };
        monitor.watched.iter().for_each(|watched| self.look(system, None, &watched.channel));
        for event in monitor.posts.iter().flat_map(|post| &post.edges).filter_map(|edge| edge.event.as_ref()) {
            self.look(system, None, &event.channel);
            for pattern in &event.fields {
                pattern.each_child(&mut |expr| self.look(system, None, expr));
            }
        }
        for (id, channel_type) in (0..).map(ChannelTypeId).zip(&system.channel_types) {
            self.seen.extend((0..channel_type.fields.len()).map(|field| Storage::Field(id, field)));
        }
    }

    /// Whoever looks at what `seen` comes from looks at that too.
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

    /// Whoever asks whether a message could be received looks at its fields.
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

    /// A value goes into one of several storages; in some cases it is looked at at once.
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
        // Whatever lies outside of all variables is left alone.
        let at_once = !takes_all(place) || into.is_empty() && place.base != Base::Nowhere;
        self.seen.extend(into.iter().filter(|_| !is_near(place)));
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
                    self.seen.extend(variable(system, of, place).filter(|_| !is_near(place)));
                }
                Pattern::Equal(expr) => {
                    self.look(system, of, expr);
                    self.seen.extend(from);
                }
                Pattern::Ignore => {}
            }
        }
    }

    /// A field of the messages of all channels that an expression may stand for.
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

/// Takes away what nobody looks at.
struct Rewriter<'a> {
    system: &'a System,
    readers: &'a Readers,
    /// Whose actions.
    of: Option<ProcessTypeId>,
}

impl Rewriter<'_> {
    fn is_unread(&self, place: &Place) -> bool {
        let storage = variable(self.system, self.of, place);
        is_near(place) && storage.is_some_and(|storage| !self.readers.is_seen(storage))
    }

    fn inits(&self, frame: &mut Frame) {
        frame.init.retain(|init| match init {
            Init::Value(place, value) => {
                let can_go = takes_all(place) && is_always_there(place) && !may_fault(value);
                !(can_go && self.is_unread(place))
            }
            // There are as many channels as before.
            Init::Channel(..) => true,
        });
    }

    fn action(&self, action: &mut Action) {
        match action {
            Action::Assign(place, value) => self.assignment(place, value),
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive),
            Action::Run(run, _) => self.run(run),
            // An action that stores nothing is as it was.
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

/// A value without what it takes from the place where it is put: to load that is a fault only where to store it is one. But
/// what is computed from it may be one.
fn elsewhere(value: &Expr, place: &Place) -> Expr {
    let mut value = value.clone();
    match &mut value {
        Expr::Load(found) if **found == *place => **found = Place::nowhere(place.scalar),
        _ => value.each_child_mut(&mut |part| *part = elsewhere(part, place)),
    }
    value
}

/// Whether a process only reaches its own variables there, or those of all.
fn is_near(place: &Place) -> bool {
    match &place.base {
        Base::Global | Base::Local | Base::Nowhere => true,
        Base::Remote(..) => false,
    }
}

/// Whether some value would be a fault in one of the fields.
fn is_checked(system: &System, fields: &[Storage]) -> bool {
    fields.iter().any(|storage| match storage {
        Storage::Field(id, field) => system.channel_types[id.index()].fields[*field].range.is_some(),
        Storage::Variable(..) => false,
    })
}

/// The variables that an expression looks at.
fn loads(system: &System, of: Option<ProcessTypeId>, expr: &Expr) -> Vec<Storage> {
    let mut found = Vec::new();
    expr.each(&mut |part| {
        if let Expr::Load(place) = part {
            found.extend(variable(system, of, place));
        }
    });
    found
}

/// The variable that a place lies in.
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

/// The variables in which numbers of processes are kept: whose place is given to others depends on them.
fn references(system: &System) -> impl Iterator<Item = Storage> {
    let frames =
        (0..).map(ProcessTypeId).zip(&system.process_types).map(|(id, process)| (Some(id), &process.frame));
    let variables = frames.chain([(None, &system.globals)]).flat_map(|(of, frame)| {
        frame.variables.iter().enumerate().map(move |(number, variable)| (of, number, &variable.shape))
    });
    variables.filter(|(_, _, shape)| shape.keeps_threads()).map(|(of, number, _)| Storage::Variable(of, number))
}
