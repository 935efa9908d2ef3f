//! A dictionary that assigns consecutive ids to values, from 1.
//!
//! ```text
//! index:   ─ ─ 2 ─ 4 1 ─ ─ 3 ─      open addressing; by the hash of a value
//! values:  ─ a b c d                by id
//! ```
//!
//! Two threads may add the same value at once. Each of them writes it under its own id, but only one enters its id into
//! the index, and both use that id; the other one is wasted.

use crate::memory::Zeroed;
use crate::mix::Mix;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use entail_disk::{Reader, Snapshot, Writer, damaged};
use entail_model::Full;
use std::io;

/// Ids are smaller than 2 to the power of this. The other bits of a slot are a tag, which avoids most comparisons with
/// other values.
pub(crate) const ID_BITS: u32 = 28;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

const FEWEST_VALUES: usize = if cfg!(loom) { 2 } else { 64 };
/// From this number of values on, the capacity grows by half; before, it doubles.
const MANY_VALUES: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Dictionary {
    values: Zeroed<AtomicU64>,
    index: Zeroed<AtomicU32>,
    next: AtomicU32,
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        Dictionary { values: Zeroed::default(), index: Zeroed::default(), next: AtomicU32::new(1) }
    }
}

/// Includes the index, which decides which of two ids of a value is valid.
impl Snapshot for Dictionary {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.values.save(to)?;
        self.index.save(to)?;
        self.next_id().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Dictionary> {
        let (values, index, next) = (Zeroed::load(from)?, Zeroed::load(from)?, u32::load(from)?);
        let fits = index.len() == slots(values.len()) && next > 0 && next as usize <= values.len().max(1);
        if !fits {
            return Err(damaged("a dictionary whose index does not match its values"));
        }
        Ok(Dictionary { values, index, next: AtomicU32::new(next) })
    }
}

impl Dictionary {
    /// The id of a value, which is added if it is new.
    #[inline]
    pub fn id(&self, value: u64) -> u32 {
        let hash = hash(value);
        let mut at = home(hash, self.index.len());
        loop {
            let slot = self.index[at].load(Ordering::Acquire);
            if slot == 0 {
                return self.add(value, at);
            }
            if self.is(slot, hash, value) {
                return slot & ID_MASK;
            }
            at = after(at, self.index.len());
        }
    }

    /// Prefetches the memory for a lookup of the value.
    #[inline]
    pub fn prefetch(&self, value: u64) {
        self.index.get(home(hash(value), self.index.len())).inspect(|slot| crate::prefetch(*slot));
    }

    #[inline]
    pub fn value(&self, id: u32) -> u64 {
        self.values[id as usize].load(Ordering::Relaxed)
    }

    /// Greater than every id so far.
    pub fn next_id(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        (self.values.bytes() + self.index.bytes()) as u64
    }

    /// Makes room for `count` more calls of [`Dictionary::id`], within `limit` bytes.
    pub fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let wanted = self.next_id() as usize + count;
        if wanted <= self.values.len() {
            return Ok(());
        }
        if wanted > 1 << ID_BITS {
            return Err(Full);
        }
        let now = self.values.len();
        let more = if now < MANY_VALUES { 2 * now } else { now / 2 * 3 };
        let generous = more.max(wanted).clamp(FEWEST_VALUES, 1 << ID_BITS);
        let room = [generous, wanted].into_iter().find(|&room| self.bytes_to_grow(room) <= limit);
        self.grow(room.ok_or(Full)?)
    }

    /// Adds a value that is not in the index, at the first free slot from `at` on.
    #[cold]
    fn add(&self, value: u64, mut at: usize) -> u32 {
        let hash = hash(value);
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.values[id as usize].store(value, Ordering::Relaxed);
        loop {
            let slot = id | tag(hash);
            match self.index[at].compare_exchange(0, slot, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return id,
                Err(slot) if self.is(slot, hash, value) => return slot & ID_MASK,
                Err(_) => at = after(at, self.index.len()),
            }
        }
    }

    #[inline]
    fn is(&self, slot: u32, hash: u64, value: u64) -> bool {
        slot & !ID_MASK == tag(hash) && self.value(slot & ID_MASK) == value
    }

    /// The bytes in use while it grows to `room` values.
    fn bytes_to_grow(&self, room: usize) -> u64 {
        let values = room * size_of::<AtomicU64>() + self.values.extra_to_grow();
        let index = slots(room) * size_of::<AtomicU32>() + self.index.bytes();
        (values + index) as u64
    }

    fn grow(&mut self, room: usize) -> Result<(), Full> {
        let index = Zeroed::<AtomicU32>::new(slots(room))?;
        self.values.grow(room)?;
        // Only ids in the index: wasted ones must not be found.
        for slot in self.index.iter().map(|slot| slot.load(Ordering::Relaxed)).filter(|&slot| slot != 0) {
            let mut at = home(hash(self.value(slot & ID_MASK)), index.len());
            while index[at].load(Ordering::Relaxed) != 0 {
                at = after(at, index.len());
            }
            index[at].store(slot, Ordering::Relaxed);
        }
        self.index = index;
        Ok(())
    }
}

/// The number of slots: half of them stay empty, so that probe sequences are short.
fn slots(values: usize) -> usize {
    2 * values
}

#[inline]
fn hash(value: u64) -> u64 {
    Mix::new(u64::BITS).scatter(value)
}

