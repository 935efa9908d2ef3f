//! The names that a generated statement may use.

use crate::promela::ast::{Expr, Place, Type};

/// A declared variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Type,
    pub array: Option<usize>,
    pub access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    /// Loop counters: writing them could make a loop inside an atomic sequence endless.
    ReadOnly,
    /// `hidden` variables: the value that is read depends on SPIN's search order.
    WriteOnly,
}

/// A channel that certainly exists when the statement is executed.
#[derive(Clone, Debug)]
pub struct Channel {
    pub name: String,
    pub array: Option<usize>,
    /// Index into `Generator::signatures`: channels of one signature are interchangeable.
    pub signature: usize,
    /// Declared with this name, with a capacity and fields; not a parameter.
    pub declared: bool,
}

#[derive(Clone, Debug)]
pub struct Signature {
    pub capacity: usize,
    pub fields: Vec<Field>,
}

impl Signature {
    pub fn buffered(&self) -> bool {
        self.capacity > 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    Integer(Type),
    Mtype(Option<String>),
    /// A channel of this signature.
    Channel(usize),
    Record(String),
}

impl Field {
    pub fn ty(&self) -> Type {
        match self {
            Self::Integer(ty) => ty.clone(),
            Self::Mtype(subtype) => Type::Mtype(subtype.clone()),
            Self::Channel(_) => Type::Chan,
            Self::Record(name) => Type::Record(name.clone()),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub variables: Vec<Variable>,
    pub channels: Vec<Channel>,
}

impl Scope {
    pub fn declare(&mut self, name: &str, ty: Type, array: Option<usize>, access: Access) {
        self.variables.push(Variable { name: name.into(), ty, array, access });
    }
}

/// A scalar inside a variable: the path to it with constant indices, and the lengths of the arrays passed.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub place: Place,
    pub lengths: Vec<usize>,
    pub ty: Type,
}

/// The fields of the program's record types.
pub type Records = Vec<(String, Vec<Variable>)>;

/// Every scalar of a variable, record fields included.
pub fn leaves(variable: &Variable, records: &Records) -> Vec<Leaf> {
    let mut found = Vec::new();
    let indices = match variable.array {
        Some(length) => (0..length).map(Some).collect(),
        None => vec![None],
    };
    for index in indices {
        let place = Place {
            name: variable.name.clone(),
            index: index.map(|index| Box::new(Expr::Number(index as i32))),
            field: None,
        };
        let lengths = Vec::from_iter(variable.array);
        let Type::Record(record) = &variable.ty else {
            found.push(Leaf { place, lengths, ty: variable.ty.clone() });
            continue;
        };
        let fields = records.iter().find(|(name, _)| name == record).map_or(&[][..], |(_, fields)| fields);
        for inner in fields.iter().flat_map(|field| leaves(field, records)) {
            found.push(Leaf {
                place: Place { field: Some(Box::new(inner.place)), ..place.clone() },
                lengths: [&lengths[..], &inner.lengths].concat(),
                ty: inner.ty,
            });
        }
    }
    found
}

/// Whether values of this type take part in arithmetic.
pub fn is_integer(ty: &Type) -> bool {
    match ty {
        Type::Bit | Type::Bool | Type::Byte | Type::Pid | Type::Short | Type::Int | Type::Unsigned(_) => true,
        Type::Mtype(_) | Type::Chan | Type::Record(_) => false,
    }
}

/// Whether values of this type are never negative, so that a remainder of them is an index.
pub fn is_index(ty: &Type) -> bool {
    is_integer(ty) && !matches!(ty, Type::Short | Type::Int)
}

/// Whether a variable of this type can hold every value of a message field of the other.
pub fn holds(variable: &Type, field: &Type) -> bool {
    let (low, high) = range(variable);
    let (least, greatest) = range(field);
    low <= least && greatest <= high
}

fn range(ty: &Type) -> (i64, i64) {
    match ty {
        Type::Bit | Type::Bool => (0, 1),
        Type::Unsigned(bits) => (0, (1 << bits) - 1),
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (0, 255),
        Type::Short => (i16::MIN.into(), i16::MAX.into()),
        Type::Int => (i32::MIN.into(), i32::MAX.into()),
        Type::Record(_) => (0, 0),
    }
}
