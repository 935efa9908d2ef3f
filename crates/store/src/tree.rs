//! Tree compression: states of any number of words, each reduced to a key by a tree of dictionaries.
//!
//! After Laarman, van de Pol, Weber: Parallel recursive state compression for free, SPIN 2011. A state is split into
//! words. Every word is replaced by its id in a dictionary for its position, then every pair of neighbouring ids by an
//! id, and so on, until two are left; together with the size of the tree, they form the key. States that differ in one
//! word share all ids but those above it, so a successor needs few lookups, and a state takes little more memory than
//! its key.

mod nodes;
mod overflow;
mod widths;
mod words;

use std::collections::BTreeSet;
use std::io;
use std::ops::{DerefMut, Range};

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{Full, Growth, Key, Opened, Visit, insert_each};

use crate::dictionary::ID_BITS;
use crate::partitioned::Partitioned;
use crate::sync::{AtomicU64, Mutex, Ordering};
use crate::table::Table;
use nodes::{Dictionaries, Node, Size};
use widths::{Parts, Sizes, Widths};
use words::Words;

/// A set of states that takes a few bytes for each if they share most of their words.
#[derive(Debug)]
pub struct Tree {
    dictionaries: Dictionaries,
    /// The sizes of all trees so far, as one bit for each.
    sizes: AtomicU64,
    /// The inserted keys, squeezed. The user of the tree chooses the partition of a key.
    tables: Partitioned<Table>,
    widths: Widths,
    /// Keys that did not fit into the widths of the table.
    misfits: Misfits,
}

/// Keys with their partitions.
#[derive(Debug, Default)]
struct Misfits(Mutex<BTreeSet<(u32, Key)>>);

impl Misfits {
    fn lock(&self) -> impl DerefMut<Target = BTreeSet<(u32, Key)>> {
        self.0.lock().expect("no thread panics while it holds the lock")
    }

    #[cold]
    fn insert(&self, partition: usize, key: Key) -> Visit {
        if self.lock().insert((partition as u32, key)) { Visit::New } else { Visit::Seen }
    }
}

/// There is nothing below the node.
const NOTHING: u32 = 0;
/// An estimate of the bytes of a key that did not fit.
const MISFIT_BYTES: u64 = 32;
/// Extra bits for future ids.
const SPARE_BITS: u32 = 2;
const SOON: usize = 1 << 12;

impl Default for Tree {
    fn default() -> Tree {
        let widths = Widths::all();
        Tree {
            dictionaries: Dictionaries::default(),
            sizes: AtomicU64::new(0),
            tables: Partitioned::whole(Table::new(widths.bits())),
            widths,
            misfits: Misfits::default(),
        }
    }
}

impl Snapshot for Tree {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.dictionaries.save(to)?;
        self.sizes().0.save(to)?;
        self.tables.save(to)?;
        self.widths.save(to)?;
        let misfits: Vec<_> = self.misfits().iter().copied().collect();
        misfits.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Tree> {
        Ok(Tree {
            dictionaries: Dictionaries::load(from)?,
            sizes: AtomicU64::new(u64::load(from)?),
            tables: Partitioned::load(from)?,
            widths: Widths::load(from)?,
            misfits: Misfits(Mutex::new(Vec::load(from)?.into_iter().collect())),
        })
    }
}

impl Tree {
    /// The number of bits of a key.
    pub const KEY_BITS: u32 = Size::BITS + 2 * ID_BITS;

    /// A set for states of two words; others are possible.
    pub fn of_pairs() -> Tree {
        let tree = Tree::default();
        tree.note(Size::of(2));
        tree
    }

    /// Writes the words below a node.
    fn expand(&self, node: Node, id: u32, opened: &mut Opened) {
        opened.ids[node.number()] = id;
        if id == NOTHING {
            return;
        }
        let value = self.dictionaries.value(node, id);
        if node.is_leaf() {
            opened.words.push(value);
        } else {
            let (left, right) = split(value);
            self.expand(node.left(), left, opened);
            self.expand(node.right(), right, opened);
        }
    }

    #[inline]
    fn sizes(&self) -> Sizes {
        Sizes(self.sizes.load(Ordering::Relaxed))
    }

    #[inline]
    fn note(&self, size: Size) {
        if !self.sizes().contains(size) {
            self.sizes.fetch_or(1 << size.code(), Ordering::Relaxed);
        }
    }

