//! Graphs as pictures: in the language of Graphviz, or drawn.

mod dot;
mod graphviz;
mod layered;
mod svg;

pub use dot::print as dot;
pub use svg::escaped;

use clap::ValueEnum;

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

/// Who decides where things go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Graphviz, where it is installed and the picture is not too large for it
    #[default]
    Auto,
    /// Graphviz's `dot`
    Dot,
    /// entail, always in the same way
    Own,
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

/// More edges than that may take Graphviz minutes.
const MOST_FOR_GRAPHVIZ: usize = 300;

/// The picture, drawn.
pub fn svg(picture: &Picture, layout: Layout) -> Result<String, String> {
    let edges: usize = picture.parts.iter().map(|part| part.edges.len()).sum();
    match layout {
        Layout::Own => Ok(svg::draw(picture)),
        Layout::Dot => graphviz::draw(&dot(picture)),
        Layout::Auto if edges > MOST_FOR_GRAPHVIZ => Ok(svg::draw(picture)),
        Layout::Auto => graphviz::draw(&dot(picture)).or_else(|_| Ok(svg::draw(picture))),
    }
}
