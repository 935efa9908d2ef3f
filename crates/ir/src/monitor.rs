//! Monitors of channels: `trace` and `notrace`.

use crate::{Expr, Pattern, StatementId};

/// An automaton that takes a step with every event on the channels that it watches. It does not influence the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    pub rule: Rule,
    /// The events.
    pub watched: Vec<Watched>,
    /// The first state is initial. The last one is final: it has no edges.
    pub states: Vec<MonitorState>,
}

/// How a monitor judges the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Every event must be accepted, and the run may end only in some states.
    Requires,
    /// The final state must not be reached. An event that is not accepted ends the monitor without a violation.
    Forbids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Send,
    Receive,
}

/// All messages that are sent to a channel, or received from it. Which channel this is may change during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    pub direction: Direction,
    pub channel: Expr,
    pub statement: StatementId,
}

/// A state of a monitor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorState {
    pub edges: Vec<MonitorEdge>,
    /// The run may end here.
    pub end: bool,
}

/// An edge of a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorEdge {
    /// `None`: any event.
    pub event: Option<Event>,
    /// Index into [`Monitor::states`].
    pub target: u16,
    pub statement: StatementId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub direction: Direction,
    pub channel: Expr,
    /// Nothing is stored.
    pub fields: Vec<Pattern>,
}

impl Monitor {
    /// The final state.
    pub fn final_state(&self) -> usize {
        self.states.len() - 1
    }
}
