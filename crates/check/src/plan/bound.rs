//! The memory available for states.

use crate::machine;

/// A reserve for buffers, and for memory that the allocator does not return.
const RESERVE: u64 = 2 << 20;

/// A memory limit in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// For the whole process.
    Process(u64),
    /// For visited states and their data: the spare memory of the machine.
    States(u64),
}

impl Bound {
    pub fn bytes(self) -> u64 {
        match self {
            Bound::Process(bytes) | Bound::States(bytes) => bytes,
        }
    }

    /// The share of each of several searches.
    pub fn shared(self, by: u64) -> Bound {
        match self {
            Bound::Process(bytes) => Bound::Process(bytes / by),
            Bound::States(bytes) => Bound::States(bytes / by),
        }
    }

    /// The memory left for states, given the current size of the process, minus a reserve. If the process is too
    /// large already, states still get a part.
    pub fn for_states(self) -> u64 {
        match self {
            Bound::States(bytes) => bytes,
            Bound::Process(bytes) => {
                let others = machine::resident_memory().unwrap_or(0) + RESERVE + bytes / 64;
                bytes.saturating_sub(others).max(bytes / 8)
            }
        }
    }
}
