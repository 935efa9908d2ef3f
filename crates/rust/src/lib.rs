//! Models written in Rust.
//!
//! A model is a type that implements [`Model`]: it defines the initial states, the actions in each state, and their
//! successors. [`Check`] explores every reachable state and gives a [`Verdict`] on each [`Property`]; a violated
//! property comes with a [`Run`] as a counterexample.
//!
//! ```
//! use entail_rust::{Check, Model, Property, Verdict};
//!
//! /// Two processes enter a room without checking whether the other is inside.
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
//! States are stored as bytes, through [`serde`]'s traits. So they take little memory, and every store of entail can
//! hold them. Two states are equal if their bytes are.

#![warn(missing_docs)]

/// The examples of the guide are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust-models.md")]
struct Guide;

mod check;
mod flat;
mod report;

pub use check::Check;
pub use entail_search::SearchOrder as Order;
pub use entail_store::StoreKind as Store;
pub use entail_temporal::Fairness;
pub use report::{Checked, Error, Report, Run, Verdict};

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A system with states and actions.
///
/// Its functions must depend only on their arguments: [`Check`] calls them again to reconstruct counterexamples.
pub trait Model: Sync + Sized {
    /// Everything that determines the possible actions. Collections must be ordered: use `BTreeMap` instead of
    /// `HashMap`.
    type State: Clone + PartialEq + Debug + Serialize + DeserializeOwned;

    /// A transition of the system.
    type Action: Clone + Debug;

    /// The initial states.
    fn initial_states(&self) -> Vec<Self::State>;

    /// The actions in a state, always in the same order.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// The successor by an action; `None` if the action is disabled.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// The properties to check.
    fn properties(&self) -> Vec<Property<Self>>;

    /// The propositions in the formulas of [`Property::ltl`], by name.
    fn propositions(&self) -> Vec<(&'static str, Predicate<Self>)> {
        Vec::new()
    }

    /// Whether the state is a valid end state: then it is not a deadlock.
    fn may_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// The process that takes an action, counted from 0. Used for [fairness](Check::fairness).
    fn process(&self, _action: &Self::Action) -> usize {
        0
    }

    /// The number of processes in a state.
    fn processes(&self, _state: &Self::State) -> usize {
        1
    }
}

/// A condition on states.
pub type Predicate<M> = fn(&M, &<M as Model>::State) -> bool;

/// A property of a model.
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
    /// An invariant: the predicate holds in every reachable state.
    pub fn always(name: impl Into<String>, predicate: Predicate<M>) -> Self {
        Property { name: name.into(), kind: Kind::Always(predicate) }
    }

    /// On every run, the predicate eventually holds.
    pub fn eventually(name: impl Into<String>, predicate: Predicate<M>) -> Self {
        Property { name: name.into(), kind: Kind::Eventually(predicate) }
    }

    /// Every reachable state has an enabled action or is a [valid end state](Model::may_end).
    pub fn no_deadlock() -> Self {
        Property { name: "no deadlock".into(), kind: Kind::NoDeadlock }
    }

    /// A formula of linear temporal logic over the model's [propositions](Model::propositions), in the notation of SPIN:
    /// `[] (request -> <> granted)`.
    pub fn ltl(name: impl Into<String>, formula: impl Into<String>) -> Self {
        Property { name: name.into(), kind: Kind::Ltl(formula.into()) }
    }
}
