//! Toy graphs, random models and oracles, for tests.

pub mod bir;
pub mod command;
pub mod ctl;
pub mod diary;
pub mod esml;
pub mod files;
pub mod graph;
pub mod ltl;
pub mod naive;
pub mod promela;
pub mod rng;
pub mod spin;
