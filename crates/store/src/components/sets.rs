//! Disjoint sets of keys, merged by many threads at once: a concurrent union-find.
//!
//! After Bloemen, Laarman, van de Pol: Multi-core on-the-fly SCC decomposition, PPoPP 2016. Every key is a node in a
//! tree of its set. The link of the root holds what is known about the set; the other links lead towards the root. The
//! nodes that are not finished are also in a cyclic list, each with the next one, from which finished nodes are removed
//! when they are met. A thread that merges two sets, or walks along a list, locks the roots; everything else is lock-free.

use std::marker::PhantomData;

use entail_model::{AcceptanceMarks, Entry, Full, Node, SpareNodes, StateKey};

use crate::memory::Zeroed;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::{AtomicU64, wait};

/// Disjoint sets of keys.
#[derive(Debug)]
pub(crate) struct Sets<K> {
    nodes: Nodes<K>,
    index: Index,
}

/// The words of each node: its key, its link, its next node, and possibly marks. The first node is not used.
#[derive(Debug)]
struct Nodes<K> {
    words: Zeroed<AtomicU64>,
    /// Whether the marks of a set are too many for the link of its root, so that they have a word of their own.
    has_marks: bool,
    /// The number of nodes given to workers, who may not have used them yet.
    given: AtomicU64,
    of: PhantomData<K>,
}

/// An open hash table. A slot is 0, or holds the number of a node below a part of the hash of its key.
#[derive(Debug)]
struct Index {
    slots: Zeroed<AtomicU64>,
}

/// The bits of the number of a node.
const NUMBER_BITS: u32 = 40;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;

/// In a link: this node is a root, and the rest describes its set. Without it, the link is another node of the set.
const ROOT: u64 = 1 << 63;
/// In the link of a root: a thread changes the set or its list.
const LOCKED: u64 = 1 << 62;
/// In the link of a root: the component is closed.
const CLOSED: u64 = 1 << 61;
/// The remaining bits of the link of a root: the workers, from the highest bit down, and the marks, from the
/// lowest up, if there is room for them.
const FREE: u32 = 61;

/// Beside the next node: this node is finished.
const FINISHED: u64 = 1 << 63;

/// The most workers.
pub(crate) const WORKERS: u32 = if cfg!(loom) { 3 } else { FREE };
/// The number of nodes that a worker takes at a time.
const GIVEN: u64 = if cfg!(loom) { 1 } else { 64 };
/// How many slots ahead nodes are prefetched when the index grows.
const AHEAD: usize = 16;
const FEWEST_SLOTS: usize = if cfg!(loom) { 4 } else { 1 << 10 };
/// The load, in percent, above which the index grows.
const CROWDED: usize = 75;

fn bit(worker: usize) -> u64 {
    1 << (FREE - 1 - worker as u32)
}

impl<K: StateKey> Nodes<K> {
    fn new(has_marks: bool) -> Self {
        Nodes { words: Zeroed::default(), has_marks, given: AtomicU64::new(1), of: PhantomData }
    }

    #[inline]
    fn stride(&self) -> usize {
        K::WORDS + 2 + usize::from(self.has_marks)
    }

    fn count(&self) -> u64 {
        self.given.load(Relaxed)
    }

    fn capacity(&self) -> u64 {
        (self.words.len() / self.stride()) as u64
    }

    #[inline]
    fn link(&self, node: u64) -> &AtomicU64 {
        &self.words[node as usize * self.stride() + K::WORDS]
    }

    #[inline]
    fn next(&self, node: u64) -> &AtomicU64 {
        &self.words[node as usize * self.stride() + K::WORDS + 1]
    }

    /// Where the marks are, unless they are in the link.
    #[inline]
    fn marks_word(&self, root: u64) -> Option<&AtomicU64> {
        self.has_marks.then(|| &self.words[root as usize * self.stride() + K::WORDS + 2])
    }

    /// The marks of a set, perhaps among other bits.
    #[inline]
    fn marks(&self, root: u64, link: u64) -> u64 {
        self.marks_word(root).map_or(link, |marks| marks.load(Relaxed))
    }

