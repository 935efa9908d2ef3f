//! What a check has found.

use crate::Model;
use std::fmt;

/// What is known about a model after a check.
pub struct Report<M: Model> {
    /// One entry for each property, in the order of the model.
    pub properties: Vec<Checked<M>>,
}

/// What is known about one property.
pub struct Checked<M: Model> {
    /// As the model calls it.
    pub name: String,
    /// The answer.
    pub verdict: Verdict<M>,
    /// How many states the search has stored.
    pub states: u64,
    /// How many transitions it has taken.
    pub transitions: u64,
    /// How many bytes it has needed.
    pub bytes: u64,
}

/// The answer to a property.
pub enum Verdict<M: Model> {
    /// Every run satisfies it.
    Holds,
    /// This run does not.
    Violated(Run<M>),
    /// A limit ended the search, or the store may have lost states.
    Inconclusive(String),
}

/// A run of a model.
pub struct Run<M: Model> {
    /// The state where it starts.
    pub start: M::State,
    /// Every action, and the state it leads to.
    pub steps: Vec<(M::Action, M::State)>,
    /// For an infinite run: how many steps come before the cycle, which is all that follows. If no step does, the run stays
    /// in its last state.
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
        for Checked { name, verdict, states, transitions, .. } in &self.properties {
            match verdict {
                Verdict::Holds => writeln!(f, "{name}: holds ({states} states, {transitions} transitions)")?,
                Verdict::Inconclusive(reason) => writeln!(f, "{name}: inconclusive, {reason} ({states} states)")?,
                Verdict::Violated(run) => {
                    writeln!(f, "{name}: violated after {} steps ({states} states)", run.steps.len())?;
                    write!(f, "{run}")?;
                }
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

/// Why a model cannot be checked: none of this is a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A function of the model panicked.
    Panic {
        /// What the panic said.
        message: String,
        /// The state in which the function was called, if there was one.
        state: Option<String>,
    },
    /// A state is not equal to the one that its bytes give back, so that states would be confused.
    Encoding {
        /// The state.
        state: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A function of the model gave another answer than the time before.
    Nondeterminism {
        /// The state in which it was asked.
        state: String,
    },
    /// A formula cannot be used.
    Formula {
        /// The property that has it.
        property: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The options contradict each other, or ask for what is not possible.
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
