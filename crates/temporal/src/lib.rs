//! Temporal formulas and the automata that recognise them.
//!
//! A formula becomes a generalised Büchi automaton with acceptance on its edges ([`translate`]), which is what a search
//! wants: it is small. A never claim needs acceptance on states, and one set of them ([`Buchi`]).
//!
//! Translation is exponential by nature. Whatever a formula asks for stays within [`Limits`], and no algorithm
//! recurses along a formula further than [`formula::MAX_HEIGHT`].

pub mod automaton;
pub mod buchi;
pub mod claim;
pub mod components;
pub mod ctl;
pub mod cube;
pub mod dot;
pub mod fairness;
pub mod formula;
pub mod hoa;
mod implies;
mod labels;
mod levels;
pub mod limits;
pub mod never;
mod print;
pub mod product;
mod prune;
mod rewrite;
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

/// The automaton of the words that satisfy a formula, as small as we can make it.
pub fn translate(formulas: &mut Formulas, formula: Formula, limits: Limits) -> Result<Automaton, Limit> {
    let simple = formulas.simplify(formula);
    let mut automaton = tableau::translate(formulas, simple, limits)?;
    reduce(&mut automaton, limits);
    Ok(automaton)
}

/// Makes an automaton smaller.
pub fn reduce(automaton: &mut Automaton, limits: Limits) {
    prune::prune(automaton);
    simulation::reduce(automaton, limits);
}

/// Whether some word satisfies the formula, and whether all do. The automaton is that of the formula.
pub fn judge(
    formulas: &mut Formulas,
    formula: Formula,
    automaton: &Automaton,
    limits: Limits,
) -> Result<Judgement, Limit> {
    if automaton.is_empty() {
        return Ok(Judgement::Unsatisfiable);
    }
    let negation = formulas.not(formula);
    let is_valid = translate(formulas, negation, limits)?.is_empty();
    Ok(if is_valid { Judgement::Tautology } else { Judgement::Contingent })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Unsatisfiable,
    Tautology,
    /// It depends on the word.
    Contingent,
}
