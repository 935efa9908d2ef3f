//! A message sequence chart as SVG.
//!
//! Elements have classes and, in attributes, step numbers, by which the page of a run finds rows.

use super::columns::{cut, width, wrapped};
use super::lanes::{Chart, Does, Letter, Row};
use super::options::ViewArgs;
use super::{closing, limited};
use crate::run::{Direction, Run, Titles};
use std::fmt::Write as _;

const STYLE: &str = include_str!("chart.css");
/// The maximum number of rows.
const MOST_ROWS: usize = 20_000;
/// The maximum length of a text in a lane, in characters.
const LONGEST: usize = 36;

// Lengths are in pixels.
const ROW: usize = 30;
/// The height above the first row, for the headline and the names of processes.
const TOP: usize = 64;
/// The width left of the lanes, for the bracket around the cycle and the step numbers.
const LEFT: usize = 76;
const EDGE: usize = 16;
const LINE: usize = 18;
/// The minimum width, for the headline.
const WIDE: usize = 720;
/// The padding around the name of a process.
const BOX: usize = 8;
/// The distance between a lifeline and its text.
const GAP: usize = 11;
/// The length of an arrow whose other end is not in the picture.
const STUB: (usize, usize) = (26, 13);

/// The picture of a run; `misfit` is the error if a given step is not enabled.
pub fn text(run: &Run, titles: &Titles, misfit: Option<&str>, options: &ViewArgs) -> Result<String, String> {
    let chart = Chart::of(run, options);
    limited(chart.rows.len(), MOST_ROWS, "svg")?;
    let closing = closing(run, misfit);
    let is_wrong = misfit.is_some() || run.ending.is_error();
    let headline = titles.headline();
    let mut layout = Layout::of(&chart, run.start.processes.len());
    layout.width = layout.width.max((pixels(&headline) + 2 * EDGE).min(WIDE));
    let mut picture = Picture { chart: &chart, layout, text: String::new() };
    picture.draw(run, &headline, &closing, is_wrong);
    Ok(picture.text)
}

/// The positions.
struct Layout {
    /// The positions of lifelines.
    lanes: Vec<usize>,
    width: usize,
    bottom: usize,
}

impl Layout {
    /// The layout, with the number of initial processes.
    fn of(chart: &Chart, started: usize) -> Layout {
        let boxes: Vec<usize> = chart.lanes.iter().map(|title| box_width(title)).collect();
        // The width of each lane on its right.
        let mut wanted: Vec<usize> = boxes.iter().map(|width| width / 2 + BOX).collect();
        for row in &chart.rows {
            let text = pixels(&label(&row.does.text())) + 2 * GAP;
            let (lane, text) = match row.does {
                Does::Nothing => continue,
                Does::Local { lane, .. } | Does::Posts { lane, .. } => (lane, text),
                Does::Hands { from, to, .. } => (from.min(to), (text + GAP).div_ceil(from.abs_diff(to).max(1))),
            };
            wanted[lane] = wanted[lane].max(text);
        }
        let mut x = LEFT;
        let mut lanes = Vec::new();
        for (lane, half) in boxes.iter().map(|width| width / 2).enumerate() {
            x += match lane.checked_sub(1) {
                None => half,
                // The name is in the same row as the statement that starts the process.
                Some(left) if lane >= started => wanted[left] + half,
                Some(left) => wanted[left].max(boxes[left] / 2 + BOX + half),
            };
            lanes.push(x);
        }
        let width = x + wanted.last().copied().unwrap_or(0) + EDGE;
        Layout { lanes, width, bottom: TOP + ROW * (chart.rows.len() + 1) }
    }

    fn row(&self, row: usize) -> usize {
        TOP + ROW * (row + 1)
    }
}

struct Picture<'c, 'r> {
    chart: &'c Chart<'r>,
    layout: Layout,
    text: String,
}

/// Writing to a string cannot fail.
macro_rules! put {
    ($picture:expr, $($what:tt)*) => { let _ = writeln!($picture.text, $($what)*); };
}

