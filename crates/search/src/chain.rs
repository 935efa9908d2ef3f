//! Where the transient states of a path lie, by hash.

use std::mem::size_of;

use crate::memory_estimate;

/// Says of a transient state whether it already lies on the path, without looking at all of the path.
///
/// Linear probing. States leave in the reverse order of their coming, so that emptying the last one's slot never
/// hides another: whatever was placed behind it has left before.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    slots: Vec<Slot>,
    len: usize,
}

/// A frame of the path, and the hash of the state in it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    frame: u32,
}

const EMPTY: Slot = Slot { hash: 0, frame: u32::MAX };

impl Chain {
    /// Whether some frame with this hash is the one looked for.
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

    /// Forgets the frame pushed last.
    pub fn pop(&mut self, hash: u32, frame: usize) {
        let mut at = hash as usize;
        while self.occupied(at).expect("a frame that was pushed").frame as usize != frame {
            at += 1;
        }
        let mask = self.slots.len() - 1;
        self.slots[at & mask] = EMPTY;
        self.len -= 1;
    }

    /// What it takes, or soon will.
    pub fn bytes(&self) -> usize {
        // A slot is left free for each that is in use.
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
        // In the order of their coming, so that they can still leave in the reverse one.
        slots.retain(|slot| slot.frame != EMPTY.frame);
        slots.sort_unstable_by_key(|slot| slot.frame);
        slots.into_iter().for_each(|slot| self.place(slot));
    }
}
