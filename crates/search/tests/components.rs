//! Accepted runs of small random graphs, against what can be said about a graph by looking at all of it.

use std::collections::HashSet;

use entail_model::{Accepting, Fired, Marks, Model, Sets, State, StateBuf};
use entail_search::{Counterexample, End, ErrorKind, Limits, components};
use entail_store::{Lossless, Numbers};
use entail_testkit::rng::Rng;

/// A graph whose steps are numbered from 0, and belong to sets.
#[derive(Debug, Default)]
struct Rings {
    nodes: Vec<Node>,
    /// From where to where.
    edges: Vec<(usize, usize, Sets)>,
    /// The first so many are wanted of every run, the others only where a node demands them.
    sets: u32,
}

#[derive(Debug, Default)]
struct Node {
    transient: bool,
    sets: Sets,
    demands: Sets,
}

impl Rings {
    /// Node 0 is the initial one, and stable.
    fn random(rng: &mut Rng) -> Rings {
        let (nodes, sets) = (1 + rng.below(9), rng.below(4) as u32);
        let known = sets + rng.below(3) as u32;
        let some = |rng: &mut Rng| Sets((0..known).filter(|_| rng.chance(0.25)).map(|set| 1 << set).sum());
        let node = |rng: &mut Rng, number: usize| Node {
            transient: number > 0 && rng.chance(0.3),
            sets: some(rng),
            demands: if rng.chance(0.5) { some(rng) } else { Sets::default() },
        };
        let nodes: Vec<_> = (0..nodes).map(|number| node(rng, number)).collect();
        let edges = (0..rng.below(2 * nodes.len() + 2))
            .map(|_| (rng.below(nodes.len()), rng.below(nodes.len()), some(rng)))
            .collect();
        Rings { nodes, edges, sets }
    }

    fn leaving(&self, node: usize) -> impl Iterator<Item = u32> {
        (0..self.edges.len() as u32).filter(move |&edge| self.edges[edge as usize].0 == node)
    }

    /// From a stable node to stable ones, through different transient ones.
    fn ways(&self, node: usize) -> Vec<(usize, Sets)> {
        let mut ways = Vec::new();
        self.follow(node, self.nodes[node].sets, &mut Vec::new(), &mut ways);
        ways
    }

    fn follow(&self, node: usize, sets: Sets, passed: &mut Vec<usize>, ways: &mut Vec<(usize, Sets)>) {
        for edge in self.leaving(node) {
            let (_, to, of) = self.edges[edge as usize];
            let sets = sets.and(of);
            if !self.nodes[to].transient {
                ways.push((to, sets));
            } else if !passed.contains(&to) {
                passed.push(to);
                self.follow(to, sets, passed, ways);
                passed.pop();
            }
        }
    }

    fn reachable(&self, from: usize) -> HashSet<usize> {
        let (mut known, mut waiting) = (HashSet::from([from]), vec![from]);
        while let Some(node) = waiting.pop() {
            waiting.extend(self.ways(node).into_iter().map(|(to, _)| to).filter(|to| known.insert(*to)));
        }
        known
    }

    /// Whether there are nodes such that a run can go through all of them again and again, and no others, and takes
    /// steps of all sets that are wanted then.
    fn has_accepted_run(&self) -> bool {
        let reachable: Vec<_> = self.reachable(0).into_iter().collect();
        (1..1u32 << reachable.len()).any(|choice| {
            let chosen = (0..reachable.len()).filter(|bit| choice >> bit & 1 == 1).map(|bit| reachable[bit]);
            let chosen: HashSet<usize> = chosen.collect();
            let inside = |node: usize| self.ways(node).into_iter().filter(|(to, _)| chosen.contains(to));
            let is_round = chosen.iter().all(|&from| {
                let (mut known, mut waiting) = (HashSet::new(), vec![from]);
                while let Some(node) = waiting.pop() {
                    waiting.extend(inside(node).map(|(to, _)| to).filter(|to| known.insert(*to)));
                }
                known == chosen
            });
            let sets =
                chosen.iter().flat_map(|&node| inside(node)).fold(Sets::default(), |all, (_, of)| all.and(of));
            let demands = chosen.iter().fold(self.sets(), |all, &node| all.and(self.nodes[node].demands));
            is_round && sets.contain(demands)
        })
    }

    /// Goes along a counterexample, and sees that it is one.
    fn check(&self, lasso: &Counterexample<u32>) {
        let ErrorKind::Cycle { begins } = lasso.error else { panic!("{lasso:?}") };
        assert_eq!(lasso.start, state_of(0));
        let (mut node, mut turn, mut sets, mut demands) = (0, 0, Sets::default(), self.sets());
        for (index, &step) in lasso.steps.iter().enumerate() {
            let (from, to, of) = self.edges[step as usize];
            assert_eq!(from, node, "{lasso:?}");
            if index == begins {
                turn = node;
                assert!(!self.nodes[node].transient, "{lasso:?}");
            }
            if index >= begins {
                sets = sets.and(of);
                if !self.nodes[from].transient {
                    sets = sets.and(self.nodes[from].sets);
                    demands = demands.and(self.nodes[from].demands);
                }
            }
            node = to;
        }
        assert!(begins < lasso.steps.len() && node == turn && sets.contain(demands), "{lasso:?} in {self:?}");
    }
}

fn state_of(node: usize) -> StateBuf {
    node.to_le_bytes().to_vec()
}

fn node_of(state: &State) -> usize {
    usize::from(state[0])
}

impl Model for Rings {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&state_of(0));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        steps.extend(self.leaving(node_of(state)));
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        *state = state_of(self.edges[step as usize].1);
        Fired::Done
    }

    fn is_transient(&self, state: &State) -> bool {
        self.nodes[node_of(state)].transient
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Accepting for Rings {
    fn sets(&self) -> Sets {
        Sets::first(self.sets)
    }

    fn sets_at(&self, state: &State, _: &[u32]) -> Sets {
        self.nodes[node_of(state)].sets
    }

    fn sets_of(&self, step: u32) -> Sets {
        self.edges[step as usize].2
    }

    fn demands(&self, state: &State, _: &[u32]) -> Sets {
        self.nodes[node_of(state)].demands
    }
}

#[test]
fn accepted_runs_are_found_where_there_are_some() {
    let mut rng = Rng::new(11);
    let (mut found, mut missing) = (0, 0);
    for _ in 0..20_000 {
        let rings = Rings::random(&mut rng);
        let mut store = Numbers::new(Lossless::new(8));
        let outcome = components(&rings, &mut store, &Limits::default(), &mut ());
        assert_eq!(outcome.end == End::Error, rings.has_accepted_run(), "{rings:?}");
        match outcome.counterexample {
            Some(lasso) => {
                found += 1;
                rings.check(&lasso);
            }
            None => {
                missing += 1;
                assert_eq!(outcome.stats.stored, rings.reachable(0).len() as u64);
            }
        }
    }
    assert!(found > 2000 && missing > 2000, "{found} and {missing}");
}