/// The slot of a hash in a table.
#[inline]
pub(crate) fn home(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

/// The slot depends on the high bits of the hash, so the tag consists of low bits.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash as u32) & !ID_MASK
}

/// The slot after one, around the end of the table.
#[inline]
pub(crate) fn after(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashMap;

    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::*;

    const MANY: usize = if cfg!(miri) { 200 } else { 3000 };
    /// In bytes.
    const LARGEST: u64 = if cfg!(miri) { 6_000 } else { 100_000 };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 200 }))]

        #[test]
        fn values_have_ids_in_the_order_of_their_coming(seed: u64, many in 1..MANY, step in 1..300usize) {
            let mut rng = Rng::new(seed);
            let mut dictionary = Dictionary::default();
            let mut ids = HashMap::new();
            let (mask, shift) = (*rng.pick(&[u64::MAX, 0xff, 0xfff0_0000_0000_0003]), rng.below(64));
            for i in 0..many {
                if i % step == 0 {
                    prop_assert_eq!(dictionary.reserve(step, u64::MAX), Ok(()));
                }
                let value = rng.bits() >> shift & mask;
                let next = ids.len() as u32 + 1;
                let id = *ids.entry(value).or_insert(next);
                prop_assert_eq!(dictionary.id(value), id);
                prop_assert_eq!(dictionary.value(id), value);
            }
            prop_assert_eq!(dictionary.next_id() as usize, ids.len() + 1);
            for (&value, &id) in &ids {
                prop_assert_eq!(dictionary.id(value), id);
                prop_assert_eq!(dictionary.value(id), value);
            }
        }

        #[test]
        fn stays_within_its_limit(limit in 0..LARGEST, step in 1..300usize) {
            let mut dictionary = Dictionary::default();
            let mut values = 0u64..;
            while dictionary.reserve(step, limit) == Ok(()) {
                values.by_ref().take(step).for_each(|value| _ = dictionary.id(value));
                prop_assert!(dictionary.bytes() <= limit);
            }
            // Only the old index is needed besides the new one.
            prop_assert!(u64::from(dictionary.next_id()) + step as u64 >= limit.saturating_sub(1024) / 32);
        }
    }

    #[test]
    fn threads_agree_on_ids_and_still_do_after_growing() {
        let count = if cfg!(miri) { 100 } else { 20_000u64 };
        let mut dictionary = Dictionary::default();
        // As many calls as there will be: every thread may waste an id on each value.
        dictionary.reserve(4 * count as usize, u64::MAX).unwrap();
        let ids = |thread: u64| -> Vec<u32> {
            let order = (0..count).map(|i| if thread.is_multiple_of(2) { i } else { i ^ 1 });
            let mut ids = vec![0; count as usize];
            order.for_each(|i| ids[i as usize] = dictionary.id(i << 40));
            ids
        };
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || ids(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|ids| *ids == all[0]));
        dictionary.reserve(40 * count as usize, u64::MAX).unwrap();
        for (i, &id) in (0..).zip(&all[0]) {
            assert_eq!(dictionary.value(id), i << 40);
            assert_eq!(dictionary.id(i << 40), id);
        }
    }

    #[test]
    fn a_wasted_id_is_not_found_after_growing() {
        let mut dictionary = Dictionary::default();
        dictionary.reserve(10, u64::MAX).unwrap();
        let id = dictionary.id(5);
        // The wasted id of a thread that lost a race.
        let wasted = dictionary.next.fetch_add(1, Ordering::Relaxed);
        dictionary.values[wasted as usize].store(5, Ordering::Relaxed);
        dictionary.reserve(1000, u64::MAX).unwrap();
        assert_eq!(dictionary.id(5), id);
        assert_eq!(dictionary.id(6), wasted + 1);
    }

    #[test]
    fn there_are_only_so_many_ids() {
        let mut dictionary = Dictionary::default();
        assert_eq!(dictionary.reserve(1 << ID_BITS, u64::MAX), Err(Full));
        dictionary.next.store((1 << ID_BITS) - 5, Ordering::Relaxed);
        assert_eq!(dictionary.reserve(6, u64::MAX), Err(Full));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn check(threads: &'static [&'static [u64]]) {
        crate::sync::in_every_order(threads.len(), move || {
            let mut dictionary = Dictionary::default();
            dictionary.reserve(threads.concat().len(), u64::MAX).unwrap();
            let dictionary = Arc::new(dictionary);
            let spawned: Vec<_> = threads
                .iter()
                .map(|values| {
                    let dictionary = Arc::clone(&dictionary);
                    thread::spawn(move || {
                        let ids: Vec<u32> = values.iter().map(|&value| dictionary.id(value)).collect();
                        assert!(ids.iter().zip(*values).all(|(&id, &value)| dictionary.value(id) == value));
                        ids
                    })
                })
                .collect();
            for (thread, values) in spawned.into_iter().zip(threads) {
                let ids = thread.join().unwrap();
                assert!(ids.iter().zip(*values).all(|(&id, &value)| dictionary.id(value) == id));
            }
        });
    }

    #[test]
    fn loom_two_threads_get_the_same_id() {
        check(&[&[5], &[5]]);
    }

    #[test]
    fn loom_two_threads_get_the_same_ids_in_different_orders() {
        check(&[&[5, 6], &[6, 5]]);
    }

    #[test]
    fn loom_three_threads_share_a_small_index() {
        check(&[&[5], &[6], &[5]]);
    }
}
