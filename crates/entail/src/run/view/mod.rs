//! Views of a run, one per module.

mod chart;
mod columns;
mod html;
mod json;
mod lanes;
mod margin;
mod options;
mod output;
mod steps;
mod svg;
mod table;

pub use options::ViewArgs;

use super::{Run, Titles, TraceSource, Whole};
use crate::console::{Failure, Out};
use clap::ValueEnum;
use columns::wrapped;
use std::io::Write;

/// A view of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The steps, and the values they change
    Steps,
    /// The output of the model
    Output,
    /// A column for each process and variable, a row for each step
    Table,
    /// A message sequence chart: a lifeline for each process, with the messages between them
    Chart,
    /// The chart as an SVG picture
    Svg,
    /// An interactive HTML page with source, chart and states
    Html,
    /// JSON with all states
    Json,
}

impl View {
    /// Whether the view is text, which is sanitised. The output of a model is not.
    fn is_for_people(self) -> bool {
        match self {
            View::Steps | View::Table | View::Chart => true,
            View::Output | View::Svg | View::Html | View::Json => false,
        }
    }
}

/// Shows a run, and fails at the end if a given step is not enabled.
pub fn show(
    out: &mut Out,
    telling: &mut dyn TraceSource,
    titles: &Titles,
    view: View,
    options: &ViewArgs,
) -> Result<(), Failure> {
    let telling = &mut Whole::of(telling);
    let fails = |misfit: Option<String>| misfit.map_or(Ok(()), |why| Err(Failure::new(titles.misfit(&why))));
    let out = if view.is_for_people() { out } else { out.verbatim() };
    match view {
        // Written incrementally, whatever its length.
        View::Steps => fails(steps::write(out, telling, titles, options)?),
        View::Output => fails(output::write(out, telling)?),
        View::Table => whole(out, telling, titles, |run, misfit| {
            let table = table::text(run, options)?;
            Ok(framed(&table, run, titles, misfit, options))
        }),
        View::Chart => whole(out, telling, titles, |run, misfit| {
            Ok(framed(&chart::text(run, options), run, titles, misfit, options))
        }),
        View::Svg => whole(out, telling, titles, |run, misfit| svg::text(run, titles, misfit, options)),
        View::Html => whole(out, telling, titles, |run, misfit| {
            html::text(run, titles, misfit, &html::Source::of(run), options)
        }),
        View::Json => whole(out, telling, titles, |run, misfit| match misfit {
            // A partial document would be useless.
            Some(_) => Ok(String::new()),
            None => Ok(json::text(run, titles)),
        }),
    }
}

/// Draws the whole run, and returns the error if a given step is not enabled.
fn whole(
    out: &mut dyn Write,
    telling: &mut dyn TraceSource,
    titles: &Titles,
    draw: impl FnOnce(&Run, Option<&str>) -> Result<String, String>,
) -> Result<(), Failure> {
    let (run, misfit) = Run::of(telling);
    let misfit = misfit.map(|why| titles.misfit(&why));
    out.write_all(draw(&run, misfit.as_deref()).map_err(Failure::new)?.as_bytes())?;
    misfit.map_or(Ok(()), |why| Err(Failure::new(why)))
}

/// Adds the headline and the ending. A step that is not enabled is an error, reported elsewhere.
fn framed(text: &str, run: &Run, titles: &Titles, misfit: Option<&str>, options: &ViewArgs) -> String {
    let lines = |text: &str| wrapped(text, options.width()).join("\n") + "\n";
    let mut closing: String = errors(run).map(|error| lines(&error)).collect();
    if misfit.is_none() {
        closing.extend(run.ending.sentences().iter().map(|told| lines(told)));
    }
    let gap = if closing.is_empty() || text.is_empty() { "" } else { "\n" };
    format!("{}\n{text}{gap}{closing}", lines(&titles.headline()))
}

/// The errors in the run.
fn errors(run: &Run) -> impl Iterator<Item = String> {
    run.steps.iter().filter_map(|taken| {
        let violation = taken.told.violation.as_ref()?;
        Some(format!("step {}: {}", taken.told.number, violation.message))
    })
}

/// The closing lines of a document.
fn closing(run: &Run, misfit: Option<&str>) -> Vec<String> {
    let last = misfit.map_or_else(|| run.ending.sentences(), |misfit| vec![misfit.to_owned()]);
    errors(run).chain(last).collect()
}

/// Limits the number of steps: longer pictures and pages are unusable.
fn limited(count: usize, most: usize, view: &str) -> Result<(), String> {
    if count <= most {
        return Ok(());
    }
    Err(format!(
        "the run has {count} steps, and `--as {view}` shows {most} at most; leave some out with `--hide` or \
         `--only-messages`, or see it with `--as steps`, `table` or `chart`"
    ))
}
