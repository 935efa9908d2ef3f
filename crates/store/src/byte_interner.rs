//! An interner of byte strings: each is stored once and identified by its place.
//!
//! ```text
//! index:   ─ ─ 5 ─ 1 ─ ─ 3            open addressing by the hash of a string
//! words:   ─ │ head, bytes │ head, bytes, bytes │ …
//! head:    a byte: the string's length and whether it is marked; a word, if the length does not fit into that
//! ```
//!
//! Two threads may add the same string at once. Each of them writes it, but only one enters its place into the index,
//! and both use that place; the other one is wasted.

use std::io;
use std::ops::DerefMut;

use entail_disk::{Reader, Snapshot, Writer, snapshot};
use entail_model::{Full, Growth, Visit};

use crate::dictionary::{after, home};
use crate::memory::Zeroed;
use crate::mix::Mix;
use crate::sync::{AtomicU32, AtomicU64, Mutex, Ordering};

/// The offset of a string, in words.
pub(crate) type Place = u32;

#[derive(Debug)]
pub(crate) struct ByteInterner {
    words: Zeroed<AtomicU64>,
    index: Zeroed<AtomicU32>,
    /// The first free word. No string has place 0, which stands for an empty slot.
    next: AtomicU64,
    /// The number of strings written.
    written: AtomicU64,
    /// The length of the longest string so far or expected, in words.
    longest: AtomicU64,
    overflow: Mutex<Overflow>,
}

/// Strings that do not fit among the words, such as one that is longer than all before.
#[derive(Debug, Default)]
struct Overflow {
    strings: Vec<OverflowString>,
    bytes: usize,
}

#[derive(Debug)]
struct OverflowString {
    string: Box<[u8]>,
    is_marked: bool,
}

/// Places from this one on refer to strings in the overflow.
const FIRST_OVERFLOW: Place = 0xf000_0000;
/// An estimate of the bytes of an overflowed string besides its content: the entry, and the slack of a growing `Vec`.
pub(crate) const OVERFLOW_BYTES: usize = 4 * size_of::<OverflowString>();

/// In the first word: the bit that marks the string,
const MARK: u64 = 0x80;
/// its length, if less than this.
const MANY: usize = 0x7f;

const WORD: usize = 8;
const FEWEST_WORDS: usize = if cfg!(loom) { 4 } else { 64 };
const FEWEST_STRINGS: usize = if cfg!(loom) { 2 } else { 16 };
/// From this size on, the capacity grows by half; before, it doubles.
const LARGE: usize = 1 << 20;
/// The expected length before the first string, in words.
const USUAL_WORDS: u32 = 4;

snapshot!(Overflow { strings, bytes });
snapshot!(OverflowString { string, is_marked });

impl Snapshot for ByteInterner {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.words.save(to)?;
        self.index.save(to)?;
        [&self.next, &self.written, &self.longest].iter().try_for_each(|it| it.load(Ordering::Relaxed).save(to))?;
        self.overflow().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<ByteInterner> {
        let (words, index) = (Snapshot::load(from)?, Snapshot::load(from)?);
        let [next, written, longest] = <[u64; 3]>::load(from)?.map(AtomicU64::new);
        Ok(ByteInterner { words, index, next, written, longest, overflow: Mutex::new(Snapshot::load(from)?) })
    }
}

impl Default for ByteInterner {
    fn default() -> ByteInterner {
        ByteInterner::of_words(USUAL_WORDS)
    }
}

impl ByteInterner {
    /// An interner for strings of about `words` words.
    pub fn of_words(words: u32) -> ByteInterner {
        ByteInterner {
            words: Zeroed::default(),
            index: Zeroed::default(),
            next: AtomicU64::new(1),
            written: AtomicU64::new(0),
            longest: AtomicU64::new(words.into()),
            overflow: Mutex::default(),
        }
    }

    /// The place of a string, which is added if it is new.
    pub fn intern(&self, string: &[u8]) -> Place {
        self.find(string).unwrap_or_else(|at| self.add(string, at))
    }

    /// The place of a string, if it was added before.
    pub fn known(&self, string: &[u8]) -> Option<Place> {
        if self.index.is_empty() { None } else { self.find(string).ok() }
    }

    /// The place of a string, or else its slot in the index.
    fn find(&self, string: &[u8]) -> Result<Place, usize> {
        let mut at = home(hash(words_of(string)), self.index.len());
        loop {
            match self.index[at].load(Ordering::Acquire) {
                0 => return Err(at),
                place if self.is(place, string) => return Ok(place),
                _ => at = after(at, self.index.len()),
            }
        }
    }

