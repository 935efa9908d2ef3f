//! Small random ESML models, and an independent naive implementation of their semantics.
//!
//! [`generate`] makes a model, [`text`] prints it, [`naive`] explores it by the rules of the language alone:
//! it shares nothing with the front ends, automata and packed states of entail.

mod generate;
pub mod naive;
mod text;

pub use generate::generate;
pub use text::text;

#[derive(Clone, Debug)]
pub struct Model {
    pub channels: usize,
    /// Each is activated once, in this order.
    pub processes: Vec<Process>,
}

#[derive(Clone, Debug)]
pub struct Process {
    /// The value of its parameter `me`.
    pub me: i64,
    pub vars: Vec<Ty>,
    pub body: Vec<Command>,
}

/// The types that every model declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// 0..3
    Digit,
    Boolean,
    /// At most two digits.
    Queue,
    /// Two digits.
    Row,
    /// A digit and a boolean.
    Pair,
    /// At most two pairs.
    Pairs,
}

pub const DIGITS: std::ops::RangeInclusive<i64> = 0..=3;
pub const CAPACITY: usize = 2;

/// A variable, or a part of it.
#[derive(Clone, Debug)]
pub enum Place {
    Whole(usize),
    Element(usize, Box<Expr>),
    Field(usize, usize),
}

#[derive(Clone, Debug)]
pub enum Expr {
    Number(i64),
    Boolean(bool),
    Me,
    Load(Place),
    Len(usize),
    Head(usize),
    Not(Box<Expr>),
    Binary(Op, Box<(Expr, Expr)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    Unequal,
    Less,
    And,
    Or,
}

#[derive(Clone, Debug)]
pub enum Command {
    Skip,
    Assign(Place, Expr),
    Empty(usize),
    Remove(usize),
    Append(usize, Expr),
    Prepend(usize, Expr),
    Communicate(Communication),
    If(Vec<(Expr, Vec<Command>)>),
    Do(Vec<(Expr, Vec<Command>)>),
    Poll(Vec<(Communication, Option<Expr>, Vec<Command>)>),
}

#[derive(Clone, Debug)]
pub struct Communication {
    pub channel: usize,
    pub signal: Signal,
    pub data: Data,
}

/// The data of a signal: none, or a value of a type.
pub type Signal = Option<Ty>;

#[derive(Clone, Debug)]
pub enum Data {
    Sent(Option<Expr>),
    /// Into a variable.
    Received(Option<Place>),
    /// Must equal the parameter.
    Matched,
}
