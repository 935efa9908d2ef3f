//! An interactive run: its state, its enabled steps and its history. Independent of the terminal.

use super::ahead::Ahead;
use super::dice::Dice;
use super::timeline::Timeline;
use crate::console::Status;
use crate::run::{Ending, TraceStep, Walk, action, brief_action};
use entail_check::output::{self, Content, Outputs};
use entail_check::provenance::Provenance;
use entail_check::trail::Record;
use entail_front::source::Sources;
use entail_ir::Interpreter;
use entail_ir::interpret::{Contents, Explained, ProcessStatus, Step};
use entail_model::{Fired, State, StateBuf};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

pub struct Session<'a, 's> {
    /// The title of the session.
    pub title: String,
    pub sources: &'a Sources,
    interpreter: &'a Interpreter<'s>,
    ahead: Ahead<'a>,
    dice: Dice,
    timeline: Timeline,
    /// The number of steps before the current state. Further steps were undone.
    at: usize,
    state: StateBuf,
    /// The last step.
    last: Option<TraceStep<'s>>,
    filter: String,
    /// The default trail file.
    trail: PathBuf,
    outputs: Outputs,
    /// The provenance for trails.
    provenance: Option<Provenance>,
}

/// A user action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Takes a step, counted from 1.
    Choose(usize),
    Back(usize),
    Forward(usize),
    /// Jumps to the state after this number of steps.
    Jump(usize),
    /// Takes this number of random steps, or fewer if an error occurs.
    Random(usize),
    /// Shows only names that contain this text.
    Filter(String),
    /// Writes the run up to the current state as a trail.
    Write(Option<PathBuf>),
}

/// Why a random run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// At the requested number of steps.
    Enough,
    /// At an error.
    Wrong,
    /// At a state without enabled steps.
    End,
    /// At the maximum length of runs.
    Full,
}

/// A named value of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub name: String,
    pub value: String,
    /// Whether the last step changed it.
    pub changed: bool,
}

/// The maximum length of an interactive run.
const MOST_STEPS: usize = 10_000_000;

