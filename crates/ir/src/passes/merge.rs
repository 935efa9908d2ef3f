//! Statements that are nobody else's business are done together with the one before them.
//!
//! Where all that a process can do at a location is its own business, and it can always do something there, it does not
//! matter who moves before it does: so it does not stop there. The edges that lead to the location become atomic. No
//! circle is left without a stop, so that whoever goes round for ever is seen to do so.
//!
//! Where priorities decide who moves, a process goes on only behind something that nobody else notices: so nobody comes first
//! who did not before.

use std::collections::HashSet;

use super::faults::Known as Faults;
use super::owners::Owners;
use crate::{Action, ChannelType, EdgeId, Location, LocationId, ProcessType, ProcessTypeId, Ranges, System};

/// From a location where a process does not stop, there may be so many ways to where it does.
const MOST_WAYS: u32 = 64;
/// And so many steps.
const MOST_STEPS: u32 = 500;

pub(super) fn merge(system: &mut System) {
    if system.uses_last || system.monitor.is_some() {
        return;
    }
    // That those of higher priority come first is seen to below: otherwise, everything would matter to everybody.
    let Some(owners) = Owners::new(&System { uses_priorities: false, ..system.clone() }) else { return };
    let ranges = Ranges::new(system);
    let mut merged = Vec::new();
    for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        if process.provided.is_none() && !process.deterministic {
            let faults = Faults { ranges: Some(&ranges), of: Some(of) };
            let edges = Walk::new(system, &owners, faults, of, process).merged();
            merged.extend(edges.into_iter().filter(|id| !system.uses_priorities || owners.is_unnoticed(of, *id)));
        }
    }
    for id in merged {
        system.edges[id.index()].atomic = true;
    }
}

/// Goes through the locations of a process type.
struct Walk<'a> {
    system: &'a System,
    process: &'a ProcessType,
    /// By location.
    known: Vec<Known>,
    /// Edges that close a circle.
    closing: HashSet<EdgeId>,
}

/// What is known of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Processes stop there.
    Stop,
    /// They need not.
    Perhaps,
    /// It is being found out.
    Open,
    /// They do not, and have so many ways from there.
    Passed(u32),
}

impl<'a> Walk<'a> {
    fn new(
        system: &'a System,
        owners: &Owners,
        faults: Faults<'_>,
        of: ProcessTypeId,
        process: &'a ProcessType,
    ) -> Self {
        let is_passed = |(id, location): (LocationId, &Location)| {
            !(location.end || location.accept || location.progress || owners.is_observed(of, id))
                && system.is_never_stuck(location)
                && location.edges().all(|id| {
                    let target = system.edge(id).target;
                    // Where a run ends that did not stop, others can do nothing any more that they could have done.
                    !faults.may_break(&system.edge(id).action)
                        && owners.is_private(of, id)
                        && target.is_some_and(|target| !owners.is_observed(of, target))
                })
        };
        let locations = (0..).map(LocationId).zip(&process.locations);
        let known = locations.map(|at| if is_passed(at) { Known::Perhaps } else { Known::Stop }).collect();
        Walk { system, process, known, closing: HashSet::new() }
    }

    /// The edges behind which a process goes on at once.
    fn merged(mut self) -> Vec<EdgeId> {
        for at in 0..self.known.len() {
            self.ways_from(LocationId(at as u16), 0);
        }
        let meets = self.system.channel_types.iter().any(ChannelType::is_rendezvous);
        let edges = self.process.locations.iter().flat_map(Location::edges);
        edges
            .filter(|id| {
                let edge = self.system.edge(*id);
                let passed = |target: LocationId| matches!(self.known[target.index()], Known::Passed(_));
                // Whoever takes a message that is handed over at once has the last word on who moves next.
                let hands_over = meets && matches!(edge.action, Action::Send(_));
                edge.target.is_some_and(passed) && !self.closing.contains(id) && !hands_over
            })
            .collect()
    }

    /// In how many ways a process that comes to a location goes on until it stops.
    fn ways_from(&mut self, at: LocationId, steps: u32) -> u32 {
        match self.known[at.index()] {
            Known::Passed(ways) => return ways,
            Known::Stop | Known::Open => return 1,
            Known::Perhaps if steps == MOST_STEPS => {
                self.known[at.index()] = Known::Stop;
                return 1;
            }
            Known::Perhaps => self.known[at.index()] = Known::Open,
        }
        let location = &self.process.locations[at.index()];
        let mut ways = Vec::new();
        for id in location.edges() {
            let Some(target) = self.system.edge(id).target else { continue };
            if self.known[target.index()] == Known::Open {
                self.closing.insert(id);
            }
            ways.push(self.ways_from(target, steps + 1));
        }
        let ways = if is_decided(self.system, location) {
            ways.iter().copied().max().unwrap_or(1)
        } else {
            ways.iter().fold(0, |sum: u32, ways| sum.saturating_add(*ways))
        };
        self.known[at.index()] = if ways > MOST_WAYS { Known::Stop } else { Known::Passed(ways) };
        if ways > MOST_WAYS { 1 } else { ways }
    }
}

/// Whether there is never a choice at a location.
fn is_decided(system: &System, location: &Location) -> bool {
    match system.edges_of(location) {
        [_] => true,
        [one, other] => {
            let opposite = one.action.condition().zip(other.action.condition());
            one.action.waits_for_others()
                || other.action.waits_for_others()
                || opposite.is_some_and(|(one, other)| one.is_opposite(other))
        }
        _ => false,
    }
}
