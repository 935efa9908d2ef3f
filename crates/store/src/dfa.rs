//! The set of visited states as the minimal deterministic automaton that accepts exactly these.
//!
//! After Holzmann, Puri: A minimized automaton representation of reachable states, STTT 1999. The automaton reads a
//! state by half bytes. It is acyclic: a node of height h accepts a set of strings of h half bytes, and no two nodes
//! accept the same set. So states with different beginnings share their common endings, also if their lengths differ;
//! the length determines the initial node.
//!
//! ```text
//! words:     │ references │ next of the same hash │ set of edges │ targets │ …
//! buckets:   the first node of each hash
//! ```
//!
//! To add a state, the nodes of its path are rebuilt from the end to the beginning, and each is looked up among the
//! existing ones. The old path is then freed, up to the first node with another incoming edge.

use std::io;
use std::ops::DerefMut;

use entail_disk::{Reader, Restore, Snapshot, Writer, snapshot};
use entail_model::{Full, Growth, Guarantee, Keys, Opened, StateBuf, Store, Visit};

use crate::exact::{ExactSet, ShortStateSet, keys_of};
use crate::memory::Zeroed;
use crate::mix::Mix;
use crate::sync::{AtomicU32, Mutex, Ordering::Relaxed};

/// The place of a node.
type NodeAt = u32;

/// No node.
const NOWHERE: NodeAt = 0;
/// The node of height 0. It has only a reference count.
const END: NodeAt = 1;

/// The number of words before the edges of a node.
const HEAD: usize = 3;
const MOST_EDGES: usize = 16;
const FEWEST_WORDS: usize = 256;
const FEWEST_BUCKETS: usize = 64;
/// From this number of words on, the capacity grows by half; before, it doubles.
const LARGE: usize = 1 << 20;
/// The expected length before the first state, in words.
const USUAL_STATE: usize = 2;
/// A new state is expected to take at most this many words for each of its half bytes. It may take as many as the
/// largest node has.
const USUAL_WORDS: usize = HEAD + 3;
const MOST_WORDS: usize = HEAD + MOST_EDGES;

/// A set of states as a minimised automaton: small if states have much in common, but slow.
#[derive(Debug)]
pub struct DfaSet<S> {
    /// Only makes and opens keys.
    exact: ExactSet<S>,
    lookup: Mutex<Lookup>,
}

#[derive(Debug, Default)]
struct Lookup {
    dfa: Dfa,
    /// A buffer for the state of a lookup.
    state: StateBuf,
    opened: Opened,
}

/// A minimal automaton over half bytes.
#[derive(Debug)]
struct Dfa {
    words: Zeroed<AtomicU32>,
    /// The first word that was never used.
    next: usize,
    /// Lists of free nodes, by number of edges.
    free: [NodeAt; MOST_EDGES + 1],
    buckets: Zeroed<AtomicU32>,
    nodes: usize,
    /// The root node for states of each number of words.
    roots: Vec<NodeAt>,
    len: u64,
    /// The memory limit in bytes, and whether a state exceeded it.
    limit: u64,
    is_full: bool,
    /// A buffer for the nodes on the path of a state.
    path: Vec<NodeAt>,
}

impl<S: ShortStateSet> Restore for DfaSet<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.exact.save(to)?;
        self.lookup().dfa.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.exact.restore(from)?;
        self.lookup().dfa = Dfa::load(from)?;
        Ok(())
    }
}

snapshot!(Dfa { words, next, free, buckets, nodes, roots, len, limit, is_full, ..path });

/// A node under construction.
#[derive(Clone, Copy, Default)]
struct Node {
    /// The set of its edges, as one bit for each.
    edges: u16,
    /// Their targets, in order.
    targets: [NodeAt; MOST_EDGES],
}

impl Node {
    fn count(&self) -> usize {
        self.edges.count_ones() as usize
    }

    fn targets(&self) -> &[NodeAt] {
        &self.targets[..self.count()]
    }

    /// Sets the target of the edge for a letter, or adds the edge.
    fn set(&mut self, letter: u8, target: NodeAt) {
        let place = rank(self.edges, letter);
        if self.edges >> letter & 1 == 0 {
            let count = self.count();
            self.targets.copy_within(place..count, place + 1);
            self.edges |= 1 << letter;
        }
        self.targets[place] = target;
    }

    fn hash(&self) -> u64 {
        let mix = Mix::new(u64::BITS);
        let pairs = self.targets().chunks(2);
        let pair = |pair: &[NodeAt]| u64::from(pair[0]) | pair.get(1).map_or(0, |&target| u64::from(target) << 32);
        pairs.fold(self.edges.into(), |hash, targets| mix.scatter(hash ^ pair(targets)))
    }
}

