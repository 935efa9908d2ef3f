//! Temporal logic: the definition, random formulas and words, and the sets of formulas that papers measure.

mod published;
mod random;
mod semantics;

pub use published::{Published, SETS};
pub use random::{formula, word};
pub use semantics::satisfies;
