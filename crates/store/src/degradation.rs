//! Degradation when memory runs out: from exact states to tree compression, to hash compaction, to bitstate hashing.
//!
//! Two sets do not fit into memory at the same time. So the states, or their hashes, are spilled to a file, the old set
//! is freed, and the new set is filled from the file. A hash cannot be extended later: from then on, every state is
//! identified by the stored bits of its hash, which also determine its bits in the array.
//!
//! An exact set omits nothing, so omissions begin when a lossy level is reached. Let n be the number of states at that
//! time, and f(n) the expected number of omissions if the level had been used from the beginning; then f - f(n) are
//! expected since. For each level, f is a sum over all new states of the probability of a collision, and the terms up
//! to n did not happen. If the array is filled from hashes of b bits, two states may also share a hash: that adds (n'^2
//! - n^2) / 2^(b+1), up to n' states.

use std::io;

use entail_disk::{Scratch, SpillFile, restore, snapshot};
use entail_model::{Full, Keys};

use crate::bitstate::BitstateSet;
use crate::compact::CompactSet;
use crate::exact::ShortStateSet;
use crate::hash::{Hash, Hashing};
use crate::lossy::LossySet;
use crate::spill::{read_words, write_words};
use crate::visited::VisitedSet;

/// The levels to which a set degrades, and the levels reached.
#[derive(Debug)]
pub struct Degradation {
    scratch: Scratch,
    share: Share,
    /// The number of bits of short states, if tree compression comes first.
    halves: Option<u32>,
    levels: Vec<Level>,
    /// The number of collisions when the last level was reached.
    merged: u64,
    /// The expected omissions before the last level, and those if the last level had been used from the beginning.
    omitted: f64,
    spared: f64,
    /// The number of known bits of each hash at that time.
    known: u32,
    /// The set is lost, because a file could not be read or written.
    broken: bool,
}

/// The share of the memory limit for a set that does not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Everything else can be spilled and needs little memory.
    Most,
    Half,
}

/// A level of degradation, and the number of states when it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub kind: LevelKind,
    pub from: u64,
}

/// The store of a level, named as in `--store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelKind {
    /// Tree compression: nothing is lost.
    Tree,
    /// Hash compaction: this many bits of a hash.
    Compact { bits: u32 },
    /// Bitstate hashing: this many bits of an array for each state.
    Bitstate { bits: u32 },
}

/// Longer hashes are not worth their memory.
const HASH_BITS: u32 = 48;
const ARRAY_BITS: u32 = 3;
/// All bits of a hash are known.
const WHOLE: u32 = u64::BITS;
/// The number of hashes inserted at a time.
const LOOKED_UP: usize = 256;
/// The least useful share of an array in the limit: one in this many bytes.
const LEAST: u64 = 16;

impl Degradation {
    pub fn new(scratch: Scratch, share: Share) -> Degradation {
        let (levels, known) = (Vec::new(), WHOLE);
        let halves = None;
        Degradation { scratch, share, halves, levels, merged: 0, omitted: 0.0, spared: 0.0, known, broken: false }
    }

    /// Adds tree compression of short states of `bits` bits as the first level, which is exact.
    pub fn tree_first(self, bits: u32) -> Degradation {
        Degradation { halves: Some(bits), ..self }
    }

    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn merged(&self) -> u64 {
        self.merged
    }

    /// The expected number of omitted states, and its formula.
    pub(crate) fn omitted(&self, lossy: &LossySet, states: u64) -> (f64, String) {
        let (omitted, since) = (self.omitted_in(lossy, states), self.levels.last().map_or(0, |level| level.from));
        let formula = match since {
            0 => lossy.formula(),
            since => format!("those since state {since}: {}", lossy.formula()),
        };
        (omitted, formula)
    }

    /// The limit of the next set, which leaves room for the dictionaries of keys to grow.
    fn room(&self, limit: u64, key_bytes: u64) -> u64 {
        let rest = limit.saturating_sub(key_bytes);
        let rest = rest.saturating_sub(2 * key_bytes).max(rest / 4);
        match self.share {
            Share::Most => rest - rest / 32,
            Share::Half => rest / 2,
        }
    }

    fn omitted_in(&self, lossy: &LossySet, states: u64) -> f64 {
        self.omitted + (lossy.omitted() - self.spared).max(0.0) + self.alike(states)
    }

    /// The expected number of states whose hash equals an earlier one.
    fn alike(&self, states: u64) -> f64 {
        let Some(Level { kind: LevelKind::Bitstate { .. }, from }) = self.levels.last() else { return 0.0 };
        let [states, from] = [states, *from].map(|states| states as f64);
        (states * states - from * from) / f64::from(self.known + 1).exp2()
    }
}

