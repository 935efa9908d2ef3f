//! Prints a system as text.

mod monitor;
mod phrase;

use super::lex::quote;
use super::names::Names;
use super::{USUAL_PRIORITY, is_plain};
use crate::{
    Action, Block, BlockNode, ChannelType, Edge, Enumeration, Frame, Init, Location, LocationId, NodeId,
    ProcessType, ProcessTypeId, Start, Statement, StatementId, System,
};
use std::fmt::{self, Display, Formatter};

/// The text form of a system. An invalid system, which does not pass [`verify`](crate::verify::verify), is
/// printed as far as possible.
pub fn print(system: &System) -> String {
    Names { system, process: None }.show(system).to_string()
}

/// An item to be printed, and the scope of names.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a, T: ?Sized> {
    names: Names<'a>,
    item: &'a T,
}

impl<'a> Names<'a> {
    pub(crate) fn show<T: ?Sized>(self, item: &'a T) -> Shown<'a, T> {
        Shown { names: self, item }
    }
}

impl Display for Shown<'_, System> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown { names, item: system } = *self;
        write_if(f, system.uses_last, "uses last\n")?;
        write_if(f, system.uses_priorities, "uses priorities\n")?;
        write_if(f, system.oldest_first, "uses oldest_first\n")?;
        write_if(f, system.lazy_messages, "uses lazy_messages\n")?;
        write_if(f, system.reclaims, "uses reclaims\n")?;
        write_if(f, system.joins_atomic, "uses joins_atomic\n")?;
        write_if(f, system.forgives_start, "uses forgives_start\n")?;
        for Enumeration { name, first, members } in &system.enumerations {
            let members: Vec<_> = members.iter().map(|member| Name(member).to_string()).collect();
            writeln!(f, "enum {} from {first} {{ {} }}", Name(name), members.join(", "))?;
        }
        for (id, ChannelType { name, capacity, fields }) in system.channel_types.iter().enumerate() {
            writeln!(f, "channel c{id} {}: {capacity} of ({})", Name(name), names.show(&fields[..]))?;
        }
        if system.globals != Frame::default() {
            writeln!(f, "\nglobals size {}\n{}", system.globals.size, names.show(&system.globals))?;
        }
        write_processes(f, system)?;
        for (condition, statement) in &system.invariants {
            writeln!(f, "invariant {} @{statement}", names.show(condition))?;
        }
        for (condition, statement) in &system.propositions {
            writeln!(f, "proposition {} @{statement}", names.show(condition))?;
        }
        system.monitor.iter().try_for_each(|monitor| write!(f, "{}", names.show(monitor)))?;
        for Start { process_type, priority } in &system.start {
            writeln!(f, "start {}{}", names.show(process_type), Priority(*priority))?;
        }
        write_if(f, !system.start.is_empty(), "\n")?;
        system.statements.iter().enumerate().try_for_each(|(id, statement)| write_statement(f, id, statement))
    }
}

fn write_statement(f: &mut Formatter<'_>, id: usize, statement: &Statement) -> fmt::Result {
    let Statement { text, file, line, column, spin_id, location } = statement;
    write!(f, "s{id}: {} at {}:{line}:{column} spin {spin_id}", quote(text), quote(file))?;
    write_if(f, location.0 != 0, format_args!(" {location}"))?;
    writeln!(f)
}

fn write_processes(f: &mut Formatter<'_>, system: &System) -> fmt::Result {
    let mut edges_before = 0;
    for (id, process) in system.process_types.iter().enumerate() {
        let names = Names { system, process: u16::try_from(id).ok().map(ProcessTypeId) };
        write!(f, "{}", names.show(process))?;
        for (at, location) in process.locations.iter().enumerate() {
            // Numbers without a location are omitted, but the last line must show how many there are.
            if *location != Location::default() || at + 1 == process.locations.len() {
                write_location_head(f, at, location, edges_before)?;
                write!(f, "{}", names.show(location))?;
            }
            edges_before += u64::from(location.count);
        }
        writeln!(f)?;
    }
    Ok(())
}

