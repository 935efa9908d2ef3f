//! Checks a model against its properties: a [`Config`] and an [`Input`] in, a [`Report`] out.
//!
//! ```
//! use entail_check::{Config, Input, Verdict, check};
//!
//! // Two processes read a counter, and write what they read plus one.
//! let model = "byte n, done;
//!     active [2] proctype P() {
//!         byte t;
//!         t = n; n = t + 1; done++;
//!         assert(done < 2 || n == 2)
//!     }";
//! let report = check(&Input::text("count.pml", model), &Config::default())?;
//! let safety = &report.properties[0];
//! assert_eq!(safety.verdict, Verdict::Violated);
//! let run = safety.counterexample().expect("a run to the violation");
//! assert_eq!(run.violation.kind.name(), "assertion");
//! print!("{}:\n{}", run.violation.message, run.last_steps.concat());
//! # Ok::<(), entail_check::Contradiction>(())
//! ```
//!
//! [`check()`] is a shortcut for one model. A [`Checker`] checks several models, notifies an [`Observer`], can be
//! interrupted, and resumes a search from a [`Checkpoint`]. Contradictory options are an error ([`Config::validate`]),
//! also in a deserialised `Config`.
//!
//! This library does not print, does not end the process, and reads neither the command line nor environment
//! variables. It reads the model, the files that the model includes and those that the `Config` names. It writes the
//! files that the `Config` names, and temporary files if memory runs out. It queries the operating system for the
//! available memory and cores.
//!
//! Modules other than [`config`] and [`report`] are for programs that process counterexamples: [`run`] represents
//! runs as data, and [`follow`] matches a [`trail`] with the steps of a model.

#![warn(missing_docs)]

mod check;
mod checker;
pub mod config;
mod contradictions;
mod coverage;
#[cfg(test)]
mod everywhere;
mod fairness_hint;
pub mod follow;
mod keep;
pub mod load;
mod log;
mod machine;
mod names;
mod observer;
pub mod output;
pub mod picture;
mod plan;
mod progress;
mod property;
pub mod provenance;
pub mod report;
pub mod run;
mod swarm;
pub mod trail;
pub mod trail_files;
pub mod units;
pub mod violation;
mod witness;

pub use checker::{Checker, Selection, check};
pub use config::Config;
pub use contradictions::Contradiction;
pub use entail_model::Progress;
pub use keep::Checkpoint;
pub use load::Input;
pub use machine::be_economical;
pub use observer::{Message, Observer};
pub use plan::trace_search;
pub use progress::Listener;
pub use property::forbidden;
pub use report::{Report, Verdict};
