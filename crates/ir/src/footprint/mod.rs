//! What steps have to do with each other: what each of them looks at, and what it changes.
//!
//! Two steps of different processes *conflict* if it may matter which of them is taken first. A step that is not possible
//! *waits*: only one that changes what it waits for can make it possible. Both are known of edges, once and for all states, so
//! they say more than is true in some of them, and never less.
//!
//! What only the process itself looks at is left out. So are its own locals where it reads them: others can only read them.

mod known;
mod objects;
mod reader;

pub use known::Known;
pub(crate) use objects::{Objects, join, meets};

use crate::passes::ObservedLocations;
use crate::{Action, Base, ChannelTest, EdgeId, Expr, Location, LocationId, ProcessTypeId, Ranges, System};
use reader::{Partner, Reader};
use std::collections::{HashMap, HashSet};

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
    /// Which processes there are: more,
    Births,
    /// or fewer.
    Deaths,
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
    /// How many there are: more,
    More,
    /// or fewer.
    Less,
    /// Where messages are handed over at once: somebody comes to do so.
    Coming(Side),
    /// Somebody who could have done so does something else.
    Going(Side),
}

/// Of a message that is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    Sender,
    Receiver,
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
    pub(crate) fn one(number: u32) -> Span {
        Span { from: number, to: number + 1 }
    }

    pub(crate) fn meets(self, other: Span) -> bool {
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

    fn is_coming(self) -> bool {
        matches!(self, Object::Channels(_, Part::Coming(_)))
    }

    /// Whether it does not matter in which order two processes change it: each has its own, or they add up.
    pub(crate) fn is_shared_out(self) -> bool {
        match self {
            // Only the youngest process can end, and the others it does not keep from anything.
            Object::Deaths => true,
            Object::Locals(..)
            | Object::Location(_)
            | Object::Channels(_, Part::More | Part::Less | Part::Coming(_) | Part::Going(_)) => true,
            Object::Globals(_)
            | Object::Channels(_, Part::Front | Part::Back)
            | Object::Births
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
        [&mut self.waits, &mut self.reads, &mut self.writes].into_iter().for_each(objects::tidy);
    }

    /// The same now and then, while it grows.
    fn tidy_if_long(&mut self, since: &mut usize) {
        let len = self.waits.len() + self.reads.len() + self.writes.len();
        if len > LONG.max(2 * *since) {
            self.tidy();
            *since = self.waits.len() + self.reads.len() + self.writes.len();
        }
    }
}

/// More than an indivisible sequence of a thousand statements has.
const MOST_LINKS: usize = 1 << 20;
/// So many objects are put in order while more are added.
const LONG: usize = 1 << 10;

/// The footprints of all edges of a system.
#[derive(Clone, Debug)]
pub struct Footprints {
    /// Indexed by [`EdgeId`].
    of: Vec<Footprint>,
}

impl Footprints {
    pub fn new(system: &System) -> Footprints {
        Footprints::by(&FootprintAnalysis::new(system)).without_constants()
    }

    /// Without what nobody changes: that, nobody need look at.
    pub(crate) fn without_constants(self) -> Footprints {
        let Footprints { mut of } = self;
        let written: Objects = of.iter().flat_map(|footprint| footprint.writes.iter().copied()).collect();
        for footprint in &mut of {
            let changes = |object: &Object| written.meets(*object);
            footprint.waits.retain(changes);
            footprint.reads.retain(changes);
        }
        Footprints { of }
    }

    /// With all that is looked at.
    pub(crate) fn by(analysis: &FootprintAnalysis) -> Footprints {
        let mut of = vec![Footprint::default(); analysis.system.edges.len()];
        for process in types(analysis.system) {
            for (edge, footprint) in analysis.of_process(process, Known::NOTHING) {
                of[edge.index()] = footprint;
            }
        }
        Footprints { of }
    }

    pub fn of(&self, edge: EdgeId) -> &Footprint {
        &self.of[edge.index()]
    }
}

/// Finds out about edges.
pub struct FootprintAnalysis<'s> {
    system: &'s System,
    ranges: Ranges,
    partners: Vec<Partner>,
    /// Of each edge by itself, whoever takes it.
    alone: Vec<Footprint>,
    /// Of each edge, the location that it leaves.
    sources: Vec<LocationId>,
    /// Of each edge, whether nobody sees when it is taken.
    quiet: Vec<bool>,
    /// Nobody can tell which number a process has.
    anonymous: bool,
}

