//! Graphs as pictures, and these in the language of Graphviz.

mod dot;

pub use dot::print as dot;

/// Graphs that have nothing to do with each other, side by side.
pub struct Picture {
    /// What Graphviz calls it.
    pub name: &'static str,
    /// The graphs.
    pub parts: Vec<Part>,
}

/// A graph. With a title it has a frame.
#[derive(Debug, Default)]
pub struct Part {
    /// Above the frame.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Made of letters, digits and `_`, and like no other in the picture.
    pub name: String,
    /// The text in it.
    pub lines: Vec<String>,
    /// Its outline.
    pub shape: Shape,
    /// Its colour.
    pub tone: Tone,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Indices of nodes of the same part.
    pub from: usize,
    /// Its target.
    pub to: usize,
    /// The text beside it.
    pub label: String,
    /// How its line is drawn.
    pub stroke: Stroke,
}

/// The outline of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A box.
    Box,
    /// With a second line around it.
    Double,
    /// There is more behind it.
    Dashed,
    /// A circle.
    Round,
    /// A circle with a second line around it.
    DoubleRound,
    /// Without a text.
    Point,
}

/// The colour of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Like most.
    Plain,
    /// Stands out.
    First,
    /// What should be.
    Good,
    /// What should not be.
    Bad,
    /// An acceptance state.
    Accepting,
    /// A progress state.
    Progress,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Like most.
    Plain,
    /// Stands out.
    Bold,
    /// Leads to what should not be.
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

    /// Adds an edge.
    pub fn edge(&mut self, from: usize, to: usize, label: impl Into<String>, stroke: Stroke) {
        self.edges.push(Edge { from, to, label: label.into(), stroke });
    }
}
