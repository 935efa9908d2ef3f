//! How many bytes a vector takes, or soon will.
//!
//! A vector that is full asks for twice as much; and if it is not there, the process ends. So a search looks ahead: it
//! counts what its vectors will ask for before it next compares with the limit.

use std::mem::size_of;

/// More elements than a vector is given until then.
const SOON: usize = 1 << 13;
/// Blocks of so many bytes are not copied when they grow: the kernel moves their pages. Smaller ones are there twice
/// for a moment.
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

/// The same for a hash table, which is always copied, with so many bytes for each element.
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
