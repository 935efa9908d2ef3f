//! Automata accept the words that satisfy their formulas, by the definition.

use entail_temporal::{Buchi, Claim, Formulas, Limits, translate};
use entail_testkit::ltl::{formula, satisfies, word};
use entail_testkit::rng::Rng;

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let mut rng = Rng::new(1);
    let mut larger = 0;
    for round in 0..10_000 {
        let mut formulas = Formulas::default();
        let operators = rng.below(12);
        let random = formula(&mut rng, &mut formulas, operators, 3);
        let names = ["a", "b", "c"].map(str::to_owned);
        let text = formulas.print(random, &names);
        let simple = formulas.simplify(random);
        let Ok(generalised) = translate(&mut formulas, random, Limits::default()) else { continue };
        let buchi = Buchi::new(&generalised, Limits::default()).unwrap();
        let several = Claim::new(generalised.clone());
        let single = several.degeneralised(Limits::default()).unwrap().automaton;
        assert!(single.sets <= 1 && single.len() <= generalised.len() * generalised.sets.max(1) as usize);
        larger += usize::from(generalised.sets > 1 && single.len() < buchi.automaton().len());
        for _ in 0..10 {
            let word = word(&mut rng, 3);
            let expected = satisfies(&formulas, random, &word);
            let place =
                || format!("round {round}: {text}\nsimplified {}\n{word:?}", formulas.print(simple, &names));
            assert_eq!(satisfies(&formulas, simple, &word), expected, "rewriting, {}", place());
            assert_eq!(generalised.accepts(&word), expected, "generalised, {}", place());
            assert_eq!(single.accepts(&word), expected, "one set, {}", place());
            assert_eq!(buchi.automaton().accepts(&word), expected, "accepting states, {}", place());
        }
    }
    assert!(larger > 50, "with accepting states only {larger} are larger");
}
