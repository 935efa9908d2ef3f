//! Explicit graphs as models: the expected result of a search is visible in the graph.

use entail_model::{Fault, FaultKind, Fired, Marks, Model, State, StateBuf};

use crate::rng::Rng;

/// A model given edge by edge. Its states are nodes, numbered from 0; its steps are edges, numbered per node.
///
/// ```
/// # use entail_testkit::graph::Graph;
/// let fork = Graph::starting_in(0).edge(0, 1).edge(0, 2).valid_end(1); // node 2 is an invalid end
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    initial: Vec<usize>,
    nodes: Vec<Node>,
}

/// The index of the edge among those of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge(pub u32);

#[derive(Clone, Debug, Default)]
struct Node {
    /// For each edge, its target and its fault, if any.
    edges: Vec<(usize, Fired)>,
    transient: bool,
    valid_end: bool,
}

impl Graph {
    /// A graph that starts in node `initial`.
    pub fn starting_in(initial: usize) -> Graph {
        Graph::default().initial(initial)
    }

    /// One more initial state.
    pub fn initial(mut self, node: usize) -> Graph {
        self.node(node);
        self.initial.push(node);
        self
    }

    pub fn edge(self, from: usize, to: usize) -> Graph {
        self.with(from, to, Fired::Done)
    }

    /// A path of edges.
    pub fn path(self, nodes: &[usize]) -> Graph {
        nodes.windows(2).fold(self, |graph, pair| graph.edge(pair[0], pair[1]))
    }

    /// An edge on which an assertion or the like fails `times` times, and that can be taken nonetheless.
    pub fn failing(self, from: usize, to: usize, kind: FaultKind, times: u32) -> Graph {
        let place = from as u32;
        self.with(from, to, Fired::Failed(Fault { kind, place, times }))
    }

    /// An edge that faults before its target.
    pub fn broken(self, from: usize, kind: FaultKind, times: u32) -> Graph {
        let place = from as u32;
        self.with(from, from, Fired::Broken(Fault { kind, place, times }))
    }

    pub fn transient(mut self, node: usize) -> Graph {
        self.node(node).transient = true;
        self
    }

    pub fn valid_end(mut self, node: usize) -> Graph {
        self.node(node).valid_end = true;
        self
    }

    /// A small random graph. Each graph has its own density, so that there are sparse ones and dense ones,
    /// ones without any fault, and deep ones, whose edges lead to nodes nearby.
    pub fn random(rng: &mut Rng) -> Graph {
        let size = 1 + rng.below(40);
        let degree = 2 + rng.below(2);
        let reach = *rng.pick(&[2, 5, size]);
        let [transient, faulty, ends] = [0.3, 0.15, 1.0].map(|most| most * *rng.pick(&[0.0, 0.3, 1.0]));
        let mut graph = Graph::default();
        for node in 0..size {
            if rng.chance(transient) {
                graph = graph.transient(node);
            }
            if rng.chance(ends) {
                graph = graph.valid_end(node);
            }
            let edges = if rng.chance(0.1) { 0 } else { 1 + rng.below(degree) };
            for _ in 0..edges {
                let to = (node + rng.below(reach + 1)) % size;
                let fired = if rng.chance(faulty) { random_fault(rng) } else { Fired::Done };
                graph = graph.with(node, to, fired);
            }
        }
        for _ in 0..1 + rng.below(2) {
            graph = graph.initial(rng.below(size));
        }
        graph
    }

    fn with(mut self, from: usize, to: usize, fired: Fired) -> Graph {
        self.node(to);
        self.node(from).edges.push((to, fired));
        self
    }

    fn node(&mut self, node: usize) -> &mut Node {
        if node >= self.nodes.len() {
            self.nodes.resize(node + 1, Node::default());
        }
        &mut self.nodes[node]
    }
}

fn random_fault(rng: &mut Rng) -> Fired {
    let kind = *rng.pick(&[FaultKind::Assertion, FaultKind::Index, FaultKind::DivisionByZero]);
    let fault = Fault { kind, place: rng.below(100) as u32, times: 1 + rng.below(3) as u32 };
    if rng.chance(0.5) { Fired::Failed(fault) } else { Fired::Broken(fault) }
}

/// A node's number without leading zeros, so that lengths vary; node 0 is the empty state.
pub fn state_of(node: usize) -> StateBuf {
    let mut state = StateBuf::new();
    encode(node, &mut state);
    state
}

pub fn node_of(state: &State) -> usize {
    state.iter().rev().fold(0, |node, &byte| node << 8 | usize::from(byte))
}

fn encode(mut node: usize, state: &mut StateBuf) {
    state.clear();
    while node > 0 {
        state.push(node as u8);
        node >>= 8;
    }
}

impl Model for Graph {
    type Step = Edge;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.initial.iter().for_each(|&node| each(&state_of(node)));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Edge>) {
        let edges = self.nodes[node_of(state)].edges.len();
        steps.extend((0..edges as u32).map(Edge));
    }

    fn fire(&self, Edge(edge): Edge, state: &mut StateBuf) -> Fired {
        let (to, fired) = self.nodes[node_of(state)].edges[edge as usize];
        match fired {
            Fired::Done | Fired::Failed(_) => encode(to, state),
            Fired::Broken(_) => state.fill(0xff),
        }
        fired
    }

    fn is_transient(&self, state: &State) -> bool {
        self.nodes[node_of(state)].transient
    }

    fn marks(&self, state: &State) -> Marks {
        Marks { valid_end: self.nodes[node_of(state)].valid_end, ..Marks::default() }
    }
}