impl<'s> FootprintAnalysis<'s> {
    pub fn new(system: &'s System) -> Self {
        let ranges = Ranges::new(system);
        let partners = reader::partners(system, &ranges);
        let quiet = vec![false; system.edges.len()];
        let mut sources = vec![LocationId(0); system.edges.len()];
        for process in &system.process_types {
            for (from, location) in (0..).map(LocationId).zip(&process.locations) {
                location.edges().for_each(|id| sources[id.index()] = from);
            }
        }
        let mut analysis =
            FootprintAnalysis { system, ranges, partners, alone: Vec::new(), sources, quiet, anonymous: false };
        let mut alone = vec![Footprint::default(); system.edges.len()];
        for process in types(system) {
            for (edge, footprint) in analysis.alone(process, Known::NOTHING) {
                alone[edge.index()] = footprint;
            }
        }
        analysis.alone = alone;
        analysis
    }

    /// The same, but with fewer conflicts. Where somebody who comes to a meeting comes before a step or after it, the same
    /// runs are possible, though not always by way of the same states. The same goes for processes that are started before
    /// others end, or after, if nobody can tell their numbers. Nothing if it would take too long to find out.
    pub fn tolerant(system: &'s System) -> Option<Self> {
        let mut analysis = FootprintAnalysis::new(system);
        if analysis.is_too_large() {
            return None;
        }
        analysis.anonymous = is_anonymous(system);
        if !analysis.partners.is_empty() {
            analysis.quiet = analysis.quiet();
        }
        Some(analysis)
    }

    /// Of each edge, whether nobody sees when it is taken: neither other processes nor what is asked of the system.
    fn quiet(&self) -> Vec<bool> {
        let observed = ObservedLocations::new(self.system);
        let read = |of| self.of_process(of, Known::NOTHING).into_iter().flat_map(|(_, footprint)| footprint.reads);
        let seen: Objects = watched(self.system).into_iter().chain(types(self.system).flat_map(read)).collect();
        let mut quiet = vec![false; self.system.edges.len()];
        for of in types(self.system) {
            let locations = &self.system.process_type(of).locations;
            let shows = |at: LocationId| {
                let Location { end, accept, progress, .. } = locations[at.index()];
                end || accept || progress || observed.contains(of, at)
            };
            for from in (0..locations.len() as u16).map(LocationId).filter(|from| !shows(*from)) {
                for id in locations[from.index()].edges() {
                    let Footprint { waits, reads, writes } = &self.alone[id.index()];
                    let unseen = |object: &Object| match object {
                        Object::Location(_) => true,
                        Object::Locals(by, _) => *by == of && !seen.meets(*object),
                        Object::Channels(_, Part::Coming(_) | Part::Going(_)) => !seen.meets(*object),
                        Object::Globals(_)
                        | Object::Channels(..)
                        | Object::Births
                        | Object::Deaths
                        | Object::Priorities
                        | Object::Last
                        | Object::Everything => false,
                    };
                    quiet[id.index()] = waits.is_empty()
                        && reads.is_empty()
                        && writes.iter().all(unseen)
                        && self.system.edge(id).target.is_some_and(|target| !shows(target));
                }
            }
        }
        quiet
    }