    fn misfits(&self) -> impl DerefMut<Target = BTreeSet<(u32, Key)>> {
        self.misfits.lock()
    }

    /// Ensures that all keys fit that may occur after `count` more states. If the table must grow anyway, narrows the
    /// keys if that saves memory.
    fn adjust_widths(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let needed = self.needed_widths(count);
        let bits = (needed.bits() + SPARE_BITS).clamp(2, 64);
        if self.widths.covers(needed) && !self.tables.iter().any(|table| table.gains_from(bits, count)) {
            return Ok(());
        }
        let most = self.tables.iter().map(Table::len).max().unwrap_or(0) + count as u64;
        let new = needed.stretched(Table::widest(bits, most));
        match self.rekeyed(new, count, limit) {
            Ok(tables) => self.tables = tables,
            // The new widths would only save memory.
            Err(Full) if self.widths.covers(needed) => return Ok(()),
            Err(Full) => return Err(Full),
        }
        self.widths = new;
        for (partition, key) in std::mem::take(&mut *self.misfits()) {
            let _ = self.tables.at(partition as usize).insert(squeezed(new, key));
        }
        Ok(())
    }

    /// Tables for keys of other widths, with room for `count` more keys in each. The limit is for the old and the new ones.
    fn rekeyed(&self, new: Widths, count: usize, limit: u64) -> Result<Partitioned<Table>, Full> {
        let (old, mut bytes) = (self.widths, self.table_bytes());
        self.tables.try_map(|table| {
            let left = limit.saturating_sub(bytes - table.bytes());
            let rekey = |number| squeezed(new, old.unsqueeze(number));
            let made = table.rekeyed(new.bits().max(2), table.len() + count as u64, left, rekey)?;
            bytes += made.bytes();
            Ok(made)
        })
    }

    fn table_bytes(&self) -> u64 {
        self.tables.iter().map(Table::bytes).sum()
    }

    fn needed_widths(&self, count: usize) -> Widths {
        let sizes = self.sizes();
        let (mut left, mut right) = (1, 1);
        for root in sizes.iter().map(|size| Node::root(size.words())) {
            if root.is_leaf() {
                left = self.ids_end(root, count).max(left);
            } else {
                left = self.ids_end(root.left(), count).max(left);
                right = self.ids_end(root.right(), count).max(right);
            }
        }
        Widths::new(left, right, sizes)
    }

    /// Greater than every id at a node after `count` more states.
    fn ids_end(&self, node: Node, count: usize) -> u32 {
        let end = self.dictionaries.next_id(node) as usize + count;
        end.min(1 << ID_BITS) as u32
    }
}

fn squeezed(widths: Widths, key: Key) -> u64 {
    widths.squeeze(key).expect("wide enough for all")
}

fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

fn split(pair: u64) -> (u32, u32) {
    ((pair >> ID_BITS) as u32, (pair & ((1 << ID_BITS) - 1)) as u32)
}

/// Maps the words of a state to ids, bottom up.
struct Reduction<'a> {
    tree: &'a Tree,
    words: Words<'a>,
    /// A state with the same number of words that differs only in a range of them.
    near: Option<&'a Opened>,
    changed: Range<usize>,
}

impl Reduction<'_> {
    fn id(&self, node: Node) -> u32 {
        if node.first >= self.words.count() {
            return NOTHING;
        }
        if let Some(near) = self.near
            && (node.end <= self.changed.start || node.first >= self.changed.end)
        {
            return near.ids[node.number()];
        }
        let near = |ids_agree: bool| self.near.filter(|_| ids_agree).map(|near| near.ids[node.number()]);
        let (known, value) = if node.is_leaf() {
            let word = self.words.get(node.first);
            (near(self.near.is_some_and(|near| near.words[node.first] == word)), word)
        } else {
            let (left, right) = (self.id(node.left()), self.id(node.right()));
            let same =
                |near: &Opened| near.ids[node.left().number()] == left && near.ids[node.right().number()] == right;
            (near(self.near.is_some_and(same)), pair(left, right))
        };
        known.unwrap_or_else(|| self.tree.dictionaries.id(node, value))
    }
}

