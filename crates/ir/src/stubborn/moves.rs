//! All that processes of one outline may ever do, and how these moves depend on each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bits::{Bits, SetId, Sets};
use super::condition::{Condition, Looking, Seat};
use super::newcomers::Newcomers;
use super::proviso;
use super::settled::Facts;
use crate::footprint::{Footprint, Link, Object, Part, Span, Surveyor, watched};
use crate::interpret::{Layout, Outline};
use crate::passes::Landmarks;
use crate::{Base, BinaryOp, EdgeId, Expr, LocationId, Place, ProcessTypeId, System};

/// Outlines with more moves than this are not reduced.
const MOST_MOVES: usize = 4096;

/// An edge of a process; or two of two, where a message is handed over.
pub(super) struct Move {
    /// Where who must be: process and station.
    pub places: Vec<(usize, u16)>,
    /// What else must be the case, and for each condition what may make it so.
    pub conditions: Vec<(u32, SetId)>,
    /// What is asked of states may change by it: whoever takes it takes all that is possible.
    pub is_seen: bool,
    /// It closes circles.
    pub closes: bool,
    /// All that can be taken where it can, and may matter to it, or it to that.
    pub against: SetId,
    /// For each of its places: by what the process comes there.
    pub arrivals: Vec<SetId>,
    /// Where all who must be there are there, and it is not possible: one of these comes before it.
    pub enablers: SetId,
}

/// The moves of an outline.
pub(super) struct Moves {
    /// Others have other ones.
    pub number: u32,
    pub all: Vec<Move>,
    /// By process and edge, relative to the first one of its type: the move of that edge alone.
    pub alone: Alone,
    /// By the sending edge with its process: who receives by which edge, and the move that is.
    pub together: Together,
    /// By process and station: what can still be taken by whom.
    pub ahead: Vec<Vec<SetId>>,
    /// By process and station: what begins there.
    from: Vec<Vec<SetId>>,
    /// By process, and by two stations: what begins at the first one, and may lead to the second.
    ways: Vec<Vec<SetId>>,
    pub conditions: Vec<Condition>,
    pub sets: Sets,
}

impl Moves {
    /// What a process can do at a station, if it is possible.
    pub fn at(&self, process: usize, station: u16) -> SetId {
        self.from[process][usize::from(station)]
    }

    /// What a process can do at a station to come to another one, if that was found out.
    pub fn ways(&self, process: usize, from: u16, to: u16) -> Option<SetId> {
        let stations = self.from[process].len();
        self.ways[process].get(usize::from(from) * stations + usize::from(to)).copied()
    }
}

/// One of them while all are being found out.
struct Draft {
    /// Processes with their edges; the one who wishes it comes first.
    actors: Vec<(usize, ProcessTypeId, EdgeId, LocationId)>,
    footprint: Footprint,
    /// What those may do whom it starts. To start them takes nothing of that.
    later: Footprint,
    chain: Vec<(usize, Link)>,
}

