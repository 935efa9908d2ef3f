//! Temporal formulas and the automata that recognise them.
//!
//! A formula becomes a transition-based generalised Büchi automaton ([`translate`]), which is small. A never claim needs
//! a Büchi automaton with one set of accepting states ([`Buchi`]).
//!
//! Translation is exponential in the worst case. All algorithms stay within [`Limits`], and none recurses deeper than
//! [`formula::MAX_HEIGHT`].

pub mod automaton;
pub mod buchi;
pub mod claim;
pub mod ctl;
pub mod cube;
mod degeneralise;
pub mod dot;
pub mod fairness;
pub mod formula;
pub mod hoa;
mod implies;
mod labels;
pub mod limits;
pub mod never;
mod print;
pub mod product;
mod prune;
mod rewrite;
pub mod scc;
mod simulation;
pub mod stutter;
pub mod tableau;
pub mod witness;
pub mod word;

pub use automaton::Automaton;
pub use buchi::Buchi;
pub use claim::Claim;
pub use ctl::Ctl;
pub use fairness::Fairness;
pub use formula::{Formula, Formulas, Proposition};
pub use limits::{Limit, Limits};
pub use product::Product;

/// Translates a formula into an automaton that accepts exactly the words that satisfy it, and reduces it.
pub fn translate(formulas: &mut Formulas, formula: Formula, limits: Limits) -> Result<Automaton, Limit> {
    let simple = formulas.simplify(formula);
    let mut automaton = tableau::translate(formulas, simple, limits)?;
    reduce(&mut automaton, limits);
    Ok(automaton)
}

/// Reduces the size of an automaton; its language stays the same.
pub fn reduce(automaton: &mut Automaton, limits: Limits) {
    prune::prune(automaton);
    simulation::reduce(automaton, limits);
}

/// Whether the formula is satisfiable, and whether it is valid. `automaton` is the translated formula.
pub fn satisfiability(
    formulas: &mut Formulas,
    formula: Formula,
    automaton: &Automaton,
    limits: Limits,
) -> Result<Satisfiability, Limit> {
    if automaton.is_empty() {
        return Ok(Satisfiability::Unsatisfiable);
    }
    let negation = formulas.not(formula);
    let is_valid = translate(formulas, negation, limits)?.is_empty();
    Ok(if is_valid { Satisfiability::Tautology } else { Satisfiability::Contingent })
}

/// The words that satisfy a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Satisfiability {
    /// No word does.
    Unsatisfiable,
    /// All words do.
    Tautology,
    /// Some words do, others do not.
    Contingent,
}
