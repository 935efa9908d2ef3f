//! Every formula gives an automaton, or an exceeded limit.

use entail_model::Deadline;
use entail_temporal::stutter::is_stutter_invariant;
use entail_temporal::{Automaton, Buchi, Formula, Formulas, Limit, Limits, Proposition, translate};
use entail_testkit::ltl::formula;
use entail_testkit::rng::Rng;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Small enough for a test.
const FEW: Limits = Limits { states: 2_000, edges: 40_000, steps: 2_000_000, deadline: Deadline::NEVER };

/// Its automata, or the limit that they exceed.
fn answer(formulas: &mut Formulas, formula: Formula) -> Result<(Automaton, Buchi), Limit> {
    let generalised = translate(formulas, formula, FEW)?;
    let buchi = Buchi::new(&generalised, FEW)?;
    is_stutter_invariant(formulas, formula, FEW)?;
    Ok((generalised, buchi))
}

#[test]
fn formulas_of_two_hundred_operators_have_an_answer() {
    let mut answered = 0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut formulas = Formulas::default();
        let random = formula(&mut rng, &mut formulas, 200, 10);
        answered += usize::from(answer(&mut formulas, random).is_ok());
    }
    assert!((1..20).contains(&answered), "{answered}");
}

#[test]
fn an_exploding_translation_is_stopped() {
    let mut formulas = Formulas::default();
    let propositions: Vec<Formula> = (0..40).map(|n| formulas.proposition(Proposition(n))).collect();
    // Each of them eventually: one state for each set of pending ones.
    let each: Vec<Formula> = propositions.iter().map(|&one| formulas.eventually(one)).collect();
    let all = formulas.and(each);
    assert!(answer(&mut formulas, all).is_err());
    // Parity has no short disjunctive normal form.
    let parity = propositions.iter().copied().reduce(|one, other| formulas.equivalent(one, other));
    let parity = parity.map(|parity| formulas.always(parity));
    assert!(answer(&mut formulas, parity.unwrap()).is_err());
}

#[test]
fn broad_formulas_have_an_answer() {
    for count in [300, 20_000] {
        let mut formulas = Formulas::default();
        let mut rng = Rng::new(count);
        let operands: Vec<Formula> = (0..count).map(|_| formula(&mut rng, &mut formulas, 4, 20)).collect();
        // Behind `X`, a contradiction is not found immediately.
        let apart = operands.into_iter().filter(|&one| one != Formula::FALSE).collect::<Vec<_>>();
        let apart: Vec<Formula> = apart.into_iter().map(|one| formulas.next(one)).collect();
        let all = formulas.and(apart);
        let limit = answer(&mut formulas, all).err();
        assert_eq!(limit == Some(Limit::Parts(1500)), count > 1000, "{limit:?}");
    }
}

#[test]
fn deep_formulas_are_translated_or_refused() {
    for height in [900, 100_000] {
        for operator in [Formulas::next, Formulas::eventually, Formulas::always] {
            let mut formulas = Formulas::default();
            let mut deep = formulas.proposition(Proposition(0));
            for _ in 0..height {
                deep = operator(&mut formulas, deep);
            }
            let expected = if height > 1000 { Some(Limit::Height(1000)) } else { None };
            assert_eq!(translate(&mut formulas, deep, FEW).err(), expected, "{height}");
            let is_invariant = is_stutter_invariant(&mut formulas, deep, FEW);
            assert_eq!(is_invariant.is_err(), formulas.has_next(deep));
        }
        // Extreme inputs for all kinds of recursion.
        let mut formulas = Formulas::default();
        let (a, b) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let mut deep = a;
        for turn in 0..height {
            let next = formulas.next(deep);
            deep = match turn % 3 {
                0 => formulas.until(next, b),
                1 => formulas.release(next, b),
                _ => formulas.and([next, a]),
            };
        }
        assert!(answer(&mut formulas, deep).is_err());
        formulas.print(deep, &[]);
    }
}

/// Chains of `U` exhaust their steps before there are many states or edges.
#[test]
fn a_formula_is_given_up_when_its_time_is_up() {
    let mut formulas = Formulas::default();
    let propositions: Vec<Formula> = (0..60).map(|n| formulas.proposition(Proposition(n))).collect();
    let chain = propositions.into_iter().reduce(|left, right| formulas.until(left, right)).expect("there are some");
    let stop = AtomicBool::new(false);
    let deadline = Deadline::after(Some(Duration::from_millis(100)), &stop);
    let began = Instant::now();
    assert_eq!(translate(&mut formulas, chain, Limits { deadline, ..Limits::default() }), Err(Limit::Time));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}
