//! Parses monitors.

use super::reader::{Parsed, Reader};
use super::{Parser, Section, in_order};
use crate::monitor::{Direction, Event, Monitor, MonitorEdge, MonitorState, Rule, Watched};
use crate::text::lex::Token;

impl Parser {
    pub(super) fn monitor(&mut self, tokens: &[Token]) -> Parsed<()> {
        // It has no access to processes.
        self.enter_section(Section::None);
        let rule = self.line("monitor", tokens, |line| {
            if line.eat_word("forbids") {
                return Ok(Rule::Forbids);
            }
            line.word("requires").map(|()| Rule::Requires)
        })?;
        let monitor = Monitor { rule, watched: Vec::new(), states: Vec::new() };
        match self.system.monitor.replace(monitor) {
            Some(_) => Err("there is another monitor".to_owned()),
            None => Ok(()),
        }
    }

    pub(super) fn watched(&mut self, tokens: &[Token]) -> Parsed<()> {
        let watched = self.line("watch", tokens, |line| {
            let channel = line.operand()?;
            Ok(Watched { direction: line.direction()?, channel, statement: line.statement_id()? })
        })?;
        self.open_monitor()?.watched.push(watched);
        Ok(())
    }

    pub(super) fn post(&mut self, tokens: &[Token]) -> Parsed<()> {
        let (id, end): (u64, bool) = self.reader(tokens).all(|line| {
            let id = line.id('M')?;
            line.symbol(":")?;
            Ok((id, line.eat_word("end")))
        })?;
        let states = &mut self.open_monitor()?.states;
        in_order('M', id, states.len())?;
        states.push(MonitorState { edges: Vec::new(), end });
        Ok(())
    }

    pub(super) fn expected(&mut self, tokens: &[Token]) -> Parsed<()> {
        let expected = self.line("expect", tokens, Reader::expected)?;
        let post = self.open_monitor()?.states.last_mut();
        post.ok_or("this must follow a state of the monitor")?.edges.push(expected);
        Ok(())
    }

    fn open_monitor(&mut self) -> Parsed<&mut Monitor> {
        self.system.monitor.as_mut().ok_or_else(|| "this belongs into a monitor".to_owned())
    }
}

impl Reader<'_> {
    fn expected(&mut self) -> Parsed<MonitorEdge> {
        let event = if self.eat_word("any") { None } else { Some(self.event()?) };
        self.symbol("->")?;
        Ok(MonitorEdge { event, target: self.id('M')?, statement: self.statement_id()? })
    }

    fn event(&mut self) -> Parsed<Event> {
        let channel = self.operand()?;
        Ok(Event { direction: self.direction()?, channel, fields: self.list("(", ")", Self::pattern)? })
    }

    fn direction(&mut self) -> Parsed<Direction> {
        if self.eat("!") {
            return Ok(Direction::Send);
        }
        self.symbol("?").map(|()| Direction::Receive)
    }
}
