//! Building blocks for languages: tokens and a cursor, types as they lie in a state, and automata.

pub mod automata;
pub mod cursor;
pub mod data;

pub use automata::{Automata, Automaton};
pub use cursor::{Cursor, Kind, Parsed, Stop, Token, lex};
pub use data::{Access, defaults, frame_variable};