/// The moves of processes of which something is known.
pub(super) fn moves(
    surveyor: &Surveyor,
    layout: &Layout,
    outline: &Outline,
    facts: &Facts,
    number: u32,
) -> Option<Moves> {
    let system = surveyor.system();
    let drafts = drafts(system, surveyor, outline, facts)?;
    let count = drafts.len();
    let ties = Ties::new(&drafts);
    let station = |of: ProcessTypeId, location| layout.station(of, location);
    let places = |draft: &Draft| -> Vec<(usize, u16)> {
        draft.actors.iter().map(|(process, of, _, from)| (*process, station(*of, *from))).collect()
    };
    // By process and station: what begins there, and what leads there.
    let (mut from, mut into): (HashMap<_, Bits>, HashMap<_, Bits>) = (HashMap::new(), HashMap::new());
    for (number, draft) in drafts.iter().enumerate() {
        for place in places(draft) {
            from.entry(place).or_insert_with(|| Bits::none(count)).add(number);
        }
        for (process, of, target) in draft.leads_to(system, outline) {
            into.entry((process, station(of, target))).or_insert_with(|| Bits::none(count)).add(number);
        }
    }
    let mut by_process = vec![Bits::none(count); outline.types.len()];
    from.iter().for_each(|((process, _), moves)| by_process[*process].join(moves));
    let nothing = Bits::none(count);
    let (seen, closing) = seen_and_closing(system, &drafts, &ties);
    // What is possible only where nothing else is need not be thought of where something is.
    let last: Vec<usize> = (0..count).filter(|number| drafts[*number].waits_for_timeout(system)).collect();
    let mut sets = Sets::new(count);
    let mut keep = |mut set: Bits| {
        last.iter().for_each(|number| set.remove(*number));
        sets.push(set)
    };
    let arrivals: HashMap<_, _> = into.into_iter().map(|(place, set)| (place, keep(set))).collect();
    let nowhere = keep(nothing.clone());
    let (mut all, mut conditions) = (Vec::new(), Vec::new());
    for (number, draft) in drafts.iter().enumerate() {
        let places = places(draft);
        let mut siblings = nothing.clone();
        places.iter().for_each(|place| siblings.join(from.get(place).unwrap_or(&nothing)));
        let mut against = ties.against(draft);
        // Who is elsewhere cannot be here.
        for place in &places {
            let mut elsewhere = by_process[place.0].clone();
            elsewhere.remove_all(from.get(place).unwrap_or(&nothing));
            against.remove_all(&elsewhere);
        }
        let mut enablers = ties.enablers(draft);
        for set in [&mut against, &mut enablers] {
            set.join(&siblings);
            set.remove(number);
        }
        let process = draft.actors[0].0;
        let seat = Seat { system, surveyor, layout, outline, process, known: facts.of(process) };
        let own = makers(&seat, &ties, &drafts, draft).into_iter().map(|(condition, makers)| {
            conditions.push(condition);
            (conditions.len() as u32 - 1, keep(makers))
        });
        all.push(Move {
            conditions: own.collect(),
            is_seen: seen.contains(number),
            closes: closing.contains(number),
            against: keep(against),
            arrivals: places.iter().map(|place| arrivals.get(place).copied().unwrap_or(nowhere)).collect(),
            enablers: keep(enablers),
            places,
        });
    }
    let ahead = ahead(system, layout, outline, &drafts);
    let ahead = ahead.into_iter().map(|sets| sets.into_iter().map(&mut keep).collect()).collect();
    let mut ways = Vec::new();
    for (process, of) in outline.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate() {
        let sets = ways_of(system, layout, outline, &drafts, &from, process, of);
        ways.push(sets.into_iter().map(&mut keep).collect());
    }
    let types = outline.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate();
    let from = types.map(|(process, of)| {
        let stations = 0..layout.stations(of).len() as u16;
        stations.map(|station| from.get(&(process, station)).map_or(nowhere, |set| keep(set.clone()))).collect()
    });
    let from = from.collect();
    let (alone, together) = index(system, outline, &drafts);
    sets.finish();
    Some(Moves { number, all, alone, together, ahead, from, ways, conditions, sets })
}

fn drafts(system: &System, surveyor: &Surveyor, outline: &Outline, facts: &Facts) -> Option<Vec<Draft>> {
    let types: Vec<_> = outline.types.iter().map(|of| ProcessTypeId(*of as u16)).collect();
    let alone =
        |of: &ProcessTypeId| edges_from(system, *of).filter(|(_, id)| !surveyor.only_meets(*of, *id)).count();
    let mut counts: HashMap<ProcessTypeId, usize> = HashMap::new();
    if types.iter().map(|of| *counts.entry(*of).or_insert_with(|| alone(of))).sum::<usize>() > MOST_MOVES {
        return None;
    }
    let mut footprints: Vec<HashMap<EdgeId, Footprint>> = Vec::new();
    for (process, of) in types.iter().enumerate() {
        footprints.push(surveyor.of_process(*of, facts.of(process)).into_iter().collect());
    }
    let mut drafts = Vec::new();
    for (process, of) in types.iter().enumerate() {
        for (from, id) in edges_from(system, *of) {
            let chain = |process: usize, of, id| -> Vec<(usize, Link)> {
                surveyor.chain(of, id).into_iter().map(|link| (process, link)).collect()
            };
            let own = &footprints[process][&id];
            if !surveyor.only_meets(*of, id) {
                let (actors, chain) = (vec![(process, *of, id, from)], chain(process, *of, id));
                drafts.push(Draft { actors, footprint: own.clone(), later: Footprint::default(), chain });
            }
            for (partner_type, partner_edge) in surveyor.partners_of(*of, id) {
                let others =
                    types.iter().enumerate().filter(|(other, of)| *other != process && **of == partner_type);
                for (partner, _) in others {
                    let sends = (*of, id, facts.of(process));
                    if !surveyor.may_meet(sends, (partner_type, partner_edge, facts.of(partner))) {
                        continue;
                    }
                    let Some(theirs) = footprints[partner].get(&partner_edge) else { continue };
                    let from_there = edges_from(system, partner_type).find(|(_, id)| *id == partner_edge)?.0;
                    let mut footprint = own.clone();
                    footprint.join(theirs);
                    // Both are there: nobody else has to come.
                    let is_theirs = |object: &Object| match object {
                        Object::Channels(_, part) => matches!(part, Part::More | Part::Less),
                        _ => true,
                    };
                    footprint.waits.retain(is_theirs);
                    let mut links = chain(process, *of, id);
                    links.extend(chain(partner, partner_type, partner_edge));
                    let actors = vec![(process, *of, id, from), (partner, partner_type, partner_edge, from_there)];
                    drafts.push(Draft { actors, footprint, later: Footprint::default(), chain: links });
                    if drafts.len() > MOST_MOVES {
                        return None;
                    }
                }
            }
        }
    }
    // Whoever is started is not among them, but may come in between.
    let mut newcomers = Newcomers::new(surveyor, facts);
    for Draft { later, chain, .. } in &mut drafts {
        let mut started = BTreeSet::new();
        for (process, link) in &*chain {
            let starter = if link.is_partner { facts.of_anybody() } else { facts.of(*process) };
            system.edge(link.edge).action.each_run(&mut |run| {
                started.insert(newcomers.kind(run, link.of, starter));
            });
        }
        started.into_iter().for_each(|kind| later.join(newcomers.life(kind)));
    }
    (drafts.len() <= MOST_MOVES).then_some(drafts)
}

