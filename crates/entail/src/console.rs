//! Output, and the results of commands.

use crate::stderr::Stderr;
use entail_front::legible::legible;
use std::io::{self, Write};
use std::process::ExitCode;

/// The output of a command.
pub struct Console {
    pub out: Out<'static>,
    /// Whether `out` shows colours.
    pub colour: bool,
    pub stderr: Stderr,
}

/// Standard output. Text is sanitised, as a model may contain control characters for the terminal.
pub struct Out<'o> {
    out: Box<dyn Write + 'o>,
    is_terminal: bool,
    is_verbatim: bool,
}

/// The result of a command. Of several, the greatest is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Fine,
    Inconclusive,
    Violated,
    Wrong,
}

/// The failure of a command, with a message unless it was printed already.
#[derive(Debug)]
pub struct Failure(pub Option<String>);

/// A writer that ignores a broken pipe, so that the command continues to its verdict.
pub struct Forgiving<W>(pub W);

impl Console {
    /// Writes to stderr, and ignores errors.
    pub fn complain(&self, text: &str) {
        self.stderr.complain(text);
    }
}

impl<'o> Out<'o> {
    pub fn new(out: impl Write + 'o, is_terminal: bool) -> Out<'o> {
        Out { out: Box::new(out), is_terminal, is_verbatim: false }
    }

    /// For machine-readable formats, which are not sanitised unless they go to a terminal.
    pub fn verbatim(&mut self) -> &mut Out<'o> {
        self.is_verbatim = true;
        self
    }

    /// Writes a text that is sanitised already, and may have colours.
    pub fn write_styled(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }
}

/// Must be given complete characters.
impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_verbatim && !self.is_terminal {
            return self.out.write(bytes);
        }
        self.out.write_all(legible(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Status {
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Status::Fine => 0,
            Status::Violated => 1,
            Status::Wrong => 2,
            Status::Inconclusive => 3,
        })
    }
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(Some(message.into()))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::new(format!("cannot write: {error}"))
    }
}

impl<W: Write> Write for Forgiving<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formats_for_programs_are_left_as_they_are_and_only_without_a_terminal() {
        for (is_terminal, is_verbatim, expected) in [
            (false, false, "\\u{7}\n"),
            (true, false, "\\u{7}\n"),
            (false, true, "\u{7}\n"),
            (true, true, "\\u{7}\n"),
        ] {
            let mut written = Vec::new();
            let mut out = Out::new(&mut written, is_terminal);
            if is_verbatim {
                out.verbatim();
            }
            out.write_all("\u{7}\n".as_bytes()).unwrap();
            drop(out);
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }

    #[test]
    fn the_worst_of_several_counts() {
        let worst = [Status::Inconclusive, Status::Violated, Status::Fine].into_iter().max();
        assert_eq!(worst, Some(Status::Violated));
        assert!(Status::Wrong > Status::Violated);
    }
}
