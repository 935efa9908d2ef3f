//! All that processes of one outline may ever do, and how these moves depend on each other.

use std::collections::{BTreeMap, HashMap};

use super::bits::{Bits, SetId, Sets};
use super::condition::{Condition, Looking, Seat};
use super::proviso;
use crate::footprint::{Footprint, Link, Object, Part, Surveyor, watched};
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
    /// Whoever takes it in a state takes all that is possible there.
    pub is_shown: bool,
    /// All that can be taken where it can, and may matter to it, or it to that.
    pub against: SetId,
    /// For each of its places: by what the process comes there.
    pub arrivals: Vec<SetId>,
    /// Where all who must be there are there, and it is not possible: one of these comes before it.
    pub enablers: SetId,
}

/// The moves of an outline.
pub(super) struct Moves {
    pub all: Vec<Move>,
    /// By process and edge, relative to the first one of its type: the move of that edge alone.
    pub alone: Alone,
    /// By the sending edge with its process: who receives by which edge, and the move that is.
    pub together: Together,
    /// By process and station: what can still be taken by whom.
    pub ahead: Vec<Vec<SetId>>,
    /// By process and station: what begins there.
    from: HashMap<(usize, u16), SetId>,
    pub conditions: Vec<Condition>,
    pub sets: Sets,
}

impl Moves {
    /// What a process can do at a station, if it is possible.
    pub fn at(&self, process: usize, station: u16) -> Option<SetId> {
        self.from.get(&(process, station)).copied()
    }
}

/// One of them while all are being found out.
struct Draft {
    /// Processes with their edges; the one who wishes it comes first.
    actors: Vec<(usize, ProcessTypeId, EdgeId, LocationId)>,
    footprint: Footprint,
    chain: Vec<(usize, Link)>,
}

pub(super) fn moves(system: &System, layout: &Layout, outline: &Outline) -> Option<Moves> {
    let surveyor = Surveyor::tolerant(system);
    let drafts = drafts(system, &surveyor, outline)?;
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
    let nothing = Bits::none(count);
    let shown = shown(system, &drafts, &ties);
    // What is possible only where nothing else is need not be thought of where something is.
    let last: Vec<usize> = (0..count).filter(|number| drafts[*number].waits_for_timeout(system)).collect();
    let mut sets = Sets::new(count);
    let mut keep = |mut set: Bits| {
        last.iter().for_each(|number| set.remove(*number));
        sets.push(&set)
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
        for (process, here) in &places {
            for ((other, there), moves) in &from {
                if other == process && there != here {
                    moves.iter().for_each(|number| against.remove(number));
                }
            }
        }
        let mut enablers = ties.enablers(draft);
        for set in [&mut against, &mut enablers] {
            set.join(&siblings);
            set.remove(number);
        }
        let seat = Seat { system, surveyor: &surveyor, layout, outline, process: draft.actors[0].0 };
        let own = makers(&seat, &ties, &drafts, draft).into_iter().map(|(condition, makers)| {
            conditions.push(condition);
            (conditions.len() as u32 - 1, keep(makers))
        });
        all.push(Move {
            conditions: own.collect(),
            is_shown: shown[number],
            against: keep(against),
            arrivals: places.iter().map(|place| arrivals.get(place).copied().unwrap_or(nowhere)).collect(),
            enablers: keep(enablers),
            places,
        });
    }
    let ahead = ahead(system, layout, outline, &drafts);
    let ahead = ahead.into_iter().map(|sets| sets.into_iter().map(&mut keep).collect()).collect();
    let from = from.into_iter().map(|(place, set)| (place, keep(set))).collect();
    let (alone, together) = index(system, outline, &drafts);
    Some(Moves { all, alone, together, ahead, from, conditions, sets })
}

