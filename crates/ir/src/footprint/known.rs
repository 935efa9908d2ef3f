//! What is known of the numbers of a state for good.

use super::Span;
use crate::interpret::layout::load;
use crate::{Base, Place, Scalar};

/// Numbers that do not change any more, as far as some process is concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// That of the process itself.
    pub number: Option<i32>,
    /// By byte.
    pub globals: &'a [Option<u8>],
    pub locals: &'a [Option<u8>],
    /// Locals of which it is known that they stand for one of some channels: where they begin, and these.
    pub channels: &'a [(u32, Span)],
    /// The numbers of the channels that came with the process, and are gone when it ends.
    pub own_channels: Option<Span>,
    /// Those that channels will have that are made later: as long as a channel is there, no other one has its number.
    pub new_channels: Option<Span>,
}

impl Known<'_> {
    pub const NOTHING: Known<'static> =
        Known { number: None, globals: &[], locals: &[], channels: &[], own_channels: None, new_channels: None };

    /// What is known of somebody who is not there yet.
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