/// The edges of a process type, with the locations that they leave.
fn edges_from(system: &System, of: ProcessTypeId) -> impl Iterator<Item = (LocationId, EdgeId)> {
    let locations = (0..).map(LocationId).zip(&system.process_type(of).locations);
    locations.flat_map(|(from, location)| location.edges().map(move |id| (from, id)))
}

impl Draft {
    /// Where processes may be behind it: process, type and location.
    fn leads_to(&self, system: &System, outline: &Outline) -> Vec<(usize, ProcessTypeId, LocationId)> {
        let mut all = Vec::new();
        for (actor, link) in &self.chain {
            let Some(target) = system.edge(link.edge).target else { continue };
            if link.is_partner {
                let types = outline.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate();
                let others = types.filter(|(other, of)| other != actor && *of == link.of);
                all.extend(others.map(|(other, of)| (other, of, target)));
            } else {
                all.push((*actor, link.of, target));
            }
        }
        all
    }

    fn waits_for_timeout(&self, system: &System) -> bool {
        self.actors.iter().any(|(_, _, edge, _)| {
            let condition = system.edge(*edge).action.condition();
            condition.is_some_and(|condition| condition.needs(&Expr::Timeout))
        })
    }

    /// Whether a process of this type may move by it.
    fn may_move(&self, process: usize, of: ProcessTypeId) -> bool {
        let moves = |(actor, link): &(usize, Link)| if link.is_partner { link.of == of } else { *actor == process };
        self.chain.iter().any(moves)
    }

    /// Whether it may make a comparison of a number with a constant true.
    fn may_fulfil(&self, system: &System, (place, op, value): &(Place, BinaryOp, i32)) -> bool {
        let is_it = |target: &Place| match target.base {
            Base::Global | Base::Local => target.base == place.base && target.overlaps(place),
            Base::Remote(..) => place.base == Base::Local,
            Base::Nowhere => false,
        };
        // What those do who are started is not looked at so closely.
        let mut may = self.later != Footprint::default();
        for (_, link) in &self.chain {
            let edge = system.edge(link.edge);
            edge.action.each_assignment(&mut |target, stored| {
                let stored = stored.and_then(Expr::constant).filter(|_| target.is_same(place));
                let stored = stored.map(|stored| target.scalar.truncate(stored));
                may |= is_it(target) && stored.is_none_or(|stored| op.apply(stored, *value) != Some(0));
            });
            may |= edge.forgets.iter().any(is_it);
        }
        may
    }
}

/// Who looks at what, and who changes it.
struct Ties {
    count: usize,
    /// By the kind of an object, and in the order of its elements.
    kinds: BTreeMap<Object, Vec<Tied>>,
}

/// The moves that have to do with an object.
struct Tied {
    object: Object,
    span: Span,
    readers: Bits,
    writers: Bits,
}

