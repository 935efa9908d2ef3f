//! Draws pictures as SVG, with our own layout.

use super::layered::{CORNER, Frame, LINE, LOOP, Placed, Point, Route, lay_out};
use super::{Edge, Node, Picture, Shape, Stroke, Tone};
use entail_front::legible::is_hostile;
use std::fmt::{self, Write};

const MARGIN: f64 = 12.0;
/// The maximum width of a row of parts.
const WIDE: f64 = 1100.0;

/// A monospaced font, so that text widths are known; and a white outline for labels on lines.
const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;text-anchor:middle;dominant-baseline:central}\
.edge text{text-anchor:start;stroke:#fff;stroke-width:3px;paint-order:stroke;fill:#444}\
.edge path{fill:none;stroke:#666;stroke-width:1.2px;marker-end:url(#tip)}\
.bold path{stroke-width:2.4px}.edge.bad path{stroke:#b22222;marker-end:url(#wrong)}.edge.bad text{fill:#b22222}\
.aside path{stroke-dasharray:4 3;marker-end:none}\
.node rect,.node circle{fill:#fff;stroke:#333;stroke-width:1.2px}\
.node .inner{fill:none}.node.dashed rect{stroke-dasharray:4 3}.node .dot{fill:#333}\
.first rect{fill:#ddd}.good rect{stroke:#060}.bad rect{fill:#ffe4e1;stroke:#b22222}\
.accepting rect{fill:#add8e6;stroke:#000080}.progress rect{fill:#e6ffe6;stroke:#060}\
.node.bad .dot{fill:#b22222}.part{fill:none;stroke:#bbb}.title{font-weight:bold}";

pub fn draw(picture: &Picture) -> String {
    let mut text = String::new();
    write(&mut text, picture).expect("writing to a string cannot fail");
    text
}

fn write(out: &mut String, picture: &Picture) -> fmt::Result {
    let mut body = String::new();
    let (mut at, mut bottom, mut right) = (Point { x: MARGIN, y: MARGIN }, MARGIN, MARGIN);
    for part in &picture.parts {
        let placed = lay_out(part);
        let (framed, top) = if part.title.is_empty() { (0.0, 0.0) } else { (MARGIN, LINE + MARGIN) };
        let title = super::layered::width(&part.title) + 8.0;
        let (width, height) = (f64::max(placed.width, title) + 2.0 * framed, placed.height + top + framed);
        if at.x > MARGIN && at.x + width > WIDE {
            at = Point { x: MARGIN, y: bottom + MARGIN };
        }
        writeln!(body, "<g transform=\"translate({:.1} {:.1})\">", at.x, at.y)?;
        if !part.title.is_empty() {
            writeln!(body, "<rect class=\"part\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>")?;
            let title = escaped(&part.title);
            writeln!(body, "<text class=\"title\" x=\"{:.1}\" y=\"{LINE:.1}\">{title}</text>", width / 2.0)?;
        }
        let left = (width - placed.width) / 2.0;
        writeln!(body, "<g transform=\"translate({left:.1} {top:.1})\">")?;
        write_part(&mut body, &part.nodes, &part.edges, &placed)?;
        writeln!(body, "</g>\n</g>")?;
        right = f64::max(right, at.x + width);
        bottom = f64::max(bottom, at.y + height);
        at.x += width + MARGIN;
    }
    let (width, height) = (right + MARGIN, bottom + MARGIN);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">"
    )?;
    writeln!(out, "<style>{STYLE}</style>\n<defs>")?;
    for (name, colour) in [("tip", "#666"), ("wrong", "#b22222")] {
        let marker = "viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"";
        writeln!(out, "<marker id=\"{name}\" {marker}><path d=\"M0 0.5 8 4 0 7.5z\" fill=\"{colour}\"/></marker>")?;
    }
    writeln!(out, "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>")
}

/// Draws lines first, then labels, then nodes.
fn write_part(out: &mut String, nodes: &[Node], edges: &[Edge], placed: &Placed) -> fmt::Result {
    for (edge, route) in edges.iter().zip(&placed.routes) {
        let class = match edge.stroke {
            Stroke::Plain => "edge",
            Stroke::Bold => "edge bold",
            Stroke::Bad => "edge bad",
            Stroke::Aside => "edge aside",
        };
        writeln!(
            out,
            "<g class=\"{class}\" data-from=\"{}\" data-to=\"{}\">",
            nodes[edge.from].name, nodes[edge.to].name
        )?;
        writeln!(out, "<path d=\"{}\"/>", path(route))?;
        let lines: Vec<&str> = edge.label.lines().collect();
        write_lines(out, &lines, route.label)?;
        writeln!(out, "</g>")?;
    }
    nodes.iter().zip(&placed.nodes).try_for_each(|(node, frame)| write_node(out, node, frame))
}

fn write_node(out: &mut String, node: &Node, frame: &Frame) -> fmt::Result {
    let tone = match node.tone {
        Tone::Plain => "",
        Tone::First => " first",
        Tone::Good => " good",
        Tone::Bad => " bad",
        Tone::Accepting => " accepting",
        Tone::Progress => " progress",
    };
    let dashed = if node.shape == Shape::Dashed { " dashed" } else { "" };
    writeln!(out, "<g class=\"node{tone}{dashed}\" id=\"{}\">", node.name)?;
    let Frame { at, height, .. } = frame;
    match node.shape {
        Shape::Point => writeln!(out, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/>", at.x, at.y)?,
        Shape::Box | Shape::Dashed => write_box(out, frame, 0.0, CORNER, "")?,
        Shape::Round => write_box(out, frame, 0.0, height / 2.0, "")?,
        Shape::Double => {
            write_box(out, frame, 0.0, CORNER, "")?;
            write_box(out, frame, 3.0, CORNER - 3.0, " class=\"inner\"")?;
        }
        Shape::DoubleRound => {
            write_box(out, frame, 0.0, height / 2.0, "")?;
            write_box(out, frame, 3.0, height / 2.0 - 3.0, " class=\"inner\"")?;
        }
    }
    let lines: Vec<&str> = node.lines.iter().map(String::as_str).collect();
    write_lines(out, &lines, *at)?;
    writeln!(out, "</g>")
}

/// A box with rounded corners, inset from a frame.
fn write_box(out: &mut String, frame: &Frame, inside: f64, corner: f64, class: &str) -> fmt::Result {
    let (width, height) = (frame.width - 2.0 * inside, frame.height - 2.0 * inside);
    let (x, y) = (frame.at.x - width / 2.0, frame.at.y - height / 2.0);
    writeln!(
        out,
        "<rect{class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{corner:.1}\"/>"
    )
}

/// Lines of text, vertically centred.
fn write_lines(out: &mut String, lines: &[&str], at: Point) -> fmt::Result {
    for (index, line) in lines.iter().enumerate() {
        let y = at.y + (index as f64 - (lines.len() - 1) as f64 / 2.0) * LINE;
        writeln!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", at.x, escaped(line))?;
    }
    Ok(())
}

/// A curve through all points, vertical at both ends.
fn path(route: &Route) -> String {
    let points = &route.points;
    let mut path = format!("M{:.1} {:.1}", points[0].x, points[0].y);
    // The horizontal slope at each point: zero where the curve turns, or is straight.
    let slope = |index: usize| match (index.checked_sub(1).map(|before| points[before]), points.get(index + 1)) {
        (Some(before), Some(after)) if (points[index].x - before.x) * (after.x - points[index].x) > 0.0 => {
            (after.x - before.x) / (after.y - before.y)
        }
        (_, _) => 0.0,
    };
    for (index, (from, to)) in points.iter().zip(&points[1..]).enumerate() {
        let (one, other) = if route.is_loop {
            let x = from.x + LOOP - 6.0;
            (Point { x, y: from.y - 8.0 }, Point { x, y: to.y + 8.0 })
        } else {
            let third = (to.y - from.y) / 3.0;
            let one = Point { x: from.x + slope(index) * third, y: from.y + third };
            (one, Point { x: to.x - slope(index + 1) * third, y: to.y - third })
        };
        // Writing to a string cannot fail.
        let _ = write!(path, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", one.x, one.y, other.x, other.y, to.x, to.y);
    }
    path
}

/// Escapes text for XML. Characters that XML forbids become blanks.
pub fn escaped(text: &str) -> String {
    let visible = text.replace(|letter: char| is_hostile(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}'), " ");
    visible.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
