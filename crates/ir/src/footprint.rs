//! What steps have to do with each other: what each of them looks at, and what it changes.
//!
//! Two steps of different processes *conflict* if it may matter which of them is taken first. A step that is not possible
//! *waits*: only one that changes what it waits for can make it possible. Both are known of edges, once and for all states, so
//! they say more than is true in some of them, and never less.
//!
//! What only the process itself looks at is left out. So are its own locals where it reads them: others can only read them.

use crate::{
    Action, Base, Block, BlockNode, ChannelType, Edge, EdgeId, Entry, Expr, Init, Location, Pattern, Place,
    ProcessType, ProcessTypeId, Range, Ranges, Receive, Send, System,
};
use std::collections::{BTreeSet, HashSet};

/// Something that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// These bytes of the globals.
    Globals(Span),
    /// These bytes of the locals of a process of this type.
    Locals(ProcessTypeId, Span),
    /// Where a process of this type is.
    Location(ProcessTypeId),
    /// Some channels, by their numbers.
    Channels(Span, Part),
    /// Which processes there are.
    Processes,
    Priorities,
    /// Which process moved last.
    Last,
    /// Whatever there is: who looks at this asks what others can do.
    Everything,
}

/// From the first one up to but not including the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub from: u32,
    pub to: u32,
}

/// Of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The messages that come next.
    Front,
    /// Where messages are added.
    Back,
    /// How many there are.
    Length,
    /// Who offers or wants a message that is handed over at once.
    Meeting,
}

/// What an edge has to do with others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Where it is not possible, nothing makes it possible but a change of one of these.
    pub waits: Vec<Object>,
    pub reads: Vec<Object>,
    pub writes: Vec<Object>,
}

impl Span {
    fn one(number: u32) -> Span {
        Span { from: number, to: number + 1 }
    }

    fn meets(self, other: Span) -> bool {
        self.from < other.to && other.from < self.to
    }
}

impl Object {
    /// Whether both may be the same thing.
    pub fn meets(self, other: Object) -> bool {
        match (self, other) {
            (Object::Everything, _) | (_, Object::Everything) => true,
            (Object::Globals(one), Object::Globals(other)) => one.meets(other),
            (Object::Locals(of, one), Object::Locals(of_other, other)) => of == of_other && one.meets(other),
            (Object::Channels(one, part), Object::Channels(other, part_of_other)) => {
                part == part_of_other && one.meets(other)
            }
            _ => self == other,
        }
    }

    /// Whether it does not matter in which order two processes change it: each has its own, or they add up.
    fn is_shared_out(self) -> bool {
        match self {
            Object::Locals(..) | Object::Location(_) | Object::Channels(_, Part::Length | Part::Meeting) => true,
            Object::Globals(_)
            | Object::Channels(_, Part::Front | Part::Back)
            | Object::Processes
            | Object::Priorities
            | Object::Last
            | Object::Everything => false,
        }
    }
}

impl Footprint {
    /// Whether it may matter which of two steps is taken first, if both are possible, and by different processes.
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let reads = |one: &Footprint, other: &Footprint| {
            one.writes.iter().any(|write| other.reads.iter().any(|read| write.meets(*read)))
        };
        let both = |write: &&Object| !write.is_shared_out();
        let mut writes = self.writes.iter().filter(both);
        reads(self, other)
            || reads(other, self)
            || writes.any(|write| other.writes.iter().filter(both).any(|other| write.meets(*other)))
    }

    /// Whether taking it may make the other one possible, which is not.
    pub fn may_enable(&self, other: &Footprint) -> bool {
        self.writes.iter().any(|write| other.waits.iter().any(|wait| write.meets(*wait)))
    }

    /// This one or the other.
    pub fn join(&mut self, other: &Footprint) {
        self.waits.extend(&other.waits);
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.tidy();
    }

    /// Each object once.
    fn tidy(&mut self) {
        for objects in [&mut self.waits, &mut self.reads, &mut self.writes] {
            objects.sort_unstable();
            objects.dedup();
        }
    }
}