/// The number of edges before the one for a letter.
fn rank(edges: u16, letter: u8) -> usize {
    (edges & ((1 << letter) - 1)).count_ones() as usize
}

impl<S: ShortStateSet> DfaSet<S> {
    /// A set with the keys of `exact`, which must be empty.
    pub fn new(exact: ExactSet<S>) -> Self {
        DfaSet { exact, lookup: Mutex::default() }
    }

    fn lookup(&self) -> impl DerefMut<Target = Lookup> {
        self.lookup.lock().expect("no thread panics while it holds the lock")
    }
}

impl<S: ShortStateSet> Keys for DfaSet<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let DfaSet { exact, lookup } = self;
        let dfa = &mut lookup.get_mut().expect("no thread panics while it holds the lock").dfa;
        exact.reserve_long(count, limit.saturating_sub(dfa.bytes()))?;
        dfa.reserve(count, limit.saturating_sub(exact.bytes()))
    }

    keys_of!(exact);

    /// The nodes of a lookup are not known in advance.
    fn prefetch(&self, _: S::Key) {}

    fn len(&self) -> u64 {
        self.lookup().dfa.len
    }

    fn bytes(&self) -> u64 {
        self.exact.bytes() + self.lookup().dfa.bytes()
    }

    /// The growth is unpredictable: some states make the automaton smaller.
    fn growth(&self) -> Option<Growth> {
        None
    }
}

impl<S: ShortStateSet> Store for DfaSet<S> {
    fn insert(&self, key: S::Key) -> Visit {
        self.lookup().insert(&self.exact, key)
    }

    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let DfaSet { exact, lookup } = self;
        lookup.get_mut().expect("no thread panics while it holds the lock").insert(exact, key)
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}

impl Lookup {
    fn insert<S: ShortStateSet>(&mut self, exact: &ExactSet<S>, key: S::Key) -> Visit {
        let Lookup { dfa, state, opened } = self;
        exact.open(key, state, opened);
        dfa.insert(state)
    }
}

impl Default for Dfa {
    fn default() -> Dfa {
        Dfa {
            words: Zeroed::default(),
            next: END as usize + 1,
            free: [NOWHERE; MOST_EDGES + 1],
            buckets: Zeroed::default(),
            nodes: 0,
            roots: Vec::new(),
            len: 0,
            limit: 0,
            is_full: false,
            path: Vec::new(),
        }
    }
}

impl Dfa {
    /// Adds a state of whole words. Without room, it does not add the state, and the next `reserve` fails.
    fn insert(&mut self, state: &[u8]) -> Visit {
        let words = state.len() / 8;
        let root = self.roots.get(words).copied().unwrap_or(NOWHERE);
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let visit = if self.walk(root, state, &mut path) == END {
            Visit::Seen
        } else {
            match self.make_room(1, words) {
                Ok(()) => self.add(words, state, &path),
                Err(Full) => self.is_full = true,
            }
            Visit::New
        };
        self.path = path;
        visit
    }

    /// Appends the existing nodes on the path of a state; returns the last one.
    fn walk(&self, root: NodeAt, state: &[u8], path: &mut Vec<NodeAt>) -> NodeAt {
        let mut node = root;
        for letter in letters(state) {
            if node == NOWHERE {
                break;
            }
            path.push(node);
            node = self.target(node, letter);
        }
        node
    }

    fn add(&mut self, words: usize, state: &[u8], path: &[NodeAt]) {
        let mut target = END;
        let mut behind = path.iter().rev();
        let new = 2 * state.len() - path.len();
        for (number, letter) in letters(state).rev().enumerate() {
            let old = if number < new { None } else { behind.next() };
            let mut node = old.map_or_else(Node::default, |&old| self.node(old));
            node.set(letter, target);
            target = self.intern(&node);
        }
        if self.roots.len() <= words {
            self.roots.resize(words + 1, NOWHERE);
        }
        self.refer(target);
        self.roots[words] = target;
        self.give_up(path);
        self.len += 1;
    }

    /// The node with these edges, which is added if it is new. A new node has no incoming edges yet.
    fn intern(&mut self, node: &Node) -> NodeAt {
        let bucket = self.bucket(node);
        let first = self.buckets[bucket].load(Relaxed);
        let mut at = first;
        while at != NOWHERE {
            if self.is(at, node) {
                return at;
            }
            at = self.get(at + 1);
        }
        let at = self.allocate(node.count());
        self.set(at, 0);
        self.set(at + 1, first);
        self.set(at + 2, node.edges.into());
        for (place, &target) in (at + HEAD as u32..).zip(node.targets()) {
            self.set(place, target);
            self.refer(target);
        }
        self.buckets[bucket].store(at, Relaxed);
        self.nodes += 1;
        at
    }

