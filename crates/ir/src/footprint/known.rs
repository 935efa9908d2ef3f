//! Values that are known and never change.

use super::Span;
use crate::interpret::layout::load;
use crate::{Base, Place, Scalar};

/// Variables with a known value, from the point of view of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The number of the process itself.
    pub number: Option<i32>,
    /// By byte.
    pub globals: &'a [Option<u8>],
    pub locals: &'a [Option<u8>],
    /// Locals that denote one of some channels: their offsets, and the range of channels.
    pub channels: &'a [(u32, Span)],
    /// The numbers of the channels that were created with the process and disappear with it.
    pub own_channels: Option<Span>,
    /// The numbers of channels that are created later. They differ from those of existing channels.
    pub new_channels: Option<Span>,
}

impl Known<'_> {
    pub const NOTHING: Known<'static> =
        Known { number: None, globals: &[], locals: &[], channels: &[], own_channels: None, new_channels: None };

    /// The same for a process that does not exist yet.
    pub fn of_spawned(self) -> Self {
        Known { number: None, locals: &[], channels: &[], own_channels: self.new_channels, ..self }
    }

    pub(super) fn channels_at(self, place: &Place) -> Option<Span> {
        let is_it = |(at, _): &&(u32, Span)| *at == place.offset;
        let found =
            self.channels.iter().find(is_it).filter(|_| place.base == Base::Local && place.indices.is_empty());
        found.map(|(_, span)| *span)
    }

    pub(super) fn value(self, base: &Base, offset: u32, scalar: Scalar) -> Option<i32> {
        let bytes = match base {
            Base::Global => self.globals,
            Base::Local => self.locals,
            Base::Remote(..) | Base::Nowhere => return None,
        };
        let (from, size) = (offset as usize, scalar.size() as usize);
        let found = bytes.get(from..from + size)?;
        let mut value = [0; 4];
        for (byte, known) in value.iter_mut().zip(found) {
            *byte = (*known)?;
        }
        Some(load(&value, 0, scalar))
    }
}
