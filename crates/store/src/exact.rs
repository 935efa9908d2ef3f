//! Exact sets.

use std::io;

use entail_disk::{Reader, Restore, Snapshot, Writer, damaged, snapshot};
use entail_model::{
    AcceptanceMarks, Full, Growth, Guarantee, Key, Keys, LosslessStore, Opened, Partition, State, StateBuf,
    StateKey, Store, Visit, WideKey, insert_each,
};

use crate::components::ComponentMap;
use crate::key_subset::KeySubset;
use crate::numbered::NumberMap;
use crate::pairs::Pairs;
use crate::partitioned::Partitioned;
use crate::table::{GrowthRate, Table};
use crate::tree::{Tree, TreePartition};

/// An exact set of states of whole words. A short state, of one word and at most a given number of bits, is its own
/// key; a tree maps the others to marked keys.
pub type ExactWordSet = ExactSet<Words>;

/// The same, with short states of two words.
pub type ExactPairSet = ExactSet<Pairs>;

/// A set of short states, and a tree for all others.
#[derive(Debug)]
pub struct ExactSet<S> {
    short: Partitioned<S>,
    /// Has as many partitions.
    long: Tree,
}

/// A set of short states, which are their own keys.
#[expect(private_bounds, reason = "there are no others")]
pub trait ShortStateSet: Sealed {
    type Key: StateKey;

    /// The key of a state, if the state is short.
    fn key(&self, state: &State) -> Option<Self::Key>;
    /// An empty set for the same states.
    fn another(&self) -> Self;
    /// An empty set for one of `2^bits` parts of them, with room for its share, within `limit` bytes.
    fn part(&self, bits: u32, limit: u64) -> Result<Self, Full>
    where
        Self: Sized;
    /// The same set, growing in smaller steps: less memory, but slower.
    fn growing_slowly(self) -> Self;
    /// Whether both are sets of states with the same number of bits.
    fn is_like(&self, other: &Self) -> bool;
    /// Turns the tree's key of a longer state into a marked key.
    fn marked(key: Key) -> Self::Key;
    /// The tree's key, if the key is marked.
    fn unmarked(key: Self::Key) -> Option<Key>;
    fn open(key: Self::Key, state: &mut StateBuf);
    fn prefetch(&self, key: Self::Key);
    fn insert(&self, key: Self::Key) -> Visit;
    fn insert_alone(&mut self, key: Self::Key) -> Visit;
    /// Inserts keys of short states, and appends the indices of the new ones.
    fn insert_all(&self, keys: &[Self::Key], new: &mut Vec<u32>);
    fn insert_all_alone(&mut self, keys: &[Self::Key], new: &mut Vec<u32>);
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full>;
    fn each(&self, each: &mut dyn FnMut(Self::Key));
    fn count(&self) -> u64;
    fn bytes(&self) -> u64;
    fn growth(&self) -> Growth;
}

trait Sealed: Send + Sync + Snapshot {}
impl Sealed for Words {}
impl Sealed for Pairs {}

/// States of one word.
#[derive(Debug)]
pub struct Words {
    table: Table,
    /// The number of low bits in which states differ; 0 if there are no short states.
    bits: u32,
}

snapshot!(Words { table, bits });

impl Words {
    fn new(bits: u32) -> Words {
        Words { table: Table::new(bits.max(2)), bits }
    }
}

/// The snapshot must be of states with the same number of bits.
impl<S: ShortStateSet> Restore for ExactSet<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.short.save(to)?;
        self.long.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        let short = Partitioned::<S>::load(from)?;
        if !short.first().is_like(self.short.first()) {
            return Err(damaged("a snapshot of states of another length"));
        }
        let long = Tree::load(from)?;
        if short.bits() != long.partition_bits() {
            return Err(damaged("short and long states in different numbers of partitions"));
        }
        (self.short, self.long) = (short, long);
        Ok(())
    }
}

impl ExactWordSet {
    /// Short states have one word and differ only in the lowest `bits` bits. With more than 63 bits, no state is short.
    pub fn new(bits: u32) -> ExactWordSet {
        let bits = if bits < u64::BITS { bits } else { 0 };
        ExactSet { short: Partitioned::whole(Words::new(bits)), long: Tree::default() }
    }
}

impl ExactPairSet {
    /// Short states have two words, of which the last bit is 0.
    pub fn new() -> ExactPairSet {
        ExactSet { short: Partitioned::whole(Pairs::default()), long: Tree::default() }
    }
}