    /// Frees an old path, up to the first node with another incoming edge. From there on, the old and the new path
    /// share their targets.
    fn give_up(&mut self, path: &[NodeAt]) {
        path.first().inspect(|root| self.forget(**root));
        for &at in path {
            if self.get(at) > 0 {
                break;
            }
            let node = self.node(at);
            node.targets().iter().for_each(|target| self.forget(*target));
            self.remove(at, &node);
        }
    }

    fn remove(&mut self, at: NodeAt, node: &Node) {
        let next = self.get(at + 1);
        let bucket = self.bucket(node);
        let mut before = self.buckets[bucket].load(Relaxed);
        if before == at {
            self.buckets[bucket].store(next, Relaxed);
        } else {
            while self.get(before + 1) != at {
                before = self.get(before + 1);
            }
            self.set(before + 1, next);
        }
        let free = std::mem::replace(&mut self.free[node.count()], at);
        self.set(at, free);
        self.nodes -= 1;
    }

    /// The caller has made room.
    fn allocate(&mut self, edges: usize) -> NodeAt {
        let free = self.free[edges];
        if free != NOWHERE {
            self.free[edges] = self.get(free);
            return free;
        }
        let at = self.next;
        self.next += HEAD + edges;
        at as NodeAt
    }

    fn node(&self, at: NodeAt) -> Node {
        let mut node = Node { edges: self.get(at + 2) as u16, ..Node::default() };
        let own = &self.words[at as usize + HEAD..][..node.count()];
        node.targets.iter_mut().zip(own).for_each(|(target, word)| *target = word.load(Relaxed));
        node
    }

    /// The target of the edge for a letter.
    fn target(&self, at: NodeAt, letter: u8) -> NodeAt {
        let edges = self.get(at + 2) as u16;
        if edges >> letter & 1 == 0 { NOWHERE } else { self.get(at + (HEAD + rank(edges, letter)) as u32) }
    }

    fn is(&self, at: NodeAt, node: &Node) -> bool {
        let own = self.words[at as usize + HEAD..].iter().map(|word| word.load(Relaxed));
        self.get(at + 2) == u32::from(node.edges) && own.take(node.count()).eq(node.targets().iter().copied())
    }

    fn bucket(&self, node: &Node) -> usize {
        ((u128::from(node.hash()) * self.buckets.len() as u128) >> 64) as usize
    }

    fn refer(&mut self, at: NodeAt) {
        self.set(at, self.get(at) + 1);
    }

    fn forget(&mut self, at: NodeAt) {
        self.set(at, self.get(at) - 1);
    }

    fn get(&self, at: u32) -> u32 {
        self.words[at as usize].load(Relaxed)
    }

    fn set(&mut self, at: u32, word: u32) {
        self.words[at as usize].store(word, Relaxed);
    }

