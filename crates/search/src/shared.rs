//! The data that all workers of a search share, and its safepoints between two expansions, at which the store may grow
//! or degrade, limits are checked, and snapshots are taken.

use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use entail_disk::{Reader, Scratch, Snapshot, Writer, snapshot};
use entail_model::{Full, KeySet, Keys, Model};

use crate::{Checkpointer, Checks, End, Limit, Limits};

/// The data that all workers of a search share.
pub(crate) struct Shared<'a, M, S: ?Sized> {
    pub model: &'a M,
    pub store: &'a mut S,
    pub checks: &'a Checks,
    pub limits: &'a Limits<'a>,
    pub started: Instant,
    pub memory: Memory,
    /// Takes snapshots, if the search supports them.
    pub checkpointer: Option<&'a dyn Checkpointer>,
    pause: Option<Pause>,
}

/// The account of memory in bytes, and its division between the store and everything else.
pub(crate) struct Memory {
    /// Auxiliary memory: the bytes used besides the store and the stack, such as the frontier.
    pub auxiliary: u64,
    /// The least number of bytes that the store must leave for auxiliary memory.
    share: u64,
    /// The number of bytes that the store currently leaves for auxiliary memory.
    left: u64,
    /// Peak total memory.
    peak: u64,
}

/// The division between store and auxiliary memory is not saved: the limits may differ when the search continues.
impl Snapshot for Memory {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.auxiliary.save(to)?;
        self.peak.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Memory> {
        Ok(Memory { auxiliary: Snapshot::load(from)?, peak: Snapshot::load(from)?, ..Memory::default() })
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { auxiliary: 0, share: 0, left: u64::MAX, peak: 0 }
    }
}

/// Why a search pauses at the next safepoint.
#[derive(Clone, Copy)]
enum Pause {
    /// To take a snapshot.
    Snapshot,
    /// To take a snapshot and end.
    End(Limit),
}

/// The store leaves one in this many bytes for auxiliary memory, most of which is spilled.
pub(crate) const SHARE: u64 = 16;

/// How many keys and insertions the store has room for before the next `reserve`.
#[derive(Default)]
pub(crate) struct Capacity {
    pub keys: usize,
    pub inserts: usize,
}

snapshot!(Capacity { keys, inserts });

impl Capacity {
    /// How much room to request at a time: little at first, so that small models take little memory.
    pub fn portion(stored: u64) -> usize {
        stored.clamp(16, 4096) as usize
    }
}

impl<'a, M: Model, S: Keys + ?Sized> Shared<'a, M, S> {
    pub fn new(model: &'a M, store: &'a mut S, checks: &'a Checks, limits: &'a Limits<'a>) -> Self {
        Shared {
            model,
            store,
            checks,
            limits,
            started: Instant::now(),
            memory: Memory::default(),
            checkpointer: None,
            pause: None,
        }
    }

    /// Makes room for `count` keys and states, beside a stack of `stack` bytes.
    pub fn reserve(
        &mut self,
        count: usize,
        stack: u64,
        make_room: impl FnOnce(&mut S, usize, u64) -> Result<(), Full>,
    ) -> Result<Capacity, Full> {
        let Memory { auxiliary, share, .. } = self.memory;
        let limit = self.limits.memory.unwrap_or(u64::MAX);
        let kept = auxiliary + stack;
        make_room(self.store, count, limit.checked_sub(kept.max(share)).ok_or(Full)?)?;
        let bytes = self.store.bytes();
        self.memory.left = limit.saturating_sub(bytes);
        self.memory.peak = self.memory.peak.max(bytes + kept);
        Ok(Capacity { keys: count, inserts: count })
    }

    /// Records the memory in use.
    pub fn note_peak(&mut self) {
        let (store, auxiliary) = (self.store.bytes(), self.memory.auxiliary);
        self.memory.left = self.limits.memory.unwrap_or(u64::MAX).saturating_sub(store);
        self.memory.peak = self.memory.peak.max(store + auxiliary);
    }

    /// The same in a set that counts as auxiliary memory.
    pub fn reserve_in(
        &mut self,
        set: &mut impl KeySet<S::Key>,
        count: usize,
        stack: u64,
    ) -> ControlFlow<End, usize> {
        let before = set.bytes();
        let others = (self.store.bytes() + self.memory.auxiliary + stack).saturating_sub(before);
        let limit = self.limits.memory.unwrap_or(u64::MAX);
        match limit.checked_sub(others).map(|left| set.reserve(count, left)) {
            Some(Ok(())) => {
                self.memory.auxiliary += set.bytes() - before;
                self.memory.peak = self.memory.peak.max(others + set.bytes());
                ControlFlow::Continue(count)
            }
            Some(Err(Full)) | None => ControlFlow::Break(End::Limit(Limit::Memory)),
        }
    }

    /// Whether auxiliary memory exceeds its share.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.memory.auxiliary > self.memory.left
    }

    /// Returns the directory for spill files, if auxiliary memory may be spilled, and reserves memory for the rest.
    pub fn allow_spilling(&mut self) -> Option<&'a Scratch> {
        let scratch = self.limits.scratch?;
        self.memory.share = self.limits.memory? / SHARE;
        Some(scratch)
    }

    /// The bytes in use, besides stacks.
    pub fn bytes(&self) -> u64 {
        self.store.bytes() + self.memory.auxiliary
    }

    /// The peak memory in bytes.
    pub fn peak(&self) -> u64 {
        self.memory.peak.max(self.bytes())
    }

    /// Checks the limits after so many transitions. A search with snapshots pauses at the next safepoint; others end at
    /// once.
    #[cold]
    pub fn look_at_limits(&mut self, transitions: u64) -> ControlFlow<End> {
        let limit = self.limits.reached(self.started);
        let is_stopped = limit == Some(Limit::Interrupted);
        if !is_stopped && self.model.should_restart(transitions) {
            return ControlFlow::Break(End::Limit(Limit::Interrupted));
        }
        match (limit, self.checkpointer) {
            (Some(limit), None) => return ControlFlow::Break(End::Limit(limit)),
            (Some(limit), Some(_)) => self.pause = Some(Pause::End(limit)),
            (None, Some(checkpointer)) if checkpointer.is_due() => self.pause = Some(Pause::Snapshot),
            (None, Some(_) | None) => {}
        }
        ControlFlow::Continue(())
    }

    /// Whether the search must pause.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// Ends the pause, or the search if a limit caused the pause.
    pub fn end_pause(&mut self) -> ControlFlow<End> {
        match self.pause.take() {
            Some(Pause::End(limit)) => ControlFlow::Break(End::Limit(limit)),
            Some(Pause::Snapshot) | None => ControlFlow::Continue(()),
        }
    }
}
