//! The bit fields of packed states.

use entail_ir::Range;
use entail_ir::interpret::{Codes, Number, ProcessVector};
use entail_model::{Part, State};
use entail_store::Field;

use crate::packed::observed;

const WORD_BITS: u32 = u64::BITS;

/// The components of a packed state, from some bit on: the part before the first channel or process, and each of these.
pub(crate) fn parts(vector: &ProcessVector, from: u32, fields: &[Field]) -> Vec<Part> {
    let channels = vector.channel_starts.iter().zip(&vector.channel_types).map(|(at, of)| (*at, 2 * of + 1));
    let processes = vector.starts.iter().zip(&vector.types).map(|(at, of)| (*at, 2 * of + 2));
    let mut begins: Vec<_> = channels.chain(processes).collect();
    // Of those that begin at the same offset, all but the last are empty channels.
    begins.sort_by_key(|&(at, kind)| (at, kind.is_multiple_of(2)));
    let number = |field: &Field| begins.partition_point(|(at, _)| *at <= field.offset);
    let kind = |number: usize| if number == 0 { 0 } else { begins[number - 1].1 };
    let mut end = from;
    let mut parts = Vec::new();
    for part in fields.chunk_by(|one, next| number(one) == number(next)) {
        let bits = width(part);
        end += bits;
        if bits > 0 {
            parts.push(Part { end, kind: kind(number(&part[0])) });
        }
    }
    parts
}

pub(crate) fn width(fields: &[Field]) -> u32 {
    fields.iter().map(|field| u32::from(field.bits)).sum()
}

/// The offset of each field in its word.
fn places(fields: &[Field]) -> impl Iterator<Item = (u32, &Field)> {
    fields.iter().scan(0, |at, field| {
        let begin = *at % WORD_BITS;
        *at += u32::from(field.bits);
        Some((begin, field))
    })
}

/// Whether a field crosses a word boundary.
pub(crate) fn straddles(fields: &[Field]) -> bool {
    places(fields).any(|(at, field)| at + u32::from(field.bits) > WORD_BITS)
}

/// Widens fields, from the one at `first` on, so that no field crosses a word boundary, if that is possible.
pub(crate) fn align(fields: &mut [Field], first: usize) {
    let across = places(fields).position(|(at, field)| at + u32::from(field.bits) > WORD_BITS);
    let Some(across) = across.filter(|&across| across > first) else { return };
    let fits = |gap: &u32| width(fields) + gap < 2 * WORD_BITS;
    // In a long state, the crossing may be at the second word.
    let Some(gap) = WORD_BITS.checked_sub(width(&fields[..across])).filter(fits) else { return };
    let mut left = gap as u8;
    for field in fields[first..across].iter_mut().rev() {
        let more = (8 * field.bytes - field.bits).min(left);
        field.bits += more;
        left -= more;
    }
}

/// The field for the values of a range.
pub(crate) fn field(number: &Number, Range { low, high }: Range) -> Field {
    let wide = u32::MAX >> (32 - 8 * u32::from(number.bytes));
    let bits = observed::bits(low, high).min(8 * u32::from(number.bytes)) as u8;
    Field { offset: number.at, bytes: number.bytes, low: low as u32 & wide, bits }
}

/// The consecutive fields of a state in one word or two.
pub(crate) fn codes(template: &State, fields: &[Field], wide: bool) -> Codes {
    let mut codes = Codes::new(template, wide);
    fields.iter().for_each(|field| codes.push(field.offset, field.bytes, field.low, field.bits));
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(bits: &[u8]) -> Vec<u8> {
        let field = |bits: &u8| Field { offset: 0, bytes: 1, low: 0, bits: *bits };
        let mut fields: Vec<_> = bits.iter().map(field).collect();
        align(&mut fields, 1);
        fields.iter().map(|field| field.bits).collect()
    }

    #[test]
    fn fields_are_widened_up_to_the_end_of_the_first_word_and_no_farther() {
        assert_eq!(aligned(&[7; 12]), [7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 7, 7]);
        // The first field that crosses a word boundary does so between the second and the third word.
        let across = [[8; 8].as_slice(), &[7; 12]].concat();
        assert_eq!(aligned(&across), across);
    }

    /// Globals, a channel of type 4, a process of type 1, another one that is constant, a third one with a rendezvous
    /// channel before its own channel.
    #[test]
    fn states_are_cut_where_processes_and_channels_begin() {
        let vector = ProcessVector {
            types: vec![1, 1, 0],
            starts: vec![6, 9, 12],
            channel_types: vec![4, 3, 4],
            channel_starts: vec![3, 15, 15],
            len: 18,
        };
        let field = |offset, bits| Field { offset, bytes: 1, low: 0, bits };
        let fields = [
            field(1, 2),
            field(2, 3),
            field(3, 1),
            field(5, 8),
            field(7, 4),
            field(10, 0),
            field(13, 5),
            field(15, 2),
            field(17, 1),
        ];
        let part = |end, kind| Part { end, kind };
        let expected = [part(15, 0), part(24, 9), part(28, 4), part(33, 2), part(36, 9)];
        assert_eq!(parts(&vector, 10, &fields), expected);
    }
}
