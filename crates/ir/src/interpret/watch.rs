//! Steps of the monitor.

use super::eval::Evaluator;
use crate::monitor::{Direction, Event, Monitor, MonitorEdge, Rule};
use crate::{Expr, StatementId};
use entail_model::FaultKind;

/// An event: a message that is sent or received.
pub(super) struct ObservedEvent<'a> {
    pub direction: Direction,
    pub channel: i32,
    pub fields: &'a [i32],
}

/// The result of a step of the monitor.
pub(super) struct MonitorStep {
    /// The new state of the monitor.
    pub post: u16,
    pub fault: Option<FaultKind>,
}

/// An expression of the monitor faults.
pub(super) struct MonitorFault(pub StatementId);

type Answered<T> = Result<T, MonitorFault>;

impl Evaluator<'_> {
    /// The step of a monitor with an event; `None` if it does not watch the channel.
    pub fn watch(&self, monitor: &Monitor, post: usize, seen: &ObservedEvent) -> Answered<Option<MonitorStep>> {
        if !self.is_watched(monitor, seen)? {
            return Ok(None);
        }
        let mut fitting = Vec::new();
        for expected in &monitor.states[post].edges {
            if self.is_expected(expected, seen)? {
                fitting.push(expected.target);
            }
        }
        let over = monitor.final_state();
        let (post, fault) = match (fitting[..].first(), monitor.rule) {
            (Some(&target), Rule::Forbids) if usize::from(target) == over => {
                (target, Some(FaultKind::ForbiddenEvents))
            }
            (Some(&target), Rule::Forbids | Rule::Requires) => {
                (target, (fitting.len() > 1).then_some(FaultKind::AmbiguousEvent))
            }
            // A `notrace` considers only the beginning of the run.
            (None, Rule::Forbids) => (over as u16, None),
            (None, Rule::Requires) => (post as u16, Some(FaultKind::UnexpectedEvent)),
        };
        Ok(Some(MonitorStep { post, fault }))
    }

    fn is_watched(&self, monitor: &Monitor, seen: &ObservedEvent) -> Answered<bool> {
        for watched in &monitor.watched {
            if watched.direction == seen.direction && self.is_channel(&watched.channel, seen, watched.statement)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_expected(&self, expected: &MonitorEdge, seen: &ObservedEvent) -> Answered<bool> {
        let Some(Event { direction, channel, fields }) = &expected.event else { return Ok(true) };
        if *direction != seen.direction || !self.is_channel(channel, seen, expected.statement)? {
            return Ok(false);
        }
        let field = |i: usize| seen.fields.get(i).copied();
        self.fits(fields, field).map_err(|_| MonitorFault(expected.statement))
    }

    fn is_channel(&self, channel: &Expr, seen: &ObservedEvent, statement: StatementId) -> Answered<bool> {
        let number = self.eval(channel).map_err(|_| MonitorFault(statement))?;
        Ok(number == seen.channel)
    }
}
