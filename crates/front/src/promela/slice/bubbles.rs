//! Parts of a process that do nothing of interest: bubbles, which are entered, passed in some way, and left at one place;
//! and ends, behind which nothing of interest comes.
//!
//! All ways through a bubble meet where its post-dominator is, and no process can stay in it: there is no loop in it, and
//! something can always be done. Then it does not matter what is done, nor whether it takes time.
//! After Holzmann's notes on slicing: a bubble is found by dominators in both directions. Where a loop begins, which the
//! dominators tell, no bubble goes on: a loop that may never be left must stay one.

use super::criterion::Preserve;
use super::dominators::{Dominance, immediate, postorder, reversed};
use super::effects::Effects;
use super::graph::{EdgeId, Graph};

/// Where control is, as far as that is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// At a location.
    At(usize),
    /// Where nothing of interest can come.
    Over,
}

#[derive(Debug, Default)]
pub struct Bubbles {
    /// For each location, where it is as good as.
    pub stations: Vec<Station>,
}

/// What of a process is of interest.
pub struct Interest<'a, 'p> {
    pub graph: &'a Graph<'p>,
    pub effects: &'a [Effects],
    /// Which statements are.
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
            // Where each location's way out of its bubble ends; bubbles may be long, so each is gone through once.
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

    /// Whether something can be done at a location whatever the values of variables are.
    pub fn is_open(&self, at: usize) -> bool {
        self.graph.locations[at].edges.iter().any(|edge| self.effects[edge.0].always)
    }

    /// From where something of interest can come.
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
                // Nobody else moves while such a loop does.
                || self.cyclic[at] && (self.preserve >= Preserve::Cycles || location.indivisible)
                // To be stuck there is an error.
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

    /// Locations where nothing of interest happens and nobody waits.
    fn candidates(&self, successors: &[Vec<usize>], live: &[bool]) -> Vec<bool> {
        // Another process may see whether this one is ready to meet it, or has ended.
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
        // Loops with several entries have no beginning: nothing that leads into one is in a bubble.
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
    // All nodes, those that are done first at the front; then, backwards, what leads to each.
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
