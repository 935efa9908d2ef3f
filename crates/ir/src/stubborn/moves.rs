//! The moves of the processes of one process vector, and the dependencies between them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bits::{Bits, SetId, SetTable};
use super::condition::{Condition, GuardContext, GuardReads};
use super::frozen::FrozenValues;
use super::proviso;
use super::spawned::SpawnedProcesses;
use crate::footprint::{Footprint, FootprintAnalysis, Link, Object, Part, Span, watched};
use crate::interpret::{Layout, ProcessVector};
use crate::passes::ObservedLocations;
use crate::{Base, BinaryOp, EdgeId, Expr, LocationId, Place, ProcessTypeId, System};

/// A process vector with more moves is not reduced.
const MOST_MOVES: usize = 4096;

/// An edge of a process, or the two edges of a rendezvous.
pub(super) struct Move {
    /// The required locations of its processes: process and station.
    pub places: Vec<(usize, u16)>,
    /// Its guards, each with a necessary enabling set.
    pub conditions: Vec<(u32, SetId)>,
    /// It may change the value of a proposition.
    pub is_visible: bool,
    /// It closes a cycle of its automaton.
    pub closes: bool,
    /// The moves that depend on it and can be enabled together with it.
    pub dependent: SetId,
    /// For each place: the moves that lead there.
    pub arrivals: Vec<SetId>,
    /// A necessary enabling set where all its processes are in place.
    pub enablers: SetId,
}

/// The moves of a process vector.
pub(super) struct Moves {
    /// Identifies the table.
    pub number: u32,
    pub all: Vec<Move>,
    /// By process and edge, relative to the first edge of its type: the local move of the edge.
    pub alone: Alone,
    /// By process and edge of the sender: the process and edge of each receiver, and their move.
    pub together: Together,
    /// By process and station: the moves that can still occur.
    pub ahead: Vec<Vec<SetId>>,
    /// By process and station: the moves that begin there.
    from: Vec<Vec<SetId>>,
    /// By process and two stations: the moves that begin at the first and may lead to the second.
    ways: Vec<Vec<SetId>>,
    pub conditions: Vec<Condition>,
    pub sets: SetTable,
}

impl Moves {
    /// The moves of a process at a station.
    pub fn at(&self, process: usize, station: u16) -> SetId {
        self.from[process][usize::from(station)]
    }

    /// The moves of a process at one station that may lead to another one, if they are known.
    pub fn ways(&self, process: usize, from: u16, to: u16) -> Option<SetId> {
        let stations = self.from[process].len();
        self.ways[process].get(usize::from(from) * stations + usize::from(to)).copied()
    }
}

/// A move while the table is being computed.
struct Draft {
    /// Process, type, edge and location of each process that takes part; the sender comes first.
    actors: Vec<(usize, ProcessTypeId, EdgeId, LocationId)>,
    footprint: Footprint,
    /// The footprint of the processes that it starts. It does not affect whether the move is enabled.
    later: Footprint,
    chain: Vec<(usize, Link)>,
}

