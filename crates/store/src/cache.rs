//! State-space caching: when the cache is full, a new state replaces another one. If a replaced state is reached again,
//! it is explored again, so nothing is missed. States on the stack of a depth-first search are never replaced, so the
//! search terminates.
//!
//! The replacement strategy determines the running time. With random replacement, beyond some share of the states the
//! replaced ones are connected, and exploring one of them again explores most of the model again. So states are chosen
//! by their depth (Geldenhuys' strata): those at odd depths are replaced first, and most of their successors are still
//! stored.
//!
//! After Geldenhuys: Efficiency issues in the design of a model checker, Stellenbosch 1999, and: State caching
//! reconsidered, SPIN 2004; Holzmann, Godefroid, Pirottin: Coverage preserving reduction strategies for reachability
//! analysis, PSTV 1992.

use std::collections::HashSet;
use std::io;
use std::ops::DerefMut;

use entail_disk::{Reader, Restore, Snapshot, Writer, damaged, snapshot};
use entail_model::{Full, Guarantee, Keys, StateKey, Store, Visit};

use crate::exact::{ExactSet, ShortStateSet, keys_of};
use crate::hash::Hasher;
use crate::memory::Zeroed;
use crate::sync::{AtomicU8, AtomicU64, Mutex, Ordering::Relaxed};

/// The size of a cache, and the lengths of its probe sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// The number of slots, one for each state.
    pub slots: u64,
    /// The number of consecutive slots in which a state may be.
    pub probes: u32,
    /// The number of candidates from which the one with the least priority is replaced.
    pub collisions: u32,
}

/// A set of a limited number of states. The dictionaries that make keys of long states are not limited.
#[derive(Debug)]
pub struct CacheSet<S: ShortStateSet> {
    exact: ExactSet<S>,
    size: CacheSize,
    hasher: Hasher,
    /// The inverted words of keys, so that 0 is an empty slot. Allocated by the first `reserve`.
    slots: Zeroed<AtomicU64>,
    replacement: Mutex<Replacement<S::Key>>,
}

/// The state of the replacement strategy.
#[derive(Debug)]
struct Replacement<K> {
    /// The priority of each slot's state; [`PINNED`] on the stack.
    priority: Zeroed<AtomicU8>,
    /// States on the stack for which no slot was available.
    outside: HashSet<K>,
    /// For every state on the stack, the number of visits at the time it was entered.
    path: Vec<u64>,
    visits: u64,
    occupied: u64,
    forgotten: u64,
    /// The state of a random number generator.
    random: u64,
}

/// The priority of a state on the stack.
const PINNED: u8 = u8::MAX;

/// The priority of a state at this depth with so many visits below it. It is ordered first by stratum (whether the
/// depth is odd, even, or a multiple of four), then roughly by the number of visits.
fn priority(depth: usize, visits: u64) -> u8 {
    let stratum = depth.trailing_zeros().min(2);
    (stratum * u64::BITS + visits.checked_ilog2().unwrap_or(0)) as u8
}

impl<S: ShortStateSet> CacheSet<S> {
    /// A cache with the keys of `exact`, which must be empty.
    pub fn new(exact: ExactSet<S>, size: CacheSize) -> Self {
        let CacheSize { slots, probes, collisions } = size;
        let (slots, collisions) = (slots.max(1), collisions.max(1));
        // More slots could not be probed in acceptable time.
        let most = u32::try_from(slots).unwrap_or(u32::MAX);
        let size = CacheSize { slots, probes: probes.clamp(1, most), collisions };
        let replacement = Replacement {
            priority: Zeroed::default(),
            outside: HashSet::new(),
            path: Vec::new(),
            visits: 0,
            occupied: 0,
            forgotten: 0,
            random: 1,
        };
        CacheSet {
            exact,
            size,
            hasher: Hasher::new(0),
            slots: Zeroed::default(),
            replacement: Mutex::new(replacement),
        }
    }

    /// The number of slots in `bytes` bytes: each takes the words of a key, and a byte.
    pub fn slots_in(bytes: u64) -> u64 {
        bytes / (8 * S::Key::WORDS as u64 + 1)
    }

    /// Allocates all slots. The system backs only the used ones with memory.
    fn make_slots(&mut self, limit: u64) -> Result<(), Full> {
        if self.slots.is_empty() {
            let slots = self.size.slots;
            if slots > Self::slots_in(limit) {
                return Err(Full);
            }
            let priority = Zeroed::new(slots as usize)?;
            self.slots = Zeroed::new(slots as usize * S::Key::WORDS)?;
            self.alone().1.priority = priority;
        }
        Ok(())
    }

    /// The slots in which a key may be.
    #[inline]
    fn places(&self, key: S::Key) -> Places {
        let [hash, _] = self.hasher.hash(key);
        let first = (u128::from(hash) * u128::from(self.size.slots)) >> 64;
        Places { next: first as u64, left: self.size.probes, slots: self.size.slots }
    }

    fn replacement(&self) -> impl DerefMut<Target = Replacement<S::Key>> {
        self.replacement.lock().expect("no thread panics while it holds the lock")
    }

    /// Access without locking, without interference from other threads.
    fn alone(&mut self) -> (&Zeroed<AtomicU64>, &mut Replacement<S::Key>) {
        (&self.slots, self.replacement.get_mut().expect("no thread panics while it holds the lock"))
    }
}

/// The snapshot must be of a cache of the same size.
impl<S: ShortStateSet> Restore for CacheSet<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.exact.save(to)?;
        self.slots.save(to)?;
        self.replacement().save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.exact.restore(from)?;
        self.slots = Snapshot::load(from)?;
        let replacement: Replacement<_> = Snapshot::load(from)?;
        let slots = replacement.priority.len();
        if self.slots.len() != slots * S::Key::WORDS || (slots > 0 && slots as u64 != self.size.slots) {
            return Err(damaged("a cache of another size"));
        }
        self.replacement = Mutex::new(replacement);
        Ok(())
    }
}

