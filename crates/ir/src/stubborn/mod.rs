//! Of the steps that are possible in a state, some that are enough: the others are left for later.
//!
//! A set of moves is *stubborn* in a state if whatever is taken outside of it changes nothing for those in it: with every
//! move that is possible it has all that may matter to that, and with every other all of some set one of which must come
//! before it. Then the moves of the set may as well be taken first. So nothing is missed that is asked for: where a run
//! ends, what goes wrong on the way, and, if the moves of the set do not show and nobody is passed over for ever, what a
//! formula that does not count steps says.
//!
//! After Valmari: Stubborn sets for reduced state space generation, 1989; with conditions as reasons, as in Laarman, Pater,
//! van de Pol, Hansen: Guard-based partial-order reduction, STTT 2016.

mod bits;
mod condition;
mod moves;
mod newcomers;
mod precedents;
mod proviso;
mod settled;

pub use condition::Sight;

use bits::{MOST_WORDS, add, contains, count, each, meet, next};
use moves::Moves;
use precedents::{Case, Precedents};

use crate::System;
use crate::footprint::Surveyor;
use crate::interpret::{Layout, Outline, Step};
use entail_disk::{Reader, Restore, Snapshot, Writer};
use entail_model::StateBuf;
use settled::Settled;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

/// Where so many steps are possible, all are taken after so many sets.
const MANY_STEPS: usize = 64;
const MOST_ANSWERS: u32 = 8;
/// All tables together have no more than so many words.
const MOST_WORDS_IN_ALL: usize = 1 << 19;

/// Finds stubborn sets in the states of a system.
///
/// What processes may do is written down once for all states with the same processes, if what is settled is settled in the
/// same way. That is done when the first of these states is met. If it is too much, it is never done: so what is said of a
/// state is always the same.
pub struct StubbornSets<'s> {
    surveyor: Surveyor<'s>,
    layout: &'s Layout,
    settled: Settled,
    rule: Rule,
    proviso: Proviso,
    shelf: RwLock<Shelf>,
}

#[derive(Default)]
struct Shelf {
    /// By what is settled; nothing where it is not worth it.
    tables: HashMap<Vec<u32>, Option<Arc<Moves>>>,
    words: usize,
    /// What a search that goes on has met before, and whether it was worth it.
    met: HashMap<Vec<u32>, bool>,
}

/// What is met too late has no table. So it must be known what was met when a search goes on.
impl Restore for StubbornSets<'_> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        let shelf = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
        let mut met = shelf.met.clone();
        met.extend(shelf.tables.iter().map(|(key, table)| (key.clone(), table.is_some())));
        met.save(to)?;
        shelf.words.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        let (met, words) = (HashMap::load(from)?, usize::load(from)?);
        self.shelf = RwLock::new(Shelf { tables: HashMap::new(), words, met });
        Ok(())
    }
}

/// Which sets are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All that one process can do, if nobody else ever has anything to do with that: ample sets, as SPIN's.
    OneProcess,
    /// Any.
    AnySet,
}

/// Who sees to it that nobody is passed over for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Every circle in an automaton has an edge that is taken only together with all that is possible.
    Automata,
    /// The search ([`entail_model::Model::needs_proviso`]).
    Search,
}

/// What is needed from one state to the next.
#[derive(Default)]
pub struct Desk {
    stations: Vec<u16>,
    /// What is settled, and the moves if it is so; and how it was in the state before.
    key: Vec<u32>,
    table: Option<Arc<Moves>>,
    last_key: Vec<u32>,
    /// Of each step.
    moves: Vec<u32>,
    conditions: Conditions,
    case: Case,
    precedents: Precedents,
    /// Of each step, whether it is to be taken.
    pub keeps: Vec<bool>,
}

/// How the conditions of moves stand in a state.
#[derive(Default)]
struct Conditions {
    /// Of each, as far as it was asked: whether it fails.
    failing: Vec<Option<bool>>,
    /// Those that were asked, in this order.
    asked: Vec<(u32, bool)>,
}

impl Conditions {
    fn forget(&mut self, count: usize) {
        self.failing.clear();
        self.failing.resize(count, None);
        self.asked.clear();
    }

    fn fails(&mut self, condition: u32, find_out: impl FnOnce() -> bool) -> bool {
        if let Some(fails) = self.failing[condition as usize] {
            return fails;
        }
        let fails = find_out();
        self.failing[condition as usize] = Some(fails);
        self.asked.push((condition, fails));
        fails
    }
}

/// Whether there is something in it for a system.
pub fn is_reducible(system: &System) -> bool {
    !(system.uses_priorities || system.uses_last || system.monitor.is_some())
}

