//! Matches a trail with the steps of a model.

use crate::property::stations;
use crate::run::{Ending, TraceSource, TraceStep, Walk};
use crate::trail::{Move, Trail};
use crate::violation::Violation;
use entail_ir::interpret::Step;
use entail_ir::{EdgeId, Interpreter, Statement};
use entail_model::{Model, State};
use entail_temporal::Claim;

/// Follows a trail through a model.
pub struct Follow<'a, 's> {
    interpreter: &'a Interpreter<'s>,
    trail: &'a Trail,
    /// The index of the next move.
    at: usize,
    walk: Walk<'a, 's>,
    /// Whether the last step has no successor state.
    broken: bool,
    /// Whether the last step ended in an error.
    wrong: bool,
    merging: Option<Merging>,
}

/// Fills in the steps that a trail with merged statements omits.
struct Merging {
    /// For each move, the index of the next one of the same process; the number of moves if there is none.
    next: Vec<u32>,
    /// The last matched move.
    last: Option<usize>,
    /// The number of steps filled in since then.
    filled: usize,
    /// Steps to take after the last move.
    tail: Option<Vec<Step>>,
}

/// Merged statements form short chains.
const MAX_CHAIN: usize = 1000;

impl<'a, 's> Follow<'a, 's> {
    /// Follows a trail from the initial state.
    pub fn new(interpreter: &'a Interpreter<'s>, trail: &'a Trail) -> Self {
        let mut start = Vec::new();
        interpreter.initial_states(&mut |state| start = state.to_vec());
        let merging =
            trail.merged.then(|| Merging { next: next_moves(&trail.moves), last: None, filled: 0, tail: None });
        let walk = Walk::from(interpreter, start);
        Follow { interpreter, trail, at: 0, walk, broken: false, wrong: false, merging }
    }

    /// Also reports the state of a claim, if it accepts the run.
    pub fn watched_by(mut self, claim: &Claim) -> Self {
        let start = self.walk.state.clone();
        let Meant { steps, cycle_start, misfit: _ } = Meant::by(self.trail, self.interpreter);
        self.walk.stations = stations(claim, self.interpreter, &start, &steps, cycle_start);
        self
    }

    /// The violation, if this is an invalid end state.
    fn end(&self) -> Option<Violation> {
        if self.broken { None } else { Violation::invalid_end(self.interpreter, &self.walk.state) }
    }

    fn next_step(&mut self) -> Result<Option<Step>, String> {
        let steps = self.enabled(&self.walk.state);
        if self.walk.state.is_empty() {
            return Ok(steps.first().copied());
        }
        if let Some(step) = self.merged_step(&steps) {
            self.merging.iter_mut().for_each(|merging| merging.filled += 1);
            return Ok(Some(step));
        }
        let Some(&wanted) = self.trail.moves.get(self.at) else { return Ok(self.tail_step()) };
        let after = self.trail.moves.get(self.at + 1);
        let found = steps.iter().find_map(|&step| self.fits(step, wanted, after).map(|moves| (step, moves)));
        if let Some((step, moves)) = found {
            if let Some(merging) = &mut self.merging {
                merging.last = Some(self.at + moves - 1);
                merging.filled = 0;
            }
            self.at += moves;
            return Ok(Some(step));
        }
        // After a breadth-first search, `pan` ends the path to an invalid end state with a step that is not enabled.
        if after.is_none() && self.end().is_some() {
            return Ok(None);
        }
        Err(self.misfit(wanted))
    }

    /// The number of moves that match the step, if they do.
    fn fits(&self, step: Step, wanted: Move, after: Option<&Move>) -> Option<usize> {
        let is = |process: usize, edge, half: &Move| {
            process == half.process as usize && self.statement(edge).spin_id == half.statement
        };
        if !is(step.process(), step.edge(), &wanted) {
            return None;
        }
        match step.partner() {
            None => Some(1),
            // If a trace forbids the send, `pan` reports the error without the receive.
            Some(_) if after.is_none() && self.interpreter.system().monitor.is_some() => Some(1),
            Some((partner, edge)) => after.filter(|after| is(partner, edge, after)).map(|_| 2),
        }
    }

    /// A step that the trail omits because it was merged with the one before it: the process has not reached the
    /// statement of its next move yet, and has only one enabled step.
    fn merged_step(&self, steps: &[Step]) -> Option<Step> {
        let merging = self.merging.as_ref().filter(|merging| merging.filled < MAX_CHAIN)?;
        let last = merging.last?;
        let process = self.trail.moves[last].process as usize;
        let complete = match self.trail.moves.get(merging.next[last] as usize) {
            Some(next) => self.offers(process, next.statement),
            None => !self.interpreter.is_transient(&self.walk.state),
        };
        if complete { None } else { only_step(steps, process) }
    }

