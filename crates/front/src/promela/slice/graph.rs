//! The control flow graph of a process.
//!
//! It is coarser than the graph that is lowered: a jump is always a step here.

use crate::promela::ast::{Declarator, Ident, Step, Stmt, Structure};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub usize);

/// The label of an edge.
#[derive(Clone, Copy, Debug)]
pub enum EdgeLabel<'p> {
    Stmt(&'p Stmt),
    /// A declaration after the first statement assigns an initial value.
    Declared(&'p Declarator),
    /// A part of a `for`.
    Loop(&'p Stmt, LoopPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopPart {
    Start,
    Test,
    Next,
    Leave,
}

#[derive(Clone, Debug)]
pub struct Edge<'p> {
    pub label: EdgeLabel<'p>,
    pub to: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The outgoing edges.
    pub edges: Vec<EdgeId>,
    /// The location and the number of steps through it must not change.
    pub exact: bool,
    /// May be inside `atomic` or `d_step`.
    pub indivisible: bool,
    /// May be inside `d_step`.
    pub deterministic: bool,
    /// Locations that control passes on to without a step.
    passes: Vec<usize>,
}

#[derive(Debug, Default)]
pub struct Graph<'p> {
    pub locations: Vec<Location>,
    pub edges: Vec<Edge<'p>>,
    pub entry: usize,
    pub exit: usize,
    /// The reachable locations.
    pub reached: Vec<bool>,
    /// By address of a statement in the tree: the edges of simple statements, and the first and last location of
    /// compound ones.
    pub edge_of: HashMap<*const Stmt, Vec<EdgeId>>,
    pub declared: HashMap<*const Declarator, EdgeId>,
    pub extents: HashMap<*const Stmt, (usize, usize)>,
}

impl<'p> Graph<'p> {
    pub fn of(body: &'p [Step]) -> Graph<'p> {
        let mut builder = Builder::default();
        builder.graph.entry = builder.location();
        let entry = builder.graph.entry;
        builder.graph.exit = builder.top(body, entry);
        builder.finish()
    }

    pub fn successors(&self) -> Vec<Vec<usize>> {
        let of = |location: &Location| location.edges.iter().map(|edge| self.edges[edge.0].to).collect();
        self.locations.iter().map(of).collect()
    }
}

#[derive(Default)]
struct Builder<'p> {
    graph: Graph<'p>,
    labels: HashMap<Arc<str>, Vec<usize>>,
    jumps: Vec<(usize, &'p Stmt, &'p Ident)>,
    /// The exits of the surrounding loops.
    loops: Vec<usize>,
    indivisible: usize,
    deterministic: usize,
}

impl<'p> Builder<'p> {
    fn location(&mut self) -> usize {
        let (indivisible, deterministic) = (self.indivisible > 0, self.deterministic > 0);
        self.graph.locations.push(Location { indivisible, deterministic, ..Location::default() });
        self.graph.locations.len() - 1
    }

    fn edge(&mut self, from: usize, label: EdgeLabel<'p>, to: usize) {
        self.graph.edges.push(Edge { label, to });
        let edge = EdgeId(self.graph.edges.len() - 1);
        self.graph.locations[from].edges.push(edge);
        match label {
            EdgeLabel::Stmt(stmt) | EdgeLabel::Loop(stmt, _) => {
                self.graph.edge_of.entry(std::ptr::from_ref(stmt)).or_default().push(edge);
            }
            EdgeLabel::Declared(var) => {
                self.graph.declared.insert(std::ptr::from_ref(var), edge);
            }
        }
    }

    fn pass(&mut self, from: usize, to: usize) {
        self.graph.locations[from].passes.push(to);
    }

    /// The declarations at the beginning of a body take no step.
    fn top(&mut self, steps: &'p [Step], start: usize) -> usize {
        let first = steps.iter().position(|step| matches!(step, Step::Stmt(_))).unwrap_or(steps.len());
        self.steps(&steps[first..], start)
    }

    fn steps(&mut self, steps: &'p [Step], start: usize) -> usize {
        let mut at = start;
        for step in steps {
            match step {
                Step::Decl(decl) => {
                    for var in &decl.vars {
                        let next = self.location();
                        self.edge(at, EdgeLabel::Declared(var), next);
                        at = next;
                    }
                }
                Step::Exclusive(_) => {}
                Step::Stmt(stmt) => at = self.statement(stmt, at),
            }
        }
        at
    }

    fn statement(&mut self, stmt: &'p Stmt, start: usize) -> usize {
        let end = self.lay_out(stmt, start);
        self.graph.extents.insert(std::ptr::from_ref(stmt), (start, end));
        end
    }

