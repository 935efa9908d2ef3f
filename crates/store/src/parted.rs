//! Short states in less memory than they have bits: their halves have numbers.
//!
//! A state of one or two words is its own key, so that it need not be opened; but what is remembered of it is a pair
//! of numbers, one for each half (see [`Tree`]). A model has far fewer halves of states than states, so that both
//! numbers together are shorter than the state, and so is what the table keeps of them.
//!
//! ```text
//! state:  ├───── high ─────┼───── low ─────┤
//! kept:   ├ number of high ┼ number of low ┤
//! ```

use std::io;

use entail_disk::{Reader, Restore, Scratch, Snapshot, SpillFile, Writer, damaged, snapshot};
use entail_model::{Full, Growth, Guarantee, Key, Keys, State, StateBuf, StateKey, Store, Visit};

use crate::lossless::{Kept, Short};
use crate::tapes::{read_words, write_words};
use crate::tree::{self, Opened, Tree};

/// A set of states of which the short ones may be kept by their halves; and the others as they are otherwise.
#[derive(Debug)]
pub struct Parted<S> {
    /// Makes keys, and opens them, and has all states that are not kept by halves.
    kept: Kept<S>,
    halves: Option<Halves>,
    /// The keys of short states that found no room when they were to be parted. Nothing can be looked up there.
    outside: Option<SpillFile>,
    /// The numbers of halves of states that are looked up together.
    batch: Vec<Key>,
}

/// Short states as pairs of numbers.
#[derive(Debug)]
struct Halves {
    cut: Cut,
    pairs: Tree,
}

snapshot!(Halves { cut, pairs });

/// Where the high half begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut(u32);

snapshot!(Cut(bit));

impl Cut {
    /// Of states of so many bits.
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

/// How many words are looked up at a time.
const LOOKED_UP: usize = 512;

impl Halves {
    fn new(bits: u32) -> Halves {
        Halves { cut: Cut::of(bits), pairs: Tree::of_pairs() }
    }

    /// The same with so many states, whose keys are on a tape, within `limit` bytes.
    fn read<K: StateKey>(bits: u32, tape: &SpillFile, states: u64, limit: u64) -> Result<Halves, Full> {
        let mut halves = Halves::new(bits);
        let mut batch = Vec::new();
        // First the numbers of all halves: then it is known how long a pair of them is.
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
            batch.iter().for_each(|key| pairs.prefetch(*key));
            batch.iter().for_each(|key| _ = pairs.insert_alone(*key));
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
            // One of more bits than there should be.
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

impl<S: Short> Parted<S> {
    /// With the keys of such a store, which is empty; its short states have so many bits.
    pub fn new(kept: Kept<S>, bits: u32) -> Self {
        Parted { halves: Some(Halves::new(bits)), ..Parted::whole(kept) }
    }

    /// The same where states are not parted, as long as they need not be.
    pub(crate) fn whole(kept: Kept<S>) -> Self {
        Parted { kept, halves: None, outside: None, batch: Vec::new() }
    }

    /// Whether there is something to part.
    pub(crate) fn is_whole(&self) -> bool {
        self.halves.is_none() && !self.is_outside() && 2 * self.kept.short_len() > self.kept.len()
    }

    /// Whether only the keys of states can be had.
    pub(crate) fn is_outside(&self) -> bool {
        self.outside.is_some()
    }

    /// Keeps short states, which have so many bits, by their halves from now on, within `limit` bytes. Where they find no room,
    /// they are [outside](Self::is_outside) if they had to leave.
    pub(crate) fn part(&mut self, bits: u32, scratch: &Scratch, limit: u64) -> Result<(), Full> {
        let states = self.kept.short_len();
        let tape = write_words(scratch, |write| {
            self.kept.each_short(&mut |key| key.words()[..S::Key::WORDS].iter().for_each(|word| write(*word)));
        });
        let tape = tape.map_err(|_| Full)?;
        self.kept.forget_short();
        match Halves::read::<S::Key>(bits, &tape, states, limit.saturating_sub(self.kept.bytes())) {
            Ok(halves) => {
                self.halves = Some(halves);
                Ok(())
            }
            Err(Full) => {
                self.outside = Some(tape);
                Err(Full)
            }
        }
    }

    /// The key of every state, in no particular order.
    pub(crate) fn each_key(&self, each: &mut dyn FnMut(S::Key)) -> io::Result<()> {
        self.kept.each_key(each);
        if let Some(Halves { cut, pairs }) = &self.halves {
            pairs.each(|key| each(cut.key(pairs.pair(key))));
        }
        self.outside.iter().try_for_each(|tape| {
            read_words(tape, LOOKED_UP, |words| words.chunks_exact(S::Key::WORDS).for_each(|key| each(key_of(key))))
        })
    }

    /// Keeps no states any more; but keys still name the same ones.
    pub(crate) fn forget_states(&mut self) {
        self.kept.forget_states();
        (self.halves, self.outside) = (None, None);
    }

    /// Makes room for so many more keys, but not for states to be kept.
    pub(crate) fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.kept.reserve_keys(count, limit)
    }

    /// What it takes to make keys and to open them.
    pub(crate) fn key_bytes(&self) -> u64 {
        self.kept.key_bytes()
    }

    /// What it takes besides, even without a state.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.kept.least_bytes()
    }
}

/// The halves of a short state. One of more bits than there should be is left to the other store.
#[inline]
fn halves_of<S: Short>(kept: &Kept<S>, cut: Cut, key: S::Key) -> Option<[u64; 2]> {
    if kept.is_state(key) { cut.halves(key) } else { None }
}

impl<S: Short> Restore for Parted<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.kept.save(to)?;
        self.halves.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.kept.restore(from)?;
        let halves = Option::<Halves>::load(from)?;
        if let (Some(now), Some(then)) = (&self.halves, &halves)
            && now.cut != then.cut
        {
            return Err(damaged("what was kept is of states of another length"));
        }
        self.halves = halves;
        Ok(())
    }
}

