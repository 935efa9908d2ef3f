//! What a search needs to go on after it was cut off, and who keeps it.
//!
//! A search is kept where it rests: between two states, with all that it would need to go on as if nothing had happened. What it
//! finds then is what it would have found, to the last count: so whatever decides in which order states are looked up,
//! forgotten or found again is kept too.

use std::fmt;
use std::io;

use entail_disk::{Writer, snapshot};

use crate::backoff::FastPathBackoff;
use crate::stack::Turn;
use crate::{ErrorKind, Stats};

/// Somebody who keeps what a search would need to go on.
pub trait Checkpointer {
    /// Whether it is time to do so again.
    fn is_due(&self) -> bool;

    /// Keeps what `save` writes; more than once, if it must try again.
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
snapshot!(enum Turn { 0 => Step(number), 1 => Way(number), 2 => Stay });