impl Ties {
    fn new(drafts: &[Draft]) -> Ties {
        let count = drafts.len();
        let mut all: BTreeMap<(Object, Span), Tied> = BTreeMap::new();
        for (number, draft) in drafts.iter().enumerate() {
            let Draft { footprint, later, .. } = draft;
            let mut tied = |object: &Object, of: fn(&mut Tied) -> &mut Bits| {
                let (kind, span) = object.split();
                let new = || Tied { object: *object, span, readers: Bits::none(count), writers: Bits::none(count) };
                of(all.entry((kind, span)).or_insert_with(new)).add(number);
            };
            for Footprint { reads, writes, .. } in [footprint, later] {
                reads.iter().for_each(|object| tied(object, |tied| &mut tied.readers));
                writes.iter().for_each(|object| tied(object, |tied| &mut tied.writers));
            }
        }
        let mut kinds: BTreeMap<Object, Vec<Tied>> = BTreeMap::new();
        for ((kind, _), tied) in all {
            kinds.entry(kind).or_default().push(tied);
        }
        Ties { count, kinds }
    }

    /// Of what meets an object, those whom `of` names.
    fn gather<'a>(&'a self, object: Object, of: impl Fn(&'a Tied) -> Option<&'a Bits>, all: &mut Bits) {
        let (kind, span) = object.split();
        let same = if kind == Object::Everything {
            self.kinds.values().map(Vec::as_slice).collect()
        } else {
            let same = self.kinds.get(&kind).map_or(&[][..], Vec::as_slice);
            let anything = self.kinds.get(&Object::Everything).map_or(&[][..], Vec::as_slice);
            vec![&same[..same.partition_point(|tied| tied.span.from < span.to)], anything]
        };
        for tied in same.into_iter().flatten().filter(|tied| tied.object.meets(object)) {
            of(tied).into_iter().for_each(|set| all.join(set));
        }
    }

    fn writers_of(&self, objects: &[Object]) -> Bits {
        let mut all = Bits::none(self.count);
        objects.iter().for_each(|object| self.gather(*object, |tied| Some(&tied.writers), &mut all));
        all
    }

    /// What may matter to a move, or it to that. The same as [`Footprint::conflicts`], for all at once.
    fn against(&self, draft: &Draft) -> Bits {
        let mut all = self.writers_of(&draft.footprint.reads);
        for object in &draft.footprint.writes {
            self.gather(*object, |tied| Some(&tied.readers), &mut all);
            if !object.is_shared_out() {
                let of =
                    |tied| Some(tied).filter(|tied: &&Tied| !tied.object.is_shared_out()).map(|tied| &tied.writers);
                self.gather(*object, of, &mut all);
            }
        }
        all
    }

    fn enablers(&self, draft: &Draft) -> Bits {
        self.writers_of(&draft.footprint.waits)
    }
}

/// The conditions of a move, each with all that may make it true.
fn makers(seat: &Seat, ties: &Ties, drafts: &[Draft], draft: &Draft) -> Vec<(Condition, Bits)> {
    let [(_, _, edge, _)] = draft.actors[..] else { return Vec::new() };
    let looking = seat.conditions(&seat.system.edge(edge).action);
    let with_makers = |Looking { condition, objects, own, compared }| {
        let mut makers = ties.writers_of(&own);
        makers.retain(|maker| drafts[maker].may_move(seat.process, seat.of()));
        makers.join(&ties.writers_of(&objects));
        if let Some(compared) = compared {
            makers.retain(|maker| drafts[maker].may_fulfil(seat.system, &compared));
        }
        (condition, makers)
    };
    looking.into_iter().map(with_makers).collect()
}

/// By process and station: the moves that may still be taken as far as that process is concerned.
fn ahead(system: &System, layout: &Layout, outline: &Outline, drafts: &[Draft]) -> Vec<Vec<Bits>> {
    let mut ahead = Vec::new();
    for (process, of) in outline.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate() {
        let locations = &system.process_type(of).locations;
        let mut without = Bits::none(drafts.len());
        let mut from = vec![Bits::none(drafts.len()); locations.len()];
        for (number, draft) in drafts.iter().enumerate() {
            match draft.actors.iter().find(|(actor, ..)| *actor == process) {
                Some((_, _, _, at)) => from[at.index()].add(number),
                None => without.add(number),
            }
        }
        // What lies behind the targets, until there is no more; most edges lead forward.
        let mut grows = true;
        while grows {
            grows = false;
            for at in (0..locations.len()).rev() {
                for target in system.edges_of(&locations[at]).iter().filter_map(|edge| edge.target) {
                    if target.index() != at {
                        let behind = std::mem::take(&mut from[target.index()]);
                        grows |= from[at].grow(&behind);
                        from[target.index()] = behind;
                    }
                }
            }
        }
        let of_station = |location: &LocationId| {
            let mut set = without.clone();
            set.join(&from[location.index()]);
            set
        };
        ahead.push(layout.stations(of).iter().map(of_station).collect());
    }
    ahead
}

