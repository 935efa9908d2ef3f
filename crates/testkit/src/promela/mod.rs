//! Random Promela programs, for comparing two model checkers.
//!
//! [`generate`] makes a program from a seed; its `Display` is the text; [`minimise`] shrinks a program while
//! it retains a property. Programs are valid (unless [`Program::flaw`] is present), have few states, and
//! avoid constructs whose result in SPIN depends on its search order or on undefined behaviour of its
//! generated C code.

pub mod ast;
mod features;
mod flaw;
mod generate;
mod print;
mod shrink;

pub use ast::{Compare, Program};
pub use features::{Feature, FeatureSet};
pub use flaw::Flaw;
pub use generate::{generate, generate_subject, generate_with};
pub use shrink::{minimise, shrink};
