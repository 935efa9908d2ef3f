//! Random numbers that are the same on every machine and in every version: a failing seed keeps failing.

use std::ops::Range;

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014 (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "nothing is below 0");
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number in `range`, which is not empty.
    pub fn range(&mut self, range: Range<i64>) -> i64 {
        let width = usize::try_from(range.end - range.start).expect("a range that is not reversed");
        range.start + self.below(width) as i64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.bits() >> 11) as f64 / ((1u64 << 53) as f64) < probability
    }

    /// A random element of `choices`, which is not empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_sequence() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(
            [rng.bits(), rng.bits(), rng.bits()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_choice_comes_up() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 7];
        for _ in 0..200 {
            seen[(rng.range(-3..4) + 3) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!((0..1000).filter(|_| rng.chance(0.0)).count(), 0);
        assert_eq!((0..1000).filter(|_| rng.chance(1.0)).count(), 1000);
        assert!((400..600).contains(&(0..1000).filter(|_| rng.chance(0.5)).count()));
    }
}
