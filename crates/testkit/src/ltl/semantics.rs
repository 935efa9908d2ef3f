//! Whether a word satisfies a formula, by the definition: the oracle of the automata.

use entail_temporal::formula::{Formula, Formulas, Node};
use entail_temporal::word::Lasso;
use std::collections::HashMap;

pub fn satisfies(formulas: &Formulas, formula: Formula, word: &Lasso) -> bool {
    let positions = 0..word.len();
    // The positions where each part holds.
    let mut holds: HashMap<Formula, Vec<bool>> = HashMap::new();
    for part in formulas.parts(formula) {
        let truth: Vec<bool> = match formulas.node(part) {
            Node::True => positions.clone().map(|_| true).collect(),
            Node::False => positions.clone().map(|_| false).collect(),
            Node::Literal { proposition, positive } => {
                let value = |at| word.letter(at) >> proposition.0 & 1 == 1;
                positions.clone().map(|at| value(at) == *positive).collect()
            }
            Node::And(operands) => {
                positions.clone().map(|at| operands.iter().all(|operand| holds[operand][at])).collect()
            }
            Node::Or(operands) => {
                positions.clone().map(|at| operands.iter().any(|operand| holds[operand][at])).collect()
            }
            Node::Next(operand) => positions.clone().map(|at| holds[operand][word.next(at)]).collect(),
            Node::Until(left, right) => {
                positions.clone().map(|at| until(word, at, &holds[left], &holds[right])).collect()
            }
            // Not (not left until not right).
            Node::Release(left, right) => {
                let not = |truth: &[bool]| truth.iter().map(|value| !value).collect::<Vec<_>>();
                let (left, right) = (not(&holds[left]), not(&holds[right]));
                positions.clone().map(|at| !until(word, at, &left, &right)).collect()
            }
        };
        holds.insert(part, truth);
    }
    holds[&formula][0]
}

/// Whether `right` holds at some position from `at` on, and `left` at all positions before it. After as many
/// positions as the word has letters, positions repeat.
fn until(word: &Lasso, at: usize, left: &[bool], right: &[bool]) -> bool {
    let mut position = at;
    for _ in 0..=word.len() {
        if right[position] {
            return true;
        }
        if !left[position] {
            return false;
        }
        position = word.next(position);
    }
    false
}
