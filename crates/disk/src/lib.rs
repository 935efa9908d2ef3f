//! What searches and stores keep in files. Knows neither models nor states: only bytes, and where they go.

mod checkpoint;
mod saved;
mod scratch;

pub use checkpoint::{Checkpoint, Opened, Unusable};
pub use saved::{FORMAT, Lasting, Reader, Saved, Writer, damaged};
pub use scratch::{Scratch, Spool, Tape};
