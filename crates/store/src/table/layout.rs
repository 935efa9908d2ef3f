//! Layouts: how a line is divided into slots.
//!
//! ```text
//! whole:   ├ slot ┬ slot ┼ slot ┬ slot ┼ … ┤                  the rest of a word is unused
//! parted:  ├ head ┬ head ┼ head ┬ head ┼ … ┼ tails ┼ tails ┤  the low bits of slots are in the last words
//! ```
//!
//! No head is 0, because it contains the mark of its slot; no tail is 0, because it has its own mark. A thread that
//! inserts a parted slot claims a lane by its head, and then writes its tail. Only a thread that searches for the same
//! head waits meanwhile.

use std::cmp::Reverse;
use std::ops::Deref;

use super::WORDS;

/// In a word.
const MOST_LANES: u32 = 4;
/// In a line.
const MOST_SLOTS: usize = WORDS * MOST_LANES as usize;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The number of heads in a word. A whole slot is its own head.
    pub lanes: u32,
    pub lane_bits: u32,
    /// The number of words of a line with heads.
    pub heads: usize,
    /// In every lane: the lowest bit, the highest, and all but the highest.
    lowest: u64,
    pub highest: u64,
    pub others: u64,
    /// The bits of the last lane, and the unused bits.
    pub last: u64,
    /// The number of bits of a slot in its tail, below the mark.
    low_bits: u32,
    tails_in_word: u32,
}

/// The head and the tail of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub head: u64,
    /// 0 if slots are whole.
    pub tail: u64,
}

/// The places of all slots of a line, and their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    all: [Place; MOST_SLOTS],
    count: usize,
}

/// The words of a head and of its tail, and the shifts within them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub word: u8,
    pub shift: u8,
    pub tails: u8,
    pub tail_shift: u8,
}

impl Deref for Places {
    type Target = [Place];

    #[inline]
    fn deref(&self) -> &[Place] {
        &self.all[..self.count]
    }
}

impl Layout {
    /// The layout with the most slots of `bits` bits, at most 64.
    pub fn new(bits: u32) -> Layout {
        let wide = Layout::all().filter(|layout| layout.slot_bits() >= bits);
        // With fewer lanes, heads are longer, so that fewer are equal.
        wide.max_by_key(|layout| (layout.slots(), Reverse(layout.lanes))).expect("at most 64 bits")
    }

    pub fn all() -> impl Iterator<Item = Layout> {
        let parted = (WORDS / 2..WORDS).flat_map(|heads| (2..=MOST_LANES).map(move |lanes| (lanes, heads)));
        let whole = (1..=MOST_LANES).map(|lanes| (lanes, WORDS));
        whole.chain(parted).map(|(lanes, heads)| Layout::with(lanes, heads))
    }

    /// A layout with one slot in each word.
    pub fn words() -> Layout {
        Layout::with(1, WORDS)
    }

    fn with(lanes: u32, heads: usize) -> Layout {
        let lane_bits = 64 / lanes;
        let lowest = (0..lanes).map(|lane| 1 << (lane * lane_bits)).sum();
        let highest = lowest << (lane_bits - 1);
        let tails_in_word = match WORDS - heads {
            0 => 0,
            words => (heads as u32 * lanes).div_ceil(words as u32),
        };
        Layout {
            lanes,
            lane_bits,
            heads,
            lowest,
            highest,
            others: highest - lowest,
            last: u64::MAX << ((lanes - 1) * lane_bits),
            low_bits: 64u32.checked_div(tails_in_word).map_or(0, |bits| bits - 1),
            tails_in_word,
        }
    }

    pub fn slot_bits(&self) -> u32 {
        self.lane_bits + self.low_bits
    }

    /// The number of slots in a line.
    pub fn slots(&self) -> usize {
        self.heads * self.lanes as usize
    }

    #[inline]
    pub fn is_whole(&self) -> bool {
        self.tails_in_word == 0
    }

    #[inline]
    pub fn written(&self, slot: u64) -> Written {
        let mark = u64::from(!self.is_whole()) << self.low_bits;
        Written { head: slot >> self.low_bits, tail: slot & self.low_mask() | mark }
    }

    /// A word with the same head in every lane.
    #[inline]
    pub fn pattern(&self, head: u64) -> u64 {
        head * self.lowest
    }

    /// The highest bit of every lane in which two words agree.
    #[inline]
    pub fn equal(&self, word: u64, pattern: u64) -> u64 {
        let differences = word ^ pattern;
        // The highest bit is zero, and receives no carry, exactly in the lanes without differences.
        !(((differences & self.others) + self.others) | differences) & self.highest
    }

    /// The lane of the lowest of such bits.
    #[inline]
    pub fn lane(&self, equal: u64) -> u32 {
        (equal.trailing_zeros() * self.lanes) >> 6
    }

    #[inline]
    pub fn is_full(&self, word: u64) -> bool {
        word & self.last != 0
    }

    /// The first free lane of a word that is not full.
    #[inline]
    pub fn free(&self, word: u64) -> u32 {
        self.lane(self.equal(word, 0))
    }

    #[inline]
    pub fn with_head(&self, word: u64, lane: u32, head: u64) -> u64 {
        word | head << (lane * self.lane_bits)
    }

    /// The places of all slots of a line.
    pub fn places(&self) -> Places {
        let lanes = (0..self.heads).flat_map(|word| (0..self.lanes).map(move |lane| (word, lane)));
        let mut places = Places { all: [Place::default(); MOST_SLOTS], count: self.slots() };
        for (place, (word, lane)) in places.all.iter_mut().zip(lanes) {
            let (tails, tail_shift) = if self.is_whole() { (0, 0) } else { self.tail_place(word, lane) };
            *place = Place {
                word: word as u8,
                shift: (lane * self.lane_bits) as u8,
                tails: tails as u8,
                tail_shift: tail_shift as u8,
            };
        }
        places
    }