    /// The same after the end of the trail, up to the error.
    fn tail_step(&mut self) -> Option<Step> {
        if self.merging.as_ref()?.tail.is_none() {
            let mut tail = self.tail();
            tail.reverse();
            self.merging.as_mut()?.tail = Some(tail);
        }
        self.merging.as_mut()?.tail.as_mut()?.pop()
    }

    /// The steps to an error by processes without a choice; empty if there is no error.
    fn tail(&self) -> Vec<Step> {
        let mut tail = Vec::new();
        let mut walk = Walk::from(self.interpreter, self.walk.state.clone());
        let mut wrong = self.wrong;
        while !wrong && Violation::invalid_end(self.interpreter, &walk.state).is_none() {
            let steps = self.enabled(&walk.state);
            let step = steps.iter().find_map(|step| only_step(&steps, step.process()));
            let Some(step) = step.filter(|_| tail.len() < MAX_CHAIN) else { return Vec::new() };
            tail.push(step);
            wrong = walk.pass(step).is_some();
        }
        tail
    }

    fn enabled(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        self.interpreter.enabled(state, &mut steps);
        steps
    }

    /// Whether the statement leaves the current location of the process.
    fn offers(&self, process: usize, statement: u32) -> bool {
        let view = self.interpreter.view(&self.walk.state);
        let Some(process) = view.processes.get(process) else { return true };
        let system = self.interpreter.system();
        let location = &system.process_type(process.process_type).locations[process.location.index()];
        system.edges_of(location).iter().any(|edge| system.statement(edge.statement).spin_id == statement)
    }

    fn statement(&self, edge: EdgeId) -> &'s Statement {
        let system = self.interpreter.system();
        system.statement(system.edge(edge).statement)
    }

    fn misfit(&self, wanted: Move) -> String {
        let Move { step, process, statement } = wanted;
        let view = self.interpreter.view(&self.walk.state);
        let system = self.interpreter.system();
        let Some(there) = view.processes.get(process as usize) else {
            return format!("at step {step}: there is no process {process}");
        };
        let name = &system.process_type(there.process_type).name;
        let mut known = system.edges.iter().map(|edge| system.statement(edge.statement));
        match known.find(|known| known.spin_id == statement) {
            None => format!("at step {step}: there is no statement {statement}"),
            Some(Statement { text, file, line, .. }) => {
                format!("at step {step}: {name}({process}) cannot do `{text}` ({file}:{line}) there")
            }
        }
    }
}

/// The steps of a trail, up to the first error.
pub struct Meant {
    /// The steps.
    pub steps: Vec<Step>,
    /// The number of steps before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// The reason why the trail does not match the model, if it does not.
    pub misfit: Option<String>,
}

impl Meant {
    /// Matches a trail.
    pub fn by(trail: &Trail, interpreter: &Interpreter) -> Meant {
        let (mut steps, mut cycle_start) = (Vec::new(), None);
        let mut follow = Follow::new(interpreter, trail);
        let misfit = loop {
            if follow.is_at_cycle() {
                cycle_start = cycle_start.or(Some(steps.len()));
            }
            match follow.next_step() {
                Ok(Some(step)) => {
                    steps.push(step);
                    if follow.walk.pass(step).is_some() {
                        break None;
                    }
                }
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
        };
        Meant { steps, cycle_start, misfit }
    }
}

impl<'s> TraceSource<'s> for Follow<'_, 's> {
    fn interpreter(&self) -> &Interpreter<'s> {
        self.interpreter
    }

    fn state(&self) -> &State {
        &self.walk.state
    }

    fn next(&mut self) -> Result<Option<TraceStep<'s>>, String> {
        if self.broken {
            return Ok(None);
        }
        let Some(step) = self.next_step()? else { return Ok(None) };
        let told = self.walk.take(step);
        self.broken = !told.goes_on;
        self.wrong = told.violation.is_some();
        Ok(Some(told))
    }

    fn is_at_cycle(&self) -> bool {
        self.trail.cycle_start == Some(self.at)
    }

    fn ending(&self) -> Ending {
        match Ending::in_state(self.interpreter, &self.walk.state) {
            _ if self.wrong => Ending::Error,
            _ if self.trail.cycle_start.is_some() => Ending::Cycle,
            Ending::Open | Ending::End if !self.walk.stations.is_empty() => Ending::Refuted,
            ending => ending,
        }
    }
}

/// The only step of this process; `None` if it has several.
fn only_step(steps: &[Step], process: usize) -> Option<Step> {
    let mut own = steps.iter().filter(|step| step.process() == process);
    own.next().copied().filter(|_| own.next().is_none())
}

fn next_moves(moves: &[Move]) -> Vec<u32> {
    let mut upcoming = std::collections::HashMap::new();
    let mut next = vec![moves.len() as u32; moves.len()];
    for (index, one) in moves.iter().enumerate().rev() {
        if let Some(later) = upcoming.insert(one.process, index as u32) {
            next[index] = later;
        }
    }
    next
}
