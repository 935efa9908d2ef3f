//! The default view of a run: its steps as text, with the values they change.

use super::options::ViewArgs;
use crate::run::{AGAIN, Titles, TraceSource};
use std::io::{self, Write};

/// Writes the steps while the run takes place, and the ending; returns the error if a given step is not enabled.
pub fn write(
    out: &mut dyn Write,
    run: &mut dyn TraceSource,
    titles: &Titles,
    options: &ViewArgs,
) -> io::Result<Option<String>> {
    writeln!(out, "{}\n", titles.headline())?;
    loop {
        let starts_cycle = run.is_at_cycle();
        let step = match run.next() {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(why) => return Ok(Some(why)),
        };
        if starts_cycle {
            out.write_all(AGAIN.as_bytes())?;
        }
        if !options.hides(&step) {
            out.write_all(step.text().as_bytes())?;
        }
    }
    writeln!(out, "\n{}", run.ending().sentences().join("\n  "))?;
    Ok(None)
}