// The scratch directory is not part of the snapshot.
restore!(Degradation { levels, merged, omitted, spared, known, broken });

snapshot!(Level { kind, from });

snapshot!(enum LevelKind { 0 => Compact { bits }, 1 => Bitstate { bits }, 2 => Tree });

impl<S: ShortStateSet> VisitedSet<S> {
    /// Degrades by one level, if there is one, within `limit` bytes.
    pub(crate) fn degrade_once(&mut self, limit: u64) -> Result<(), Full> {
        let states = self.len();
        let Some(degradation) = self.degradation.as_ref().filter(|degradation| !degradation.broken) else {
            return Err(Full);
        };
        let room = degradation.room(limit.saturating_sub(self.exact.least_bytes()), self.exact.key_bytes());
        let (bits, is_hashed) = match &self.lossy {
            // A wider hash would save less memory than it costs.
            None => {
                CompactSet::widest(states + states / 4, room, HASH_BITS).map_or((WHOLE, false), |bits| (bits, true))
            }
            Some(LossySet::Compact(compact)) => (compact.bits(), false),
            Some(LossySet::Bitstate(_)) => return Err(Full),
        };
        if room < limit / LEAST {
            return Err(Full);
        }
        if let Some(bits) = degradation.halves.filter(|_| self.lossy.is_none() && self.exact.can_compress())
            && self.exact.compress(bits, &degradation.scratch, limit).is_ok()
        {
            let degradation = self.degradation.as_mut().ok_or(Full)?;
            degradation.levels.push(Level { kind: LevelKind::Tree, from: states });
            return Ok(());
        }
        let tape = self.write_hashes(&degradation.scratch, bits);
        if tape.is_err() && self.exact.is_spilled() {
            self.degradation.as_mut().ok_or(Full)?.broken = true;
            return Err(Full);
        }
        let tape = tape.map_err(|_| Full)?;
        let omitted = self.lossy.as_ref().map_or(0.0, |lossy| degradation.omitted_in(lossy, states));
        self.exact.forget_states();
        self.lossy = None;
        let lossy = if is_hashed { CompactSet::filling(bits, room).map(LossySet::Compact) } else { Err(Full) };
        let made = lossy.or_else(|Full| array(room)).and_then(|mut lossy| {
            read_words(&tape, LOOKED_UP, |numbers| insert(&mut lossy, &self.hashing, bits, numbers))
                .map_err(|_| Full)?;
            Ok(lossy)
        });
        let degradation = self.degradation.as_mut().ok_or(Full)?;
        let lossy = made.inspect_err(|Full| degradation.broken = true)?;
        degradation.merged = states - lossy.len();
        (degradation.omitted, degradation.spared, degradation.known) = (omitted, lossy.omitted(), bits);
        let kind = match &lossy {
            LossySet::Compact(compact) => LevelKind::Compact { bits: compact.bits() },
            LossySet::Bitstate(bitstate) => {
                self.hashing.known = Some(bits);
                LevelKind::Bitstate { bits: bitstate.bits() }
            }
        };
        degradation.levels.push(Level { kind, from: states });
        self.lossy = Some(lossy);
        Ok(())
    }

    /// Spills `bits` bits of the hash of every state.
    fn write_hashes(&self, scratch: &Scratch, bits: u32) -> io::Result<SpillFile> {
        let mut had = Ok(());
        let tape = write_words(scratch, |write| match &self.lossy {
            Some(LossySet::Compact(compact)) => compact.each(write),
            Some(LossySet::Bitstate(_)) | None => {
                had = self.exact.each_key(&mut |key| write(self.hashing.number(key, bits)));
            }
        });
        had.and(tape)
    }
}

/// A bit array, smaller if necessary: the old set is freed already.
fn array(mut bytes: u64) -> Result<LossySet, Full> {
    loop {
        match BitstateSet::new(bytes, ARRAY_BITS) {
            Ok(bitstate) => return Ok(LossySet::Bitstate(bitstate)),
            Err(Full) if bytes < 64 => return Err(Full),
            Err(Full) => bytes /= 2,
        }
    }
}

fn insert(lossy: &mut LossySet, hashing: &Hashing, bits: u32, numbers: &[u64]) {
    let hash = |lossy: &LossySet, number: u64| -> Hash {
        match lossy {
            LossySet::Compact(_) => [number << (u64::BITS - bits), 0],
            LossySet::Bitstate(_) => hashing.again(number),
        }
    };
    numbers.iter().for_each(|&number| lossy.prefetch(hash(lossy, number)));
    for &number in numbers {
        let hash = hash(lossy, number);
        let _ = lossy.insert_alone(hash);
    }
}
