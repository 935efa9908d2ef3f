//! Random formulas and words.

use crate::rng::Rng;
use entail_temporal::formula::{Formula, Formulas, Proposition};
use entail_temporal::word::Lasso;

/// A formula with about this number of operators and propositions.
pub fn formula(rng: &mut Rng, formulas: &mut Formulas, operators: usize, propositions: usize) -> Formula {
    if operators == 0 {
        let proposition = Proposition(rng.below(propositions) as u8);
        return match rng.below(12) {
            0 => Formula::TRUE,
            1 => Formula::FALSE,
            _ => formulas.proposition(proposition),
        };
    }
    let choice = rng.below(11);
    if choice < 4 {
        let operand = formula(rng, formulas, operators - 1, propositions);
        return match choice {
            0 => formulas.not(operand),
            1 => formulas.next(operand),
            2 => formulas.eventually(operand),
            _ => formulas.always(operand),
        };
    }
    let left = rng.below(operators);
    let (left, right) =
        (formula(rng, formulas, left, propositions), formula(rng, formulas, operators - 1 - left, propositions));
    match choice {
        4 => formulas.and([left, right]),
        5 => formulas.or([left, right]),
        6 => formulas.implies(left, right),
        7 => formulas.equivalent(left, right),
        8 => formulas.until(left, right),
        9 => formulas.release(left, right),
        _ => formulas.weak_until(left, right),
    }
}

/// A lasso word: up to three letters and a cycle of up to three.
pub fn word(rng: &mut Rng, propositions: usize) -> Lasso {
    let mut letters = |count: usize| (0..count).map(|_| rng.bits() & ((1 << propositions) - 1)).collect();
    let (mut stem, mut cycle): (Vec<u64>, Vec<u64>) = (letters(3), letters(3));
    stem.truncate(rng.below(4));
    cycle.truncate(1 + rng.below(3));
    Lasso { stem, cycle }
}
