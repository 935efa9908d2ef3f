//! The names of a model: variables, channels, processes.

use entail_ir::{
    Base, ChannelType, Enumeration, Frame, Init, Meaning, Range, Scalar, Shape, StatementId, System, Variable,
};
use serde::Serialize;
use std::fmt::{self, Write};

#[derive(Serialize)]
struct Symbols<'s> {
    globals: Vec<Symbol<'s>>,
    /// Channels that no variable refers to.
    channels: Vec<Nameless<'s>>,
    processes: Vec<Process<'s>>,
    enumerations: Vec<Names<'s>>,
}

#[derive(Serialize)]
struct Symbol<'s> {
    name: &'s str,
    #[serde(rename = "type")]
    kind: String,
    /// The offset among the variables declared with it.
    offset: u32,
    bytes: u32,
    /// The initial channels.
    channels: Vec<String>,
}

#[derive(Serialize)]
struct Nameless<'s> {
    name: &'s str,
    #[serde(rename = "type")]
    kind: String,
    /// The number of elements of an array.
    count: usize,
}

#[derive(Serialize)]
struct Process<'s> {
    name: &'s str,
    file: Option<&'s str>,
    line: Option<u32>,
    /// The number of initial processes.
    active: usize,
    /// The number of parameters.
    parameters: usize,
    variables: Vec<Symbol<'s>>,
}

#[derive(Serialize)]
struct Names<'s> {
    name: &'s str,
    members: &'s [String],
}

pub fn text(system: &System) -> String {
    let mut text = String::new();
    write_text(&mut text, &symbols(system)).expect("writing to a string cannot fail");
    text
}

pub fn json(system: &System) -> String {
    serde_json::to_string_pretty(&symbols(system)).expect("strings and numbers only") + "\n"
}

fn symbols(system: &System) -> Symbols<'_> {
    Symbols {
        globals: variables(&system.globals, system),
        channels: nameless_channels(system),
        processes: processes(system),
        enumerations: system.enumerations.iter().map(Names::of).collect(),
    }
}

fn nameless_channels(system: &System) -> Vec<Nameless<'_>> {
    let mut counts = vec![0; system.channel_types.len()];
    for init in &system.globals.init {
        match init {
            Init::Channel(place, id) if place.base == Base::Nowhere => counts[id.index()] += 1,
            Init::Channel(..) | Init::Value(..) => {}
        }
    }
    let nameless = system.channel_types.iter().zip(counts).filter(|(_, count)| *count > 0);
    nameless
        .map(|(channel, count)| Nameless { name: &channel.name, kind: channel_kind(channel, system), count })
        .collect()
}

/// Process types that differ only in constants count as one: they have the same declaration.
fn processes(system: &System) -> Vec<Process<'_>> {
    let mut processes: Vec<(StatementId, Process)> = Vec::new();
    for (index, process_type) in system.process_types.iter().enumerate() {
        let active = system.start.iter().filter(|start| start.process_type.index() == index).count();
        let declared_at = process_type.declared_at;
        if let Some((_, process)) = processes.iter_mut().find(|(other, _)| *other == declared_at) {
            process.active += active;
            continue;
        }
        let place = system.statements.get(declared_at.index());
        let process = Process {
            name: &process_type.name,
            file: place.map(|place| place.file.as_str()),
            line: place.map(|place| place.line),
            active,
            parameters: process_type.params.len(),
            variables: variables(&process_type.frame, system),
        };
        processes.push((declared_at, process));
    }
    processes.into_iter().map(|(_, process)| process).collect()
}

fn variables<'s>(frame: &'s Frame, system: &'s System) -> Vec<Symbol<'s>> {
    let symbol = |variable: &'s Variable| Symbol {
        name: &variable.name,
        kind: kind(&variable.shape, system),
        offset: variable.offset,
        bytes: variable.shape.size(),
        channels: channels(variable, frame, system),
    };
    frame.variables.iter().map(symbol).collect()
}

