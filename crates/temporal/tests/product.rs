//! Products with models that have one run: whether it is accepted, the definition of the logic says.

use entail_model::{Concurrent, Fired, Marks, Model, Propositional, State, StateBuf, Valuation};
use entail_search::{End, Limits, components};
use entail_store::{LosslessWide, Numbers};
use entail_temporal::word::Lasso;
use entail_temporal::{Claim, Fairness, Formulas, Product, translate};
use entail_testkit::ltl;
use entail_testkit::rng::Rng;

/// A model whose only run is a word. Where the cycle is one letter, it may as well end there.
struct Word<'w> {
    word: &'w Lasso,
    ends: bool,
}

fn position(state: &State) -> usize {
    usize::from(state[0])
}

impl Model for Word<'_> {
    type Step = ();
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&[0; 8]);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<()>) {
        if !self.ends || position(state) + 1 < self.word.len() {
            steps.push(());
        }
    }

    fn fire(&self, (): (), state: &mut StateBuf) -> Fired {
        state[0] = self.word.next(position(state)) as u8;
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Propositional for Word<'_> {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        Valuation { holds: self.word.letter(position(state)), ..Valuation::default() }
    }
}

impl Concurrent for Word<'_> {
    fn processes(&self, _: &State) -> usize {
        1
    }

    fn owner(&self, (): ()) -> usize {
        0
    }
}

#[test]
fn the_run_of_a_word_is_accepted_if_the_formula_holds() {
    let mut rng = Rng::new(5);
    let (mut accepted, mut pairs) = (0, 0);
    for _ in 0..2_000 {
        let mut formulas = Formulas::default();
        let operators = 1 + rng.below(8);
        let formula = ltl::formula(&mut rng, &mut formulas, operators, 3);
        let automaton =
            translate(&mut formulas, formula, entail_temporal::Limits::default()).expect("a small formula");
        let claim = Claim::new(automaton);
        for _ in 0..5 {
            let word = ltl::word(&mut rng, 3);
            let model = Word { ends: word.cycle.len() == 1 && rng.chance(0.5), word: &word };
            let product = Product::new(&model, &claim, Fairness::None);
            let outcome = components(&product, &mut Numbers::new(LosslessWide::new()), &Limits::default(), &mut ());
            let holds = ltl::satisfies(&formulas, formula, &word);
            assert_eq!(outcome.end == End::Error, holds, "{word:?}");
            accepted += usize::from(holds);
            pairs += 1;
        }
    }
    assert!(accepted > pairs / 5 && accepted < pairs * 4 / 5, "{accepted} of {pairs}");
}
