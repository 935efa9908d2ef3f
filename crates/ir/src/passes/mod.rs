//! Passes over a system that reduce its state space and preserve its properties.
//!
//! No pass renumbers anything, and none changes which edges a run takes. So a run of the optimised system is, step by
//! step, a run of the original one, and is displayed and replayed there.

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

/// Which passes are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Constant propagation and removal of unreachable code.
    pub constants: bool,
    /// Removal of variables that are never read.
    pub unread: bool,
    /// Dead variable reset.
    pub forget: bool,
    /// Statement merging.
    pub merge: bool,
}

impl Passes {
    pub const NONE: Passes = Passes { constants: false, unread: false, forget: false, merge: false };
    pub const ALL: Passes = Passes { constants: true, unread: true, forget: true, merge: true };

    /// Every pass alone, with its name.
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

/// The optimised system. Propositions, invariants and marks have the same values along all runs, up to stuttering if
/// statements are merged.
pub fn optimised(system: &System, passes: Passes) -> System {
    optimised_until(system, passes, Deadline::NEVER).map_or_else(|| system.clone(), |optimised| optimised.system)
}

/// An optimised system, and the variables that it lacks.
pub struct Optimised {
    pub system: System,
    /// The variables that nothing depends on: they keep their initial values.
    pub unread: Vec<String>,
}

/// The same, with the removed variables. `None` if the deadline passes.
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