    #[cold]
    fn add(&self, string: &[u8], mut at: usize) -> Place {
        let place = self.write(string);
        loop {
            match self.index[at].compare_exchange(0, place, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return place,
                Err(other) if self.is(other, string) => return other,
                Err(_) => at = after(at, self.index.len()),
            }
        }
    }

    fn write(&self, string: &[u8]) -> Place {
        let needed = words_for(string.len()) as u64;
        self.written.fetch_add(1, Ordering::Relaxed);
        self.longest.fetch_max(needed, Ordering::Relaxed);
        let room = self.words.len() as u64;
        let fits = |next: u64| (next + needed <= room).then_some(next + needed);
        match self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(place) => {
                let words = self.words[place as usize..].iter();
                words.zip(words_of(string)).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
                place as Place
            }
            Err(_) => {
                let mut overflow = self.overflow();
                overflow.bytes += string.len() + OVERFLOW_BYTES;
                overflow.strings.push(OverflowString { string: string.into(), is_marked: false });
                FIRST_OVERFLOW + (overflow.strings.len() - 1) as Place
            }
        }
    }

    fn is(&self, place: Place, string: &[u8]) -> bool {
        if place >= FIRST_OVERFLOW {
            return *self.overflow().strings[overflow_index(place)].string == *string;
        }
        let mut own = self.words[place as usize..].iter().map(|word| word.load(Ordering::Relaxed));
        let mut words = words_of(string);
        // The heads are equal, so the numbers of words are too.
        own.next().map(|head| head & !MARK) == words.next() && words.eq(own.take(words_for(string.len()) - 1))
    }

    /// Appends the string at a place to `to`.
    pub fn read(&self, place: Place, to: &mut Vec<u8>) {
        if place >= FIRST_OVERFLOW {
            return to.extend_from_slice(&self.overflow().strings[overflow_index(place)].string);
        }
        let mut words = self.words[place as usize..].iter().map(|word| word.load(Ordering::Relaxed));
        let head = words.next().unwrap_or(0);
        let (len, first) = match (head & !MARK) as u8 as usize {
            MANY => ((head >> 8) as usize, 0),
            len => (len, len.min(WORD - 1)),
        };
        let end = to.len() + len;
        to.extend_from_slice(&head.to_le_bytes()[1..=first]);
        words.take((len - first).div_ceil(WORD)).for_each(|word| to.extend_from_slice(&word.to_le_bytes()));
        to.truncate(end);
    }

    /// Marks the string at a place.
    pub fn mark(&self, place: Place) -> Visit {
        if place >= FIRST_OVERFLOW {
            return self.mark_overflow(place);
        }
        visit(self.words[place as usize].fetch_or(MARK, Ordering::Relaxed) & MARK != 0)
    }

    /// The same, without interference from other threads.
    pub fn mark_alone(&mut self, place: Place) -> Visit {
        if place >= FIRST_OVERFLOW {
            return self.mark_overflow(place);
        }
        let word = &self.words[place as usize];
        let head = word.load(Ordering::Relaxed);
        word.store(head | MARK, Ordering::Relaxed);
        visit(head & MARK != 0)
    }

    #[cold]
    fn mark_overflow(&self, place: Place) -> Visit {
        visit(std::mem::replace(&mut self.overflow().strings[overflow_index(place)].is_marked, true))
    }

    #[inline]
    pub fn prefetch(&self, place: Place) {
        if let Some(word) = self.words.get(place as usize) {
            crate::prefetch(word);
        }
    }

    fn overflow(&self) -> impl DerefMut<Target = Overflow> {
        self.overflow.lock().expect("no thread panics while it holds the lock")
    }

    /// The number of strings, including wasted ones.
    #[cfg(test)]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        (self.words.bytes() + self.index.bytes() + self.overflow().bytes) as u64
    }

    /// The next growth of the index.
    pub fn growth(&self) -> Growth {
        let strings = self.capacity();
        let larger = room(strings, strings + 1, FEWEST_STRINGS, |_| 0, 0).map_or(0, slots);
        let more = larger.saturating_sub(self.index.len());
        Growth { states: strings as u64, bytes: (more * size_of::<AtomicU32>()) as u64 }
    }

    /// The number of strings for which the index has room.
    fn capacity(&self) -> usize {
        self.index.len() / 4 * 3
    }

    /// Makes room for `count` more calls of [`ByteInterner::intern`] within `limit` bytes, if strings are no longer
    /// than before.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.reserve_words(count, limit)?;
        self.reserve_index(count, limit)
    }

    /// The same for the strings only. Strings without room overflow.
    pub fn reserve_words(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let longest = self.longest.load(Ordering::Relaxed) as usize;
        let wanted = count.checked_mul(longest).ok_or(Full)? + self.next.load(Ordering::Relaxed) as usize;
        if wanted > self.words.len() {
            let others = self.bytes() - self.words.bytes() as u64 + self.words.extra_to_grow() as u64;
            let growing = |room: usize| (WORD * room) as u64 + others;
            self.words.grow(room(self.words.len(), wanted, FEWEST_WORDS, growing, limit)?)?;
        }
        if self.bytes() > limit { Err(Full) } else { Ok(()) }
    }

    /// The same for the index only, which must have room.
    pub fn reserve_index(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let wanted = self.written.load(Ordering::Relaxed) as usize + count;
        if wanted > self.capacity() {
            let others = self.bytes();
            let growing = |room: usize| (slots(room) * size_of::<AtomicU32>()) as u64 + others;
            self.grow_index(slots(room(self.capacity(), wanted, FEWEST_STRINGS, growing, limit)?))?;
        }
        if self.bytes() > limit { Err(Full) } else { Ok(()) }
    }

    fn grow_index(&mut self, slots: usize) -> Result<(), Full> {
        let index = Zeroed::<AtomicU32>::new(slots)?;
        let mut string = Vec::new();
        // Only strings in the index: wasted ones must not be found.
        for place in self.index.iter().map(|place| place.load(Ordering::Relaxed)).filter(|&place| place != 0) {
            string.clear();
            self.read(place, &mut string);
            let mut at = home(hash(words_of(&string)), slots);
            while index[at].load(Ordering::Relaxed) != 0 {
                at = after(at, slots);
            }
            index[at].store(place, Ordering::Relaxed);
        }
        self.index = index;
        Ok(())
    }
}

