//! The state graph as JSON.

use super::explore::{Arrow, End, GraphState, StateGraph};
use super::label::{Wording, is_location};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    model: &'a str,
    states: Vec<State<'a>>,
    edges: Vec<Edge<'a>>,
}

#[derive(Serialize)]
struct State<'a> {
    /// The node number, which edges refer to.
    node: usize,
    /// The state number; nodes of a tree share it if they have the same state.
    state: usize,
    depth: usize,
    processes: Vec<Process<'a>>,
    values: BTreeMap<String, String>,
    /// `valid` or `invalid` for end states.
    end: Option<&'static str>,
    /// In a tree: successors are omitted.
    cut: bool,
    accepting: bool,
    progress: bool,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Process<'a> {
    process: usize,
    name: &'a str,
    location: u16,
}

#[derive(Serialize)]
struct Edge<'a> {
    from: usize,
    /// `null` if the last step ends in a fault.
    to: Option<usize>,
    steps: Vec<Step<'a>>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Step<'a> {
    process: usize,
    name: &'a str,
    file: String,
    line: u32,
    statement: String,
    /// The other side of a rendezvous.
    partner: Option<usize>,
}

pub fn document(space: &StateGraph, wording: &Wording, model: &str) -> String {
    let states = space.states.iter().enumerate().map(|(node, found)| state(node, found, wording));
    let edges = space.arrows.iter().map(|arrow| edge(space, arrow, wording));
    let document = Document {
        tool: "entail",
        version: env!("CARGO_PKG_VERSION"),
        model,
        states: states.collect(),
        edges: edges.collect(),
    };
    serde_json::to_string_pretty(&document).expect("strings and numbers only") + "\n"
}

fn state<'a>(node: usize, found: &'a GraphState, wording: &Wording<'_, 'a>) -> State<'a> {
    let processes = wording.interpreter.process_statuses(&found.state).into_iter();
    let values = wording.interpreter.values(&found.state).into_iter();
    let (end, error) = match &found.end {
        End::Not | End::Cut => (None, None),
        End::Valid => (Some("valid"), None),
        End::Invalid(violation) => (Some("invalid"), Some(violation.message.as_str())),
    };
    State {
        node,
        state: found.number,
        depth: found.depth,
        processes: processes
            .map(|one| Process { process: one.process, name: one.name, location: one.location.0 })
            .collect(),
        values: values.filter(|(_, value)| !is_location(value)).collect(),
        end,
        cut: matches!(found.end, End::Cut),
        accepting: found.marks.accepting,
        progress: found.marks.progress,
        error,
    }
}

fn edge<'a>(space: &'a StateGraph, arrow: &'a Arrow, wording: &Wording<'_, 'a>) -> Edge<'a> {
    let steps = wording.explained(space, arrow).into_iter().map(|step| Step {
        process: step.process,
        name: step.process_name,
        file: step.statement.file.clone(),
        line: step.statement.line,
        statement: step.statement.into_owned().text,
        partner: step.partner.map(|(partner, ..)| partner),
    });
    let error = arrow.violation.as_ref().map(|violation| violation.message.as_str());
    Edge { from: arrow.from, to: arrow.to, steps: steps.collect(), error }
}
