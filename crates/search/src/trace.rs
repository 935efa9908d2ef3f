//! The parent log of a breadth-first search, in at most about a byte for each state.
//!
//! States are numbered in the order in which they were found. Number 0 is a virtual root; the initial states are its
//! children. States are expanded in the order of their numbers, so the parents of 1, 2, 3, … never decrease. They are
//! stored as a bit vector, with a 1 for every child and a 0 wherever the next parent begins. Each state also has its
//! index among the stable successors of its parent, which suffices to replay the path.

use std::collections::HashMap;
use std::io;

use entail_disk::{Reader, Scratch, Snapshot, SpillFile, Writer, damaged};

use crate::block_vec::{BlockVec, NibbleVec};
use crate::memory_estimate;

#[derive(Default)]
pub(crate) struct Trace {
    /// A 1 for every state, preceded by as many 0s as its parent's number.
    parents: BlockVec<u64>,
    /// The number of bits in use.
    bits: u64,
    /// The number of 0s.
    parent: u64,
    /// The number of 1s before each sample.
    samples: Vec<u64>,
    /// For each state, its index among the successors of its parent.
    places: NibbleVec,
    /// Indices that do not fit into a byte.
    far: HashMap<u64, u32>,
    /// The number of samples whose part of `parents` is spilled.
    samples_away: usize,
    /// The spilled beginnings of `parents` and `places`.
    away: Option<Away>,
}

struct Away {
    parents: SpillFile,
    places: SpillFile,
}

impl Away {
    fn in_files<'a>(away: &'a mut Option<Away>, scratch: &Scratch) -> io::Result<&'a mut Away> {
        Ok(match away {
            Some(away) => away,
            none => none.insert(Away { parents: scratch.spill_file()?, places: scratch.spill_file()? }),
        })
    }
}

const FAR: u8 = u8::MAX;
/// When a snapshot is loaded, this many bytes stay in memory; whole samples.
const LOADED: usize = 32 << 20;
/// In words. A block consists of whole samples.
const SAMPLE: usize = 64;
/// In bytes.
const WORD: usize = size_of::<u64>();

impl Trace {
    /// Appends the next state.
    #[inline]
    pub fn note(&mut self, parent: u64, place: u32) {
        let at = self.bits + (parent - self.parent);
        self.parent = parent;
        self.bits = at + 1;
        while self.parents.len() as u64 <= at / 64 {
            self.push_word();
        }
        *self.parents.last_mut().expect("a word for every bit") |= 1 << (at % 64);
        if place >= u32::from(FAR) {
            self.far.insert(self.len(), place);
        }
        self.places.push(place.min(u32::from(FAR)) as u8);
    }

    /// The number of states, which is the number of the last one.
    pub fn len(&self) -> u64 {
        self.places_away() + self.places.len() as u64
    }

    /// The successor indices on the path to a state.
    pub fn path_to(&self, mut state: u64) -> io::Result<Vec<u32>> {
        let mut way = Vec::new();
        while state > 0 {
            let (parent, place) = self.step_to(state)?;
            way.push(place);
            state = parent;
        }
        way.reverse();
        Ok(way)
    }

    /// The parent of a state, and its index among the successors of the parent.
    pub fn step_to(&self, state: u64) -> io::Result<(u64, u32)> {
        let index = state - 1;
        let place = self.place(index)?;
        let place = if place == FAR { self.far[&index] } else { u32::from(place) };
        Ok((self.parent_of(index)?, place))
    }

    /// Spills almost all of the log.
    pub fn spill(&mut self, scratch: &Scratch) -> io::Result<()> {
        let before = self.samples_away;
        self.spill_parents(scratch)?;
        // A few samples are not worth a file.
        if self.samples_away > before { self.spill_places(scratch) } else { Ok(()) }
    }

