//! Which parts of a model a search has been to.

use entail_ir::interpret::Step;
use entail_ir::{EdgeId, LocationId, ProcessTypeId, StatementId, System};
use std::collections::HashSet;

/// The edges that were taken.
pub struct Coverage {
    fired: Vec<bool>,
}

/// A statement that was never even considered, because no process came to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreached {
    pub process_type: ProcessTypeId,
    pub location: LocationId,
    pub statement: StatementId,
}

impl Coverage {
    pub fn new(system: &System) -> Coverage {
        Coverage { fired: vec![false; system.edges.len()] }
    }

    #[inline]
    pub fn mark(&mut self, step: Step) {
        self.mark_edge(step.edge());
        if let Some((_, edge)) = step.partner() {
            self.mark_edge(edge);
        }
    }

    fn mark_edge(&mut self, edge: EdgeId) {
        // A model that cannot start takes a step with no edge.
        if let Some(fired) = self.fired.get_mut(edge.index()) {
            *fired = true;
        }
    }

    /// What no process came to, type by type and in the order of locations.
    pub fn unreached(&self, system: &System) -> Vec<Unreached> {
        let types = (0..system.process_types.len()).map(|index| ProcessTypeId(index as u16));
        types.flat_map(|id| self.unreached_in(id, system)).collect()
    }

    fn unreached_in(&self, id: ProcessTypeId, system: &System) -> Vec<Unreached> {
        let process_type = system.process_type(id);
        let reached = self.reached_in(id, system);
        let mut considered: HashSet<StatementId> = HashSet::new();
        for location in &reached {
            let location = &process_type.locations[location.index()];
            considered.extend(system.edges_of(location).iter().map(|edge| edge.statement));
        }
        let mut unreached = Vec::new();
        for (number, location) in process_type.locations.iter().enumerate() {
            let location_id = LocationId(number as u16);
            if reached.contains(&location_id) {
                continue;
            }
            for edge in system.edges_of(location) {
                if !considered.contains(&edge.statement) {
                    let statement = edge.statement;
                    unreached.push(Unreached { process_type: id, location: location_id, statement });
                }
            }
        }
        unreached
    }

    /// Where processes of this type have been.
    fn reached_in(&self, id: ProcessTypeId, system: &System) -> HashSet<LocationId> {
        let process_type = system.process_type(id);
        let mut reached = HashSet::new();
        if self.has_started(id, system) {
            reached.insert(process_type.entry);
        }
        for location in &process_type.locations {
            for edge in location.first..location.first + location.count {
                if self.fired[edge as usize] {
                    reached.extend(system.edge(EdgeId(edge)).target);
                }
            }
        }
        reached
    }

    /// Whether some process of this type was ever there.
    fn has_started(&self, id: ProcessTypeId, system: &System) -> bool {
        let runs = |edge: usize| self.fired[edge] && starts(&system.edges[edge].action, id);
        system.start.iter().any(|start| start.process_type == id) || (0..system.edges.len()).any(runs)
    }
}

fn starts(action: &entail_ir::Action, id: ProcessTypeId) -> bool {
    use entail_ir::{Action, BlockNode};
    match action {
        Action::Run(run, then) => run.process_type == id || starts(then, id),
        Action::Deterministic(block) => block.nodes.iter().any(|node| match node {
            BlockNode::Do { action, .. } => starts(action, id),
            BlockNode::Choose { .. } | BlockNode::Jump(_) => false,
        }),
        Action::Skip
        | Action::Guard(_)
        | Action::Else
        | Action::Assign(..)
        | Action::Send(_)
        | Action::Receive(_)
        | Action::Assert(_)
        | Action::Print(..)
        | Action::PrintName(_)
        | Action::SetPriority(_)
        | Action::End => false,
    }
}
