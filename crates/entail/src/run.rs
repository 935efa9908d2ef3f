//! Views of runs.

mod view;

pub use entail_check::run::*;
pub use view::{View, ViewArgs, show};
