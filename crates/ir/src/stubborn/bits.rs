//! Bit sets of moves.

use std::collections::HashMap;

/// A set of moves, one bit for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bits(pub Vec<u64>);

impl Bits {
    pub fn none(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub fn add(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    pub fn retain(&mut self, keeps: impl Fn(usize) -> bool) {
        let others: Vec<usize> = self.iter().filter(|number| !keeps(*number)).collect();
        others.into_iter().for_each(|number| self.remove(number));
    }

    pub fn join(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Returns whether the set has grown.
    pub fn grow(&mut self, other: &Bits) -> bool {
        let mut grown = 0;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            grown |= more & !*word;
            *word |= more;
        }
        grown != 0
    }

    pub fn remove_all(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, less)| *word &= !less);
    }

    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors(Some(word).filter(|word| *word != 0), |word| {
                Some(word & (word - 1)).filter(|rest| *rest != 0)
            })
            .map(move |word| 64 * at + word.trailing_zeros() as usize)
        })
    }
}

/// The largest number of words of a set.
pub(super) const MOST_WORDS: usize = 64;
/// SetTable are padded to one of these numbers of words.
const WIDTHS: [usize; 8] = [1, 2, 3, 4, 6, 8, 16, MOST_WORDS];

/// Many sets of the same width, each stored once.
#[derive(Clone, Debug)]
pub(super) struct SetTable {
    width: usize,
    words: Vec<u64>,
    /// The identifiers of known sets.
    known: HashMap<Bits, SetId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetId(u32);

impl SetTable {
    /// For sets over so many moves.
    pub fn new(moves: usize) -> SetTable {
        let words = moves.div_ceil(64);
        let width = WIDTHS.into_iter().find(|width| words <= *width).unwrap_or(MOST_WORDS);
        SetTable { width, words: Vec::new(), known: HashMap::new() }
    }

    /// Frees the index: no set will be added.
    pub fn finish(&mut self) {
        self.known = HashMap::new();
        self.words.shrink_to_fit();
    }

    /// The number of words of all sets.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn push(&mut self, set: Bits) -> SetId {
        if let Some(id) = self.known.get(&set) {
            return *id;
        }
        let id = SetId((self.words.len() / self.width) as u32);
        self.words.extend(&set.0);
        self.words.resize((id.0 as usize + 1) * self.width, 0);
        self.known.insert(set, id);
        id
    }

    #[inline]
    pub fn get<const W: usize>(&self, SetId(id): SetId) -> &[u64; W] {
        let all: &[[u64; W]] = self.words.as_chunks().0;
        &all[id as usize]
    }
}

#[inline]
pub(super) fn add<const W: usize>(set: &mut [u64; W], number: u32) {
    set[number as usize / 64] |= 1 << (number % 64);
}

#[inline]
pub(super) fn contains<const W: usize>(set: &[u64; W], number: u32) -> bool {
    set[number as usize / 64] >> (number % 64) & 1 != 0
}

pub(super) fn meet<const W: usize>(set: &mut [u64; W], other: &[u64; W]) {
    set.iter_mut().zip(other).for_each(|(word, only)| *word &= only);
}

pub(super) fn count<const W: usize>(set: &[u64; W]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

pub(super) fn each<const W: usize>(set: &[u64; W]) -> impl Iterator<Item = u32> {
    let mut rest = *set;
    std::iter::from_fn(move || take(&mut rest, |_, word| word))
}

/// Removes an element, preferably one of `first`; returns whether it is one.
#[inline]
pub(super) fn next<const W: usize>(set: &mut [u64; W], first: &[u64; W]) -> Option<(u32, bool)> {
    if let Some(number) = take(set, |at, word| word & first[at]) {
        return Some((number, true));
    }
    take(set, |_, word| word).map(|number| (number, false))
}

#[inline]
fn take<const W: usize>(set: &mut [u64; W], of: impl Fn(usize, u64) -> u64) -> Option<u32> {
    for (at, word) in set.iter_mut().enumerate() {
        let bits = of(at, *word);
        if bits != 0 {
            let bit = bits.trailing_zeros();
            *word &= !(1 << bit);
            return Some(64 * at as u32 + bit);
        }
    }
    None
}
