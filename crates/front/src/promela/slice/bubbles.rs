//! Parts of a process without relevant statements: bubbles, which have a single exit, and ends, after which no
//! relevant statement follows.
//!
//! All paths through a bubble join at its post-dominator. A process cannot stay in it: it contains no loop, and some
//! statement is always enabled. So the path through it does not matter. After Holzmann's notes on slicing: bubbles
//! are found by dominators in both directions. A bubble ends at the head of a loop: a loop that may not terminate
//! must stay one.

use super::criterion::Preserve;
use super::dominators::{Dominance, immediate, postorder, reversed};
use super::effects::Effects;
use super::graph::{EdgeId, Graph};

/// The location of a process, up to bubbles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// At a location.
    At(usize),
    /// After the last relevant statement.
    Over,
}

#[derive(Debug, Default)]
pub struct Bubbles {
    /// For each location, the equivalent one.
    pub stations: Vec<Station>,
}

/// The relevant part of a process.
pub struct Interest<'a, 'p> {
    pub graph: &'a Graph<'p>,
    pub effects: &'a [Effects],
    /// Whether each statement is relevant.
    pub relevant: &'a [bool],
    pub preserve: Preserve,
    /// Whether it matters when the process ends.
    pub terminations: bool,
    /// Which locations lie on a cycle.
    pub cyclic: &'a [bool],
}

impl Interest<'_, '_> {
    pub fn bubbles(&self) -> Bubbles {
        let successors = self.graph.successors();
        let live = self.live(&successors);
        let mut inside = self.candidates(&successors, &live);
        self.break_loops(&successors, &mut inside);
        let count = successors.len();
        let (over, sink) = (count, count + 1);
        loop {
            let mut ways: Vec<Vec<usize>> = Vec::with_capacity(count + 2);
            for at in 0..count {
                let to = |to: &usize| if live[*to] { *to } else { over };
                ways.push(if inside[at] { successors[at].iter().map(to).collect() } else { vec![sink] });
            }
            ways.extend([vec![sink], Vec::new()]);
            let after = immediate(sink, &reversed(&ways));
            let parting: Vec<_> =
                (0..count).filter(|&at| inside[at] && after[at].is_none_or(|to| to == sink)).collect();
            if !parting.is_empty() {
                parting.into_iter().for_each(|at| inside[at] = false);
                continue;
            }
            // The exit of each location's bubble; bubbles may be long, so that each is traversed once.
            let mut outside = vec![usize::MAX; count + 1];
            outside[over] = over;
            for start in 0..count {
                let (mut at, mut passed) = (start, Vec::new());
                while outside[at] == usize::MAX && inside[at] {
                    passed.push(at);
                    at = after[at].expect("ways through a bubble meet");
                }
                let end = if outside[at] == usize::MAX { at } else { outside[at] };
                outside[at] = end;
                passed.into_iter().for_each(|at| outside[at] = end);
            }
            let station = |start: usize| match outside[start] {
                at if at == over || !live[start] => Station::Over,
                at => Station::At(at),
            };
            return Bubbles { stations: (0..count).map(station).collect() };
        }
    }

    /// Whether a statement is enabled at a location, whatever the values of variables.
    pub fn is_open(&self, at: usize) -> bool {
        self.graph.locations[at].edges.iter().any(|edge| self.effects[edge.0].always)
    }

    /// The locations from which a relevant statement is reachable.
    fn live(&self, successors: &[Vec<usize>]) -> Vec<bool> {
        let count = successors.len();
        if self.preserve == Preserve::Ends || self.terminations {
            return vec![true; count];
        }
        let is_of_interest = |at: usize| {
            let location = &self.graph.locations[at];
            let is_relevant = |edge: &EdgeId| self.relevant[edge.0];
            location.exact
                || location.edges.iter().any(is_relevant)
                // No other process moves while such a loop runs.
                || self.cyclic[at] && (self.preserve >= Preserve::Cycles || location.indivisible)
                // To block there is an error.
                || location.deterministic && !location.edges.is_empty() && !self.is_open(at)
        };
        let mut live = vec![false; count];
        let before = reversed(successors);
        let mut pending: Vec<_> = (0..count).filter(|&at| is_of_interest(at)).collect();
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut live[at], true) {
                pending.extend(&before[at]);
            }
        }
        live
    }

    /// Locations without relevant statements where the process cannot block.
    fn candidates(&self, successors: &[Vec<usize>], live: &[bool]) -> Vec<bool> {
        // Another process may depend on whether this one offers a rendezvous, or has ended.
        let meets = |edge: &EdgeId| self.relevant[edge.0] && self.effects[edge.0].meets;
        let is_seen = |at: usize| {
            self.graph.locations[at].edges.iter().any(meets) || self.terminations && at == self.graph.exit
        };
        let is_candidate = |at: usize| {
            let location = &self.graph.locations[at];
            live[at]
                && !location.exact
                && at != self.graph.exit
                && self.is_open(at)
                && !location.edges.iter().any(|edge| self.relevant[edge.0])
                && !successors[at].iter().any(|&to| is_seen(to))
        };
        (0..successors.len()).map(is_candidate).collect()
    }

    fn break_loops(&self, successors: &[Vec<usize>], inside: &mut [bool]) {
        let before = Dominance::of(&immediate(self.graph.entry, successors));
        for (at, next) in successors.iter().enumerate() {
            for &to in next {
                if before.dominates(to, at) {
                    inside[to] = false;
                }
            }
        }
        // A loop with several entries has no head: no edge into it is part of a bubble.
        let mut waits_for: Vec<usize> =
            successors.iter().map(|next| next.iter().filter(|&&to| inside[to]).count()).collect();
        let mut leaves = vec![false; inside.len()];
        let leading = reversed(successors);
        let mut pending: Vec<_> = (0..inside.len()).filter(|&at| inside[at] && waits_for[at] == 0).collect();
        while let Some(at) = pending.pop() {
            leaves[at] = true;
            for &from in leading[at].iter().filter(|&&from| inside[from]) {
                waits_for[from] -= 1;
                if waits_for[from] == 0 {
                    pending.push(from);
                }
            }
        }
        for at in 0..inside.len() {
            inside[at] &= leaves[at];
        }
    }
}

/// Which nodes lie on a cycle: those that share a component with another one, or follow themselves.
pub fn on_cycles(successors: &[Vec<usize>]) -> Vec<bool> {
    let count = successors.len();
    // All nodes in postorder, the first finished in front; then, in reverse order, the predecessors of each.
    let mut everywhere = successors.to_vec();
    everywhere.push((0..count).collect());
    let mut order = postorder(count, &everywhere);
    order.pop();
    let before = reversed(successors);
    let mut component = vec![usize::MAX; count];
    let mut sizes = Vec::new();
    for &start in order.iter().rev() {
        let (mut size, mut pending) = (0, vec![start]);
        while let Some(at) = pending.pop() {
            if component[at] == usize::MAX {
                component[at] = sizes.len();
                size += 1;
                pending.extend(&before[at]);
            }
        }
        sizes.push(size);
    }
    (0..count).map(|at| sizes[component[at]] > 1 || successors[at].contains(&at)).collect()
}
