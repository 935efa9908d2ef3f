//! Types and their layout in a state.

use entail_ir::{BinaryOp, EnumerationId, Expr, FaultKind, Meaning, Range, Scalar, Shape};
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub enum Type<'t> {
    /// The type has an error, which has been reported.
    Unknown,
    Boolean,
    Integer(Integer),
    Enumeration(Rc<Enumeration<'t>>),
    Record(Rc<Record<'t>>),
    Array(Rc<Array<'t>>),
    Lock,
    Tid,
}

/// Without a range, values are truncated when they are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integer {
    pub scalar: Scalar,
    /// Values wrap around at the bounds of the range; otherwise a value out of range is a fault.
    pub wraps: bool,
}

#[derive(Debug)]
pub struct Enumeration<'t> {
    pub name: &'t str,
    pub numbers: HashMap<&'t str, i32>,
    pub id: EnumerationId,
}

#[derive(Debug)]
pub struct Record<'t> {
    pub name: &'t str,
    pub fields: Vec<(&'t str, Type<'t>)>,
    size: u32,
    height: usize,
    has_lock: bool,
}

#[derive(Debug)]
pub struct Array<'t> {
    pub element: Type<'t>,
    pub len: u32,
    height: usize,
}

/// A larger range cannot be wrapped with 32-bit arithmetic.
pub const MAX_WRAP: i64 = 1 << 30;

/// The number of a thread's process plus 1, or 0 for none, which is the initial value.
const THREAD: Scalar = Scalar::unsigned(8).meaning(Meaning::Thread);

/// The offsets of the parts of a lock: its owner, and how many times the owner holds it.
pub const OWNER: usize = 0;
pub const DEPTH: usize = 1;

impl<'t> Type<'t> {
    pub const INT: Type<'t> = Type::Integer(Integer { scalar: Scalar::signed(32), wraps: true });
    pub const BYTE: Type<'t> = Type::Integer(Integer { scalar: Scalar::unsigned(8), wraps: true });

    pub fn record(name: &'t str, fields: Vec<(&'t str, Type<'t>)>) -> Self {
        let size = fields.iter().fold(0, |size: u32, (_, ty)| size.saturating_add(ty.size()));
        let height = 1 + fields.iter().map(|(_, ty)| ty.height()).max().unwrap_or(0);
        let has_lock = fields.iter().any(|(_, ty)| ty.has_lock());
        Type::Record(Rc::new(Record { name, fields, size, height, has_lock }))
    }

    pub fn array(element: Type<'t>, len: u32) -> Self {
        let height = 1 + element.height();
        Type::Array(Rc::new(Array { element, len, height }))
    }

    /// The nesting depth.
    pub fn height(&self) -> usize {
        match self {
            Type::Record(record) => record.height,
            Type::Array(array) => array.height,
            Type::Unknown | Type::Boolean | Type::Integer(_) | Type::Enumeration(_) | Type::Lock | Type::Tid => 1,
        }
    }

    pub fn has_lock(&self) -> bool {
        match self {
            Type::Lock => true,
            Type::Record(record) => record.has_lock,
            Type::Array(array) => array.element.has_lock(),
            Type::Unknown | Type::Boolean | Type::Integer(_) | Type::Enumeration(_) | Type::Tid => false,
        }
    }

    /// The size of a value in bytes.
    pub fn size(&self) -> u32 {
        match self {
            Type::Record(record) => record.size,
            Type::Array(array) => array.element.size().saturating_mul(array.len),
            Type::Lock => lock().size(),
            Type::Unknown | Type::Boolean | Type::Integer(_) | Type::Enumeration(_) | Type::Tid => {
                self.scalar().map_or(1, Scalar::size)
            }
        }
    }

