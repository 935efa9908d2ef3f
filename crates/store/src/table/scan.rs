//! Scans a whole line at once, with the vector instructions of the processor.

use super::WORDS;
use super::layout::Layout;
use super::line::Line;
use crate::sync::Ordering::Acquire;

/// The vector instructions of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    #[cfg(vectors)]
    Avx512,
    #[cfg(vectors)]
    Avx2,
    Portable,
}

/// The result of scanning a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// A bit for every word that has the head.
    pub words: u32,
    /// The number of leading words of heads that were full.
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

/// A method to scan a line. Always inlined, so that it is compiled for the same processor as its caller.
pub(super) trait Scan {
    fn scan(line: &Line, pattern: u64, layout: &Layout) -> Seen;
}

pub(super) struct Portable;

impl Scan for Portable {
    #[inline(always)]
    fn scan(line: &Line, pattern: u64, layout: &Layout) -> Seen {
        portable(line, pattern, layout)
    }
}

#[inline(always)]
fn portable(line: &Line, pattern: u64, layout: &Layout) -> Seen {
    let mut words = 0;
    let mut full = 0;
    // Without branches: the position of a slot in a line, and how full the line is, are unpredictable. Goes from the
    // last word to the first: if one is full, those before it were full before.
    for word in line.0[..layout.heads].iter().rev() {
        let word = word.load(Acquire);
        words = words << 1 | u32::from(layout.equal(word, pattern) != 0);
        full += usize::from(layout.is_full(word));
    }
    debug_assert!(full <= WORDS);
    Seen { words, full }
}

/// The words of a line are loaded together, by an instruction unknown to the compiler, because other threads may write
/// them meanwhile. Each word is loaded as atomically as a relaxed load, and before all that follows.
#[cfg(vectors)]
pub(super) mod vectors {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi64, _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
        _mm256_movemask_pd, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_xor_si256,
        _mm512_add_epi64, _mm512_and_si512, _mm512_cmpneq_epi64_mask, _mm512_or_si512, _mm512_set1_epi64,
        _mm512_test_epi64_mask, _mm512_xor_si512,
    };

    use super::{Layout, Line, Scan, Seen, WORDS};

    const _: () = assert!(WORDS == 8, "a line is one vector, or two");

    /// Requires a processor with AVX-512.
    pub struct Avx512;
    /// Requires a processor with AVX2.
    pub struct Avx2;

    impl Scan for Avx512 {
        #[inline(always)]
        fn scan(line: &Line, pattern: u64, layout: &Layout) -> Seen {
            // SAFETY: the processor has this feature.
            unsafe { avx512(line, pattern, layout) }
        }
    }

    impl Scan for Avx2 {
        #[inline(always)]
        fn scan(line: &Line, pattern: u64, layout: &Layout) -> Seen {
            // SAFETY: the processor has this feature.
            unsafe { avx2(line, pattern, layout) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn avx512(line: &Line, pattern: u64, layout: &Layout) -> Seen {
        let words: __m512i;
        // SAFETY: a line has 64 bytes and is aligned.
        unsafe {
            asm!("vmovdqa64 {}, [{}]", out(zmm_reg) words, in(reg) line, options(readonly, nostack, preserves_flags));
        }
        let all = |word: u64| _mm512_set1_epi64(word.cast_signed());
        let differences = _mm512_xor_si512(words, all(pattern));
        let others = all(layout.others);
        let carried = _mm512_add_epi64(_mm512_and_si512(differences, others), others);
        let highest = all(layout.highest);
        let different = _mm512_and_si512(_mm512_or_si512(carried, differences), highest);
        let equal = _mm512_cmpneq_epi64_mask(different, highest);
        let full = _mm512_test_epi64_mask(words, all(layout.last));
        let heads = heads(layout);
        Seen { words: u32::from(equal) & heads, full: (u32::from(full) & heads).trailing_ones() as usize }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn avx2(line: &Line, pattern: u64, layout: &Layout) -> Seen {
        let (low, high): (__m256i, __m256i);
        // SAFETY: a line has 64 bytes and is aligned.
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
            (all(pattern), all(layout.others), all(layout.highest), all(layout.last));
        // A bit for each of four words: whether it lacks the slot, and whether it is not full.
        let look = |words: __m256i| {
            let differences = _mm256_xor_si256(words, pattern);
            let carried = _mm256_add_epi64(_mm256_and_si256(differences, others), others);
            let different = _mm256_and_si256(_mm256_or_si256(carried, differences), highest);
            let unlike = _mm256_cmpeq_epi64(different, highest);
            let open = _mm256_cmpeq_epi64(_mm256_and_si256(words, last), _mm256_setzero_si256());
            [unlike, open].map(|mask| _mm256_movemask_pd(_mm256_castsi256_pd(mask)).cast_unsigned())
        };
        let ([unlike_low, open_low], [unlike_high, open_high]) = (look(low), look(high));
        let (unlike, open) = (unlike_low | unlike_high << 4, open_low | open_high << 4);
        let heads = heads(layout);
        Seen { words: !unlike & heads, full: (!open & heads).trailing_ones() as usize }
    }

    /// A bit for every word of heads.
    #[inline(always)]
    fn heads(layout: &Layout) -> u32 {
        (1 << layout.heads) - 1
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
        fn all_machines_see_the_same(which in 0usize..100, heads in prop::collection::vec(1u64..5, 0..=32), wanted in 1u64..5, high: bool) {
            let layouts: Vec<_> = Layout::all().collect();
            let layout = &layouts[which % layouts.len()];
            let lanes = layout.lanes as usize;
            let top = u64::from(high) << (layout.lane_bits - 1);
            let heads: Vec<u64> = heads.iter().take(layout.slots()).map(|head| head | top).collect();
            // Tails may be anything.
            let mut words = [(wanted * 0x0001_0001_0001_0001) | (1 << 63); WORDS];
            words[..layout.heads].fill(0);
            for (i, &head) in heads.iter().enumerate() {
                words[i / lanes] = layout.with_head(words[i / lanes], (i % lanes) as u32, head);
            }
            let line = Line(words.map(AtomicU64::new));
            for head in [wanted, wanted | top] {
                let pattern = layout.pattern(head);
                let with = heads.chunks(lanes).zip(0..).filter(|(heads, _)| heads.contains(&head));
                let naive = Seen { words: with.map(|(_, word)| 1 << word).sum(), full: heads.len() / lanes };
                prop_assert_eq!(portable(&line, pattern, layout), naive);
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: the feature was just detected.
                    prop_assert_eq!(unsafe { vectors::avx2(&line, pattern, layout) }, naive);
                }
                if std::is_x86_feature_detected!("avx512f") {
                    // SAFETY: the feature was just detected.
                    prop_assert_eq!(unsafe { vectors::avx512(&line, pattern, layout) }, naive);
                }
            }
        }
    }
}
