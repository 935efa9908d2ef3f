//! Bijections on numbers of a given width that make their high bits look random.

/// A bijection on numbers of `bits` bits.
///
/// A multiplication carries low bits into high ones, a shift moves high bits down. Two rounds suffice to spread the
/// states of real models evenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    mask: u64,
    shift: u32,
}

/// Odd, so that they have inverses; otherwise random.
const FACTORS: [u64; 2] = [0xd6e8_feb8_6659_fd93, 0x9e6c_63d0_876a_68e5];
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

impl Mix {
    pub fn new(bits: u32) -> Mix {
        debug_assert!((1..=64).contains(&bits));
        Mix { mask: u64::MAX >> (64 - bits), shift: bits.div_ceil(2) }
    }

    /// The bits above the width are unspecified; callers shift or mask them away.
    #[inline]
    pub fn scatter(self, x: u64) -> u64 {
        debug_assert!(x & !self.mask == 0);
        let x = (x ^ x >> self.shift).wrapping_mul(FACTORS[0]) & self.mask;
        (x ^ x >> self.shift).wrapping_mul(FACTORS[1])
    }

    /// A shift by at least half of the width is its own inverse.
    #[inline]
    pub fn gather(self, x: u64) -> u64 {
        let x = x.wrapping_mul(INVERSES[1]) & self.mask;
        let x = (x ^ x >> self.shift).wrapping_mul(INVERSES[0]) & self.mask;
        x ^ x >> self.shift
    }
}

/// Newton's iteration: every round doubles the number of correct bits. An odd number is its own inverse in three bits.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut right = 3;
    while right < 64 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        right *= 2;
    }
    x
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_widths_are_permuted() {
        for bits in 1..=12 {
            let mix = Mix::new(bits);
            let all: HashSet<u64> = (0..1 << bits).map(|x| mix.scatter(x) & mix.mask).collect();
            assert_eq!(all.len(), 1 << bits, "{bits} bits");
        }
    }

    /// The lines of a table must fill evenly when keys are packed states of a model: counters in a few places,
    /// everything else constant.
    #[test]
    #[cfg_attr(miri, ignore = "too many")]
    fn structured_numbers_spread_evenly() {
        for (bits, shifts) in [(24, [0, 16]), (40, [3, 30]), (48, [0, 40]), (64, [17, 56]), (64, [0, 32])] {
            let mix = Mix::new(bits);
            let mut lines = [0u32; 256];
            for i in 0..1u64 << 16 {
                let x = (i & 0xff) << shifts[0] | (i >> 8) << shifts[1];
                lines[(mix.scatter(x) << (64 - bits) >> 56) as usize] += 1;
            }
            let (least, most) = (lines.iter().min().unwrap(), lines.iter().max().unwrap());
            assert!(*least > 150 && *most < 370, "{bits} bits, {shifts:?}: between {least} and {most} of 256");
        }
    }

    proptest! {
        #[test]
        fn gathering_undoes_scattering(bits in 1u32..=64, x: u64) {
            let mix = Mix::new(bits);
            let x = x & mix.mask;
            prop_assert_eq!(mix.gather(mix.scatter(x)), x);
            prop_assert_eq!(mix.gather(mix.scatter(x) & mix.mask), x);
        }
    }
}