    pub fn system(&self) -> &'s System {
        self.system
    }

    /// The footprints of the edges of a process type, with all that may follow them without interruption; if need be, when
    /// taken by a process of which this is known.
    pub fn of_process(&self, of: ProcessTypeId, known: Known) -> Vec<(EdgeId, Footprint)> {
        let own: HashMap<EdgeId, Footprint> = self.alone(of, known).into_iter().collect();
        let mut all = Vec::new();
        for id in self.system.process_type(of).locations.iter().flat_map(Location::edges) {
            let mut footprint = own[&id].clone();
            let chain = self.chain(of, id);
            let arrivals = if self.quiet[id.index()] { self.arrivals(&chain) } else { HashMap::new() };
            let mut len = 0;
            for link in chain.iter().skip(1) {
                let alone = if link.of == of { own.get(&link.edge) } else { None };
                let Footprint { waits, reads, writes } = alone.unwrap_or(&self.alone[link.edge.index()]);
                let may_come_first = self.quiet[id.index()] && self.follows_only(*link, &arrivals);
                let is_ready = self.is_ready(*link, &chain, known);
                let is_seen = |wait: &&Object| !(is_ready || wait.is_coming() && (may_come_first || link.takes));
                footprint.reads.extend(waits.iter().filter(is_seen).chain(reads));
                if !link.takes {
                    footprint.reads.extend(gone(waits));
                }
                footprint.writes.extend(writes);
                footprint.tidy_if_long(&mut len);
            }
            footprint.tidy();
            all.push((id, footprint));
        }
        all
    }

    /// Whether a link follows the first one of its chain, and no other.
    ///
    /// Then, if nobody sees when the first one is taken, it may as well be taken only when the second one is: so it makes no
    /// difference if somebody for whom that waits comes before both, or in between.
    fn follows_only(&self, link: Link, arrivals: &HashMap<(ProcessTypeId, LocationId), Vec<usize>>) -> bool {
        let from = (link.of, self.sources[link.edge.index()]);
        !link.is_partner && arrivals.get(&from).is_some_and(|by| by[..] == [0])
    }

    /// By type and location: which links of a chain lead there, of which two are enough.
    fn arrivals(&self, chain: &[Link]) -> HashMap<(ProcessTypeId, LocationId), Vec<usize>> {
        let mut arrivals: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, link) in chain.iter().enumerate() {
            if let Some(target) = self.system.edge(link.edge).target {
                let by = arrivals.entry((link.of, target)).or_default();
                if by.len() < 2 {
                    by.push(at);
                }
            }
        }
        arrivals
    }

    /// Whether the first edge of a chain has seen that there is room for what a link sends, or a message for it to receive, and
    /// nothing in between changes that.
    fn is_ready(&self, link: Link, chain: &[Link], known: Known) -> bool {
        let (first, action) = (chain[0], &self.system.edge(link.edge).action);
        let Action::Guard(condition) = &self.system.edge(first.edge).action else { return false };
        if link.of != first.of || link.is_partner {
            return false;
        }
        let is_same = |one: &Action, other: &Action| std::mem::discriminant(one) == std::mem::discriminant(other);
        let (channel, needed) = match action {
            Action::Send(send) => (&send.channel, ChannelTest::NotFull),
            Action::Receive(receive) if receive.takes_all() => (&receive.channel, ChannelTest::NotEmpty),
            _ => return false,
        };
        let channels = |channel: &Expr| self.channels(channel, first.of, known);
        let span = channels(channel);
        let is_it = |part: &&Expr| match part {
            Expr::Channel(test, tested) => *test == needed && channels(tested) == span,
            _ => false,
        };
        // No other one of the chain does the same to the channel, nor this one again.
        let interferes = |other: &&Link| match &self.system.edge(other.edge).action {
            Action::Deterministic(_) => true,
            found => {
                let same =
                    is_same(found, action) && self.reader(other.of, Known::NOTHING).offered(found).meets(span);
                same && (**other != link || self.comes_again(link, chain))
            }
        };
        span.to == span.from + 1
            && condition.conjuncts().iter().any(is_it)
            && !chain.iter().any(|other| interferes(&other))
    }

    /// Whether a link may follow itself in a chain.
    fn comes_again(&self, link: Link, chain: &[Link]) -> bool {
        let chain: HashSet<Link> = chain.iter().copied().collect();
        let follows = |before: &Link| -> Vec<Link> {
            let edge = self.system.edge(before.edge);
            let target = edge.target.filter(|_| edge.atomic);
            let locations = &self.system.process_type(before.of).locations;
            let edges =
                target.and_then(|target| locations.get(target.index())).into_iter().flat_map(Location::edges);
            let links = edges.map(|edge| Link { edge, takes: false, ..*before });
            links.filter(|link| chain.contains(link)).collect()
        };
        let (mut known, mut waiting) = (HashSet::new(), follows(&link));
        while let Some(next) = waiting.pop() {
            if known.insert(next) {
                waiting.extend(follows(&next));
            }
        }
        known.contains(&link)
    }

    /// An edge, and all that may follow it without interruption: who is in an indivisible sequence goes on, and who takes a
    /// message that is handed over there moves too, and may go on in its place.
    pub fn chain(&self, of: ProcessTypeId, edge: EdgeId) -> Vec<Link> {
        self.short_chain(of, edge, usize::MAX).unwrap_or_default()
    }

    /// The same, unless it has more links than this.
    fn short_chain(&self, of: ProcessTypeId, edge: EdgeId, most: usize) -> Option<Vec<Link>> {
        let first = Link { of, edge, is_partner: false, takes: false };
        if !self.system.edge(edge).atomic {
            return Some(vec![first]);
        }
        let (mut known, mut all, mut at) = (HashSet::from([first]), vec![first], 0);
        while let Some(&link) = all.get(at) {
            if all.len() > most {
                return None;
            }
            at += 1;
            let edge = self.system.edge(link.edge);
            let mut follow = |link: Link| {
                if known.insert(link) {
                    all.push(link);
                }
            };
            if at > 1 && matches!(edge.action, Action::Send(_)) {
                let sent = self.reader(link.of, Known::NOTHING).offered(&edge.action);
                for partner in self.partners.iter().filter(|partner| !partner.sends && partner.channels.meets(sent))
                {
                    follow(Link { of: partner.of, edge: partner.edge, is_partner: true, takes: true });
                }
            }
            if let Some(target) = edge.target.filter(|_| edge.atomic) {
                let locations = &self.system.process_type(link.of).locations;
                let next = locations.get(target.index()).into_iter().flat_map(Location::edges);
                next.for_each(|edge| follow(Link { edge, takes: false, ..link }));
            }
        }
        Some(all)
    }

    /// Whether indivisible sequences are so long that it would take too much time to find out what each of their steps has to
    /// do with others: all their chains together have more links than this.
    fn is_too_large(&self) -> bool {
        let mut left = MOST_LINKS;
        !types(self.system).all(|of| {
            let mut edges = self.system.process_type(of).locations.iter().flat_map(Location::edges);
            edges.all(|edge| {
                let links = self.short_chain(of, edge, left).map(|chain| chain.len());
                left = left.saturating_sub(links.unwrap_or(usize::MAX));
                left > 0
            })
        })
    }

    /// Pairs of edges by which a message may be handed over: who sends, and who receives.
    pub fn partners_of(&self, of: ProcessTypeId, edge: EdgeId) -> Vec<(ProcessTypeId, EdgeId)> {
        let Action::Send(_) = &self.system.edge(edge).action else { return Vec::new() };
        let reader = self.reader(of, Known::NOTHING);
        let sent = reader.offered(&self.system.edge(edge).action);
        if !reader.may_be_rendezvous(sent) {
            return Vec::new();
        }
        let wanted = self.partners.iter().filter(|partner| !partner.sends && partner.channels.meets(sent));
        let mut pairs: Vec<_> = wanted.map(|partner| (partner.of, partner.edge)).collect();
        pairs.dedup();
        pairs
    }

    /// Whether the edge is only ever taken together with that of another process.
    pub fn only_meets(&self, of: ProcessTypeId, edge: EdgeId) -> bool {
        let reader = self.reader(of, Known::NOTHING);
        match &self.system.edge(edge).action {
            action @ (Action::Send(_) | Action::Receive(_)) => !reader.may_be_buffered(reader.offered(action)),
            _ => false,
        }
    }

    /// What an expression of a process looks at: what it shares, and its own locals.
    pub fn looks(&self, expr: &Expr, of: ProcessTypeId, known: Known) -> (Vec<Object>, Vec<Object>) {
        let reader = self.reader(of, known);
        let (mut footprint, mut own) = (Footprint::default(), Vec::new());
        reader.reads(expr, &mut footprint);
        expr.each(&mut |part| match part {
            Expr::Load(place) if place.base == Base::Local => own.extend(reader.object(place, true)),
            _ => {}
        });
        (footprint.reads, own)
    }

    /// The channels that an expression of a process may stand for.
    pub fn channels(&self, channel: &Expr, of: ProcessTypeId, known: Known) -> Span {
        self.reader(of, known).channels(channel)
    }

    /// Whether somebody may hand over a message by an edge to somebody else by another one.
    pub fn may_meet(&self, sends: (ProcessTypeId, EdgeId, Known), wants: (ProcessTypeId, EdgeId, Known)) -> bool {
        let channels = |(of, edge, known): (ProcessTypeId, EdgeId, Known)| {
            self.reader(of, known).offers(&self.system.edge(edge).action)
        };
        let wanted = channels(wants);
        channels(sends).iter().any(|sent| wanted.iter().any(|wanted| sent.meets(*wanted)))
    }

    fn alone(&self, of: ProcessTypeId, known: Known) -> Vec<(EdgeId, Footprint)> {
        let reader = self.reader(of, known);
        let locations = &self.system.process_type(of).locations;
        let stations: Vec<_> = locations.iter().map(|location| reader.station(location)).collect();
        let edges = locations.iter().flat_map(Location::edges);
        edges.map(|id| (id, reader.edge(self.system.edge(id), self.sources[id.index()], &stations))).collect()
    }

    fn reader<'a>(&'a self, process: ProcessTypeId, known: Known<'a>) -> Reader<'a> {
        Reader {
            system: self.system,
            ranges: &self.ranges,
            partners: &self.partners,
            process,
            known,
            anonymous: self.anonymous,
        }
    }
}