/// Whether it would take too long to find out which steps have to do with each other.
pub fn is_too_large(system: &System) -> bool {
    is_reducible(system) && Surveyor::tolerant(system).is_none()
}

impl<'s> StubbornSets<'s> {
    /// Unless there is nothing to be gained, or it would take too long.
    pub fn new(system: &'s System, layout: &'s Layout, rule: Rule, proviso: Proviso) -> Option<StubbornSets<'s>> {
        let surveyor = if is_reducible(system) { Surveyor::tolerant(system)? } else { return None };
        let settled = Settled::new(system, layout);
        Some(StubbornSets { surveyor, layout, settled, rule, proviso, shelf: RwLock::default() })
    }

    /// Looks for a set that is enough in a stable state, where these steps are possible. If there is one, says in the desk
    /// which of the steps belong to it. The state is given as a way to read its numbers; now and then, it is needed as it is.
    /// There may be several answers, which have no steps in common.
    pub fn select(
        &self,
        outline: &Outline,
        sight: &impl Sight,
        state: impl FnOnce(&mut StateBuf),
        steps: &[Step],
        answer: u32,
        desk: &mut Desk,
    ) -> bool {
        let Some(first) = steps.first() else { return false };
        // To find the next set takes as long as to find all before it.
        if answer > MOST_ANSWERS && steps.len() > MANY_STEPS {
            return false;
        }
        // What one process can do are all its own choices.
        let is_one = |step: &Step| step.process() == first.process() && step.partner().is_none();
        if steps.iter().all(is_one) || steps.iter().any(|step| step.is_timeout()) {
            return false;
        }
        desk.stations.clear();
        for start in &outline.starts {
            desk.stations.push(sight.number(start + 1, self.layout.location_bytes as u8) as u16);
        }
        desk.key.clear();
        self.settled.key(self.layout, outline, &desk.stations, sight, &mut desk.key);
        if desk.key != desk.last_key {
            std::mem::swap(&mut desk.key, &mut desk.last_key);
            desk.table = self.table(outline, state, &desk.stations, &desk.last_key);
        }
        let Some(moves) = desk.table.take() else { return false };
        let selection = Selection { moves: &moves, rule: self.rule, proviso: self.proviso };
        let found = selection.recognise(steps, desk) && selection.decide(sight, answer, desk);
        desk.table = Some(moves);
        found
    }

    /// The moves of states with such a key, of which this is one.
    fn table(
        &self,
        outline: &Outline,
        state: impl FnOnce(&mut StateBuf),
        stations: &[u16],
        key: &[u32],
    ) -> Option<Arc<Moves>> {
        if let Some(table) = self.shelf.read().unwrap_or_else(PoisonError::into_inner).tables.get(key) {
            return table.clone();
        }
        let mut shelf = self.shelf.write().unwrap_or_else(PoisonError::into_inner);
        let Shelf { tables, words, met } = &mut *shelf;
        let met = met.get(key).copied();
        let number = tables.len() as u32;
        // Without room for another table, there is no use in making one.
        let is_worth_it = met.unwrap_or(outline.types.len() > 1 && *words <= MOST_WORDS_IN_ALL);
        let new = || {
            let mut bytes = StateBuf::new();
            state(&mut bytes);
            let facts = self.settled.facts(self.layout, outline, stations, &bytes);
            let moves = moves::moves(&self.surveyor, self.layout, outline, &facts, number)?;
            if met.is_none() {
                *words += moves.sets.words();
            }
            let fits = met.unwrap_or(*words <= MOST_WORDS_IN_ALL);
            (moves.all.iter().any(|one| !one.is_seen) && fits).then(|| Arc::new(moves))
        };
        tables.entry(key.to_vec()).or_insert_with(|| if is_worth_it { new() } else { None }).clone()
    }
}

/// What is looked for in one state.
struct Selection<'m> {
    moves: &'m Moves,
    rule: Rule,
    proviso: Proviso,
}

