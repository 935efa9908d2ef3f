//! The contents of a state, by name.

use super::layout::load;
use super::{ChannelView, Interpreter, ProcessView, View};
use crate::{Base, Frame, Init, LocationId, Meaning, Scalar, Shape, Statement};
use entail_model::State;

/// A variable, a channel or a process that has changed. Empty text means that it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub name: String,
    pub before: String,
    pub after: String,
}

/// A channel of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub number: i32,
    /// The name of the first variable that holds it, or its own.
    pub name: String,
    /// 0 for a rendezvous.
    pub capacity: u16,
    /// The first one is received first.
    pub messages: Vec<String>,
}

/// A process of a state, and its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStatus<'s> {
    pub process: usize,
    pub name: &'s str,
    pub location: LocationId,
    /// The first statement that it may execute next; `None` if there is none.
    pub next: Option<&'s Statement>,
}

impl<'s> Interpreter<'s> {
    /// All variables and channels of the state with their values, in a fixed order.
    pub fn values(&self, state: &State) -> Vec<(String, String)> {
        let view = self.look_at(state);
        let mut values = Vec::new();
        let mut push = |name, value, scalar| values.push((name, self.show(value, scalar, state, &view)));
        self.each_global(state, &mut push);
        for (number, process) in view.processes.iter().enumerate() {
            let process_type = self.system.process_type(process.process_type);
            let name = format!("{}({number})", process_type.name);
            values.push((name.clone(), format!("at {}", process.location.0)));
            if self.system.uses_priorities {
                values.push((format!("{name}:_priority"), self.layout.priority(state, process.start).to_string()));
            }
            let mut push = |name, value, scalar| values.push((name, self.show(value, scalar, state, &view)));
            self.each_local(number, process, state, &mut push);
        }
        values
    }

    /// The differences from `after`.
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

