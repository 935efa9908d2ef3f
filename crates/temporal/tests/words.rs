//! Automata accept the words that satisfy their formulas, by the definition.

use entail_temporal::{Buchi, Formulas, Limits, translate};
use entail_testkit::ltl::{formula, satisfies, word};
use entail_testkit::rng::Rng;

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let mut rng = Rng::new(1);
    for round in 0..10_000 {
        let mut formulas = Formulas::default();
        let operators = rng.below(12);
        let random = formula(&mut rng, &mut formulas, operators, 3);
        let names = ["a", "b", "c"].map(str::to_owned);
        let text = formulas.print(random, &names);
        let simple = formulas.simplify(random);
        let Ok(generalised) = translate(&mut formulas, random, Limits::default()) else { continue };
        let buchi = Buchi::new(&generalised, Limits::default()).unwrap();
        for _ in 0..10 {
            let word = word(&mut rng, 3);
            let expected = satisfies(&formulas, random, &word);
            let place =
                || format!("round {round}: {text}\nsimplified {}\n{word:?}", formulas.print(simple, &names));
            assert_eq!(satisfies(&formulas, simple, &word), expected, "rewriting, {}", place());
            assert_eq!(generalised.accepts(&word), expected, "generalised, {}", place());
            assert_eq!(buchi.automaton().accepts(&word), expected, "accepting states, {}", place());
        }
    }
}