/// The footprints of all edges of a system.
#[derive(Clone, Debug)]
pub struct Footprints {
    /// Indexed by [`EdgeId`].
    of: Vec<Footprint>,
}

impl Footprints {
    pub fn new(system: &System) -> Footprints {
        let ranges = Ranges::new(system);
        let partners = partners(system, &ranges);
        let mut alone = vec![Footprint::default(); system.edges.len()];
        for (number, process) in (0..).zip(&system.process_types) {
            let reader = Reader { system, ranges: &ranges, partners: &partners, process: ProcessTypeId(number) };
            for location in &process.locations {
                for id in location.edges() {
                    alone[id.index()] = reader.edge(system.edge(id), location);
                }
            }
        }
        let mut of = alone.clone();
        for process in &system.process_types {
            for id in process.locations.iter().flat_map(Location::edges) {
                of[id.index()] = whole(system, process, &alone, id);
            }
        }
        // What nobody changes, nobody need look at.
        let written: BTreeSet<Object> = of.iter().flat_map(|footprint| footprint.writes.iter().copied()).collect();
        for footprint in &mut of {
            let changes = |object: &Object| written.iter().any(|write| write.meets(*object));
            footprint.waits.retain(changes);
            footprint.reads.retain(changes);
        }
        Footprints { of }
    }

    pub fn of(&self, edge: EdgeId) -> &Footprint {
        &self.of[edge.index()]
    }
}

/// What an edge has to do with others, together with all that may follow it without interruption.
fn whole(system: &System, process: &ProcessType, alone: &[Footprint], edge: EdgeId) -> Footprint {
    let mut footprint = alone[edge.index()].clone();
    let (mut known, mut waiting) = (HashSet::from([edge]), vec![edge]);
    while let Some(edge) = waiting.pop() {
        let Edge { atomic: true, target: Some(target), action, .. } = system.edge(edge) else { continue };
        if !communications(action).is_empty() && system.channel_types.iter().any(ChannelType::is_rendezvous) {
            // Whoever takes the message may go on in its place.
            footprint.reads.push(Object::Everything);
            footprint.writes.push(Object::Everything);
        }
        let next = process.locations.get(target.index()).into_iter().flat_map(Location::edges);
        for next in next.filter(|next| known.insert(*next)) {
            let Footprint { waits, reads, writes } = &alone[next.index()];
            footprint.reads.extend(waits.iter().chain(reads));
            footprint.writes.extend(writes);
            waiting.push(next);
        }
    }
    footprint.tidy();
    footprint
}

/// Something that hands a message over, or wants one.
struct Partner {
    channels: Span,
    sends: bool,
    /// What decides whether it does.
    tests: Vec<Object>,
}

/// All of them, if there are channels where messages are handed over at once.
fn partners(system: &System, ranges: &Ranges) -> Vec<Partner> {
    if !system.channel_types.iter().any(ChannelType::is_rendezvous) {
        return Vec::new();
    }
    let mut partners = Vec::new();
    for (number, process) in (0..).zip(&system.process_types) {
        let reader = Reader { system, ranges, partners: &[], process: ProcessTypeId(number) };
        for edge in process.locations.iter().flat_map(|location| system.edges_of(location)) {
            partners.extend(communications(&edge.action).into_iter().map(|action| Partner {
                channels: reader.offered(action),
                sends: matches!(action, Action::Send(_)),
                tests: reader.action(action).reads,
            }));
        }
    }
    partners
}

