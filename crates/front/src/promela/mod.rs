//! Promela, the language of SPIN.

pub mod ast;
pub mod token;