impl<'a, 's> Session<'a, 's> {
    pub fn new(
        title: String,
        (interpreter, sources): (&'a Interpreter<'s>, &'a Sources),
        mut ahead: Ahead<'a>,
        dice: Dice,
        (trail, outputs): (PathBuf, Outputs),
    ) -> Self {
        let state = super::start(interpreter);
        ahead.look(&state);
        let timeline = Timeline::new(state.clone());
        let (filter, provenance) = (String::new(), None);
        Session {
            title,
            sources,
            interpreter,
            ahead,
            dice,
            timeline,
            at: 0,
            state,
            last: None,
            filter,
            trail,
            outputs,
            provenance,
        }
    }

    /// Sets the provenance for trails.
    pub fn from(self, provenance: Provenance) -> Self {
        Session { provenance: Some(provenance), ..self }
    }

    /// Takes steps that are known to be enabled.
    pub fn after(mut self, steps: &[Step]) -> Self {
        for &step in steps.iter().take(MOST_STEPS) {
            super::timeline::take(step, &mut self.state, self.interpreter);
            self.timeline.push(step, &self.state);
        }
        self.go_to(self.timeline.len());
        self
    }

    /// Executes an action; returns a message, or an error.
    pub fn act(&mut self, act: Act) -> Result<String, String> {
        match act {
            Act::Choose(number) => {
                let index = number.checked_sub(1).filter(|index| *index < self.steps().len());
                self.take(index.ok_or_else(|| self.no_such_step(number))?)
            }
            Act::Back(_) if self.at == 0 => Err("this is the beginning".to_owned()),
            Act::Back(count) => self.arrive(self.at.saturating_sub(count)),
            Act::Forward(_) if self.at == self.timeline.len() => Err("no step was undone".to_owned()),
            Act::Forward(count) => self.arrive(self.at.saturating_add(count).min(self.timeline.len())),
            Act::Jump(to) if to > self.timeline.len() => {
                Err(format!("there are {} steps so far", self.timeline.len()))
            }
            Act::Jump(to) => self.arrive(to),
            Act::Random(count) => self.run(count).words().map_or(Ok(String::new()), |why| Err(why.to_owned())),
            Act::Filter(text) => {
                self.filter = text;
                Ok(String::new())
            }
            Act::Write(path) => {
                let path = path.unwrap_or_else(|| self.trail.clone());
                self.write(&path)?;
                Ok(format!("{} steps written to {}", self.at, path.display()))
            }
        }
    }

    /// Takes random steps up to a number, until an error or an end.
    pub fn run(&mut self, most: usize) -> Stopped {
        if self.steps().is_empty() {
            return self.stopped();
        }
        self.timeline.truncate(self.at);
        let mut why = Stopped::Enough;
        for _ in 0..most {
            let Some(index) = self.dice.choose(self.ahead.steps()) else { break };
            if self.timeline.len() >= MOST_STEPS {
                why = Stopped::Full;
                break;
            }
            let (fired, next) = self.ahead.outcome(index);
            let goes_on = !matches!(fired, Fired::Broken(_));
            if goes_on {
                self.state.clear();
                self.state.extend_from_slice(next);
            }
            self.timeline.push(self.ahead.steps()[index], &self.state);
            if fired != Fired::Done {
                break;
            }
            self.ahead.look(&self.state);
        }
        self.go_to(self.timeline.len());
        if why == Stopped::Full { why } else { self.stopped() }
    }

    fn stopped(&self) -> Stopped {
        if self.last.as_ref().is_some_and(|told| told.violation.is_some()) {
            Stopped::Wrong
        } else if self.steps().is_empty() {
            Stopped::End
        } else {
            Stopped::Enough
        }
    }

    fn take(&mut self, index: usize) -> Result<String, String> {
        let step = self.ahead.steps()[index];
        // Retaking the same step does not change the run.
        if self.timeline.step(self.at) == Some(step) {
            return self.arrive(self.at + 1);
        }
        if self.at >= MOST_STEPS {
            return Err(Stopped::Full.words().unwrap_or_default().to_owned());
        }
        self.timeline.truncate(self.at);
        let (fired, next) = self.ahead.outcome(index);
        let mut walk = Walk::resumed(self.interpreter, std::mem::take(&mut self.state), self.at);
        self.last = Some(walk.arrive(step, fired, next.to_vec()));
        self.state = walk.state;
        self.timeline.push(step, &self.state);
        self.at += 1;
        self.ahead.look(&self.state);
        Ok(String::new())
    }

    fn arrive(&mut self, at: usize) -> Result<String, String> {
        self.go_to(at);
        Ok(String::new())
    }

    fn go_to(&mut self, at: usize) {
        let before = at.saturating_sub(1);
        let mut walk = Walk::resumed(self.interpreter, self.timeline.state(before, self.interpreter), before);
        self.last = self.timeline.step(before).filter(|_| at > 0).map(|step| walk.take(step));
        self.state = walk.state;
        self.at = at;
        self.ahead.look(&self.state);
    }

    fn no_such_step(&self, number: usize) -> String {
        match self.steps().len() {
            0 => "no step is possible".to_owned(),
            1 => format!("there is no step {number}: only 1 is possible"),
            count => format!("there is no step {number}: 1 to {count} are possible"),
        }
    }

    fn write(&self, path: &Path) -> Result<(), String> {
        let file = BufWriter::new(self.outputs.create(path, Content::Trail)?);
        let mut record = Record::new(file, self.provenance.clone());
        // If the model cannot start, its step has no statement.
        let steps = if self.timeline.state(0, self.interpreter).is_empty() { &[] } else { self.timeline.steps() };
        for &step in &steps[..self.at.min(steps.len())] {
            record.add(step, self.interpreter.system());
        }
        output::finish_trail(record)
    }
}

/// Queries for display.
impl<'s> Session<'_, 's> {
    pub fn at(&self) -> usize {
        self.at
    }

    /// The number of steps, including undone ones.
    pub fn length(&self) -> usize {
        self.timeline.len()
    }

    pub fn last(&self) -> Option<&TraceStep<'s>> {
        self.last.as_ref()
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// The enabled steps.
    fn steps(&self) -> &[Step] {
        let goes_on = self.last.as_ref().is_none_or(|told| told.goes_on);
        if goes_on { self.ahead.steps() } else { &[] }
    }

