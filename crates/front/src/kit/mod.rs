//! Building blocks for front ends: tokens and a cursor, types and their layout, and automata.

pub mod automata;
pub mod cursor;
pub mod data;
pub mod problems;

pub use automata::{Automata, Automaton};
pub(crate) use cursor::tokens;
pub use cursor::{Cursor, Kind, Parsed, Stop, Token, lex};
pub use data::{Access, defaults, frame_variable};
pub use problems::Problems;