    fn spill_parents(&mut self, scratch: &Scratch) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let frontier = self.parents.from(0);
            // The last word is still written to.
            let words = frontier.len().min(self.parents.len().saturating_sub(1)) / SAMPLE * SAMPLE;
            if words == 0 {
                return Ok(());
            }
            bytes.clear();
            frontier[..words].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            Away::in_files(&mut self.away, scratch)?.parents.append(&bytes)?;
            self.parents.drop_front(words);
            self.bits -= 64 * words as u64;
            self.samples_away += words / SAMPLE;
        }
    }

    fn spill_places(&mut self, scratch: &Scratch) -> io::Result<()> {
        let away = Away::in_files(&mut self.away, scratch)?;
        while let Some(piece) = self.places.front_block() {
            away.places.append(&piece)?;
            self.places.drop_front();
        }
        Ok(())
    }

    /// Writes the whole log, also its spilled part.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        let words_away = self.samples_away * SAMPLE;
        (self.bits + 64 * words_away as u64).save(to)?;
        self.parent.save(to)?;
        self.samples.save(to)?;
        self.far.save(to)?;
        (words_away + self.parents.len()).save(to)?;
        self.away.iter().try_for_each(|away| away.parents.each(|bytes| to.put(bytes)))?;
        self.parents.iter().try_for_each(|word| word.save(to))?;
        self.len().save(to)?;
        self.away.iter().try_for_each(|away| away.places.each(|bytes| to.put(bytes)))?;
        self.places.pieces().try_for_each(|piece| to.put(&piece))
    }

    /// The log of a snapshot. With a scratch directory, most of it is spilled.
    pub fn load(from: &mut Reader, scratch: Option<&Scratch>) -> io::Result<Trace> {
        let (bits, parent, samples, far) =
            (Snapshot::load(from)?, Snapshot::load(from)?, Snapshot::load(from)?, Snapshot::load(from)?);
        let mut trace = Trace { bits, parent, samples, far, ..Trace::default() };
        let kept = |bytes| if scratch.is_some() { 0 } else { bytes };
        for _ in 0..from.count(WORD, kept(WORD))? {
            trace.parents.push(u64::load(from)?);
            if let Some(scratch) = scratch.filter(|_| trace.parents.len() * WORD > LOADED) {
                trace.spill_parents(scratch)?;
            }
        }
        for _ in 0..from.count(1, kept(1))? {
            trace.places.push(u8::load(from)?);
            if let Some(scratch) = scratch.filter(|_| trace.places.len() >= LOADED) {
                trace.spill_places(scratch)?;
            }
        }
        let words = (trace.samples_away * SAMPLE + trace.parents.len()) as u64;
        let fits = trace.bits <= 64 * (trace.parents.len() as u64)
            && trace.samples.len() as u64 == words.div_ceil(SAMPLE as u64);
        if fits { Ok(trace) } else { Err(damaged("a trace that is not as long as it says")) }
    }

    /// The bytes used now and after the next growth.
    pub fn bytes(&self) -> u64 {
        let sizes = [
            self.parents.bytes(),
            memory_estimate::bytes(&self.samples),
            self.places.bytes(),
            memory_estimate::table_bytes(self.far.len(), self.far.capacity(), 16),
        ];
        sizes.iter().sum::<usize>() as u64
    }

    fn push_word(&mut self) {
        if self.parents.len().is_multiple_of(SAMPLE) {
            self.samples.push(self.len());
        }
        self.parents.push(0);
    }

    fn places_away(&self) -> u64 {
        self.away.as_ref().map_or(0, |away| away.places.len())
    }

    fn place(&self, index: u64) -> io::Result<u8> {
        match &self.away {
            Some(away) if index < away.places.len() => {
                let mut place = [0];
                away.places.read(index, &mut place)?;
                Ok(place[0])
            }
            _ => Ok(self.places.get((index - self.places_away()) as usize)),
        }
    }

    /// The number of 0s before the 1 with this index.
    fn parent_of(&self, index: u64) -> io::Result<u64> {
        let sample = self.samples.partition_point(|&ones| ones <= index) - 1;
        let mut ones = self.samples[sample];
        for (at, word) in (sample * SAMPLE..).zip(self.words(sample)?) {
            let here = u64::from(word.count_ones());
            if ones + here > index {
                let bit = select(word, (index - ones) as u32);
                return Ok(64 * at as u64 + u64::from(bit) - index);
            }
            ones += here;
        }
        unreachable!("a state that was noted")
    }

    /// The words of a sample.
    fn words(&self, sample: usize) -> io::Result<Vec<u64>> {
        match &self.away {
            Some(away) if sample < self.samples_away => {
                let mut bytes = [0; SAMPLE * WORD];
                away.parents.read((sample * bytes.len()) as u64, &mut bytes)?;
                Ok(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
            }
            _ => {
                let here = self.parents.from((sample - self.samples_away) * SAMPLE);
                Ok(here[..here.len().min(SAMPLE)].to_vec())
            }
        }
    }
}

/// The position of the 1 that has `rank` others below it.
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
        // For each state from number 1 on: its parent and its index.
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
        check(&trace, &origins);
    }

    /// Each state, from number 1 on, has its parent and its index.
    fn check(trace: &Trace, origins: &[(usize, u32)]) {
        for state in (1..=origins.len()).step_by(997) {
            let (mut way, mut at) = (Vec::new(), state);
            while at > 0 {
                way.push(origins[at - 1].1);
                at = origins[at - 1].0;
            }
            way.reverse();
            assert_eq!(trace.path_to(state as u64).unwrap(), way, "state {state}");
        }
    }

    #[test]
    fn every_way_is_found_in_files() {
        let folder = tempfile::tempdir().unwrap();
        // Without a limit, and with tight ones.
        for bytes in [u64::MAX, 0, 600, 5000, 40_000] {
            let scratch = Scratch::with_room(folder.path(), bytes);
            let (mut rng, mut trace, mut origins) = (Rng::new(9), Trace::default(), Vec::new());
            let mut parent = 0;
            for _ in 0..50_000 {
                if rng.chance(0.3) {
                    parent = (parent + rng.below(300)).min(origins.len());
                }
                if rng.chance(0.001) {
                    let _ = trace.spill(&scratch);
                }
                let place = if rng.chance(0.01) { 200 + rng.below(1000) } else { rng.below(10) } as u32;
                trace.note(parent as u64, place);
                origins.push((parent, place));
            }
            check(&trace, &origins);
            assert_eq!(scratch.failure().is_none(), bytes == u64::MAX);
        }
    }

    #[test]
    fn little_is_left_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut trace = Trace::default();
        (0..1_000_000).for_each(|state| trace.note(state, 3));
        trace.spill(&Scratch::new(folder.path())).unwrap();
        assert!(trace.bytes() < 20_000, "{}", trace.bytes());
    }

    #[test]
    fn a_state_takes_less_than_a_byte() {
        let mut trace = Trace::default();
        for state in 0..1_000_000 {
            trace.note(state, 3);
        }
        assert!(trace.bytes() < 800_000, "{}", trace.bytes());
    }
}
