//! A replay for programs.

use super::{Follow, Titles};
use crate::console::Failure;
use crate::violation::Violation;
use crate::walk::Told;
use entail_ir::Statement;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    model: &'a str,
    trail: &'a str,
    steps: Vec<Step>,
    /// The number of the first step that is repeated for ever.
    cycle_start: Option<usize>,
    error: Option<Error>,
}

#[derive(Serialize)]
struct Step {
    number: usize,
    action: Option<Action>,
    partner: Option<Action>,
    output: Option<String>,
    changes: Vec<Change>,
    /// Propositions whose truth has changed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    truths: BTreeMap<String, bool>,
    /// Where the claim is afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    error: Option<Error>,
}

#[derive(Serialize)]
struct Action {
    process: usize,
    name: String,
    file: String,
    line: u32,
    column: u32,
    statement: String,
}

#[derive(Serialize)]
struct Change {
    name: String,
    before: String,
    after: String,
}

#[derive(Clone, Serialize)]
struct Error {
    kind: &'static str,
    message: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

pub fn write(out: &mut dyn Write, mut follow: Follow, titles: &Titles) -> Result<(), Failure> {
    let mut steps = Vec::new();
    let mut cycle_start = None;
    loop {
        let starts_cycle = follow.is_at_cycle();
        let Some(told) = follow.next().map_err(|why| titles.misfit(why))? else { break };
        if starts_cycle {
            cycle_start = Some(told.number);
        }
        steps.push(Step::from(told));
    }
    let last = steps.iter().rev().find_map(|step: &Step| step.error.clone());
    let document = Document {
        tool: "entail",
        version: env!("CARGO_PKG_VERSION"),
        model: &titles.model,
        trail: &titles.trail,
        error: follow.end().map(Error::from).or(last),
        steps,
        cycle_start,
    };
    let text = serde_json::to_string_pretty(&document).expect("strings and numbers only");
    Ok(writeln!(out, "{text}")?)
}

impl From<Told<'_>> for Step {
    fn from(told: Told) -> Step {
        let Told { number, explained, changes, truths, claim, violation, goes_on: _ } = told;
        let truths = truths.into_iter().map(|(proposition, holds)| (proposition.to_owned(), holds)).collect();
        let changes = changes.into_iter().map(|change| Change {
            name: change.name,
            before: change.before,
            after: change.after,
        });
        let action = explained.as_ref().map(|told| Action::new(told.process, told.process_name, told.statement));
        let partner = explained.as_ref().and_then(|told| told.partner);
        let partner = partner.map(|(process, name, statement)| Action::new(process, name, statement));
        let output = explained.and_then(|told| told.output);
        let (changes, error) = (changes.collect(), violation.map(Error::from));
        Step { number, action, partner, output, changes, truths, claim: claim.map(|(_, now)| now), error }
    }
}

impl Action {
    fn new(process: usize, name: &str, statement: &Statement) -> Action {
        let Statement { text, file, line, column, .. } = statement.clone();
        Action { process, name: name.to_owned(), file, line, column, statement: text }
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Error {
        let Violation { kind, message, place } = violation;
        let (line, column) = (place.as_ref().map(|place| place.line), place.as_ref().map(|place| place.column));
        Error { kind: kind.name(), message, file: place.map(|place| place.file), line, column }
    }
}