impl Selection<'_> {
    /// The moves that the steps are, if all are known.
    fn recognise(&self, steps: &[Step], desk: &mut Desk) -> bool {
        desk.moves.clear();
        desk.moves.extend(steps.iter().map_while(|step| self.moves.of(*step)));
        desk.moves.len() == steps.len()
    }

    /// As before in such a case, if there was one.
    fn decide(&self, sight: &impl Sight, answer: u32, desk: &mut Desk) -> bool {
        let Desk { stations, moves, case, precedents, keeps, .. } = desk;
        case.clear();
        case.extend([self.moves.number, answer]);
        case.extend(stations.iter().map(|station| u32::from(*station)).chain(moves.iter().copied()));
        let fails = |condition: u32| self.moves.conditions[condition as usize].fails(sight);
        if let Some(decision) = precedents.find(case, fails) {
            keeps.clear();
            keeps.extend(decision.into_iter().flatten());
            return decision.is_some();
        }
        desk.conditions.forget(self.moves.conditions.len());
        let found = self.select(sight, answer, desk);
        desk.precedents.note(&desk.case, &desk.conditions.asked, found.then_some(&desk.keeps));
        found
    }

    fn select(&self, sight: &impl Sight, answer: u32, desk: &mut Desk) -> bool {
        // Sets are small, and their size is known beforehand: so they need not be looked up in the memory.
        match self.moves.sets.width() {
            1 => self.select_in::<1>(sight, answer, desk),
            2 => self.select_in::<2>(sight, answer, desk),
            3 => self.select_in::<3>(sight, answer, desk),
            4 => self.select_in::<4>(sight, answer, desk),
            6 => self.select_in::<6>(sight, answer, desk),
            8 => self.select_in::<8>(sight, answer, desk),
            16 => self.select_in::<16>(sight, answer, desk),
            _ => self.select_in::<MOST_WORDS>(sight, answer, desk),
        }
    }

    fn select_in<const W: usize>(&self, sight: &impl Sight, answer: u32, desk: &mut Desk) -> bool {
        let mut here = Here::<W> { ahead: [u64::MAX; W], possible: [0; W], avoided: [0; W] };
        for (process, station) in desk.stations.iter().enumerate() {
            meet(&mut here.ahead, self.moves.sets.get(self.moves.ahead[process][usize::from(*station)]));
        }
        let (mut seen, mut closing) = ([0; W], [0; W]);
        for &number in &desk.moves {
            add(&mut here.possible, number);
            let one = &self.moves.all[number as usize];
            if one.is_seen {
                add(&mut seen, number);
            } else if one.closes {
                add(&mut closing, number);
            }
        }
        let mut found = None;
        for _ in 0..=answer {
            here.avoid([&seen, &closing]);
            found = self.any(sight, &mut here, desk);
            // Whoever goes round is more likely to meet what was expanded before: so only if there is no other way.
            if found.is_none() && self.proviso == Proviso::Search && closing != [0; W] {
                here.avoid([&seen, &[0; W]]);
                found = self.any(sight, &mut here, desk);
            }
            let Some(set) = found else { break };
            // The next answer has none of these.
            (0..W).for_each(|word| seen[word] |= set[word] & here.possible[word]);
        }
        let Some(set) = found else { return false };
        desk.keeps.clear();
        desk.keeps.extend(desk.moves.iter().map(|number| contains(&set, *number)));
        true
    }

    fn any<const W: usize>(&self, sight: &impl Sight, here: &mut Here<W>, desk: &mut Desk) -> Option<[u64; W]> {
        match self.rule {
            Rule::OneProcess => self.one_process(here, desk),
            Rule::AnySet => self.any_set(sight, here, desk),
        }
    }

    /// All that one process can do, if nobody else ever has anything to do with it.
    fn one_process<const W: usize>(&self, here: &Here<W>, desk: &Desk) -> Option<[u64; W]> {
        let sets = &self.moves.sets;
        desk.moves.iter().find_map(|&seed| {
            let (process, station) = self.moves.all[seed as usize].places[0];
            let own = sets.get::<W>(self.moves.at(process, station));
            let is_private = |number: u32| {
                let one = &self.moves.all[number as usize];
                let is_possible = contains(&here.possible, number);
                let ties = sets.get::<W>(if is_possible { one.against } else { one.enablers });
                let meets_nobody = (0..W).all(|word| ties[word] & here.ahead[word] & !own[word] == 0);
                one.places.len() == 1 && !contains(&here.avoided, number) && meets_nobody
            };
            each(own).all(is_private).then_some(*own)
        })
    }

    /// The smallest set that is found, beginning with each process in turn; of several, the first one.
    fn any_set<const W: usize>(&self, sight: &impl Sight, here: &mut Here<W>, desk: &mut Desk) -> Option<[u64; W]> {
        let (mut least, mut best) = (count(&here.possible), None);
        // The youngest first, as SPIN does: measured, that leaves the fewest states.
        for at in (0..desk.moves.len()).rev() {
            let seed = desk.moves[at];
            if contains(&here.avoided, seed) {
                continue;
            }
            if let Some((size, set)) = self.close(sight, seed, least, here, desk) {
                (least, best) = (size, Some(set));
                if size == 1 {
                    break;
                }
            }
            // Whoever needs this one, or another choice of its process, does no better.
            let (process, station) = self.moves.all[seed as usize].places[0];
            let choices = self.moves.sets.get::<W>(self.moves.at(process, station));
            (0..W).for_each(|word| here.avoided[word] |= choices[word] & here.possible[word]);
        }
        best
    }

    /// The stubborn set with this move in it, if fewer than so many of its moves are possible, and none of them shows.
    fn close<const W: usize>(
        &self,
        sight: &impl Sight,
        seed: u32,
        limit: u32,
        here: &Here<W>,
        desk: &mut Desk,
    ) -> Option<(u32, [u64; W])> {
        let mut set = [0; W];
        add(&mut set, seed);
        let (mut todo, mut size) = (set, 1);
        // Those that are possible first: they decide soonest whether it is worth to go on.
        while let Some((number, is_possible)) = next(&mut todo, &here.possible) {
            let more = if is_possible {
                *self.moves.sets.get(self.moves.all[number as usize].against)
            } else {
                self.reason(number, sight, &set, here, desk)
            };
            for word in 0..W {
                let new = more[word] & here.ahead[word] & !set[word];
                if new & here.avoided[word] != 0 {
                    return None;
                }
                size += (new & here.possible[word]).count_ones();
                set[word] |= new;
                todo[word] |= new;
            }
            if size >= limit {
                return None;
            }
        }
        Some((size, set))
    }

    /// Why a move is not possible: moves one of which must come before it. Of several reasons the one that adds the least.
    fn reason<const W: usize>(
        &self,
        number: u32,
        sight: &impl Sight,
        set: &[u64; W],
        here: &Here<W>,
        desk: &mut Desk,
    ) -> [u64; W] {
        let one = &self.moves.all[number as usize];
        let mut best: Option<(u32, [u64; W])> = None;
        let mut consider = |candidate: &[u64; W]| {
            let cost = here.cost(candidate, set);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *candidate));
            }
            cost == 0
        };
        // Who is elsewhere comes there by something that he can do where he is.
        for &(process, station) in &one.places {
            let at = desk.stations[process];
            let ways = if at == station { None } else { self.moves.ways(process, at, station) };
            if ways.is_some_and(|ways| consider(self.moves.sets.get(ways))) {
                return [0; W];
            }
        }
        for (condition, makers) in &one.conditions {
            let find_out = || self.moves.conditions[*condition as usize].fails(sight);
            if desk.conditions.fails(*condition, find_out) && consider(self.moves.sets.get(*makers)) {
                return [0; W];
            }
        }
        let places = one.places.iter().zip(&one.arrivals);
        for (_, arrivals) in places.filter(|((process, station), _)| desk.stations[*process] != *station) {
            if consider(self.moves.sets.get(*arrivals)) {
                return [0; W];
            }
        }
        best.map_or_else(|| *self.moves.sets.get(one.enablers), |(_, reason)| reason)
    }
}

