//! Conversion between places and names.

use crate::{Base, EnumerationId, Frame, Index, Place, ProcessTypeId, Scalar, Shape, System};

/// The scope of names at one point of a system.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub system: &'a System,
    /// The process type whose locals are visible; `None` among the globals.
    pub process: Option<ProcessTypeId>,
}

/// A component of the path from a variable to a scalar inside it.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Constant(u32),
    /// An index computed at run time.
    Computed,
}

/// The name of a place, without the values of its indices.
pub(super) struct Path<'a> {
    pub name: &'a str,
    pub steps: Vec<Step<'a>>,
}

/// A place in some frame, without the values of its indices.
pub(super) struct Position {
    pub offset: u32,
    /// The stride and length of every computed index.
    pub strides: Vec<(u32, u32)>,
    pub scalar: Scalar,
}

impl<'a> Names<'a> {
    pub fn frame(self, base: &Base) -> Option<&'a Frame> {
        let process = match base {
            Base::Global => return Some(&self.system.globals),
            Base::Local => self.process?,
            Base::Remote(_, process) => *process,
            Base::Nowhere => return None,
        };
        self.system.process_types.get(process.index()).map(|process| &process.frame)
    }

    /// The frame of a variable that is named without one.
    pub(super) fn base_of(self, variable: &str) -> Option<Base> {
        let has = |frame: &Frame| frame.variables.iter().any(|candidate| candidate.name == variable);
        [Base::Local, Base::Global].into_iter().find(|base| self.frame(base).is_some_and(has))
    }

    pub(super) fn process_type(self, name: &str) -> Option<ProcessTypeId> {
        let found = self.system.process_types.iter().position(|process| process.name == name)?;
        u16::try_from(found).ok().map(ProcessTypeId)
    }

    pub(super) fn enumeration(self, name: &str) -> Option<EnumerationId> {
        let found = self.system.enumerations.iter().position(|enumeration| enumeration.name == name)?;
        u16::try_from(found).ok().map(EnumerationId)
    }

    /// A name that resolves to this place, if there is one.
    pub(super) fn path(self, place: &Place) -> Option<Path<'a>> {
        let frame = self.frame(&place.base)?;
        let path = path_into(frame, place)?;
        let visible = match &place.base {
            Base::Global | Base::Local => self.base_of(path.name).as_ref() == Some(&place.base),
            Base::Remote(..) | Base::Nowhere => true,
        };
        let leads_back = position(frame, path.name, &path.steps).is_ok_and(|found| found.is_of(place));
        (visible && leads_back).then_some(path)
    }
}

impl Position {
    fn is_of(&self, place: &Place) -> bool {
        self.offset == place.offset
            && self.scalar == place.scalar
            && place.indices.iter().map(|index| (index.stride, index.len)).eq(self.strides.iter().copied())
    }
}

/// The position that the components lead to from a variable.
pub(super) fn position(frame: &Frame, name: &str, steps: &[Step]) -> Result<Position, String> {
    let variable = frame.variables.iter().find(|variable| variable.name == name);
    let variable = variable.ok_or_else(|| format!("no variable is called {name}"))?;
    let (mut offset, mut shape, mut strides) = (variable.offset, &variable.shape, Vec::new());
    for step in steps {
        let distance;
        (distance, shape) = match (step, shape) {
            (Step::Field(name), Shape::Record { fields, .. }) => {
                let field = fields.iter().find(|field| field.name == *name);
                field
                    .map(|field| (field.offset, &field.shape))
                    .ok_or_else(|| format!("no field is called {name}"))?
            }
            (Step::Constant(at), Shape::Array { element, len }) if at < len => {
                (element.size().saturating_mul(*at), &**element)
            }
            (Step::Computed, Shape::Array { element, len }) => {
                strides.push((element.size(), *len));
                (0, &**element)
            }
            (Step::Constant(at), Shape::Array { len, .. }) => {
                return Err(format!("{name} has {len} elements, not {at}"));
            }
            (Step::Field(_), Shape::Scalar(_) | Shape::Array { .. }) => return Err(format!("{name} is no record")),
            (Step::Constant(_) | Step::Computed, Shape::Scalar(_) | Shape::Record { .. }) => {
                return Err(format!("{name} is not an array"));
            }
        };
        offset = offset.checked_add(distance).ok_or_else(|| format!("{name} is too large"))?;
    }
    match shape {
        Shape::Scalar(scalar) => Ok(Position { offset, strides, scalar: *scalar }),
        Shape::Array { .. } | Shape::Record { .. } => Err(format!("{name} is not a number as a whole")),
    }
}

/// A candidate for the name of a place. It may resolve to another place if variables share a name or overlap.
fn path_into<'a>(frame: &'a Frame, place: &Place) -> Option<Path<'a>> {
    let within = |variable: &&crate::Variable| contains(variable.offset, &variable.shape, place.offset);
    let variable = frame.variables.iter().find(within)?;
    let mut steps = Vec::new();
    let (mut offset, mut shape) = (place.offset - variable.offset, &variable.shape);
    let mut indices = place.indices.iter().peekable();
    loop {
        match shape {
            Shape::Scalar(_) => return Some(Path { name: &variable.name, steps }),
            Shape::Array { element, len } => {
                let size = element.size();
                let runs_here = |index: &&Index| offset < size && (index.stride, index.len) == (size, *len);
                steps.push(match indices.next_if(runs_here) {
                    Some(_) => Step::Computed,
                    None => Step::Constant(offset.checked_div(size)?),
                });
                offset = offset.checked_rem(size)?;
                shape = element;
            }
            Shape::Record { fields, .. } => {
                let field = fields.iter().find(|field| contains(field.offset, &field.shape, offset))?;
                steps.push(Step::Field(&field.name));
                offset -= field.offset;
                shape = &field.shape;
            }
        }
    }
}

fn contains(start: u32, shape: &Shape, offset: u32) -> bool {
    offset.checked_sub(start).is_some_and(|distance| distance < shape.size())
}
