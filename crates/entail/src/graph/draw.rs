//! The state graph as a picture.

use super::explore::{End, Found, Space};
use super::label::Wording;
use crate::picture::{Part, Picture, Shape, Stroke, Tone};

pub fn picture(space: &Space, wording: &Wording) -> Picture {
    let mut part = Part::default();
    for (index, found) in space.states.iter().enumerate() {
        part.node(format!("s{index}"), &wording.state(found), shape(found), tone(found));
    }
    let start = part.node("start".to_owned(), "", Shape::Point, Tone::Plain);
    part.edge(start, 0, "", Stroke::Plain);
    for (index, arrow) in space.arrows.iter().enumerate() {
        let to = arrow.to.unwrap_or_else(|| part.node(format!("wrong{index}"), "", Shape::Point, Tone::Bad));
        let stroke = if arrow.wrong.is_some() { Stroke::Bad } else { Stroke::Plain };
        part.edge(arrow.from, to, wording.arrow(space, arrow), stroke);
    }
    Picture { name: "states", parts: vec![part] }
}

fn shape(found: &Found) -> Shape {
    match found.end {
        End::Not | End::Invalid(_) => Shape::Box,
        End::Valid => Shape::Double,
        End::Cut => Shape::Dashed,
    }
}

fn tone(found: &Found) -> Tone {
    match found.end {
        End::Invalid(_) => Tone::Bad,
        End::Not | End::Valid | End::Cut if found.marks.accepting => Tone::Accepting,
        End::Not | End::Valid | End::Cut if found.marks.progress => Tone::Progress,
        End::Not | End::Valid | End::Cut => Tone::Plain,
    }
}
