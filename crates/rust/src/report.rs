//! The results of a check.

use crate::Model;
use std::fmt;

/// The results of checking a model.
pub struct Report<M: Model> {
    /// One entry for each property, in the order of the model.
    pub properties: Vec<Checked<M>>,
}

/// The result for one property.
pub struct Checked<M: Model> {
    /// The name that the model gives to the property.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict<M>,
    /// The number of states stored by the search.
    pub states: u64,
    /// The number of transitions taken by the search.
    pub transitions: u64,
    /// The memory used by the search, in bytes.
    pub bytes: u64,
    /// Why several threads could not be started. Then one did all the work.
    pub no_threads: Option<String>,
}

/// The verdict on a property.
pub enum Verdict<M: Model> {
    /// Every run satisfies it.
    Holds,
    /// This run violates it.
    Violated(Run<M>),
    /// A limit ended the search, or the store may have omitted states.
    Inconclusive(String),
}

/// A run of a model.
pub struct Run<M: Model> {
    /// The initial state.
    pub start: M::State,
    /// Each action, and its target.
    pub steps: Vec<(M::Action, M::State)>,
    /// For an infinite run: the number of steps before the cycle, which repeats forever. If no step follows, the run
    /// stays in its last state.
    pub cycle_start: Option<usize>,
}

impl<M: Model> Report<M> {
    /// Whether every property holds.
    pub fn holds(&self) -> bool {
        self.properties.iter().all(|property| matches!(property.verdict, Verdict::Holds))
    }

    /// The entry of a property.
    pub fn property(&self, name: &str) -> Option<&Checked<M>> {
        self.properties.iter().find(|property| property.name == name)
    }
}

impl<M: Model> fmt::Display for Report<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Checked { name, verdict, states, transitions, no_threads, .. } in &self.properties {
            match verdict {
                Verdict::Holds => writeln!(f, "{name}: holds ({states} states, {transitions} transitions)")?,
                Verdict::Inconclusive(reason) => writeln!(f, "{name}: inconclusive, {reason} ({states} states)")?,
                Verdict::Violated(run) => {
                    writeln!(f, "{name}: violated after {} steps ({states} states)", run.steps.len())?;
                    write!(f, "{run}")?;
                }
            }
            if let Some(reason) = no_threads {
                writeln!(f, "      no further threads could be started: {reason}")?;
            }
        }
        Ok(())
    }
}

impl<M: Model> fmt::Display for Run<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "      {:?}", self.start)?;
        for (number, (action, state)) in self.steps.iter().enumerate() {
            if self.cycle_start == Some(number) {
                writeln!(f, "      the cycle starts here")?;
            }
            writeln!(f, "{:4}. {action:?}\n      {state:?}", number + 1)?;
        }
        if self.cycle_start == Some(self.steps.len()) {
            writeln!(f, "      the run stays here")?;
        }
        Ok(())
    }
}

/// The reason why a model cannot be checked. It is not a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A function of the model panicked.
    Panic {
        /// The panic message.
        message: String,
        /// The state with which the function was called, if any.
        state: Option<String>,
    },
    /// Decoding the encoding of a state gives a different state, so that the search would confuse states.
    Encoding {
        /// The state.
        state: String,
        /// The problem.
        reason: String,
    },
    /// A function of the model returned different results for the same state.
    Nondeterminism {
        /// The state.
        state: String,
    },
    /// A formula is invalid.
    Formula {
        /// The property of the formula.
        property: String,
        /// The problem.
        reason: String,
    },
    /// The options contradict each other, or are not supported.
    Options(String),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Panic { message, state: Some(state) } => {
                write!(f, "the model panicked in state {state}: {message}")
            }
            Error::Panic { message, state: None } => write!(f, "the model panicked: {message}"),
            Error::Encoding { state, reason } => write!(
                f,
                "state {state} cannot be stored: {reason}; derive `PartialEq`, `Serialize` and `Deserialize` from all of its \
                 fields, and use ordered collections"
            ),
            Error::Nondeterminism { state } => write!(
                f,
                "the actions in state {state} are not the same as before; a model must depend on the state alone"
            ),
            Error::Formula { property, reason } => write!(f, "property `{property}`: {reason}"),
            Error::Options(reason) => f.write_str(reason),
        }
    }
}
