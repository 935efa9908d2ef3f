//! Tree compression of short states.
//!
//! A state of one or two words is its own key, so it need not be opened; but the set stores it as a pair of ids, one
//! for each half (see [`Tree`]). A model has far fewer halves of states than states, so a pair of ids has fewer bits
//! than the state.
//!
//! ```text
//! state:  ├───── high ─────┼───── low ─────┤
//! stored: ├─ id of high ─┼─ id of low ─┤
//! ```

use std::io;

use entail_disk::{Reader, Restore, Scratch, Snapshot, SpillFile, Writer, damaged, snapshot};
use entail_model::{Full, Growth, Guarantee, Key, Keys, Partition, StateKey, Store, Visit, insert_each};

use crate::exact::{ExactSet, ShortStateSet, keys_of};
use crate::spill::{read_words, write_words};
use crate::tree::Tree;

/// An exact set that can compress its short states; the others are always compressed.
#[derive(Debug)]
pub struct TreeSet<S> {
    /// Makes and opens keys. Stores all states that are not compressed here.
    exact: ExactSet<S>,
    halves: Option<Halves>,
    /// The keys of short states, if memory did not suffice to compress them. They cannot be looked up there.
    spilled: Option<SpillFile>,
    /// The keys of a batch.
    batch: Vec<Key>,
}

/// Short states as pairs of ids.
#[derive(Debug)]
struct Halves {
    cut: Cut,
    pairs: Tree,
}

snapshot!(Halves { cut, pairs });

/// The bit at which the high half begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut(u32);

snapshot!(Cut(bit));

impl Cut {
    /// Splits states of `bits` bits in the middle.
    fn of(bits: u32) -> Cut {
        Cut((bits / 2).min(u64::BITS))
    }

    #[inline]
    fn halves(self, key: impl StateKey) -> Option<[u64; 2]> {
        let [low, high] = key.words();
        let state = u128::from(high) << 64 | u128::from(low);
        let high = u64::try_from(state >> self.0).ok()?;
        Some([high, (state & ((1 << self.0) - 1)) as u64])
    }

    fn key<K: StateKey>(self, [high, low]: [u64; 2]) -> K {
        let state = u128::from(high) << self.0 | u128::from(low);
        K::from_words([state as u64, (state >> 64) as u64])
    }
}

/// The partition of all pairs: there is only one.
const WHOLE: usize = 0;

/// The number of words looked up at a time.
const LOOKED_UP: usize = 512;

impl Halves {
    fn new(bits: u32) -> Halves {
        Halves { cut: Cut::of(bits), pairs: Tree::of_pairs() }
    }

    /// Reads a set from a file with the keys of `states` states, within `limit` bytes.
    fn read<K: StateKey>(bits: u32, tape: &SpillFile, states: u64, limit: u64) -> Result<Halves, Full> {
        let mut halves = Halves::new(bits);
        let mut batch = Vec::new();
        // The first pass assigns ids to all halves, which determines the width of a pair of ids.
        halves.each_pair::<K>(tape, |pairs, all| {
            pairs.reserve(all.len(), limit)?;
            all.iter().for_each(|halves| _ = pairs.key_of_pair(*halves));
            Ok(())
        })?;
        halves.pairs.make_room_for(states + states / 8, limit)?;
        halves.each_pair::<K>(tape, |pairs, all| {
            pairs.reserve(all.len(), limit)?;
            batch.clear();
            batch.extend(all.iter().map(|halves| pairs.key_of_pair(*halves)));
            batch.iter().for_each(|key| pairs.prefetch(WHOLE, *key));
            batch.iter().for_each(|key| _ = pairs.insert_alone(WHOLE, *key));
            Ok(())
        })?;
        Ok(halves)
    }

    fn each_pair<K: StateKey>(
        &mut self,
        tape: &SpillFile,
        mut each: impl FnMut(&mut Tree, &[[u64; 2]]) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let (cut, pairs) = (self.cut, &mut self.pairs);
        let (mut result, mut batch) = (Ok(()), Vec::new());
        let read = read_words(tape, LOOKED_UP, |words| {
            let keys = words.chunks_exact(K::WORDS).map(key_of::<K>);
            batch.clear();
            batch.extend(keys.map_while(|key| cut.halves(key)));
            // A state has more bits than `bits`.
            let is_whole = batch.len() * K::WORDS == words.len();
            result = result.and_then(|()| if is_whole { each(pairs, &batch) } else { Err(Full) });
        });
        read.map_err(|_| Full)?;
        result
    }
}

fn key_of<K: StateKey>(words: &[u64]) -> K {
    let mut key = [0; 2];
    key[..words.len()].copy_from_slice(words);
    K::from_words(key)
}

impl<S: ShortStateSet> TreeSet<S> {
    /// Compresses from the beginning. `exact` must be empty; its short states have `bits` bits.
    pub fn new(exact: ExactSet<S>, bits: u32) -> Self {
        TreeSet { halves: Some(Halves::new(bits)), ..TreeSet::uncompressed(exact) }
    }

    /// Does not compress before [`TreeSet::compress`] is called.
    pub(crate) fn uncompressed(exact: ExactSet<S>) -> Self {
        TreeSet { exact, halves: None, spilled: None, batch: Vec::new() }
    }

    /// Whether compression may save memory.
    pub(crate) fn can_compress(&self) -> bool {
        self.halves.is_none() && !self.is_spilled() && 2 * self.exact.short_len() > self.exact.len()
    }

