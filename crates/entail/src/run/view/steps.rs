//! The steps of a run, with the values they change.

use super::options::ViewArgs;
use crate::run::{AGAIN, Titles, TraceSource};
use std::io::{self, Write};

/// Writes the steps while the run takes place, and the ending; returns the error if a given step is not enabled.
pub fn write(
    out: &mut dyn Write,
    telling: &mut dyn TraceSource,
    titles: &Titles,
    options: &ViewArgs,
) -> io::Result<Option<String>> {
    writeln!(out, "{}\n", titles.headline())?;
    loop {
        let starts_cycle = telling.is_at_cycle();
        let told = match telling.next() {
            Ok(Some(told)) => told,
            Ok(None) => break,
            Err(why) => return Ok(Some(why)),
        };
        if starts_cycle {
            out.write_all(AGAIN.as_bytes())?;
        }
        if !options.hides(&told) {
            out.write_all(told.text().as_bytes())?;
        }
    }
    writeln!(out, "\n{}", telling.ending().told().join("\n  "))?;
    Ok(None)
}
