//! What becomes of a set when memory runs out: states are kept as they are, then by their halves, then by hashes, then by bits
//! of an array.
//!
//! There is no room for two sets at a time. So the states, or their hashes, go into a file, the old set is given back, and
//! the new one is made from the file. Of a state that was known by a hash no more can be known: so from then on, all states
//! are known by as much of their hashes, and the bits of the array are chosen by that.
//!
//! What was kept as it is was not taken for anything else: so states are omitted only from then on. If n were there when
//! a rung was reached, and f(n) is how many had been omitted if it had been so from the beginning, then f - f(n) have been
//! since. For each rung, f is a sum over all new states of the probability to be taken for those before, and what comes before
//! n in that sum did not happen. Where the array is filled by hashes of b bits, two states may also have the same one: that adds
//! (n'^2 - n^2) / 2^(b+1), up to n' states.

use std::io;

use entail_disk::{Reader, Restore, Scratch, Snapshot, SpillFile, Writer, damaged, snapshot};
use entail_model::{Full, Keys};

use crate::bitstate::Bitstate;
use crate::compact::Compact;
use crate::hash::{Hash, Hashing};
use crate::lossless::Short;
use crate::tapes::{read_words, write_words};
use crate::visited::{Sieve, Visited};

/// The way down from a set of states to less and less of each.
#[derive(Debug)]
pub struct Ladder {
    scratch: Scratch,
    share: Share,
    /// How many bits short states have, if they are to be kept by their halves first.
    halves: Option<u32>,
    rungs: Vec<Rung>,
    /// How many states have no hash of their own, of those that were there when the last rung was reached.
    merged: u64,
    /// How many states were omitted before that, and how many would have been if the last rung had been the first.
    omitted: f64,
    spared: f64,
    /// How many bits of a hash were known then of each state.
    known: u32,
    /// What was there is lost: nothing more can be said.
    broken: bool,
}

/// How much of the memory a set takes that does not grow any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// What is beside it can be put aside: it needs little.
    Most,
    Half,
}

/// From so many states on, only this was kept of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    pub kept: Remains,
    pub from: u64,
}

/// What is kept of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// All of it, by the numbers of its halves.
    Halves,
    /// So many bits of a hash.
    Hash { bits: u32 },
    /// So many bits of an array.
    Bits { bits: u32 },
}

/// More of a hash is not worth it.
const HASH_BITS: u32 = 48;
const ARRAY_BITS: u32 = 3;
/// Where all of a hash is known.
const WHOLE: u32 = u64::BITS;
/// How many are looked up at a time.
const LOOKED_UP: usize = 256;
/// One byte in so many is enough for an array; with less, it would be useless.
const LEAST: u64 = 16;

impl Ladder {
    pub fn new(scratch: Scratch, share: Share) -> Ladder {
        let (rungs, known) = (Vec::new(), WHOLE);
        let halves = None;
        Ladder { scratch, share, halves, rungs, merged: 0, omitted: 0.0, spared: 0.0, known, broken: false }
    }

    /// First of all, short states of so many bits are kept by their halves, which takes less memory without any loss.
    pub fn by_halves(self, bits: u32) -> Ladder {
        Ladder { halves: Some(bits), ..self }
    }

    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn merged(&self) -> u64 {
        self.merged
    }

    /// How many states were probably omitted, and how that is found out.
    pub(crate) fn omitted(&self, sieve: &Sieve, states: u64) -> (f64, String) {
        let (omitted, since) = (self.omitted_in(sieve, states), self.rungs.last().map_or(0, |rung| rung.from));
        let formula = match since {
            0 => sieve.formula(),
            since => format!("those since state {since}: {}", sieve.formula()),
        };
        (omitted, formula)
    }

    /// How many bytes the next set may take, beside what makes keys, which may need more soon.
    fn room(&self, limit: u64, key_bytes: u64) -> u64 {
        let rest = limit.saturating_sub(key_bytes);
        let rest = rest.saturating_sub(2 * key_bytes).max(rest / 4);
        match self.share {
            Share::Most => rest - rest / 32,
            Share::Half => rest / 2,
        }
    }

    fn omitted_in(&self, sieve: &Sieve, states: u64) -> f64 {
        self.omitted + (sieve.omitted() - self.spared).max(0.0) + self.alike(states)
    }

    /// How many states have the same hash as one before, of which the array knows no more.
    fn alike(&self, states: u64) -> f64 {
        let Some(Rung { kept: Remains::Bits { .. }, from }) = self.rungs.last() else { return 0.0 };
        let [states, from] = [states, *from].map(|states| states as f64);
        (states * states - from * from) / f64::from(self.known + 1).exp2()
    }
}

/// Files are those of the one that is there.
impl Restore for Ladder {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.rungs.save(to)?;
        self.merged.save(to)?;
        self.omitted.save(to)?;
        self.spared.save(to)?;
        self.known.save(to)?;
        self.broken.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.rungs = Snapshot::load(from)?;
        self.merged = Snapshot::load(from)?;
        self.omitted = Snapshot::load(from)?;
        self.spared = Snapshot::load(from)?;
        self.known = Snapshot::load(from)?;
        self.broken = Snapshot::load(from)?;
        Ok(())
    }
}

