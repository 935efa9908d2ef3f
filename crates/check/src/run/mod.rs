//! Runs as data: the steps, states and messages of a trail or a simulation, for every view of runs.

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

/// A source of the steps of a run.
pub trait TraceSource<'s> {
    /// The model.
    fn interpreter(&self) -> &Interpreter<'s>;

    /// The current state.
    fn state(&self) -> &State;

    /// Takes the next step; `None` at the end, and an error if the given next step is not enabled.
    fn next(&mut self) -> Result<Option<TraceStep<'s>>, String>;

    /// From now on, steps need no changes, only output and errors.
    fn be_brief(&mut self) {}

    /// Whether the next step is the first of the cycle.
    fn is_at_cycle(&self) -> bool;

    /// Why there is no next step.
    fn ending(&self) -> Ending;
}

/// How a run ends.
#[derive(Clone, Debug)]
pub enum Ending {
    /// In an invalid end state.
    InvalidEnd(Violation),
    /// In an error of its last step.
    Error,
    /// With a bad prefix of the property.
    Refuted,
    /// It does not end: it is a lasso.
    Cycle,
    /// In a valid end state.
    End,
    /// At the maximum number of steps.
    Limit,
    /// At the end of the trail, with steps still enabled.
    Open,
}

/// The model and the origin of a run.
pub struct Titles {
    /// The file of the model.
    pub model: String,
    /// The origin of the run.
    pub origin: Origin,
}

/// The origin of a run.
pub enum Origin {
    /// A trail, by its file name.
    Trail(String),
    /// A random simulation, which may begin with a trail.
    Chance {
        /// The seed.
        seed: u64,
        /// The file name of the trail.
        along: Option<String>,
    },
}

/// A run as data.
pub struct Run<'s> {
    /// The initial state.
    pub start: Snapshot<'s>,
    /// The steps, from the first to the last.
    pub steps: Vec<Taken<'s>>,
    /// The number of steps before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// How it ends.
    pub ending: Ending,
}

/// A step of a run, with its target state.
pub struct Taken<'s> {
    /// The step.
    pub told: TraceStep<'s>,
    /// The messages sent and received.
    pub messages: Vec<Passing>,
    /// The state after it.
    pub after: Snapshot<'s>,
}

/// A state as text.
#[derive(Clone, Debug, Default)]
pub struct Snapshot<'s> {
    /// The control locations of processes, by process number.
    pub processes: Vec<ProcessStatus<'s>>,
    /// The names and values of variables and processes.
    pub values: Vec<(String, String)>,
    /// The channels with their messages.
    pub channels: Vec<Contents>,
}

/// The maximum total number of values in the states of a run in memory.
const MOST_VALUES: usize = 20_000_000;

impl<'s> Run<'s> {
    /// The whole run, and the error if a given step is not enabled.
    pub fn of(source: &mut dyn TraceSource<'s>) -> (Run<'s>, Option<String>) {
        let start = Snapshot::of(source);
        let mut matcher = MessageMatcher::new(&start);
        let mut run = Run { start, steps: Vec::new(), cycle_start: None, ending: Ending::Open };
        let mut kept = 0;
        let misfit = loop {
            if source.is_at_cycle() {
                run.cycle_start.get_or_insert(run.steps.len());
            }
            let told = match source.next() {
                Ok(Some(told)) => told,
                Ok(None) => break None,
                Err(why) => break Some(why),
            };
            let after = Snapshot::of(source);
            kept += after.values.len() + 1;
            if kept > MOST_VALUES {
                break Some(format!("at step {}: the run is too long for this view", told.number));
            }
            matcher.look(run.steps.len(), &told, &after);
            run.steps.push(Taken { told, messages: Vec::new(), after });
        };
        for (step, passing) in matcher.done() {
            run.steps[step].messages.push(passing);
        }
        run.ending = source.ending();
        (run, misfit)
    }

