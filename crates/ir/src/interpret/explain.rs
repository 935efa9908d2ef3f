//! Steps and faults as text.

use super::{Interpreter, Offer, ProcessView, Step, View};
use crate::{Action, Edge, Statement};
use entail_model::{Fault, FaultKind, State};
use std::borrow::Cow;

/// A step as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained<'s> {
    pub process: usize,
    pub process_name: &'s str,
    pub statement: Cow<'s, Statement>,
    /// Whether the process had another enabled step.
    pub is_choice: bool,
    /// The statement of the receiver in a rendezvous.
    pub partner: Option<(usize, &'s str, &'s Statement)>,
    /// The number of the channel and the message of a rendezvous.
    pub handed: Option<(i32, String)>,
    /// The text that it prints.
    pub output: Option<String>,
}

impl Explained<'_> {
    /// Appends a further part of an atomic sequence: its statement and its output.
    pub fn join(&mut self, more: &Explained) {
        if more.is_choice {
            let chosen = format!(" [{}]", more.statement.text);
            self.statement.to_mut().text += &chosen;
        }
        if let Some(output) = &more.output {
            self.output.get_or_insert_default().push_str(output);
        }
    }
}

impl<'s> Interpreter<'s> {
    /// Explains an enabled step.
    pub fn explain(&self, step: Step, state: &State) -> Explained<'s> {
        let view = self.view(state);
        let name_of = |process: usize| {
            let process_type = view.processes[process].process_type;
            self.system.process_type(process_type).name.as_str()
        };
        let edge = self.system.edge(step.edge());
        let partner = step.partner().map(|(partner, edge)| {
            (partner, name_of(partner), self.system.statement(self.system.edge(edge).statement))
        });
        let ProcessView { process_type, location, .. } = view.processes[step.process()];
        let here = &self.system.process_type(process_type).locations[location.index()];
        Explained {
            process: step.process(),
            process_name: name_of(step.process()),
            statement: Cow::Borrowed(self.system.statement(edge.statement)),
            is_choice: here.count > 1,
            partner,
            handed: step.partner().and_then(|_| self.handed(edge, state, &view, step.process())),
            output: self.output(step, state),
        }
    }

    /// A fault as text, without its location.
    pub fn describe(&self, fault: Fault) -> String {
        let text = self.system.statements.get(fault.place as usize).map_or("", |statement| &statement.text);
        match fault.kind {
            FaultKind::Assertion => {
                let condition = text.strip_prefix("assert").unwrap_or(text);
                format!("assertion violated: {}", unparenthesised(condition))
            }
            FaultKind::Index => format!("array index out of range in `{text}`"),
            FaultKind::Invariant => format!("invariant violated: {text}"),
            FaultKind::Range => format!("value out of range in `{text}`"),
            FaultKind::ListEmpty => format!("the list in `{text}` is empty"),
            FaultKind::ListFull => format!("the list in `{text}` is full"),
            FaultKind::NoAlternative => format!("no alternative is possible at `{text}`"),
            FaultKind::NotOwner => format!("the thread that runs `{text}` does not hold the lock"),
            FaultKind::DivisionByZero => format!("division by zero in `{text}`"),
            FaultKind::NoChannel => format!("the channel in `{text}` is not initialised"),
            FaultKind::MessageFields => {
                format!("the message in `{text}` has another number of fields than the channel")
            }
            FaultKind::Rendezvous => {
                format!("`{text}`: a rendezvous channel cannot be polled, or sent to inside a d_step")
            }
            FaultKind::TooManyProcesses => {
                format!("`{text}` starts more than {} processes", super::MAX_PROCESSES)
            }
            FaultKind::TooManyThreads => format!("`{text}` starts more than {} threads", super::MAX_PROCESSES),
            FaultKind::TooManyChannels => format!("`{text}` makes more than {} channels", super::MAX_CHANNELS),
            FaultKind::Priority => format!("the priority in `{text}` is not 1 to 255"),
            FaultKind::SelfReference => {
                format!("`{text}`: `enabled` refers to the process that evaluates it, directly or through others")
            }
            FaultKind::Blocked => format!("`{text}` blocks inside a deterministic sequence"),
            FaultKind::Endless => format!("the deterministic sequence around `{text}` does not end"),
            FaultKind::TooLong => {
                let most = crate::Block::LIMIT;
                format!("the deterministic sequence around `{text}` takes too long, or more than {most} steps")
            }
            FaultKind::Choice => format!("`{text}` is not the only choice of a D_proctype"),
            FaultKind::Proposition => format!("`{text}` cannot be evaluated"),
            FaultKind::ClaimEnd => format!("the claim reaches its end at `{text}`"),
            FaultKind::Refuted => fault.kind.words().into(),
            FaultKind::UnexpectedEvent => format!("`{text}` is not what the trace expects"),
            FaultKind::ForbiddenEvents => format!("the notrace reaches its end at `{text}`"),
            FaultKind::AmbiguousEvent => format!("`{text}` matches the trace in two ways"),
            FaultKind::StateSize => format!("`{text}`: the state would exceed {} bytes", super::MAX_STATE_BYTES),
        }
    }

    /// The message of a rendezvous, and the number of the channel.
    fn handed(&self, edge: &Edge, state: &State, view: &View, sender: usize) -> Option<(i32, String)> {
        let Action::Send(send) = &edge.action else { return None };
        let evaluator = self.evaluator(state, view, sender);
        let Offer { channel, fields } = evaluator.offer_of(send).ok()?;
        let fields = fields.ok()?;
        let types = &evaluator.channel_type(&send.channel).ok()?.fields;
        let shown = fields.iter().zip(types).map(|(&value, &scalar)| self.show_number(value, scalar));
        Some((channel, shown.collect::<Vec<_>>().join(",")))
    }

    /// The text that a step prints, if it may print.
    fn output(&self, step: Step, state: &State) -> Option<String> {
        let edges = [Some(step.edge()), step.partner().map(|(_, edge)| edge)];
        let prints = edges.into_iter().flatten().any(|edge| self.system.edge(edge).action.may_print());
        prints.then(|| self.printed(step, state)).filter(|printed| !printed.is_empty())
    }

    /// `%e` does not name an enumeration; like SPIN, take the first that contains the number.
    pub(super) fn member_name(&self, value: i32) -> String {
        let mut names = self.system.enumerations.iter().filter_map(|enumeration| enumeration.name_of(value));
        names.next().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// `printf` with Promela's conversions `%d %i %u %c %e %o %x`.
    pub(super) fn formatted(&self, format: &str, args: &[i32]) -> String {
        let mut text = String::new();
        let mut args = args.iter().copied();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => text.push('%'),
                Some('c') => text.extend(args.next().and_then(|value| char::from_u32(value as u32))),
                Some('e') => text.extend(args.next().map(|value| self.member_name(value))),
                Some('o') => text.extend(args.next().map(|value| format!("{value:o}"))),
                Some('x') => text.extend(args.next().map(|value| format!("{value:x}"))),
                Some('u') => text.extend(args.next().map(|value| (value as u32).to_string())),
                Some(_) => text.extend(args.next().map(|value| value.to_string())),
                None => text.push('%'),
            }
        }
        text
    }
}

/// Without the parentheses around the whole, if there are any.
fn unparenthesised(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    unparenthesised(inner)
}