impl Picture<'_, '_> {
    fn draw(&mut self, run: &Run, headline: &str, closing: &[String], is_wrong: bool) {
        let Layout { width, bottom, .. } = self.layout;
        let lines: Vec<String> = closing.iter().flat_map(|text| wrapped(text, columns(width - 2 * EDGE))).collect();
        let height = bottom + LINE * (lines.len() + 1);
        put!(
            self,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"run-chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">"
        );
        put!(self, "<title>{}</title>", escaped(headline));
        put!(self, "<style>\n{STYLE}</style>");
        for head in ["hand", "letter", "round"] {
            put!(
                self,
                "<marker id=\"{head}-head\" class=\"{head}-head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
                 markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0,1 L9,5 L0,9 z\"/></marker>"
            );
        }
        put!(self, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
        let headline = cut(headline, columns(width - 2 * EDGE));
        put!(self, "<text class=\"headline\" x=\"{EDGE}\" y=\"24\">{}</text>", escaped(&headline));
        self.lives(run);
        for number in 0..self.chart.letters.len() {
            self.letter(number);
        }
        self.round();
        for index in 0..self.chart.rows.len() {
            self.row(index);
        }
        let class = if is_wrong { "closing wrong" } else { "closing" };
        for (index, line) in lines.iter().enumerate() {
            let y = bottom + LINE * (index + 1) - LINE / 2;
            put!(self, "<text class=\"{class}\" x=\"{EDGE}\" y=\"{y}\">{}</text>", escaped(line));
        }
        put!(self, "</svg>");
    }

    /// The lifelines of processes, from start to end.
    fn lives(&mut self, run: &Run) {
        // Processes end in reverse order of their start.
        let mut begins = vec![TOP; run.start.processes.len()];
        for (index, row) in self.chart.rows.iter().enumerate() {
            let y = self.layout.row(index);
            for (lane, begin) in (row.alive.1..).zip(begins.split_off(row.alive.1.min(begins.len()))) {
                self.life(lane, begin, y);
                let x = self.layout.lanes[lane];
                put!(self, "<line class=\"end\" x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>", x - 8, x + 8);
            }
            begins.resize(row.alive.1, y);
        }
        for (lane, begin) in begins.into_iter().enumerate() {
            self.life(lane, begin, self.layout.bottom - ROW / 2);
        }
        for lane in 0..run.start.processes.len() {
            self.process(lane, &self.chart.lanes[lane], TOP);
        }
    }

    fn life(&mut self, lane: usize, begin: usize, end: usize) {
        let x = self.layout.lanes[lane];
        put!(self, "<line class=\"life\" x1=\"{x}\" y1=\"{begin}\" x2=\"{x}\" y2=\"{end}\"/>");
    }

    /// The head of a lifeline.
    fn process(&mut self, lane: usize, title: &str, y: usize) {
        let (x, width) = (self.layout.lanes[lane], box_width(title));
        put!(
            self,
            "<g class=\"process\"><rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"22\" rx=\"4\"/>\
             <text x=\"{x}\" y=\"{}\">{}</text></g>",
            x - width / 2,
            y - 11,
            y + 4,
            escaped(&label(title))
        );
    }

    /// A message through a channel, from send to receive, as far as these are in the picture.
    fn letter(&mut self, number: usize) {
        let Letter { passing, sent, received } = self.chart.letters[number];
        let place = |step: usize| {
            let row = self.chart.rows.binary_search_by_key(&step, |row| row.step).ok()?;
            Some((self.layout.lanes[self.chart.rows[row].does.lane()?], self.layout.row(row)))
        };
        let (from, to) = (place(sent), received.and_then(place));
        let class = match received {
            Some(_) => "letter",
            None => "letter lost",
        };
        let ends = match received {
            Some(received) => format!("data-sent=\"{sent}\" data-received=\"{received}\""),
            None => format!("data-sent=\"{sent}\""),
        };
        let title = format!("<title>{}</title>", escaped(&passing.text()));
        let line = |(x1, y1): (usize, usize), (x2, y2): (usize, usize)| {
            format!("<line class=\"{class}\" {ends} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\">{title}</line>")
        };
        match (from, to) {
            (Some((x1, y1)), Some((x2, y2))) if x1 == x2 => {
                let bow = x1 - 3 * GAP;
                put!(
                    self,
                    "<path class=\"{class}\" {ends} d=\"M{x1},{y1} C{bow},{y1} {bow},{y2} {x2},{y2}\">{title}</path>"
                );
            }
            (Some(from), Some(to)) => {
                put!(self, "{}", line(from, to));
            }
            (Some((x, y)), None) => {
                let (x2, y2) = (x + STUB.0, y + STUB.1);
                put!(self, "{}<circle class=\"open\" cx=\"{x2}\" cy=\"{y2}\" r=\"3\"/>", line((x, y), (x2, y2)));
            }
            (None, Some((x, y))) => {
                put!(self, "{}", line((x - STUB.0, y - STUB.1), (x, y)));
            }
            (None, None) => {}
        }
    }

    /// The bracket around the cycle.
    fn round(&mut self) {
        let Some(round) = &self.chart.round else { return };
        let (top, bottom) = (self.layout.row(round.start) - ROW / 2 + 2, self.layout.row(round.end) - ROW / 2 - 2);
        let middle = (top + bottom) / 2;
        put!(self, "<path class=\"round\" d=\"M34,{bottom} H24 V{top} H34\"/>");
        put!(
            self,
            "<text class=\"round\" x=\"16\" y=\"{middle}\" transform=\"rotate(-90 16 {middle})\">forever</text>"
        );
    }

    fn row(&mut self, index: usize) {
        let row = &self.chart.rows[index];
        let y = self.layout.row(index);
        let Row { step, taken, does, .. } = row;
        let class = if taken.told.violation.is_some() { "row wrong" } else { "row" };
        put!(self, "<g class=\"{class}\" data-step=\"{step}\">");
        put!(self, "<title>{}</title>", escaped(taken.told.text().trim()));
        put!(self, "<rect class=\"band\" y=\"{}\" width=\"{}\" height=\"{ROW}\"/>", y - ROW / 2, self.layout.width);
        put!(self, "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>", LEFT - 16, y + 4, taken.told.number);
        for lane in (row.alive.0..row.alive.1).filter(|lane| *lane < taken.after.processes.len()) {
            self.process(lane, &format!("{}({lane})", taken.after.processes[lane].name), y);
        }
        let text = escaped(&label(&does.text()));
        match does {
            Does::Nothing => {}
            Does::Local { lane, .. } => {
                let x = self.layout.lanes[*lane];
                put!(self, "<circle class=\"local\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
                put!(self, "<text class=\"local\" x=\"{}\" y=\"{}\">{text}</text>", x + GAP, y + 4);
            }
            Does::Hands { from, to, .. } => {
                let (from, to) = (self.layout.lanes[*from], self.layout.lanes[*to]);
                put!(
                    self,
                    "<line class=\"hand\" data-step=\"{step}\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\"/>"
                );
                put!(self, "<text class=\"hand\" x=\"{}\" y=\"{}\">{text}</text>", (from + to) / 2, y - 6);
            }
            Does::Posts { lane, posts } => {
                let x = self.layout.lanes[*lane];
                // A send or receive without an arrow.
                let below = posts.iter().all(|post| matches!(post.passing.way, Direction::Out { .. }));
                put!(self, "<circle class=\"post\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
                let y = if below { y + 14 } else { y - 5 };
                put!(self, "<text class=\"post\" x=\"{}\" y=\"{y}\">{text}</text>", x + GAP);
            }
        }
        if let (Some(_), Some(lane)) = (&taken.told.violation, does.lane()) {
            let x = self.layout.lanes[lane];
            put!(self, "<path class=\"cross\" d=\"M{},{} l12,12 m0,-12 l-12,12\"/>", x - 6, y - 6);
        }
        put!(self, "</g>");
    }
}

fn label(text: &str) -> String {
    cut(text, LONGEST)
}

fn box_width(title: &str) -> usize {
    pixels(&label(title)) + 2 * BOX
}

/// The width of a text in a monospaced font of 12 pixels.
fn pixels(text: &str) -> usize {
    (width(text) * 29).div_ceil(4)
}

fn columns(pixels: usize) -> usize {
    pixels * 4 / 29
}

/// Escapes text for XML; removes characters that XML forbids.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_xml() {
        assert_eq!(escaped("a<b && \"c\">\u{1b}\u{ffff}é"), "a&lt;b &amp;&amp; &quot;c&quot;&gt;��é");
    }
}
