//! Automata in the Hanoi Omega-Automata format, version 1.

mod label;
mod lex;
mod read;
mod write;

pub use read::read;
pub use write::print;

use crate::automaton::Automaton;
use std::fmt;

/// An automaton, the names of its propositions, and its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAutomaton {
    pub automaton: Automaton,
    pub propositions: Vec<String>,
    /// Usually the formula it was made from.
    pub title: Option<String>,
}

/// A syntax error, and its place: the bytes `start..end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub start: usize,
    pub end: usize,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
