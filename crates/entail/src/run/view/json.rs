//! A run as JSON. `docs/runs.md` documents the keys.

use crate::run::{Direction, Origin, Passing, Run, Snapshot, Taken, Titles, TraceStep};
use entail_check::violation::Violation;
use entail_ir::Statement;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The version, which changes if a key changes its meaning; keys may be added.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    format: u32,
    model: &'a str,
    /// The file of the trail.
    #[serde(skip_serializing_if = "Option::is_none")]
    trail: Option<&'a str>,
    /// The random seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    start: State<'a>,
    steps: Vec<Step<'a>>,
    /// The number of the first step of the cycle.
    cycle_start: Option<usize>,
    ending: &'static str,
    error: Option<Error>,
}

/// A state, with values by name.
#[derive(Serialize)]
struct State<'a> {
    processes: Vec<Process<'a>>,
    #[serde(serialize_with = "in_order")]
    values: &'a [(String, String)],
    channels: Vec<Channel<'a>>,
}

#[derive(Serialize)]
struct Process<'a> {
    process: usize,
    name: &'a str,
    /// The position of the next statement.
    file: Option<&'a str>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct Channel<'a> {
    number: i32,
    name: &'a str,
    capacity: u16,
    messages: &'a [String],
}

#[derive(Serialize)]
struct Step<'a> {
    number: usize,
    action: Option<Action>,
    partner: Option<Action>,
    output: Option<&'a str>,
    changes: Vec<Change<'a>>,
    messages: Vec<Message<'a>>,
    /// Propositions whose truth value changed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    truths: BTreeMap<&'a str, bool>,
    /// The claim's state after the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a str>,
    error: Option<Error>,
    state: State<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    channel: &'a str,
    message: &'a str,
    /// `sent`, `received` or `handed`.
    way: &'static str,
    /// The number of the step at the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
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
struct Change<'a> {
    name: &'a str,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct Error {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

/// The whole document.
pub fn text(run: &Run, titles: &Titles) -> String {
    let number = |index: usize| run.steps.get(index).map(|step| step.told.number);
    let (trail, seed) = match &titles.origin {
        Origin::Trail(trail) => (Some(trail.as_str()), None),
        Origin::Chance { seed, along } => (along.as_deref(), Some(*seed)),
    };
    let document = Document {
        tool: "entail",
        version: env!("CARGO_PKG_VERSION"),
        format: FORMAT,
        model: &titles.model,
        trail,
        seed,
        start: State::from(&run.start),
        steps: run.steps.iter().map(|step| Step::of(step, number)).collect(),
        cycle_start: run.cycle_start.and_then(number),
        ending: run.ending.name(),
        error: run.error().map(Error::from),
    };
    serde_json::to_string_pretty(&document).expect("strings and numbers only") + "\n"
}

impl<'a> Step<'a> {
    fn of(taken: &'a Taken, number: impl Fn(usize) -> Option<usize>) -> Step<'a> {
        let Taken { told, messages, after } = taken;
        let TraceStep { number: own, explained, changes, truths, claim, violation, goes_on: _ } = told;
        let changes = changes.iter().map(|change| Change {
            name: &change.name,
            before: &change.before,
            after: &change.after,
        });
        let action = explained.as_ref().map(|told| Action::new(told.process, told.process_name, &told.statement));
        let partner = explained.as_ref().and_then(|told| told.partner);
        let messages = messages.iter().map(|Passing { channel, message, way }| {
            let (way, other) = match *way {
                Direction::In { until } => ("sent", until),
                Direction::Out { since } => ("received", since),
                Direction::Across => ("handed", None),
            };
            Message { channel, message, way, step: other.and_then(&number) }
        });
        Step {
            number: *own,
            action,
            partner: partner.map(|(process, name, statement)| Action::new(process, name, statement)),
            output: explained.as_ref().and_then(|told| told.output.as_deref()),
            changes: changes.collect(),
            messages: messages.collect(),
            truths: truths.iter().copied().collect(),
            claim: claim.as_ref().map(|(_, now)| now.as_str()),
            error: violation.as_ref().map(Error::from),
            state: State::from(after),
        }
    }
}

impl<'a> From<&'a Snapshot<'_>> for State<'a> {
    fn from(Snapshot { processes, values, channels }: &'a Snapshot) -> State<'a> {
        let processes = processes.iter().map(|standing| Process {
            process: standing.process,
            name: standing.name,
            file: standing.next.map(|next| next.file.as_str()),
            line: standing.next.map(|next| next.line),
        });
        let channels = channels.iter().map(|channel| Channel {
            number: channel.number,
            name: &channel.name,
            capacity: channel.capacity,
            messages: &channel.messages,
        });
        State { processes: processes.collect(), values, channels: channels.collect() }
    }
}

/// An object whose keys are in the order of the model.
fn in_order<S: Serializer>(values: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(name, value)| (name, value)))
}

impl Action {
    fn new(process: usize, name: &str, statement: &Statement) -> Action {
        let Statement { text, file, line, column, .. } = statement.clone();
        Action { process, name: name.to_owned(), file, line, column, statement: text }
    }
}

impl From<&Violation> for Error {
    fn from(Violation { kind, message, reasons, place }: &Violation) -> Error {
        let place = place.as_ref();
        Error {
            kind: kind.name(),
            message: message.clone(),
            reasons: reasons.clone(),
            file: place.map(|place| place.file.clone()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }
}