    /// Whether the short states are in a file, so that the set can only be read sequentially.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// Compresses short states of `bits` bits from now on, within `limit` bytes. If they do not fit, they may stay [in
    /// a file](Self::is_spilled).
    pub(crate) fn compress(&mut self, bits: u32, scratch: &Scratch, limit: u64) -> Result<(), Full> {
        let states = self.exact.short_len();
        let tape = write_words(scratch, |write| {
            self.exact.each_short(&mut |key| key.words()[..S::Key::WORDS].iter().for_each(|word| write(*word)));
        });
        let tape = tape.map_err(|_| Full)?;
        let joined = self.exact.forget_short(limit);
        let read = |()| Halves::read::<S::Key>(bits, &tape, states, limit.saturating_sub(self.exact.bytes()));
        match joined.and_then(read) {
            Ok(halves) => {
                self.halves = Some(halves);
                Ok(())
            }
            Err(Full) => {
                self.spilled = Some(tape);
                Err(Full)
            }
        }
    }

    /// The key of every state, in no particular order.
    pub(crate) fn each_key(&self, each: &mut dyn FnMut(S::Key)) -> io::Result<()> {
        self.exact.each_key(each);
        if let Some(Halves { cut, pairs }) = &self.halves {
            pairs.each(|key| each(cut.key(pairs.pair(key))));
        }
        self.spilled.iter().try_for_each(|tape| {
            read_words(tape, LOOKED_UP, |words| words.chunks_exact(S::Key::WORDS).for_each(|key| each(key_of(key))))
        })
    }

    /// Removes all states. Keys stay valid.
    pub(crate) fn forget_states(&mut self) {
        self.exact.forget_states();
        (self.halves, self.spilled) = (None, None);
    }

    /// Makes room for `count` more keys, but not for states.
    pub(crate) fn reserve_long(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.exact.reserve_long(count, limit)
    }

    /// The bytes of the dictionaries that make and open keys.
    pub(crate) fn key_bytes(&self) -> u64 {
        self.exact.key_bytes()
    }

    /// The bytes of everything else, without stored states.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.exact.least_bytes()
    }
}

/// The halves of a short state; `None` for a state of more bits than expected, which belongs into the other set.
#[inline]
fn halves_of<S: ShortStateSet>(exact: &ExactSet<S>, cut: Cut, key: S::Key) -> Option<[u64; 2]> {
    if exact.is_state(key) { cut.halves(key) } else { None }
}

impl<S: ShortStateSet> Restore for TreeSet<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.exact.save(to)?;
        self.halves.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.exact.restore(from)?;
        let halves = Option::<Halves>::load(from)?;
        if let (Some(now), Some(then)) = (&self.halves, &halves)
            && now.cut != then.cut
        {
            return Err(damaged("a snapshot of states of another length"));
        }
        self.halves = halves;
        Ok(())
    }
}

impl<S: ShortStateSet> Keys for TreeSet<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.is_spilled() {
            return Err(Full);
        }
        let Some(halves) = &mut self.halves else { return self.exact.reserve(count, limit) };
        self.exact.reserve_long(count, limit.saturating_sub(halves.pairs.bytes()))?;
        halves.pairs.reserve(count, limit.saturating_sub(self.exact.bytes()))
    }

    keys_of!(exact);

    #[inline]
    fn prefetch(&self, key: S::Key) {
        let Some(Halves { cut, pairs }) = &self.halves else { return self.exact.prefetch(key) };
        match halves_of(&self.exact, *cut, key) {
            Some(halves) => pairs.prefetch_pair(halves),
            None => self.exact.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        self.exact.len() + self.halves.as_ref().map_or(0, |halves| halves.pairs.len())
    }

    fn bytes(&self) -> u64 {
        self.exact.bytes() + self.halves.as_ref().map_or(0, |halves| halves.pairs.bytes())
    }

    /// The growth of the larger part.
    fn growth(&self) -> Option<Growth> {
        let halves = self.halves.as_ref().filter(|halves| halves.pairs.len() >= self.exact.len());
        halves.map_or_else(|| self.exact.growth(), |halves| Some(halves.pairs.growth()))
    }
}

impl<S: ShortStateSet> Store for TreeSet<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        let Some(Halves { cut, pairs }) = &self.halves else { return self.exact.insert(key) };
        match halves_of(&self.exact, *cut, key) {
            Some(halves) => pairs.insert(WHOLE, pairs.key_of_pair(halves)),
            None => self.exact.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let Some(Halves { cut, pairs }) = &mut self.halves else { return self.exact.insert_alone(key) };
        match halves_of(&self.exact, *cut, key) {
            Some(halves) => pairs.insert_alone(WHOLE, pairs.key_of_pair(halves)),
            None => self.exact.insert_alone(key),
        }
    }

    /// Computes all keys first, which prefetches their lines.
    fn insert_all_alone(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        let Some(Halves { cut, pairs }) = &mut self.halves else { return self.exact.insert_all_alone(keys, new) };
        self.batch.clear();
        self.batch.extend(keys.iter().map_while(|key| halves_of(&self.exact, *cut, *key)).map(|halves| {
            let key = pairs.key_of_pair(halves);
            pairs.prefetch(WHOLE, key);
            key
        }));
        if self.batch.len() == keys.len() {
            pairs.insert_all_alone(&self.batch, new);
        } else {
            insert_each(keys, new, |key| self.insert_alone(key));
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn partition(&mut self, bits: u32, limit: u64) {
        if self.halves.is_none() && !self.is_spilled() {
            self.exact.partition(bits, limit);
        }
    }

    fn partitions(&mut self) -> Vec<Box<dyn Partition<S::Key> + '_>> {
        self.exact.partitions()
    }

    fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.halves.is_some() || self.is_spilled() {
            return self.reserve(count, limit);
        }
        self.exact.reserve_keys(count, limit)
    }
}