    #[inline]
    fn key(&self, node: u64) -> K {
        let word = |word: usize| {
            if word < K::WORDS { self.words[node as usize * self.stride() + word].load(Relaxed) } else { 0 }
        };
        K::from_words([word(0), word(1)])
    }

    #[inline]
    fn prefetch(&self, node: u64) {
        crate::prefetch(&self.words[node as usize * self.stride()]);
    }

    /// A set of one node.
    fn init(&self, node: u64, key: K, link: u64) {
        let at = node as usize * self.stride();
        key.words()
            .iter()
            .take(K::WORDS)
            .zip(&self.words[at..])
            .for_each(|(word, place)| place.store(*word, Relaxed));
        self.next(node).store(node, Relaxed);
        self.marks_word(node).into_iter().for_each(|marks| marks.store(0, Relaxed));
        self.link(node).store(link, Relaxed);
    }

    /// The root of a node's tree, and its link. Makes the path shorter on the way.
    #[inline]
    fn root(&self, node: u64) -> (u64, u64) {
        let mut node = node;
        loop {
            let parent = self.link(node).load(Acquire);
            if parent & ROOT != 0 {
                return (node, parent);
            }
            let grandparent = self.link(parent).load(Acquire);
            if grandparent & ROOT != 0 {
                return (parent, grandparent);
            }
            // Another thread may have stored a later node: that leads to the root, too.
            self.link(node).store(grandparent, Release);
            node = grandparent;
        }
    }

    /// Replaces the link of a root, unless another thread was faster.
    #[inline]
    fn replace(&self, root: u64, link: u64, by: u64) -> bool {
        self.link(root).compare_exchange(link, by, AcqRel, Relaxed).is_ok()
    }

    /// Locks a node if it is a root. Returns its link before.
    fn lock_root(&self, node: u64) -> Option<u64> {
        loop {
            let link = self.link(node).load(Acquire);
            match link {
                link if link & ROOT == 0 => return None,
                link if link & LOCKED != 0 => wait(),
                link if self.replace(node, link, link | LOCKED) => return Some(link),
                _ => {}
            }
        }
    }

    /// Ends a lock.
    fn unlock(&self, root: u64, link: u64) {
        self.link(root).store(link, Release);
    }

    /// Locks the root of a node.
    fn lock(&self, node: u64) -> (u64, u64) {
        loop {
            let (root, _) = self.root(node);
            if let Some(link) = self.lock_root(root) {
                return (root, link);
            }
        }
    }

    /// The node after this one in the list of a set that is locked.
    fn after(&self, node: u64) -> u64 {
        self.next(node).load(Relaxed) & NUMBER
    }

    /// Changes the node after this one. Meanwhile, another thread may finish this one.
    fn set_after(&self, node: u64, after: u64) {
        let next = self.next(node);
        let mut old = next.load(Relaxed);
        while let Err(newer) = next.compare_exchange(old, old & FINISHED | after, Relaxed, Relaxed) {
            old = newer;
        }
    }

    fn is_finished(&self, node: u64) -> bool {
        self.next(node).load(Acquire) & FINISHED != 0
    }

    fn join(&self, one: u64, other: u64) {
        loop {
            let ((one, _), (other, _)) = (self.root(one), self.root(other));
            if one == other {
                return;
            }
            // All threads lock roots in the same order, so none waits for itself.
            let (root, below) = (one.min(other), one.max(other));
            let Some(kept) = self.lock_root(root) else { continue };
            let Some(added) = self.lock_root(below) else {
                self.unlock(root, kept);
                continue;
            };
            // Two cyclic lists become one.
            let (first, second) = (self.after(root), self.after(below));
            self.set_after(root, second);
            self.set_after(below, first);
            if let Some(marks) = self.marks_word(root) {
                marks.store(self.marks(root, kept) | self.marks(below, added), Relaxed);
            }
            self.link(below).store(root, Release);
            self.unlock(root, kept | added);
            return;
        }
    }