    /// The scalar, if the type consists of a single one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Boolean | Type::Unknown => Some(Scalar::unsigned(1).meaning(Meaning::Boolean)),
            Type::Integer(integer) => Some(integer.scalar),
            Type::Enumeration(enumeration) => {
                let range = Range { low: 0, high: enumeration.numbers.len() as i32 - 1 };
                Some(Scalar::within(range).meaning(Meaning::Enumeration(enumeration.id)))
            }
            Type::Tid => Some(THREAD),
            Type::Record(_) | Type::Array(_) | Type::Lock => None,
        }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Type::Record(record) => Shape::record(record.fields.iter().map(|(name, ty)| (*name, ty.shape()))),
            Type::Array(array) => Shape::Array { element: Box::new(array.element.shape()), len: array.len },
            Type::Lock => lock(),
            Type::Unknown | Type::Boolean | Type::Integer(_) | Type::Enumeration(_) | Type::Tid => {
                Shape::Scalar(self.scalar().unwrap_or(Scalar::unsigned(1)))
            }
        }
    }

    /// Calls `each` with the offset of every lock in a value that begins at `offset`.
    pub fn each_lock(&self, offset: u32, each: &mut impl FnMut(u32)) {
        match self {
            Type::Lock => each(offset),
            Type::Record(record) if record.has_lock => {
                let mut offset = offset;
                for (_, field) in &record.fields {
                    field.each_lock(offset, each);
                    offset += field.size();
                }
            }
            Type::Array(array) if array.element.has_lock() => {
                (0..array.len).for_each(|i| array.element.each_lock(offset + i * array.element.size(), each));
            }
            Type::Record(_)
            | Type::Array(_)
            | Type::Unknown
            | Type::Boolean
            | Type::Integer(_)
            | Type::Enumeration(_)
            | Type::Tid => {}
        }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Type::Unknown)
    }

    /// Whether values of the two types are assignment-compatible: all integers are compatible with each
    /// other, other types only with themselves.
    pub fn mixes_with(&self, other: &Type<'t>) -> bool {
        matches!((self, other), (Type::Integer(_), Type::Integer(_))) || self.is(other)
    }

    /// Whether the types are equal, so that values can be copied byte by byte.
    fn is(&self, other: &Type<'t>) -> bool {
        match (self, other) {
            (Type::Integer(one), Type::Integer(other)) => one == other,
            (Type::Enumeration(one), Type::Enumeration(other)) => Rc::ptr_eq(one, other),
            (Type::Record(one), Type::Record(other)) => Rc::ptr_eq(one, other),
            (Type::Array(one), Type::Array(other)) => one.len == other.len && one.element.is(&other.element),
            (Type::Boolean, Type::Boolean) | (Type::Lock, Type::Lock) | (Type::Tid, Type::Tid) => true,
            (Type::Unknown, _) | (_, Type::Unknown) => true,
            (
                Type::Boolean
                | Type::Integer(_)
                | Type::Enumeration(_)
                | Type::Record(_)
                | Type::Array(_)
                | Type::Lock
                | Type::Tid,
                _,
            ) => false,
        }
    }

    /// The type for messages: "… is a boolean".
    pub fn describe(&self) -> String {
        match self {
            Type::Unknown => "unknown".to_owned(),
            Type::Boolean => "a boolean".to_owned(),
            Type::Integer(_) => "a number".to_owned(),
            Type::Enumeration(enumeration) => format!("a `{}`", enumeration.name),
            Type::Record(record) => format!("a `{}`", record.name),
            Type::Array(array) => format!("an array of {}", array.len),
            Type::Lock => "a lock".to_owned(),
            Type::Tid => "a thread".to_owned(),
        }
    }
}

impl Integer {
    /// The integers from `low` to `high`. `None` if the range is too large to wrap.
    pub fn range(range: Range, wraps: bool) -> Option<Integer> {
        let count = i64::from(range.high) - i64::from(range.low) + 1;
        let bits = count.trailing_zeros() as u8;
        if wraps && count.count_ones() == 1 && (1..=32).contains(&bits) {
            if range.low == 0 && bits < 32 {
                return Some(Integer { scalar: Scalar::unsigned(bits), wraps });
            }
            if i64::from(range.low) == -count / 2 {
                return Some(Integer { scalar: Scalar::signed(bits), wraps });
            }
        }
        (!wraps || count <= MAX_WRAP).then_some(Integer { scalar: Scalar::within(range), wraps })
    }