/// The new capacity: generous, or as large as necessary if that is all that `limit` permits.
fn room(
    now: usize,
    wanted: usize,
    fewest: usize,
    growing: impl Fn(usize) -> u64,
    limit: u64,
) -> Result<usize, Full> {
    if wanted >= FIRST_OVERFLOW as usize {
        return Err(Full);
    }
    let more = if now < LARGE { 2 * now } else { now / 2 * 3 };
    let generous = more.max(wanted).clamp(fewest, FIRST_OVERFLOW as usize);
    [generous, wanted].into_iter().find(|&room| growing(room) <= limit).ok_or(Full)
}

/// The number of slots: a quarter stays empty, so that probe sequences are short.
fn slots(strings: usize) -> usize {
    4 * strings.div_ceil(3)
}

/// If all strings take `words` words, this maps their places to consecutive numbers.
pub(crate) fn number(place: Place, words: u32) -> u32 {
    if place < FIRST_OVERFLOW { (place - 1) / words } else { place }
}

/// The place of the string with this number.
pub(crate) fn place(number: u32, words: u32) -> Place {
    if number < FIRST_OVERFLOW { number * words + 1 } else { number }
}

/// The index of a string in the overflow.
fn overflow_index(place: Place) -> usize {
    (place - FIRST_OVERFLOW) as usize
}

fn visit(was_marked: bool) -> Visit {
    if was_marked { Visit::Seen } else { Visit::New }
}

/// The number of words of a string of `len` bytes.
pub(crate) fn words_for(len: usize) -> usize {
    if len < MANY { (1 + len).div_ceil(WORD) } else { 1 + len.div_ceil(WORD) }
}

