//! Process automata: the intermediate representation that every language is lowered to and every engine runs.
//!
//! A [`System`] is a set of process types, each with locations and edges, over typed variables and channels. Rules of
//! a particular language, such as truncating assignments, are explicit here, so that engines know no language.

pub mod action;
pub mod expr;
pub mod footprint;
pub mod interpret;
pub mod monitor;
pub mod passes;
pub mod ranges;
pub mod stubborn;
pub mod system;
pub mod text;
pub mod verify;

pub use entail_model::FaultKind;

pub use action::{
    Action, Block, BlockNode, Child, ChildMut, Effect, Enabling, Entry, NodeId, Pattern, Receive, Run, Send,
};
pub use expr::{BinaryOp, ChannelTest, Expr, Poll, UnaryOp};

pub use footprint::{Footprint, Footprints};
pub use interpret::Interpreter;
pub use monitor::Monitor;
pub use passes::Passes;
pub use ranges::Ranges;
pub use system::{
    Base, ChannelType, ChannelTypeId, Edge, EdgeId, Enumeration, EnumerationId, Field, Frame, Index, Init, Label,
    Location, LocationId, Meaning, Place, ProcessType, ProcessTypeId, Range, Scalar, Shape, Start, Statement,
    StatementId, System, Variable,
};
