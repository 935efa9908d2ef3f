//! The state graph as a picture, which DOT and SVG are made of.

use super::explore::{End, GraphState, StateGraph};
use super::label::Wording;
use crate::picture::{Part, Picture, Shape, Stroke, Tone};

/// A node for each state, with a shape for its end and a colour for its marks. A fault leads to a point.
pub fn picture(space: &StateGraph, wording: &Wording) -> Picture {
    let mut part = Part::default();
    for (index, found) in space.states.iter().enumerate() {
        part.node(format!("s{index}"), &wording.state(found), shape(found), tone(found));
    }
    let start = part.node("start".to_owned(), "", Shape::Point, Tone::Plain);
    part.edge(start, 0, "", Stroke::Plain);
    for (index, arrow) in space.arrows.iter().enumerate() {
        let to = arrow.to.unwrap_or_else(|| part.node(format!("wrong{index}"), "", Shape::Point, Tone::Bad));
        let stroke = if arrow.violation.is_some() { Stroke::Bad } else { Stroke::Plain };
        part.edge(arrow.from, to, wording.arrow(space, arrow), stroke);
    }
    Picture { name: "states", parts: vec![part] }
}

fn shape(found: &GraphState) -> Shape {
    match found.end {
        End::Not | End::Invalid(_) => Shape::Box,
        End::Valid => Shape::Double,
        End::Cut => Shape::Dashed,
    }
}

fn tone(found: &GraphState) -> Tone {
    match found.end {
        End::Invalid(_) => Tone::Bad,
        End::Not | End::Valid | End::Cut if found.marks.accepting => Tone::Accepting,
        End::Not | End::Valid | End::Cut if found.marks.progress => Tone::Progress,
        End::Not | End::Valid | End::Cut => Tone::Plain,
    }
}
