//! LTL: the definition of its semantics, random formulas and words, and published sets of formulas.

mod published;
mod random;
mod semantics;

pub use published::{Published, SETS};
pub use random::{formula, word};
pub use semantics::satisfies;
