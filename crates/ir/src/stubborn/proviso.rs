//! The ignoring problem, solved statically: every cycle of states contains a state that is expanded fully.
//!
//! A cycle of states is a cycle in the automaton of every process that moves in it. So it suffices that every cycle
//! of an automaton has an edge where the search expands fully. This depends on the automata alone, not on the order
//! of the search.
//!
//! After Kurshan, Levin, Minea, Peled, Yenigün: Static partial order reduction, TACAS 1998.

use std::collections::HashSet;

use crate::{EdgeId, LocationId, ProcessTypeId, System};

/// For types with more edges, cycles are only approximated.
const MANY: usize = 1000;

/// The edges where a search may have to expand fully.
#[derive(Default)]
pub(super) struct Edges {
    pub visible: HashSet<EdgeId>,
    /// Every cycle of an automaton contains one of these, or a visible one.
    pub closing: HashSet<EdgeId>,
}

/// Prefers edges of large weight among the invisible ones.
pub(super) fn edges(
    system: &System,
    is_visible: impl Fn(ProcessTypeId, LocationId, EdgeId) -> bool,
    weight: impl Fn(EdgeId) -> u32,
) -> Edges {
    let Edges { mut visible, mut closing } = Edges::default();
    for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        let mut others = Vec::new();
        for (from, location) in (0..).map(LocationId).zip(&process.locations) {
            for id in location.edges() {
                if is_visible(of, from, id) {
                    visible.insert(id);
                } else if let Some(target) = system.edge(id).target {
                    // A process that ends is part of a cycle only if an older one starts it again; the oldest that
                    // moves does not end.
                    others.push((weight(id), id, from, target));
                }
            }
        }
        // Light edges are kept as long as they close no cycle.
        others.sort_unstable();
        let mut kept: Vec<Vec<LocationId>> = vec![Vec::new(); process.locations.len()];
        let is_close = others.len() <= MANY;
        for (_, id, from, target) in others {
            // An edge that leads backwards may close a cycle.
            let closes = if is_close { leads_to(&kept, target, from) } else { target <= from };
            if closes {
                closing.insert(id);
            } else {
                kept[from.index()].push(target);
            }
        }
    }
    Edges { visible, closing }
}

/// Whether a path leads from one location to another.
fn leads_to(edges: &[Vec<LocationId>], from: LocationId, to: LocationId) -> bool {
    let (mut known, mut waiting) = (HashSet::from([from]), vec![from]);
    while let Some(at) = waiting.pop() {
        if at == to {
            return true;
        }
        waiting.extend(edges[at.index()].iter().filter(|next| known.insert(**next)));
    }
    false
}
