//! What a search needs to go on after it was cut off, and who keeps it.
//!
//! A search is kept where it rests: between two states, with all that it would need to go on as if nothing had happened. What it
//! finds then is what it would have found, to the last count: so whatever decides in which order states are looked up,
//! forgotten or found again is kept too.

use std::fmt;
use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};

use crate::backoff::FastPathBackoff;
use crate::context::Found;
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
snapshot!(Found { error, origin, turns });
snapshot!(FastPathBackoff { rest, pause });

impl Snapshot for ErrorKind {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        match self {
            ErrorKind::Fault(fault) => 0u8.save(to).and_then(|()| fault.save(to)),
            ErrorKind::InvalidEnd => 1u8.save(to),
            ErrorKind::Cycle { begins } => 2u8.save(to).and_then(|()| begins.save(to)),
        }
    }

    fn load(from: &mut Reader) -> io::Result<ErrorKind> {
        Ok(match u8::load(from)? {
            0 => ErrorKind::Fault(Snapshot::load(from)?),
            1 => ErrorKind::InvalidEnd,
            2 => ErrorKind::Cycle { begins: Snapshot::load(from)? },
            _ => return Err(damaged("an error of a kind that there is not")),
        })
    }
}

impl Snapshot for Turn {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        match self {
            Turn::Step(number) => (0u8, *number).save(to),
            Turn::Way(number) => (1u8, *number).save(to),
            Turn::Stay => (2u8, 0u32).save(to),
        }
    }

    fn load(from: &mut Reader) -> io::Result<Turn> {
        match <(u8, u32)>::load(from)? {
            (0, number) => Ok(Turn::Step(number)),
            (1, number) => Ok(Turn::Way(number)),
            (2, _) => Ok(Turn::Stay),
            _ => Err(damaged("a turn of a kind that there is not")),
        }
    }
}