/// The words of an unmarked string.
fn words_of(string: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let (head, rest) = if string.len() < MANY {
        let (first, rest) = string.split_at(string.len().min(WORD - 1));
        (string.len() as u64 | word(first) << 8, rest)
    } else {
        (MANY as u64 | (string.len() as u64) << 8, string)
    };
    std::iter::once(head).chain(rest.chunks(WORD).map(word))
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn hash(words: impl Iterator<Item = u64>) -> u64 {
    let mix = Mix::new(u64::BITS);
    words.fold(0, |hash, word| mix.scatter(hash ^ word))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashMap;

    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::*;

    const MOST: usize = if cfg!(miri) { 100 } else { 2000 };

    /// Of many lengths, near those at which the representation changes, with many duplicates.
    fn string(rng: &mut Rng) -> Vec<u8> {
        let len = *rng.pick(&[0, 1, 6, 7, 8, 15, 16, 125, 126, 127, 128, 300]);
        let byte = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff]);
        let mut string = vec![byte; len];
        if let Some(last) = string.last_mut() {
            *last = rng.below(30) as u8;
        }
        string
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 100 }))]

        #[test]
        fn strings_are_found_where_they_were_put(seed: u64, many in 1..MOST, step in 1..300usize) {
            let mut rng = Rng::new(seed);
            let mut strings = ByteInterner::default();
            let mut places = HashMap::new();
            for i in 0..many {
                if i % step == 0 {
                    prop_assert_eq!(strings.reserve(step, u64::MAX), Ok(()));
                }
                let string = string(&mut rng);
                let place = strings.intern(&string);
                let is_new = !places.contains_key(&string);
                prop_assert_eq!(*places.entry(string).or_insert(place), place);
                let marked = if i % 2 == 0 { strings.mark(place) } else { strings.mark_alone(place) };
                prop_assert_eq!(marked, visit(!is_new));
            }
            for (string, &place) in &places {
                let mut read = vec![5];
                strings.read(place, &mut read);
                prop_assert_eq!(&read[1..], &string[..]);
                prop_assert_eq!(strings.known(string), Some(place));
            }
            prop_assert_eq!(strings.known(b"another one"), None);
        }

        #[test]
        fn stays_within_its_limit(limit in 0..1u64 << 18, step in 1..300usize) {
            let mut strings = ByteInterner::default();
            let mut numbers = 0u64..;
            while strings.reserve(step, limit) == Ok(()) {
                numbers.by_ref().take(step).for_each(|number| _ = strings.intern(&number.to_le_bytes()));
                prop_assert!(strings.bytes() <= limit);
            }
            // A string takes two words, but room is made for four; and the index exists twice while it grows.
            prop_assert!(numbers.start + step as u64 >= limit.saturating_sub(1024) / 48);
        }
    }

    #[test]
    fn a_string_that_is_too_long_is_kept_all_the_same() {
        let mut strings = ByteInterner::default();
        strings.reserve(4, u64::MAX).unwrap();
        let long = [7; 1000];
        let place = strings.intern(&long);
        assert!(place >= FIRST_OVERFLOW);
        assert_eq!((strings.mark(place), strings.mark_alone(place)), (Visit::New, Visit::Seen));
        let before = strings.bytes();
        assert!(before > 1000, "{before}");
        // From now on there is room for strings of this length.
        strings.reserve(4, u64::MAX).unwrap();
        assert_eq!(strings.intern(&long), place);
        assert!(strings.intern(&[8; 1000]) < FIRST_OVERFLOW);
        let mut read = Vec::new();
        strings.read(place, &mut read);
        assert_eq!(read, long);
    }

    #[test]
    fn there_are_only_so_many_places() {
        let mut strings = ByteInterner::default();
        assert_eq!(strings.reserve(1 << 32, u64::MAX), Err(Full));
        assert_eq!(strings.reserve(usize::MAX, u64::MAX), Err(Full));
        assert_eq!(strings.reserve(1, u64::MAX), Ok(()));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn check(threads: &'static [&'static [&'static str]]) {
        crate::sync::in_every_order(threads.len(), move || {
            let mut strings = ByteInterner::default();
            strings.reserve(threads.concat().len(), u64::MAX).unwrap();
            let strings = Arc::new(strings);
            let spawned: Vec<_> = threads
                .iter()
                .map(|own| {
                    let strings = Arc::clone(&strings);
                    thread::spawn(move || {
                        let intern = |string: &&str| {
                            let place = strings.intern(string.as_bytes());
                            let mut read = Vec::new();
                            strings.read(place, &mut read);
                            assert_eq!(read, string.as_bytes());
                            (place, strings.mark(place))
                        };
                        own.iter().map(intern).collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut marked = Vec::new();
            for (thread, own) in spawned.into_iter().zip(threads) {
                for ((place, visit), string) in thread.join().unwrap().into_iter().zip(*own) {
                    assert_eq!(strings.intern(string.as_bytes()), place);
                    marked.extend((visit == Visit::New).then_some(place));
                }
            }
            let mut places: Vec<_> = threads.concat().iter().map(|one| strings.intern(one.as_bytes())).collect();
            places.sort_unstable();
            places.dedup();
            marked.sort_unstable();
            assert_eq!(marked, places, "each is marked once");
        });
    }

    #[test]
    fn loom_two_threads_put_a_string_into_one_place() {
        check(&[&["a string of two words"], &["a string of two words"]]);
    }

    #[test]
    fn loom_two_threads_put_two_strings_into_two_places() {
        check(&[&["a"], &["b"]]);
    }
}
