//! Toy graphs, random models and oracles, for tests.

pub mod bir;
pub mod command;
pub mod ctl;
pub mod esml;
pub mod files;
pub mod graph;
pub mod ltl;
pub mod naive;
pub mod promela;
pub mod recording_store;
pub mod rng;
pub mod spin;
