//! The numbers in which states with the same processes can differ.

use super::{Layout, ProcessVector};
use crate::{ChannelTypeId, ProcessTypeId, Range, Ranges, Scalar, System};

/// The numbers in the states of one process vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateNumbers {
    /// Sorted by position.
    pub numbers: Vec<Number>,
    /// The bytes that all stable states have in common; those of numbers are 0.
    pub template: Vec<u8>,
}

/// A number in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its offset.
    pub at: u32,
    /// Its size in bytes.
    pub bytes: u8,
    /// The values that it can have, read as unsigned bytes.
    pub range: Range,
}

impl StateNumbers {
    pub fn new(system: &System, layout: &Layout, ranges: &Ranges, vector: &ProcessVector) -> StateNumbers {
        let mut numbers = StateNumbers { numbers: Vec::new(), template: vec![0; vector.len as usize] };
        if let Some(last) = layout.last {
            numbers.add(last, BYTE, Range { low: 0, high: 255 });
        }
        if let (Some(watch), Some(monitor)) = (layout.watch, &system.monitor) {
            numbers.add(watch, Scalar::unsigned(16), Range { low: 0, high: monitor.final_state() as i32 });
        }
        numbers.template[layout.process_count] = vector.types.len() as u8;
        for variable in &system.globals.variables {
            variable.shape.each_scalar(variable.offset, &mut |offset, scalar| {
                numbers.add(layout.globals + offset as usize, scalar, ranges.global(offset));
            });
        }
        for (&process_type, &start) in vector.types.iter().zip(&vector.starts) {
            numbers.process(system, layout, ranges, ProcessTypeId(process_type as u16), start as usize);
        }
        for (&channel_type, &start) in vector.channel_types.iter().zip(&vector.channel_starts) {
            numbers.channel(system, layout, ranges, ChannelTypeId(channel_type as u16), start as usize);
        }
        numbers.numbers.sort_by_key(|number| number.at);
        numbers
    }

    fn process(&mut self, system: &System, layout: &Layout, ranges: &Ranges, id: ProcessTypeId, start: usize) {
        let process_type = system.process_type(id);
        self.template[start] = id.0 as u8;
        let location = if layout.location_bytes == 1 { BYTE } else { Scalar::unsigned(16) };
        let last = layout.stations(id).len() as i32 - 1;
        self.add(start + 1, location, Range { low: 0, high: last });
        if layout.priority {
            self.add(start + 1 + layout.location_bytes, BYTE, Range { low: 0, high: 255 });
        }
        let locals = start + layout.process_header;
        for variable in &process_type.frame.variables {
            variable.shape.each_scalar(variable.offset, &mut |offset, scalar| {
                self.add(locals + offset as usize, scalar, ranges.local(id, offset));
            });
        }
    }

    fn channel(&mut self, system: &System, layout: &Layout, ranges: &Ranges, id: ChannelTypeId, start: usize) {
        let channel_type = &system.channel_types[id.index()];
        let channel = layout.channel(id);
        if channel.length_bytes > 0 {
            let length = Scalar::unsigned(8 * channel.length_bytes as u8);
            self.add(start, length, Range { low: 0, high: i32::from(channel_type.capacity) });
        }
        let mut at = start + channel.length_bytes;
        for _ in 0..channel_type.capacity {
            for (field, scalar) in channel_type.fields.iter().enumerate() {
                self.add(at, *scalar, ranges.field(id, field));
                at += scalar.size() as usize;
            }
        }
    }

    fn add(&mut self, at: usize, scalar: Scalar, range: Range) {
        self.numbers.push(Number { at: at as u32, bytes: scalar.size() as u8, range: as_bytes(range, scalar) });
    }
}

const BYTE: Scalar = Scalar::unsigned(8);

/// A range of values read as unsigned bytes. Negative numbers that do not fill their bytes look like positive ones.
fn as_bytes(range: Range, scalar: Scalar) -> Range {
    let whole_bytes = u32::from(scalar.bits) == 8 * scalar.size();
    if whole_bytes || range.low >= 0 {
        return range;
    }
    // Less than 32 bits, so that all this is positive.
    let beyond = 1_i64 << scalar.bits;
    if range.high < 0 {
        let above = |number: i32| (i64::from(number) + beyond) as i32;
        Range { low: above(range.low), high: above(range.high) }
    } else {
        Range { low: 0, high: (beyond - 1) as i32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_of_31_bits_look_like_positive_ones() {
        let scalar = Scalar { signed: true, ..Scalar::unsigned(31) };
        assert_eq!(as_bytes(Range { low: -5, high: -1 }, scalar), Range { low: i32::MAX - 4, high: i32::MAX });
        assert_eq!(as_bytes(Range { low: -5, high: 1 }, scalar), Range { low: 0, high: i32::MAX });
    }
}
