//! Partial-order reduction by stubborn sets.
//!
//! A set of moves is *stubborn* in a state if no sequence of moves outside of it affects the moves inside. With every
//! enabled move it contains all moves that depend on it; with every disabled move it contains a necessary enabling
//! set: moves one of which must occur before it can. It is enough to explore the enabled moves of such a set. This
//! preserves deadlocks and faults and, if the moves of the set are invisible and no move is ignored indefinitely, every
//! stutter-invariant formula.
//!
//! After Valmari: Stubborn sets for reduced state space generation, 1989; necessary enabling sets come from guards,
//! as in Laarman, Pater, van de Pol, Hansen: Guard-based partial-order reduction, STTT 2016.

mod bits;
mod condition;
mod decisions;
mod frozen;
mod moves;
mod proviso;
mod spawned;

pub use condition::StateReader;

use bits::{MOST_WORDS, add, contains, count, each, meet, next};
use decisions::{Case, DecisionCache};
use moves::Moves;

use crate::System;
use crate::footprint::FootprintAnalysis;
use crate::interpret::{Layout, ProcessVector, Step};
use entail_disk::{Reader, Restore, Snapshot, Writer};
use entail_model::StateBuf;
use frozen::FrozenVariables;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

/// In a state with so many enabled steps, the search takes all of them after so many sets.
const MANY_STEPS: usize = 64;
const MOST_ANSWERS: u32 = 8;
/// Limit on the words of all tables together.
const MOST_WORDS_IN_ALL: usize = 1 << 19;

/// Finds stubborn sets in the states of a system.
///
/// A table of moves and their dependencies serves all states with the same process vector and the same frozen values.
/// It is computed for the first of these states. If it is too large, no state of the kind ever gets one: the answer
/// for a state never changes.
pub struct StubbornSets<'s> {
    analysis: FootprintAnalysis<'s>,
    layout: &'s Layout,
    frozen: FrozenVariables,
    rule: Rule,
    proviso: Proviso,
    cache: RwLock<TableCache>,
}

#[derive(Default)]
struct TableCache {
    /// By key, which contains the process vector and the frozen values. `None` where the table is too large or of no
    /// use.
    tables: HashMap<Vec<u32>, Option<Arc<Moves>>>,
    words: usize,
    /// The keys that an interrupted search met, and whether they got a table.
    met: HashMap<Vec<u32>, bool>,
}

/// Keys that are met once the tables are full get none. So a resumed search must know which keys were met before.
impl Restore for StubbornSets<'_> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        let mut met = cache.met.clone();
        met.extend(cache.tables.iter().map(|(key, table)| (key.clone(), table.is_some())));
        met.save(to)?;
        cache.words.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        let (met, words) = (HashMap::load(from)?, usize::load(from)?);
        self.cache = RwLock::new(TableCache { tables: HashMap::new(), words, met });
        Ok(())
    }
}

/// Which sets are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All moves of one process, if no other process ever depends on them: SPIN's ample sets.
    OneProcess,
    /// Any stubborn set.
    AnySet,
}

/// How the ignoring problem is solved: no move may stay enabled and unexplored indefinitely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Statically: every cycle of an automaton has an edge where the search expands a state fully.
    Automata,
    /// The search ([`entail_model::Model::needs_proviso`]).
    Search,
}

/// Buffers that are reused from one state to the next.
#[derive(Default)]
pub struct Scratch {
    stations: Vec<u16>,
    /// The key of the state, its table, and the key of the state before.
    key: Vec<u32>,
    table: Option<Arc<Moves>>,
    last_key: Vec<u32>,
    /// The move of each step.
    moves: Vec<u32>,
    conditions: Conditions,
    case: Case,
    decision_cache: DecisionCache,
    /// For each step, whether the set contains it.
    pub keeps: Vec<bool>,
}