fn channels(variable: &Variable, frame: &Frame, system: &System) -> Vec<String> {
    let bytes = variable.offset..variable.offset + variable.shape.size();
    let made = frame.init.iter().filter_map(|init| match init {
        Init::Channel(place, id) if !matches!(place.base, Base::Remote(..)) => Some((place.offset, id)),
        Init::Channel(..) | Init::Value(..) => None,
    });
    let own = made.filter(|(offset, _)| bytes.contains(offset));
    own.map(|(_, id)| channel_kind(&system.channel_types[id.index()], system)).collect()
}

fn channel_kind(channel: &ChannelType, system: &System) -> String {
    let fields: Vec<_> = channel.fields.iter().map(|&field| scalar_kind(field, system)).collect();
    let fields = if fields.is_empty() { String::new() } else { format!(" {} ", fields.join(", ")) };
    format!("[{}] of {{{fields}}}", channel.capacity)
}

fn kind(shape: &Shape, system: &System) -> String {
    match shape {
        Shape::Scalar(scalar) => scalar_kind(*scalar, system),
        Shape::Array { element, len } => format!("{}[{len}]", kind(element, system)),
        Shape::Record { fields, .. } => {
            let fields: Vec<_> =
                fields.iter().map(|field| format!("{} {}", kind(&field.shape, system), field.name)).collect();
            format!("{{ {} }}", fields.join("; "))
        }
    }
}

fn scalar_kind(scalar: Scalar, system: &System) -> String {
    match scalar.meaning {
        Meaning::Boolean => "bool".into(),
        Meaning::Channel => "chan".into(),
        Meaning::Process => "pid".into(),
        Meaning::Thread => "tid".into(),
        Meaning::Enumeration(id) => match system.enumerations[id.index()].name.as_str() {
            "" => "mtype".into(),
            name => name.into(),
        },
        Meaning::Number if scalar.range.is_some() => {
            scalar.range.map_or(String::new(), |Range { low, high }| format!("{low}..{high}"))
        }
        Meaning::Number => match (scalar.bits, scalar.signed) {
            (1, false) => "bit".into(),
            (8, false) => "byte".into(),
            (16, true) => "short".into(),
            (32, true) => "int".into(),
            (bits, false) => format!("unsigned:{bits}"),
            (bits, true) => format!("signed:{bits}"),
        },
    }
}

fn write_text(out: &mut String, symbols: &Symbols) -> fmt::Result {
    for Names { name, members } in &symbols.enumerations {
        writeln!(out, "enumeration {name} = {{ {} }}", members.join(", "))?;
    }
    for symbol in &symbols.globals {
        writeln!(out, "global {}", symbol.text())?;
    }
    for Nameless { name, kind, count } in &symbols.channels {
        let times = if *count == 1 { String::new() } else { format!(", {count} times") };
        writeln!(out, "channel {name} = {kind}{times}")?;
    }
    for process in &symbols.processes {
        let Process { name, file, line, active, .. } = process;
        write!(out, "process {name}")?;
        if let (Some(file), Some(line)) = (file, line) {
            write!(out, "  {file}:{line}")?;
        }
        match active {
            0 => writeln!(out, "  started by others")?,
            active => writeln!(out, "  {active} from the beginning")?,
        }
        for (index, symbol) in process.variables.iter().enumerate() {
            let role = if index < process.parameters { "parameter" } else { "local" };
            writeln!(out, "  {role} {}", symbol.text())?;
        }
    }
    Ok(())
}

impl<'s> Names<'s> {
    fn of(enumeration: &'s Enumeration) -> Self {
        Names { name: &enumeration.name, members: &enumeration.members }
    }
}

impl Symbol<'_> {
    fn text(&self) -> String {
        let mut text = format!("{} {}", self.kind, self.name);
        if !self.channels.is_empty() {
            text += &format!(" = {}", self.channels.join(", "));
        }
        text
    }
}
