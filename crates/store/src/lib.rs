//! Where visited states are kept: one file for each kind of store.

mod arena;
mod exact;

pub use exact::Exact;