/// The table of a process vector; `None` if it is too large.
pub(super) fn moves(
    analysis: &FootprintAnalysis,
    layout: &Layout,
    vector: &ProcessVector,
    facts: &FrozenValues,
    number: u32,
) -> Option<Moves> {
    let system = analysis.system();
    let drafts = drafts(system, analysis, vector, facts)?;
    let count = drafts.len();
    let dependencies = Dependencies::new(&drafts);
    let station = |of: ProcessTypeId, location| layout.station(of, location);
    let places = |draft: &Draft| -> Vec<(usize, u16)> {
        draft.actors.iter().map(|(process, of, _, from)| (*process, station(*of, *from))).collect()
    };
    // By process and station: the moves that begin there, and those that lead there.
    let (mut from, mut into): (HashMap<_, Bits>, HashMap<_, Bits>) = (HashMap::new(), HashMap::new());
    for (number, draft) in drafts.iter().enumerate() {
        for place in places(draft) {
            from.entry(place).or_insert_with(|| Bits::none(count)).add(number);
        }
        for (process, of, target) in draft.leads_to(system, vector) {
            into.entry((process, station(of, target))).or_insert_with(|| Bits::none(count)).add(number);
        }
    }
    let mut by_process = vec![Bits::none(count); vector.types.len()];
    from.iter().for_each(|((process, _), moves)| by_process[*process].join(moves));
    let nothing = Bits::none(count);
    let (visible, closing) = visible_and_closing(system, &drafts, &dependencies);
    // A move that waits for `timeout` is never enabled together with others.
    let last: Vec<usize> = (0..count).filter(|number| drafts[*number].waits_for_timeout(system)).collect();
    let mut sets = SetTable::new(count);
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
        let mut dependent = dependencies.dependent(draft);
        // A process that is elsewhere cannot be here.
        for place in &places {
            let mut elsewhere = by_process[place.0].clone();
            elsewhere.remove_all(from.get(place).unwrap_or(&nothing));
            dependent.remove_all(&elsewhere);
        }
        let mut enablers = dependencies.enablers(draft);
        for set in [&mut dependent, &mut enablers] {
            set.join(&siblings);
            set.remove(number);
        }
        let process = draft.actors[0].0;
        let context = GuardContext { system, analysis, layout, vector, process, known: facts.of(process) };
        let own = enabling(&context, &dependencies, &drafts, draft).into_iter().map(|(condition, enabling)| {
            conditions.push(condition);
            (conditions.len() as u32 - 1, keep(enabling))
        });
        all.push(Move {
            conditions: own.collect(),
            is_visible: visible.contains(number),
            closes: closing.contains(number),
            dependent: keep(dependent),
            arrivals: places.iter().map(|place| arrivals.get(place).copied().unwrap_or(nowhere)).collect(),
            enablers: keep(enablers),
            places,
        });
    }
    let ahead = ahead(system, layout, vector, &drafts);
    let ahead = ahead.into_iter().map(|sets| sets.into_iter().map(&mut keep).collect()).collect();
    let mut ways = Vec::new();
    for (process, of) in vector.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate() {
        let sets = ways_of(system, layout, vector, &drafts, &from, process, of);
        ways.push(sets.into_iter().map(&mut keep).collect());
    }
    let types = vector.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate();
    let from = types.map(|(process, of)| {
        let stations = 0..layout.stations(of).len() as u16;
        stations.map(|station| from.get(&(process, station)).map_or(nowhere, |set| keep(set.clone()))).collect()
    });
    let from = from.collect();
    let (alone, together) = index(system, vector, &drafts);
    sets.finish();
    Some(Moves { number, all, alone, together, ahead, from, ways, conditions, sets })
}