    /// The state after this number of steps.
    pub fn snapshot(&self, after: usize) -> &Snapshot<'s> {
        after.checked_sub(1).map_or(&self.start, |step| &self.steps[step].after)
    }

    /// All processes of the run by number, each with the name of the first process of that number.
    pub fn processes(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for snapshot in (0..=self.steps.len()).map(|after| self.snapshot(after)) {
            let new = snapshot.processes.get(names.len()..).unwrap_or_default();
            names.extend(new.iter().map(|process| process.name));
        }
        names
    }

    /// The names of all variables in the run, in the order of the model.
    pub fn variables(&self) -> Vec<&str> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        for after in 0..=self.steps.len() {
            // The variables change only with the processes.
            if after == 0 || self.steps[after - 1].told.starts_or_ends() {
                let variables = self.snapshot(after).values.iter().map(|(name, _)| name.as_str());
                names.extend(variables.filter(|name| !is_process(name) && known.insert(*name)));
            }
        }
        names
    }

    /// The names of the values that change.
    pub fn changing(&self) -> HashSet<&str> {
        self.steps.iter().flat_map(|taken| &taken.told.changes).map(|change| change.name.as_str()).collect()
    }

    /// The violation at the end of the run.
    pub fn error(&self) -> Option<&Violation> {
        let last = || self.steps.iter().rev().find_map(|taken| taken.told.violation.as_ref());
        match &self.ending {
            Ending::InvalidEnd(violation) => Some(violation),
            Ending::Error | Ending::Refuted | Ending::Cycle | Ending::End | Ending::Limit | Ending::Open => last(),
        }
    }
}

/// Whether the name of a value is that of a process: these end in a number.
pub fn is_process(name: &str) -> bool {
    name.ends_with(')')
}

impl Titles {
    /// The headline of a run.
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

    /// The message for a given step that is not enabled.
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
    fn of(source: &dyn TraceSource<'s>) -> Snapshot<'s> {
        let (interpreter, state) = (source.interpreter(), source.state());
        Snapshot {
            processes: interpreter.process_statuses(state),
            values: interpreter.values(state),
            channels: interpreter.channels(state),
        }
    }

    /// The value of a variable, or the location of a process.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Ending {
    /// The ending of a run whose last state is `state`.
    pub fn in_state(interpreter: &Interpreter, state: &State) -> Ending {
        let mut steps = Vec::new();
        entail_model::Model::enabled(interpreter, state, &mut steps);
        match Violation::invalid_end(interpreter, state) {
            Some(violation) => Ending::InvalidEnd(violation),
            None if steps.is_empty() => Ending::End,
            None => Ending::Open,
        }
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Ending::InvalidEnd(_) => "invalid_end",
            Ending::Error => "error",
            Ending::Refuted => "refuted",
            Ending::Cycle => "cycle",
            Ending::End => "end",
            Ending::Limit => "limit",
            Ending::Open => "open",
        }
    }

    /// Whether the run violates a property.
    pub fn is_error(&self) -> bool {
        match self {
            Ending::InvalidEnd(_) | Ending::Error | Ending::Refuted | Ending::Cycle => true,
            Ending::End | Ending::Limit | Ending::Open => false,
        }
    }

    /// The sentence of [`words`](Self::words), and its explanations.
    pub fn sentences(&self) -> Vec<String> {
        let reasons = match self {
            Ending::InvalidEnd(violation) => &violation.reasons[..],
            Ending::Error | Ending::Refuted | Ending::Cycle | Ending::End | Ending::Limit | Ending::Open => &[],
        };
        [&[self.words()], reasons].concat()
    }

    /// The ending as a sentence.
    pub fn words(&self) -> String {
        match self {
            Ending::InvalidEnd(violation) => format!("The run ends here: {}", violation.message),
            Ending::Error => "The run ends here, in an error.".to_owned(),
            Ending::Refuted => "The run ends here: the property is violated, however the run continues.".to_owned(),
            Ending::Cycle => "The run repeats this cycle forever.".to_owned(),
            Ending::End | Ending::Open => "The run ends here, without an error.".to_owned(),
            Ending::Limit => "The run stops here: further steps are possible.".to_owned(),
        }
    }
}
