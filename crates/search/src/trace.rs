//! Where every state of a breadth-first search came from, in little more than a byte a state.
//!
//! States are numbered in the order in which they were found; number 0 stands for the moment before the beginning,
//! and the initial states are its children. Since states are expanded in the order of their numbers, the parents of
//! 1, 2, 3, … never decrease: so they are written as a row of bits, a 1 for every child and a 0 wherever the next
//! parent's turn comes. With each state goes its place among the stable successors of its parent: enough to go the
//! way again.

use std::collections::HashMap;

use crate::footprint;

#[derive(Default)]
pub(crate) struct Trace {
    /// A 1 for every state, after as many 0s as its parent's number says.
    parents: Vec<u64>,
    /// How many bits of `parents` are in use.
    bits: u64,
    /// How many 0s there are.
    parent: u64,
    /// The number of 1s before every so many bits.
    samples: Vec<u64>,
    /// For each state.
    places: Vec<u8>,
    /// The places that do not fit into a byte.
    far: HashMap<u64, u32>,
}

const FAR: u8 = u8::MAX;
/// In words.
const SAMPLE: usize = 64;

impl Trace {
    /// Notes the next state.
    #[inline]
    pub fn note(&mut self, parent: u64, place: u32) {
        let at = self.bits + (parent - self.parent);
        self.parent = parent;
        self.bits = at + 1;
        while self.parents.len() as u64 <= at / 64 {
            self.push_word();
        }
        self.parents[(at / 64) as usize] |= 1 << (at % 64);
        if place >= u32::from(FAR) {
            self.far.insert(self.places.len() as u64, place);
        }
        self.places.push(place.min(u32::from(FAR)) as u8);
    }

    /// How many states were noted: the number of the last one.
    pub fn len(&self) -> u64 {
        self.places.len() as u64
    }

    /// The places to be taken, one after the other, to come to a state.
    pub fn way_to(&self, mut state: u64) -> Vec<u32> {
        let mut way = Vec::new();
        while state > 0 {
            let index = state - 1;
            let place = self.places[index as usize];
            way.push(if place == FAR { self.far[&index] } else { u32::from(place) });
            state = self.parent_of(index);
        }
        way.reverse();
        way
    }

    /// What it takes, or soon will.
    pub fn bytes(&self) -> u64 {
        let sizes = [
            footprint::bytes(&self.parents),
            footprint::bytes(&self.samples),
            footprint::bytes(&self.places),
            footprint::table_bytes(self.far.len(), self.far.capacity(), 16),
        ];
        sizes.iter().sum::<usize>() as u64
    }

    fn push_word(&mut self) {
        if self.parents.len().is_multiple_of(SAMPLE) {
            self.samples.push(self.places.len() as u64);
        }
        self.parents.push(0);
    }

    /// How many 0s stand before the 1 with this index.
    fn parent_of(&self, index: u64) -> u64 {
        let sample = self.samples.partition_point(|&ones| ones <= index) - 1;
        let mut ones = self.samples[sample];
        for (at, &word) in self.parents.iter().enumerate().skip(sample * SAMPLE) {
            let here = u64::from(word.count_ones());
            if ones + here > index {
                let bit = select(word, (index - ones) as u32);
                return 64 * at as u64 + u64::from(bit) - index;
            }
            ones += here;
        }
        unreachable!("a state that was noted")
    }
}

/// Where the 1 is that has `rank` others below it.
fn select(mut word: u64, rank: u32) -> u32 {
    for _ in 0..rank {
        word &= word - 1;
    }
    word.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::rng::Rng;

    #[test]
    fn every_way_is_remembered() {
        let mut rng = Rng::new(7);
        let mut trace = Trace::default();
        // Of each state from number 1 on: its parent and its place.
        let mut origins: Vec<(usize, u32)> = Vec::new();
        let mut parent = 0;
        for _ in 0..50_000 {
            if rng.chance(0.3) {
                parent = (parent + rng.below(300)).min(origins.len());
            }
            let place = if rng.chance(0.01) { 200 + rng.below(1000) } else { rng.below(10) } as u32;
            trace.note(parent as u64, place);
            origins.push((parent, place));
        }
        for state in (1..=origins.len()).step_by(997) {
            let (mut way, mut at) = (Vec::new(), state);
            while at > 0 {
                way.push(origins[at - 1].1);
                at = origins[at - 1].0;
            }
            way.reverse();
            assert_eq!(trace.way_to(state as u64), way, "state {state}");
        }
    }

    #[test]
    fn a_state_takes_little_more_than_a_byte() {
        let mut trace = Trace::default();
        for state in 0..1_000_000 {
            trace.note(state, 3);
        }
        assert!(trace.bytes() < 3_000_000, "{}", trace.bytes());
    }
}
