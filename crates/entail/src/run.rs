//! Ways to see a run.

mod view;

pub use entail_check::run::*;
pub use view::{View, ViewArgs, show};