impl Default for ExactPairSet {
    fn default() -> ExactPairSet {
        ExactPairSet::new()
    }
}

const LONG: u64 = 1 << 63;
const WIDE_LONG: u128 = 1 << 127;
const _: () = assert!(Tree::KEY_BITS < 64, "there is a bit to mark a key with");

impl ShortStateSet for Words {
    type Key = Key;

    #[inline]
    fn key(&self, state: &State) -> Option<Key> {
        let word = state.as_array().filter(|_| self.bits > 0)?;
        let key = u64::from_le_bytes(*word);
        debug_assert!(key >> self.bits == 0, "{key:x} has more than {} bits", self.bits);
        Some(Key(key))
    }

    fn another(&self) -> Words {
        Words::new(self.bits)
    }

    fn part(&self, bits: u32, limit: u64) -> Result<Words, Full> {
        Ok(Words { table: self.table.part(bits, limit)?, ..*self })
    }

    fn growing_slowly(self) -> Words {
        Words { table: self.table.with_growth_rate(GrowthRate::Slow), ..self }
    }

    fn is_like(&self, other: &Words) -> bool {
        self.bits == other.bits
    }

    #[inline]
    fn marked(Key(key): Key) -> Key {
        Key(key | LONG)
    }

    #[inline]
    fn unmarked(Key(key): Key) -> Option<Key> {
        (key & LONG != 0).then_some(Key(key & !LONG))
    }

    #[inline]
    fn open(Key(key): Key, state: &mut StateBuf) {
        state.clear();
        state.extend_from_slice(&key.to_le_bytes());
    }

    #[inline]
    fn prefetch(&self, Key(key): Key) {
        self.table.prefetch(key);
    }

    #[inline]
    fn insert(&self, Key(key): Key) -> Visit {
        self.table.insert(key)
    }

    #[inline]
    fn insert_alone(&mut self, Key(key): Key) -> Visit {
        self.table.insert_alone(key)
    }

    fn insert_all(&self, keys: &[Key], new: &mut Vec<u32>) {
        self.table.insert_all(keys, new, |Key(key)| key);
    }

    fn insert_all_alone(&mut self, keys: &[Key], new: &mut Vec<u32>) {
        self.table.insert_all_alone(keys, new, |Key(key)| key);
    }

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        if self.bits > 0 { self.table.reserve(count, limit) } else { Ok(()) }
    }

    fn each(&self, each: &mut dyn FnMut(Key)) {
        self.table.each(|key| each(Key(key)));
    }

    fn count(&self) -> u64 {
        self.table.len()
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn growth(&self) -> Growth {
        self.table.growth()
    }
}

impl ShortStateSet for Pairs {
    type Key = WideKey;

    #[inline]
    fn key(&self, state: &State) -> Option<WideKey> {
        let key = u128::from_le_bytes(*state.as_array()?);
        debug_assert!(key & WIDE_LONG == 0, "{key:x} has 128 bits");
        Some(WideKey(key))
    }

    fn another(&self) -> Pairs {
        Pairs::default()
    }

    fn part(&self, bits: u32, limit: u64) -> Result<Pairs, Full> {
        self.part(bits, limit)
    }

    fn growing_slowly(self) -> Pairs {
        self
    }

    fn is_like(&self, _: &Pairs) -> bool {
        true
    }

    #[inline]
    fn marked(Key(key): Key) -> WideKey {
        WideKey(u128::from(key) | WIDE_LONG)
    }

    #[inline]
    fn unmarked(WideKey(key): WideKey) -> Option<Key> {
        (key & WIDE_LONG != 0).then_some(Key(key as u64))
    }

    #[inline]
    fn open(WideKey(key): WideKey, state: &mut StateBuf) {
        state.clear();
        state.extend_from_slice(&key.to_le_bytes());
    }

    #[inline]
    fn prefetch(&self, key: WideKey) {
        self.prefetch(key.words());
    }

    #[inline]
    fn insert(&self, key: WideKey) -> Visit {
        self.insert(key.words())
    }

    #[inline]
    fn insert_alone(&mut self, key: WideKey) -> Visit {
        self.insert_alone(key.words())
    }

