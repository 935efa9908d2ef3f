//! A cache of visited states: so many fit, and then the next ones take the place of others. What was forgotten is explored
//! again if it is met again, so that nothing is missed; only the states on the path of a depth-first search are never
//! forgotten, so that it comes to an end.
//!
//! After Geldenhuys: Efficiency issues in the design of a model checker, Stellenbosch 1999; Holzmann, Godefroid, Pirottin:
//! Coverage preserving reduction strategies for reachability analysis, PSTV 1992.

use std::collections::HashSet;
use std::io;
use std::ops::DerefMut;

use entail_disk::{Lasting, Reader, Saved, Writer, damaged};
use entail_model::{Full, Guarantee, Keys, State, StateBuf, StateKey, Store, Visit};

use crate::hash::Hasher;
use crate::lossless::{Kept, Short};
use crate::memory::Zeroed;
use crate::sync::{AtomicU64, Mutex, Ordering::Relaxed};
use crate::tree::Opened;

/// How large a cache is, and how hard it tries to find room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// How many states it has room for.
    pub slots: u64,
    /// In how many slots, one after the other, a state may be.
    pub probes: u32,
    /// How many states that could be forgotten are looked at before one of them is.
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
    /// A bit for every slot with a state that must not be forgotten.
    held: Zeroed<AtomicU64>,
    /// States that must not be forgotten, and for which there was no slot.
    outside: HashSet<K>,
    occupied: u64,
    forgotten: u64,
    /// The last of some random numbers.
    random: u64,
}

impl<S: Short> Cached<S> {
    /// With the keys of such a store, which is empty.
    pub fn new(kept: Kept<S>, size: CacheSize) -> Self {
        let CacheSize { slots, probes, collisions } = size;
        let (slots, collisions) = (slots.max(1), collisions.max(1));
        // Nobody waits for more.
        let most = u32::try_from(slots).unwrap_or(u32::MAX);
        let size = CacheSize { slots, probes: probes.clamp(1, most), collisions };
        let book = Book { held: Zeroed::default(), outside: HashSet::new(), occupied: 0, forgotten: 0, random: 1 };
        Cached { kept, size, hasher: Hasher::new(0), slots: Zeroed::default(), book: Mutex::new(book) }
    }

    /// How many slots there are in so many bytes: each takes its words, and a bit.
    pub fn slots_in(bytes: u64) -> u64 {
        bytes / (64 * S::Key::WORDS as u64 + 1) * 8
    }

    /// All slots lie there from the beginning, but the system gives memory only to those in use.
    fn make_slots(&mut self, limit: u64) -> Result<(), Full> {
        if self.slots.is_empty() {
            let words = self.size.slots.checked_mul(S::Key::WORDS as u64).ok_or(Full)?;
            let bits = self.size.slots.div_ceil(64);
            let bytes = words.checked_add(bits).and_then(|words| words.checked_mul(8)).ok_or(Full)?;
            if bytes > limit {
                return Err(Full);
            }
            let (held, slots) = (Zeroed::new(bits as usize)?, Zeroed::new(words as usize)?);
            self.slots = slots;
            self.alone().1.held = held;
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
impl<S: Short> Lasting for Cached<S> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.kept.save(to)?;
        self.slots.save(to)?;
        self.book().save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.kept.restore(from)?;
        self.slots = Saved::load(from)?;
        if !self.slots.is_empty() && self.slots.len() as u64 != self.size.slots * S::Key::WORDS as u64 {
            return Err(damaged("a cache of another size"));
        }
        self.book = Mutex::new(Saved::load(from)?);
        Ok(())
    }
}

impl<K: StateKey> Saved for Book<K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.held.save(to)?;
        self.outside.save(to)?;
        self.occupied.save(to)?;
        self.forgotten.save(to)?;
        self.random.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Book<K>> {
        Ok(Book {
            held: Saved::load(from)?,
            outside: Saved::load(from)?,
            occupied: Saved::load(from)?,
            forgotten: Saved::load(from)?,
            random: Saved::load(from)?,
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
        for place in places {
            match read::<K>(slots, place) {
                None => {
                    self.occupied += 1;
                    self.put(slots, place, key);
                    return Visit::New;
                }
                Some(known) if known == key => return Visit::Seen,
                Some(_) => {}
            }
        }
        if self.outside.contains(&key) {
            return Visit::Seen;
        }
        match self.victim(places, collisions) {
            Some(place) => {
                self.forgotten += 1;
                self.put(slots, place, key);
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
        match places.find(|place| read(slots, *place) == Some(key)) {
            Some(place) => self.hold(place, false),
            None => self.forgotten += u64::from(self.outside.remove(&key)),
        }
    }

    /// Any of the first slots that are not held; by chance, as nobody knows which will be missed least.
    #[inline]
    fn victim(&mut self, places: Places, collisions: u32) -> Option<usize> {
        // The factor is one of L'Ecuyer: Tables of linear congruential generators of different sizes, 1999.
        self.random = self.random.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let mut candidates = places.filter(|place| !self.is_held(*place)).take(collisions as usize);
        let count = candidates.clone().count() as u64;
        candidates.nth((self.random >> 32).checked_rem(count)? as usize)
    }

    fn put(&mut self, slots: &[AtomicU64], place: usize, key: K) {
        write(slots, place, key);
        self.hold(place, true);
    }

    fn is_held(&self, place: usize) -> bool {
        self.held[place / 64].load(Relaxed) >> (place % 64) & 1 == 1
    }

    fn hold(&self, place: usize, held: bool) {
        let word = &self.held[place / 64];
        let others = word.load(Relaxed) & !(1 << (place % 64));
        word.store(others | u64::from(held) << (place % 64), Relaxed);
    }

    fn bytes(&self) -> u64 {
        // Beside each key, a table has a byte of its own.
        let outside = self.outside.capacity() * (size_of::<K>() + 1);
        (self.held.bytes() + outside) as u64
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