    /// The same as text; `None` for the failing start of a model.
    pub fn choices(&self) -> Vec<Option<Explained<'s>>> {
        self.steps().iter().map(|&step| self.explain(step, &self.state)).collect()
    }

    /// The index of the undone step among them.
    pub fn taken_before(&self) -> Option<usize> {
        let next = self.timeline.step(self.at)?;
        self.steps().iter().position(|step| *step == next)
    }

    fn explain(&self, step: Step, state: &State) -> Option<Explained<'s>> {
        (!state.is_empty()).then(|| self.interpreter.explain(step, state))
    }

    /// Some steps of the run.
    pub fn history(&self, first: usize, count: usize) -> Vec<Option<Explained<'s>>> {
        let first = first.min(self.timeline.len());
        let mut state = self.timeline.state(first, self.interpreter);
        let steps = self.timeline.steps()[first..].iter().take(count);
        let told = steps.map(|&step| {
            let explained = self.explain(step, &state);
            super::timeline::take(step, &mut state, self.interpreter);
            explained
        });
        told.collect()
    }

    pub fn process_statuses(&self) -> Vec<ProcessStatus<'s>> {
        self.interpreter.process_statuses(&self.state)
    }

    /// Channels with contents, then variables, if they match the filter.
    pub fn values(&self) -> Vec<Value> {
        let channels = self.interpreter.channels(&self.state);
        let variables = self.interpreter.values(&self.state).into_iter();
        // The source panel shows the locations of processes.
        let variables = variables.filter(|(name, value)| {
            !value.starts_with("at ") && !channels.iter().any(|channel| channel.name == *name)
        });
        let all: Vec<_> = channels.iter().map(|channel| (channel.name.clone(), contents(channel))).collect();
        let changes = self.last.as_ref().map_or(&[][..], |told| &told.changes);
        let wanted = self.filter.to_lowercase();
        let shown = all.into_iter().chain(variables).filter(|(name, _)| name.to_lowercase().contains(&wanted));
        let value = |(name, value): (String, String)| {
            let changed = changes.iter().any(|change| change.name == name);
            Value { name, value, changed }
        };
        shown.map(value).collect()
    }

    /// A remark about the current state.
    pub fn remark(&self) -> Option<String> {
        if let Some(violation) = self.violation() {
            return Some(violation);
        }
        if self.steps().is_empty() {
            return Some(Ending::in_state(self.interpreter, &self.state).words());
        }
        let alone = self.state.first().and_then(|&exclusive| exclusive.checked_sub(1));
        let standing = alone.and_then(|process| self.process_statuses().get(usize::from(process)).copied());
        standing
            .map(|ProcessStatus { process, name, .. }| format!("{name}({process}) is inside an atomic sequence"))
    }

    /// The violation of the last step, or of an invalid end state.
    fn violation(&self) -> Option<String> {
        if let Some(told) = self.last.as_ref().filter(|told| told.violation.is_some()) {
            return told.violation.as_ref().map(|violation| violation.message.clone());
        }
        match Ending::in_state(self.interpreter, &self.state) {
            Ending::InvalidEnd(violation) => Some(violation.message),
            Ending::Error | Ending::Refuted | Ending::Cycle | Ending::End | Ending::Limit | Ending::Open => None,
        }
    }

    pub fn status(&self) -> Status {
        if self.violation().is_some() { Status::Violated } else { Status::Fine }
    }
}

impl Stopped {
    /// The reason as text.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Stopped::Enough => None,
            Stopped::Wrong => Some("an error occurred"),
            Stopped::End => Some("no step is possible"),
            Stopped::Full => Some("the run has reached its maximum length: write it as a trail"),
        }
    }
}

/// A step as text.
pub fn in_words(explained: Option<&Explained>) -> String {
    explained.map_or_else(|| "the model starts".to_owned(), action)
}

/// A step in short form.
pub fn in_few_words(explained: Option<&Explained>) -> String {
    explained.map_or_else(|| in_words(None), brief_action)
}

fn contents(channel: &Contents) -> String {
    let Contents { capacity, messages, .. } = channel;
    let messages: String = messages.iter().map(|message| format!(" [{message}]")).collect();
    match capacity {
        0 => "rendezvous".to_owned(),
        _ => format!("{} of {capacity}{messages}", channel.messages.len()),
    }
}
