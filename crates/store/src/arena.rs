//! States one after the other, each behind its length, in chunks that never move.
//!
//! ```text
//! position:  0                 2^20              2^21
//!            ├ len state len state ┄┄┤ len state ┄┤ …
//!            └ chunk 0 ──────────────┴ chunk 1 ───┴─
//! ```
//!
//! A position is a chunk number times the size of a chunk, plus an offset. No state straddles two chunks, so that
//! a state is always one slice; what is left over at the end of a chunk (`┄`) is skipped. A state larger than a
//! chunk has a large chunk to itself, followed by as many empty ones as keep the numbering of chunks right.

use std::mem::size_of;

/// Large enough that skipped ends do not matter, small enough that one half-used chunk does not either.
const CHUNK: usize = 1 << 20;
/// The first chunk grows from here, so that a small model costs little.
const FIRST: usize = 1 << 12;

#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
    end: u64,
    /// Of all chunks together: what they have allocated, not what they use.
    capacity: usize,
}

pub(crate) struct Entry<'a> {
    pub place: u64,
    pub state: &'a [u8],
    /// Where the next one begins at the earliest.
    pub after: u64,
}

impl Arena {
    pub fn append(&mut self, state: &[u8]) -> u64 {
        let size = size_of_entry(state.len());
        let position = self.reserve(size);
        let (chunk, offset) = split(position);
        let chunk = &mut self.chunks[chunk];
        debug_assert_eq!(chunk.len(), offset);
        push_length(chunk, state.len());
        chunk.extend_from_slice(state);
        self.end = after(position, size);
        position
    }

    /// The state that begins exactly at `position`.
    #[inline]
    pub fn get(&self, position: u64) -> &[u8] {
        let (chunk, offset) = split(position);
        let (length, rest) = pop_length(&self.chunks[chunk][offset..]);
        &rest[..length]
    }

    /// The first state at or after `position`.
    #[inline]
    pub fn next(&self, position: u64) -> Entry<'_> {
        let (chunk, offset) = split(position);
        let skipped = offset == self.chunks[chunk].len();
        let place = if skipped { chunk_start(chunk + 1) } else { position };
        let state = self.get(place);
        Entry { place, state, after: after(place, size_of_entry(state.len())) }
    }

    /// Where the next state begins at the earliest.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How much the arena has allocated.
    pub fn bytes(&self) -> usize {
        self.capacity + self.chunks.capacity() * size_of::<Vec<u8>>()
    }

    /// By how much [`Arena::bytes`] will grow when a state of this length is appended.
    pub fn growth(&self, length: usize) -> usize {
        let size = size_of_entry(length);
        if self.fits(size) {
            let (chunk, offset) = split(self.end);
            let capacity = self.chunks[chunk].capacity();
            return grown(capacity, offset + size) - capacity;
        }
        let full = self.chunks.len() == self.chunks.capacity();
        let directory = if full { self.chunks.len().max(4) * size_of::<Vec<u8>>() } else { 0 };
        self.capacity_of_next_chunk(size) + directory
    }

    /// Makes room for `size` bytes and returns where.
    fn reserve(&mut self, size: usize) -> u64 {
        if self.fits(size) {
            let (chunk, offset) = split(self.end);
            let chunk = &mut self.chunks[chunk];
            let before = chunk.capacity();
            chunk.reserve_exact(grown(before, offset + size) - offset);
            self.capacity += chunk.capacity() - before;
            return self.end;
        }
        let position = chunk_start(self.chunks.len());
        let chunk = Vec::with_capacity(self.capacity_of_next_chunk(size));
        self.capacity += chunk.capacity();
        self.chunks.push(chunk);
        let (chunks, _) = split(after(position, size).next_multiple_of(CHUNK as u64));
        self.chunks.resize(chunks, Vec::new());
        position
    }

    fn fits(&self, size: usize) -> bool {
        let (chunk, offset) = split(self.end);
        chunk < self.chunks.len() && offset + size <= CHUNK
    }

    fn capacity_of_next_chunk(&self, size: usize) -> usize {
        if self.chunks.is_empty() { grown(0, size) } else { size.max(CHUNK) }
    }
}

/// The capacity after growing to hold `size` bytes: at least twice as much, so that copying stays cheap.
fn grown(capacity: usize, size: usize) -> usize {
    if size <= capacity { capacity } else { size.max((2 * capacity).clamp(FIRST, CHUNK)) }
}

#[inline]
fn split(position: u64) -> (usize, usize) {
    ((position / CHUNK as u64) as usize, (position % CHUNK as u64) as usize)
}

fn chunk_start(chunk: usize) -> u64 {
    (chunk * CHUNK) as u64
}

#[inline]
fn after(position: u64, size: usize) -> u64 {
    let end = position + size as u64;
    if size > CHUNK { end.next_multiple_of(CHUNK as u64) } else { end }
}

/// How many bytes a state takes together with its length: seven bits of the length in each byte, low bits first.
#[inline]
fn size_of_entry(length: usize) -> usize {
    let bits = usize::BITS - (length | 1).leading_zeros();
    bits.div_ceil(7) as usize + length
}

fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

#[inline]
fn pop_length(bytes: &[u8]) -> (usize, &[u8]) {
    let mut length = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return (length, &bytes[i + 1..]);
        }
    }
    unreachable!("a length without an end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize]) {
        let mut arena = Arena::default();
        let states: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(i, &n)| vec![i as u8; n]).collect();
        let mut ends = vec![0];
        for state in &states {
            let expected = arena.bytes() + arena.growth(state.len());
            let position = arena.append(state);
            assert_eq!(arena.get(position), state);
            if state.len() < CHUNK {
                assert_eq!(arena.bytes(), expected, "growth is foretold");
            }
            ends.push(arena.end());
        }
        let mut position = 0;
        for (state, end) in states.iter().zip(&ends) {
            assert_eq!(position, *end, "reading stops where appending stopped");
            let entry = arena.next(position);
            assert_eq!(entry.state, state);
            position = entry.after;
        }
        assert_eq!(position, arena.end());
    }

    #[test]
    fn states_come_back_in_order() {
        check(&[0, 1, 127, 128, 3, 0, 16_383, 16_384, 5]);
    }

    #[test]
    fn no_state_straddles_chunks() {
        check(&vec![1000; 5000]);
        check(&[700_000; 10]);
    }

    #[test]
    fn a_chunk_may_be_filled_to_its_last_byte() {
        check(&[CHUNK - 3, 1, CHUNK - 3, CHUNK - 5, 1, 0, 0]);
        let mut arena = Arena::default();
        arena.append(&[0; CHUNK - 5]);
        assert_eq!(arena.append(&[0]), CHUNK as u64 - 2);
        assert_eq!(arena.end(), CHUNK as u64);
    }

    #[test]
    fn a_chunk_is_not_filled_beyond_its_last_byte() {
        check(&[CHUNK - 4, 1, CHUNK - 4, 1, 1]);
    }

    #[test]
    fn a_state_larger_than_a_chunk_has_one_to_itself() {
        check(&[7, CHUNK, 7, 5 * CHUNK + 1, 7, 2 * CHUNK - 4, 7]);
    }
}