    /// The first unfinished node of a locked set; its root comes last.
    fn unfinished(&self, root: u64) -> Option<u64> {
        loop {
            let node = self.after(root);
            if !self.is_finished(node) {
                return Some(node);
            }
            if node == root {
                return None;
            }
            self.set_after(root, self.after(node));
        }
    }
}

impl Index {
    /// The part of a hash that is stored beside a number. The slot depends on other bits of the hash.
    #[inline]
    fn tag(hash: u64) -> u64 {
        hash << (NUMBER_BITS - 10) & !NUMBER
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (u64::BITS - self.slots.len().ilog2())) as usize
    }

    /// Puts a node into an index that has no node with this key.
    fn put(&self, hash: u64, number: u64) {
        let mut slot = self.home(hash);
        while self.slots[slot].load(Relaxed) != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot].store(Index::tag(hash) | number, Relaxed);
    }

    /// The number of nodes for which so many slots are enough.
    fn capacity_of(slots: usize) -> usize {
        slots / 100 * CROWDED + slots % 100 * CROWDED / 100
    }
}

impl<K: StateKey> Sets<K> {
    /// No sets, with room for these marks and so many workers.
    pub fn new(acceptance: AcceptanceMarks, workers: usize) -> Self {
        let bits = (u64::BITS - acceptance.0.leading_zeros()) as usize + workers;
        Sets { nodes: Nodes::new(bits > FREE as usize), index: Index { slots: Zeroed::default() } }
    }

    /// The node of a key, and whether it is new: then its link is `link`.
    fn node(&self, key: K, link: u64, SpareNodes(spare): &mut SpareNodes) -> (u64, bool) {
        let (hash, slots) = (key.hash(), &self.index.slots);
        let (tag, mut slot, mut is_made) = (Index::tag(hash), self.index.home(hash), false);
        loop {
            let mut found = slots[slot].load(Acquire);
            if found == 0 {
                if spare.is_empty() {
                    let first = self.nodes.given.fetch_add(GIVEN, Relaxed);
                    *spare = first..first + GIVEN;
                }
                let number = spare.start;
                if !is_made {
                    self.nodes.init(number, key, link);
                    is_made = true;
                }
                match slots[slot].compare_exchange(0, tag | number, AcqRel, Acquire) {
                    Ok(_) => {
                        spare.start += 1;
                        return (number, true);
                    }
                    Err(other) => found = other,
                }
            }
            if found & !NUMBER == tag && self.nodes.key(found & NUMBER) == key {
                return (found & NUMBER, false);
            }
            slot = (slot + 1) & (slots.len() - 1);
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.nodes.words.bytes() + self.index.slots.bytes()) as u64
    }

    /// Makes room for more nodes, if there are `limit` bytes for both tables.
    fn reserve_nodes(&mut self, nodes: u64, limit: u64) -> Result<(), Full> {
        let capacity = self.nodes.capacity();
        if nodes <= capacity {
            return Ok(());
        }
        // Nodes stay where they are, so their number need not double.
        let larger = nodes.max(capacity + capacity / 4);
        let words = larger as usize * self.nodes.stride();
        let peak = words * size_of::<u64>() + self.nodes.words.extra_to_grow() + self.index.slots.bytes();
        if larger > NUMBER || peak as u64 > limit {
            return Err(Full);
        }
        self.nodes.words.grow(words)
    }

    /// The same in the index.
    fn reserve_slots(&mut self, nodes: u64, limit: u64) -> Result<(), Full> {
        let mut count = self.index.slots.len().max(FEWEST_SLOTS);
        while Index::capacity_of(count) < nodes as usize {
            count *= 2;
        }
        if count == self.index.slots.len() {
            return Ok(());
        }
        // Both indices exist while the nodes are put into the new one.
        if self.bytes() + (count * size_of::<u64>()) as u64 > limit {
            return Err(Full);
        }
        let larger = Index { slots: Zeroed::new(count)? };
        let slots = &self.index.slots;
        for (slot, number) in slots.iter().enumerate() {
            // In the order of the slots, nodes move to places one after the other, but their keys are anywhere.
            if let Some(soon) = slots.get(slot + AHEAD) {
                self.nodes.prefetch(soon.load(Relaxed) & NUMBER);
            }
            match number.load(Relaxed) & NUMBER {
                0 => {}
                node => larger.put(self.nodes.key(node).hash(), node),
            }
        }
        self.index = larger;
        Ok(())
    }

