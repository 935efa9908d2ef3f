//! What a property forbids, and how a run breaks it.

use crate::run::Walk;
use entail_front::Specification;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Model, Propositional, StateBuf};
use entail_temporal::stutter::is_stutter_invariant;
use entail_temporal::witness::Word;
use entail_temporal::{self as temporal, Claim, Satisfiability, satisfiability, translate};

/// The runs that break a property, and what is to be said of it without looking at any; nothing if it is not about single
/// runs.
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
    // What no word breaks, all satisfy.
    let satisfiability = match satisfiability(&mut formulas, broken, &automaton, limits)? {
        Satisfiability::Unsatisfiable => Satisfiability::Tautology,
        Satisfiability::Tautology => Satisfiability::Unsatisfiable,
        Satisfiability::Contingent => Satisfiability::Contingent,
    };
    let is_stutter_invariant = is_stutter_invariant(&mut formulas, broken, limits).unwrap_or(false);
    Ok(Some((Claim { is_stutter_invariant, ..Claim::new(automaton) }, satisfiability)))
}

/// Where a claim is along a run that it forbids: in the initial state, and whenever a step has led to a stable one. After
/// `cycle_start` steps the run goes round for ever. Empty if the run is not one of those.
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
    // What is read again after the end of a run may be something else.
    let ends = cycle_start == Some(steps.len()) && interpreter.sees_end();
    if ends {
        letters.repeated_from = Some(letters.all.len());
        letters.all.push(interpreter.valuation_after_end(&walk.state, &mut ()).holds);
    }
    // At its end the run is where the cycle began, and the claim with it; or it remains there.
    let repeated = letters.repeated_from.filter(|first| first + 1 < letters.all.len());
    letters.all.truncate(letters.all.len() - usize::from(repeated.is_some()));
    let Some(mut way) = claim.with_bad_prefixes().path(&letters) else { return Vec::new() };
    way.extend(repeated.map(|first| way[first]));
    way.truncate(way.len() - usize::from(ends));
    way.into_iter().map(|state| claim.name(state)).collect()
}
