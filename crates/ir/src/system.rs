//! A system: processes, variables, channels.

use std::collections::HashSet;

use crate::{Action, Expr, Monitor};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub $inner);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// Index into [`System::process_types`].
    ProcessTypeId(u16)
);
index!(
    /// Index into [`System::channel_types`].
    ChannelTypeId(u16)
);
index!(
    /// Index into [`System::enumerations`].
    EnumerationId(u16)
);
index!(
    /// A control location of one process type. The number is the one that SPIN gives it, so that `pc_value()` and
    /// trails agree. Number 0 is never used.
    LocationId(u16)
);
index!(
    /// Index into [`System::edges`].
    EdgeId(u32)
);
index!(
    /// Index into [`System::statements`].
    StatementId(u32)
);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub globals: Frame,
    pub process_types: Vec<ProcessType>,
    pub channel_types: Vec<ChannelType>,
    pub enumerations: Vec<Enumeration>,
    /// The edges of all process types; those of one location are adjacent.
    pub edges: Vec<Edge>,
    pub statements: Vec<Statement>,
    /// The initial processes, in order of their numbers.
    pub start: Vec<Start>,
    /// Some expression reads which process moved last, so that the state must contain it.
    pub uses_last: bool,
    /// Processes have priorities: one may move only if none of higher priority can.
    pub uses_priorities: bool,
    /// Steps are ordered by the age of their process, the oldest first; SPIN has the youngest first.
    pub oldest_first: bool,
    /// The fields of a message are evaluated only where a receiver is present: if this faults, the rendezvous faults,
    /// not the send.
    pub lazy_messages: bool,
    /// When a process has ended and no variable holds its number, the next process of its type reuses its slot.
    /// Initial processes keep theirs.
    pub reclaims: bool,
    /// An atomic sequence is one step of the model, and of its traces.
    pub joins_atomic: bool,
    /// An invariant that fails in the initial state is no violation.
    pub forgives_start: bool,
    /// Conditions that must hold in every stable state, with their statements. They read globals only.
    pub invariants: Vec<(Expr, StatementId)>,
    /// Conditions that a property reads in stable states. They read globals only.
    pub propositions: Vec<(Expr, StatementId)>,
    /// Monitors channels. A system with a monitor is checked for nothing else: only the monitor reports faults of
    /// steps that can be completed, and it decides which end states are valid.
    pub monitor: Option<Monitor>,
}

/// Variables with the same lifetime: all globals, or the locals of one process type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The size of the variables in bytes.
    pub size: u32,
    pub variables: Vec<Variable>,
    /// Executed in order when the frame is created; before, all variables are 0.
    pub init: Vec<Init>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    /// Its offset in its frame.
    pub offset: u32,
    pub shape: Shape,
}

impl Variable {
    /// Whether it is not part of the model's text. Such a variable has a name that no language allows.
    pub fn is_internal(&self) -> bool {
        self.name.starts_with('(')
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Scalar(Scalar),
    Array { element: Box<Shape>, len: u32 },
    Record { fields: Vec<Field>, size: u32 },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    /// Its offset in its record.
    pub offset: u32,
    pub shape: Shape,
}

/// A number of `bits` bits. Values are truncated when they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// 1 to 32.
    pub bits: u8,
    pub signed: bool,
    /// To store a value outside of the range is a fault.
    pub range: Option<Range>,
    pub meaning: Meaning,
}

/// The numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: i32,
    pub high: i32,
}

entail_disk::snapshot!(Range { low, high });

/// How a number is displayed. This has no influence on the semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Number,
    Boolean,
    Enumeration(EnumerationId),
    Channel,
    Process,
    /// The number of a process plus 1; 0 for none.
    Thread,
}

