//! Automata of forbidden runs, and their states along a counterexample.

use crate::run::Walk;
use entail_front::Specification;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Model, Propositional, StateBuf};
use entail_temporal::stutter::is_stutter_invariant;
use entail_temporal::witness::Word;
use entail_temporal::{self as temporal, Claim, Satisfiability, satisfiability, translate};

/// The automaton of the runs that violate a property, and whether the property is satisfiable or valid; `None` if it
/// is not a linear-time property.
pub fn forbidden(
    says: &Specification,
    limits: temporal::Limits,
) -> Result<Option<(Claim, Satisfiability)>, temporal::Limit> {
    let (formulas, formula) = match says {
        Specification::Ctl(_) | Specification::Monitor(_) => return Ok(None),
        Specification::Never(claim, _) => return Ok(Some((claim.clone(), Satisfiability::Contingent))),
        Specification::Ltl(formulas, formula) => (formulas, *formula),
    };
    let mut formulas = formulas.clone();
    let broken = formulas.not(formula);
    let automaton = translate(&mut formulas, broken, limits)?;
    // If no word violates the formula, it is a tautology.
    let satisfiability = match satisfiability(&mut formulas, broken, &automaton, limits)? {
        Satisfiability::Unsatisfiable => Satisfiability::Tautology,
        Satisfiability::Tautology => Satisfiability::Unsatisfiable,
        Satisfiability::Contingent => Satisfiability::Contingent,
    };
    let is_stutter_invariant = is_stutter_invariant(&mut formulas, broken, limits).unwrap_or(false);
    Ok(Some((Claim { is_stutter_invariant, ..Claim::new(automaton) }, satisfiability)))
}

/// The states of a claim along a run that it accepts: in the initial state and in each stable state. The cycle begins
/// after `cycle_start` steps. Empty if the claim does not accept the run.
pub fn stations(
    claim: &Claim,
    interpreter: &Interpreter,
    start: &StateBuf,
    steps: &[Step],
    cycle_start: Option<usize>,
) -> Vec<String> {
    let mut walk = Walk::from(interpreter, start.clone());
    let mut letters = Word { all: vec![walk.held], repeated_from: cycle_start.and(Some(0)) };
    for (taken, &step) in (1..).zip(steps) {
        walk.pass(step);
        if !interpreter.is_transient(&walk.state) {
            letters.all.push(walk.held);
        }
        if Some(taken) == cycle_start {
            letters.repeated_from = Some(letters.all.len() - 1);
        }
    }
    // The stutter extension of a finite run may take other edges.
    let ends = cycle_start == Some(steps.len()) && interpreter.sees_end();
    if ends {
        letters.repeated_from = Some(letters.all.len());
        letters.all.push(interpreter.valuation_after_end(&walk.state, &mut ()).holds);
    }
    // The last state is the first state of the cycle, for the claim too; or the run stutters there.
    let repeated = letters.repeated_from.filter(|first| first + 1 < letters.all.len());
    letters.all.truncate(letters.all.len() - usize::from(repeated.is_some()));
    let Some(mut way) = claim.with_bad_prefixes().path(&letters) else { return Vec::new() };
    way.extend(repeated.map(|first| way[first]));
    way.truncate(way.len() - usize::from(ends));
    way.into_iter().map(|state| claim.name(state)).collect()
}
