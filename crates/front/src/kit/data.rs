//! Values of any shape: their places, and the scalars that they consist of.

use entail_ir::{Base, Expr, Frame, Index, Init, Place, Range, Scalar, Shape, Variable};

/// A place that may hold several scalars.
#[derive(Clone, Debug)]
pub struct Access<'t> {
    pub base: Base,
    pub offset: u32,
    pub indices: Vec<Index>,
    pub shape: &'t Shape,
}

impl<'t> Access<'t> {
    pub fn new(base: Base, offset: u32, shape: &'t Shape) -> Self {
        Access { base, offset, indices: Vec::new(), shape }
    }

    /// The field at `position`, of a record.
    #[must_use]
    pub fn field(self, position: usize) -> Self {
        let Shape::Record { fields, .. } = self.shape else { return self };
        let field = &fields[position];
        Access { offset: self.offset + field.offset, shape: &field.shape, ..self }
    }

    /// An element of an array. A constant index in range costs nothing at run time.
    #[must_use]
    pub fn element(mut self, index: Expr) -> Self {
        let Shape::Array { element, len } = self.shape else { return self };
        match index.constant().and_then(|index| u32::try_from(index).ok()).filter(|index| index < len) {
            Some(index) => self.offset += index * element.size(),
            None => self.indices.push(Index { value: index, stride: element.size(), len: *len }),
        }
        Access { shape: element, ..self }
    }

    /// The place of the only scalar.
    pub fn place(self) -> Option<Place> {
        let Shape::Scalar(scalar) = *self.shape else { return None };
        Some(Place { base: self.base, offset: self.offset, indices: self.indices, scalar })
    }

    /// The places of all scalars, in order.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        self.shape.each_scalar(self.offset, &mut |offset, scalar| {
            places.push(Place { base: self.base.clone(), offset, indices: self.indices.clone(), scalar });
        });
        places
    }
}

/// The scalars of a shape.
pub fn scalars(shape: &Shape) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    shape.each_scalar(0, &mut |_, scalar| scalars.push(scalar));
    scalars
}

/// The number of scalars of a shape, without enumerating them.
pub fn scalar_count(shape: &Shape) -> u64 {
    match shape {
        Shape::Scalar(_) => 1,
        Shape::Array { element, len } => scalar_count(element).saturating_mul(u64::from(*len)),
        Shape::Record { fields, .. } => fields.iter().map(|field| scalar_count(&field.shape)).sum(),
    }
}

/// Appends a variable to a frame and returns its offset.
pub fn frame_variable(frame: &mut Frame, name: &str, shape: Shape) -> u32 {
    let offset = frame.size;
    frame.size = frame.size.saturating_add(shape.size());
    frame.variables.push(Variable { name: name.to_owned(), offset, shape });
    offset
}

/// The initial values of scalars that cannot be 0.
pub fn defaults(access: &Access) -> Vec<Init> {
    let first = |place: Place| match place.scalar.range {
        Some(range) if !range.contains(0) => Some(Init::Value(place, Expr::Const(default_of(range)))),
        Some(_) | None => None,
    };
    access.places().into_iter().filter_map(first).collect()
}

/// The initial value of a scalar: 0 if it is in range.
pub fn default_of(range: Range) -> i32 {
    if range.contains(0) { 0 } else { range.low }
}
