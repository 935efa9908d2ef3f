//! Draws pictures.

mod graphviz;
mod layered;
mod svg;

pub use entail_check::picture::{Edge, Node, Part, Picture, Shape, Stroke, Tone, dot};
pub use svg::escaped;

use clap::ValueEnum;

/// The layout engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// Graphviz if it is installed and the graph is not too large, otherwise own
    #[default]
    Auto,
    /// Graphviz's `dot`
    Dot,
    /// entail's own deterministic layout
    Own,
}

/// The maximum number of edges for Graphviz, which could otherwise take minutes.
const MOST_FOR_GRAPHVIZ: usize = 300;

/// Draws a picture as SVG.
pub fn svg(picture: &Picture, layout: Layout) -> Result<String, String> {
    let edges: usize = picture.parts.iter().map(|part| part.edges.len()).sum();
    match layout {
        Layout::Own => Ok(svg::draw(picture)),
        Layout::Dot => graphviz::draw(&dot(picture)),
        Layout::Auto if edges > MOST_FOR_GRAPHVIZ => Ok(svg::draw(picture)),
        Layout::Auto => graphviz::draw(&dot(picture)).or_else(|_| Ok(svg::draw(picture))),
    }
}
