//! States and steps in words.

use super::layout::load;
use super::{ChannelView, Interpreter, ProcessView, Step, View};
use crate::{Action, Edge, Frame, Meaning, Scalar, Shape, Statement};
use entail_model::{Fault, FaultKind, State};

/// A step in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained<'s> {
    pub process: usize,
    pub process_name: &'s str,
    pub statement: &'s Statement,
    /// What the other side of a rendezvous does.
    pub partner: Option<(usize, &'s str, &'s Statement)>,
    /// What it prints, if anything.
    pub output: Option<String>,
}

/// A variable, a channel or a process that is not what it was. Empty text stands for "not there".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub name: String,
    pub before: String,
    pub after: String,
}

impl<'s> Interpreter<'s> {
    /// What `step` does in `state`, in which it is enabled.
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
        Explained {
            process: step.process(),
            process_name: name_of(step.process()),
            statement: self.system.statement(edge.statement),
            partner,
            output: self.output(edge, state, &view, step.process()),
        }
    }

    /// Everything in the state that has a name, with its value, in a fixed order.
    pub fn values(&self, state: &State) -> Vec<(String, String)> {
        let view = self.view(state);
        let mut values = Vec::new();
        self.frame_values(&self.system.globals, self.layout.globals, state, &view, "", &mut values);
        for (number, process) in view.processes.iter().enumerate() {
            self.process_values(number, *process, state, &view, &mut values);
        }
        values
    }

    /// What is different in `after`.
    pub fn changes(&self, before: &State, after: &State) -> Vec<Change> {
        let (before, after) = (self.values(before), self.values(after));
        let value_of = |values: &[(String, String)], name: &str| {
            values.iter().find(|(other, _)| other == name).map_or(String::new(), |(_, value)| value.clone())
        };
        let mut changes = Vec::new();
        for (name, value) in &after {
            let old = value_of(&before, name);
            if old != *value {
                changes.push(Change { name: name.clone(), before: old, after: value.clone() });
            }
        }
        for (name, value) in before {
            if !after.iter().any(|(other, _)| *other == name) {
                changes.push(Change { name, before: value, after: String::new() });
            }
        }
        changes
    }

    /// A fault in words, without its place.
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
            FaultKind::NotOwner => format!("the lock in `{text}` is not held by who runs it"),
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
            FaultKind::TooManyChannels => format!("`{text}` makes more than {} channels", super::MAX_CHANNELS),
            FaultKind::Priority => format!("the priority in `{text}` is not 1 to 255"),
            FaultKind::SelfReference => {
                format!(
                    "`{text}`: a process asks whether it is enabled itself, or processes ask each other in a circle"
                )
            }
            FaultKind::Blocked => format!("`{text}` blocks inside an indivisible sequence"),
            FaultKind::Endless => format!("the indivisible sequence around `{text}` does not end"),
            FaultKind::Choice => format!("`{text}` is not the only choice of a D_proctype"),
            FaultKind::Proposition => format!("`{text}` cannot be evaluated"),
            FaultKind::ClaimEnd => format!("the claim comes to its end with `{text}`"),
            FaultKind::Refuted => fault.kind.words().into(),
            FaultKind::UnexpectedEvent => format!("`{text}` is not what the trace expects"),
            FaultKind::ForbiddenEvents => format!("the notrace comes to its end with `{text}`"),
            FaultKind::AmbiguousEvent => format!("`{text}` fits the trace in two ways"),
            FaultKind::StateSize => format!("`{text}`: the state would exceed {} bytes", super::MAX_STATE_BYTES),
        }
    }

    fn frame_values(
        &self,
        frame: &Frame,
        base: usize,
        state: &State,
        view: &View,
        prefix: &str,
        values: &mut Vec<(String, String)>,
    ) {
        for variable in &frame.variables {
            let name = format!("{prefix}{}", variable.name);
            let at = base + variable.offset as usize;
            self.shape_values(name, &variable.shape, at, state, view, values);
        }
    }

    fn shape_values(
        &self,
        name: String,
        shape: &Shape,
        at: usize,
        state: &State,
        view: &View,
        values: &mut Vec<(String, String)>,
    ) {
        match shape {
            Shape::Scalar(scalar) => {
                let value = load(state, at, *scalar);
                values.push((name, self.show(value, *scalar, state, view)));
            }
            Shape::Array { element, len } => {
                for i in 0..*len {
                    let at = at + (i * element.size()) as usize;
                    self.shape_values(format!("{name}[{i}]"), element, at, state, view, values);
                }
            }
            Shape::Record { fields, .. } => {
                for field in fields {
                    let name = format!("{name}.{}", field.name);
                    self.shape_values(name, &field.shape, at + field.offset as usize, state, view, values);
                }
            }
        }
    }

    fn process_values(
        &self,
        number: usize,
        process: ProcessView,
        state: &State,
        view: &View,
        values: &mut Vec<(String, String)>,
    ) {
        let process_type = self.system.process_type(process.process_type);
        let name = format!("{}({number})", process_type.name);
        values.push((name.clone(), format!("at {}", process.location.0)));
        if self.system.uses_priorities {
            values.push((format!("{name}:_priority"), self.layout.priority(state, process.start).to_string()));
        }
        self.frame_values(&process_type.frame, process.locals, state, view, &format!("{name}:"), values);
    }

    /// A number as people want to see it; a channel is shown with what it contains.
    fn show(&self, value: i32, scalar: Scalar, state: &State, view: &View) -> String {
        match scalar.meaning {
            Meaning::Channel => {
                let channel = usize::try_from(value - 1).ok().and_then(|index| view.channels.get(index));
                channel.map_or("none".into(), |channel| self.show_channel(value, *channel, state))
            }
            Meaning::Number | Meaning::Boolean | Meaning::Enumeration(_) | Meaning::Process => {
                self.show_number(value, scalar)
            }
        }
    }

    fn show_number(&self, value: i32, scalar: Scalar) -> String {
        match scalar.meaning {
            Meaning::Boolean if value == 0 => "false".into(),
            Meaning::Boolean if value == 1 => "true".into(),
            Meaning::Enumeration(id) => {
                let name = self.system.enumerations[id.index()].name_of(value);
                name.map_or_else(|| value.to_string(), str::to_owned)
            }
            Meaning::Number | Meaning::Boolean | Meaning::Process | Meaning::Channel => value.to_string(),
        }
    }

    fn show_channel(&self, number: i32, channel: ChannelView, state: &State) -> String {
        let channel_type = &self.system.channel_types[channel.channel_type.index()];
        if channel_type.is_rendezvous() {
            return format!("#{number}");
        }
        let mut text = format!("#{number}");
        for slot in 0..self.layout.channel_length(state, channel) {
            let mut at = self.layout.message(channel, slot);
            let fields = channel_type.fields.iter().map(|&field| {
                let value = load(state, at, field);
                at += field.size() as usize;
                self.show_number(value, field)
            });
            text += &format!(" [{}]", fields.collect::<Vec<_>>().join(","));
        }
        text
    }

    fn output(&self, edge: &Edge, state: &State, view: &View, process: usize) -> Option<String> {
        let scene = self.scene(state, view, process);
        match &edge.action {
            Action::Print(format, args) => {
                let args: Vec<i32> = args.iter().map(|arg| scene.eval(arg).unwrap_or(0)).collect();
                Some(formatted(format, &args, |value| self.member_name(value)))
            }
            Action::PrintName(name) => Some(self.member_name(scene.eval(name).unwrap_or(0))),
            _ => None,
        }
    }

    /// `%e` does not say of which enumeration; like SPIN, take the first that has the number.
    fn member_name(&self, value: i32) -> String {
        let mut names = self.system.enumerations.iter().filter_map(|enumeration| enumeration.name_of(value));
        names.next().map_or_else(|| value.to_string(), str::to_owned)
    }
}

/// `printf` with Promela's conversions `%d %i %u %c %e %o %x`.
fn formatted(format: &str, args: &[i32], member_name: impl Fn(i32) -> String) -> String {
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
            Some('e') => text.extend(args.next().map(&member_name)),
            Some('o') => text.extend(args.next().map(|value| format!("{value:o}"))),
            Some('x') => text.extend(args.next().map(|value| format!("{value:x}"))),
            Some('u') => text.extend(args.next().map(|value| (value as u32).to_string())),
            Some(_) => text.extend(args.next().map(|value| value.to_string())),
            None => text.push('%'),
        }
    }
    text
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
