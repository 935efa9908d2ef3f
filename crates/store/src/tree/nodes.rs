//! The nodes of a binary tree over the words of a state, and a dictionary for each of them.
//!
//! ```text
//!                     5
//!         3                       9
//!     1       4           7           10       a tree over six words; nodes are numbered from left to right
//!   0   2               6   8
//! ```
//!
//! Both children of a node have the same number of words, or the left one has one more. So ids at the root's children
//! are far fewer than states.

use std::collections::BTreeMap;
use std::io;
use std::ops::DerefMut;

use super::overflow::Overflow;
use crate::dictionary::Dictionary;
use crate::sync::Mutex;
use entail_disk::{Reader, Snapshot, Writer};
use entail_model::Full;

/// A node: a nonempty range of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub first: usize,
    pub end: usize,
}

impl Node {
    /// The root of a tree over `words` words.
    #[inline]
    pub fn root(words: usize) -> Node {
        Node { first: 0, end: words }
    }

    #[inline]
    pub fn is_leaf(self) -> bool {
        self.first + 1 == self.end
    }

    /// Not of a leaf.
    #[inline]
    pub fn left(self) -> Node {
        Node { end: self.middle(), ..self }
    }

    /// Not of a leaf.
    #[inline]
    pub fn right(self) -> Node {
        Node { first: self.middle(), ..self }
    }

    #[inline]
    pub fn number(self) -> usize {
        if self.is_leaf() { 2 * self.first } else { 2 * self.middle() - 1 }
    }

    #[inline]
    fn middle(self) -> usize {
        (self.first + self.end).div_ceil(2)
    }
}

/// The number of words of a tree. A state may have fewer words, so that there are few different trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size(u32);

impl Size {
    pub const BITS: u32 = 6;
    pub const COUNT: usize = 1 << Size::BITS;
    const LARGEST: Size = Size(Size::COUNT as u32 - 1);

    /// The smallest size for `words` words (not 0), at most a quarter larger.
    #[inline]
    pub fn of(words: usize) -> Size {
        let octave = (words.ilog2()).saturating_sub(2);
        let size = Size(4 * octave + words.div_ceil(1 << octave) as u32);
        assert!(size.0 <= Size::LARGEST.0, "a state of {words} words");
        size
    }

    /// The number of words of the tree.
    #[inline]
    pub fn words(self) -> usize {
        let octave = (self.0 / 4).saturating_sub(1);
        ((self.0 - 4 * octave) as usize) << octave
    }

    #[inline]
    pub fn code(self) -> u32 {
        self.0
    }

    #[inline]
    pub fn from_code(code: u32) -> Size {
        Size(code)
    }
}

/// Dictionaries, by the number of the node.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    /// Dictionaries of all nodes of the largest tree that was known at the last `reserve`.
    known: Vec<Dictionary>,
    /// Dictionaries of other nodes, made on demand: a state may be longer than all before.
    overflow: Mutex<BTreeMap<usize, Overflow>>,
}

impl Snapshot for Dictionaries {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.known.save(to)?;
        self.overflow().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Dictionaries> {
        Ok(Dictionaries { known: Vec::load(from)?, overflow: Mutex::new(BTreeMap::load(from)?) })
    }
}

impl Dictionaries {
    /// The id of a value at a node, which is added if it is new.
    #[inline]
    pub fn id(&self, node: Node, value: u64) -> u32 {
        match self.known.get(node.number()) {
            Some(dictionary) => dictionary.id(value),
            None => self.overflow_id(node, value),
        }
    }

    /// Prefetches the memory for a lookup of the value at a node.
    #[inline]
    pub fn prefetch(&self, node: Node, value: u64) {
        self.known.get(node.number()).inspect(|dictionary| dictionary.prefetch(value));
    }

    #[inline]
    pub fn value(&self, node: Node, id: u32) -> u64 {
        match self.known.get(node.number()) {
            Some(dictionary) => dictionary.value(id),
            None => self.overflow_value(node, id),
        }
    }

    /// Greater than every id at a node so far.
    pub fn next_id(&self, node: Node) -> u32 {
        match self.known.get(node.number()) {
            Some(dictionary) => dictionary.next_id(),
            None => self.overflow().get(&node.number()).map_or(1, Overflow::next_id),
        }
    }

    /// Makes room in each for `count` more values, within `limit` bytes in total. From now on, all nodes of trees over
    /// `words` words are known. There must have been no larger trees before.
    pub fn reserve(&mut self, words: usize, count: usize, limit: u64) -> Result<(), Full> {
        self.settle(words, limit)?;
        let mut total = self.bytes();
        for dictionary in &mut self.known {
            let others = total - dictionary.bytes();
            dictionary.reserve(count, limit.saturating_sub(others))?;
            total = others + dictionary.bytes();
        }
        if total > limit { Err(Full) } else { Ok(()) }
    }

    pub fn bytes(&self) -> u64 {
        let own = self.known.capacity() * size_of::<Dictionary>();
        let known = self.known.iter().map(Dictionary::bytes).sum::<u64>();
        own as u64 + known + self.overflow().values().map(Overflow::bytes).sum::<u64>()
    }

    /// Makes all nodes of trees over `words` words known. The nodes after the first one without room stay in the
    /// overflow.
    fn settle(&mut self, words: usize, limit: u64) -> Result<(), Full> {
        let mut total = self.bytes();
        for number in self.known.len()..2 * words - 1 {
            let overflow = self.overflow().remove(&number).unwrap_or_default();
            match overflow.settled(limit.saturating_sub(total)) {
                Ok(dictionary) => {
                    total += dictionary.bytes();
                    self.known.push(dictionary);
                }
                Err(Full) => {
                    self.overflow().insert(number, overflow);
                    return Err(Full);
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn overflow_id(&self, node: Node, value: u64) -> u32 {
        self.overflow().entry(node.number()).or_default().id(value)
    }

    #[cold]
    fn overflow_value(&self, node: Node, id: u32) -> u64 {
        self.overflow().entry(node.number()).or_default().value(id)
    }

    fn overflow(&self) -> impl DerefMut<Target = BTreeMap<usize, Overflow>> {
        self.overflow.lock().expect("no thread panics while it holds the lock")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_from_left_to_right() {
        fn numbers(node: Node, all: &mut Vec<usize>) {
            if node.is_leaf() {
                return all.push(node.number());
            }
            numbers(node.left(), all);
            all.push(node.number());
            numbers(node.right(), all);
        }
        for words in 1..40 {
            let mut all = Vec::new();
            numbers(Node::root(words), &mut all);
            assert!(all.into_iter().eq(0..2 * words - 1), "{words} words");
        }
    }

    #[test]
    fn sizes_are_a_little_larger_than_needed() {
        assert!((1..=8).all(|words| Size::of(words).words() == words));
        assert_eq!([9, 10, 11, 16, 17, 33].map(|words| Size::of(words).words()), [10, 10, 12, 16, 20, 40]);
        for words in 1..=Size::LARGEST.words() {
            let size = Size::of(words);
            assert!(size.words() >= words && size.words() <= words + words / 4);
            assert_eq!(Size::of(size.words()), size);
            assert_eq!(Size::from_code(size.code()), size);
        }
    }
}