fn drafts(
    system: &System,
    analysis: &FootprintAnalysis,
    vector: &ProcessVector,
    facts: &FrozenValues,
) -> Option<Vec<Draft>> {
    let types: Vec<_> = vector.types.iter().map(|of| ProcessTypeId(*of as u16)).collect();
    let alone =
        |of: &ProcessTypeId| edges_from(system, *of).filter(|(_, id)| !analysis.only_meets(*of, *id)).count();
    let mut counts: HashMap<ProcessTypeId, usize> = HashMap::new();
    if types.iter().map(|of| *counts.entry(*of).or_insert_with(|| alone(of))).sum::<usize>() > MOST_MOVES {
        return None;
    }
    let mut footprints: Vec<HashMap<EdgeId, Footprint>> = Vec::new();
    for (process, of) in types.iter().enumerate() {
        footprints.push(analysis.of_process(*of, facts.of(process)).into_iter().collect());
    }
    let mut drafts = Vec::new();
    for (process, of) in types.iter().enumerate() {
        for (from, id) in edges_from(system, *of) {
            let chain = |process: usize, of, id| -> Vec<(usize, Link)> {
                analysis.chain(of, id).into_iter().map(|link| (process, link)).collect()
            };
            let own = &footprints[process][&id];
            if !analysis.only_meets(*of, id) {
                let (actors, chain) = (vec![(process, *of, id, from)], chain(process, *of, id));
                drafts.push(Draft { actors, footprint: own.clone(), later: Footprint::default(), chain });
            }
            for (partner_type, partner_edge) in analysis.partners_of(*of, id) {
                let others =
                    types.iter().enumerate().filter(|(other, of)| *other != process && **of == partner_type);
                for (partner, _) in others {
                    let sends = (*of, id, facts.of(process));
                    if !analysis.may_meet(sends, (partner_type, partner_edge, facts.of(partner))) {
                        continue;
                    }
                    let Some(theirs) = footprints[partner].get(&partner_edge) else { continue };
                    let from_there = edges_from(system, partner_type).find(|(_, id)| *id == partner_edge)?.0;
                    let mut footprint = own.clone();
                    footprint.join(theirs);
                    // Both partners are present: the move waits for no other process.
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
    // Processes that are started later have no moves in the table, but may interfere.
    let mut spawned = SpawnedProcesses::new(analysis, facts);
    for Draft { later, chain, .. } in &mut drafts {
        let mut started = BTreeSet::new();
        for (process, link) in &*chain {
            let starter = if link.is_partner { facts.of_anybody() } else { facts.of(*process) };
            system.edge(link.edge).action.each_run(&mut |run| {
                started.insert(spawned.kind(run, link.of, starter));
            });
        }
        started.into_iter().for_each(|kind| later.join(spawned.life(kind)));
    }
    (drafts.len() <= MOST_MOVES).then_some(drafts)
}

/// The edges of a process type, with their source locations.
fn edges_from(system: &System, of: ProcessTypeId) -> impl Iterator<Item = (LocationId, EdgeId)> {
    let locations = (0..).map(LocationId).zip(&system.process_type(of).locations);
    locations.flat_map(|(from, location)| location.edges().map(move |id| (from, id)))
}

impl Draft {
    /// The possible locations of processes after the move: process, type and location.
    fn leads_to(&self, system: &System, vector: &ProcessVector) -> Vec<(usize, ProcessTypeId, LocationId)> {
        let mut all = Vec::new();
        for (actor, link) in &self.chain {
            let Some(target) = system.edge(link.edge).target else { continue };
            if link.is_partner {
                let types = vector.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate();
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

    /// Whether a process of this type may execute a part of it.
    fn may_move(&self, process: usize, of: ProcessTypeId) -> bool {
        let moves = |(actor, link): &(usize, Link)| if link.is_partner { link.of == of } else { *actor == process };
        self.chain.iter().any(moves)
    }

    /// Whether it may make a comparison of a variable with a constant true.
    fn may_fulfil(&self, system: &System, (place, op, value): &(Place, BinaryOp, i32)) -> bool {
        let is_it = |target: &Place| match target.base {
            Base::Global | Base::Local => target.base == place.base && target.overlaps(place),
            Base::Remote(..) => place.base == Base::Local,
            Base::Nowhere => false,
        };
        // The assignments of processes that it starts are not analysed.
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

/// The moves that read and write each object.
struct Dependencies {
    count: usize,
    /// By kind of object, sorted by the first element.
    kinds: BTreeMap<Object, Vec<Accesses>>,
}

/// The moves that access an object.
struct Accesses {
    object: Object,
    span: Span,
    readers: Bits,
    writers: Bits,
}

impl Dependencies {
    fn new(drafts: &[Draft]) -> Dependencies {
        let count = drafts.len();
        let mut all: BTreeMap<(Object, Span), Accesses> = BTreeMap::new();
        for (number, draft) in drafts.iter().enumerate() {
            let Draft { footprint, later, .. } = draft;
            let mut accesses = |object: &Object, of: fn(&mut Accesses) -> &mut Bits| {
                let (kind, span) = object.split();
                let new =
                    || Accesses { object: *object, span, readers: Bits::none(count), writers: Bits::none(count) };
                of(all.entry((kind, span)).or_insert_with(new)).add(number);
            };
            for Footprint { reads, writes, .. } in [footprint, later] {
                reads.iter().for_each(|object| accesses(object, |accesses| &mut accesses.readers));
                writes.iter().for_each(|object| accesses(object, |accesses| &mut accesses.writers));
            }
        }
        let mut kinds: BTreeMap<Object, Vec<Accesses>> = BTreeMap::new();
        for ((kind, _), accesses) in all {
            kinds.entry(kind).or_default().push(accesses);
        }
        Dependencies { count, kinds }
    }

    /// Joins the sets that `of` selects, for all objects that overlap with this one.
    fn gather<'a>(&'a self, object: Object, of: impl Fn(&'a Accesses) -> Option<&'a Bits>, all: &mut Bits) {
        let (kind, span) = object.split();
        let same = if kind == Object::Everything {
            self.kinds.values().map(Vec::as_slice).collect()
        } else {
            let same = self.kinds.get(&kind).map_or(&[][..], Vec::as_slice);
            let anything = self.kinds.get(&Object::Everything).map_or(&[][..], Vec::as_slice);
            vec![&same[..same.partition_point(|accesses| accesses.span.from < span.to)], anything]
        };
        for accesses in same.into_iter().flatten().filter(|accesses| accesses.object.meets(object)) {
            of(accesses).into_iter().for_each(|set| all.join(set));
        }
    }

    fn writers_of(&self, objects: &[Object]) -> Bits {
        let mut all = Bits::none(self.count);
        objects.iter().for_each(|object| self.gather(*object, |accesses| Some(&accesses.writers), &mut all));
        all
    }

    /// The moves that depend on a move: [`Footprint::conflicts`], for all moves at once.
    fn dependent(&self, draft: &Draft) -> Bits {
        let mut all = self.writers_of(&draft.footprint.reads);
        for object in &draft.footprint.writes {
            self.gather(*object, |accesses| Some(&accesses.readers), &mut all);
            if !object.commutes() {
                let of = |accesses| {
                    Some(accesses)
                        .filter(|accesses: &&Accesses| !accesses.object.commutes())
                        .map(|accesses| &accesses.writers)
                };
                self.gather(*object, of, &mut all);
            }
        }
        all
    }

    fn enablers(&self, draft: &Draft) -> Bits {
        self.writers_of(&draft.footprint.waits)
    }
}

/// The guards of a move, each with a necessary enabling set.
fn enabling(
    context: &GuardContext,
    dependencies: &Dependencies,
    drafts: &[Draft],
    draft: &Draft,
) -> Vec<(Condition, Bits)> {
    let [(_, _, edge, _)] = draft.actors[..] else { return Vec::new() };
    let guard_reads = context.conditions(&context.system.edge(edge).action);
    let with_enabling = |GuardReads { condition, objects, own, compared }| {
        let mut enabling = dependencies.writers_of(&own);
        enabling.retain(|enabler| drafts[enabler].may_move(context.process, context.of()));
        enabling.join(&dependencies.writers_of(&objects));
        if let Some(compared) = compared {
            enabling.retain(|enabler| drafts[enabler].may_fulfil(context.system, &compared));
        }
        (condition, enabling)
    };
    guard_reads.into_iter().map(with_enabling).collect()
}

/// By process and station: the moves that can still occur as far as that process decides.
fn ahead(system: &System, layout: &Layout, vector: &ProcessVector, drafts: &[Draft]) -> Vec<Vec<Bits>> {
    let mut ahead = Vec::new();
    for (process, of) in vector.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate() {
        let locations = &system.process_type(of).locations;
        let mut without = Bits::none(drafts.len());
        let mut from = vec![Bits::none(drafts.len()); locations.len()];
        for (number, draft) in drafts.iter().enumerate() {
            match draft.actors.iter().find(|(actor, ..)| *actor == process) {
                Some((_, _, _, at)) => from[at.index()].add(number),
                None => without.add(number),
            }
        }
        // A fixed point over the successor locations; most edges lead forward.
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

/// For types with more stations, the moves between two stations are not computed.
const MOST_STATIONS: usize = 128;

/// By two stations of a process: the moves that begin at the first and may lead to the second.
fn ways_of(
    system: &System,
    layout: &Layout,
    vector: &ProcessVector,
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
            let targets = drafts[one].leads_to(system, vector).into_iter();
            for (_, _, target) in targets.filter(|(other, ..)| *other == process) {
                for reached in &reachable[usize::from(layout.station(of, target))] {
                    ways[number * stations.len() + usize::from(layout.station(of, *reached))].add(one);
                }
            }
        }
    }
    ways
}

/// Maps from steps to moves.
type Alone = Vec<(u32, Vec<Option<u32>>)>;
type Together = HashMap<(usize, EdgeId), Vec<(usize, EdgeId, u32)>>;

fn index(system: &System, vector: &ProcessVector, drafts: &[Draft]) -> (Alone, Together) {
    let mut alone: Alone = Vec::new();
    for of in vector.types.iter().map(|of| ProcessTypeId(*of as u16)) {
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

/// The visible moves, and moves of which every cycle of invisible ones contains one.
fn visible_and_closing(system: &System, drafts: &[Draft], dependencies: &Dependencies) -> (Bits, Bits) {
    let observed = ObservedLocations::new(system);
    // An edge with many dependencies seldom yields a small set, so it is preferred as the one that closes a cycle.
    let mut weight: HashMap<EdgeId, u32> = HashMap::new();
    for draft in drafts {
        let dependent = dependencies.dependent(draft).count();
        for (_, _, edge, _) in &draft.actors {
            let weight = weight.entry(*edge).or_default();
            *weight = (*weight).max(dependent);
        }
    }
    let is_visible = |of: ProcessTypeId, from: LocationId, edge: EdgeId| {
        let target = system.edge(edge).target;
        observed.contains(of, from) || target.is_some_and(|target| observed.contains(of, target))
    };
    let edges = proviso::edges(system, is_visible, |edge| weight.get(&edge).copied().unwrap_or(0));
    let (mut visible, mut closing) = (dependencies.writers_of(&watched(system)), Bits::none(drafts.len()));
    for (number, draft) in drafts.iter().enumerate() {
        for (_, link) in &draft.chain {
            for (edges, moves) in [(&edges.visible, &mut visible), (&edges.closing, &mut closing)] {
                if edges.contains(&link.edge) {
                    moves.add(number);
                }
            }
        }
    }
    (visible, closing)
}
