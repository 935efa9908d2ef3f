//! The output of the model.

use crate::run::TraceSource;
use std::io::{self, Write};

/// Writes the output while the run takes place; returns the error if a given step is not enabled.
pub fn write(out: &mut dyn Write, telling: &mut dyn TraceSource) -> io::Result<Option<String>> {
    telling.be_brief();
    let mut line_is_open = false;
    let misfit = loop {
        let told = match telling.next() {
            Ok(Some(told)) => told,
            Ok(None) => break None,
            Err(why) => break Some(why),
        };
        if let Some(output) = told.explained.and_then(|explained| explained.output) {
            out.write_all(output.as_bytes())?;
            line_is_open = !output.ends_with('\n');
        }
    };
    // Later output on a terminal begins on a new line.
    if line_is_open {
        writeln!(out)?;
    }
    Ok(misfit)
}