fn drafts(system: &System, surveyor: &Surveyor, outline: &Outline) -> Option<Vec<Draft>> {
    let mut footprints: Vec<HashMap<EdgeId, Footprint>> = Vec::new();
    let types: Vec<_> = outline.types.iter().map(|of| ProcessTypeId(*of as u16)).collect();
    for (process, of) in types.iter().enumerate() {
        footprints.push(surveyor.of_process(*of, Some(process as i32)).into_iter().collect());
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
                drafts.push(Draft { actors, footprint: own.clone(), chain });
            }
            for (partner_type, partner_edge) in surveyor.partners_of(*of, id) {
                let others =
                    types.iter().enumerate().filter(|(other, of)| *other != process && **of == partner_type);
                for (partner, _) in others {
                    let Some(theirs) = footprints[partner].get(&partner_edge) else { continue };
                    let from_there = edges_from(system, partner_type).find(|(_, id)| *id == partner_edge)?.0;
                    let mut footprint = own.clone();
                    footprint.join(theirs);
                    // Both are there: nobody else has to come.
                    let is_theirs = |object: &Object| match object {
                        Object::Channels(_, part) => *part == Part::Length,
                        _ => true,
                    };
                    footprint.waits.retain(is_theirs);
                    let mut links = chain(process, *of, id);
                    links.extend(chain(partner, partner_type, partner_edge));
                    let actors = vec![(process, *of, id, from), (partner, partner_type, partner_edge, from_there)];
                    drafts.push(Draft { actors, footprint, chain: links });
                    if drafts.len() > MOST_MOVES {
                        return None;
                    }
                }
            }
        }
    }
    // Whoever is started may do anything.
    for draft in &mut drafts {
        let mut starts = false;
        for (_, link) in &draft.chain {
            system.edge(link.edge).action.each_run(&mut |_| starts = true);
        }
        if starts {
            draft.footprint.reads.push(Object::Everything);
            draft.footprint.writes.push(Object::Everything);
        }
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

    /// Whether it may make a comparison of a global with a constant true.
    fn may_fulfil(&self, system: &System, (place, op, value): &(Place, BinaryOp, i32)) -> bool {
        let is_it = |target: &Place| target.base == Base::Global && target.overlaps(place);
        let mut may = false;
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
    objects: Vec<Object>,
    /// By object.
    readers: Vec<Bits>,
    writers: Vec<Bits>,
}

impl Ties {
    fn new(drafts: &[Draft]) -> Ties {
        let count = drafts.len();
        let (mut readers, mut writers): (BTreeMap<Object, Bits>, BTreeMap<Object, Bits>) = Default::default();
        for (number, draft) in drafts.iter().enumerate() {
            for (objects, sets) in [(&draft.footprint.reads, &mut readers), (&draft.footprint.writes, &mut writers)]
            {
                for object in objects {
                    sets.entry(*object).or_insert_with(|| Bits::none(count)).add(number);
                }
            }
        }
        let mut objects: Vec<Object> = readers.keys().chain(writers.keys()).copied().collect();
        objects.sort_unstable();
        objects.dedup();
        let of = |sets: &BTreeMap<Object, Bits>| -> Vec<Bits> {
            objects.iter().map(|object| sets.get(object).cloned().unwrap_or_else(|| Bits::none(count))).collect()
        };
        let (readers, writers) = (of(&readers), of(&writers));
        Ties { count, objects, readers, writers }
    }

    /// Those of `sets` whose objects meet this one and are such.
    fn gather(&self, object: Object, sets: &[Bits], is_such: impl Fn(Object) -> bool, all: &mut Bits) {
        for (other, set) in self.objects.iter().zip(sets) {
            if is_such(*other) && other.meets(object) {
                all.join(set);
            }
        }
    }

    fn writers_of(&self, objects: &[Object]) -> Bits {
        let mut all = Bits::none(self.count);
        objects.iter().for_each(|object| self.gather(*object, &self.writers, |_| true, &mut all));
        all
    }

    /// What may matter to a move, or it to that. The same as [`Footprint::conflicts`], for all at once.
    fn against(&self, draft: &Draft) -> Bits {
        let mut all = self.writers_of(&draft.footprint.reads);
        for object in &draft.footprint.writes {
            self.gather(*object, &self.readers, |_| true, &mut all);
            if !object.is_shared_out() {
                self.gather(*object, &self.writers, |other| !other.is_shared_out(), &mut all);
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
    let with_makers = |Looking { condition, objects, compared }| {
        let mut makers = ties.writers_of(&objects);
        if let Some(compared) = compared.filter(|(place, ..)| place.base == Base::Global) {
            let idle: Vec<usize> =
                makers.iter().filter(|maker| !drafts[*maker].may_fulfil(seat.system, &compared)).collect();
            idle.into_iter().for_each(|maker| makers.remove(maker));
        }
        (condition, makers)
    };
    looking.into_iter().map(with_makers).collect()
}

/// By process and station: the moves that may still be taken as far as that process is concerned.
fn ahead(system: &System, layout: &Layout, outline: &Outline, drafts: &[Draft]) -> Vec<Vec<Bits>> {
    let mut ahead = Vec::new();
    for (process, of) in outline.types.iter().map(|of| ProcessTypeId(*of as u16)).enumerate() {
        let mut without = Bits::none(drafts.len());
        let mut by_location: HashMap<LocationId, Vec<usize>> = HashMap::new();
        for (number, draft) in drafts.iter().enumerate() {
            match draft.actors.iter().find(|(actor, ..)| *actor == process) {
                Some((_, _, _, from)) => by_location.entry(*from).or_default().push(number),
                None => without.add(number),
            }
        }
        let of_station = |location: &LocationId| {
            let mut set = without.clone();
            for reached in system.reachable(of, *location) {
                by_location.get(&reached).into_iter().flatten().for_each(|number| set.add(*number));
            }
            set
        };
        ahead.push(layout.stations(of).iter().map(of_station).collect());
    }
    ahead
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

/// Which moves show: what is asked of states may change by them, or they close circles.
fn shown(system: &System, drafts: &[Draft], ties: &Ties) -> Vec<bool> {
    let watched = ties.writers_of(&watched(system));
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
        let mut starts = false;
        system.edge(edge).action.each_run(&mut |_| starts = true);
        starts || landmarks.contains(of, from) || target.is_some_and(|target| landmarks.contains(of, target))
    };
    let closing = proviso::closing(system, is_seen, |edge| weight.get(&edge).copied().unwrap_or(0));
    let shows = |(number, draft): (usize, &Draft)| {
        watched.contains(number) || draft.chain.iter().any(|(_, link)| closing.contains(&link.edge))
    };
    drafts.iter().enumerate().map(shows).collect()
}