    fn insert_all(&self, keys: &[WideKey], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert(key.words()));
    }

    fn insert_all_alone(&mut self, keys: &[WideKey], new: &mut Vec<u32>) {
        insert_each(keys, new, |key| self.insert_alone(key.words()));
    }

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.reserve(count, limit)
    }

    fn each(&self, each: &mut dyn FnMut(WideKey)) {
        self.each(|pair| each(WideKey::from_words(pair)));
    }

    fn count(&self) -> u64 {
        self.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn growth(&self) -> Growth {
        self.growth()
    }
}

impl<S: ShortStateSet> ExactSet<S> {
    /// The same set, growing in smaller steps: less memory, but slower.
    pub fn growing_slowly(self) -> Self {
        ExactSet { short: self.short.map(S::growing_slowly), ..self }
    }

    /// Makes room for `count` more keys, but not for short states.
    pub(crate) fn reserve_long(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.long.reserve(count, limit.saturating_sub(self.short_bytes()))
    }

    fn short_bytes(&self) -> u64 {
        self.short.iter().map(S::bytes).sum()
    }

    /// The partition of a key.
    #[inline]
    fn index(&self, key: S::Key) -> usize {
        self.short.index(key.hash())
    }

    /// The partitions of both sets.
    fn each_partition(&mut self) -> impl Iterator<Item = ExactPartition<'_, S>> {
        self.short.iter_mut().zip(self.long.partitions()).map(|(short, long)| ExactPartition { short, long })
    }

    /// The bytes of the dictionaries that make and open keys.
    pub(crate) fn key_bytes(&self) -> u64 {
        self.long.key_bytes()
    }

    /// The bytes of everything else, without stored states.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.short.first().another().bytes() + Tree::default().bytes()
    }

    /// The keys of all stored states, in no particular order.
    pub(crate) fn each_key(&self, each: &mut dyn FnMut(S::Key)) {
        self.each_short(each);
        self.long.each(|key| each(S::marked(key)));
    }

    /// The same for short states only.
    pub(crate) fn each_short(&self, each: &mut dyn FnMut(S::Key)) {
        self.short.iter().for_each(|short| short.each(each));
    }

    pub(crate) fn short_len(&self) -> u64 {
        self.short.iter().map(S::count).sum()
    }

    /// Removes all short states, and joins the partitions of the others, within `limit` bytes.
    pub(crate) fn forget_short(&mut self, limit: u64) -> Result<(), Full> {
        self.short = Partitioned::whole(self.short.first().another());
        self.long.partition(0, limit, |_| 0)
    }

    /// Removes all states; keys still name the same states.
    pub(crate) fn forget_states(&mut self) {
        self.short = Partitioned::whole(self.short.first().another());
        self.long.forget_inserted();
    }
}

/// Makes and opens the keys of a store by another one in it.
macro_rules! keys_of {
    ($store:ident) => {
        #[inline]
        fn key(&self, state: &entail_model::State, near: &entail_model::Opened) -> S::Key {
            self.$store.key(state, near)
        }

        #[inline]
        fn is_state(&self, key: S::Key) -> bool {
            self.$store.is_state(key)
        }

        #[inline]
        fn open(&self, key: S::Key, state: &mut entail_model::StateBuf, opened: &mut entail_model::Opened) {
            self.$store.open(key, state, opened);
        }
    };
}

pub(crate) use keys_of;

impl<S: ShortStateSet> Keys for ExactSet<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let mut left = limit.saturating_sub(self.bytes());
        for short in self.short.iter_mut() {
            let before = short.bytes();
            short.reserve(count, before + left)?;
            left = (left + before).saturating_sub(short.bytes());
        }
        self.reserve_long(count, limit)
    }

    #[inline]
    fn key(&self, state: &State, near: &Opened) -> S::Key {
        self.short.first().key(state).unwrap_or_else(|| S::marked(self.long.key(state, near)))
    }

    #[inline]
    fn is_state(&self, key: S::Key) -> bool {
        S::unmarked(key).is_none()
    }

    #[inline]
    fn open(&self, key: S::Key, state: &mut StateBuf, opened: &mut Opened) {
        match S::unmarked(key) {
            Some(key) => self.long.open(key, state, opened),
            None => S::open(key, state),
        }
    }

    #[inline]
    fn prefetch(&self, key: S::Key) {
        match S::unmarked(key) {
            Some(long) => self.long.prefetch(self.index(key), long),
            None => self.short.at(self.index(key)).prefetch(key),
        }
    }

    fn len(&self) -> u64 {
        self.short_len() + self.long.len()
    }

    fn bytes(&self) -> u64 {
        self.short_bytes() + self.long.bytes()
    }

    /// The growth of the larger part.
    fn growth(&self) -> Option<Growth> {
        let short = self.short_len() >= self.long.len();
        Some(if short { Growth::sum(self.short.iter().map(S::growth)) } else { self.long.growth() })
    }
}

