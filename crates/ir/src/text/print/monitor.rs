//! Prints monitors.

use super::{Shown, write_if};
use crate::monitor::{Direction, Event, Monitor, MonitorEdge, MonitorState, Rule, Watched};
use std::fmt::{self, Display, Formatter};

impl Display for Shown<'_, Monitor> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Monitor { rule, watched, states } = self.item;
        writeln!(f, "monitor {rule}")?;
        for Watched { direction, channel, statement } in watched {
            writeln!(f, "  watch {} {direction} @{statement}", self.names.operand(channel))?;
        }
        for (id, MonitorState { edges, end }) in states.iter().enumerate() {
            write!(f, "  M{id}:")?;
            write_if(f, *end, " end")?;
            writeln!(f)?;
            edges.iter().try_for_each(|edge| write!(f, "{}", self.names.show(edge)))?;
        }
        writeln!(f)
    }
}

impl Display for Shown<'_, MonitorEdge> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let MonitorEdge { event, target, statement } = self.item;
        f.write_str("    expect ")?;
        match event {
            Some(Event { direction, channel, fields }) => {
                let (channel, fields) = (self.names.operand(channel), self.names.show(&fields[..]));
                write!(f, "{channel} {direction} ({fields})")?;
            }
            None => f.write_str("any")?,
        }
        writeln!(f, " -> M{target} @{statement}")
    }
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Send => "!",
            Direction::Receive => "?",
        })
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Requires => "requires",
            Rule::Forbids => "forbids",
        })
    }
}
