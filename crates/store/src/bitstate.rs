//! Bitstate hashing: a state sets some bits of a large array, and counts as seen if all of them are set already.
//!
//! After Holzmann: An analysis of bitstate hashing, FMSD 1998; the bits are chosen by enhanced double hashing, after Dillinger,
//! Manolios: Bloom filters in probabilistic verification, FMCAD 2004.

use entail_disk::snapshot;
use entail_model::{Full, Visit};

use crate::counter::Counter;
use crate::hash::Hash;
use crate::memory::Zeroed;
use crate::sync::{AtomicU64, Ordering};

/// A Bloom filter: an array of bits that does not grow.
#[derive(Debug)]
pub struct BitstateSet {
    words: Zeroed<AtomicU64>,
    /// Bits for each state.
    bits: u32,
    /// The load above which fewer bits for each state are better.
    most: Option<f64>,
    len: Counter,
    /// The number of set bits.
    set: Counter,
}

snapshot!(BitstateSet { words, bits, most, len, set }
    if |it| !it.words.is_empty() && it.bits > 0, "a bitstate array without bits");

impl BitstateSet {
    /// An array of `bytes` bytes, with `bits` bits for each state.
    pub fn new(bytes: u64, bits: u32) -> Result<BitstateSet, Full> {
        let words = Zeroed::new((bytes / 8).max(1) as usize)?;
        let (len, set) = Default::default();
        Ok(BitstateSet { words, bits: bits.max(1), most: None, len, set })
    }

    /// An array of `bytes` bytes, with 4 bits for each state. That is best for up to an eighth as many states as bits; beyond
    /// that, the array reports that it is full.
    pub fn optimistic(bytes: u64) -> Result<BitstateSet, Full> {
        Ok(BitstateSet { most: Some(0.4), ..BitstateSet::new(bytes, 4)? })
    }

    /// Whether there are so many states that fewer bits for each would be better.
    pub(crate) fn is_overfull(&self) -> bool {
        self.most.is_some_and(|most| self.load() > most)
    }

    /// The bits of a state: a word, and a bit in it, for each.
    #[inline]
    fn places(&self, [mut at, mut step]: Hash) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let words = &self.words[..];
        (0..u64::from(self.bits)).map(move |number| {
            let scaled = u128::from(at) * words.len() as u128;
            // The remainder below the word's number is random too.
            let (word, rest) = ((scaled >> 64) as usize, scaled as u64);
            at = at.wrapping_add(step);
            step = step.wrapping_add(number);
            (&words[word], 1 << (rest >> 58))
        })
    }

    /// The number of bits for each state.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// The share of bits that are set.
    fn load(&self) -> f64 {
        self.set.sum() as f64 / (64 * self.words.len()) as f64
    }

    #[inline]
    pub(crate) fn insert(&self, hash: Hash) -> Visit {
        let mut new = 0;
        for (word, bit) in self.places(hash) {
            // A plain load first: most bits are set already, and an atomic update is slow.
            if word.load(Ordering::Relaxed) & bit == 0 {
                new += u64::from(word.fetch_or(bit, Ordering::Relaxed) & bit == 0);
            }
        }
        if new == 0 {
            return Visit::Seen;
        }
        self.len.add_one();
        self.set.add(new);
        Visit::New
    }

    #[inline]
    pub(crate) fn prefetch(&self, hash: Hash) {
        self.places(hash).for_each(|(word, _)| crate::prefetch(word));
    }

    pub(crate) fn len(&self) -> u64 {
        self.len.sum()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.bytes() as u64
    }

    /// With a share x of the m bits set, a new state with its k bits sets k (1 − x) more of them on average. So
    /// −m/k ln(1 − x) states were inserted by then; and of these, −m/k (ln(1 − x) + x + x²/2 + … + xᵏ/k) were omitted.
    pub(crate) fn omitted(&self) -> f64 {
        let (load, bits) = (self.load().min(1.0 - 1e-9), f64::from(self.bits));
        let term = |number: u32| load.powi(number as i32) / f64::from(number);
        let sum = if load < 0.5 {
            // The same as a series: the closed form would lose all digits to cancellation.
            (self.bits + 1..self.bits + 60).map(term).sum()
        } else {
            -(-load).ln_1p() - (1..=self.bits).map(term).sum::<f64>()
        };
        (64 * self.words.len()) as f64 / bits * sum
    }

    /// The probability that all bits of a new state are set.
    pub(crate) fn confused(&self) -> f64 {
        self.load().powi(self.bits as i32)
    }

    pub(crate) fn formula(&self) -> String {
        let (words, bits) = (self.words.len(), self.bits);
        format!(
            "-m/k (ln(1 - x) + x + ... + x^k/k), with k = {bits} and a share x = {:.4} of m = 64 * {words} bits set",
            self.load()
        )
    }
}