/// Whether nothing depends on the numbers of processes, nor on which of them have ended.
fn is_anonymous(system: &System) -> bool {
    let mut tells = false;
    system.each_expr(&mut |expr| {
        tells |= match expr {
            Expr::Myself
            | Expr::Started
            | Expr::ProcessCount
            | Expr::Find(_)
            | Expr::Last
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Enabled(_)
            | Expr::NonProgress
            | Expr::Accepting => true,
            Expr::Load(place) => matches!(place.base, Base::Remote(..)),
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Timeout
            | Expr::Fault(_) => false,
        };
    });
    !tells
}

/// What makes impossible again what somebody had to come for.
pub(crate) fn gone(waits: &[Object]) -> Vec<Object> {
    let gone = |wait: &Object| match *wait {
        Object::Channels(of, Part::Coming(side)) => Some(Object::Channels(of, Part::Going(side))),
        _ => None,
    };
    waits.iter().filter_map(gone).collect()
}

fn types(system: &System) -> impl Iterator<Item = ProcessTypeId> + use<> {
    (0..system.process_types.len() as u16).map(ProcessTypeId)
}

/// An edge that is taken together with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    pub of: ProcessTypeId,
    pub edge: EdgeId,
    /// It is not the process that took the first edge who takes it.
    pub is_partner: bool,
    /// It takes what the one before it hands over.
    pub takes: bool,
}

/// What the propositions and invariants of a system look at, but for the locations that they name.
pub fn watched(system: &System) -> Vec<Object> {
    let ranges = Ranges::new(system);
    // They belong to no process, and name none of their own.
    let reader = Reader {
        system,
        ranges: &ranges,
        partners: &[],
        process: ProcessTypeId(0),
        known: Known::NOTHING,
        anonymous: false,
    };
    let (mut footprint, mut asks_all) = (Footprint::default(), false);
    for (condition, _) in system.propositions.iter().chain(&system.invariants) {
        reader.reads(condition, &mut footprint);
        condition.each(&mut |part| asks_all |= matches!(part, Expr::Timeout | Expr::Enabled(_)));
    }
    footprint.tidy();
    footprint.reads.retain(|object| match object {
        Object::Location(_) => false,
        Object::Everything => asks_all,
        Object::Globals(_)
        | Object::Locals(..)
        | Object::Channels(..)
        | Object::Births
        | Object::Deaths
        | Object::Priorities
        | Object::Last => true,
    });
    footprint.reads
}