snapshot!(Rung { kept, from });

impl Snapshot for Remains {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        match self {
            Remains::Hash { bits } => (0u8, *bits).save(to),
            Remains::Bits { bits } => (1u8, *bits).save(to),
            Remains::Halves => (2u8, 0u32).save(to),
        }
    }

    fn load(from: &mut Reader) -> io::Result<Remains> {
        match Snapshot::load(from)? {
            (0u8, bits) => Ok(Remains::Hash { bits }),
            (1, bits) => Ok(Remains::Bits { bits }),
            (2, _) => Ok(Remains::Halves),
            _ => Err(damaged("something else is kept of states than there can be")),
        }
    }
}

impl<S: Short> Visited<S> {
    /// Goes down one rung, if there is one, within `limit` bytes.
    pub(crate) fn descend(&mut self, limit: u64) -> Result<(), Full> {
        let states = self.len();
        let Some(ladder) = self.ladder.as_ref().filter(|ladder| !ladder.broken) else { return Err(Full) };
        let room = ladder.room(limit.saturating_sub(self.kept.least_bytes()), self.kept.key_bytes());
        let (bits, is_hashed) = match &self.sieve {
            // Less would be gained than it costs.
            None => {
                Compact::widest(states + states / 4, room, HASH_BITS).map_or((WHOLE, false), |bits| (bits, true))
            }
            Some(Sieve::Compact(compact)) => (compact.bits(), false),
            Some(Sieve::Bitstate(_)) => return Err(Full),
        };
        if room < limit / LEAST {
            return Err(Full);
        }
        if let Some(bits) = ladder.halves.filter(|_| self.sieve.is_none() && self.kept.is_whole())
            && self.kept.part(bits, &ladder.scratch, limit).is_ok()
        {
            let ladder = self.ladder.as_mut().ok_or(Full)?;
            ladder.rungs.push(Rung { kept: Remains::Halves, from: states });
            return Ok(());
        }
        let tape = self.write_hashes(&ladder.scratch, bits);
        if tape.is_err() && self.kept.is_outside() {
            self.ladder.as_mut().ok_or(Full)?.broken = true;
            return Err(Full);
        }
        let tape = tape.map_err(|_| Full)?;
        let omitted = self.sieve.as_ref().map_or(0.0, |sieve| ladder.omitted_in(sieve, states));
        self.kept.forget_states();
        self.sieve = None;
        let sieve = if is_hashed { Compact::spacious(bits, room).map(Sieve::Compact) } else { Err(Full) };
        let made = sieve.or_else(|Full| array(room)).and_then(|mut sieve| {
            read_words(&tape, LOOKED_UP, |numbers| insert(&mut sieve, &self.hashing, bits, numbers))
                .map_err(|_| Full)?;
            Ok(sieve)
        });
        let ladder = self.ladder.as_mut().ok_or(Full)?;
        let sieve = made.inspect_err(|Full| ladder.broken = true)?;
        ladder.merged = states - sieve.len();
        (ladder.omitted, ladder.spared, ladder.known) = (omitted, sieve.omitted(), bits);
        let kept = match &sieve {
            Sieve::Compact(compact) => Remains::Hash { bits: compact.bits() },
            Sieve::Bitstate(bitstate) => {
                self.hashing.known = Some(bits);
                Remains::Bits { bits: bitstate.bits() }
            }
        };
        ladder.rungs.push(Rung { kept, from: states });
        self.sieve = Some(sieve);
        Ok(())
    }

    /// So many bits of the hash of every state.
    fn write_hashes(&self, scratch: &Scratch, bits: u32) -> io::Result<SpillFile> {
        let mut had = Ok(());
        let tape = write_words(scratch, |write| match &self.sieve {
            Some(Sieve::Compact(compact)) => compact.each(write),
            Some(Sieve::Bitstate(_)) | None => {
                had = self.kept.each_key(&mut |key| write(self.hashing.number(key, bits)));
            }
        });
        had.and(tape)
    }
}

/// An array of bits, smaller if need be: what is known must go somewhere.
fn array(mut bytes: u64) -> Result<Sieve, Full> {
    loop {
        match Bitstate::new(bytes, ARRAY_BITS) {
            Ok(bitstate) => return Ok(Sieve::Bitstate(bitstate)),
            Err(Full) if bytes < 64 => return Err(Full),
            Err(Full) => bytes /= 2,
        }
    }
}

fn insert(sieve: &mut Sieve, hashing: &Hashing, bits: u32, numbers: &[u64]) {
    let hash = |sieve: &Sieve, number: u64| -> Hash {
        match sieve {
            Sieve::Compact(_) => [number << (u64::BITS - bits), 0],
            Sieve::Bitstate(_) => hashing.again(number),
        }
    };
    numbers.iter().for_each(|&number| sieve.prefetch(hash(sieve, number)));
    for &number in numbers {
        let hash = hash(sieve, number);
        let _ = sieve.insert_alone(hash);
    }
}
