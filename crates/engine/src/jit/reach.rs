//! Reachability of control locations: front ends leave unreachable ones behind.

use entail_ir::{Edge, EdgeId, Location, LocationId, ProcessTypeId, System};
use std::collections::HashSet;

/// By process type: the locations that are reachable in the control-flow graph.
pub(crate) struct Reach(Vec<HashSet<LocationId>>);

impl Reach {
    pub fn new(system: &System) -> Self {
        let types = (0..).map(ProcessTypeId).zip(&system.process_types);
        Reach(types.map(|(of, process_type)| system.reachable(of, process_type.entry)).collect())
    }

    /// The reachable locations of a type that have edges.
    pub fn locations<'s>(
        &self,
        system: &'s System,
        of: ProcessTypeId,
    ) -> impl Iterator<Item = (LocationId, &'s Location)> {
        let all = (0..).map(LocationId).zip(&system.process_type(of).locations);
        all.filter(move |(id, location)| self.0[of.index()].contains(id) && location.count > 0)
    }

    /// All reachable edges, with the types of their processes.
    pub fn edges<'s>(&self, system: &'s System) -> impl Iterator<Item = (ProcessTypeId, EdgeId, &'s Edge)> {
        let types = (0..system.process_types.len()).map(|id| ProcessTypeId(id as u16));
        types.flat_map(move |of| {
            let ids = self
                .locations(system, of)
                .flat_map(|(_, location)| location.first..location.first + location.count);
            ids.map(move |id| (of, EdgeId(id), system.edge(EdgeId(id))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_path_leads_to_is_reached() {
        let system = entail_ir::text::parse(
            "globals size 0\nprocess p size 0 entry L1 declared s0\n  L1:\n    skip -> L3 @s0\n  L2:\n    \
             skip -> L1 @s0\n  L3: end\n    end -> exit @s0\nstart p\ns0: \"p\" at \"p.pml\":1:1 spin 0\n",
        );
        let system = system.expect("the text is a system");
        let reach = Reach::new(&system);
        let locations: Vec<_> = reach.locations(&system, ProcessTypeId(0)).map(|(id, _)| id.0).collect();
        assert_eq!(locations, [1, 3]);
        assert_eq!(reach.edges(&system).count(), 2);
    }
}
