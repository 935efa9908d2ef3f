//! Changes of a system that nothing asked of it can see, and that leave fewer states.
//!
//! No pass renumbers anything, and none changes which edges a run takes: so a run of the changed system is a run of the
//! original one, step by step, and is told and replayed there.

mod cells;
mod constants;
mod faults;
mod forget;
mod merge;
mod owners;
mod unread;

#[cfg(test)]
mod tests;

pub(crate) use owners::ObservedLocations;
pub use owners::alone;

use crate::System;
use entail_model::Deadline;

/// Which passes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// What is always the same is written as a number, and what never happens says so.
    pub constants: bool,
    /// What nobody ever looks at is not kept.
    pub unread: bool,
    /// What nobody will look at any more is forgotten.
    pub forget: bool,
    /// What a process does by itself, and nobody sees, is done without a stop.
    pub merge: bool,
}

impl Passes {
    pub const NONE: Passes = Passes { constants: false, unread: false, forget: false, merge: false };
    pub const ALL: Passes = Passes { constants: true, unread: true, forget: true, merge: true };

    /// Every pass by itself, with its name.
    pub fn each_alone() -> impl Iterator<Item = (&'static str, Passes)> {
        [
            ("constants", Passes { constants: true, ..Passes::NONE }),
            ("unread", Passes { unread: true, ..Passes::NONE }),
            ("forget", Passes { forget: true, ..Passes::NONE }),
            ("merge", Passes { merge: true, ..Passes::NONE }),
        ]
        .into_iter()
    }
}

// No pass makes variables narrower: states are packed by the values that variables can have, not by their types.

/// The system as it is to be searched. What its propositions, invariants and marks say stays the same in all runs, but for
/// how often it is said, if statements are merged.
pub fn optimised(system: &System, passes: Passes) -> System {
    optimised_until(system, passes, Deadline::NEVER).map_or_else(|| system.clone(), |optimised| optimised.system)
}

/// A system as it is to be searched, and what it lacks.
pub struct Optimised {
    pub system: System,
    /// The variables that nothing depends on: they keep their initial values.
    pub unread: Vec<String>,
}

/// The same, with what was left out. Nothing if there is no time for that.
pub fn optimised_until(system: &System, passes: Passes, deadline: Deadline) -> Option<Optimised> {
    let (mut system, mut unread) = (system.clone(), Vec::new());
    if passes.constants {
        constants::constants(&mut system);
    }
    if passes.unread && !deadline.is_over() {
        unread = unread::unread(&mut system);
    }
    if passes.forget && !deadline.is_over() {
        forget::forget(&mut system);
    }
    if passes.merge && !deadline.is_over() {
        merge::merge(&mut system);
    }
    (!deadline.is_over()).then_some(Optimised { system, unread })
}
