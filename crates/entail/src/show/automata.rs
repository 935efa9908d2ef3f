//! Process types as automata, in the spirit of `pan -d`.

use crate::picture::{Part, Picture, Shape, Stroke, Tone};
use entail_ir::{Action, Edge, LocationId, ProcessType, System};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

#[derive(PartialEq, Serialize)]
struct Automaton<'s> {
    process: &'s str,
    entry: u16,
    states: Vec<Node<'s>>,
}

#[derive(PartialEq, Serialize)]
struct Node<'s> {
    state: u16,
    labels: Vec<&'s str>,
    end: bool,
    accept: bool,
    progress: bool,
    edges: Vec<Arrow<'s>>,
}

#[derive(PartialEq, Serialize)]
struct Arrow<'s> {
    /// `None`: the process ends.
    target: Option<u16>,
    /// SPIN's statement number.
    id: u32,
    file: &'s str,
    line: u32,
    statement: &'s str,
    atomic: bool,
    d_step: bool,
    /// Edges of one group take precedence over those after them.
    escape: Option<u16>,
}

pub fn text(system: &System) -> String {
    let mut text = String::new();
    for automaton in automata(system) {
        write_text(&mut text, &automaton).expect("writing to a string cannot fail");
    }
    text
}

pub fn picture(system: &System) -> Picture {
    let parts = automata(system).into_iter().enumerate().map(|(index, automaton)| part(index, &automaton));
    Picture { name: "automata", parts: parts.collect() }
}

pub fn json(system: &System) -> String {
    serde_json::to_string_pretty(&automata(system)).expect("strings and numbers only") + "\n"
}

/// Each automaton once: process types that differ only in constants have the same.
fn automata(system: &System) -> Vec<Automaton<'_>> {
    let mut automata: Vec<Automaton> = Vec::new();
    for process_type in &system.process_types {
        let automaton = automaton(process_type, system);
        if !automata.contains(&automaton) {
            automata.push(automaton);
        }
    }
    automata
}

fn automaton<'s>(process_type: &'s ProcessType, system: &'s System) -> Automaton<'s> {
    let states = reachable(process_type, system).into_iter().map(|id| node(id, process_type, system));
    Automaton { process: &process_type.name, entry: process_type.entry.0, states: states.collect() }
}

fn node<'s>(id: LocationId, process_type: &'s ProcessType, system: &'s System) -> Node<'s> {
    let location = &process_type.locations[id.index()];
    let labels = process_type.labels.iter().filter(|label| label.location == id);
    Node {
        state: id.0,
        labels: labels.map(|label| label.name.as_str()).collect(),
        end: location.end,
        accept: location.accept,
        progress: location.progress,
        edges: system.edges_of(location).iter().map(|edge| arrow(edge, system)).collect(),
    }
}

fn arrow<'s>(edge: &'s Edge, system: &'s System) -> Arrow<'s> {
    let statement = system.statement(edge.statement);
    Arrow {
        target: edge.target.map(|target| target.0),
        id: statement.spin_id,
        file: &statement.file,
        line: statement.line,
        statement: &statement.text,
        atomic: edge.atomic,
        d_step: matches!(edge.action, Action::Deterministic(_)),
        escape: edge.escape.map(|group| group.0),
    }
}

/// The locations reachable from the entry, in the order of discovery.
fn reachable(process_type: &ProcessType, system: &System) -> Vec<LocationId> {
    let mut met = vec![process_type.entry];
    let mut known = HashSet::from([process_type.entry]);
    let mut next = 0;
    while let Some(&id) = met.get(next) {
        next += 1;
        for edge in system.edges_of(&process_type.locations[id.index()]) {
            met.extend(edge.target.filter(|&target| known.insert(target)));
        }
    }
    met
}

fn write_text(out: &mut String, automaton: &Automaton) -> fmt::Result {
    writeln!(out, "{} (starts in state {})", automaton.process, automaton.entry)?;
    for node in &automaton.states {
        let remarks = node.remarks();
        if !remarks.is_empty() {
            writeln!(out, "  state {:>3} is {}", node.state, remarks.join(", "))?;
        }
        for arrow in &node.edges {
            let target = arrow.target.map_or("the end".to_owned(), |target| format!("state {target:>3}"));
            let (state, Arrow { file, line, statement, .. }) = (node.state, arrow);
            let place = format!("{file}:{line}");
            writeln!(out, "  state {state:>3} -> {target:<9}  [{}]  {place} => {statement}", arrow.remarks())?;
        }
    }
    writeln!(out)
}

fn part(index: usize, automaton: &Automaton) -> Part {
    let mut part = Part { title: automaton.process.to_owned(), ..Part::default() };
    let start = part.node(format!("p{index}_start"), "", Shape::Point, Tone::Plain);
    let mut places = HashMap::new();
    for node in &automaton.states {
        let label = [&[node.state.to_string().as_str()], &node.labels[..]].concat().join("\n");
        let shape = if node.accept || node.end { Shape::DoubleRound } else { Shape::Round };
        places.insert(node.state, part.node(format!("p{index}_{}", node.state), &label, shape, Tone::Plain));
    }
    part.edge(start, places[&automaton.entry], "", Stroke::Plain);
    for node in &automaton.states {
        for arrow in &node.edges {
            let stroke = if arrow.atomic || arrow.d_step { Stroke::Bold } else { Stroke::Plain };
            let target = arrow.target.map(|target| places[&target]).unwrap_or_else(|| {
                let name = format!("p{index}_{}_end{}", node.state, arrow.id);
                part.node(name, "", Shape::Point, Tone::Plain)
            });
            part.edge(places[&node.state], target, arrow.statement, stroke);
        }
    }
    part
}

impl Node<'_> {
    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.labels.iter().map(|label| format!("labelled {label}")).collect();
        let kinds = [(self.end, "a valid end"), (self.accept, "accepting"), (self.progress, "progress")];
        remarks.extend(kinds.iter().filter(|(is, _)| *is).map(|(_, kind)| (*kind).to_owned()));
        remarks
    }
}

impl Arrow<'_> {
    fn remarks(&self) -> String {
        let mut remarks = format!("id {}", self.id);
        let kinds = [(self.atomic, ", atomic"), (self.d_step, ", d_step"), (self.escape.is_some(), ", escape")];
        kinds.iter().filter(|(is, _)| *is).for_each(|(_, kind)| remarks += kind);
        remarks
    }
}
