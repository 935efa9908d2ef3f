//! Looking at a whole line at once, with what the processor has for it.

use super::shape::Shape;
use super::{Line, WORDS};
use crate::sync::Ordering::Acquire;

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    #[cfg(vectors)]
    Avx512,
    #[cfg(vectors)]
    Avx2,
    Portable,
}

/// What was seen in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Some slot is the one looked for.
    pub found: bool,
    /// The first words, which were full and did not have it.
    pub full: usize,
}

impl Machine {
    pub fn this() -> Machine {
        #[cfg(vectors)]
        if std::is_x86_feature_detected!("avx512f") {
            return Machine::Avx512;
        } else if std::is_x86_feature_detected!("avx2") {
            return Machine::Avx2;
        }
        Machine::Portable
    }
}

/// A way of looking at a line. Inlined always, so that it is part of a function for the same processors.
pub(super) trait Scan {
    fn scan(line: &Line, pattern: u64, shape: &Shape) -> Seen;
}

pub(super) struct Portable;

impl Scan for Portable {
    #[inline(always)]
    fn scan(line: &Line, pattern: u64, shape: &Shape) -> Seen {
        portable(line, pattern, shape)
    }
}

#[inline(always)]
fn portable(line: &Line, pattern: u64, shape: &Shape) -> Seen {
    let mut equal = 0;
    let mut full = 0;
    // Without branches: where in a line a slot is, and how full the line is, cannot be predicted.
    // From the last word to the first: if one is seen full, those before it are, because they were full before.
    for word in line.0.iter().rev() {
        let word = word.load(Acquire);
        equal |= shape.equal(word, pattern);
        full += usize::from(shape.is_full(word));
    }
    debug_assert!(full <= WORDS);
    Seen { found: equal != 0, full }
}

/// The words of a line are loaded together, by an instruction that the compiler knows nothing about: other threads
/// may write them meanwhile. Each word by itself is loaded as an atomic one, and no later than what follows.
#[cfg(vectors)]
pub(super) mod vectors {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi64, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
        _mm256_movemask_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_xor_si256,
        _mm512_add_epi64, _mm512_and_si512, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64,
        _mm512_test_epi64_mask, _mm512_xor_si512,
    };

    use super::{Line, Scan, Seen, Shape, WORDS};

    const _: () = assert!(WORDS == 8, "a line is one vector, or two");

    /// To be used only where the processor has AVX-512.
    pub struct Avx512;
    /// To be used only where the processor has AVX2.
    pub struct Avx2;

    impl Scan for Avx512 {
        #[inline(always)]
        fn scan(line: &Line, pattern: u64, shape: &Shape) -> Seen {
            // SAFETY: the processor has it.
            unsafe { avx512(line, pattern, shape) }
        }
    }

    impl Scan for Avx2 {
        #[inline(always)]
        fn scan(line: &Line, pattern: u64, shape: &Shape) -> Seen {
            // SAFETY: the processor has it.
            unsafe { avx2(line, pattern, shape) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn avx512(line: &Line, pattern: u64, shape: &Shape) -> Seen {
        let words: __m512i;
        // SAFETY: a line has 64 bytes, and is aligned.
        unsafe {
            asm!("vmovdqa64 {}, [{}]", out(zmm_reg) words, in(reg) line, options(readonly, nostack, preserves_flags));
        }
        let all = |word: u64| _mm512_set1_epi64(word.cast_signed());
        let differences = _mm512_xor_si512(words, all(pattern));
        let others = all(shape.others);
        let carried = _mm512_add_epi64(_mm512_and_si512(differences, others), others);
        let highest = all(shape.highest);
        let different = _mm512_and_si512(_mm512_or_si512(carried, differences), highest);
        let equal = _mm512_cmpneq_epi64_mask(different, highest);
        let full = _mm512_test_epi64_mask(words, all(shape.last));
        Seen { found: equal != 0, full: full.trailing_ones() as usize }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn avx2(line: &Line, pattern: u64, shape: &Shape) -> Seen {
        let (low, high): (__m256i, __m256i);
        // SAFETY: a line has 64 bytes, and is aligned.
        unsafe {
            asm!(
                "vmovdqa {}, [{line}]",
                "vmovdqa {}, [{line} + 32]",
                out(ymm_reg) low,
                out(ymm_reg) high,
                line = in(reg) line,
                options(readonly, nostack, preserves_flags)
            );
        }
        let all = |word: u64| _mm256_set1_epi64x(word.cast_signed());
        let (pattern, others, highest, last) =
            (all(pattern), all(shape.others), all(shape.highest), all(shape.last));
        // A bit for each of four words: whether it has no such slot, and whether it is not full.
        let look = |words: __m256i| {
            let differences = _mm256_xor_si256(words, pattern);
            let carried = _mm256_add_epi64(_mm256_and_si256(differences, others), others);
            let different = _mm256_and_si256(_mm256_or_si256(carried, differences), highest);
            let unlike = _mm256_cmpeq_epi64(different, highest);
            let open = _mm256_cmpeq_epi64(_mm256_and_si256(words, last), _mm256_setzero_si256());
            [unlike, open].map(|mask| _mm256_movemask_pd(_mm256_castsi256_pd(mask)).cast_unsigned())
        };
        let ([unlike_low, open_low], [unlike_high, open_high]) = (look(low), look(high));
        let open = open_low | open_high << 4 | 1 << WORDS;
        Seen { found: unlike_low & unlike_high != 0xf, full: open.trailing_zeros() as usize }
    }
}

#[cfg(all(test, vectors))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sync::AtomicU64;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn all_machines_see_the_same(lanes in 1u32..=4, slots in prop::collection::vec(1u64..5, 0..=32), wanted in 1u64..5, high: bool) {
            let shape = (2..=64).map(|bits| Shape::new(bits, 8)).find(|shape| shape.lanes == lanes).unwrap();
            let top = u64::from(high) << (shape.lane_bits - 1);
            let mut words = [0; WORDS];
            for (i, slot) in slots.iter().take(WORDS * lanes as usize).enumerate() {
                let word = &mut words[i / lanes as usize];
                *word = shape.with(*word, slot | top);
            }
            let line = Line(words.map(AtomicU64::new));
            for slot in [wanted, wanted | top] {
                let pattern = shape.pattern(slot);
                let naive = Seen {
                    found: words.iter().any(|&word| shape.used(word).any(|used| used == slot)),
                    full: words.iter().take_while(|word| shape.used(**word).count() == lanes as usize).count(),
                };
                prop_assert_eq!(portable(&line, pattern, &shape), naive);
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: just asked for.
                    prop_assert_eq!(unsafe { vectors::avx2(&line, pattern, &shape) }, naive);
                }
                if std::is_x86_feature_detected!("avx512f") {
                    // SAFETY: just asked for.
                    prop_assert_eq!(unsafe { vectors::avx512(&line, pattern, &shape) }, naive);
                }
            }
        }
    }
}
