//! A message sequence chart as text.
//!
//! A process is a vertical lifeline. An arrow is a rendezvous. A message through a channel has a number at its send and
//! at its receive.

use super::columns::{Block, cut, fit, padded, width};
use super::lanes::{Chart, Does, Row};
use super::margin::Margin;
use super::options::ViewArgs;
use crate::run::Run;

/// The maximum width of a lane.
const WIDEST: usize = 36;
/// The minimum width of a wide lane.
const LEAST: usize = 14;
/// The width of the lifeline and the spaces around the text.
const AROUND: usize = 3;
/// The width of an arrow without its text.
const SHAFT: usize = 6;

pub fn text(run: &Run, options: &ViewArgs) -> String {
    let chart = Chart::of(run, options);
    let steps: Vec<usize> = chart.rows.iter().map(|row| row.step).collect();
    let margin = Margin::of(run, &steps);
    let blocks = fit(&wanted(&chart), LEAST, options.width() - margin.width());
    let is_whole = blocks.len() == 1;
    // Each block of lanes shows only its own rows.
    let blocks = blocks.into_iter().map(|block| {
        let rows = chart.rows.iter().filter(|row| is_whole || block.is_touched_by(row)).collect();
        (block, rows)
    });
    let blocks = blocks.filter(|(_, rows): &(Block, Vec<&Row>)| is_whole || !rows.is_empty());
    let blocks = blocks.map(|(block, rows)| {
        let titles = block.columns.clone().zip(&block.widths);
        let titles = titles.map(|(lane, room)| padded(&cut(&chart.lanes[lane], room - 1), *room));
        let mut text = line(margin.blank(), titles.collect());
        let start = run.start.processes.len();
        text += &line(margin.blank(), block.cells(|lane| if lane < start { ("│", "") } else { (" ", "") }));
        for row in rows {
            text += &line(margin.line(row.step, row.taken), block.row(row, &chart.lanes));
        }
        text
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn line(margin: String, cells: String) -> String {
    format!("{}\n", (margin + &cells).trim_end())
}

/// The widths of lanes for all of their texts.
fn wanted(chart: &Chart) -> Vec<usize> {
    let mut wanted: Vec<usize> = chart.lanes.iter().map(|title| width(title) + AROUND).collect();
    for row in &chart.rows {
        let (lane, needed) = match &row.does {
            Does::Nothing => continue,
            Does::Local { lane, .. } | Does::Posts { lane, .. } => (*lane, width(&row.does.text()) + AROUND),
            Does::Hands { from, to, text } => {
                let lanes = from.abs_diff(*to).max(1);
                (*from.min(to), (width(text) + SHAFT).div_ceil(lanes))
            }
        };
        wanted[lane] = wanted[lane].max(needed);
    }
    wanted.into_iter().map(|wanted| wanted.min(WIDEST)).collect()
}

impl Block {
    fn is_touched_by(&self, row: &Row) -> bool {
        let other = match row.does {
            Does::Hands { to, .. } => Some(to),
            Does::Nothing | Does::Local { .. } | Does::Posts { .. } => None,
        };
        let changes = self.columns.clone().any(|lane| row.starts(lane) || row.ends(lane));
        changes || row.does.lane().into_iter().chain(other).any(|lane| self.columns.contains(&lane))
    }

    /// The cells of a row: for each lane, the lifeline and the text beside it.
    fn cells<'t>(&self, cell: impl Fn(usize) -> (&'t str, &'t str)) -> String {
        let cells = self.columns.clone().zip(&self.widths).map(|(lane, room)| {
            let (sign, text) = cell(lane);
            padded(&format!("{sign} {}", cut(text, room - AROUND)), *room)
        });
        cells.collect()
    }

    fn row(&self, row: &Row, titles: &[String]) -> String {
        let sign = |lane| match () {
            () if row.starts(lane) => "┬",
            () if row.ends(lane) => "┴",
            () if row.has(lane) => "│",
            () => " ",
        };
        let text = row.does.text();
        let quiet = |lane: usize| if row.starts(lane) { titles[lane].as_str() } else { "" };
        match row.does {
            Does::Hands { from, to, .. } if self.columns.contains(&from) && self.columns.contains(&to) => {
                let (left, right) = (from.min(to), from.max(to));
                let part = |lanes: std::ops::Range<usize>| Block {
                    widths: self.widths[lanes.start - self.columns.start..lanes.end - self.columns.start].to_vec(),
                    columns: lanes,
                };
                let before = part(self.columns.start..left).cells(|lane| (sign(lane), quiet(lane)));
                let room = part(left..right).widths.iter().sum();
                let behind = part(right..self.columns.end).cells(|lane| match lane {
                    lane if lane == from => ("┤", ""),
                    lane => (sign(lane), quiet(lane)),
                });
                before + &arrow(&text, from < to, room) + &behind
            }
            Does::Hands { from, to, .. } => {
                let (out, into) = (format!("{text} → {}", titles[to]), format!("{text} ← {}", titles[from]));
                self.cells(|lane| match lane {
                    lane if lane == from => ("├", &out),
                    lane if lane == to => ("│", &into),
                    lane => (sign(lane), quiet(lane)),
                })
            }
            Does::Nothing | Does::Local { .. } | Does::Posts { .. } => self.cells(|lane| {
                let own = Some(lane) == row.does.lane();
                (sign(lane), if own { &text } else { quiet(lane) })
            }),
        }
    }
}

/// An arrow from one lifeline to another, including the left one only.
fn arrow(text: &str, to_the_right: bool, room: usize) -> String {
    let text = cut(text, room.saturating_sub(SHAFT));
    let shaft = room.saturating_sub(width(&text) + 4);
    let (short, long) = ("─".repeat(shaft / 2), "─".repeat(shaft - shaft / 2));
    if to_the_right { format!("├{short} {text} {long}▶") } else { format!("│◀{short} {text} {long}") }
}
