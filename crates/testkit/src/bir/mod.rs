//! Small random BIR models full of locks, and what they mean, written down a second time.

mod generate;
pub mod naive;
mod text;

pub use generate::{generate, generate_with_reuse};
pub use text::text;

/// Threads over [`VARIABLES`] numbers that wrap around at [`NUMBERS`], one more number that may count how many threads are
/// there, [`LOCKS`] locks and [`TIDS`] thread ids.
#[derive(Clone, Debug)]
pub struct Model {
    /// The first `active` ones exist from the beginning, once each.
    pub threads: Vec<Thread>,
    pub active: usize,
    /// Must hold in every state; asks for variables and thread ids only.
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
    /// `None` to return.
    pub target: Option<usize>,
}

#[derive(Clone, Debug)]
pub enum Action {
    Assign(usize, Value),
    Assert(Condition),
    Lock(usize),
    Unlock(usize),
    /// Only as the last one.
    Wait(usize),
    Notify(usize),
    NotifyAll(usize),
    /// Starts a thread that is not active, and keeps its id.
    Start(usize, Option<usize>),
    /// One thread id becomes another.
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
    /// Two thread ids are the same.
    Same(usize, usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Value {
    Number(i64),
    Variable(usize),
    /// One more than a variable.
    Next(usize),
}
