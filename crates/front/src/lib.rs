//! Languages: from the text a person wrote to the automata of `entail-ir`.
//!
//! A front end never stops at the first problem: it returns what it could read and every problem it met.

pub mod diagnostic;
pub mod promela;
pub mod source;
