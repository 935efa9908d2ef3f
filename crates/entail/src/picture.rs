//! Pictures, drawn.

mod graphviz;
mod layered;
mod svg;

pub use entail_check::picture::{Edge, Node, Part, Picture, Shape, Stroke, Tone, dot};
pub use svg::escaped;

use clap::ValueEnum;

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
