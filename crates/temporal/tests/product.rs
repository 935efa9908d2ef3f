//! Products with models of a single run, which is accepted according to the definition of the logic.

use entail_model::{
    Concurrent, Fired, LosslessStore, Marks, Model, Propositional, Reduced, Reduction, State, StateBuf, Valuation,
};
use entail_search::{Checks, End, ErrorKind, Limits, breadth_first, nested, scc};
use entail_store::{ExactPairSet, NumberMap};
use entail_temporal::automaton::{Automaton, Edge, Marks as EdgeMarks, State as Node};
use entail_temporal::claim::End as ClaimEnd;
use entail_temporal::cube::Cube;
use entail_temporal::word::Lasso;
use entail_temporal::{Claim, Fairness, Formulas, Product, translate};
use entail_testkit::ltl;
use entail_testkit::rng::Rng;

/// A model whose only run is a word. If the cycle is one letter, the run may also end there.
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
        let single = claim.degeneralised(entail_temporal::Limits::default()).expect("a small automaton");
        for _ in 0..5 {
            let word = ltl::word(&mut rng, 3);
            let model = Word { ends: word.cycle.len() == 1 && rng.chance(0.5), word: &word };
            let product = Product::new(&model, &claim, Fairness::None);
            let outcome = scc(&product, &mut NumberMap::new(ExactPairSet::new()), &Limits::default(), &mut ());
            let holds = ltl::satisfies(&formulas, formula, &word);
            assert_eq!(outcome.end == End::Error, holds, "{word:?}");
            let product = Product::new(&model, &single, Fairness::None);
            let mut outer = ExactPairSet::new();
            let mut inner = outer.key_set();
            let outcome = nested(&product, &mut outer, &mut inner, &Limits::default(), &mut ());
            assert_eq!(outcome.end == End::Error, holds, "{word:?}, nested");
            accepted += usize::from(holds);
            pairs += 1;
        }
    }
    assert!(accepted > pairs / 5 && accepted < pairs * 4 / 5, "{accepted} of {pairs}");
}

#[test]
fn a_claim_that_ends_does_so_with_one_set_too() {
    // Both letters infinitely often; the second one twice in a row is the end state.
    let edge = |target: u32, marks: u64, letter: u64| Edge {
        target: Node(target),
        marks: EdgeMarks(marks),
        label: Cube { positive: letter, negative: 3 & !letter },
    };
    let edges = vec![vec![edge(0, 1, 1), edge(1, 2, 2)], vec![edge(0, 1, 1), edge(2, 0, 2)], Vec::new()];
    let ends = vec![ClaimEnd::of_never(Node(2), 7)];
    let claim = Claim { ends, ..Claim::new(Automaton { edges, sets: 2 }) };
    let single = claim.degeneralised(entail_temporal::Limits::default()).expect("a small automaton");
    assert_eq!((single.automaton.sets, single.automaton.len() > 3), (1, true));
    for (stem, cycle, end) in [
        (vec![1, 1], vec![2, 1], Some(None)),
        (vec![1, 2], vec![1], None),
        (vec![1, 1, 2], vec![2], Some(Some(7))),
        (vec![2], vec![2, 1], Some(Some(7))),
    ] {
        let word = Lasso { stem, cycle };
        let model = Word { word: &word, ends: false };
        for claim in [&claim, &single] {
            let product = Product::new(&model, claim, Fairness::None);
            let mut store = NumberMap::new(ExactPairSet::new());
            let found = scc(&product, &mut store, &Limits::default(), &mut ()).counterexample;
            let place = found.map(|found| match found.error {
                ErrorKind::Fault(fault) => Some(fault.place),
                ErrorKind::Cycle { .. } | ErrorKind::InvalidEnd => None,
            });
            assert_eq!(place, end, "{word:?}");
        }
    }
}

/// Counts modulo 3, or leaves for good: position 3, where the proposition holds.
struct Leaving;

impl Model for Leaving {
    type Step = bool;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&[0; 8]);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<bool>) {
        if position(state) < 3 {
            steps.extend([false, true]);
        }
    }

    fn fire(&self, leaves: bool, state: &mut StateBuf) -> Fired {
        state[0] = if leaves { 3 } else { (state[0] + 1) % 3 };
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Propositional for Leaving {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        Valuation { holds: u64::from(position(state) == 3), ..Valuation::default() }
    }
}

impl Concurrent for Leaving {
    fn processes(&self, _: &State) -> usize {
        1
    }

    fn owner(&self, _: bool) -> usize {
        0
    }
}

/// Postpones leaving as long as the proviso permits it.
struct CountFirst;

impl Reduction<Leaving> for CountFirst {
    type Scratch = ();

    fn needs_proviso(&self) -> bool {
        true
    }

    fn select<'d>(&self, _: &Leaving, _: &State, _: &[bool], answer: u32, (): &'d mut ()) -> Option<&'d [bool]> {
        (answer == 0).then_some(&[true, false])
    }
}

#[test]
fn a_product_does_not_ignore_steps_that_a_cycle_postpones() {
    let mut formulas = Formulas::default();
    let holds = formulas.proposition(entail_temporal::Proposition(0));
    let eventually = formulas.eventually(holds);
    let automaton = translate(&mut formulas, eventually, entail_temporal::Limits::default()).expect("small");
    let claim = Claim::new(automaton).with_bad_prefixes();
    let reduced = Reduced { model: &Leaving, reduction: Some(&CountFirst) };
    let product = Product::new(&reduced, &claim, Fairness::None);
    let outcome =
        breadth_first(&product, &mut ExactPairSet::new(), &Checks::OF_CLAIMS, &Limits::default(), &mut ());
    assert_eq!(outcome.end, End::Error);
}
