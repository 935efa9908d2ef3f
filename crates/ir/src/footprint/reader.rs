//! The footprints of single edges.

use super::{Footprint, Known, Object, Part, Side, Span, gone, objects};
use crate::{
    Action, Base, Block, BlockNode, ChannelTest, ChannelType, Edge, EdgeId, Enabling, Expr, Init, Location,
    LocationId, Meaning, Pattern, Place, ProcessTypeId, Range, Ranges, Receive, Send, System,
};

/// An edge that can take part in a rendezvous.
pub(super) struct Partner {
    pub of: ProcessTypeId,
    pub edge: EdgeId,
    pub channels: Span,
    pub sends: bool,
    /// The objects that decide whether it is enabled.
    tests: Vec<Object>,
}

/// The partners, if there are rendezvous channels.
pub(super) fn partners(system: &System, ranges: &Ranges) -> Vec<Partner> {
    if !system.channel_types.iter().any(ChannelType::is_rendezvous) {
        return Vec::new();
    }
    let mut partners = Vec::new();
    for (number, process) in (0..).zip(&system.process_types) {
        let reader = Reader {
            system,
            ranges,
            partners: &[],
            process: ProcessTypeId(number),
            known: Known::NOTHING,
            anonymous: false,
        };
        for id in process.locations.iter().flat_map(Location::edges) {
            partners.extend(communications(&system.edge(id).action).into_iter().map(|action| Partner {
                of: ProcessTypeId(number),
                edge: id,
                channels: reader.offered(action),
                sends: matches!(action, Action::Send(_)),
                tests: reader.action(action).reads,
            }));
        }
    }
    partners
}

/// The number of messages in channels.
fn lengths(channels: Span) -> [Object; 2] {
    [Part::More, Part::Less].map(|part| Object::Channels(channels, part))
}

/// The set of processes.
const PROCESSES: [Object; 2] = [Object::Births, Object::Deaths];

/// The communications that an action may begin with.
fn communications(action: &Action) -> Vec<&Action> {
    match action.enabling() {
        Enabling::Send(_) | Enabling::Receive(_) => vec![action],
        Enabling::AnyOf(actions) => actions.iter().flat_map(communications).collect(),
        Enabling::Always | Enabling::Condition(_) | Enabling::Else | Enabling::Youngest => Vec::new(),
    }
}

/// Computes the footprints of the edges of one process type.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub system: &'a System,
    pub ranges: &'a Ranges,
    pub partners: &'a [Partner],
    pub process: ProcessTypeId,
    /// Known values of the process that takes the edges.
    pub known: Known<'a>,
    /// The numbers of processes do not matter, nor whether a process has ended or is about to.
    pub anonymous: bool,
}

/// The properties of a location that all its edges share.
pub(super) struct Station {
    /// The rendezvous that a process there can take part in.
    coming: Vec<Object>,
    going: Vec<Object>,
    /// Some edges are escapes.
    has_escapes: bool,
}