impl<S: ShortStateSet> Store for ExactSet<S> {
    #[inline]
    fn insert(&self, key: S::Key) -> Visit {
        match S::unmarked(key) {
            Some(long) => self.long.insert(self.index(key), long),
            None => self.short.at(self.index(key)).insert(key),
        }
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let index = self.index(key);
        match S::unmarked(key) {
            Some(long) => self.long.insert_alone(index, long),
            None => self.short.at_mut(index).insert_alone(key),
        }
    }

    fn insert_all(&self, keys: &[S::Key], new: &mut Vec<u32>) {
        match self.short.bits() == 0 && keys.iter().all(|key| self.is_state(*key)) {
            true => self.short.first().insert_all(keys, new),
            false => insert_each(keys, new, |key| self.insert(key)),
        }
    }

    fn insert_all_alone(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        match self.short.bits() {
            0 => self.each_partition().for_each(|mut all| all.insert_all(keys, new)),
            _ => insert_each(keys, new, |key| self.insert_alone(key)),
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn partition(&mut self, bits: u32, limit: u64) {
        let mut left = limit.saturating_sub(self.bytes());
        let short = Partitioned::try_new(bits, || {
            let short = self.short.first().part(bits, left)?;
            left = left.checked_sub(short.bytes()).ok_or(Full)?;
            Ok(short)
        });
        let Ok(short) = short else { return };
        let parted = self.long.partition(bits, left, |key| S::marked(key).hash());
        if parted.is_ok() {
            self.each_short(&mut |key| _ = short.of(key.hash()).insert(key));
            self.short = short;
        }
    }

    fn partitions(&mut self) -> Vec<Box<dyn Partition<S::Key> + '_>> {
        match self.short.bits() {
            0 => Vec::new(),
            _ => self.each_partition().map(|part| Box::new(part) as Box<dyn Partition<S::Key>>).collect(),
        }
    }

    fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        match self.short.bits() {
            0 => self.reserve(count, limit),
            _ => self.long.reserve_keys(count, limit.saturating_sub(self.short_bytes())),
        }
    }
}

/// A partition of an [`ExactSet`].
struct ExactPartition<'a, S> {
    short: &'a mut S,
    long: TreePartition<'a>,
}

impl<S: ShortStateSet> Partition<S::Key> for ExactPartition<'_, S> {
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.short.reserve(count, limit.saturating_sub(self.long.bytes()))?;
        self.long.reserve(count, limit.saturating_sub(self.short.bytes()))
    }

    fn bytes(&self) -> u64 {
        self.short.bytes() + self.long.bytes()
    }

    fn prefetch_all(&self, keys: &[S::Key]) {
        for &key in keys {
            match S::unmarked(key) {
                Some(key) => self.long.prefetch(key),
                None => self.short.prefetch(key),
            }
        }
    }

    fn insert_all(&mut self, keys: &[S::Key], new: &mut Vec<u32>) {
        if keys.iter().all(|key| S::unmarked(*key).is_none()) {
            return self.short.insert_all_alone(keys, new);
        }
        insert_each(keys, new, |key| match S::unmarked(key) {
            Some(key) => self.long.insert(key),
            None => self.short.insert_alone(key),
        });
    }
}

impl<S: ShortStateSet> LosslessStore for ExactSet<S> {
    type Numbers = NumberMap<S>;
    type KeySet = KeySubset<S>;
    type Components = ComponentMap<S>;

    fn numbered(self) -> NumberMap<S> {
        NumberMap::new(self)
    }

    fn key_set(&self) -> KeySubset<S> {
        KeySubset::new(self.short.first().another())
    }

    fn components(self, acceptance: AcceptanceMarks, workers: usize) -> ComponentMap<S> {
        ComponentMap::new(self, acceptance, workers)
    }

    fn another(&self) -> Self {
        ExactSet { short: Partitioned::whole(self.short.first().another()), long: Tree::default() }
    }
}
