//! Executes a run step by step, and describes each step.

use crate::violation::Violation;
use entail_ir::Interpreter;
use entail_ir::interpret::{Change, Explained, Step};
use entail_model::{Fault, Fired, Model, Propositional, StateBuf};
use std::fmt::Write as _;
use std::ops::Range;

/// Executes the steps of a run.
pub struct Walk<'a, 's> {
    interpreter: &'a Interpreter<'s>,
    /// The current state.
    pub state: StateBuf,
    taken: usize,
    /// Omits changes from the description.
    pub brief: bool,
    /// The propositions that held in the last stable state, one bit each.
    pub held: u64,
    /// The claim's state in each stable state of the run, if it is known.
    pub stations: Vec<String>,
    /// The number of stable states after the first one.
    stable: usize,
}

/// One step of a run.
pub struct TraceStep<'s> {
    /// Counted from 1.
    pub number: usize,
    /// `None` if the model cannot start.
    pub explained: Option<Explained<'s>>,
    /// The values that the step changes.
    pub changes: Vec<Change>,
    /// Propositions whose truth value changed, with the new value.
    pub truths: Vec<(&'s str, bool)>,
    /// The claim's states before and after the step.
    pub claim: Option<(String, String)>,
    /// The error that the step ends in.
    pub violation: Option<Violation>,
    /// Whether the step has a successor state.
    pub goes_on: bool,
}

impl<'a, 's> Walk<'a, 's> {
    /// Starts in this state.
    pub fn from(interpreter: &'a Interpreter<'s>, start: StateBuf) -> Self {
        Walk::resumed(interpreter, start, 0)
    }

    /// Starts in a state that is reached after this number of steps.
    pub fn resumed(interpreter: &'a Interpreter<'s>, state: StateBuf, taken: usize) -> Self {
        let held = interpreter.valuation(&state, &mut ()).holds;
        Walk { interpreter, state, taken, brief: false, held, stations: Vec::new(), stable: 0 }
    }

    /// Takes a step without a description.
    pub fn pass(&mut self, step: Step) -> Option<Fault> {
        self.taken += 1;
        let fired = self.interpreter.fire(step, &mut self.state);
        self.look();
        match fired {
            Fired::Done => None,
            Fired::Failed(fault) | Fired::Broken(fault) => Some(fault),
        }
    }

    /// Evaluates the propositions in a stable state; returns those that changed.
    fn look(&mut self) -> u64 {
        if self.interpreter.is_transient(&self.state) {
            return 0;
        }
        self.stable += 1;
        let holds = self.interpreter.valuation(&self.state, &mut ()).holds;
        holds ^ std::mem::replace(&mut self.held, holds)
    }

    /// Takes an enabled step.
    pub fn take(&mut self, step: Step) -> TraceStep<'s> {
        let mut after = self.state.clone();
        let fired = self.interpreter.fire(step, &mut after);
        self.arrive(step, fired, after)
    }

    /// The same if the outcome of the step is known already.
    pub fn arrive(&mut self, step: Step, fired: Fired, after: StateBuf) -> TraceStep<'s> {
        self.taken += 1;
        let started = !self.state.is_empty();
        let explained = started.then(|| self.interpreter.explain(step, &self.state));
        let (fault, goes_on) = match fired {
            Fired::Done => (None, true),
            Fired::Failed(fault) => (Some(fault), true),
            Fired::Broken(fault) => (Some(fault), false),
        };
        let mut changes = Vec::new();
        if goes_on {
            let before = std::mem::replace(&mut self.state, after);
            if started && !self.brief {
                changes = self.interpreter.changes(&before, &self.state);
            }
        }
        let stable = self.stable;
        let changed = if goes_on { self.look() } else { 0 };
        let claim = self.stations.get(stable).cloned().zip(self.stations.get(self.stable).cloned());
        let system = self.interpreter.system();
        let truths = system.propositions.iter().enumerate().filter(|(bit, _)| changed >> bit & 1 == 1);
        let truths = truths
            .map(|(bit, (_, statement))| (system.statement(*statement).text.as_str(), self.held >> bit & 1 == 1));
        let truths = truths.collect();
        let violation = fault.map(|fault| Violation::fault(self.interpreter, fault, started));
        TraceStep { number: self.taken, explained, changes, truths, claim, violation, goes_on }
    }
}

/// The number of last steps to describe.
const LAST_STEPS: usize = 10;
/// The maximum length of a cycle to describe.
const LONGEST_ROUND: usize = 30;
/// The line before the cycle.
pub const AGAIN: &str = "       the following steps repeat forever\n";