/// Of types with more stations it is not found out how to come from one to another.
const MOST_STATIONS: usize = 128;

/// By two stations of a process: what begins at the first one, and may lead to the second.
fn ways_of(
    system: &System,
    layout: &Layout,
    outline: &Outline,
    drafts: &[Draft],
    from: &HashMap<(usize, u16), Bits>,
    process: usize,
    of: ProcessTypeId,
) -> Vec<Bits> {
    let stations = layout.stations(of);
    if stations.len() > MOST_STATIONS {
        return Vec::new();
    }
    let mut ways = vec![Bits::none(drafts.len()); stations.len() * stations.len()];
    let reachable: Vec<_> = stations.iter().map(|at| system.reachable(of, *at)).collect();
    for (number, station) in stations.iter().enumerate().map(|(number, _)| (number, number as u16)) {
        for one in from.get(&(process, station)).into_iter().flat_map(Bits::iter) {
            let targets = drafts[one].leads_to(system, outline).into_iter();
            for (_, _, target) in targets.filter(|(other, ..)| *other == process) {
                for reached in &reachable[usize::from(layout.station(of, target))] {
                    ways[number * stations.len() + usize::from(layout.station(of, *reached))].add(one);
                }
            }
        }
    }
    ways
}

/// How steps are turned into moves.
type Alone = Vec<(u32, Vec<Option<u32>>)>;
type Together = HashMap<(usize, EdgeId), Vec<(usize, EdgeId, u32)>>;

fn index(system: &System, outline: &Outline, drafts: &[Draft]) -> (Alone, Together) {
    let mut alone: Alone = Vec::new();
    for of in outline.types.iter().map(|of| ProcessTypeId(*of as u16)) {
        let edges = edges_from(system, of).map(|(_, id)| id.0);
        let (first, last) = edges.fold((u32::MAX, 0), |(first, last), id| (first.min(id), last.max(id)));
        alone.push((first, vec![None; (last + 1).saturating_sub(first) as usize]));
    }
    let mut together = Together::new();
    for (number, draft) in (0..).zip(drafts) {
        match draft.actors[..] {
            [(process, _, edge, _)] => {
                let (first, moves) = &mut alone[process];
                moves[(edge.0 - *first) as usize] = Some(number);
            }
            [(process, _, edge, _), (partner, _, partner_edge, _), ..] => {
                together.entry((process, edge)).or_default().push((partner, partner_edge, number));
            }
            [] => {}
        }
    }
    (alone, together)
}

/// Moves by which what is asked of states may change; and others of which every circle has one.
fn seen_and_closing(system: &System, drafts: &[Draft], ties: &Ties) -> (Bits, Bits) {
    let landmarks = Landmarks::new(system);
    // The less an edge has to do with others, the more it is worth to leave it in peace.
    let mut weight: HashMap<EdgeId, u32> = HashMap::new();
    for draft in drafts {
        let against = ties.against(draft).count();
        for (_, _, edge, _) in &draft.actors {
            let weight = weight.entry(*edge).or_default();
            *weight = (*weight).max(against);
        }
    }
    let is_seen = |of: ProcessTypeId, from: LocationId, edge: EdgeId| {
        let target = system.edge(edge).target;
        landmarks.contains(of, from) || target.is_some_and(|target| landmarks.contains(of, target))
    };
    let edges = proviso::edges(system, is_seen, |edge| weight.get(&edge).copied().unwrap_or(0));
    let (mut seen, mut closing) = (ties.writers_of(&watched(system)), Bits::none(drafts.len()));
    for (number, draft) in drafts.iter().enumerate() {
        for (_, link) in &draft.chain {
            for (edges, moves) in [(&edges.seen, &mut seen), (&edges.closing, &mut closing)] {
                if edges.contains(&link.edge) {
                    moves.add(number);
                }
            }
        }
    }
    (seen, closing)
}
