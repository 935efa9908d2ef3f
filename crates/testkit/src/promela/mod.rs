//! Random Promela programs, for comparing two model checkers with each other.
//!
//! [`generate`] makes a program from a seed; its `Display` is the text; [`minimise`] cuts a program down
//! while something stays true of it. Programs are valid (unless [`Program::flaw`] says otherwise), have few
//! states, and avoid everything whose outcome in SPIN depends on its search order or on undefined behaviour
//! of its generated C code.

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
