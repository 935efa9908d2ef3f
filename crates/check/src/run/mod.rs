//! Runs, however they came about: followed along a trail, or made up step by step.

mod passing;
mod walk;
mod whole;

pub use passing::{Direction, Passing};
pub use walk::{AGAIN, TraceStep, Walk, action, brief_action};
pub use whole::Whole;

use crate::violation::Violation;
use entail_ir::Interpreter;
use entail_ir::interpret::{Contents, ProcessStatus};
use entail_model::State;
use passing::MessageMatcher;
use std::collections::HashSet;

/// What takes one step after the other and tells about it.
pub trait TraceSource<'s> {
    /// The model.
    fn interpreter(&self) -> &Interpreter<'s>;

    /// Where the run is now.
    fn state(&self) -> &State;

    /// Takes the next step; `None` at the end, and a reason if what should come next is impossible.
    fn next(&mut self) -> Result<Option<TraceStep<'s>>, String>;

    /// From now on, nobody asks what steps change: only what they print, and what goes wrong.
    fn be_brief(&mut self) {}

    /// Whether the next step is the first of those repeated for ever.
    fn is_at_cycle(&self) -> bool;

    /// Why there is no next step.
    fn ending(&self) -> Ending;
}

/// How a run ends.
#[derive(Clone, Debug)]
pub enum Ending {
    /// In a state where it must not.
    Wrong(Violation),
    /// Its last step went wrong.
    Failed,
    /// What was asked of it cannot come true any more.
    Refuted,
    /// It does not: from somewhere on it is repeated.
    Never,
    /// All processes have come to where they may end.
    Done,
    /// So many steps were asked for.
    Enough,
    /// The trail ends, but processes could go on.
    Open,
}

/// What a run is a run of, and where it comes from.
pub struct Titles {
    /// The file of the model.
    pub model: String,
    /// Where the run comes from.
    pub origin: Origin,
}

/// Where a run comes from.
pub enum Origin {
    /// The name of a file.
    Trail(String),
    /// Chance, as it was with this seed; before that a trail, if there is a file.
    Chance {
        /// The seed.
        seed: u64,
        /// The name of the trail's file.
        along: Option<String>,
    },
}

/// A run as data.
pub struct Run<'s> {
    /// The initial state.
    pub start: Snapshot<'s>,
    /// The steps, from the first to the last.
    pub steps: Vec<Taken<'s>>,
    /// How many steps come before those that are repeated for ever.
    pub cycle_start: Option<usize>,
    /// How it ends.
    pub ending: Ending,
}

/// A step of a run, and what it leads to.
pub struct Taken<'s> {
    /// The step.
    pub told: TraceStep<'s>,
    /// The messages that it sends and receives.
    pub passings: Vec<Passing>,
    /// The state after it.
    pub after: Snapshot<'s>,
}

/// All there is in a state, in words.
#[derive(Clone, Debug, Default)]
pub struct Snapshot<'s> {
    /// Where processes are, by their numbers.
    pub processes: Vec<ProcessStatus<'s>>,
    /// Names and values, of variables and of processes.
    pub values: Vec<(String, String)>,
    /// Channels, with their messages.
    pub channels: Vec<Contents>,
}

/// A run whose states have more values than that, all told, is not kept in memory.
const MOST_VALUES: usize = 20_000_000;

impl<'s> Run<'s> {
    /// The whole run, as far as it is possible, and why it goes no further if it should.
    pub fn of(telling: &mut dyn TraceSource<'s>) -> (Run<'s>, Option<String>) {
        let start = Snapshot::of(telling);
        let mut couriers = MessageMatcher::new(&start);
        let mut run = Run { start, steps: Vec::new(), cycle_start: None, ending: Ending::Open };
        let mut kept = 0;
        let misfit = loop {
            if telling.is_at_cycle() {
                run.cycle_start.get_or_insert(run.steps.len());
            }
            let told = match telling.next() {
                Ok(Some(told)) => told,
                Ok(None) => break None,
                Err(why) => break Some(why),
            };
            let after = Snapshot::of(telling);
            kept += after.values.len() + 1;
            if kept > MOST_VALUES {
                break Some(format!("at step {}: the run is too long to be seen as a whole", told.number));
            }
            couriers.look(run.steps.len(), &told, &after);
            run.steps.push(Taken { told, passings: Vec::new(), after });
        };
        for (step, passing) in couriers.done() {
            run.steps[step].passings.push(passing);
        }
        run.ending = telling.ending();
        (run, misfit)
    }

