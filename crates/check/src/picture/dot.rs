//! Pictures in Graphviz's DOT language.

use super::{Edge, Node, Part, Picture, Shape, Stroke, Tone};
use entail_front::legible::is_hostile;
use std::fmt::{self, Write};

/// The picture in DOT.
pub fn print(picture: &Picture) -> String {
    let mut text = String::new();
    write(&mut text, picture).expect("writing to a string cannot fail");
    text
}

fn write(out: &mut String, picture: &Picture) -> fmt::Result {
    writeln!(out, "digraph {} {{", picture.name)?;
    for (index, part) in picture.parts.iter().enumerate() {
        if part.title.is_empty() {
            write_part(out, part, "  ")?;
        } else {
            writeln!(out, "  subgraph cluster_{index} {{\n    label={};", quoted(&part.title))?;
            write_part(out, part, "    ")?;
            writeln!(out, "  }}")?;
        }
    }
    writeln!(out, "}}")
}

fn write_part(out: &mut String, part: &Part, margin: &str) -> fmt::Result {
    for Node { name, lines, shape, tone } in &part.nodes {
        let label = format!("label={}", quoted(&lines.join("\n")));
        let look = [style(*shape, *tone), paint(*tone)].into_iter().flatten();
        let attributes: Vec<&str> = [&*label, outline(*shape)].into_iter().chain(look).collect();
        writeln!(out, "{margin}{name} [{}];", attributes.join(", "))?;
    }
    for Edge { from, to, label, stroke } in &part.edges {
        let (from, to) = (&part.nodes[*from].name, &part.nodes[*to].name);
        let label = if label.is_empty() { None } else { Some(format!("label={}", quoted(label))) };
        let attributes: Vec<String> = label.into_iter().chain(line(*stroke).map(str::to_owned)).collect();
        match &attributes[..] {
            [] => writeln!(out, "{margin}{from} -> {to};")?,
            some => writeln!(out, "{margin}{from} -> {to} [{}];", some.join(", "))?,
        }
    }
    Ok(())
}

fn outline(shape: Shape) -> &'static str {
    match shape {
        Shape::Box | Shape::Dashed => "shape=box",
        Shape::Double => "shape=box, peripheries=2",
        Shape::Round => "shape=circle",
        Shape::DoubleRound => "shape=doublecircle",
        Shape::Point => "shape=point",
    }
}

fn paint(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::First => Some("fillcolor=lightgrey"),
        Tone::Good => Some("color=darkgreen"),
        Tone::Bad => Some("color=firebrick, fillcolor=mistyrose"),
        Tone::Accepting => Some("color=navy, fillcolor=lightblue"),
        Tone::Progress => Some("color=darkgreen, fillcolor=honeydew"),
    }
}

fn style(shape: Shape, tone: Tone) -> Option<&'static str> {
    let is_filled = match tone {
        Tone::Plain | Tone::Good => false,
        Tone::First | Tone::Bad | Tone::Accepting | Tone::Progress => true,
    };
    match (shape == Shape::Dashed, is_filled) {
        (false, false) => None,
        (false, true) => Some("style=filled"),
        (true, false) => Some("style=dashed"),
        (true, true) => Some("style=\"dashed,filled\""),
    }
}

fn line(stroke: Stroke) -> Option<&'static str> {
    match stroke {
        Stroke::Plain => None,
        Stroke::Bold => Some("style=bold"),
        Stroke::Bad => Some("color=firebrick, fontcolor=firebrick"),
        Stroke::Aside => Some("style=dashed, arrowhead=none"),
    }
}

fn quoted(text: &str) -> String {
    let visible = text.replace(|letter| is_hostile(letter) && letter != '\n', " ");
    format!("\"{}\"", visible.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted_for_graphviz() {
        assert_eq!(quoted("printf(\"a\\n\")"), r#""printf(\"a\\n\")""#);
        assert_eq!(quoted("2\nend"), r#""2\nend""#);
        assert_eq!(quoted("a\0b\tc"), r#""a b c""#);
    }
}