/// What is the case in a state.
struct Here<const W: usize> {
    /// What may still be taken.
    ahead: [u64; W],
    possible: [u64; W],
    /// Of these, what shows, or has been tried.
    avoided: [u64; W],
}

impl<const W: usize> Here<W> {
    fn avoid(&mut self, [one, other]: [&[u64; W]; 2]) {
        (0..W).for_each(|word| self.avoided[word] = one[word] | other[word]);
    }

    /// How much larger a set becomes by these moves. What is possible counts most.
    #[inline]
    fn cost(&self, moves: &[u64; W], set: &[u64; W]) -> u32 {
        const POSSIBLE: u32 = 1 << 12;
        let mut cost = 0;
        for word in 0..W {
            let new = moves[word] & self.ahead[word] & !set[word];
            if new != 0 {
                cost += new.count_ones() + POSSIBLE * (new & self.possible[word]).count_ones();
            }
        }
        cost
    }
}

impl Moves {
    fn of(&self, step: Step) -> Option<u32> {
        match step.partner() {
            None => {
                let (first, moves) = self.alone.get(step.process())?;
                *moves.get(step.edge().0.checked_sub(*first)? as usize)?
            }
            Some((partner, edge)) => {
                let partners = self.together.get(&(step.process(), step.edge()))?;
                let is_it = |found: &&(usize, crate::EdgeId, u32)| found.0 == partner && found.1 == edge;
                partners.iter().find(is_it).map(|(_, _, number)| *number)
            }
        }
    }
}
