//! A checked model: types, and processes as the instructions of ESML's abstract machine.
//!
//! The location counter of a process is the address of an instruction. Expressions are operands here; the machine's
//! instructions for them appear only in the [listing](super::listing).

use crate::source::Span;
use entail_ir::{Range, Shape};
use entail_temporal::Ctl;

pub use super::ast::{Arithmetic, BinaryOp, Direction, Relation};

#[derive(Debug, Default)]
pub struct Program {
    pub types: Vec<Type>,
    pub channels: Vec<Channel>,
    pub processes: Vec<Process>,
    pub activations: Vec<Activation>,
    pub formulas: Vec<Formula>,
}

/// A property of the initial states.
#[derive(Debug)]
pub struct Formula {
    pub name: String,
    pub says: Ctl,
    pub propositions: Vec<Proposition>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Proposition {
    pub text: String,
    pub condition: Value,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(pub usize);

#[derive(Debug)]
pub struct Type {
    pub name: String,
    pub kind: TypeKind,
    /// The layout of its values; channels are not stored.
    pub shape: Shape,
    /// The nesting depth of the type.
    pub depth: usize,
    /// The number of parts of such a shape.
    pub parts: usize,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Boolean,
    Range(Range),
    Enumeration(Vec<String>),
    List {
        capacity: u32,
        element: TypeId,
    },
    Array {
        len: u32,
        element: TypeId,
    },
    Tuple(Vec<(String, TypeId)>),
    Alphabet(Vec<(String, Option<TypeId>)>),
    /// The type has an error.
    Unknown,
}

/// A channel, or an array of channels.
#[derive(Debug)]
pub struct Channel {
    pub name: String,
    pub ty: TypeId,
}

#[derive(Debug)]
pub struct Process {
    pub name: String,
    pub span: Span,
    pub params: Vec<Param>,
    pub vars: Vec<(String, TypeId)>,
    pub code: Vec<Instruction>,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    pub ty: TypeId,
    pub direction: Option<Direction>,
}

#[derive(Debug)]
pub struct Activation {
    pub process: usize,
    pub args: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    Value(i32),
    /// A channel, and an offset for an element of a channel array.
    Channel(usize, u32),
}

/// Index into [`Process::code`].
pub type Address = usize;

#[derive(Debug)]
pub struct Instruction {
    pub kind: InstructionKind,
    /// The command it belongs to.
    pub span: Span,
}

#[derive(Debug)]
pub enum InstructionKind {
    /// Local to its process and deterministic.
    Plain(Operation),
    /// Continues in the body of a guard that is true. If none is, it jumps to `otherwise`.
    Guards {
        guards: Vec<Guard>,
        otherwise: Address,
    },
    /// One of several communications, chosen among the possible ones.
    Poll(Vec<Alternative>),
    /// Sends.
    Bang(Communication),
    /// Receives.
    Hook(Communication),
    Jump(Address),
    Skip,
    /// The end of an `IF` without a true guard.
    Trap,
    Terminate,
}

#[derive(Debug)]
pub enum Operation {
    Assign(Access, Value),
    Empty(Access),
    Remove(Access),
    Append(Access, Value),
    Prepend(Access, Value),
    Trace(Vec<Traced>),
}

#[derive(Debug)]
pub struct Guard {
    pub condition: Value,
    pub body: Address,
    pub span: Span,
}

#[derive(Debug)]
pub struct Alternative {
    pub communication: Communication,
    pub condition: Option<Value>,
    pub body: Address,
    pub span: Span,
}

#[derive(Debug)]
pub struct Communication {
    pub channel: Access,
    pub direction: Direction,
    pub signal: usize,
    pub data: Option<Data>,
}

#[derive(Debug)]
pub enum Data {
    Sent(Value),
    Received(Access),
}

#[derive(Debug)]
pub enum Traced {
    Text(String),
    Value(Value),
}

#[derive(Clone, Debug)]
pub struct Access {
    pub root: Root,
    /// As written.
    pub name: String,
    pub selectors: Vec<Selector>,
    pub ty: TypeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    Variable(usize),
    Param(usize),
    Channel(usize),
    /// A variable of the process with this number; only in formulas.
    Remote {
        activation: usize,
        variable: usize,
    },
}

#[derive(Clone, Debug)]
pub enum Selector {
    Index(Value, u32),
    Field(usize),
}

#[derive(Clone, Debug)]
pub struct Value {
    pub kind: ValueKind,
    pub ty: Ty,
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Boolean,
    /// A number in this range.
    Number(i64, i64),
    /// An enumeration or a composite type.
    Named(TypeId),
    /// The expression has an error, which has been reported.
    Unknown,
}

#[derive(Clone, Debug)]
pub enum ValueKind {
    Constant(i32),
    Load(Access),
    Len(Access),
    Head(Access),
    Not(Box<Value>),
    Negate(Box<Value>),
    Binary(BinaryOp, Box<(Value, Value)>),
}

impl Value {
    pub fn constant(&self) -> Option<i32> {
        match &self.kind {
            ValueKind::Constant(value) => Some(*value),
            ValueKind::Load(_)
            | ValueKind::Len(_)
            | ValueKind::Head(_)
            | ValueKind::Not(_)
            | ValueKind::Negate(_)
            | ValueKind::Binary(..) => None,
        }
    }

    pub fn is_true(&self) -> bool {
        self.constant() == Some(1)
    }
}

impl Program {
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0]
    }

    /// The number of channels that a channel type comprises, and the signals of each.
    pub fn channel_type(&self, id: TypeId) -> (u32, &[(String, Option<TypeId>)]) {
        match &self.ty(id).kind {
            TypeKind::Alphabet(signals) => (1, signals),
            TypeKind::Array { len, element } => {
                let (inner, signals) = self.channel_type(*element);
                (inner.saturating_mul(*len), signals)
            }
            TypeKind::Boolean
            | TypeKind::Range(_)
            | TypeKind::Enumeration(_)
            | TypeKind::List { .. }
            | TypeKind::Tuple(_)
            | TypeKind::Unknown => (0, &[]),
        }
    }

    pub fn is_channel(&self, id: TypeId) -> bool {
        self.channel_type(id).0 > 0
    }
}
