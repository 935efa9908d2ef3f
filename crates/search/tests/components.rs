//! Accepted runs of small random graphs, against what can be said about a graph by looking at all of it.

use std::collections::HashSet;

use entail_model::{Accepting, Fired, Marks, Model, Sets, State, StateBuf, Successors};
use entail_search::{Counterexample, End, ErrorKind, Limits, components};
use entail_store::{Lossless, Numbers};
use entail_testkit::rng::Rng;

/// A graph whose steps are numbered from 0, and belong to sets.
#[derive(Debug, Default)]
struct Rings {
    nodes: Vec<Node>,
    /// From where to where.
    edges: Vec<(usize, usize, Sets)>,
    sets: u32,
}

#[derive(Debug, Default)]
struct Node {
    transient: bool,
    sets: Sets,
}

impl Rings {
    /// Node 0 is the initial one, and stable.
    fn random(rng: &mut Rng) -> Rings {
        let (nodes, sets) = (1 + rng.below(9), rng.below(4) as u32);
        let some = |rng: &mut Rng| Sets((0..sets).filter(|_| rng.chance(0.25)).map(|set| 1 << set).sum());
        let node = |rng: &mut Rng, number: usize| Node { transient: number > 0 && rng.chance(0.3), sets: some(rng) };
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

    /// Whether some component has steps of all sets, and at least one.
    fn has_accepted_run(&self) -> bool {
        self.reachable(0).into_iter().any(|node| {
            let component: HashSet<_> =
                self.reachable(node).into_iter().filter(|other| self.reachable(*other).contains(&node)).collect();
            let inside = component.iter().flat_map(|node| self.ways(*node)).filter(|(to, _)| component.contains(to));
            let sets = inside.map(|(_, sets)| sets).reduce(Sets::and);
            sets.is_some_and(|sets| sets.contain(self.sets()))
        })
    }

    /// Goes along a counterexample, and sees that it is one.
    fn check(&self, lasso: &Counterexample<u32>) {
        let ErrorKind::Cycle { begins } = lasso.error else { panic!("{lasso:?}") };
        assert_eq!(lasso.start, state_of(0));
        let (mut node, mut turn, mut sets) = (0, 0, Sets::default());
        for (index, &step) in lasso.steps.iter().enumerate() {
            let (from, to, of) = self.edges[step as usize];
            assert_eq!(from, node, "{lasso:?}");
            if index == begins {
                turn = node;
                assert!(!self.nodes[node].transient, "{lasso:?}");
            }
            if index >= begins {
                let at = if self.nodes[from].transient { Sets::default() } else { self.nodes[from].sets };
                sets = sets.and(of).and(at);
            }
            node = to;
        }
        assert!(begins < lasso.steps.len() && node == turn && sets.contain(self.sets()), "{lasso:?} in {self:?}");
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

    fn sets_at(&self, state: &State, _: &Successors<u32>) -> Sets {
        self.nodes[node_of(state)].sets
    }

    fn sets_of(&self, step: u32) -> Sets {
        self.edges[step as usize].2
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
