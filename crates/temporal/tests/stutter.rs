//! Stutter-invariant formulas do not distinguish words that differ in repeated letters.

use entail_temporal::stutter::is_stutter_invariant;
use entail_temporal::word::Lasso;
use entail_temporal::{Formulas, Limits};
use entail_testkit::ltl::{formula, satisfies, word};
use entail_testkit::rng::Rng;

fn repeated(rng: &mut Rng, letters: &[u64]) -> Vec<u64> {
    letters.iter().flat_map(|&letter| vec![letter; 1 + rng.below(3)]).collect()
}

#[test]
fn repetitions_change_nothing_for_what_is_invariant_and_something_for_what_is_not() {
    let mut rng = Rng::new(2);
    let (mut invariant, mut others, mut told_apart) = (0, 0, 0);
    for _ in 0..3000 {
        let mut formulas = Formulas::default();
        let operators = 1 + rng.below(6);
        let random = formula(&mut rng, &mut formulas, operators, 2);
        if !formulas.has_next(random) {
            continue;
        }
        let is_invariant = is_stutter_invariant(&mut formulas, random, Limits::default()).unwrap();
        let is_told_apart = (0..300).any(|_| {
            let short = word(&mut rng, 2);
            let long = Lasso { stem: repeated(&mut rng, &short.stem), cycle: repeated(&mut rng, &short.cycle) };
            satisfies(&formulas, random, &short) != satisfies(&formulas, random, &long)
        });
        let text = formulas.print(random, &["a".to_owned(), "b".to_owned()]);
        assert!(!is_invariant || !is_told_apart, "{text}");
        invariant += usize::from(is_invariant);
        others += usize::from(!is_invariant);
        told_apart += usize::from(is_told_apart);
    }
    assert!(invariant > 30 && others > 100, "{invariant} {others}");
    // Few words distinguish them, but only for some formulas.
    assert!(told_apart * 10 > others * 9, "{told_apart} of {others}");
}