/// The first edge is printed only if the edges do not follow those printed before.
fn write_location_head(f: &mut Formatter<'_>, at: usize, location: &Location, edges_before: u64) -> fmt::Result {
    let Location { first, count, end, accept, progress } = location;
    let expected = if *count == 0 { 0 } else { edges_before };
    write!(f, "  L{at}:")?;
    write_if(f, *end, " end")?;
    write_if(f, *accept, " accept")?;
    write_if(f, *progress, " progress")?;
    write_if(f, u64::from(*first) != expected, format_args!(" from e{first}"))?;
    writeln!(f)
}

impl Display for Shown<'_, ProcessType> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown { names, item: process } = *self;
        let ProcessType { name, params, frame, locations: _, entry, labels, provided, deterministic, declared_at } =
            process;
        write!(f, "process {} size {} entry {entry} declared {declared_at}", Name(name), frame.size)?;
        write_if(f, *deterministic, " deterministic")?;
        write!(f, "\n{}", names.show(frame))?;
        params.iter().try_for_each(|place| writeln!(f, "  param {}", names.show(place)))?;
        provided.iter().try_for_each(|condition| writeln!(f, "  provided {}", names.show(condition)))?;
        labels.iter().try_for_each(|label| writeln!(f, "  label {} {}", Name(&label.name), label.location))
    }
}

impl Display for Shown<'_, Frame> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for variable in &self.item.variables {
            let shape = self.names.show(&variable.shape);
            writeln!(f, "  var {}: {shape} at {}", Name(&variable.name), variable.offset)?;
        }
        for init in &self.item.init {
            match init {
                Init::Value(place, value) => {
                    writeln!(f, "  let {} = {}", self.names.show(place), self.names.show(value))?;
                }
                Init::Channel(place, channel) => {
                    writeln!(f, "  let {} = new c{}", self.names.show(place), channel.0)?;
                }
            }
        }
        Ok(())
    }
}

impl Display for Shown<'_, Location> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Location { first, count, .. } = *self.item;
        let edges = self.names.system.edges.iter().skip(first as usize).take(count as usize);
        edges.into_iter().try_for_each(|edge| write!(f, "{}", self.names.show(edge)))
    }
}

impl Display for Shown<'_, Edge> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Edge { target, action, atomic, escape, forgets, statement } = self.item;
        write!(f, "    {} -> {}", self.names.show(action), Or(target, "exit"))?;
        write_if(f, *atomic, " atomic")?;
        escape.iter().try_for_each(|group| write!(f, " escape {group}"))?;
        forgets.iter().try_for_each(|place| write!(f, " forgets {}", self.names.show(place)))?;
        writeln!(f, " @{statement}")?;
        if let Action::Deterministic(block) = action {
            write!(f, "{}", self.names.show(&**block))?;
        }
        Ok(())
    }
}

impl Display for Shown<'_, Block> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for action in self.item.entry.actions() {
            writeln!(f, "      enter {}", self.names.show(action))?;
        }
        for (id, node) in self.item.nodes.iter().enumerate() {
            write!(f, "      n{id}: ")?;
            match node {
                BlockNode::Do { action, statement, next } => {
                    writeln!(f, "{} -> {} @{statement}", self.names.show(action), Or(next, "exit"))?;
                }
                BlockNode::Choose { alternatives, statement } => {
                    let alternatives: Vec<_> = alternatives.iter().map(NodeId::to_string).collect();
                    writeln!(f, "choose ({}) @{statement}", alternatives.join(", "))?;
                }
                BlockNode::Jump(next) => writeln!(f, "jump {}", Or(next, "exit"))?,
            }
        }
        Ok(())
    }
}

/// A name, quoted if it would be read as something else.
struct Name<'a>(&'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { f.write_str(&quote(self.0)) }
    }
}

struct Priority(u8);

impl Display for Priority {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_if(f, self.0 != USUAL_PRIORITY, format_args!(" priority {}", self.0))
    }
}

/// A target, or the word for the absence of one.
struct Or<'a, T>(&'a Option<T>, &'static str);

impl<T: Display> Display for Or<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str(self.1),
        }
    }
}

impl Display for LocationId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.0)
    }
}

impl Display for StatementId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl Display for NodeId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

fn write_if(f: &mut Formatter<'_>, condition: bool, text: impl Display) -> fmt::Result {
    if condition { write!(f, "{text}") } else { Ok(()) }
}