    /// Makes room for about `count` more states that are no longer than those before, within `limit` bytes.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.limit = limit;
        if self.is_full || self.bytes() > limit {
            return Err(Full);
        }
        let longest = self.roots.len().checked_sub(1);
        self.make_room(count, longest.unwrap_or(USUAL_STATE))
    }

    /// The same for states of `words` words.
    fn make_room(&mut self, count: usize, words: usize) -> Result<(), Full> {
        let height = 16 * words;
        // Twice as many words as an average state has taken so far.
        let (most, average) = (USUAL_WORDS * height, self.next / self.len.max(1) as usize);
        let usual = if self.len == 0 { most } else { most.min(2 * average + 1) };
        let others = count.saturating_sub(1).checked_mul(usual).ok_or(Full)?;
        let wanted = others.saturating_add(self.next + MOST_WORDS * height);
        if wanted > self.words.len() {
            self.grow_words(wanted)?;
        }
        // One node in each bucket, on average.
        let wanted = self.nodes + height + others / (HEAD + 1);
        if wanted > self.buckets.len() {
            self.grow_buckets(wanted)?;
        }
        Ok(())
    }

    fn grow_words(&mut self, wanted: usize) -> Result<(), Full> {
        let others = self.bytes() - self.words.bytes() as u64 + self.words.extra_to_grow() as u64;
        self.words.grow(room(self.words.len(), wanted, FEWEST_WORDS, self.limit.saturating_sub(others))?)
    }

    fn grow_buckets(&mut self, wanted: usize) -> Result<(), Full> {
        // Both arrays exist while the nodes move.
        let count = room(self.buckets.len(), wanted, FEWEST_BUCKETS, self.limit.saturating_sub(self.bytes()))?;
        let old = std::mem::replace(&mut self.buckets, Zeroed::new(count)?);
        for first in old.iter().map(|first| first.load(Relaxed)) {
            let mut at = first;
            while at != NOWHERE {
                let next = self.get(at + 1);
                let bucket = self.bucket(&self.node(at));
                self.set(at + 1, self.buckets[bucket].load(Relaxed));
                self.buckets[bucket].store(at, Relaxed);
                at = next;
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let vectors = (self.roots.capacity() + self.path.capacity()) * size_of::<NodeAt>();
        (self.words.bytes() + self.buckets.bytes() + vectors) as u64
    }
}

/// The number of words to make room for: generous, or as many as necessary if that is all that `limit` bytes permit.
fn room(now: usize, wanted: usize, fewest: usize, limit: u64) -> Result<usize, Full> {
    let more = if now < LARGE { 2 * now } else { now / 2 * 3 };
    let fits = |room: &usize| *room <= NodeAt::MAX as usize && (*room * size_of::<u32>()) as u64 <= limit;
    [more.max(wanted).max(fewest), wanted].into_iter().find(fits).ok_or(Full)
}

/// The half bytes of a state.
fn letters(state: &[u8]) -> impl DoubleEndedIterator<Item = u8> + '_ {
    state.iter().flat_map(|byte| [byte & 0xf, byte >> 4])
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::*;

    const MOST: usize = if cfg!(miri) { 30 } else { 400 };

    /// The number of nodes of the smallest automaton: the number of different sets of suffixes, over all prefixes.
    fn fewest_nodes(states: &BTreeSet<Vec<u8>>) -> usize {
        let spelt: Vec<Vec<u8>> = states.iter().map(|state| letters(state).collect()).collect();
        let mut endings: HashSet<BTreeSet<&[u8]>> = HashSet::new();
        for length in spelt.iter().map(Vec::len).collect::<BTreeSet<_>>() {
            let long: Vec<&[u8]> = spelt.iter().map(|one| &one[..]).filter(|one| one.len() == length).collect();
            for at in 0..length {
                let beginnings: BTreeSet<&[u8]> = long.iter().map(|one| &one[..at]).collect();
                for beginning in beginnings {
                    endings.insert(long.iter().filter_map(|one| one.strip_prefix(beginning)).collect());
                }
            }
        }
        endings.len()
    }

    /// States of one to three words that have much in common.
    fn state(rng: &mut Rng) -> Vec<u8> {
        let mut state = vec![0; 8 * (1 + rng.below(3))];
        for _ in 0..rng.below(4) {
            let at = rng.below(state.len());
            state[at] = *rng.pick(&[0, 1, 0x10, 0x11, 0xf0]);
        }
        state
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 60 }))]

        #[test]
        fn there_are_no_more_nodes_than_needed(seed: u64, many in 1..MOST) {
            let mut rng = Rng::new(seed);
            let (mut dfa, mut states) = (Dfa::default(), BTreeSet::new());
            for _ in 0..many {
                prop_assert_eq!(dfa.reserve(1, u64::MAX), Ok(()));
                let state = state(&mut rng);
                let expected = if states.insert(state.clone()) { Visit::New } else { Visit::Seen };
                prop_assert_eq!(dfa.insert(&state), expected);
            }
            prop_assert_eq!(dfa.nodes, fewest_nodes(&states));
            prop_assert_eq!(dfa.len, states.len() as u64);
            prop_assert!(states.iter().all(|state| dfa.insert(state) == Visit::Seen));
        }
    }

    #[test]
    fn all_states_together_are_one_chain() {
        let mut dfa = Dfa::default();
        for number in 0..1u64 << 12 {
            dfa.reserve(1, u64::MAX).unwrap();
            assert_eq!(dfa.insert(&number.to_le_bytes()), Visit::New);
        }
        assert_eq!(dfa.nodes, 16);
        // Freed nodes are reused.
        assert!(dfa.next < 2000, "{} words", dfa.next);
    }

    #[test]
    fn an_insertion_without_room_is_refused() {
        let mut dfa = Dfa::default();
        dfa.reserve(1, 20_000).unwrap();
        let added = (0..1000u64).take_while(|number| {
            let _ = dfa.insert(&(number * 0x0123_4567_89ab).to_le_bytes());
            !dfa.is_full
        });
        let added = added.count();
        assert!(added > 20 && added < 1000, "{added}");
        assert!(dfa.len == added as u64 && dfa.bytes() <= 20_000);
        assert_eq!(dfa.reserve(1, 20_000), Err(Full));
        assert!(
            (0..added as u64).all(|number| dfa.insert(&(number * 0x0123_4567_89ab).to_le_bytes()) == Visit::Seen)
        );
    }
}
