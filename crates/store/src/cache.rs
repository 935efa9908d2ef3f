//! A cache of visited states: so many fit, and then the next ones take the place of others. What was forgotten is explored
//! again if it is met again, so that nothing is missed; only the states on the path of a depth-first search are never
//! forgotten, so that it comes to an end.
//!
//! Which states are forgotten decides how long that takes. If they are chosen by chance, then beyond some share of the states
//! those that were forgotten hang together, and to explore one of them again is to explore most of the model again. So
//! they are chosen by their depth (Geldenhuys' strata): those at odd depths go first, and what lies behind one of them
//! is mostly still known.
//!
//! After Geldenhuys: Efficiency issues in the design of a model checker, Stellenbosch 1999, and: State caching reconsidered,
//! SPIN 2004; Holzmann, Godefroid, Pirottin: Coverage preserving reduction strategies for reachability analysis, PSTV 1992.

use std::collections::HashSet;
use std::io;
use std::ops::DerefMut;

use entail_disk::{Reader, Restore, Snapshot, Writer, damaged};
use entail_model::{Full, Guarantee, Keys, State, StateBuf, StateKey, Store, Visit};

use crate::hash::Hasher;
use crate::lossless::{Kept, Short};
use crate::memory::Zeroed;
use crate::sync::{AtomicU8, AtomicU64, Mutex, Ordering::Relaxed};
use crate::tree::Opened;

/// How large a cache is, and how hard it tries to find room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// How many states it has room for.
    pub slots: u64,
    /// In how many slots, one after the other, a state may be.
    pub probes: u32,
    /// How many states that could be forgotten are looked at before that which is worth least is.
    pub collisions: u32,
}

/// A set of states of which not more than so many are known at a time. Longer ones are made keys of by a tree, and that goes
/// on growing.
#[derive(Debug)]
pub struct Cached<S: Short> {
    kept: Kept<S>,
    size: CacheSize,
    hasher: Hasher,
    /// The words of keys, inverted: so 0 stands for none. It is there once there was room for it.
    slots: Zeroed<AtomicU64>,
    book: Mutex<Book<S::Key>>,
}

/// What is known of slots and states.
#[derive(Debug)]
struct Book<K> {
    /// What each slot's state is worth: [`HELD`] if it must not be forgotten.
    worth: Zeroed<AtomicU8>,
    /// States that must not be forgotten, and for which there was no slot.
    outside: HashSet<K>,
    /// For every state that must not be forgotten, the number of visits when it came.
    path: Vec<u64>,
    visits: u64,
    occupied: u64,
    forgotten: u64,
    /// The last of some random numbers.
    random: u64,
}

/// What a state on the path is worth.
const HELD: u8 = u8::MAX;

/// What a state is worth that lies as deep as this, and behind which there were so many visits until it was left: first of
/// all its stratum, that is whether its depth is odd, even, or a multiple of four; then how much was behind it, roughly.
fn worth(depth: usize, visits: u64) -> u8 {
    let stratum = depth.trailing_zeros().min(2);
    (stratum * u64::BITS + visits.checked_ilog2().unwrap_or(0)) as u8
}

impl<S: Short> Cached<S> {
    /// With the keys of such a store, which is empty.
    pub fn new(kept: Kept<S>, size: CacheSize) -> Self {
        let CacheSize { slots, probes, collisions } = size;
        let (slots, collisions) = (slots.max(1), collisions.max(1));
        // Nobody waits for more.
        let most = u32::try_from(slots).unwrap_or(u32::MAX);
        let size = CacheSize { slots, probes: probes.clamp(1, most), collisions };
        let book = Book {
            worth: Zeroed::default(),
            outside: HashSet::new(),
            path: Vec::new(),
            visits: 0,
            occupied: 0,
            forgotten: 0,
            random: 1,
        };
        Cached { kept, size, hasher: Hasher::new(0), slots: Zeroed::default(), book: Mutex::new(book) }
    }

    /// How many slots there are in so many bytes: each takes its words, and a byte.
    pub fn slots_in(bytes: u64) -> u64 {
        bytes / (8 * S::Key::WORDS as u64 + 1)
    }

    /// All slots lie there from the beginning, but the system gives memory only to those in use.
    fn make_slots(&mut self, limit: u64) -> Result<(), Full> {
        if self.slots.is_empty() {
            let slots = self.size.slots;
            if slots > Self::slots_in(limit) {
                return Err(Full);
            }
            let worth = Zeroed::new(slots as usize)?;
            self.slots = Zeroed::new(slots as usize * S::Key::WORDS)?;
            self.alone().1.worth = worth;
        }
        Ok(())
    }

    /// The places where a key may be.
    #[inline]
    fn places(&self, key: S::Key) -> Places {
        let [hash, _] = self.hasher.hash(key);
        let first = (u128::from(hash) * u128::from(self.size.slots)) >> 64;
        Places { next: first as u64, left: self.size.probes, slots: self.size.slots }
    }

    fn book(&self) -> impl DerefMut<Target = Book<S::Key>> {
        self.book.lock().expect("nobody panics with the lock")
    }

