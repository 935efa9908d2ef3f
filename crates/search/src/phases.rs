//! The phases of a search by several workers, and the time that each takes.

use std::time::{Duration, Instant};

use entail_model::{Named, named};

/// How to measure the phases of a search by several workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Each worker runs in a thread of its own.
    Together,
    /// The workers take turns in one thread, so that they do not compete for the processor, its caches and the memory.
    /// From their times follows the time of a search with as many cores.
    InTurn,
}

/// A phase of a search by several workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All workers queue their new states of the last round, and expand states.
    Expansion,
    /// The partitions of the store look states up.
    Lookup,
    /// All workers queue their last new states of a level.
    Queueing,
    /// One thread does the work of all workers, because there are few states.
    FewStates,
    /// The store is divided into partitions.
    Partitioning,
    /// The states of a level are divided among the workers.
    SharingOut,
    /// The store makes room for keys of long states.
    MakingRoom,
    /// The states that partitions have no memory for, or of a store without partitions, are looked up.
    LookupByOne,
}

named!(Timing { "together" => Together, "in-turn" => InTurn });
named!(Phase { "expansion" => Expansion, "lookup" => Lookup, "queueing" => Queueing, "few_states" => FewStates,
    "partitioning" => Partitioning, "sharing_out" => SharingOut, "making_room" => MakingRoom,
    "lookup_by_one" => LookupByOne });

/// The time of all phases of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTime {
    /// The number of phases.
    pub count: u64,
    /// From the beginning of each phase to its end.
    pub elapsed: Duration,
    /// The time of all workers.
    pub work: Duration,
    /// The time of the worker that took longest in each phase.
    pub longest: Duration,
}

/// The time of the phases of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases([PhaseTime; 8]);

impl Phases {
    /// The time of each kind of phase.
    pub fn all(&self) -> impl Iterator<Item = (Phase, PhaseTime)> {
        Phase::NAMES.iter().map(|(_, phase)| (*phase, self.0[*phase as usize]))
    }

    /// The time of two searches, one after the other.
    pub fn sum(one: Option<Box<Phases>>, other: Option<Box<Phases>>) -> Option<Box<Phases>> {
        let (mut one, other) = match (one, other) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return one.or(other),
        };
        for (time, other) in one.0.iter_mut().zip(other.0) {
            time.count += other.count;
            time.elapsed += other.elapsed;
            time.work += other.work;
            time.longest += other.longest;
        }
        Some(one)
    }

    /// Adds the time of a phase.
    pub(crate) fn add(&mut self, phase: Phase, elapsed: Duration, work: Duration, longest: Duration) {
        let time = &mut self.0[phase as usize];
        time.count += 1;
        time.elapsed += elapsed;
        time.work += work;
        time.longest += longest;
    }

    /// Measures the work of one thread.
    pub(crate) fn alone<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let done = work();
        let elapsed = began.elapsed();
        self.add(phase, elapsed, elapsed, elapsed);
        done
    }
}
