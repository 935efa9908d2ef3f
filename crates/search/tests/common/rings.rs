//! Small graphs with infinite runs, and a naive decision of acceptance on them.

use std::collections::HashSet;

use entail_model::{
    AcceptanceMarks, Accepting, Fault, FaultKind, Fired, Marks, Model, Propositional, State, StateBuf, Valuation,
};
use entail_search::{Counterexample, ErrorKind};
use entail_testkit::rng::Rng;

/// A graph whose transitions are numbered from 0 and have acceptance marks.
#[derive(Debug, Default)]
pub struct Rings {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// The first `sets` marks are the acceptance condition; the others occur only in requests of nodes.
    pub sets: u32,
    /// Stable nodes.
    pub initial: Vec<usize>,
    /// Whether edges without a target may be taken: such a run ends in a fault.
    pub faults: bool,
}

#[derive(Debug, Default)]
pub struct Node {
    pub transient: bool,
    pub sets: AcceptanceMarks,
    pub demands: AcceptanceMarks,
    /// The number of words of its state.
    pub words: usize,
    /// Its propositions, one bit for each.
    pub holds: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub sets: AcceptanceMarks,
    /// It has no target, and must never be taken.
    pub ends: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Accepted,
    /// It has no target, and must never be taken.
    Ends,
}

impl Rings {
    pub fn random(rng: &mut Rng) -> Rings {
        let sets = rng.below(4) as u32;
        let known = sets + rng.below(3) as u32;
        Rings::with_sets(rng, sets, known)
    }

    /// With at most one acceptance set, and no requests.
    pub fn with_one_set(rng: &mut Rng) -> Rings {
        let sets = u32::from(rng.chance(0.9));
        let rings = Rings::with_sets(rng, sets, sets);
        let nodes = rings.nodes.into_iter().map(|node| Node { demands: AcceptanceMarks::default(), ..node });
        Rings { nodes: nodes.collect(), ..rings }
    }

    fn with_sets(rng: &mut Rng, sets: u32, known: u32) -> Rings {
        let some =
            |rng: &mut Rng| AcceptanceMarks((0..known).filter(|_| rng.chance(0.25)).map(|set| 1 << set).sum());
        let node = |rng: &mut Rng, number: usize| Node {
            transient: number > 0 && rng.chance(0.3),
            sets: some(rng),
            demands: if rng.chance(0.5) { some(rng) } else { AcceptanceMarks::default() },
            words: *rng.pick(&[1, 1, 3]),
            holds: rng.below(8) as u64,
        };
        let count = 1 + rng.below(9);
        let nodes: Vec<_> = (0..count).map(|number| node(rng, number)).collect();
        let ending = *rng.pick(&[0.0, 0.0, 0.1]);
        let edge = |rng: &mut Rng| Edge {
            from: rng.below(count),
            to: rng.below(count),
            sets: some(rng),
            ends: rng.chance(ending),
        };
        let edges = (0..rng.below(2 * count + 2)).map(|_| edge(rng)).collect();
        let others = (1..count).filter(|&node| !nodes[node].transient && rng.chance(0.1));
        let initial = std::iter::once(0).chain(others).collect();
        Rings { nodes, edges, sets, initial, faults: false }
    }

    /// One acceptance set of edges. All nodes are stable, and the first one is initial.
    pub fn of(edges: &[(usize, usize, Kind)]) -> Rings {
        let count = edges.iter().map(|(from, to, _)| 1 + *from.max(to)).max().unwrap_or(1);
        let nodes = (0..count).map(|_| Node { words: 1, ..Node::default() }).collect();
        let edge = |&(from, to, kind): &(usize, usize, Kind)| {
            let sets = if kind == Kind::Accepted { AcceptanceMarks::first(1) } else { AcceptanceMarks::default() };
            Edge { from, to, sets, ends: kind == Kind::Ends }
        };
        Rings { nodes, edges: edges.iter().map(edge).collect(), sets: 1, initial: vec![0], faults: false }
    }