    /// The word and the shift of the tail of the slot with its head in this lane, if slots are parted.
    #[inline]
    pub fn tail_place(&self, word: usize, lane: u32) -> (usize, u32) {
        let (word, tail) = divided(word as u32 * self.lanes + lane, self.tails_in_word);
        (self.heads + word, tail * (self.low_bits + 1))
    }

    /// The tail at a place of a word; 0 if it is not written yet.
    #[inline]
    pub fn tail(&self, word: u64, shift: u32) -> u64 {
        word >> shift & (2 * self.low_mask() + 1)
    }

    /// Calls `each` for every used slot among these places.
    #[inline]
    pub fn each_used(&self, words: &[u64; WORDS], places: &[Place], mut each: impl FnMut(u64)) {
        let (mask, low_mask) = (u64::MAX >> (64 - self.lane_bits), self.low_mask());
        for place in places {
            let head = words[usize::from(place.word) % WORDS] >> place.shift & mask;
            if head == 0 {
                break;
            }
            let low = words[usize::from(place.tails) % WORDS] >> place.tail_shift & low_mask;
            each(head << self.low_bits | low);
        }
    }

    #[inline]
    fn low_mask(&self) -> u64 {
        (1 << self.low_bits) - 1
    }
}

/// Quotient and remainder, for small dividends.
#[inline]
fn divided(slot: u32, by: u32) -> (usize, u32) {
    let quotient = (slot * RECIPROCALS[by as usize]) >> 16;
    (quotient as usize, slot - quotient * by)
}

const RECIPROCALS: [u32; 33] = {
    let mut reciprocals = [0; 33];
    let mut by = 1;
    while by < reciprocals.len() {
        reciprocals[by] = (1u32 << 16).div_ceil(by as u32);
        by += 1;
    }
    reciprocals
};

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn little_of_a_line_is_left_over() {
        let slots = |bits| Layout::new(bits).slots();
        assert_eq!([64, 47, 41, 35, 32].map(slots), [8, 10, 12, 14, 16]);
        assert_eq!([27, 24, 23, 21, 17, 16, 5].map(slots), [18, 20, 21, 24, 28, 32, 32]);
        assert_eq!([48, 42, 36, 33, 28, 25, 22, 18].map(slots), [8, 10, 12, 14, 16, 18, 21, 24]);
    }

    #[test]
    fn slots_of_a_line_are_placed_one_after_the_other() {
        for layout in Layout::all() {
            let mut free = [u64::MAX; WORDS];
            for (used, place) in layout.places().iter().enumerate() {
                let (word, lane) = (used / layout.lanes as usize, used as u32 % layout.lanes);
                assert_eq!((usize::from(place.word), u32::from(place.shift)), (word, lane * layout.lane_bits));
                let tails = usize::from(place.tails);
                let tail = layout.tail(u64::MAX, place.tail_shift.into()) << place.tail_shift;
                assert!(layout.is_whole() || tails >= layout.heads && free[tails] & tail == tail, "{layout:?}");
                free[tails] &= !tail;
            }
            assert_eq!(layout.places().len(), layout.slots());
        }
    }

    proptest! {
        #[test]
        fn words_are_compared_and_filled_lane_by_lane(lanes in 1u32..=4, heads: [u64; 4], x: u64, near: bool) {
            let layout = Layout::with(lanes, WORDS);
            let mask = u64::MAX >> (64 - layout.lane_bits);
            let heads: Vec<u64> = heads.iter().take(lanes as usize).map(|head| (head & mask).max(1)).collect();
            let x = if near { heads[0] ^ (x & 1) << (layout.lane_bits - 1) } else { x & mask };
            let mut word = 0;
            for used in 0..lanes as usize {
                prop_assert!(!layout.is_full(word));
                let there = heads[..used].iter().chain(std::iter::repeat(&0)).take(lanes as usize);
                let expected = there
                    .zip(1..)
                    .map(|(&head, lane)| u64::from(head == x) << (lane * layout.lane_bits - 1))
                    .sum::<u64>();
                let equal = layout.equal(word, layout.pattern(x));
                prop_assert_eq!(equal, expected);
                if let Some(lane) = heads[..used].iter().position(|&head| head == x) {
                    prop_assert_eq!(layout.lane(equal), lane as u32);
                }
                prop_assert_eq!(layout.free(word), used as u32);
                word = layout.with_head(word, used as u32, heads[used]);
            }
            prop_assert!(layout.is_full(word));
        }

        #[test]
        fn slots_are_read_as_they_were_written(which in 0usize..100, slots in prop::collection::vec(1u64.., 0..=32)) {
            let all: Vec<_> = Layout::all().collect();
            let layout = all[which % all.len()];
            let mut words = [0; WORDS];
            let slots: Vec<u64> = slots
                .into_iter()
                .take(layout.slots())
                .map(|slot| slot >> (64 - layout.slot_bits()) | 1 << (layout.slot_bits() - 1))
                .collect();
            let places = layout.places();
            for (place, &slot) in places.iter().zip(&slots) {
                let written = layout.written(slot);
                words[usize::from(place.word)] |= written.head << place.shift;
                if !layout.is_whole() {
                    let tails = &mut words[usize::from(place.tails)];
                    prop_assert_eq!(layout.tail(*tails, place.tail_shift.into()), 0);
                    *tails |= written.tail << place.tail_shift;
                    prop_assert_eq!(layout.tail(*tails, place.tail_shift.into()), written.tail);
                }
            }
            let mut read = Vec::new();
            layout.each_used(&words, &places, |slot| read.push(slot));
            prop_assert_eq!(read, slots);
        }
    }
}
