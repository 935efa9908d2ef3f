//! How much memory there is for states.

use crate::machine;

/// Buffers, and what the allocator does not give back.
const UNFORESEEN: u64 = 2 << 20;

/// How many bytes of memory may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// By the process, with all that it consists of.
    Process(u64),
    /// By visited states, and what goes with them: as much as the machine can spare.
    States(u64),
}

impl Bound {
    pub fn bytes(self) -> u64 {
        match self {
            Bound::Process(bytes) | Bound::States(bytes) => bytes,
        }
    }

    /// What each of so many searches has, if they share it.
    pub fn shared(self, by: u64) -> Bound {
        match self {
            Bound::Process(bytes) => Bound::Process(bytes / by),
            Bound::States(bytes) => Bound::States(bytes / by),
        }
    }

    /// What is left to states, if the process is as it is now. What cannot be foreseen needs a little; and where the process is
    /// too large already, states are not to blame.
    pub fn for_states(self) -> u64 {
        match self {
            Bound::States(bytes) => bytes,
            Bound::Process(bytes) => {
                let others = machine::resident_memory().unwrap_or(0) + UNFORESEEN + bytes / 64;
                bytes.saturating_sub(others).max(bytes / 8)
            }
        }
    }
}
