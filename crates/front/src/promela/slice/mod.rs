//! Slicing: removes the parts of a model that its properties do not depend on.
//!
//! After Holzmann's notes on property-based slicing in SPIN (`spin -A`). The slice keeps the variables that a
//! property reads, the statements that write them, and the variables that these read; and the statements that decide
//! whether kept statements are reached, or delay them. It has the same verdict as the model: irrelevant variables are
//! removed; irrelevant statements are removed where this is unobservable, and replaced by idle ones elsewhere. In
//! doubt, a statement stays.
//!
//! ```text
//! names, channels   the variables, and which channels may be the same
//! graph, effects    the control flow graph, and what each statement reads, writes and waits for
//! criterion         what the properties read, and which runs they distinguish
//! bubbles           regions without relevant statements, found by dominators
//! relevance         the fixed point
//! rewrite, explain  the sliced model, and the reasons
//! ```

mod bubbles;
mod channels;
mod criterion;
mod dominators;
mod effects;
mod explain;
mod graph;
mod names;
mod relevance;
mod rewrite;

use super::ast::{Ident, Program, Unit};
use crate::PropertyKind;
use crate::source::Sources;
use channels::Channels;
use criterion::Criterion;
use entail_temporal::Fairness;
pub use explain::{Dropped, Explanation, Kept};
use names::Names;
use relevance::Relevance;

/// The purpose of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The built-in checks: faults always, assertions and invalid end states if wanted.
    Safety { assertions: bool, ends: bool },
    /// A formula, claim or trace of this name.
    Property(String),
    /// The labels of the model: acceptance or progress.
    Labels(PropertyKind),
}

/// A slice of a model.
#[derive(Clone, Debug)]
pub struct Sliced {
    pub program: Program,
    pub explanation: Explanation,
}

/// The slice of a valid program: names are declared, and jumps have targets.
pub fn slice(program: &Program, aims: &[Aim], fairness: Fairness, sources: &Sources) -> Sliced {
    let wanted = wanted(program, aims);
    let names = Names::of(&wanted);
    let criterion = Criterion::of(&wanted, aims, fairness, &names);
    let channels = Channels::of(&names, &effects::moves(&wanted, &names));
    let relevance = Relevance::of(&wanted, &names, &channels, &criterion);
    let (sliced, removed) = rewrite::rewrite(&wanted, &relevance);
    let explanation = explain::explain(&relevance, &removed, sources);
    Sliced { program: sliced, explanation }
}

/// The program with the selected properties.
fn wanted(program: &Program, aims: &[Aim]) -> Program {
    let mut names = super::property_names(program).into_iter();
    let is_wanted = |name: &String| aims.iter().any(|aim| matches!(aim, Aim::Property(wanted) if wanted == name));
    let units = program.units.iter().filter_map(|unit| {
        let mut unit = unit.clone();
        let (own, span) = match &mut unit {
            Unit::Ltl(formula) | Unit::Ctl(formula) => (&mut formula.name, formula.span),
            Unit::Never(claim) => (&mut claim.name, claim.span),
            Unit::HoaClaim(_) | Unit::Trace(_) => return names.next().filter(is_wanted).map(|_| unit),
            Unit::Proctype(_) | Unit::Init(_) | Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => {
                return Some(unit);
            }
        };
        let name = names.next().filter(is_wanted)?;
        own.get_or_insert(Ident { name: name.into(), span });
        Some(unit)
    });
    Program { units: units.collect() }
}
