//! What a monitor makes of what is sent and received.

use super::eval::Evaluator;
use crate::monitor::{Direction, Event, Expected, Monitor, Rule};
use crate::{Expr, StatementId};
use entail_model::FaultKind;

/// A message on its way into a channel, or out of it.
pub(super) struct Seen<'a> {
    pub direction: Direction,
    pub channel: i32,
    pub fields: &'a [i32],
}

/// What has become of the watch.
pub(super) struct Watch {
    /// Where the monitor is now.
    pub post: u16,
    pub fault: Option<FaultKind>,
}

/// What the monitor asks cannot be answered.
pub(super) struct Unanswerable(pub StatementId);

type Answered<T> = Result<T, Unanswerable>;

impl Evaluator<'_> {
    /// Where a monitor is after an event; nothing if it was none.
    pub fn watch(&self, monitor: &Monitor, post: usize, seen: &Seen) -> Answered<Option<Watch>> {
        if !self.is_watched(monitor, seen)? {
            return Ok(None);
        }
        let mut fitting = Vec::new();
        for expected in &monitor.posts[post].edges {
            if self.is_expected(expected, seen)? {
                fitting.push(expected.target);
            }
        }
        let over = monitor.over();
        let (post, fault) = match (fitting[..].first(), monitor.rule) {
            (Some(&target), Rule::Forbids) if usize::from(target) == over => {
                (target, Some(FaultKind::ForbiddenEvents))
            }
            (Some(&target), Rule::Forbids | Rule::Requires) => {
                (target, (fitting.len() > 1).then_some(FaultKind::AmbiguousEvent))
            }
            // Only the first attempt counts.
            (None, Rule::Forbids) => (over as u16, None),
            (None, Rule::Requires) => (post as u16, Some(FaultKind::UnexpectedEvent)),
        };
        Ok(Some(Watch { post, fault }))
    }

    fn is_watched(&self, monitor: &Monitor, seen: &Seen) -> Answered<bool> {
        for watched in &monitor.watched {
            if watched.direction == seen.direction && self.is_channel(&watched.channel, seen, watched.statement)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_expected(&self, expected: &Expected, seen: &Seen) -> Answered<bool> {
        let Some(Event { direction, channel, fields }) = &expected.event else { return Ok(true) };
        if *direction != seen.direction || !self.is_channel(channel, seen, expected.statement)? {
            return Ok(false);
        }
        let field = |i: usize| seen.fields.get(i).copied();
        self.fits(fields, field).map_err(|_| Unanswerable(expected.statement))
    }

    fn is_channel(&self, channel: &Expr, seen: &Seen, statement: StatementId) -> Answered<bool> {
        let number = self.eval(channel).map_err(|_| Unanswerable(statement))?;
        Ok(number == seen.channel)
    }
}