    /// The state after so many steps.
    pub fn snapshot(&self, after: usize) -> &Snapshot<'s> {
        after.checked_sub(1).map_or(&self.start, |step| &self.steps[step].after)
    }

    /// All processes that there ever are, by their numbers, with the names of those that had them first.
    pub fn processes(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for snapshot in (0..=self.steps.len()).map(|after| self.snapshot(after)) {
            let new = snapshot.processes.get(names.len()..).unwrap_or_default();
            names.extend(new.iter().map(|standing| standing.name));
        }
        names
    }

    /// The names of all variables that there ever are, in the order of the model.
    pub fn variables(&self) -> Vec<&str> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        for after in 0..=self.steps.len() {
            // As long as processes are the same, so are variables.
            if after == 0 || self.steps[after - 1].told.starts_or_ends() {
                let variables = self.snapshot(after).values.iter().map(|(name, _)| name.as_str());
                names.extend(variables.filter(|name| !is_process(name) && known.insert(*name)));
            }
        }
        names
    }

    /// The names of what changes on the way.
    pub fn changing(&self) -> HashSet<&str> {
        self.steps.iter().flat_map(|taken| &taken.told.changes).map(|change| change.name.as_str()).collect()
    }

    /// What is wrong with the run.
    pub fn error(&self) -> Option<&Violation> {
        let last = || self.steps.iter().rev().find_map(|taken| taken.told.violation.as_ref());
        match &self.ending {
            Ending::Wrong(violation) => Some(violation),
            Ending::Failed | Ending::Refuted | Ending::Never | Ending::Done | Ending::Enough | Ending::Open => {
                last()
            }
        }
    }
}

/// Among all that has a value in a state, processes are those with a number behind their name.
pub fn is_process(name: &str) -> bool {
    name.ends_with(')')
}

impl Titles {
    /// A line above all others.
    pub fn headline(&self) -> String {
        let Titles { model, origin } = self;
        match origin {
            Origin::Trail(trail) => format!("{trail}, replayed on {model}"),
            Origin::Chance { seed, along: None } => format!("{model}, run at random with seed {seed}"),
            Origin::Chance { seed, along: Some(trail) } => {
                format!("{model}, run along {trail} and then at random with seed {seed}")
            }
        }
    }

    /// The run should go on in a way that is not possible.
    pub fn misfit(&self, why: &str) -> String {
        match &self.origin {
            Origin::Trail(trail) | Origin::Chance { along: Some(trail), .. } => {
                format!("{trail} does not fit this model {why}")
            }
            Origin::Chance { along: None, .. } => format!("the run breaks off {why}"),
        }
    }
}

impl<'s> Snapshot<'s> {
    fn of(telling: &dyn TraceSource<'s>) -> Snapshot<'s> {
        let (interpreter, state) = (telling.interpreter(), telling.state());
        Snapshot {
            processes: interpreter.process_statuses(state),
            values: interpreter.values(state),
            channels: interpreter.channels(state),
        }
    }

    /// The value of a variable, or where a process is.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Ending {
    /// How a run ends in `state`, in which no step is taken any more.
    pub fn in_state(interpreter: &Interpreter, state: &State) -> Ending {
        let mut steps = Vec::new();
        entail_model::Model::enabled(interpreter, state, &mut steps);
        match Violation::invalid_end(interpreter, state) {
            Some(violation) => Ending::Wrong(violation),
            None if steps.is_empty() => Ending::Done,
            None => Ending::Open,
        }
    }

    /// For programs.
    pub fn name(&self) -> &'static str {
        match self {
            Ending::Wrong(_) => "invalid_end",
            Ending::Failed => "error",
            Ending::Refuted => "refuted",
            Ending::Never => "cycle",
            Ending::Done => "end",
            Ending::Enough => "limit",
            Ending::Open => "open",
        }
    }

    /// Whether the run breaks a property.
    pub fn is_error(&self) -> bool {
        match self {
            Ending::Wrong(_) | Ending::Failed | Ending::Refuted | Ending::Never => true,
            Ending::Done | Ending::Enough | Ending::Open => false,
        }
    }

    /// A sentence, and what explains it.
    pub fn told(&self) -> Vec<String> {
        let reasons = match self {
            Ending::Wrong(violation) => &violation.reasons[..],
            Ending::Failed | Ending::Refuted | Ending::Never | Ending::Done | Ending::Enough | Ending::Open => &[],
        };
        [&[self.words()], reasons].concat()
    }

    /// A sentence.
    pub fn words(&self) -> String {
        match self {
            Ending::Wrong(violation) => format!("The run ends here: {}", violation.message),
            Ending::Failed => "The run ends here, in an error.".to_owned(),
            Ending::Refuted => "The run ends here: the property is broken, whatever comes next.".to_owned(),
            Ending::Never => "The run goes on like that for ever.".to_owned(),
            Ending::Done | Ending::Open => "The run ends here, without an error.".to_owned(),
            Ending::Enough => "The run is cut off here: it could go on.".to_owned(),
        }
    }
}
