//! The coverage of searches with less memory than the states need: figure 15 of Holzmann's *An analysis of
//! bitstate hashing* (FMSD 1998), with the estimate in entail's report beside the actual coverage, and SPIN
//! beside both.

use crate::bench::document;
use crate::entail::Entail;
use crate::plot::{self, Scale, Series};
use crate::{Outcome, Result, root};
use entail_testkit::command::finish;
use entail_testkit::spin;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    /// The model
    #[arg(long, value_name = "FILE", default_value = "tests/bench/scalable.pml")]
    model: PathBuf,
    /// The number of runs for each size, with different seeds; the means count
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Write the table into this page, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// The file for the plot
    #[arg(long, value_name = "FILE", default_value = "docs/coverage.svg")]
    svg: PathBuf,
}

/// Bits per state: SPIN's default.
const OF_SPIN: &str = "3";
/// The sizes of hashes in bits, for hash compaction.
const HASHES: [u32; 9] = [12, 14, 16, 18, 20, 22, 24, 28, 32];
const TIME: Duration = Duration::from_secs(600);

/// The coverage with a given number of bytes, as a share of the actual number of states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    bytes: f64,
    found: f64,
    /// The estimate in the report.
    estimate: f64,
}

/// With an array of one size.
struct Row {
    bytes: u64,
    breadth_first: Seen,
    depth_first: Seen,
    spin: f64,
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if !spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let entail = Entail::find(binary)?.one_thread();
    let model = root().join(&options.model);
    let exact = entail.property(&model, &WHAT)?;
    let states = number(&exact["states"]["stored"])?;
    let needed = number(&exact["store"]["bytes"])?;
    let pan = Pan::make(&model)?;
    let see = |how: &[&str]| seen(&entail, &model, how, states, options.rounds);
    let mut rows = Vec::new();
    for logarithm in sizes(needed) {
        let bytes = 1u64 << (logarithm - 3);
        let size = bytes.to_string();
        let array = ["--store", "bitstate", "--array", &size];
        let row = Row {
            bytes,
            breadth_first: see(&array)?,
            depth_first: see(&[&array[..], &["--search", "dfs"]].concat())?,
            spin: pan.seen(logarithm, states, options.rounds)?,
        };
        eprintln!("{}", line(&row, needed));
        rows.push(row);
    }
    let mut compact = Vec::new();
    for bits in HASHES {
        compact.push((bits, see(&["--store", "compact", "--hash-bits", &bits.to_string()])?));
    }
    let text = table(&rows, &compact, states, needed);
    println!("{text}");
    if let Some(page) = &options.markdown {
        document::write(&root().join(page), "coverage", &text)?;
    }
    let file = root().join(&options.svg);
    std::fs::write(&file, draw(&rows, &compact, needed))
        .map_err(|problem| format!("{}: {problem}", file.display()))?;
    Ok(Outcome::Agreement)
}

/// The model as written, so that SPIN has the same states.
const WHAT: [&str; 3] = ["--no-opt", "--property", "safety"];

/// Arrays of powers of two bits, the only sizes that SPIN has: from a thousandth of the memory that all
/// states need up to all of it.
fn sizes(needed: f64) -> std::ops::RangeInclusive<u32> {
    let logarithm = |bytes: f64| (8.0 * bytes).log2();
    logarithm(needed / 1000.0).ceil() as u32..=logarithm(needed).ceil() as u32
}

/// The means over some rounds.
fn seen(entail: &Entail, model: &Path, how: &[&str], states: f64, rounds: u32) -> Result<Seen> {
    let mut sum = Seen::default();
    for round in 0..rounds {
        let seed = round.to_string();
        let report = entail.property(model, &[&WHAT[..], how, &["--seed", &seed]].concat())?;
        sum.bytes += number(&report["store"]["bytes"])?;
        sum.found += number(&report["states"]["stored"])? / states;
        sum.estimate += number(&report["store"]["coverage"])?;
    }
    let mean = |sum: f64| sum / f64::from(rounds);
    Ok(Seen { bytes: mean(sum.bytes), found: mean(sum.found), estimate: mean(sum.estimate) })
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().ok_or_else(|| "a number is missing in the report".into())
}

/// SPIN's verifier with bitstate hashing.
struct Pan {
    folder: tempfile::TempDir,
}