/// What an action may begin with.
fn communications(action: &Action) -> Vec<&Action> {
    match action {
        Action::Send(_) | Action::Receive(_) => vec![action],
        Action::Deterministic(block) => match &block.entry {
            Entry::AnyOf(actions) => actions.iter().flat_map(communications).collect(),
            Entry::Always | Entry::Otherwise => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Finds out what the edges of one process type do.
#[derive(Clone, Copy)]
struct Reader<'a> {
    system: &'a System,
    ranges: &'a Ranges,
    partners: &'a [Partner],
    process: ProcessTypeId,
}

impl Reader<'_> {
    fn edge(&self, edge: &Edge, location: &Location) -> Footprint {
        let mut footprint = self.action(&edge.action);
        footprint.writes.push(Object::Location(self.process));
        // Whoever comes or goes may be the one that others meet.
        let process = self.system.process_type(self.process);
        let target = edge.target.and_then(|target| process.locations.get(target.index()));
        for location in [Some(location), target].into_iter().flatten() {
            footprint.writes.extend(self.meetings(location));
        }
        // Whether others of the location are possible, where that matters to this one.
        let siblings = self.system.edges_of(location).iter().filter(|sibling| !std::ptr::eq(*sibling, edge));
        for sibling in siblings.filter(|sibling| depends_on(edge, sibling)) {
            let Footprint { waits, reads, .. } = self.action(&sibling.action);
            // What makes it impossible again: that a channel is full, or empty.
            let lengths = self.offers(&sibling.action).into_iter().map(|of| Object::Channels(of, Part::Length));
            let decides: Vec<_> = waits.into_iter().chain(reads).chain(lengths).collect();
            footprint.waits.extend(&decides);
            footprint.reads.extend(&decides);
        }
        if let Some(condition) = &self.system.process_type(self.process).provided {
            self.tests(condition, &mut footprint);
        }
        if edge.target.is_none() || matches!(edge.action, Action::End) {
            footprint.writes.push(Object::Processes);
            footprint.writes.extend(self.own_channels());
        }
        if self.system.uses_last {
            footprint.writes.push(Object::Last);
        }
        if self.system.uses_priorities {
            footprint.reads.push(Object::Everything);
            footprint.waits.push(Object::Everything);
        }
        footprint.tidy();
        footprint
    }

    /// What makes an action possible, and what it does.
    fn action(&self, action: &Action) -> Footprint {
        let mut footprint = Footprint::default();
        match action {
            Action::Skip | Action::Else => {}
            Action::Guard(condition) => self.tests(condition, &mut footprint),
            Action::Assign(place, value) => {
                self.reads(value, &mut footprint);
                self.writes(place, &mut footprint);
            }
            Action::Send(send) => self.send(send, &mut footprint),
            Action::Receive(receive) => self.receive(receive, &mut footprint),
            Action::Assert(expr) | Action::PrintName(expr) => self.reads(expr, &mut footprint),
            Action::Print(_, args) => args.iter().for_each(|arg| self.reads(arg, &mut footprint)),
            Action::SetPriority(parts) => {
                self.reads(&parts.0, &mut footprint);
                self.reads(&parts.1, &mut footprint);
                footprint.writes.push(Object::Priorities);
            }
            Action::Run(run, then) => {
                run.args.iter().for_each(|arg| self.reads(arg, &mut footprint));
                // There is only so much room for processes and their channels.
                footprint.waits.push(Object::Processes);
                footprint.reads.push(Object::Processes);
                footprint.writes.push(Object::Processes);
                footprint.writes.push(Object::Location(run.process_type));
                let started = Reader { process: run.process_type, ..*self };
                let process = self.system.process_type(run.process_type);
                footprint.writes.extend(started.own_channels());
                let entry = process.locations.get(process.entry.index());
                footprint.writes.extend(entry.iter().flat_map(|entry| started.meetings(entry)));
                for init in &process.frame.init {
                    match init {
                        Init::Value(place, value) => {
                            started.reads(value, &mut footprint);
                            started.writes(place, &mut footprint);
                        }
                        Init::Channel(place, _) => started.writes(place, &mut footprint),
                    }
                }
                footprint.join(&self.action(then));
            }
            Action::End => {
                footprint.waits.push(Object::Processes);
                footprint.reads.push(Object::Processes);
                footprint.writes.push(Object::Processes);
            }
            Action::Deterministic(block) => self.block(block, &mut footprint),
        }
        footprint
    }

    /// The channels that come and go with a process; others may have learnt their numbers.
    fn own_channels(&self) -> Vec<Object> {
        let process = self.system.process_type(self.process);
        let has_some = process.frame.init.iter().any(|init| matches!(init, Init::Channel(..)));
        let parts = [Part::Front, Part::Back, Part::Length, Part::Meeting];
        let all = parts.map(|part| Object::Channels(Span { from: 0, to: u32::MAX }, part));
        if has_some { all.to_vec() } else { Vec::new() }
    }

    /// Whom a process at this location can meet.
    fn meetings(&self, location: &Location) -> Vec<Object> {
        let offers = self.system.edges_of(location).iter().flat_map(|edge| self.offers(&edge.action));
        offers.filter(|of| self.may_be_rendezvous(*of)).map(|of| Object::Channels(of, Part::Meeting)).collect()
    }

    /// Whether one of these channels may be one without room. Those of the globals have the first numbers.
    fn may_be_rendezvous(&self, channels: Span) -> bool {
        let types = &self.system.channel_types;
        let of_globals = self.system.globals.init.iter().filter_map(|init| match init {
            Init::Channel(_, id) => Some(&types[id.index()]),
            Init::Value(..) => None,
        });
        let known: Vec<_> = (1..).zip(of_globals).collect();
        let is_known = channels.to <= known.len() as u32 + 1;
        let among = known.iter().filter(|(number, _)| Span::one(*number).meets(channels));
        if is_known {
            among.into_iter().any(|(_, of)| of.is_rendezvous())
        } else {
            types.iter().any(ChannelType::is_rendezvous)
        }
    }

    /// The channels that an action begins with.
    fn offers(&self, action: &Action) -> Vec<Span> {
        communications(action).into_iter().map(|action| self.offered(action)).collect()
    }

    /// The channels of an action that sends or receives.
    fn offered(&self, action: &Action) -> Span {
        match action {
            Action::Send(send) => self.channels(&send.channel),
            Action::Receive(receive) => self.channels(&receive.channel),
            _ => Span { from: 0, to: 0 },
        }
    }

    /// What decides whether there is a partner for who sends, or receives.
    fn partners(&self, channels: Span, sends: bool) -> impl Iterator<Item = Object> {
        let partners =
            self.partners.iter().filter(move |partner| partner.sends != sends && partner.channels.meets(channels));
        partners.flat_map(|partner| partner.tests.iter().copied())
    }

    fn block(&self, block: &Block, footprint: &mut Footprint) {
        let entry = match &block.entry {
            Entry::Always | Entry::Otherwise => &[],
            Entry::AnyOf(actions) => &actions[..],
        };
        for action in entry {
            let first = self.action(action);
            footprint.waits.extend(first.waits);
            footprint.reads.extend(first.reads);
        }
        for node in &block.nodes {
            if let BlockNode::Do { action, .. } = node {
                let inside = self.action(action);
                // To be stuck inside is a fault, so it matters what makes one possible.
                footprint.reads.extend(inside.waits.iter().chain(&inside.reads));
                footprint.writes.extend(inside.writes);
            }
        }
    }

    fn send(&self, send: &Send, footprint: &mut Footprint) {
        self.tests(&send.channel, footprint);
        // Where a message is handed over at once, what it says decides whether somebody wants it.
        send.fields.iter().for_each(|field| self.tests(field, footprint));
        send.when.iter().for_each(|condition| self.tests(condition, footprint));
        let channels = self.channels(&send.channel);
        let of = |part| Object::Channels(channels, part);
        footprint.waits.extend([of(Part::Front), of(Part::Meeting)]);
        footprint.waits.extend(self.partners(channels, true));
        footprint.writes.extend([of(Part::Back), of(Part::Length)]);
        if send.sorted {
            footprint.writes.push(of(Part::Front));
        }
    }

    fn receive(&self, receive: &Receive, footprint: &mut Footprint) {
        self.tests(&receive.channel, footprint);
        let channels = self.channels(&receive.channel);
        let of = |part| Object::Channels(channels, part);
        footprint.waits.extend([of(Part::Front), of(Part::Back), of(Part::Meeting)]);
        footprint.waits.extend(self.partners(channels, false));
        footprint.reads.push(of(Part::Front));
        if !receive.keep {
            footprint.writes.extend([of(Part::Front), of(Part::Length)]);
        }
        for field in &receive.fields {
            match field {
                Pattern::Store(place) => self.writes(place, footprint),
                Pattern::Equal(expr) => self.tests(expr, footprint),
                Pattern::Ignore => {}
            }
        }
        receive.when.iter().for_each(|condition| self.tests(condition, footprint));
        if receive.anywhere {
            // Messages behind the first one may be the ones that fit.
            footprint.reads.push(of(Part::Back));
        }
    }

    /// An expression that decides whether something is possible.
    fn tests(&self, expr: &Expr, footprint: &mut Footprint) {
        let mut read = Footprint::default();
        self.reads(expr, &mut read);
        footprint.waits.extend(&read.reads);
        footprint.reads.extend(read.reads);
    }

    fn reads(&self, expr: &Expr, footprint: &mut Footprint) {
        let reads = &mut footprint.reads;
        expr.each(&mut |part| match part {
            Expr::Load(place) => reads.extend(self.object(place, false)),
            Expr::Length(channel) | Expr::Channel(_, channel) => {
                reads.push(Object::Channels(self.channels(channel), Part::Length));
            }
            Expr::Poll(poll) => {
                let channels = self.channels(&poll.channel);
                reads.extend([Part::Front, Part::Back, Part::Length].map(|part| Object::Channels(channels, part)));
            }
            Expr::ProcessCount | Expr::Find(_) => reads.push(Object::Processes),
            Expr::Last => reads.push(Object::Last),
            Expr::Timeout | Expr::Enabled(_) => reads.push(Object::Everything),
            Expr::LocationOf(_) | Expr::At(..) => {
                let all = (0..self.system.process_types.len() as u16)
                    .map(|number| Object::Location(ProcessTypeId(number)));
                reads.extend(all.chain([Object::Processes]));
            }
            Expr::PriorityOf(_) => reads.extend([Object::Priorities, Object::Processes]),
            Expr::NonProgress | Expr::Accepting => reads.push(Object::Everything),
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Myself
            | Expr::Started
            | Expr::Fault(_) => {}
        });
    }

    fn writes(&self, place: &Place, footprint: &mut Footprint) {
        for index in &place.indices {
            self.reads(&index.value, footprint);
        }
        footprint.writes.extend(self.object(place, true));
    }

    /// What is shared of a place.
    fn object(&self, place: &Place, written: bool) -> Vec<Object> {
        let span = self.span(place);
        match &place.base {
            Base::Global => vec![Object::Globals(span)],
            Base::Local if written => vec![Object::Locals(self.process, span)],
            Base::Local | Base::Nowhere => Vec::new(),
            // Who is not there reads as 0.
            Base::Remote(_, of) => vec![Object::Locals(*of, span), Object::Processes],
        }
    }

    /// All bytes that a place may be.
    fn span(&self, place: &Place) -> Span {
        let constant = |value: &Expr| value.constant().and_then(|value| u32::try_from(value).ok());
        let (mut from, mut reach) = (place.offset, 0);
        for index in &place.indices {
            match constant(&index.value).filter(|value| *value < index.len) {
                Some(value) => from += value * index.stride,
                None => reach += index.len.saturating_sub(1) * index.stride,
            }
        }
        Span { from, to: from + reach + place.scalar.size() }
    }

    /// The channels that an expression may stand for.
    fn channels(&self, channel: &Expr) -> Span {
        let known = match channel {
            Expr::Const(value) => Some(Range { low: *value, high: *value }),
            Expr::Load(place) => Some(self.ranges.of(place, Some(self.process))),
            _ => None,
        };
        match known {
            Some(Range { low, high }) if low >= 0 && high >= low => {
                Span { from: low as u32, to: Span::one(high as u32).to }
            }
            _ => Span { from: 0, to: u32::MAX },
        }
    }
}

/// Whether it matters to an edge if another one of its location is possible.
fn depends_on(edge: &Edge, sibling: &Edge) -> bool {
    let is_else = match &edge.action {
        Action::Else => true,
        Action::Deterministic(block) => block.entry == Entry::Otherwise,
        _ => false,
    };
    is_else || (sibling.escape.is_some() && sibling.escape != edge.escape)
}
