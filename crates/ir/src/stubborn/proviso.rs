//! Nobody is passed over for ever: in every circle of states there is one in which all that is possible is taken.
//!
//! Whoever goes round in a circle of states goes round in the automata of the processes that move. So it is enough that every
//! circle in an automaton has an edge where a search does not leave anything out. That depends on the automata alone: it is
//! the same for every order of search, and nothing has to be remembered.
//!
//! After Kurshan, Levin, Minea, Peled, Yenigün: Static partial order reduction, TACAS 1998.

use std::collections::HashSet;

use crate::{EdgeId, LocationId, ProcessTypeId, System};

/// Types with more edges than this are not looked at so closely.
const MANY: usize = 1000;

/// The edges where a search may have to take all that is possible.
#[derive(Default)]
pub(super) struct Edges {
    pub seen: HashSet<EdgeId>,
    /// Every circle in an automaton has one of these, or one that is seen.
    pub closing: HashSet<EdgeId>,
}

/// Finds them: of those that are not seen anyway, rather those of great weight.
pub(super) fn edges(
    system: &System,
    is_seen: impl Fn(ProcessTypeId, LocationId, EdgeId) -> bool,
    weight: impl Fn(EdgeId) -> u32,
) -> Edges {
    let Edges { mut seen, mut closing } = Edges::default();
    for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        let mut others = Vec::new();
        for (from, location) in (0..).map(LocationId).zip(&process.locations) {
            for id in location.edges() {
                if is_seen(of, from, id) {
                    seen.insert(id);
                } else if let Some(target) = system.edge(id).target {
                    // Who ends goes round only if somebody older starts him again; of all that move, the oldest does not
                    // end.
                    others.push((weight(id), id, from, target));
                }
            }
        }
        // The light ones first, as long as they close no circle.
        others.sort_unstable();
        let mut kept: Vec<Vec<LocationId>> = vec![Vec::new(); process.locations.len()];
        let is_close = others.len() <= MANY;
        for (_, id, from, target) in others {
            // Without looking, an edge that leads backwards may close one.
            let closes = if is_close { leads_to(&kept, target, from) } else { target <= from };
            if closes {
                closing.insert(id);
            } else {
                kept[from.index()].push(target);
            }
        }
    }
    Edges { seen, closing }
}

/// Whether there is a way from one location to another.
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
