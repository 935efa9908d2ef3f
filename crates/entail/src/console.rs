//! Where output goes, and how a command ends.

use std::io::{self, Write};
use std::process::ExitCode;

/// Where to write, and what the reader can see.
pub struct Console {
    pub out: Box<dyn Write>,
    /// Whether `out` shows colours.
    pub colour: bool,
    /// Whether stderr does.
    pub colour_errors: bool,
    /// Whether somebody watches stderr.
    pub progress: bool,
}

/// How a command ended, if it could be carried out. Of several, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Fine,
    Inconclusive,
    Violated,
    Wrong,
}

/// Why a command could not be carried out: what to say about it, which is nothing if all has been said.
#[derive(Debug)]
pub struct Failure(pub Option<String>);

/// A writer whose reader may leave: what nobody reads is dropped, and the command goes on to its verdict.
pub struct Forgiving<W>(pub W);

impl Console {
    /// Writes to stderr, if anybody listens.
    pub fn complain(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
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
    fn the_worst_of_several_counts() {
        let worst = [Status::Inconclusive, Status::Violated, Status::Fine].into_iter().max();
        assert_eq!(worst, Some(Status::Violated));
        assert!(Status::Wrong > Status::Violated);
    }
}
