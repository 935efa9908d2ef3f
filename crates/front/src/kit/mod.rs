//! What a language can be built from: tokens and a place among them, types as they lie in a state, and automata
//! put together location by location.

pub mod automata;
pub mod cursor;
pub mod data;

pub use automata::{Automata, Automaton};
pub use cursor::{Cursor, Kind, Parsed, Stop, Token, lex};
pub use data::{Access, defaults, frame_variable};
