//! The syntax tree, with spans.

use crate::source::Span;

pub use entail_temporal::ctl::Quantifier;

#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Debug)]
pub struct Model {
    pub name: Name,
    pub decls: Decls,
    pub processes: Vec<Process>,
    pub body: Vec<Command>,
    pub assertion: Option<Expr>,
}

#[derive(Debug)]
pub struct Process {
    pub name: Name,
    pub params: Vec<Param>,
    pub decls: Decls,
    pub body: Vec<Command>,
    /// The position of its end.
    pub end: Span,
}

#[derive(Debug)]
pub struct Param {
    pub direction: Option<(Direction, Span)>,
    pub name: Name,
    pub ty: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
}

#[derive(Debug, Default)]
pub struct Decls {
    pub consts: Vec<(Name, Expr)>,
    pub types: Vec<(Name, Type)>,
    /// Variables with the names of their types.
    pub vars: Vec<(Name, Name)>,
}

#[derive(Debug)]
pub enum Type {
    Range(Expr, Expr),
    Enumeration(Vec<Name>),
    List(Expr, Name),
    Array(Expr, Name),
    Tuple(Vec<(Name, Name)>),
    /// Signals with the types of their data.
    Alphabet(Vec<(Name, Option<Name>)>),
}

#[derive(Debug)]
pub struct Command {
    pub kind: CommandKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum CommandKind {
    Assign(Access, Expr),
    Communicate(Communication),
    Activate(Name, Vec<Expr>),
    If(Vec<Guarded>),
    Do(Vec<Guarded>),
    Poll(Vec<Alternative>),
    Skip,
    Trace(Vec<Traced>),
    Empty(Access),
    Remove(Access),
    Append(Access, Expr),
    Prepend(Access, Expr),
}

/// `channel!signal(data)` or `channel?signal(data)`.
#[derive(Debug)]
pub struct Communication {
    pub channel: Access,
    pub direction: Direction,
    pub signal: Name,
    /// The value that is sent, or the variable that receives it.
    pub data: Option<Expr>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Guarded {
    pub guard: Expr,
    pub body: Vec<Command>,
}

#[derive(Debug)]
pub struct Alternative {
    pub communication: Communication,
    pub condition: Option<Expr>,
    pub body: Vec<Command>,
}

#[derive(Debug)]
pub enum Traced {
    Text(String),
    Value(Expr),
}

#[derive(Clone, Debug)]
pub struct Access {
    pub name: Name,
    pub selectors: Vec<Selector>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Selector {
    Index(Box<Expr>),
    Field(Name),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Number(i32),
    Boolean(bool),
    Access(Access),
    Len(Access),
    Head(Access),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `AG f`, `A(f U g)` and so on; only in formulas.
    Runs(Quantifier, Box<Path>),
    /// Only in formulas.
    Implies(Box<(Expr, Expr)>),
}

pub type Path = entail_temporal::ctl::Path<Expr>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    And,
    Or,
    Compare(Relation),
    Compute(Arithmetic),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}
