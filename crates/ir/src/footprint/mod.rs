//! Footprints: the objects that steps read and write.
//!
//! Two steps of different processes *conflict* if their order may matter. A disabled step *waits* for objects: only a
//! step that writes one of them can enable it. Footprints belong to edges and hold in all states, so that they are
//! over-approximations.
//!
//! Objects that only one process accesses are omitted. So are reads of a process's own locals, which others cannot
//! write.

mod known;
mod objects;
mod reader;

pub use known::Known;
pub(crate) use objects::{Objects, join, meets};

use crate::passes::ObservedLocations;
use crate::{Action, Base, ChannelTest, EdgeId, Expr, Location, LocationId, ProcessTypeId, Ranges, System};
use reader::{Partner, Reader};
use std::collections::{HashMap, HashSet};

/// An object that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// These bytes of the globals.
    Globals(Span),
    /// These bytes of the locals of a process of this type.
    Locals(ProcessTypeId, Span),
    /// The location of a process of this type.
    Location(ProcessTypeId),
    /// Some channels, by their numbers.
    Channels(Span, Part),
    /// The set of processes: it grows,
    Births,
    /// or shrinks.
    Deaths,
    Priorities,
    /// The number of the process that moved last.
    Last,
    /// Everything: the step depends on what others can do.
    Everything,
}

/// A half-open interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub from: u32,
    pub to: u32,
}

/// A part of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The next message.
    Front,
    /// The position where messages are added.
    Back,
    /// The number of messages: it grows,
    More,
    /// or shrinks.
    Less,
    /// A rendezvous: a partner arrives.
    Coming(Side),
    /// A rendezvous: a partner leaves.
    Going(Side),
}

/// A partner of a rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    Sender,
    Receiver,
}

/// The objects that an edge accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// A disabled step can only be enabled by a write to one of these.
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
    /// Whether both may overlap.
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

    /// Whether the order of two writes does not matter: they concern different processes, or commute.
    pub(crate) fn commutes(self) -> bool {
        match self {
            // Only the youngest process can end, and this disables no other process.
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
    /// Whether the order of two steps of different processes may matter, if both are enabled.
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let reads = |one: &Footprint, other: &Footprint| {
            one.writes.iter().any(|write| other.reads.iter().any(|read| write.meets(*read)))
        };
        let both = |write: &&Object| !write.commutes();
        let mut writes = self.writes.iter().filter(both);
        reads(self, other)
            || reads(other, self)
            || writes.any(|write| other.writes.iter().filter(both).any(|other| write.meets(*other)))
    }

    /// Whether it may enable the other one.
    pub fn may_enable(&self, other: &Footprint) -> bool {
        self.writes.iter().any(|write| other.waits.iter().any(|wait| write.meets(*wait)))
    }

    /// The union of both.
    pub fn join(&mut self, other: &Footprint) {
        self.waits.extend(&other.waits);
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.tidy();
    }

    /// Removes duplicates.
    fn tidy(&mut self) {
        [&mut self.waits, &mut self.reads, &mut self.writes].into_iter().for_each(objects::tidy);
    }

    /// Removes duplicates if many were added.
    fn tidy_if_long(&mut self, since: &mut usize) {
        let len = self.waits.len() + self.reads.len() + self.writes.len();
        if len > LONG.max(2 * *since) {
            self.tidy();
            *since = self.waits.len() + self.reads.len() + self.writes.len();
        }
    }
}

/// More links than the atomic sequences of a thousand statements have.
const MOST_LINKS: usize = 1 << 20;
/// Lists of so many objects are sorted while they grow.
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

    /// Without reads of objects that nothing writes.
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

    /// With all reads.
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

/// The analysis of edges.
pub struct FootprintAnalysis<'s> {
    system: &'s System,
    ranges: Ranges,
    partners: Vec<Partner>,
    /// For each edge, the footprint of the edge alone.
    alone: Vec<Footprint>,
    /// For each edge, its source location.
    sources: Vec<LocationId>,
    /// For each edge, whether it is unobservable.
    quiet: Vec<bool>,
    /// The numbers of processes do not matter.
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

    /// The same with fewer conflicts. If a partner of a rendezvous arrives before a step or after it, the same runs
    /// are possible, though through different states. The same holds for processes that are started before or after
    /// others end, if their numbers do not matter. `None` if the analysis would take too long.
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

    /// For each edge, whether other processes and properties cannot observe it.
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

    /// The footprints of the edges of a process type, with all steps that may follow in an atomic sequence. `known`
    /// are the known values of the process that takes them.
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

    /// Whether a link follows only the first one of its chain.
    ///
    /// Then, if the first one is unobservable, it might as well be executed immediately before the second one. So a
    /// partner of the second one may arrive before both, or in between.
    fn follows_only(&self, link: Link, arrivals: &HashMap<(ProcessTypeId, LocationId), Vec<usize>>) -> bool {
        let from = (link.of, self.sources[link.edge.index()]);
        !link.is_partner && arrivals.get(&from).is_some_and(|by| by[..] == [0])
    }

    /// By type and location: the links of a chain that lead there; at most two are kept.
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

    /// Whether the condition of the first edge of a chain implies that a link is enabled: the channel has room, or a
    /// message, and no link in between changes this.
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
        // No other link of the chain does the same to the channel, nor does this one again.
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

    /// An edge, and all edges that may follow in an atomic sequence: those of the process itself, and those of a
    /// receiver that it passes control to.
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

    /// Whether the chains of all edges together have too many links to be analysed.
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

    /// The edges that may receive from an edge in a rendezvous.
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

    /// Whether the edge is only taken in a rendezvous.
    pub fn only_meets(&self, of: ProcessTypeId, edge: EdgeId) -> bool {
        let reader = self.reader(of, Known::NOTHING);
        match &self.system.edge(edge).action {
            action @ (Action::Send(_) | Action::Receive(_)) => !reader.may_be_buffered(reader.offered(action)),
            _ => false,
        }
    }

    /// The shared objects and the own locals that an expression of a process reads.
    pub fn reads(&self, expr: &Expr, of: ProcessTypeId, known: Known) -> (Vec<Object>, Vec<Object>) {
        let reader = self.reader(of, known);
        let (mut footprint, mut own) = (Footprint::default(), Vec::new());
        reader.reads(expr, &mut footprint);
        expr.each(&mut |part| match part {
            Expr::Load(place) if place.base == Base::Local => own.extend(reader.object(place, true)),
            _ => {}
        });
        (footprint.reads, own)
    }

    /// The channels that an expression of a process may denote.
    pub fn channels(&self, channel: &Expr, of: ProcessTypeId, known: Known) -> Span {
        self.reader(of, known).channels(channel)
    }

    /// Whether two edges may meet in a rendezvous.
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

/// The departures that correspond to the awaited arrivals.
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

/// An edge in an atomic sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    pub of: ProcessTypeId,
    pub edge: EdgeId,
    /// Another process than that of the first edge takes it.
    pub is_partner: bool,
    /// It receives what the link before it sends.
    pub takes: bool,
}

/// The objects that propositions and invariants read, except for locations.
pub fn watched(system: &System) -> Vec<Object> {
    let ranges = Ranges::new(system);
    // Properties belong to no process.
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
