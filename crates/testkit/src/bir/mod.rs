//! Small random BIR models with many locks, and an independent naive implementation of their semantics.

mod generate;
pub mod naive;
mod text;

pub use generate::{generate, generate_with_reuse};
pub use text::text;

/// Threads over [`VARIABLES`] numbers modulo [`NUMBERS`], one more number that may count the existing
/// threads, [`LOCKS`] locks and [`TIDS`] thread ids.
#[derive(Clone, Debug)]
pub struct Model {
    /// The first `active` ones exist initially, with one instance each.
    pub threads: Vec<Thread>,
    pub active: usize,
    /// Must hold in every state; reads only variables and thread ids.
    pub invariant: Option<Condition>,
}

pub const VARIABLES: usize = 2;
pub const COUNTER: usize = VARIABLES;
pub const NUMBERS: i64 = 3;
pub const LOCKS: usize = 2;
pub const TIDS: usize = 2;

/// Its locations, each with its alternatives.
#[derive(Clone, Debug)]
pub struct Thread {
    pub locations: Vec<Vec<Transformation>>,
}

#[derive(Clone, Debug)]
pub struct Transformation {
    pub guard: Option<Condition>,
    pub actions: Vec<Action>,
    /// `None` ends the thread.
    pub target: Option<usize>,
}

#[derive(Clone, Debug)]
pub enum Action {
    Assign(usize, Value),
    Assert(Condition),
    Lock(usize),
    Unlock(usize),
    /// Only as the last action.
    Wait(usize),
    Notify(usize),
    NotifyAll(usize),
    /// Starts a thread that is not active, and stores its id.
    Start(usize, Option<usize>),
    /// Assigns one thread id to another.
    Copy(usize, usize),
    Choose {
        alternatives: Vec<(Option<Condition>, Vec<Action>)>,
        otherwise: Option<Vec<Action>>,
    },
    If {
        condition: Condition,
        yes: Vec<Action>,
        no: Vec<Action>,
    },
}

#[derive(Clone, Debug)]
pub enum Condition {
    Less(Value, Value),
    Equal(Value, Value),
    Available(usize),
    Mine(usize),
    Terminated(usize),
    /// Whether two thread ids are equal.
    Same(usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Value {
    Number(i64),
    Variable(usize),
    /// The successor of a variable's value.
    Next(usize),
}
