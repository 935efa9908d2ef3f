//! Models written in Rust.
//!
//! A model is a type that implements [`Model`]: it says where a system starts, which actions are possible in a state, and where
//! each of them leads. [`Check`] explores every reachable state and answers for each [`Property`] whether it holds; if it does
//! not, there is a [`Run`] that shows it.
//!
//! ```
//! use entail_rust::{Check, Model, Property, Verdict};
//!
//! /// Two processes enter a room, and neither looks whether the other is inside.
//! struct Room;
//!
//! impl Model for Room {
//!     type State = [bool; 2];
//!     type Action = usize;
//!
//!     fn initial_states(&self) -> Vec<[bool; 2]> {
//!         vec![[false; 2]]
//!     }
//!
//!     fn actions(&self, _: &[bool; 2]) -> Vec<usize> {
//!         vec![0, 1]
//!     }
//!
//!     fn next(&self, inside: &[bool; 2], process: &usize) -> Option<[bool; 2]> {
//!         let mut next = *inside;
//!         next[*process] = !inside[*process];
//!         Some(next)
//!     }
//!
//!     fn properties(&self) -> Vec<Property<Self>> {
//!         vec![Property::always("mutual exclusion", |_, inside: &[bool; 2]| *inside != [true; 2])]
//!     }
//! }
//!
//! let report = Check::default().run(&Room)?;
//! let Verdict::Violated(run) = &report.properties[0].verdict else { panic!("it should not hold") };
//! assert_eq!(run.steps.len(), 2);
//! println!("{report}");
//! # Ok::<(), entail_rust::Error>(())
//! ```
//!
//! States are stored as bytes, by their implementation of [`serde`]'s traits. So they are as small as what they say, and every
//! store of entail can hold them. Two states are the same if their bytes are.

#![warn(missing_docs)]

/// The examples of the guide are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust-models.md")]
struct Guide;

mod check;
mod flat;
mod report;

pub use check::{Check, Order, Store};
pub use entail_temporal::Fairness;
pub use report::{Checked, Error, Report, Run, Verdict};

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A system with states and actions.
///
/// Its functions depend on nothing but their arguments: [`Check`] calls them again to show how a state was reached.
pub trait Model: Sync + Sized {
    /// All that decides what can happen next. A collection must have an order: use a `BTreeMap`, not a `HashMap`.
    type State: Clone + PartialEq + Debug + Serialize + DeserializeOwned;

    /// Something that can happen.
    type Action: Clone + Debug;

    /// Where the system may start.
    fn initial_states(&self) -> Vec<Self::State>;

    /// What may happen in a state, always in the same order.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// Where an action leads; `None` if it is not possible after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// What must hold.
    fn properties(&self) -> Vec<Property<Self>>;

    /// What the formulas of [`Property::ltl`] are about, by name.
    fn propositions(&self) -> Vec<(&'static str, Predicate<Self>)> {
        Vec::new()
    }

    /// Whether the system may stop in a state: then it is no deadlock.
    fn may_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// The process that takes an action, counted from 0. [Fairness](Check::fairness) is about processes.
    fn process(&self, _action: &Self::Action) -> usize {
        0
    }

    /// How many processes there are in a state.
    fn processes(&self, _state: &Self::State) -> usize {
        1
    }
}

/// Something that is true or false in a state of a model.
pub type Predicate<M> = fn(&M, &<M as Model>::State) -> bool;

/// Something that must hold for a model.
pub struct Property<M: Model> {
    name: String,
    kind: Kind<M>,
}

enum Kind<M: Model> {
    Always(Predicate<M>),
    Eventually(Predicate<M>),
    NoDeadlock,
    Ltl(String),
}

impl<M: Model> Property<M> {
    /// An invariant: the predicate is true in every reachable state.
    pub fn always(name: impl Into<String>, predicate: Predicate<M>) -> Self {
        Property { name: name.into(), kind: Kind::Always(predicate) }
    }

    /// On every run the predicate is true in some state.
    pub fn eventually(name: impl Into<String>, predicate: Predicate<M>) -> Self {
        Property { name: name.into(), kind: Kind::Eventually(predicate) }
    }

    /// In every reachable state an action is possible, or the system [may end](Model::may_end).
    pub fn no_deadlock() -> Self {
        Property { name: "no deadlock".into(), kind: Kind::NoDeadlock }
    }

    /// A formula of linear temporal logic over the model's [propositions](Model::propositions), in the notation of SPIN:
    /// `[] (request -> <> granted)`.
    pub fn ltl(name: impl Into<String>, formula: impl Into<String>) -> Self {
        Property { name: name.into(), kind: Kind::Ltl(formula.into()) }
    }
}