    fn leaving(&self, node: usize) -> impl Iterator<Item = u32> {
        (0..self.edges.len() as u32).filter(move |&edge| self.edges[edge as usize].from == node)
    }

    /// The paths from a stable node to stable ones, through different transient ones.
    pub fn ways(&self, node: usize) -> Vec<(usize, AcceptanceMarks)> {
        let mut ways = Vec::new();
        self.follow(node, self.nodes[node].sets, &mut Vec::new(), &mut ways);
        ways
    }

    fn follow(
        &self,
        node: usize,
        sets: AcceptanceMarks,
        passed: &mut Vec<usize>,
        ways: &mut Vec<(usize, AcceptanceMarks)>,
    ) {
        for edge in self.leaving(node) {
            let Edge { to, sets: of, ends, .. } = self.edges[edge as usize];
            let sets = sets.and(of);
            if ends {
                continue;
            }
            if !self.nodes[to].transient {
                ways.push((to, sets));
            } else if !passed.contains(&to) {
                passed.push(to);
                self.follow(to, sets, passed, ways);
                passed.pop();
            }
        }
    }

    /// Whether an edge without a target leaves a node, or a transient one behind it.
    pub fn ends(&self, node: usize) -> bool {
        let (mut known, mut waiting) = (HashSet::new(), vec![node]);
        while let Some(node) = waiting.pop() {
            for Edge { to, ends, .. } in self.leaving(node).map(|edge| self.edges[edge as usize]) {
                if ends {
                    return true;
                }
                waiting.extend((self.nodes[to].transient && known.insert(to)).then_some(to));
            }
        }
        false
    }

    /// All reachable stable nodes.
    pub fn reachable(&self) -> HashSet<usize> {
        let mut known: HashSet<_> = self.initial.iter().copied().collect();
        let mut waiting = self.initial.clone();
        while let Some(node) = waiting.pop() {
            waiting.extend(self.ways(node).into_iter().map(|(to, _)| to).filter(|to| known.insert(*to)));
        }
        known
    }

    /// Whether an edge is reachable that must never be taken.
    pub fn has_end(&self) -> bool {
        let (mut known, mut waiting): (HashSet<_>, _) = (HashSet::new(), self.initial.clone());
        while let Some(node) = waiting.pop() {
            for edge in self.leaving(node).map(|edge| self.edges[edge as usize]) {
                if edge.ends {
                    return true;
                }
                waiting.extend(known.insert(edge.to).then_some(edge.to));
            }
        }
        false
    }

    /// Whether there is a set of nodes such that a run that visits exactly these infinitely often is accepted.
    pub fn has_accepted_run(&self) -> bool {
        let reachable: Vec<_> = self.reachable().into_iter().collect();
        self.accepted_rounds(&reachable).next().is_some()
    }

    /// All such sets among these nodes.
    pub fn accepted_rounds(&self, among: &[usize]) -> impl Iterator<Item = HashSet<usize>> {
        self.rounds(among).filter(|round| self.is_accepted(round))
    }

    /// All subsets of these nodes such that a run can visit exactly these infinitely often.
    pub fn rounds(&self, among: &[usize]) -> impl Iterator<Item = HashSet<usize>> {
        let choices = (1..1u32 << among.len()).map(|choice| {
            let chosen = (0..among.len()).filter(|bit| choice >> bit & 1 == 1).map(|bit| among[bit]);
            chosen.collect::<HashSet<usize>>()
        });
        choices.filter(|chosen| {
            chosen.iter().all(|&from| {
                let (mut known, mut waiting) = (HashSet::new(), vec![from]);
                while let Some(node) = waiting.pop() {
                    waiting.extend(self.inside(node, chosen).map(|(to, _)| to).filter(|to| known.insert(*to)));
                }
                known == *chosen
            })
        })
    }