    /// What needs no lock, as there is no other thread.
    fn alone(&mut self) -> (&Zeroed<AtomicU64>, &mut Book<S::Key>) {
        (&self.slots, self.book.get_mut().expect("nobody panics with the lock"))
    }
}

/// What is loaded is of the same size.
impl<S: Short> Restore for Cached<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.kept.save(to)?;
        self.slots.save(to)?;
        self.book().save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.kept.restore(from)?;
        self.slots = Snapshot::load(from)?;
        let book: Book<_> = Snapshot::load(from)?;
        let slots = book.worth.len();
        if self.slots.len() != slots * S::Key::WORDS || (slots > 0 && slots as u64 != self.size.slots) {
            return Err(damaged("a cache of another size"));
        }
        self.book = Mutex::new(book);
        Ok(())
    }
}

impl<K: StateKey> Snapshot for Book<K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.worth.save(to)?;
        self.outside.save(to)?;
        self.path.save(to)?;
        self.visits.save(to)?;
        self.occupied.save(to)?;
        self.forgotten.save(to)?;
        self.random.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Book<K>> {
        Ok(Book {
            worth: Snapshot::load(from)?,
            outside: Snapshot::load(from)?,
            path: Snapshot::load(from)?,
            visits: Snapshot::load(from)?,
            occupied: Snapshot::load(from)?,
            forgotten: Snapshot::load(from)?,
            random: Snapshot::load(from)?,
        })
    }
}

/// Slots one after the other.
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

/// What is in a slot.
#[inline]
fn read<K: StateKey>(slots: &[AtomicU64], place: usize) -> Option<K> {
    let words = &slots[place * K::WORDS..];
    let low = words[0].load(Relaxed);
    let high = if K::WORDS == 2 { words[1].load(Relaxed) } else { u64::MAX };
    // No key has only ones: the highest bit marks keys of a tree, and these do not need all others.
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

impl<K: StateKey> Book<K> {
    /// Slots are never emptied: behind an empty one, there is nothing to look for.
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

    /// Puts a new state into a slot, if there is one, and holds it.
    #[inline]
    fn enter(&mut self, slots: &[AtomicU64], place: Option<usize>, key: K) -> Visit {
        self.path.push(self.visits);
        match place {
            Some(place) => {
                write(slots, place, key);
                self.worth[place].store(HELD, Relaxed);
            }
            None => {
                self.outside.insert(key);
            }
        }
        Visit::New
    }

    /// The state may be forgotten from now on.
    #[inline]
    fn leave(&mut self, slots: &[AtomicU64], mut places: Places, key: K) {
        // Where there are several initial states, this may be that of another one: what a state is worth is a guess anyway.
        let entered = self.path.pop().unwrap_or(self.visits);
        match places.find(|place| read(slots, *place) == Some(key)) {
            Some(place) => self.worth[place].store(worth(self.path.len(), self.visits - entered), Relaxed),
            None => self.forgotten += u64::from(self.outside.remove(&key)),
        }
    }

    /// Of the first slots that are not held, the one with the state that is worth least; any of these, if there are several.
    #[inline]
    fn victim(&mut self, places: Places, collisions: u32) -> Option<usize> {
        let Book { worth, random, .. } = self;
        let worth = places.map(|place| (place, worth[place].load(Relaxed)));
        let candidates = worth.filter(|(_, worth)| *worth != HELD).take(collisions as usize);
        let least = candidates.min_by_key(|(_, worth)| {
            // The factor is one of L'Ecuyer: Tables of linear congruential generators of different sizes, 1999.
            *random = random.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
            (*worth, *random >> 32)
        });
        least.map(|(place, _)| place)
    }

    fn bytes(&self) -> u64 {
        // Beside each key, a table has a byte of its own.
        let outside = self.outside.capacity() * (size_of::<K>() + 1);
        (self.worth.bytes() + outside + self.path.capacity() * size_of::<u64>()) as u64
    }
}

impl<S: Short> Keys for Cached<S> {
    type Opened = Opened;
    type Key = S::Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.make_slots(limit.saturating_sub(self.kept.bytes()))?;
        let cache = self.bytes() - self.kept.bytes();
        self.kept.reserve_keys(count, limit.checked_sub(cache).ok_or(Full)?)
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
        if let Some(place) = self.places(key).next() {
            crate::prefetch(&self.slots[place * S::Key::WORDS]);
        }
    }

    fn len(&self) -> u64 {
        let book = self.book();
        book.occupied + book.outside.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.kept.bytes() + self.slots.bytes() as u64 + self.book().bytes()
    }
}

impl<S: Short> Store for Cached<S> {
    fn insert(&self, key: S::Key) -> Visit {
        self.book().visit(&self.slots, self.places(key), self.size.collisions, key)
    }

    #[inline]
    fn insert_alone(&mut self, key: S::Key) -> Visit {
        let (places, collisions) = (self.places(key), self.size.collisions);
        let (slots, book) = self.alone();
        book.visit(slots, places, collisions, key)
    }

    #[inline]
    fn leave(&mut self, key: S::Key) {
        let places = self.places(key);
        let (slots, book) = self.alone();
        book.leave(slots, places, key);
    }

    fn forgotten(&self) -> u64 {
        self.book().forgotten
    }

    /// What is said to be seen was seen.
    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}
