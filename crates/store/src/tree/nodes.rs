//! The nodes of a binary tree over the words of a state, and a dictionary for each of them.
//!
//! ```text
//!                     5
//!         3                       9
//!     1       4           7           10       a tree over six words; nodes are numbered from left to right
//!   0   2               6   8
//! ```
//!
//! Both parts of a node are equally long, or the left one is a word longer; so ids at the root's two parts are far
//! fewer than states.

use crate::dictionary::Dictionary;
use crate::sync::OnceLock;
use entail_model::Full;

/// A node stands for the words in a range that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub first: usize,
    pub end: usize,
}

impl Node {
    /// Of a tree over so many words.
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

/// How many words a tree is over. So that there are few different trees, a state may have fewer words than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size(u32);

impl Size {
    pub const BITS: u32 = 6;
    pub const COUNT: usize = 1 << Size::BITS;
    const LARGEST: Size = Size(Size::COUNT as u32 - 1);

    /// The smallest one for so many words, which are not 0: no more than a quarter larger.
    #[inline]
    pub fn of(words: usize) -> Size {
        let octave = (words.ilog2()).saturating_sub(2);
        let size = Size(4 * octave + words.div_ceil(1 << octave) as u32);
        assert!(size.0 <= Size::LARGEST.0, "a state of {words} words");
        size
    }

    /// How many words there are in the tree.
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

/// Dictionaries by the numbers of nodes.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    /// Of all nodes of the largest tree that was known when room was made.
    known: Vec<Dictionary>,
    /// Of other nodes, made when they are asked for: a state may be longer than all before. Each part is twice as long
    /// as the one before.
    late: [OnceLock<Box<[OnceLock<Dictionary>]>>; PARTS],
    /// How much room a late one needs.
    room: usize,
}

/// Enough for trees of the largest size.
const PARTS: usize = 18;

impl Dictionaries {
    #[inline]
    pub fn of(&self, node: Node) -> &Dictionary {
        match self.known.get(node.number()) {
            Some(dictionary) => dictionary,
            None => self.late(node.number()),
        }
    }

    /// Makes room in all of them for `count` more values, within `limit` bytes for all. From now on, all nodes of
    /// trees over so many words are known, and there must have been no larger trees before.
    pub fn reserve(&mut self, words: usize, count: usize, limit: u64) -> Result<(), Full> {
        for number in self.known.len()..2 * words - 1 {
            let (part, index) = place(number);
            let late = self.late[part].get_mut().and_then(|part| part[index].take());
            self.known.push(late.unwrap_or_default());
        }
        self.late = Default::default();
        self.room = count;
        let mut total = self.bytes();
        for dictionary in &mut self.known {
            let others = total - dictionary.bytes();
            dictionary.reserve(count, limit.saturating_sub(others))?;
            total = others + dictionary.bytes();
        }
        if total > limit { Err(Full) } else { Ok(()) }
    }

    pub fn bytes(&self) -> u64 {
        let late = self.late.iter().filter_map(OnceLock::get).flatten().filter_map(OnceLock::get);
        let own = self.known.capacity() * size_of::<Dictionary>();
        own as u64 + self.known.iter().chain(late).map(Dictionary::bytes).sum::<u64>()
    }

    #[cold]
    fn late(&self, number: usize) -> &Dictionary {
        let (part, index) = place(number);
        let part = self.late[part].get_or_init(|| (0..1 << part).map(|_| OnceLock::new()).collect());
        part[index].get_or_init(|| {
            let mut dictionary = Dictionary::default();
            dictionary.reserve(self.room, u64::MAX).expect("memory for a part of states that is new");
            dictionary
        })
    }
}

#[inline]
fn place(number: usize) -> (usize, usize) {
    let part = (number + 1).ilog2();
    (part as usize, number + 1 - (1 << part))
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
        assert!(place(2 * Size::LARGEST.words()).0 < PARTS);
    }
}