    /// Makes room for `count` more nodes, within `limit` bytes.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        // Every worker may have taken more nodes than it has used.
        let nodes = self.nodes.count() + count as u64 + GIVEN * u64::from(WORKERS);
        self.reserve_nodes(nodes, limit)?;
        self.reserve_slots(nodes, limit)
    }

    /// The number of nodes.
    pub fn len(&self) -> u64 {
        self.nodes.count() - 1
    }

    /// The number of nodes at which the index grows, and its bytes.
    pub fn growth(&self) -> (usize, usize) {
        (Index::capacity_of(self.index.slots.len()), self.index.slots.bytes())
    }

    #[inline]
    pub fn prefetch(&self, key: K) {
        crate::prefetch(&self.index.slots[self.index.home(key.hash())]);
    }

    #[inline]
    pub fn enter(&self, key: K, worker: usize, spare: &mut SpareNodes) -> Entry {
        let bit = bit(worker);
        let (number, is_new) = self.node(key, ROOT | bit, spare);
        if is_new {
            return Entry::New(Node(number));
        }
        loop {
            let (root, link) = self.nodes.root(number);
            match link {
                link if link & CLOSED != 0 => return Entry::Closed,
                link if link & bit != 0 => return Entry::Again(Node(number)),
                link if link & LOCKED != 0 => wait(),
                link if self.nodes.replace(root, link, link | bit) => return Entry::First(Node(number)),
                _ => {}
            }
        }
    }

    #[inline]
    pub fn are_joined(&self, Node(one): Node, Node(other): Node) -> bool {
        loop {
            let ((one, _), (other, _)) = (self.nodes.root(one), self.nodes.root(other));
            if one == other {
                return true;
            }
            // If the first one is no root any more, it may have been joined with the other one in between.
            if self.nodes.link(one).load(Acquire) & ROOT != 0 {
                return false;
            }
        }
    }

    pub fn join(&self, Node(one): Node, Node(other): Node) {
        self.nodes.join(one, other);
    }

    #[inline]
    pub fn add_marks(&self, Node(node): Node, marks: AcceptanceMarks, all: AcceptanceMarks) -> bool {
        let (marks, all) = (marks.0 & all.0, all.0);
        let (root, link) = self.nodes.root(node);
        let known = self.nodes.marks(root, link);
        if known & marks == marks || link & CLOSED != 0 {
            return known & all == all;
        }
        let (root, link) = self.nodes.lock(node);
        let now = self.nodes.marks(root, link) | marks;
        match self.nodes.marks_word(root) {
            Some(word) => {
                word.store(now, Relaxed);
                self.nodes.unlock(root, link);
            }
            None => self.nodes.unlock(root, link | marks),
        }
        now & all == all
    }

    pub fn finish(&self, Node(node): Node) -> bool {
        self.nodes.next(node).fetch_or(FINISHED, AcqRel) & FINISHED == 0
    }

    pub fn is_finished(&self, Node(node): Node) -> bool {
        self.nodes.is_finished(node)
    }

    pub fn unfinished(&self, Node(node): Node, after: usize) -> Option<(Node, K)> {
        let (root, link) = self.nodes.lock(node);
        let found = self.nodes.unfinished(root);
        let Some(mut found) = found else {
            self.nodes.unlock(root, link | CLOSED);
            return None;
        };
        for _ in 0..after {
            let next = self.nodes.after(found);
            if self.nodes.is_finished(next) {
                break;
            }
            found = next;
        }
        self.nodes.unlock(root, link);
        Some((Node(found), self.nodes.key(found)))
    }
}