    /// The values that a variable can hold.
    pub fn bounds(self) -> Range {
        self.scalar.range.unwrap_or(self.scalar.representable())
    }

    /// Whether it can hold every value of `other`.
    pub fn holds(self, other: Integer) -> bool {
        let (mine, others) = (self.bounds(), other.bounds());
        mine.low <= others.low && others.high <= mine.high
    }

    /// The value to store so that the variable contains `value` converted to this type.
    pub fn fitted(self, value: Expr) -> Expr {
        match self.scalar.range {
            Some(range) if self.wraps => wrapped(value, range),
            Some(_) | None => value,
        }
    }

    /// `value` converted to this type without a store. It may repeat `value`.
    pub fn converted(self, value: Expr) -> Expr {
        let Scalar { bits, signed, range, .. } = self.scalar;
        match range {
            Some(range) if self.wraps => wrapped(value, range),
            Some(Range { low, high }) => {
                let above = Expr::binary(BinaryOp::Le, Expr::Const(low), value.clone());
                let below = Expr::binary(BinaryOp::Le, value.clone(), Expr::Const(high));
                let inside = Expr::binary(BinaryOp::And, above, below);
                Expr::conditional(inside, value, Expr::Fault(FaultKind::Range))
            }
            None if bits >= 32 => value,
            None if signed => {
                let unused = Expr::Const(32 - i32::from(bits));
                let up = Expr::binary(BinaryOp::Shl, value, unused.clone());
                Expr::binary(BinaryOp::Shr, up, unused)
            }
            None => Expr::binary(BinaryOp::BitAnd, value, Expr::Const(self.bounds().high)),
        }
    }
}

/// `low + (value - low)` modulo the number of values. Avoids overflow, and contains `value` only once.
fn wrapped(value: Expr, range: Range) -> Expr {
    let count = range.high - range.low + 1;
    let remainder = |value| Expr::binary(BinaryOp::Rem, value, Expr::Const(count));
    let add = |value, number| {
        if number == 0 { value } else { Expr::binary(BinaryOp::Add, value, Expr::Const(number)) }
    };
    let from_low = remainder(add(remainder(value), -(range.low % count)));
    add(remainder(add(from_low, count)), range.low)
}

fn lock() -> Shape {
    let owner = Shape::Scalar(THREAD);
    let depth = Shape::Scalar(Scalar::within(Range { low: 0, high: 255 }));
    Shape::record([("owner", owner), ("depth", depth)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [(i32, i32); 11] = [
        (0, 255),
        (-128, 127),
        (1, 7),
        (-3, 9),
        (3, 3),
        (-10, -4),
        (0, (1 << 30) - 1),
        (0, i32::MAX),
        (i32::MIN, i32::MAX),
        (i32::MAX - 5, i32::MAX),
        (i32::MIN, i32::MIN + 6),
    ];

    #[test]
    fn what_wraps_comes_back_into_its_range() {
        for (low, high) in RANGES {
            let integer = Integer::range(Range { low, high }, true).unwrap();
            assert_eq!(integer.bounds(), Range { low, high });
            let extremes = [i32::MIN, i32::MIN + 1, i32::MAX - 1, i32::MAX, low, high];
            for value in (-50..50).chain(extremes) {
                let count = i64::from(high) - i64::from(low) + 1;
                let expected = i64::from(low) + (i64::from(value) - i64::from(low)).rem_euclid(count);
                let stored = integer.scalar.truncate(integer.fitted(Expr::Const(value)).constant().unwrap());
                assert_eq!(i64::from(stored), expected, "{value} in {low}..{high}");
                let converted = integer.converted(Expr::Const(value)).constant().unwrap();
                assert_eq!(i64::from(converted), expected, "{value} in {low}..{high}");
            }
        }
    }

    #[test]
    fn too_many_numbers_to_compute_with_cannot_wrap() {
        assert_eq!(Integer::range(Range { low: -5, high: 1 << 30 }, true), None);
        assert!(Integer::range(Range { low: -5, high: 1 << 30 }, false).is_some());
    }
}
