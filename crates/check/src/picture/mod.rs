//! Graphs as pictures, and these in the language of Graphviz.

mod dot;

pub use dot::print as dot;

/// Graphs that have nothing to do with each other, side by side.
pub struct Picture {
    pub name: &'static str,
    pub parts: Vec<Part>,
}

/// A graph. With a title it has a frame.
#[derive(Debug, Default)]
pub struct Part {
    pub title: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug)]
pub struct Node {
    /// Made of letters, digits and `_`, and like no other in the picture.
    pub name: String,
    pub lines: Vec<String>,
    pub shape: Shape,
    pub tone: Tone,
}

#[derive(Clone, Debug)]
pub struct Edge {
    /// Indices of nodes of the same part.
    pub from: usize,
    pub to: usize,
    pub label: String,
    pub stroke: Stroke,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Box,
    /// With a second line around it.
    Double,
    /// There is more behind it.
    Dashed,
    Round,
    DoubleRound,
    /// Without a text.
    Point,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Stands out.
    First,
    Good,
    Bad,
    Accepting,
    Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Plain,
    Bold,
    Bad,
    /// Not an edge, but a line to a remark.
    Aside,
}

impl Part {
    /// Adds a node, and says which it is.
    pub fn node(&mut self, name: String, label: &str, shape: Shape, tone: Tone) -> usize {
        self.nodes.push(Node { name, lines: label.lines().map(str::to_owned).collect(), shape, tone });
        self.nodes.len() - 1
    }

    pub fn edge(&mut self, from: usize, to: usize, label: impl Into<String>, stroke: Stroke) {
        self.edges.push(Edge { from, to, label: label.into(), stroke });
    }
}