    fn lay_out(&mut self, stmt: &'p Stmt, start: usize) -> usize {
        match stmt.kind.structure() {
            Structure::Labelled(label, inner) => {
                let at = self.location();
                self.pass(start, at);
                self.labels.entry(label.name.clone()).or_default().push(at);
                self.statement(inner, at)
            }
            Structure::If(branches) => {
                let end = self.location();
                for branch in branches {
                    let last = self.steps(&branch.body, start);
                    self.pass(last, end);
                }
                end
            }
            Structure::Do(branches) => {
                let (head, exit) = (self.location(), self.location());
                self.pass(start, head);
                self.loops.push(exit);
                for branch in branches {
                    let last = self.steps(&branch.body, head);
                    self.pass(last, head);
                }
                self.loops.pop();
                exit
            }
            Structure::For(body) => {
                let (head, inside, exit) = (self.location(), self.location(), self.location());
                self.edge(start, EdgeLabel::Loop(stmt, LoopPart::Start), head);
                self.edge(head, EdgeLabel::Loop(stmt, LoopPart::Test), inside);
                self.loops.push(exit);
                let last = self.steps(body, inside);
                self.loops.pop();
                self.edge(last, EdgeLabel::Loop(stmt, LoopPart::Next), head);
                self.edge(head, EdgeLabel::Loop(stmt, LoopPart::Leave), exit);
                exit
            }
            Structure::Atomic(body) => {
                self.indivisible += 1;
                let end = self.steps(body, start);
                self.indivisible -= 1;
                end
            }
            Structure::DStep(body) => {
                self.indivisible += 1;
                self.deterministic += 1;
                let end = self.steps(body, start);
                self.deterministic -= 1;
                self.indivisible -= 1;
                end
            }
            Structure::Block(body) | Structure::Inlined(_, body) => self.steps(body, start),
            Structure::Unless(body, escape) => self.unless(body, escape, start),
            Structure::Break => {
                if let Some(&exit) = self.loops.last() {
                    self.edge(start, EdgeLabel::Stmt(stmt), exit);
                }
                self.location()
            }
            Structure::Goto(label) => {
                self.jumps.push((start, stmt, label));
                self.location()
            }
            Structure::Simple => {
                let next = self.location();
                self.edge(start, EdgeLabel::Stmt(stmt), next);
                next
            }
        }
    }

    /// The escape may interrupt the body between any two statements, so that all of it is exact.
    fn unless(&mut self, body: &'p Stmt, escape: &'p Stmt, start: usize) -> usize {
        let first = self.graph.locations.len();
        let end_of_body = self.statement(body, start);
        let way_out = self.location();
        let inside = (first..way_out).filter(|&at| at != end_of_body).chain([start]);
        for at in inside.collect::<Vec<_>>() {
            self.pass(at, way_out);
        }
        let end_of_escape = self.statement(escape, way_out);
        let last = self.graph.locations.len();
        for at in (first..last).chain([start]) {
            self.graph.locations[at].exact = true;
        }
        let end = self.location();
        self.pass(end_of_body, end);
        self.pass(end_of_escape, end);
        end
    }

    fn finish(mut self) -> Graph<'p> {
        // Labels of the same name are distinguished by blocks; any of them may be the target.
        for (from, stmt, label) in std::mem::take(&mut self.jumps) {
            let targets = self.labels.get(&label.name).cloned().unwrap_or_default();
            targets.into_iter().for_each(|to| self.edge(from, EdgeLabel::Stmt(stmt), to));
        }
        let mut graph = self.graph;
        // A location that only passes control on is identified with its successor.
        let settled: Vec<usize> = (0..graph.locations.len()).map(|at| settle(&graph.locations, at)).collect();
        let mut seen = vec![usize::MAX; graph.locations.len()];
        let passed: Vec<Vec<EdgeId>> =
            (0..graph.locations.len()).map(|at| gather(&graph.locations, at, &mut seen)).collect();
        for (location, edges) in graph.locations.iter_mut().zip(passed) {
            location.edges = edges;
        }
        for (at, &to) in settled.iter().enumerate() {
            let exact = graph.locations[at].exact;
            graph.locations[to].exact |= exact;
        }
        graph.edges.iter_mut().for_each(|edge| edge.to = settled[edge.to]);
        for (start, end) in graph.extents.values_mut() {
            (*start, *end) = (settled[*start], settled[*end]);
        }
        (graph.entry, graph.exit) = (settled[graph.entry], settled[graph.exit]);
        let successors = graph.successors();
        graph.reached = vec![false; graph.locations.len()];
        let mut pending = vec![graph.entry];
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut graph.reached[at], true) {
                pending.extend(&successors[at]);
            }
        }
        graph
    }
}

fn settle(locations: &[Location], start: usize) -> usize {
    let mut at = start;
    for _ in 0..locations.len() {
        match &locations[at].passes[..] {
            [next] if locations[at].edges.is_empty() => at = *next,
            _ => break,
        }
    }
    at
}

/// `seen` contains the start from which a location was last visited.
fn gather(locations: &[Location], start: usize, seen: &mut [usize]) -> Vec<EdgeId> {
    let (mut pending, mut edges) = (vec![start], Vec::new());
    while let Some(at) = pending.pop() {
        if std::mem::replace(&mut seen[at], start) != start {
            edges.extend(&locations[at].edges);
            pending.extend(&locations[at].passes);
        }
    }
    edges
}