    /// The processes of a state.
    pub fn process_statuses(&self, state: &State) -> Vec<ProcessStatus<'s>> {
        let standing = |(process, seen): (usize, &ProcessView)| {
            let process_type = self.system.process_type(seen.process_type);
            let location = &process_type.locations[seen.location.index()];
            let next = self.system.edges_of(location).first().map(|edge| self.system.statement(edge.statement));
            ProcessStatus { process, name: &process_type.name, location: seen.location, next }
        };
        self.look_at(state).processes.iter().enumerate().map(standing).collect()
    }

    /// The channels of a state.
    pub fn channels(&self, state: &State) -> Vec<Contents> {
        let view = self.look_at(state);
        let mut names: Vec<Option<String>> = vec![None; view.channels.len()];
        let mut note = |name, value: i32, scalar: Scalar| {
            let number = usize::try_from(i64::from(value) - 1).ok().filter(|_| scalar.meaning == Meaning::Channel);
            if let Some(known) = number.and_then(|index| names.get_mut(index)) {
                known.get_or_insert(name);
            }
        };
        self.each_global(state, &mut note);
        for (number, process) in view.processes.iter().enumerate() {
            self.each_local(number, process, state, &mut note);
        }
        let fixed = self.names_of_fixed_channels();
        let fixed = fixed.into_iter().chain(std::iter::repeat(None));
        let names = names.into_iter().zip(fixed).map(|(held, fixed)| held.or(fixed));
        let contents = |((number, channel), name): ((i32, &ChannelView), Option<String>)| Contents {
            number,
            name: name.unwrap_or_else(|| format!("#{number}")),
            capacity: self.system.channel_types[channel.channel_type.index()].capacity,
            messages: self.messages(*channel, state),
        };
        (1..).zip(&view.channels).zip(names).map(contents).collect()
    }

    /// The names of initial channels that no variable holds.
    fn names_of_fixed_channels(&self) -> Vec<Option<String>> {
        let fixed = self.system.globals.init.iter().filter_map(|init| match init {
            Init::Channel(place, id) => Some((place.base == Base::Nowhere).then_some(id.index())),
            Init::Value(..) => None,
        });
        let fixed: Vec<Option<usize>> = fixed.collect();
        let mut counts = vec![0; self.system.channel_types.len()];
        let name = |channel: &Option<usize>| {
            let channel_type = (*channel)?;
            let is_array = fixed.iter().filter(|other| **other == *channel).count() > 1;
            let (name, index) = (&self.system.channel_types[channel_type].name, counts[channel_type]);
            counts[channel_type] += 1;
            Some(if is_array { format!("{name}[{index}]") } else { name.clone() })
        };
        fixed.iter().map(name).collect()
    }

    /// A system whose initial state faults has an empty state.
    fn look_at(&self, state: &State) -> View {
        if state.is_empty() { View::default() } else { self.view(state) }
    }

    fn each_global(&self, state: &State, each: &mut dyn FnMut(String, i32, Scalar)) {
        if !state.is_empty() {
            each_variable(&self.system.globals, self.layout.globals, state, "", each);
        }
    }

    fn each_local(
        &self,
        number: usize,
        process: &ProcessView,
        state: &State,
        each: &mut dyn FnMut(String, i32, Scalar),
    ) {
        let process_type = self.system.process_type(process.process_type);
        let prefix = format!("{}({number}):", process_type.name);
        each_variable(&process_type.frame, process.locals, state, &prefix, each);
    }

    /// A number for display; a channel is displayed with its contents.
    fn show(&self, value: i32, scalar: Scalar, state: &State, view: &View) -> String {
        match scalar.meaning {
            Meaning::Channel => {
                let channel = usize::try_from(value - 1).ok().and_then(|index| view.channels.get(index));
                channel.map_or("none".into(), |channel| self.show_channel(value, *channel, state))
            }
            Meaning::Thread => {
                let number = usize::try_from(value - 1).ok();
                let thread = number.and_then(|number| view.processes.get(number));
                thread.map_or("none".into(), |thread| {
                    format!("{}({})", self.system.process_type(thread.process_type).name, value - 1)
                })
            }
            Meaning::Number | Meaning::Boolean | Meaning::Enumeration(_) | Meaning::Process => {
                self.show_number(value, scalar)
            }
        }
    }

    pub(super) fn show_number(&self, value: i32, scalar: Scalar) -> String {
        match scalar.meaning {
            Meaning::Boolean if value == 0 => "false".into(),
            Meaning::Boolean if value == 1 => "true".into(),
            Meaning::Enumeration(id) => {
                let name = self.system.enumerations[id.index()].name_of(value);
                name.map_or_else(|| value.to_string(), str::to_owned)
            }
            Meaning::Thread if value == 0 => "none".into(),
            Meaning::Thread => (value - 1).to_string(),
            Meaning::Number | Meaning::Boolean | Meaning::Process | Meaning::Channel => value.to_string(),
        }
    }

    fn show_channel(&self, number: i32, channel: ChannelView, state: &State) -> String {
        let messages = self.messages(channel, state).into_iter().map(|message| format!(" [{message}]"));
        format!("#{number}{}", messages.collect::<String>())
    }

    /// The contents of a channel; a rendezvous channel is always empty.
    fn messages(&self, channel: ChannelView, state: &State) -> Vec<String> {
        let fields = &self.system.channel_types[channel.channel_type.index()].fields;
        let message = |slot| {
            let mut at = self.layout.message(channel, slot);
            let shown = fields.iter().map(|&field| {
                let value = load(state, at, field);
                at += field.size() as usize;
                self.show_number(value, field)
            });
            shown.collect::<Vec<_>>().join(",")
        };
        (0..self.layout.channel_length(state, channel)).map(message).collect()
    }
}

/// Calls `each` for every scalar of a frame at `base`, with its prefixed name.
fn each_variable(
    frame: &Frame,
    base: usize,
    state: &State,
    prefix: &str,
    each: &mut dyn FnMut(String, i32, Scalar),
) {
    for variable in frame.variables.iter().filter(|variable| !variable.is_internal()) {
        let at = base + variable.offset as usize;
        each_number(format!("{prefix}{}", variable.name), &variable.shape, at, state, each);
    }
}

fn each_number(name: String, shape: &Shape, at: usize, state: &State, each: &mut dyn FnMut(String, i32, Scalar)) {
    match shape {
        Shape::Scalar(scalar) => each(name, load(state, at, *scalar), *scalar),
        Shape::Array { element, len } => {
            for i in 0..*len {
                each_number(format!("{name}[{i}]"), element, at + (i * element.size()) as usize, state, each);
            }
        }
        Shape::Record { fields, .. } => {
            for field in fields {
                let name = format!("{name}.{}", field.name);
                each_number(name, &field.shape, at + field.offset as usize, state, each);
            }
        }
    }
}