impl Tree {
    /// Makes room for `count` more keys, within `limit` bytes.
    pub fn reserve_keys(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let words = self.sizes().iter().map(Size::words).max().unwrap_or(1);
        self.dictionaries.reserve(words, count, limit.saturating_sub(self.table_bytes()))?;
        self.adjust_widths(count, limit.saturating_sub(self.dictionaries.bytes()))
    }

    /// The same, and for inserting as many keys into each partition.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.reserve_keys(count, limit)?;
        let mut left = limit.saturating_sub(self.dictionaries.bytes() + self.table_bytes());
        self.tables.iter_mut().try_for_each(|table| {
            let before = table.bytes();
            table.reserve(count, before + left)?;
            left = (left + before).saturating_sub(table.bytes());
            Ok(())
        })
    }

    /// Divides the set of inserted keys, within `limit` bytes; `hash` gives the hash of a key.
    pub fn partition(&mut self, bits: u32, limit: u64, hash: impl Fn(Key) -> u64) -> Result<(), Full> {
        if bits == self.tables.bits() {
            return Ok(());
        }
        let (widths, all) = (self.widths, self.table_len());
        let mut left = limit.saturating_sub(self.bytes());
        let tables = Partitioned::try_new(bits, || {
            let table = match self.tables.bits() {
                0 => self.tables.first().part(bits, left)?,
                _ => Table::with_room(widths.bits().max(2), (all + all / 4) >> bits, left)?,
            };
            left = left.saturating_sub(table.bytes());
            Ok(table)
        })?;
        for table in self.tables.iter() {
            table.each(|number| _ = tables.of(hash(widths.unsqueeze(number))).insert(number));
        }
        let misfits = std::mem::take(&mut *self.misfits());
        *self.misfits() = misfits.into_iter().map(|(_, key)| (tables.index(hash(key)) as u32, key)).collect();
        self.tables = tables;
        Ok(())
    }

    pub fn partition_bits(&self) -> u32 {
        self.tables.bits()
    }

    /// The partitions of the set of inserted keys.
    pub fn partitions(&mut self) -> impl Iterator<Item = TreePartition<'_>> {
        let Tree { tables, widths, misfits, .. } = self;
        let (widths, misfits) = (*widths, &*misfits);
        (0..).zip(tables.iter_mut()).map(move |(number, table)| TreePartition { number, table, widths, misfits })
    }

    /// Makes room for inserting `keys` of the existing keys, within `limit` bytes. No key may have been inserted yet.
    pub fn make_room_for(&mut self, keys: u64, limit: u64) -> Result<(), Full> {
        debug_assert_eq!(self.len(), 0, "keys that would be forgotten");
        let needed = self.needed_widths(SOON);
        let bits = (needed.bits() + SPARE_BITS).clamp(2, 64);
        let widths = needed.stretched(Table::widest(bits, keys));
        let limit = limit.saturating_sub(self.dictionaries.bytes());
        self.tables = Partitioned::whole(Table::tight(widths.bits().max(2), keys, limit)?);
        self.widths = widths;
        Ok(())
    }

    /// The bytes of the dictionaries that make and open keys.
    pub fn key_bytes(&self) -> u64 {
        self.dictionaries.bytes()
    }

    /// Every inserted key, in no particular order.
    pub fn each(&self, mut each: impl FnMut(Key)) {
        self.tables.iter().for_each(|table| table.each(|squeezed| each(self.widths.unsqueeze(squeezed))));
        self.misfits().iter().for_each(|(_, key)| each(*key));
    }

    /// Removes all inserted keys; they still name the same states.
    pub fn forget_inserted(&mut self) {
        self.widths = Widths::all();
        self.tables = Partitioned::whole(Table::new(self.widths.bits()));
        self.misfits().clear();
    }

    /// The key of a state of whole words, at least one.
    #[inline]
    pub fn key(&self, state: &[u8], near: &Opened) -> Key {
        let words = Words::new(state);
        let size = Size::of(words.count());
        self.note(size);
        let near = Some(near).filter(|near| near.words.len() == words.count());
        let changed = near.map_or(0..words.count(), |near| words.changed(&near.words));
        let reduction = Reduction { tree: self, words, near, changed };
        let root = Node::root(size.words());
        let (left, right) = if root.is_leaf() {
            (reduction.id(root), NOTHING)
        } else {
            (reduction.id(root.left()), reduction.id(root.right()))
        };
        Parts { size, left, right }.key()
    }

    /// The key of a state of two words.
    #[inline]
    pub fn key_of_pair(&self, [left, right]: [u64; 2]) -> Key {
        let (size, root) = (Size::of(2), Node::root(2));
        self.note(size);
        let left = self.dictionaries.id(root.left(), left);
        let right = self.dictionaries.id(root.right(), right);
        Parts { size, left, right }.key()
    }

    /// The state of a key of two words.
    pub fn pair(&self, key: Key) -> [u64; 2] {
        let (Parts { left, right, .. }, root) = (Parts::of(key), Node::root(2));
        [(root.left(), left), (root.right(), right)].map(|(node, id)| self.dictionaries.value(node, id))
    }

    /// Prefetches the memory for computing the key of a state of two words.
    #[inline]
    pub fn prefetch_pair(&self, [left, right]: [u64; 2]) {
        let root = Node::root(2);
        self.dictionaries.prefetch(root.left(), left);
        self.dictionaries.prefetch(root.right(), right);
    }

    #[inline]
    pub fn open(&self, key: Key, state: &mut Vec<u8>, opened: &mut Opened) {
        let Parts { size, left, right } = Parts::of(key);
        let root = Node::root(size.words());
        opened.ids.resize(2 * root.end, NOTHING);
        opened.words.clear();
        if root.is_leaf() {
            self.expand(root, left, opened);
        } else {
            self.expand(root.left(), left, opened);
            self.expand(root.right(), right, opened);
        }
        state.clear();
        state.extend(opened.words.iter().flat_map(|word| word.to_le_bytes()));
    }

    #[inline]
    pub fn prefetch(&self, partition: usize, key: Key) {
        if let Some(squeezed) = self.widths.squeeze(key) {
            self.tables.at(partition).prefetch(squeezed);
        }
    }

    #[inline]
    pub fn insert(&self, partition: usize, key: Key) -> Visit {
        match self.widths.squeeze(key) {
            Some(squeezed) => self.tables.at(partition).insert(squeezed),
            None => self.misfits.insert(partition, key),
        }
    }

    /// The same, without interference from other threads.
    #[inline]
    pub fn insert_alone(&mut self, partition: usize, key: Key) -> Visit {
        match self.widths.squeeze(key) {
            Some(squeezed) => self.tables.at_mut(partition).insert_alone(squeezed),
            None => self.misfits.insert(partition, key),
        }
    }

    /// Inserts keys into the first partition in order, without interference from other threads; appends the indices of
    /// the new ones.
    pub fn insert_all_alone(&mut self, keys: &[Key], new: &mut Vec<u32>) {
        let partition = self.partitions().next();
        partition.expect("there is always one").insert_all(keys, new);
    }

    pub fn len(&self) -> u64 {
        self.table_len() + self.misfits().len() as u64
    }

    fn table_len(&self) -> u64 {
        self.tables.iter().map(Table::len).sum()
    }

    pub fn growth(&self) -> Growth {
        Growth::sum(self.tables.iter().map(Table::growth))
    }

    pub fn bytes(&self) -> u64 {
        self.dictionaries.bytes() + self.table_bytes() + self.misfits().len() as u64 * MISFIT_BYTES
    }
}

/// A partition of the inserted keys of a tree.
pub struct TreePartition<'a> {
    number: usize,
    table: &'a mut Table,
    widths: Widths,
    misfits: &'a Misfits,
}

impl TreePartition<'_> {
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.table.reserve(count, limit)
    }

    pub fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    pub fn prefetch(&self, key: Key) {
        if let Some(squeezed) = self.widths.squeeze(key) {
            self.table.prefetch(squeezed);
        }
    }

    #[inline]
    pub fn insert(&mut self, key: Key) -> Visit {
        match self.widths.squeeze(key) {
            Some(squeezed) => self.table.insert_alone(squeezed),
            None => self.misfits.insert(self.number, key),
        }
    }

    /// Inserts keys in order; appends the indices of the new ones.
    pub fn insert_all(&mut self, keys: &[Key], new: &mut Vec<u32>) {
        let widths = self.widths;
        if keys.iter().all(|key| widths.squeeze(*key).is_some()) {
            self.table.insert_all_alone(keys, new, |key| squeezed(widths, key));
        } else {
            insert_each(keys, new, |key| self.insert(key));
        }
    }
}