/// The guards of moves in a state, evaluated on demand.
#[derive(Default)]
struct Conditions {
    /// For each guard that was evaluated, whether it fails.
    failing: Vec<Option<bool>>,
    /// The guards that were evaluated, in this order.
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

/// Whether reduction can have an effect on a system.
pub fn is_reducible(system: &System) -> bool {
    !(system.uses_priorities || system.uses_last || system.monitor.is_some())
}

/// Whether the dependency analysis would take too long.
pub fn is_too_large(system: &System) -> bool {
    is_reducible(system) && FootprintAnalysis::tolerant(system).is_none()
}

impl<'s> StubbornSets<'s> {
    /// `None` if there is nothing to gain, or the analysis would take too long.
    pub fn new(system: &'s System, layout: &'s Layout, rule: Rule, proviso: Proviso) -> Option<StubbornSets<'s>> {
        let analysis = if is_reducible(system) { FootprintAnalysis::tolerant(system)? } else { return None };
        let frozen = FrozenVariables::new(system, layout);
        Some(StubbornSets { analysis, layout, frozen, rule, proviso, cache: RwLock::default() })
    }

    /// Looks for a stubborn set in a stable state with these enabled steps. If there is one, `scratch.keeps` tells
    /// which steps it contains. The numbers of the state are read through `reader`; the state itself is only needed
    /// for a new table. Different values of `answer` give sets without common steps.
    pub fn select(
        &self,
        vector: &ProcessVector,
        reader: &impl StateReader,
        state: impl FnOnce(&mut StateBuf),
        steps: &[Step],
        answer: u32,
        scratch: &mut Scratch,
    ) -> bool {
        let Some(first) = steps.first() else { return false };
        // To find the next set takes as long as to find all sets before it.
        if answer > MOST_ANSWERS && steps.len() > MANY_STEPS {
            return false;
        }
        // All steps belong to one process: there is no other interleaving.
        let is_one = |step: &Step| step.process() == first.process() && step.partner().is_none();
        if steps.iter().all(is_one) || steps.iter().any(|step| step.is_timeout()) {
            return false;
        }
        scratch.stations.clear();
        for start in &vector.starts {
            scratch.stations.push(reader.number(start + 1, self.layout.location_bytes as u8) as u16);
        }
        scratch.key.clear();
        self.frozen.key(self.layout, vector, &scratch.stations, reader, &mut scratch.key);
        if scratch.key != scratch.last_key {
            std::mem::swap(&mut scratch.key, &mut scratch.last_key);
            scratch.table = self.table(vector, state, &scratch.stations, &scratch.last_key);
        }
        let Some(moves) = scratch.table.take() else { return false };
        let selection = Selection { moves: &moves, rule: self.rule, proviso: self.proviso };
        let found = selection.recognise(steps, scratch) && selection.decide(reader, answer, scratch);
        scratch.table = Some(moves);
        found
    }

    /// The table for this key, which is the key of the state.
    fn table(
        &self,
        vector: &ProcessVector,
        state: impl FnOnce(&mut StateBuf),
        stations: &[u16],
        key: &[u32],
    ) -> Option<Arc<Moves>> {
        if let Some(table) = self.cache.read().unwrap_or_else(PoisonError::into_inner).tables.get(key) {
            return table.clone();
        }
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        let TableCache { tables, words, met } = &mut *cache;
        let met = met.get(key).copied();
        let number = tables.len() as u32;
        // There is no room for another table.
        let is_worth_it = met.unwrap_or(vector.types.len() > 1 && *words <= MOST_WORDS_IN_ALL);
        let new = || {
            let mut bytes = StateBuf::new();
            state(&mut bytes);
            let facts = self.frozen.facts(self.layout, vector, stations, &bytes);
            let moves = moves::moves(&self.analysis, self.layout, vector, &facts, number)?;
            if met.is_none() {
                *words += moves.sets.words();
            }
            let fits = met.unwrap_or(*words <= MOST_WORDS_IN_ALL);
            (moves.all.iter().any(|one| !one.is_visible) && fits).then(|| Arc::new(moves))
        };
        tables.entry(key.to_vec()).or_insert_with(|| if is_worth_it { new() } else { None }).clone()
    }
}

/// The search for a set in one state.
struct Selection<'m> {
    moves: &'m Moves,
    rule: Rule,
    proviso: Proviso,
}