/// Names of numbers: `members[i]` is the name of `first + i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    pub name: String,
    pub first: i32,
    pub members: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    Value(Place, Expr),
    /// Creates a channel and stores its number.
    Channel(Place, ChannelTypeId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelType {
    /// Its declaration, for display.
    pub name: String,
    /// 0 for a rendezvous.
    pub capacity: u16,
    pub fields: Vec<Scalar>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessType {
    pub name: String,
    /// The parameters are its first variables; `params` are their places.
    pub params: Vec<Place>,
    pub frame: Frame,
    /// Indexed by [`LocationId`].
    pub locations: Vec<Location>,
    pub entry: LocationId,
    pub labels: Vec<Label>,
    /// The process may move only where this holds.
    pub provided: Option<Expr>,
    /// At most one step may be enabled at a time (`D_proctype`).
    pub deterministic: bool,
    pub declared_at: StatementId,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// `edges[first..first + count]` of the system. Empty where no process ever is, or where a process has ended.
    pub first: u32,
    pub count: u32,
    /// A valid end state.
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub location: LocationId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// `None`: the process ends.
    pub target: Option<LocationId>,
    pub action: Action,
    /// The process continues without interruption as long as it can.
    pub atomic: bool,
    /// Edges with an escape group come before the others of their location. If an edge of a group is enabled, only
    /// edges of that group are.
    pub escape: Option<LocationId>,
    /// Variables that are dead after the edge. They are set to [`Scalar::blank`], so that states do not differ in
    /// dead variables. They are locals of the process or globals, without indices.
    pub forgets: Vec<Place>,
    pub statement: StatementId,
}

/// A statement of the source, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The number that identifies it in SPIN's trail files.
    pub spin_id: u32,
    /// The location SPIN counts it under; 0 if none.
    pub location: LocationId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub process_type: ProcessTypeId,
    pub priority: u8,
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub base: Base,
    pub offset: u32,
    /// Run-time indices, outermost first.
    pub indices: Vec<Index>,
    pub scalar: Scalar,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    Global,
    /// The process that evaluates it.
    Local,
    /// The process with this number, if it has this type; else the place reads as 0.
    Remote(Box<Expr>, ProcessTypeId),
    /// No storage: values are discarded, and it reads as 0.
    Nowhere,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    pub value: Expr,
    pub stride: u32,
    pub len: u32,
}

impl Shape {
    /// A record of these fields, without gaps between them.
    pub fn record<N: Into<String>>(parts: impl IntoIterator<Item = (N, Shape)>) -> Shape {
        let (mut size, mut fields) = (0_u32, Vec::new());
        for (name, shape) in parts {
            let offset = size;
            size = size.saturating_add(shape.size());
            fields.push(Field { name: name.into(), offset, shape });
        }
        Shape::Record { fields, size }
    }

    pub fn size(&self) -> u32 {
        match self {
            Shape::Scalar(scalar) => scalar.size(),
            Shape::Array { element, len } => element.size().saturating_mul(*len),
            Shape::Record { size, .. } => *size,
        }
    }

    /// Calls `each` for the scalars that it consists of, with their offsets if it begins at `offset`.
    pub fn each_scalar(&self, offset: u32, each: &mut dyn FnMut(u32, Scalar)) {
        match self {
            Shape::Scalar(scalar) => each(offset, *scalar),
            Shape::Array { element, len } => {
                (0..*len).for_each(|i| element.each_scalar(offset + i * element.size(), each));
            }
            Shape::Record { fields, .. } => {
                fields.iter().for_each(|field| field.shape.each_scalar(offset + field.offset, each));
            }
        }
    }

    /// Whether it contains the number of a thread.
    pub fn keeps_threads(&self) -> bool {
        match self {
            Shape::Scalar(scalar) => scalar.meaning == Meaning::Thread,
            Shape::Array { element, .. } => element.keeps_threads(),
            Shape::Record { fields, .. } => fields.iter().any(|field| field.shape.keeps_threads()),
        }
    }
}

impl Scalar {
    pub const fn unsigned(bits: u8) -> Self {
        Scalar { bits, signed: false, range: None, meaning: Meaning::Number }
    }

    pub const fn signed(bits: u8) -> Self {
        Scalar { bits, signed: true, range: None, meaning: Meaning::Number }
    }

    /// The smallest scalar for the values of `range`.
    pub const fn within(range: Range) -> Self {
        let signed = range.low < 0;
        // A negative number takes as many bits as its complement, and one more for the sign.
        let low = if signed { !range.low as u32 } else { 0 };
        let high = if range.high < 0 { !range.high as u32 } else { range.high as u32 };
        let magnitude = u32::BITS - if low > high { low } else { high }.leading_zeros();
        let bits = magnitude + signed as u32;
        let bits = if bits == 0 { 1 } else { bits as u8 };
        Scalar { bits, signed, range: Some(range), meaning: Meaning::Number }
    }

    #[must_use]
    pub const fn meaning(self, meaning: Meaning) -> Self {
        Scalar { meaning, ..self }
    }

    /// Its size in a state, in bytes.
    pub fn size(self) -> u32 {
        match self.bits {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// The numbers that its bits can represent. 32 unsigned bits are read as a signed number.
    pub fn representable(self) -> Range {
        let unused = 32 - u32::from(self.bits);
        match (self.signed, unused) {
            (true, _) => Range { low: i32::MIN >> unused, high: i32::MAX >> unused },
            (false, 0) => Range::ANY,
            (false, _) => Range { low: 0, high: (u32::MAX >> unused) as i32 },
        }
    }

    /// The value of a dead variable: 0, or the closest value in range.
    pub fn blank(self) -> i32 {
        self.range.map_or(0, |Range { low, high }| 0.max(low).min(high))
    }

    /// The value that is read after `value` has been stored.
    pub fn truncate(self, value: i32) -> i32 {
        let unused = 32 - u32::from(self.bits);
        if self.signed { value << unused >> unused } else { ((value as u32) << unused >> unused) as i32 }
    }
}

impl Range {
    /// All numbers.
    pub const ANY: Range = Range { low: i32::MIN, high: i32::MAX };

    pub const fn contains(self, value: i32) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Enumeration {
    /// The name of a number, if it has one.
    pub fn name_of(&self, value: i32) -> Option<&str> {
        let index = usize::try_from(i64::from(value) - i64::from(self.first)).ok()?;
        self.members.get(index).map(String::as_str)
    }
}

impl Place {
    pub fn global(offset: u32, scalar: Scalar) -> Self {
        Place { base: Base::Global, offset, indices: Vec::new(), scalar }
    }

    pub fn local(offset: u32, scalar: Scalar) -> Self {
        Place { base: Base::Local, offset, indices: Vec::new(), scalar }
    }
}

impl ChannelType {
    pub fn is_rendezvous(&self) -> bool {
        self.capacity == 0
    }

    /// The size of a message in bytes.
    pub fn message_size(&self) -> u32 {
        self.fields.iter().map(|field| field.size()).sum()
    }
}

/// Locations with more conditions are not tested for a pair of complementary ones.
const MOST_CONDITIONS: usize = 64;

impl System {
    pub fn process_type(&self, id: ProcessTypeId) -> &ProcessType {
        &self.process_types[id.index()]
    }

    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id.index()]
    }

    pub fn edges_of(&self, location: &Location) -> &[Edge] {
        &self.edges[location.first as usize..(location.first + location.count) as usize]
    }

    /// The locations that are reachable from one, which is included.
    pub fn reachable(&self, of: ProcessTypeId, from: LocationId) -> HashSet<LocationId> {
        let locations = &self.process_type(of).locations;
        let (mut known, mut waiting) = (HashSet::from([from]), vec![from]);
        while let Some(at) = waiting.pop() {
            let targets = self.edges_of(&locations[at.index()]).iter().filter_map(|edge| edge.target);
            waiting.extend(targets.filter(|target| known.insert(*target)));
        }
        known
    }

    /// Calls `each` for every expression of the system.
    pub fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        for (condition, _) in self.invariants.iter().chain(&self.propositions) {
            condition.each(each);
        }
        let frames = self.process_types.iter().map(|process| &process.frame);
        for init in frames.chain([&self.globals]).flat_map(|frame| &frame.init) {
            match init {
                Init::Value(place, value) => {
                    place.each_expr(each);
                    value.each(each);
                }
                Init::Channel(place, _) => place.each_expr(each),
            }
        }
        self.process_types.iter().filter_map(|process| process.provided.as_ref()).for_each(|expr| expr.each(each));
        self.edges.iter().for_each(|edge| edge.action.each_expr(each));
    }

    /// Whether some edge of the location is always enabled, as far as its actions show. The `provided` clause is not
    /// considered.
    pub fn is_never_stuck(&self, location: &Location) -> bool {
        let edges = self.edges_of(location);
        let conditions: Vec<&Expr> = edges.iter().filter_map(|edge| edge.action.condition()).collect();
        edges.iter().any(|edge| edge.action.is_always_possible())
            || conditions.len() <= MOST_CONDITIONS
                && conditions.iter().any(|one| conditions.iter().any(|other| one.is_opposite(other)))
    }
}

impl Location {
    /// Its outgoing edges.
    pub fn edges(&self) -> impl Iterator<Item = EdgeId> + use<> {
        (self.first..self.first + self.count).map(EdgeId)
    }

    /// Whether a process here has ended.
    pub fn is_final(&self) -> bool {
        self.end && self.count == 0
    }
}

impl Place {
    /// A place without storage.
    pub fn nowhere(scalar: Scalar) -> Self {
        Place { base: Base::Nowhere, offset: 0, indices: Vec::new(), scalar }
    }

    /// Whether it does not belong to another process.
    pub fn is_near(&self) -> bool {
        match self.base {
            Base::Global | Base::Local | Base::Nowhere => true,
            Base::Remote(..) => false,
        }
    }

    /// Its offset, if its indices are constants.
    fn fixed_offset(&self) -> Option<u32> {
        self.indices.iter().try_fold(self.offset, |offset, index| {
            let value = u32::try_from(index.value.constant()?).ok().filter(|value| *value < index.len)?;
            Some(offset + value * index.stride)
        })
    }

    /// Whether both are certainly the same scalar.
    pub fn is_same(&self, other: &Place) -> bool {
        let offsets = self.fixed_offset().zip(other.fixed_offset());
        self.base == other.base && self.scalar == other.scalar && offsets.is_some_and(|(one, other)| one == other)
    }

    /// Whether both may overlap, if they are in one frame.
    pub fn overlaps(&self, other: &Place) -> bool {
        let span = |place: &Place| match place.fixed_offset() {
            Some(offset) => (offset, offset + place.scalar.size()),
            None => {
                let reach: u32 = place.indices.iter().map(|index| index.len.saturating_sub(1) * index.stride).sum();
                (place.offset, place.offset + reach + place.scalar.size())
            }
        };
        let ((from, to), (other_from, other_to)) = (span(self), span(other));
        from < other_to && other_from < to
    }

    /// Calls `each` for every expression that the place depends on.
    pub fn each_expr<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        self.each_child(&mut |child| child.each(each));
    }
}
