//! An index of the transient states on a path, by hash.

use std::mem::size_of;

use crate::memory_estimate;

/// Finds out whether a transient state is on the path, without scanning the path.
///
/// Linear probing. States leave in the reverse order of their insertion, so emptying a slot never hides another one:
/// all states placed behind it have left before.
#[derive(Debug, Default)]
pub(crate) struct TransientIndex {
    slots: Vec<Slot>,
    len: usize,
}

/// A frame of the path, and the hash of its state.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    frame: u32,
}

const EMPTY: Slot = Slot { hash: 0, frame: u32::MAX };

impl TransientIndex {
    /// Whether a frame with this hash satisfies `is_it`.
    pub fn contains(&self, hash: u32, mut is_it: impl FnMut(usize) -> bool) -> bool {
        let mut at = hash as usize;
        while let Some(slot) = self.occupied(at) {
            if slot.hash == hash && is_it(slot.frame as usize) {
                return true;
            }
            at += 1;
        }
        false
    }

    pub fn push(&mut self, hash: u32, frame: usize) {
        if self.slots.len() < 2 * (self.len + 1) {
            self.grow();
        }
        let frame = u32::try_from(frame).ok().filter(|&frame| frame != EMPTY.frame).expect("a path that fits");
        self.place(Slot { hash, frame });
        self.len += 1;
    }

    /// Removes the frame pushed last.
    pub fn pop(&mut self, hash: u32, frame: usize) {
        let mut at = hash as usize;
        while self.occupied(at).expect("a frame that was pushed").frame as usize != frame {
            at += 1;
        }
        let mask = self.slots.len() - 1;
        self.slots[at & mask] = EMPTY;
        self.len -= 1;
    }

    /// The bytes used now and after the next growth.
    pub fn bytes(&self) -> usize {
        // At most half of the slots are used.
        memory_estimate::table_bytes(self.len, self.slots.len() / 2, 2 * size_of::<Slot>())
    }

    #[inline]
    fn occupied(&self, at: usize) -> Option<Slot> {
        let mask = self.slots.len().checked_sub(1)?;
        Some(self.slots[at & mask]).filter(|slot| slot.frame != EMPTY.frame)
    }

    fn place(&mut self, slot: Slot) {
        let mut at = slot.hash as usize;
        while self.occupied(at).is_some() {
            at += 1;
        }
        let mask = self.slots.len() - 1;
        self.slots[at & mask] = slot;
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(16);
        let mut slots = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        // In insertion order, so that frames can leave in the reverse order.
        slots.retain(|slot| slot.frame != EMPTY.frame);
        slots.sort_unstable_by_key(|slot| slot.frame);
        slots.into_iter().for_each(|slot| self.place(slot));
    }
}