impl Selection<'_> {
    /// Finds the move of each step; false if one is unknown.
    fn recognise(&self, steps: &[Step], scratch: &mut Scratch) -> bool {
        scratch.moves.clear();
        scratch.moves.extend(steps.iter().map_while(|step| self.moves.of(*step)));
        scratch.moves.len() == steps.len()
    }

    /// Looks the decision up in the cache, or makes it.
    fn decide(&self, reader: &impl StateReader, answer: u32, scratch: &mut Scratch) -> bool {
        let Scratch { stations, moves, case, decision_cache, keeps, .. } = scratch;
        case.clear();
        case.extend([self.moves.number, answer]);
        case.extend(stations.iter().map(|station| u32::from(*station)).chain(moves.iter().copied()));
        let fails = |condition: u32| self.moves.conditions[condition as usize].fails(reader);
        if let Some(decision) = decision_cache.find(case, fails) {
            keeps.clear();
            keeps.extend(decision.into_iter().flatten());
            return decision.is_some();
        }
        scratch.conditions.forget(self.moves.conditions.len());
        let found = self.select(reader, answer, scratch);
        scratch.decision_cache.note(&scratch.case, &scratch.conditions.asked, found.then_some(&scratch.keeps));
        found
    }

    fn select(&self, reader: &impl StateReader, answer: u32, scratch: &mut Scratch) -> bool {
        // The width is a constant, so that sets live in registers.
        match self.moves.sets.width() {
            1 => self.select_in::<1>(reader, answer, scratch),
            2 => self.select_in::<2>(reader, answer, scratch),
            3 => self.select_in::<3>(reader, answer, scratch),
            4 => self.select_in::<4>(reader, answer, scratch),
            6 => self.select_in::<6>(reader, answer, scratch),
            8 => self.select_in::<8>(reader, answer, scratch),
            16 => self.select_in::<16>(reader, answer, scratch),
            _ => self.select_in::<MOST_WORDS>(reader, answer, scratch),
        }
    }

    fn select_in<const W: usize>(&self, reader: &impl StateReader, answer: u32, scratch: &mut Scratch) -> bool {
        let mut current = Current::<W> { ahead: [u64::MAX; W], possible: [0; W], avoided: [0; W] };
        for (process, station) in scratch.stations.iter().enumerate() {
            meet(&mut current.ahead, self.moves.sets.get(self.moves.ahead[process][usize::from(*station)]));
        }
        let (mut visible, mut closing) = ([0; W], [0; W]);
        for &number in &scratch.moves {
            add(&mut current.possible, number);
            let one = &self.moves.all[number as usize];
            if one.is_visible {
                add(&mut visible, number);
            } else if one.closes {
                add(&mut closing, number);
            }
        }
        let mut found = None;
        for _ in 0..=answer {
            current.avoid([&visible, &closing]);
            found = self.any(reader, &mut current, scratch);
            // A move that closes a cycle is more likely to lead to an expanded state, which forces a full expansion.
            if found.is_none() && self.proviso == Proviso::Search && closing != [0; W] {
                current.avoid([&visible, &[0; W]]);
                found = self.any(reader, &mut current, scratch);
            }
            let Some(set) = found else { break };
            // The next answer has no move of this one.
            (0..W).for_each(|word| visible[word] |= set[word] & current.possible[word]);
        }
        let Some(set) = found else { return false };
        scratch.keeps.clear();
        scratch.keeps.extend(scratch.moves.iter().map(|number| contains(&set, *number)));
        true
    }

    fn any<const W: usize>(
        &self,
        reader: &impl StateReader,
        current: &mut Current<W>,
        scratch: &mut Scratch,
    ) -> Option<[u64; W]> {
        match self.rule {
            Rule::OneProcess => self.one_process(current, scratch),
            Rule::AnySet => self.any_set(reader, current, scratch),
        }
    }

    /// All moves of one process, if no move of others that can still occur depends on them.
    fn one_process<const W: usize>(&self, current: &Current<W>, scratch: &Scratch) -> Option<[u64; W]> {
        let sets = &self.moves.sets;
        scratch.moves.iter().find_map(|&seed| {
            let (process, station) = self.moves.all[seed as usize].places[0];
            let own = sets.get::<W>(self.moves.at(process, station));
            let is_private = |number: u32| {
                let one = &self.moves.all[number as usize];
                let is_possible = contains(&current.possible, number);
                let dependencies = sets.get::<W>(if is_possible { one.dependent } else { one.enablers });
                let meets_no_other = (0..W).all(|word| dependencies[word] & current.ahead[word] & !own[word] == 0);
                one.places.len() == 1 && !contains(&current.avoided, number) && meets_no_other
            };
            each(own).all(is_private).then_some(*own)
        })
    }

    /// The smallest of the sets that start from each enabled move; of equal ones the first.
    fn any_set<const W: usize>(
        &self,
        reader: &impl StateReader,
        current: &mut Current<W>,
        scratch: &mut Scratch,
    ) -> Option<[u64; W]> {
        let (mut least, mut best) = (count(&current.possible), None);
        // The youngest process first, as in SPIN: this leaves the fewest states.
        for at in (0..scratch.moves.len()).rev() {
            let seed = scratch.moves[at];
            if contains(&current.avoided, seed) {
                continue;
            }
            if let Some((size, set)) = self.close(reader, seed, least, current, scratch) {
                (least, best) = (size, Some(set));
                if size == 1 {
                    break;
                }
            }
            // A set that contains this move, or a sibling of it, is no smaller.
            let (process, station) = self.moves.all[seed as usize].places[0];
            let choices = self.moves.sets.get::<W>(self.moves.at(process, station));
            (0..W).for_each(|word| current.avoided[word] |= choices[word] & current.possible[word]);
        }
        best
    }

    /// The stubborn set that contains `seed`, if fewer than `limit` of its moves are enabled and none of these is to
    /// be avoided.
    fn close<const W: usize>(
        &self,
        reader: &impl StateReader,
        seed: u32,
        limit: u32,
        current: &Current<W>,
        scratch: &mut Scratch,
    ) -> Option<(u32, [u64; W])> {
        let mut set = [0; W];
        add(&mut set, seed);
        let (mut todo, mut size) = (set, 1);
        // Enabled moves first: they show soonest that a set is too large.
        while let Some((number, is_possible)) = next(&mut todo, &current.possible) {
            let more = if is_possible {
                *self.moves.sets.get(self.moves.all[number as usize].dependent)
            } else {
                self.reason(number, reader, &set, current, scratch)
            };
            for word in 0..W {
                let new = more[word] & current.ahead[word] & !set[word];
                if new & current.avoided[word] != 0 {
                    return None;
                }
                size += (new & current.possible[word]).count_ones();
                set[word] |= new;
                todo[word] |= new;
            }
            if size >= limit {
                return None;
            }
        }
        Some((size, set))
    }

    /// A necessary enabling set of a disabled move. Of several, the one that adds the fewest moves.
    fn reason<const W: usize>(
        &self,
        number: u32,
        reader: &impl StateReader,
        set: &[u64; W],
        current: &Current<W>,
        scratch: &mut Scratch,
    ) -> [u64; W] {
        let one = &self.moves.all[number as usize];
        let mut best: Option<(u32, [u64; W])> = None;
        let mut consider = |candidate: &[u64; W]| {
            let cost = current.cost(candidate, set);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *candidate));
            }
            cost == 0
        };
        // A process that is elsewhere must first leave its location.
        for &(process, station) in &one.places {
            let at = scratch.stations[process];
            let ways = if at == station { None } else { self.moves.ways(process, at, station) };
            if ways.is_some_and(|ways| consider(self.moves.sets.get(ways))) {
                return [0; W];
            }
        }
        for (condition, enabling) in &one.conditions {
            let find_out = || self.moves.conditions[*condition as usize].fails(reader);
            if scratch.conditions.fails(*condition, find_out) && consider(self.moves.sets.get(*enabling)) {
                return [0; W];
            }
        }
        let places = one.places.iter().zip(&one.arrivals);
        for (_, arrivals) in places.filter(|((process, station), _)| scratch.stations[*process] != *station) {
            if consider(self.moves.sets.get(*arrivals)) {
                return [0; W];
            }
        }
        best.map_or_else(|| *self.moves.sets.get(one.enablers), |(_, reason)| reason)
    }
}

/// The sets of moves that describe a state.
struct Current<const W: usize> {
    /// The moves that can still occur.
    ahead: [u64; W],
    possible: [u64; W],
    /// Moves that a set must not contain: visible ones, and those that were tried.
    avoided: [u64; W],
}

impl<const W: usize> Current<W> {
    fn avoid(&mut self, [one, other]: [&[u64; W]; 2]) {
        (0..W).for_each(|word| self.avoided[word] = one[word] | other[word]);
    }

    /// The cost of adding these moves to a set. Enabled moves count most.
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
