//! The exact store: every state whole, found again by a hash table of places.

use std::mem::size_of;

use entail_model::{Guarantee, InOrder, Position, State, StateBuf, Store, Visit};
use rapidhash::v3::rapidhash_v3;

use crate::arena::Arena;

/// Keeps whole states in the order of their first visit: about 12 bytes a state on top of the state itself, and
/// never more than 16.
///
/// States lie in an arena. The table over it is open-addressed with linear probing; a slot packs a tag (the low
/// bits of the hash, so that nearly every comparison of states is one that succeeds) with a place in the arena.
/// The table is rebuilt from the states when it grows; so the old one is given back first, and
/// [`bytes`](Store::bytes) is also the peak.
#[derive(Debug)]
pub struct Exact {
    arena: Arena,
    slots: Vec<Slot>,
    len: usize,
    limit: usize,
}

impl Exact {
    pub fn new() -> Exact {
        Exact::with_limit(u64::MAX)
    }

    /// A store that never occupies more than `bytes`, and is full when it would have to.
    pub fn with_limit(bytes: u64) -> Exact {
        let limit = usize::try_from(bytes).unwrap_or(usize::MAX);
        Exact { arena: Arena::default(), slots: vec![Slot::EMPTY; FEWEST_SLOTS], len: 0, limit }
    }

    /// The slot of `state`, or the one where it belongs.
    #[inline]
    fn find(&self, hash: u64, state: &State) -> Result<usize, usize> {
        let mut at = home(hash, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == Slot::EMPTY {
                return Err(at);
            }
            if slot.tag() == tag(hash) && self.arena.get(slot.place()) == state {
                return Ok(at);
            }
            at = next(at, self.slots.len());
        }
    }

    fn has_room_for(&self, state: &State) -> bool {
        self.arena.end() < LAST_PLACE
            && !self.is_loaded(FULL)
            && self.total() + self.arena.growth(state.len()) <= self.limit
    }

    fn grow_if_crowded(&mut self) {
        let slots = self.slots.len() / 2 * 3;
        if self.is_loaded(CROWDED) && self.arena.bytes() + slots * size_of::<Slot>() <= self.limit {
            self.rebuild(slots);
        }
    }

    fn is_loaded(&self, percent: usize) -> bool {
        self.len * 100 >= self.slots.len() * percent
    }

    fn rebuild(&mut self, slots: usize) {
        self.slots = Vec::new();
        self.slots = vec![Slot::EMPTY; slots];
        let mut earliest = 0;
        for _ in 0..self.len {
            let entry = self.arena.next(earliest);
            let hash = rapidhash_v3(entry.state);
            let mut at = home(hash, slots);
            while self.slots[at] != Slot::EMPTY {
                at = next(at, slots);
            }
            self.slots[at] = Slot::new(hash, entry.place);
            earliest = entry.after;
        }
    }

    fn total(&self) -> usize {
        self.arena.bytes() + self.slots.capacity() * size_of::<Slot>()
    }
}

impl Default for Exact {
    fn default() -> Exact {
        Exact::new()
    }
}

impl Store for Exact {
    #[inline]
    fn visit(&mut self, state: &State) -> Visit {
        let hash = rapidhash_v3(state);
        let Err(at) = self.find(hash, state) else { return Visit::Seen };
        if !self.has_room_for(state) {
            return Visit::Full;
        }
        self.slots[at] = Slot::new(hash, self.arena.append(state));
        self.len += 1;
        self.grow_if_crowded();
        Visit::New
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.total() as u64
    }
}

impl InOrder for Exact {
    #[inline]
    fn read(&self, position: Position, state: &mut StateBuf) -> Position {
        let entry = self.arena.next(position.0);
        state.clear();
        state.extend_from_slice(entry.state);
        Position(entry.after)
    }

    fn end(&self) -> Position {
        Position(self.arena.end())
    }
}

const FEWEST_SLOTS: usize = 64;
/// The load, in percent, at which the table grows by half: it is then never less than 58% full, which is what
/// keeps a state's share of it below 14 bytes.
const CROWDED: usize = 87;
/// The load that is still borne when the memory limit forbids to grow.
const FULL: usize = 96;

/// One more than a place in the arena, below a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u64);

const PLACE_BITS: u32 = 40;
/// A little less than can be packed, as the arena may skip the rest of a chunk.
const LAST_PLACE: u64 = (1 << PLACE_BITS) - (1 << 21);

impl Slot {
    const EMPTY: Slot = Slot(0);

    fn new(hash: u64, place: u64) -> Slot {
        debug_assert!(place + 1 < 1 << PLACE_BITS);
        Slot(tag(hash) << PLACE_BITS | (place + 1))
    }

    fn tag(self) -> u64 {
        self.0 >> PLACE_BITS
    }

    fn place(self) -> u64 {
        (self.0 & ((1 << PLACE_BITS) - 1)) - 1
    }
}

/// The low bits of the hash: [`home`] depends on the high ones.
fn tag(hash: u64) -> u64 {
    hash & ((1 << (u64::BITS - PLACE_BITS)) - 1)
}

fn home(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> u64::BITS) as usize
}

fn next(slot: usize, slots: usize) -> usize {
    if slot + 1 == slots { 0 } else { slot + 1 }
}
