//! Files of searches and stores: snapshots, checkpoints and spill files. Knows bytes, but neither models nor states.

mod checkpoint;
mod scratch;
mod snapshot;

pub use checkpoint::{Checkpoint, Opened, Unusable};
pub use scratch::{Scratch, SpillFile, SpillQueue};
pub use snapshot::{FORMAT, Reader, Restore, Snapshot, Writer, damaged};
