//! Checkpoints of a search.
//!
//! A snapshot is taken between two expansions and contains everything that the rest of the search depends on, including
//! all that determines the order of lookups and the contents of lossy caches. So a resumed search has the same results
//! and the same counts.

use std::fmt;
use std::io;

use entail_disk::{Writer, snapshot};

use crate::backoff::FastPathBackoff;
use crate::stack::PathStep;
use crate::{ErrorKind, Stats};

/// Stores snapshots of a search.
pub trait Checkpointer {
    /// Whether a snapshot is due.
    fn is_due(&self) -> bool;

    /// Stores what `save` writes. Calls `save` again if it has to retry.
    fn keep(&self, save: &dyn Fn(&mut Writer) -> io::Result<()>);
}

impl fmt::Debug for dyn Checkpointer + '_ {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("a keeper")
    }
}

snapshot!(Stats { stored, matched, loops, depth, entered, forgotten });
snapshot!(FastPathBackoff { rest, pause });

snapshot!(enum ErrorKind { 0 => Fault(fault), 1 => InvalidEnd, 2 => Cycle { begins } });
snapshot!(enum PathStep { 0 => Step(number), 1 => Successor(number), 2 => ExpandFurther });
