//! Watching what is sent and received.

use crate::{Expr, Pattern, StatementId};

/// An automaton that takes a step with every event on the channels it watches. It only looks: a system with a monitor
/// does what it does without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    pub rule: Rule,
    /// What counts as an event, wherever the monitor is.
    pub watched: Vec<Watched>,
    /// The monitor begins at the first post. At the last one, from which nothing leads on, it is over.
    pub posts: Vec<Post>,
}

/// What a monitor says about the events it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each must fit, and the run may end only at some posts.
    Requires,
    /// They must not lead to the end. What does not fit is harmless, and so is all that comes after it.
    Forbids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Send,
    Receive,
}

/// All messages that go into a channel, or come out of it. Which one that is may change during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    pub direction: Direction,
    pub channel: Expr,
    pub statement: StatementId,
}

/// Where a monitor can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Post {
    pub edges: Vec<Expected>,
    /// The run may end here.
    pub end: bool,
}

/// Something that a monitor goes on with.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// `None`: whatever is watched.
    pub event: Option<Event>,
    /// Index into [`Monitor::posts`].
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
    /// The post where it is over.
    pub fn over(&self) -> usize {
        self.posts.len() - 1
    }
}
