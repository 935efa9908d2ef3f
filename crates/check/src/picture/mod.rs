//! Pictures of graphs, and their output in Graphviz's DOT language.

mod dot;

pub use dot::print as dot;

/// Independent graphs, side by side.
pub struct Picture {
    /// The name of the graph in DOT.
    pub name: &'static str,
    /// The graphs.
    pub parts: Vec<Part>,
}

/// A graph. With a title it has a frame.
#[derive(Debug, Default)]
pub struct Part {
    /// The text above the frame.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// A unique name of letters, digits and `_`.
    pub name: String,
    /// The text in the node.
    pub lines: Vec<String>,
    /// Its outline.
    pub shape: Shape,
    /// Its colour.
    pub tone: Tone,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The source, as the index of a node of the same part.
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
    /// Dashed: successors are omitted.
    Dashed,
    /// A circle.
    Round,
    /// A circle with a second line around it.
    DoubleRound,
    /// A point without text.
    Point,
}

/// The colour of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The default.
    Plain,
    /// Highlighted.
    First,
    /// Good.
    Good,
    /// Bad.
    Bad,
    /// An acceptance state.
    Accepting,
    /// A progress state.
    Progress,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// The default.
    Plain,
    /// Highlighted.
    Bold,
    /// Leads to an error.
    Bad,
    /// A line to an annotation.
    Aside,
}

impl Part {
    /// Adds a node, and returns its index.
    pub fn node(&mut self, name: String, label: &str, shape: Shape, tone: Tone) -> usize {
        self.nodes.push(Node { name, lines: label.lines().map(str::to_owned).collect(), shape, tone });
        self.nodes.len() - 1
    }

    /// Adds an edge.
    pub fn edge(&mut self, from: usize, to: usize, label: impl Into<String>, stroke: Stroke) {
        self.edges.push(Edge { from, to, label: label.into(), stroke });
    }
}
