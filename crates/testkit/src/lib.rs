//! For tests: toy graphs (`graph`), random models of each language (`promela`, `esml`, `bir`) and formulas (`ltl`, `ctl`),
//! and oracles that are too simple to be wrong: naive searches (`naive`), naive semantics, and the real SPIN (`spin`).

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