impl Pan {
    fn make(model: &Path) -> Result<Pan> {
        let folder = tempfile::tempdir()?;
        let mut generator = Command::new("spin");
        generator.args(["-a", "-o1", "-o2", "-o3"]).arg(model).current_dir(folder.path());
        let mut compiler = Command::new("gcc");
        let flags = ["-O2", "-w", "-DBITSTATE", "-DSAFETY", "-DNOCLAIM", "-DNOREDUCE", "-DMEMLIM=4000"];
        compiler.args(flags).args(["-o", "pan", "pan.c"]).current_dir(folder.path());
        for command in [&mut generator, &mut compiler] {
            let finished = finish(command, TIME)?;
            if !finished.success() {
                return Err(format!("SPIN does not take the model: {}", finished.text()).into());
            }
        }
        Ok(Pan { folder })
    }

    /// The coverage with an array of this number of bits.
    fn seen(&self, logarithm: u32, states: f64, rounds: u32) -> Result<f64> {
        let mut sum = 0.0;
        for round in 0..rounds {
            let mut pan = Command::new(self.folder.path().join("pan"));
            let size = format!("-w{logarithm}");
            pan.args(["-n", "-c0", "-m1000000", &size, &format!("-k{OF_SPIN}"), &format!("-h{round}")]);
            let answer = spin::read_answer(&finish(pan.current_dir(self.folder.path()), TIME)?);
            if answer.status != spin::Status::Complete {
                return Err(format!("SPIN with {size}: {:?}", answer.status).into());
            }
            sum += answer.stored as f64 / states;
        }
        Ok(sum / f64::from(rounds))
    }
}

const HEADER: &str = "\
| array | of what all states need | breadth first: seen | estimate | depth first: seen | estimate | SPIN: seen |
|---:|---:|---:|---:|---:|---:|---:|";

const COMPACT_HEADER: &str = "\
| hash | of what all states need | seen | estimate |
|---:|---:|---:|---:|";

fn line(row: &Row, needed: f64) -> String {
    let Row { bytes, breadth_first, depth_first, spin } = row;
    let share = percent(*bytes as f64 / needed);
    let [a, b, c, d, e] =
        [breadth_first.found, breadth_first.estimate, depth_first.found, depth_first.estimate, *spin].map(percent);
    format!("| {bytes} bytes | {share} | {a} | {b} | {c} | {d} | {e} |")
}

fn table(rows: &[Row], compact: &[(u32, Seen)], states: f64, needed: f64) -> String {
    let mut lines =
        vec![format!("{states} states, for which the exact store needs {needed} bytes:\n"), HEADER.into()];
    lines.extend(rows.iter().map(|row| line(row, needed)));
    lines.extend(["\nHashes, breadth first:\n".into(), COMPACT_HEADER.into()]);
    lines.extend(compact.iter().map(|(bits, seen)| {
        let [share, found, estimate] = [seen.bytes / needed, seen.found, seen.estimate].map(percent);
        format!("| {bits} bits | {share} | {found} | {estimate} |")
    }));
    lines.join("\n")
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 10.0 { format!("{percent:.2}%") } else { format!("{percent:.1}%") }
}

fn draw(rows: &[Row], compact: &[(u32, Seen)], needed: f64) -> String {
    let of_rows = |name, seen: fn(&Row) -> f64| {
        let points = rows.iter().map(|row| (100.0 * row.bytes as f64 / needed, 100.0 * seen(row)));
        Series { name, points: points.collect() }
    };
    let hashes = compact.iter().map(|(_, seen)| (100.0 * seen.bytes / needed, 100.0 * seen.found));
    let series = [
        of_rows("breadth first", |row| row.breadth_first.found),
        of_rows("estimate", |row| row.breadth_first.estimate),
        of_rows("depth first", |row| row.depth_first.found),
        of_rows("SPIN", |row| row.spin),
        Series { name: "hashes", points: hashes.collect() },
    ];
    let (x, y) = ("memory, in percent of what all states need", "states seen, in percent");
    plot::draw((x, Scale::Logarithmic), (y, Scale::Linear), &series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_go_from_a_thousandth_to_all_that_is_needed() {
        assert_eq!(sizes(f64::from(1 << 20)), 14..=23);
    }

    #[test]
    fn every_line_has_a_cell_for_every_column() {
        let seen = Seen { bytes: 500.0, found: 0.25, estimate: 0.5 };
        let row = Row { bytes: 1024, breadth_first: seen, depth_first: seen, spin: 0.125 };
        let text = table(&[row], &[(12, seen)], 100.0, 10_000.0);
        let cells = |line: &str| line.matches('|').count();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        assert_eq!(lines, [8, 8, 8, 5, 5, 5]);
        assert!(text.contains("| 1024 bytes | 10.2% | 25.0% | 50.0% | 25.0% | 50.0% | 12.5% |"), "{text}");
        assert!(text.contains("| 12 bits | 5.00% | 25.0% | 50.0% |"), "{text}");
    }
}
