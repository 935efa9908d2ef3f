//! Only what the model prints.

use crate::run::TraceSource;
use std::io::{self, Write};

/// Writes what is printed while it is; returns why the run does not go on as it should.
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
    // What comes next on a terminal begins on a line of its own.
    if line_is_open {
        writeln!(out)?;
    }
    Ok(misfit)
}
