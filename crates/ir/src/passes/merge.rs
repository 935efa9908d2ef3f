//! Statement merging, as in SPIN: local statements are executed together with the one before them.
//!
//! If all edges of a location are local to the process, and one of them is always enabled, the interleaving with
//! other processes does not matter there. The edges that lead to the location become atomic. Every cycle keeps a
//! location where the process stops, so that cycles stay visible.
//!
//! Where priorities decide who moves, a process continues only after an action that no other process can observe.

use std::collections::HashSet;

use super::faults::Known as Faults;
use super::owners::Owners;
use crate::{Action, ChannelType, EdgeId, Location, LocationId, ProcessType, ProcessTypeId, Ranges, System};

/// From a location without a stop, so many paths may lead to stops.
const MOST_WAYS: u32 = 64;
/// The length of such a path.
const MOST_STEPS: u32 = 500;

pub(super) fn merge(system: &mut System) {
    if system.uses_last || system.monitor.is_some() {
        return;
    }
    // Priorities are dealt with below; otherwise everything would depend on everything.
    let Some(owners) = Owners::new(&System { uses_priorities: false, ..system.clone() }) else { return };
    let ranges = Ranges::new(system);
    let mut merged = Vec::new();
    for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        if process.provided.is_none() && !process.deterministic {
            let faults = Faults { ranges: Some(&ranges), of: Some(of) };
            let edges = Walk::new(system, &owners, faults, of, process).merged();
            merged
                .extend(edges.into_iter().filter(|id| !system.uses_priorities || owners.is_unobservable(of, *id)));
        }
    }
    for id in merged {
        system.edges[id.index()].atomic = true;
    }
}

/// A traversal of the locations of a process type.
struct Walk<'a> {
    system: &'a System,
    process: &'a ProcessType,
    /// By location.
    known: Vec<Known>,
    /// Edges that close a cycle.
    closing: HashSet<EdgeId>,
}

/// The state of the analysis at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Processes stop there.
    Stop,
    /// Processes need not stop there.
    Perhaps,
    /// On the path of the traversal.
    Open,
    /// Processes do not stop there; so many paths lead to stops.
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
                    // A fault would end the run before other processes can move.
                    !faults.may_break(&system.edge(id).action)
                        && owners.is_local(of, id)
                        && target.is_some_and(|target| !owners.is_observed(of, target))
                })
        };
        let locations = (0..).map(LocationId).zip(&process.locations);
        let known = locations.map(|at| if is_passed(at) { Known::Perhaps } else { Known::Stop }).collect();
        Walk { system, process, known, closing: HashSet::new() }
    }

    /// The edges that become atomic.
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
                // The receiver decides whether the sequence stays atomic.
                let hands_over = meets && matches!(edge.action, Action::Send(_));
                edge.target.is_some_and(passed) && !self.closing.contains(id) && !hands_over
            })
            .collect()
    }

    /// The number of paths from a location to stops.
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

/// Whether at most one edge of the location is ever enabled.
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
