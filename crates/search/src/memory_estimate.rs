//! Estimates of how many bytes a vector uses now and after its next growth.
//!
//! A full vector allocates twice its size, and the process ends if the allocation fails. So a search counts in advance
//! what its vectors may request before its next comparison with the limit.

use std::mem::size_of;

/// A vector receives fewer elements than this until then.
const SOON: usize = 1 << 13;
/// The kernel grows larger blocks by moving their pages. Smaller blocks are copied, so that both copies exist for a
/// moment.
const MOVED: usize = 32 << 20;

pub(crate) fn bytes<T>(vector: &Vec<T>) -> usize {
    let now = vector.capacity() * size_of::<T>();
    if vector.len() + SOON <= vector.capacity() {
        now
    } else if now >= MOVED {
        2 * now
    } else {
        3 * now
    }
}

/// The same for a hash table, which is always copied, with `each` bytes for each element.
pub(crate) fn table_bytes(len: usize, capacity: usize, each: usize) -> usize {
    let now = capacity * each;
    if len + SOON <= capacity { now } else { 3 * now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_vector_takes_is_known_before_it_grows() {
        let mut vector = Vec::new();
        let mut known = 0;
        for i in 0..3_000_000u64 {
            let old = vector.capacity();
            vector.push(i);
            let both = if old * 8 < MOVED { old } else { 0 } + vector.capacity();
            assert!(old == vector.capacity() || old < SOON || both * 8 <= known, "{i}: {both} of {known}");
            if (i as usize).is_multiple_of(SOON / 2) {
                known = bytes(&vector);
            }
        }
        vector.reserve_exact(2 * SOON);
        assert_eq!(bytes(&vector), 8 * vector.capacity());
    }
}
