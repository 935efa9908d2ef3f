//! Makes a [`Model`](entail_model::Model) of a system: states in as few bits as possible, and successors computed by machine code.
//!
//! [`Jit`] compiles a system, and [`Packed`] is the model over packed states. `Packed` runs on any
//! [`Engine`](entail_ir::interpret::Engine): the compiled system, or the interpreter, its oracle.

mod jit;
mod packed;

pub use jit::{AnyEngine, Jit, Scratch, Tuning, Unsupported};
pub use packed::{Packed, ReductionMode, Stubborn, best_reduction};
