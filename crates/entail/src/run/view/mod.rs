//! Ways to see a run, a file for each.

mod json;
mod output;
mod steps;

use super::{Run, Telling, Titles};
use crate::console::Failure;
use clap::ValueEnum;
use std::io::Write;

/// How a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// What happens and what it changes, step by step
    #[default]
    Steps,
    /// Only what the model prints
    Output,
    /// For programs, with all states
    Json,
}

/// Shows a run, as far as it is possible; it fails after that if it should go further.
pub fn show(out: &mut dyn Write, telling: &mut dyn Telling, titles: &Titles, view: View) -> Result<(), Failure> {
    let misfit = match view {
        // However long it is.
        View::Steps => steps::write(out, telling, titles)?,
        View::Output => output::write(out, telling)?,
        View::Json => {
            let (run, misfit) = Run::of(telling);
            match misfit {
                // Half a document would be none.
                Some(_) => {}
                None => out.write_all(json::text(&run, titles).as_bytes())?,
            }
            misfit
        }
    };
    misfit.map_or(Ok(()), |why| Err(titles.misfit(&why)))
}
