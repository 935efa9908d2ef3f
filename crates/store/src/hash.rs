//! Hashes of keys, for lossy sets.

use entail_disk::snapshot;
use entail_model::{Key, StateKey};

/// Two independent pseudorandom numbers.
pub(crate) type Hash = [u64; 2];

/// Different seeds give different collisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    secrets: [u64; 6],
}

snapshot!(Hasher { secrets });
snapshot!(Hashing { hasher, known });

impl Hasher {
    pub fn new(seed: u64) -> Hasher {
        let mut last = seed;
        // After Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
        let secrets = std::array::from_fn(|_| {
            last = last.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (last ^ last >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        });
        Hasher { secrets }
    }

    /// A product depends on all bits of both factors; a second product spreads them over all of its bits.
    #[inline]
    pub fn hash(&self, key: impl StateKey) -> Hash {
        let [low, high] = key.words();
        let [a, b, c, d, e, f] = self.secrets;
        let (low, high) = product(low ^ a, high ^ b);
        let fold = |(low, high)| low ^ high;
        [fold(product(low ^ c, high ^ d)), fold(product(low ^ e, high ^ f))]
    }
}

/// Computes hashes of states, also from the known bits of an earlier hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashing {
    pub hasher: Hasher,
    pub known: Option<u32>,
}

impl Hashing {
    #[inline]
    pub fn hash(&self, key: impl StateKey) -> Hash {
        match self.known {
            None => self.hasher.hash(key),
            Some(bits) => self.again(self.number(key, bits)),
        }
    }

    /// The first `bits` bits of the hash of a state.
    #[inline]
    pub fn number(&self, key: impl StateKey, bits: u32) -> u64 {
        let [hash, _] = self.hasher.hash(key);
        hash >> (u64::BITS - bits)
    }

    /// A hash computed from all known bits.
    #[inline]
    pub fn again(&self, number: u64) -> Hash {
        self.hasher.hash(Key(number))
    }
}

#[inline]
fn product(one: u64, other: u64) -> (u64, u64) {
    let product = u128::from(one) * u128::from(other);
    (product as u64, (product >> 64) as u64)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use entail_model::WideKey;
    use std::collections::HashSet;

    /// The number of hashes with equal high bits, and the expected number for random hashes.
    fn equal(keys: &HashSet<u128>, hash: impl Fn(u128) -> u64) -> (f64, f64) {
        const BITS: u32 = 32;
        let hashes: HashSet<u64> = keys.iter().map(|key| hash(*key) >> (u64::BITS - BITS)).collect();
        ((keys.len() - hashes.len()) as f64, (keys.len() as f64).powi(2) / f64::from(BITS + 1).exp2())
    }

    #[test]
    fn similar_keys_have_random_hashes() {
        let count: u128 = if cfg!(miri) { 1_000 } else { 300_000 };
        let hasher = Hasher::new(1);
        let few_bits = |number: u128| 1 << (number % 127) | 1 << (number / 127 % 127) | 1 << (number / 127 / 127);
        let kinds: [HashSet<u128>; 4] = [
            (0..count).collect(),
            (0..count).map(|number| number << 40).collect(),
            (0..count).map(|number| number << 64 | number).collect(),
            (0..count).map(few_bits).collect(),
        ];
        for (kind, keys) in kinds.iter().enumerate() {
            for part in 0..2 {
                let wide = equal(keys, |key| hasher.hash(WideKey(key))[part]);
                let narrow = equal(keys, |key| hasher.hash(Key(key as u64))[part]);
                let both = if kind < 2 { vec![wide, narrow] } else { vec![wide] };
                for (found, expected) in both {
                    let most = expected + 6.0 * expected.sqrt() + 3.0;
                    assert!(found < most, "{kind}, {part}: {found}, where {expected} are expected");
                }
            }
        }
    }

    #[test]
    fn another_seed_gives_other_hashes() {
        assert_ne!(Hasher::new(1).hash(Key(5)), Hasher::new(2).hash(Key(5)));
    }
}
