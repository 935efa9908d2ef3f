//! States as words of 64 bits.

use std::ops::Range;

/// The words of a state, little-endian.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(&'a [[u8; 8]]);

impl<'a> Words<'a> {
    #[inline]
    pub fn new(state: &'a [u8]) -> Words<'a> {
        let (whole, rest) = state.as_chunks();
        assert!(rest.is_empty() && !whole.is_empty(), "a state of {} bytes", state.len());
        Words(whole)
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        u64::from_le_bytes(self.0[i])
    }

    /// The range in which the words differ from others, of the same number.
    #[inline]
    pub fn changed(&self, near: &[u64]) -> Range<usize> {
        let differ = |(word, near): (&[u8; 8], &u64)| u64::from_le_bytes(*word) != *near;
        let Some(first) = self.0.iter().zip(near).position(differ) else { return 0..0 };
        first..self.0.iter().zip(near).rposition(differ).map_or(first, |last| last + 1)
    }
}
