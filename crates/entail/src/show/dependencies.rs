//! Dependencies between the statements of a model.

use entail_ir::footprint::{Object, Part, Side, Span};
use entail_ir::passes::alone;
use entail_ir::{Base, EdgeId, Footprints, Frame, Init, Location, System};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Process<'s> {
    process: &'s str,
    steps: Vec<Step<'s>>,
}

#[derive(Serialize)]
struct Step<'s> {
    file: &'s str,
    line: u32,
    statement: &'s str,
    /// The objects whose change can enable the statement.
    waits: BTreeSet<String>,
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    /// Dependent statements of other processes.
    conflicts: Vec<String>,
}

pub fn text(system: &System) -> String {
    let mut text = String::new();
    for Process { process, steps } in processes(system) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{process}");
        for Step { file, line, statement, waits, reads, writes, conflicts } in steps {
            let _ = writeln!(text, "  {file}:{line}  {statement}");
            let list = |objects: BTreeSet<String>| objects.into_iter().collect::<Vec<_>>();
            for (what, objects) in [
                ("waits for", list(waits)),
                ("reads", list(reads)),
                ("writes", list(writes)),
                ("conflicts with", conflicts),
            ] {
                if !objects.is_empty() {
                    let _ = writeln!(text, "    {what} {}", objects.join(", "));
                }
            }
        }
    }
    text
}

pub fn json(system: &System) -> String {
    serde_json::to_string_pretty(&processes(system)).expect("strings and numbers only") + "\n"
}

fn processes(system: &System) -> Vec<Process<'_>> {
    let footprints = Footprints::new(system);
    let edges = |of: usize| system.process_types[of].locations.iter().flat_map(Location::edges);
    let types = 0..system.process_types.len();
    // The only process of its type has no conflicts with itself.
    let alone = alone(system);
    let others = |of: usize| -> Vec<EdgeId> {
        types.clone().filter(|other| *other != of || !alone[of]).flat_map(edges).collect()
    };
    let step = |edge: EdgeId, others: &[EdgeId]| {
        let (statement, footprint) = (system.statement(system.edge(edge).statement), footprints.of(edge));
        let name = |objects: &[Object]| objects.iter().map(|object| name(*object, system)).collect();
        let others = others.iter().filter(|other| footprint.conflicts(footprints.of(**other)));
        let place = |edge: &EdgeId| {
            let other = system.statement(system.edge(*edge).statement);
            (&other.file, other.line)
        };
        let conflicts: BTreeSet<_> = others.map(place).collect();
        Step {
            file: &statement.file,
            line: statement.line,
            statement: &statement.text,
            waits: name(&footprint.waits),
            reads: name(&footprint.reads),
            writes: name(&footprint.writes),
            conflicts: conflicts.into_iter().map(|(file, line)| format!("{file}:{line}")).collect(),
        }
    };
    let process = |of: usize| {
        let others = others(of);
        let steps = edges(of).map(|edge| step(edge, &others)).collect();
        Process { process: &system.process_types[of].name, steps }
    };
    types.clone().map(process).collect()
}

/// The name of an object in the model.
fn name(object: Object, system: &System) -> String {
    match object {
        Object::Globals(span) => variables(&system.globals, span).join(", "),
        Object::Locals(of, span) => {
            let process = system.process_type(of);
            let names = variables(&process.frame, span);
            names.into_iter().map(|name| format!("{}:{name}", process.name)).collect::<Vec<_>>().join(", ")
        }
        Object::Location(of) => format!("where {} is", system.process_type(of).name),
        Object::Channels(span, part) => {
            let part = match part {
                Part::Front => "the front of",
                Part::Back => "the back of",
                Part::More => "a message more in",
                Part::Less => "a message less in",
                Part::Coming(Side::Sender) => "a new sender at",
                Part::Coming(Side::Receiver) => "a new receiver at",
                Part::Going(Side::Sender) => "a sender less at",
                Part::Going(Side::Receiver) => "a receiver less at",
            };
            format!("{part} {}", channels(system, span))
        }
        Object::Births => "who is started".to_owned(),
        Object::Deaths => "who has ended".to_owned(),
        Object::Priorities => "priorities".to_owned(),
        Object::Last => "who moved last".to_owned(),
        Object::Everything => "everything".to_owned(),
    }
}

/// The variables that these bytes belong to.
fn variables(frame: &Frame, span: Span) -> Vec<String> {
    let is_there = |from: u32, size: u32| from < span.to && span.from < from + size;
    let there = frame.variables.iter().filter(|variable| is_there(variable.offset, variable.shape.size()));
    there.map(|variable| variable.name.clone()).collect()
}

/// The channels with these numbers, if global variables name them.
fn channels(system: &System, span: Span) -> String {
    let made = system.globals.init.iter().filter_map(|init| match init {
        Init::Channel(place, _) => Some(place),
        Init::Value(..) => None,
    });
    let named: Vec<_> = (1..)
        .zip(made)
        .filter(|(number, place)| (span.from..span.to).contains(number) && place.base == Base::Global)
        .flat_map(|(_, place)| variables(&system.globals, Span { from: place.offset, to: place.offset + 1 }))
        .collect();
    if span.to == u32::MAX || named.is_empty() { "any channel".to_owned() } else { named.join(" or ") }
}