snapshot!(impl[K: StateKey] Replacement<K> { priority, outside, path, visits, occupied, forgotten, random });

/// Consecutive slots.
#[derive(Clone, Copy)]
struct Places {
    next: u64,
    left: u32,
    slots: u64,
}

impl Iterator for Places {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let place = self.next;
        self.next = if place + 1 == self.slots { 0 } else { place + 1 };
        Some(place as usize)
    }
}

/// The key in a slot.
#[inline]
fn read<K: StateKey>(slots: &[AtomicU64], place: usize) -> Option<K> {
    let words = &slots[place * K::WORDS..];
    let low = words[0].load(Relaxed);
    let high = if K::WORDS == 2 { words[1].load(Relaxed) } else { u64::MAX };
    // No key has only ones: the highest bit marks keys of a tree, and these do not use all other bits.
    (low != 0 || (K::WORDS == 2 && high != 0)).then(|| K::from_words([!low, !high]))
}

#[inline]
fn write<K: StateKey>(slots: &[AtomicU64], place: usize, key: K) {
    let words = key.words();
    debug_assert!(words[..K::WORDS].iter().any(|word| *word != u64::MAX), "a key of only ones");
    for (slot, word) in slots[place * K::WORDS..].iter().zip(words).take(K::WORDS) {
        slot.store(!word, Relaxed);
    }
}

impl<K: StateKey> Replacement<K> {
    /// Slots are never emptied, so a probe sequence ends at an empty one.
    #[inline]
    fn visit(&mut self, slots: &[AtomicU64], places: Places, collisions: u32, key: K) -> Visit {
        self.visits += 1;
        for place in places {
            match read::<K>(slots, place) {
                None => {
                    self.occupied += 1;
                    return self.enter(slots, Some(place), key);
                }
                Some(known) if known == key => return Visit::Seen,
                Some(_) => {}
            }
        }
        if self.outside.contains(&key) {
            return Visit::Seen;
        }
        let victim = self.victim(places, collisions);
        self.forgotten += u64::from(victim.is_some());
        self.enter(slots, victim, key)
    }

    /// Puts a new state into a slot, if there is one, and pins it.
    #[inline]
    fn enter(&mut self, slots: &[AtomicU64], place: Option<usize>, key: K) -> Visit {
        self.path.push(self.visits);
        match place {
            Some(place) => {
                write(slots, place, key);
                self.priority[place].store(PINNED, Relaxed);
            }
            None => {
                self.outside.insert(key);
            }
        }
        Visit::New
    }

    /// Unpins a state.
    #[inline]
    fn leave(&mut self, slots: &[AtomicU64], mut places: Places, key: K) {
        // With several initial states, this may be the entry of another one. Priorities are only heuristic.
        let entered = self.path.pop().unwrap_or(self.visits);
        match places.find(|place| read(slots, *place) == Some(key)) {
            Some(place) => self.priority[place].store(priority(self.path.len(), self.visits - entered), Relaxed),
            None => self.forgotten += u64::from(self.outside.remove(&key)),
        }
    }

    /// The slot with the least priority among the first ones that are not pinned; a random one of several.
    #[inline]
    fn victim(&mut self, places: Places, collisions: u32) -> Option<usize> {
        let Replacement { priority, random, .. } = self;
        let priority = places.map(|place| (place, priority[place].load(Relaxed)));
        let candidates = priority.filter(|(_, priority)| *priority != PINNED).take(collisions as usize);
        let least = candidates.min_by_key(|(_, priority)| {
            // The factor is one of L'Ecuyer: Tables of linear congruential generators of different sizes, 1999.
            *random = random.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
            (*priority, *random >> 32)
        });
        least.map(|(place, _)| place)
    }

    fn bytes(&self) -> u64 {
        // A hash table uses one more byte for each key.
        let outside = self.outside.capacity() * (size_of::<K>() + 1);
        (self.priority.bytes() + outside + self.path.capacity() * size_of::<u64>()) as u64
    }
}

impl<S: ShortStateSet> Keys for CacheSet<S> {
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.make_slots(limit.saturating_sub(self.exact.bytes()))?;
        let cache = self.bytes() - self.exact.bytes();
        self.exact.reserve_long(count, limit.checked_sub(cache).ok_or(Full)?)
    }

    keys_of!(exact);

    #[inline]
    fn prefetch(&self, key: S::Key) {
        if let Some(place) = self.places(key).next() {
            crate::prefetch(&self.slots[place * S::Key::WORDS]);
        }
    }

    fn len(&self) -> u64 {
        let replacement = self.replacement();
        replacement.occupied + replacement.outside.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.exact.bytes() + self.slots.bytes() as u64 + self.replacement().bytes()
    }
}

impl<S: ShortStateSet> Store for CacheSet<S> {
    fn insert(&self, key: S::Key) -> Visit {
        self.replacement().visit(&self.slots, self.places(key), self.size.collisions, key)
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let (places, collisions) = (self.places(key), self.size.collisions);
        let (slots, replacement) = self.alone();
        replacement.visit(slots, places, collisions, key)
    }

    #[inline]
    fn leave(&mut self, key: S::Key) {
        let places = self.places(key);
        let (slots, replacement) = self.alone();
        replacement.leave(slots, places, key);
    }

    fn forgotten(&self) -> u64 {
        self.replacement().forgotten
    }

    /// `Seen` is always right.
    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