impl<S: Short> Keys for Parted<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.is_outside() {
            return Err(Full);
        }
        let Some(halves) = &mut self.halves else { return self.kept.reserve(count, limit) };
        self.kept.reserve_keys(count, limit.saturating_sub(halves.pairs.bytes()))?;
        halves.pairs.reserve(count, limit.saturating_sub(self.kept.bytes()))
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.kept.key(state, near)
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        self.kept.is_state(key)
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        self.kept.open(key, state, opened);
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        let Some(Halves { cut, pairs }) = &self.halves else { return self.kept.prefetch(key) };
        match halves_of(&self.kept, *cut, key) {
            Some(halves) => pairs.prefetch_pair(halves),
            None => self.kept.prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        self.kept.len() + self.halves.as_ref().map_or(0, |halves| halves.pairs.len())
    }

    fn bytes(&self) -> u64 {
        self.kept.bytes() + self.halves.as_ref().map_or(0, |halves| halves.pairs.bytes())
    }

    /// That of the part which has more.
    fn growth(&self) -> Option<Growth> {
        let halves = self.halves.as_ref().filter(|halves| halves.pairs.len() >= self.kept.len());
        halves.map_or_else(|| self.kept.growth(), |halves| Some(halves.pairs.growth()))
    }
}

impl<S: Short> Store for Parted<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        let Some(Halves { cut, pairs }) = &self.halves else { return self.kept.insert(key) };
        match halves_of(&self.kept, *cut, key) {
            Some(halves) => pairs.insert(pairs.key_of_pair(halves)),
            None => self.kept.insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let Some(Halves { cut, pairs }) = &mut self.halves else { return self.kept.insert_alone(key) };
        match halves_of(&self.kept, *cut, key) {
            Some(halves) => pairs.insert_alone(pairs.key_of_pair(halves)),
            None => self.kept.insert_alone(key),
        }
    }

    /// First the numbers of all halves, so that what is looked up with them is fetched meanwhile.
    fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        let Some(Halves { cut, pairs }) = &mut self.halves else { return self.kept.insert_all(keys, new) };
        self.batch.clear();
        self.batch.extend(keys.iter().map_while(|key| halves_of(&self.kept, *cut, *key)).map(|halves| {
            let key = pairs.key_of_pair(halves);
            pairs.prefetch(key);
            key
        }));
        if self.batch.len() == keys.len() {
            pairs.insert_all(&self.batch, new);
        } else {
            tree::one_by_one(keys, new, |key| self.insert_alone(key));
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