impl Reader<'_> {
    pub(super) fn station(&self, location: &Location) -> Station {
        Station {
            coming: self.meetings(location, Part::Coming),
            going: self.meetings(location, Part::Going),
            has_escapes: self.system.edges_of(location).iter().any(|edge| edge.escape.is_some()),
        }
    }

    /// The footprint of an edge, given the stations of its process type.
    pub(super) fn edge(&self, edge: &Edge, from: LocationId, stations: &[Station]) -> Footprint {
        let location = &self.system.process_type(self.process).locations[from.index()];
        let station = &stations[from.index()];
        let mut footprint = self.action(&edge.action);
        footprint.writes.push(Object::Location(self.process));
        edge.forgets.iter().for_each(|place| self.writes(place, &mut footprint));
        // A process that arrives or leaves may be the partner of others.
        let target = edge.target.and_then(|target| stations.get(target.index()));
        footprint.writes.extend(&station.going);
        footprint.writes.extend(target.into_iter().flat_map(|target| &target.coming));
        // Whether siblings are enabled, where the edge depends on it.
        let may_depend = station.has_escapes || edge.action.waits_for_others();
        let siblings = self.system.edges_of(location).iter().filter(|sibling| !std::ptr::eq(*sibling, edge));
        for sibling in siblings.filter(|_| may_depend).filter(|sibling| depends_on(edge, sibling)) {
            let Footprint { waits, reads, .. } = self.action(&sibling.action);
            // The objects that can disable it again.
            let lengths = self.offers(&sibling.action).into_iter().flat_map(lengths);
            let gone = gone(&waits);
            let decides: Vec<_> = gone.into_iter().chain(lengths).chain(waits).chain(reads).collect();
            footprint.waits.extend(&decides);
            footprint.reads.extend(&decides);
        }
        if let Some(condition) = &self.system.process_type(self.process).provided {
            self.tests(condition, &mut footprint);
        }
        if edge.target.is_none() || matches!(edge.action, Action::End) {
            footprint.writes.push(Object::Deaths);
            footprint.writes.extend(self.own_channels());
        }
        if edge.target.is_none() && !matches!(edge.action, Action::End) {
            footprint.reads.push(Object::Deaths);
        }
        if self.may_free_a_place(edge) {
            footprint.writes.push(Object::Deaths);
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

    /// Whether the edge may change the number of a process that is started later: slots are reused, and a process
    /// ends or the number of one is overwritten.
    fn may_free_a_place(&self, edge: &Edge) -> bool {
        if !self.system.reclaims {
            return false;
        }
        let process = self.system.process_type(self.process);
        let target = edge.target.and_then(|target| process.locations.get(target.index()));
        let mut forgets = false;
        edge.action.each_store(&mut |place| forgets |= place.scalar.meaning == Meaning::Thread);
        forgets || target.is_some_and(Location::is_final)
    }

    /// The footprint of an action alone.
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
            Action::Assert(expr) => self.reads(expr, &mut footprint),
            Action::PrintName(expr) => self.prints(expr, &mut footprint),
            Action::Print(_, args) => args.iter().for_each(|arg| self.prints(arg, &mut footprint)),
            Action::SetPriority(parts) => {
                self.reads(&parts.0, &mut footprint);
                self.reads(&parts.1, &mut footprint);
                footprint.writes.push(Object::Priorities);
            }
            Action::Run(run, then) => {
                run.args.iter().for_each(|arg| self.reads(arg, &mut footprint));
                // The number of processes and channels is limited.
                footprint.waits.push(Object::Deaths);
                footprint.reads.push(Object::Births);
                if !self.anonymous || self.system.reclaims {
                    footprint.reads.push(Object::Deaths);
                }
                footprint.writes.push(Object::Births);
                footprint.writes.push(Object::Location(run.process_type));
                let started = Reader { process: run.process_type, known: self.known.of_spawned(), ..*self };
                let process = self.system.process_type(run.process_type);
                footprint.writes.extend(started.own_channels());
                let entry = process.locations.get(process.entry.index());
                footprint.writes.extend(entry.iter().flat_map(|entry| started.meetings(entry, Part::Coming)));
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
            // Only the youngest process can end.
            Action::End => {
                footprint.waits.push(Object::Deaths);
                if !self.anonymous {
                    footprint.reads.push(Object::Births);
                }
                footprint.writes.push(Object::Deaths);
            }
            Action::Deterministic(block) => self.block(block, &mut footprint),
        }
        footprint
    }

    /// The channels that are created with a process; others may have received their numbers.
    fn own_channels(&self) -> Vec<Object> {
        let process = self.system.process_type(self.process);
        let has_some = process.frame.init.iter().any(|init| matches!(init, Init::Channel(..)));
        let met =
            [Side::Sender, Side::Receiver].into_iter().flat_map(|side| [Part::Coming(side), Part::Going(side)]);
        let parts = [Part::Front, Part::Back, Part::More, Part::Less].into_iter().chain(met);
        let span = self.known.own_channels.unwrap_or(Span { from: 0, to: u32::MAX });
        let all = parts.map(|part| Object::Channels(span, part));
        if has_some { all.collect() } else { Vec::new() }
    }

    /// The rendezvous that a process at this location can take part in.
    fn meetings(&self, location: &Location, part: fn(Side) -> Part) -> Vec<Object> {
        let actions = self.system.edges_of(location).iter().flat_map(|edge| communications(&edge.action));
        let met = actions.map(|action| {
            let side = if matches!(action, Action::Send(_)) { Side::Sender } else { Side::Receiver };
            (self.offered(action), part(side))
        });
        let met = met.filter(|(channels, _)| self.may_be_rendezvous(*channels));
        let mut met = met.map(|(channels, part)| Object::Channels(channels, part)).collect();
        objects::tidy(&mut met);
        met
    }

    /// Whether one of these channels may be a rendezvous channel.
    pub(super) fn may_be_rendezvous(&self, channels: Span) -> bool {
        self.types_of(channels).iter().any(|of| of.is_rendezvous())
    }

    /// Whether one of these channels may be buffered.
    pub(super) fn may_be_buffered(&self, channels: Span) -> bool {
        self.types_of(channels).iter().any(|of| !of.is_rendezvous())
    }

    /// The types that these channels may have. Global channels have the first numbers.
    fn types_of(&self, channels: Span) -> Vec<&ChannelType> {
        let types = &self.system.channel_types;
        let of_globals = self.system.globals.init.iter().filter_map(|init| match init {
            Init::Channel(_, id) => Some(&types[id.index()]),
            Init::Value(..) => None,
        });
        let known: Vec<_> = (1..).zip(of_globals).collect();
        if channels.to > known.len() as u32 + 1 {
            return types.iter().collect();
        }
        known.into_iter().filter(|(number, _)| Span::one(*number).meets(channels)).map(|(_, of)| of).collect()
    }

    /// The channels of the communications that an action may begin with.
    pub(super) fn offers(&self, action: &Action) -> Vec<Span> {
        communications(action).into_iter().map(|action| self.offered(action)).collect()
    }

    /// The channels of a communication.
    pub(super) fn offered(&self, action: &Action) -> Span {
        match action {
            Action::Send(send) => self.channels(&send.channel),
            Action::Receive(receive) => self.channels(&receive.channel),
            _ => Span { from: 0, to: 0 },
        }
    }

    /// The objects that decide whether a partner is enabled.
    fn partners(&self, channels: Span, sends: bool) -> impl Iterator<Item = Object> {
        let partners =
            self.partners.iter().filter(move |partner| partner.sends != sends && partner.channels.meets(channels));
        partners.flat_map(|partner| partner.tests.iter().copied())
    }

    fn block(&self, block: &Block, footprint: &mut Footprint) {
        for action in block.entry.actions() {
            let first = self.action(action);
            footprint.waits.extend(first.waits);
            footprint.reads.extend(first.reads);
        }
        for node in &block.nodes {
            if let BlockNode::Do { action, .. } = node {
                let inside = self.action(action);
                // To block inside of a block is a fault, so that disabling matters too.
                footprint.reads.extend(inside.waits.iter().chain(&inside.reads).chain(&gone(&inside.waits)));
                footprint.writes.extend(inside.writes);
            }
        }
    }

    fn send(&self, send: &Send, footprint: &mut Footprint) {
        self.tests(&send.channel, footprint);
        // In a rendezvous, the fields decide whether a receiver accepts the message.
        send.fields.iter().for_each(|field| self.tests(field, footprint));
        send.when.iter().for_each(|condition| self.tests(condition, footprint));
        let channels = self.channels(&send.channel);
        let of = |part| Object::Channels(channels, part);
        footprint.waits.extend([of(Part::Front), of(Part::Coming(Side::Receiver))]);
        footprint.waits.extend(self.partners(channels, true));
        footprint.writes.extend([of(Part::Back), of(Part::More)]);
        if send.sorted {
            footprint.writes.push(of(Part::Front));
        }
    }

    fn receive(&self, receive: &Receive, footprint: &mut Footprint) {
        self.tests(&receive.channel, footprint);
        let channels = self.channels(&receive.channel);
        let of = |part| Object::Channels(channels, part);
        footprint.waits.extend([of(Part::Front), of(Part::Back), of(Part::Coming(Side::Sender))]);
        footprint.waits.extend(self.partners(channels, false));
        footprint.reads.push(of(Part::Front));
        if !receive.keep {
            footprint.writes.extend([of(Part::Front), of(Part::Less)]);
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
            // A message after the first one may match.
            footprint.reads.push(of(Part::Back));
        }
    }

    /// An expression that decides whether a step is enabled.
    fn tests(&self, expr: &Expr, footprint: &mut Footprint) {
        let mut read = Footprint::default();
        for part in expr.conjuncts() {
            match part {
                // More messages do not disable a step that waits for one; more room does not disable a step that
                // waits for room.
                Expr::Channel(test, channel) => {
                    self.reads(channel, &mut read);
                    let (helps, hinders) = match test {
                        ChannelTest::NotEmpty | ChannelTest::Full => (Part::More, Part::Less),
                        ChannelTest::NotFull | ChannelTest::Empty => (Part::Less, Part::More),
                    };
                    let channels = self.channels(channel);
                    footprint.waits.push(Object::Channels(channels, helps));
                    footprint.reads.push(Object::Channels(channels, hinders));
                }
                other => self.reads(other, &mut read),
            }
        }
        footprint.waits.extend(&read.reads);
        footprint.reads.extend(read.reads);
    }

    /// Printed text matters only if its evaluation may fault.
    fn prints(&self, expr: &Expr, footprint: &mut Footprint) {
        if expr.may_fault() {
            self.reads(expr, footprint);
        }
    }

    pub(super) fn reads(&self, expr: &Expr, footprint: &mut Footprint) {
        let reads = &mut footprint.reads;
        expr.each(&mut |part| match part {
            Expr::Load(place) => reads.extend(self.object(place, false)),
            Expr::Length(channel) | Expr::Channel(_, channel) => {
                reads.extend(lengths(self.channels(channel)));
            }
            Expr::Poll(poll) => {
                let channels = self.channels(&poll.channel);
                reads.extend([Part::Front, Part::Back].map(|part| Object::Channels(channels, part)));
                reads.extend(lengths(channels));
            }
            Expr::ProcessCount | Expr::Find(_) => reads.extend(PROCESSES),
            Expr::Last => reads.push(Object::Last),
            Expr::Timeout | Expr::Enabled(_) => reads.push(Object::Everything),
            Expr::LocationOf(_) | Expr::At(..) => {
                let all = (0..self.system.process_types.len() as u16)
                    .map(|number| Object::Location(ProcessTypeId(number)));
                reads.extend(all.chain(PROCESSES));
            }
            Expr::PriorityOf(_) => reads.extend(PROCESSES.into_iter().chain([Object::Priorities])),
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

    /// The shared objects of a place.
    pub(super) fn object(&self, place: &Place, written: bool) -> Vec<Object> {
        let span = self.span(place);
        match &place.base {
            Base::Global => vec![Object::Globals(span)],
            Base::Local if written => vec![Object::Locals(self.process, span)],
            Base::Local | Base::Nowhere => Vec::new(),
            // A process that does not exist reads as 0.
            Base::Remote(_, of) => vec![Object::Locals(*of, span), Object::Births, Object::Deaths],
        }
    }

    /// All bytes that the place may occupy.
    fn span(&self, place: &Place) -> Span {
        let constant = |value: &Expr| self.constant(value).and_then(|value| u32::try_from(value).ok());
        let (mut from, mut reach) = (place.offset, 0);
        for index in &place.indices {
            match constant(&index.value).filter(|value| *value < index.len) {
                Some(value) => from += value * index.stride,
                None => reach += index.len.saturating_sub(1) * index.stride,
            }
        }
        Span { from, to: from + reach + place.scalar.size() }
    }

    /// The value of an expression that is constant, given the known values.
    fn constant(&self, expr: &Expr) -> Option<i32> {
        match expr {
            Expr::Myself => self.known.number,
            Expr::Load(place) => self.known_value(place).or_else(|| {
                let Range { low, high } = self.ranges.of(place, Some(self.process));
                (low == high).then_some(low)
            }),
            Expr::Unary(op, operand) => self.constant(operand).map(|value| op.apply(value)),
            Expr::Binary(op, operands) => op.apply(self.constant(&operands.0)?, self.constant(&operands.1)?),
            other => other.constant(),
        }
    }

    fn known_value(&self, place: &Place) -> Option<i32> {
        let mut offset = place.offset;
        for index in &place.indices {
            let value = u32::try_from(self.constant(&index.value)?).ok().filter(|value| *value < index.len)?;
            offset += value * index.stride;
        }
        self.known.value(&place.base, offset, place.scalar)
    }

    /// The channels that an expression may denote.
    pub(super) fn channels(&self, channel: &Expr) -> Span {
        let one = self.constant(channel).map(|value| Range { low: value, high: value });
        let place = match channel {
            Expr::Load(place) => Some(place),
            _ => None,
        };
        if let Some(span) = place.and_then(|place| self.known.channels_at(place)) {
            return span;
        }
        match one.or_else(|| place.map(|place| self.ranges.of(place, Some(self.process)))) {
            Some(Range { low, high }) if low >= 0 && high >= low => {
                Span { from: low as u32, to: Span::one(high as u32).to }
            }
            _ => Span { from: 0, to: u32::MAX },
        }
    }
}

/// Whether an edge depends on whether a sibling is enabled.
fn depends_on(edge: &Edge, sibling: &Edge) -> bool {
    edge.action.waits_for_others() || (sibling.escape.is_some() && sibling.escape != edge.escape)
}
