//! Tests automata of random formulas against the semantics of LTL.

use crate::{Outcome, Result};
use clap::Args;
use entail_temporal::{Buchi, Formulas, Limits, translate};
use entail_testkit::ltl::{formula, satisfies, word};
use entail_testkit::rng::Rng;

#[derive(Args)]
pub struct Options {
    /// The number of pairs of a formula and a word
    #[arg(long, default_value_t = 100_000)]
    count: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The maximum number of operators in a formula
    #[arg(long, default_value_t = 12)]
    operators: usize,
    /// The number of words for each formula
    #[arg(long, default_value_t = 5)]
    words: usize,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

pub fn run(options: &Options) -> Result<Outcome> {
    let mut rng = Rng::new(options.seed);
    let (mut pairs, mut given_up, mut satisfied) = (0, 0, 0);
    while pairs < options.count {
        let mut formulas = Formulas::default();
        let propositions = 1 + rng.below(NAMES.len());
        let operators = rng.below(options.operators + 1);
        let random = formula(&mut rng, &mut formulas, operators, propositions);
        let Ok(generalised) = translate(&mut formulas, random, Limits::default()) else {
            given_up += 1;
            continue;
        };
        let buchi = Buchi::new(&generalised, Limits::default())?;
        for _ in 0..options.words {
            let word = word(&mut rng, propositions);
            let expected = satisfies(&formulas, random, &word);
            let answers = [generalised.accepts(&word), buchi.automaton().accepts(&word)];
            if answers != [expected; 2] {
                let text = formulas.print(random, &NAMES.map(str::to_owned));
                println!("{text}\n{word:?}\nby definition {expected}, by automata {answers:?}");
                return Ok(Outcome::Difference);
            }
            pairs += 1;
            satisfied += usize::from(expected);
        }
    }
    println!("{pairs} pairs, of which {satisfied} satisfy; all automata agree; {given_up} formulas were too large");
    Ok(Outcome::Agreement)
}
