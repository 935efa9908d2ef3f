//! The cost of a transition as the number of states grows.

use crate::bench::{Mode, Plan, Run, Subject, TIME, bare_table, measured, median};
use crate::entail::{Answer, Entail, Task};
use crate::plot::{self, Series};
use crate::{Outcome, Result, compare, root};
use entail_testkit::spin::{self, SpinAnswer, Status};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// The largest size; there are two sizes per power of ten, from 100,000 states on
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_states: u64,
    /// The number of measurements for each size; the medians count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The memory limit of a run, in MiB; the first size that needs more is the last
    #[arg(long, value_name = "MIB", default_value_t = 12_000)]
    memory: u32,
    /// Measure SPIN too
    #[arg(long)]
    spin: bool,
    /// The file for the plot
    #[arg(long, value_name = "FILE", default_value = "docs/scaling.svg")]
    svg: PathBuf,
}

const MODEL: &str = "tests/bench/scalable.pml";

/// The scalable model for one value of its `N`, with the counts that its first comment derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    n: u64,
    states: u64,
    transitions: u64,
    depth: u64,
}

impl Size {
    fn of(n: u64) -> Self {
        let each = 2 * n + 1;
        Self { n, states: each.pow(3), transitions: 3 * 2 * n * each.pow(2) + 1, depth: 3 * 2 * n }
    }

    /// The largest size with at most this number of states.
    fn up_to(states: f64) -> Self {
        // Rounding errors must not decrease a whole number.
        Self::of(((states.cbrt() + 1e-9 - 1.0) / 2.0) as u64)
    }

    /// Two per power of ten.
    fn all(max_states: u64) -> impl Iterator<Item = Self> {
        let sizes = (0..).map(|half| Self::up_to(10f64.powf(5.0 + f64::from(half) / 2.0)));
        sizes.take_while(move |size| size.states <= max_states)
    }
}

/// The measurements for one size.
struct Point {
    size: Size,
    entail: Run,
    spin: Option<Run>,
    bare: Option<f64>,
}

enum Measured {
    Point(Point),
    LimitReached,
    /// entail's counts are wrong.
    Wrong(String),
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    if options.spin && !spin::available() {
        return Err("spin and gcc are needed".into());
    }
    let entail = Entail::find(binary)?.one_thread();
    let mut points: Vec<Point> = Vec::new();
    println!("{HEADER}");
    for size in Size::all(options.max_states) {
        // When SPIN runs out of memory, only entail continues.
        let with_spin = options.spin && points.last().is_none_or(|point| point.spin.is_some());
        match measure(&entail, size, with_spin, options)? {
            Measured::Point(point) => {
                println!("{}", line(&point));
                points.push(point);
            }
            Measured::LimitReached => {
                eprintln!("{} states: a limit was reached, and this is the end", size.states);
                break;
            }
            Measured::Wrong(how) => {
                eprintln!("{} states: {how}", size.states);
                return Ok(Outcome::Difference);
            }
        }
    }
    let file = root().join(&options.svg);
    std::fs::write(&file, draw(&points)).map_err(|problem| format!("{}: {problem}", file.display()))?;
    Ok(Outcome::Agreement)
}

fn measure(entail: &Entail, size: Size, with_spin: bool, options: &Options) -> Result<Measured> {
    let model = root().join(MODEL);
    let constants = vec![format!("N={}", size.n)];
    let memory = format!("{}M", options.memory);
    let task = Task { mode: Mode::AsWritten.of_entail(), constants: &constants, memory: &memory, time: TIME };
    let (mut ours, mut theirs, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        if with_spin {
            theirs.extend(measure_spin(size, model.clone(), constants.clone(), options.memory)?);
        }
        let (answer, total) = entail.run(&model, &task);
        if answer == Answer::Inconclusive {
            return Ok(Measured::LimitReached);
        }
        match measured(&answer, total) {
            Some(run) if (run.states, run.transitions) == (size.states, size.transitions) => ours.push(run),
            _ => return Ok(Measured::Wrong(compare::describe(&answer))),
        }
        bare.extend(bare_table(size.transitions, size.states));
    }
    let run = Run::median(&ours).ok_or("there was no round")?;
    Ok(Measured::Point(Point { size, entail: run, spin: Run::median(&theirs), bare: median(bare) }))
}

/// `None` if SPIN does not finish.
fn measure_spin(size: Size, model: PathBuf, constants: Vec<String>, memory_mib: u32) -> Result<Option<Run>> {
    let subject = Subject { model, mode: Mode::AsWritten.of_spin(), constants, memory_mib };
    let known = SpinAnswer { stored: size.states, depth: size.depth, ..SpinAnswer::default() };
    let (answer, run) = Plan::new(subject, &known).run()?;
    Ok((answer.status == Status::Complete).then_some(run))
}

const HEADER: &str = "n,states,transitions,search_s,ns_per_transition,bytes_per_state,peak_bytes,backend,\
                      spin_ns_per_transition,bare_table_ns";

fn line(point: &Point) -> String {
    let Size { n, states, transitions, .. } = point.size;
    let Run { search, bytes_per_state, peak_bytes, backend, .. } = &point.entail;
    let [ours, theirs, bare] =
        point.figures().map(|figure| figure.map(|it| format!("{it:.2}")).unwrap_or_default());
    format!("{n},{states},{transitions},{search},{ours},{bytes_per_state},{peak_bytes},{backend},{theirs},{bare}")
}

impl Point {
    /// Nanoseconds per transition or operation, in the order of `NAMES`.
    fn figures(&self) -> [Option<f64>; 3] {
        let spin = self.spin.as_ref().and_then(Run::nanoseconds_per_transition);
        [self.entail.nanoseconds_per_transition(), spin, self.bare]
    }
}

const NAMES: [&str; 3] = ["entail", "SPIN", "bare table"];

fn draw(points: &[Point]) -> String {
    let series = |at: usize| {
        let pairs = points.iter().filter_map(|point| Some((point.size.states as f64, point.figures()[at]?)));
        Series { name: NAMES[at], points: pairs.collect() }
    };
    let series: Vec<Series> = (0..NAMES.len()).map(series).filter(|series| !series.points.is_empty()).collect();
    plot::log_log("states", "nanoseconds per transition", &series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::spin::Limits;

    #[test]
    fn there_are_two_sizes_per_power_of_ten() {
        let states: Vec<u64> = Size::all(100_000_000).map(|size| size.states).collect();
        assert_eq!(states, [91_125, 300_763, 970_299, 3_048_625, 9_938_375, 31_255_875, 99_252_847]);
        assert_eq!(Size::all(1_000_000).count(), 3);
        assert_eq!(Size::up_to(101f64.powi(3)), Size::of(50));
    }

    #[test]
    fn the_scalable_model_has_as_many_states_as_it_says() {
        let text = std::fs::read_to_string(root().join(MODEL)).unwrap();
        let Size { states, transitions, .. } = Size::of(50);
        assert!(text.starts_with(&format!("/* expect: stored {states}, transitions {transitions}, errors 0\n")));
        if !spin::available() {
            return;
        }
        let answer = spin::run(&format!("#define N 4\n{text}"), spin::Mode::Full, Limits::default()).unwrap();
        let found = Size { n: 4, states: answer.stored, transitions: answer.transitions, depth: answer.depth };
        assert_eq!(found, Size::of(4));
    }

    #[test]
    fn a_line_has_a_cell_for_every_column() {
        let point = Point { size: Size::of(3), entail: Run::default(), spin: None, bare: None };
        assert_eq!(line(&point).split(',').count(), HEADER.split(',').count());
    }
}