    /// Whether a run that takes all paths between these nodes infinitely often is accepted.
    pub fn is_accepted(&self, round: &HashSet<usize>) -> bool {
        let ways = round.iter().flat_map(|&node| self.inside(node, round));
        let demands = round.iter().fold(self.acceptance(), |all, &node| all.and(self.nodes[node].demands));
        ways.fold(AcceptanceMarks::default(), |all, (_, of)| all.and(of)).contain(demands)
    }

    fn inside(&self, node: usize, among: &HashSet<usize>) -> impl Iterator<Item = (usize, AcceptanceMarks)> {
        self.ways(node).into_iter().filter(|(to, _)| among.contains(to))
    }

    /// Replays a counterexample and checks that it is one.
    pub fn check(&self, found: &Counterexample<u32>) {
        let start = node_of(&found.start);
        assert!(self.initial.contains(&start), "{found:?}");
        let edges: Vec<_> = found.steps.iter().map(|&step| self.edges[step as usize]).collect();
        let sources = std::iter::once(start).chain(edges.iter().map(|edge| edge.to));
        assert!(edges.iter().zip(sources).all(|(edge, source)| edge.from == source), "{found:?} in {self:?}");
        let ends = edges.iter().position(|edge| edge.ends);
        match found.error {
            ErrorKind::Fault(_) => assert_eq!(ends, edges.len().checked_sub(1), "{found:?} in {self:?}"),
            ErrorKind::Cycle { begins } => {
                let is_accepted = self.is_accepted_round(&edges[begins..]);
                assert!(ends.is_none() && is_accepted, "{found:?} in {self:?}");
            }
            ErrorKind::InvalidEnd => panic!("nobody has looked for one: {found:?}"),
        }
    }

    /// Whether a run that takes these steps infinitely often is accepted.
    pub fn is_accepted_round(&self, edges: &[Edge]) -> bool {
        let (Some(first), Some(last)) = (edges.first(), edges.last()) else { return false };
        let stable = edges.iter().map(|edge| &self.nodes[edge.from]).filter(|node| !node.transient);
        let (sets, demands) = stable
            .fold((AcceptanceMarks::default(), self.acceptance()), |(sets, demands), node| {
                (sets.and(node.sets), demands.and(node.demands))
            });
        let sets = edges.iter().fold(sets, |sets, edge| sets.and(edge.sets));
        first.from == last.to && !self.nodes[first.from].transient && sets.contain(demands)
    }

    fn state_of(&self, node: usize) -> StateBuf {
        node.to_le_bytes().repeat(self.nodes[node].words)
    }
}

pub fn node_of(state: &State) -> usize {
    usize::from(state[0])
}

impl Model for Rings {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.initial.iter().for_each(|&node| each(&self.state_of(node)));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        steps.extend(self.leaving(node_of(state)));
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        let Edge { to, ends, .. } = self.edges[step as usize];
        *state = self.state_of(to);
        let kind = if self.faults { FaultKind::Index } else { FaultKind::ClaimEnd };
        let fault = Fault { kind, place: step, times: 1 };
        if ends { Fired::Broken(fault) } else { Fired::Done }
    }

    fn is_transient(&self, state: &State) -> bool {
        self.nodes[node_of(state)].transient
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Propositional for Rings {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        Valuation { holds: self.nodes[node_of(state)].holds, ..Valuation::default() }
    }
}

impl Accepting for Rings {
    fn acceptance(&self) -> AcceptanceMarks {
        AcceptanceMarks::first(self.sets)
    }

    fn acceptance_at(&self, state: &State, _: &[u32]) -> AcceptanceMarks {
        self.nodes[node_of(state)].sets
    }

    fn acceptance_of(&self, step: u32) -> AcceptanceMarks {
        self.edges[step as usize].sets
    }

    fn streett_requests(&self, state: &State, _: &[u32]) -> AcceptanceMarks {
        self.nodes[node_of(state)].demands
    }
}