impl<'s> Walk<'_, 's> {
    /// Takes all of these steps, and describes the last of them. The cycle begins after `begins` steps.
    pub fn tell_last(&mut self, steps: &[Step], begins: Option<usize>) -> Vec<String> {
        let wholes = self.wholes(steps);
        let all = wholes.len();
        let begins = begins.map(|begins| wholes.partition_point(|whole| whole.start < begins));
        let round = all.saturating_sub(begins.unwrap_or(all)).min(LONGEST_ROUND);
        let (early, late) = wholes.split_at(all.saturating_sub(LAST_STEPS.max(round)));
        for whole in early {
            for &step in &steps[whole.clone()] {
                self.pass(step);
            }
            self.taken = self.taken + 1 - whole.len();
        }
        let told = (early.len()..).zip(late).map(|(index, whole)| {
            let remark = if Some(index) == begins { AGAIN } else { "" };
            format!("{remark}{}", self.take_whole(&steps[whole.clone()]).text())
        });
        told.collect()
    }

    /// Takes steps that form one atomic step of the model; there is at least one.
    fn take_whole(&mut self, steps: &[Step]) -> TraceStep<'s> {
        let before = self.state.clone();
        let mut told = self.take(steps[0]);
        for &step in &steps[1..] {
            self.taken -= 1;
            told.join(self.take(step));
        }
        if steps.len() > 1 && !self.brief {
            told.changes = self.interpreter.changes(&before, &self.state);
        }
        told
    }

    /// Groups the steps that form one atomic step of the model.
    pub fn wholes(&self, steps: &[Step]) -> Vec<Range<usize>> {
        if !self.interpreter.system().joins_atomic {
            return (0..steps.len()).map(|step| step..step + 1).collect();
        }
        let (mut wholes, mut start, mut state) = (Vec::new(), 0, self.state.clone());
        for (end, &step) in (1..).zip(steps) {
            let is_broken = self.interpreter.fire(step, &mut state).is_broken();
            if is_broken || end == steps.len() || !self.interpreter.is_transient(&state) {
                wholes.push(start..end);
                start = end;
            }
        }
        wholes
    }

    /// Takes all of these steps, and describes each in short form.
    pub fn actions(&mut self, steps: &[Step]) -> Vec<String> {
        let wholes = self.wholes(steps);
        let action = |whole: Range<usize>| {
            let explained = self.take_whole(&steps[whole]).explained;
            explained.as_ref().map_or(String::new(), brief_action)
        };
        wholes.into_iter().map(action).collect()
    }
}

impl TraceStep<'_> {
    /// Whether the step starts or ends a process.
    pub fn starts_or_ends(&self) -> bool {
        let mut processes = self.changes.iter().filter(|change| super::is_process(&change.name));
        processes.any(|change| change.before.is_empty() || change.after.is_empty())
    }

    /// A line for the step, and further lines for output and changes.
    pub fn text(&self) -> String {
        let mut text = format!("{:>5}  ", self.number);
        let margin = " ".repeat(7);
        match &self.explained {
            // Writing to a string cannot fail.
            Some(explained) => drop(write!(text, "{}", action(explained))),
            None => text += "the model starts",
        }
        text.push('\n');
        if let Some(output) = self.explained.as_ref().and_then(|explained| explained.output.as_ref()) {
            let _ = writeln!(text, "{margin}  prints {output:?}");
        }
        let changes: Vec<_> = self.changes.iter().filter_map(change).collect();
        if !changes.is_empty() {
            let _ = writeln!(text, "{margin}  {}", changes.join(", "));
        }
        for (proposition, holds) in &self.truths {
            let _ = writeln!(text, "{margin}  `{proposition}` becomes {holds}");
        }
        if let Some((before, now)) = self.claim.as_ref().filter(|(before, now)| before != now) {
            let _ = writeln!(text, "{margin}  claim: {before} → {now}");
        }
        if let Some(violation) = &self.violation {
            let _ = writeln!(text, "{margin}  {}", violation.message);
        }
        text
    }
}

/// The process and the statement.
pub fn brief_action(Explained { process, process_name, statement, .. }: &Explained) -> String {
    format!("{process_name}({process}): {}", statement.text)
}

/// The process, the statement and its position.
pub fn action(explained: &Explained) -> String {
    let Explained { process, process_name, statement, partner, .. } = explained;
    let mut who = format!("{process_name}({process})");
    let mut what = statement.text.clone();
    if let Some((partner, name, reply)) = partner {
        let _ = write!(who, " → {name}({partner})");
        let _ = write!(what, "  →  {}  {}:{}", reply.text, reply.file, reply.line);
    }
    let place = format!("{}:{}", statement.file, statement.line);
    format!("{who:<14} {place:<16} {what}")
}

/// A changed value; `None` for control locations, which the next steps show.
fn change(change: &Change) -> Option<String> {
    let Change { name, before, after } = change;
    let is_process = before.starts_with("at ") || after.starts_with("at ");
    match (is_process, before.is_empty(), after.is_empty()) {
        (true, true, _) => Some(format!("{name} starts")),
        (true, _, true) => Some(format!("{name} ends")),
        (true, false, false) | (false, true, _) | (false, _, true) => None,
        (false, false, false) => Some(format!("{name}: {before} → {after}")),
    }
}
