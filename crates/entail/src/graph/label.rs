//! Short labels of states and steps.

use super::atomic_paths::explained;
use super::explore::{Arrow, GraphState, StateGraph};
use crate::args::GraphArgs;
use entail_ir::Interpreter;
use entail_ir::interpret::Explained;
use std::collections::BTreeSet;

/// Creates labels.
pub struct Wording<'a, 's> {
    pub interpreter: &'a Interpreter<'s>,
    values: Values,
}

enum Values {
    All,
    None,
    These(Vec<String>),
}

/// The approximate maximum length of a line.
const WIDE: usize = 34;
const MOST_LINES: usize = 12;
/// The maximum number of steps of an atomic sequence in a label.
const MOST_STEPS: usize = 4;
const LONGEST: usize = 48;
/// The maximum length of a process and its statement on one line.
const SHORT: usize = 26;

impl<'a, 's> Wording<'a, 's> {
    pub fn new(interpreter: &'a Interpreter<'s>, space: &StateGraph, args: &GraphArgs) -> Result<Self, String> {
        let values = match (&args.values[..], args.no_values) {
            (_, true) => Values::None,
            ([], false) => Values::All,
            (names, false) => Values::These(names.to_vec()),
        };
        let wording = Wording { interpreter, values };
        if let Values::These(wanted) = &wording.values {
            let values = || space.states.iter().flat_map(|found| interpreter.values(&found.state));
            let names: Vec<String> =
                values().filter(|(_, value)| !is_location(value)).map(|(name, _)| name).collect();
            if let Some(unknown) = wanted.iter().find(|wanted| !names.iter().any(|name| is_meant(name, wanted))) {
                let known: BTreeSet<&str> = names.iter().map(|name| base(name)).collect();
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return Err(format!("no state has a value named `{unknown}`; there are: {known}"));
            }
        }
        Ok(wording)
    }

    /// The control locations, and the selected values.
    pub fn state(&self, found: &GraphState) -> String {
        let (at, others): (Vec<_>, Vec<_>) =
            self.interpreter.values(&found.state).into_iter().partition(|(_, value)| is_location(value));
        let shown = others.iter().filter(|(name, _)| match &self.values {
            Values::All => true,
            Values::None => false,
            Values::These(names) => names.iter().any(|wanted| is_meant(name, wanted)),
        });
        let at = wrapped(at.iter().map(|(name, value)| format!("{name} {value}")));
        let shown = wrapped(shown.map(|(name, value)| format!("{name} = {value}")));
        let mut lines: Vec<String> = [vec![found.number.to_string()], at, shown].concat();
        if lines.len() > MOST_LINES {
            let more = lines.len() - MOST_LINES + 1;
            lines.truncate(MOST_LINES - 1);
            lines.push(format!("… {more} more lines"));
        }
        lines.join("\n")
    }

    /// The steps of an edge, with its fault.
    pub fn arrow(&self, space: &StateGraph, arrow: &Arrow) -> String {
        let violation = arrow.violation.iter().map(|violation| shortened(&violation.message));
        self.steps(space, arrow).into_iter().chain(violation).collect::<Vec<_>>().join("\n")
    }

    /// The steps of an edge, line by line.
    pub fn steps(&self, space: &StateGraph, arrow: &Arrow) -> Vec<String> {
        let steps = self.explained(space, arrow);
        let mut lines: Vec<String> = Vec::new();
        let mut before = None;
        for step in steps.iter().take(MOST_STEPS) {
            let (who, what) = (who(step), what(step));
            let is_short = who.len() + what.len() < SHORT && steps.len() == 1;
            if before.replace(step.process) == Some(step.process) {
                lines.push(what);
            } else if is_short {
                lines.push(format!("{who}: {what}"));
            } else {
                lines.extend([format!("{who}:"), what]);
            }
        }
        if steps.len() > MOST_STEPS {
            lines.push(format!("… {} more steps", steps.len() - MOST_STEPS));
        }
        lines.iter().map(|line| shortened(line)).collect()
    }

    pub fn explained(&self, space: &StateGraph, arrow: &Arrow) -> Vec<Explained<'s>> {
        explained(self.interpreter, &space.states[arrow.from].state, &arrow.steps)
    }
}

/// Whether the value of a state is a control location.
pub fn is_location(value: &str) -> bool {
    value.starts_with("at ")
}

/// Whether a value is selected by its name, by its array or record, with or without a process.
fn is_meant(name: &str, wanted: &str) -> bool {
    name == wanted || base(name) == wanted || name.split(['[', '.']).next() == Some(wanted)
}

/// The name without process, index and field.
fn base(name: &str) -> &str {
    let name = name.rsplit_once("):").map_or(name, |(_, name)| name);
    name.split(['[', '.']).next().unwrap_or(name)
}

fn who(step: &Explained) -> String {
    let Explained { process, process_name, .. } = step;
    match step.partner {
        Some((partner, name, _)) => format!("{process_name}({process}) → {name}({partner})"),
        None => format!("{process_name}({process})"),
    }
}

fn what(step: &Explained) -> String {
    match step.partner {
        Some((.., reply)) => format!("{} → {}", step.statement.text, reply.text),
        None => step.statement.text.clone(),
    }
}

fn wrapped(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let item = shortened(&item);
        match lines.last_mut() {
            Some(line) if line.chars().count() + item.chars().count() < WIDE => *line += &format!(", {item}"),
            _ => lines.push(item),
        }
    }
    lines
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
