//! CTL formulas on small random graphs, against their definition.

use entail_model::{Concurrent, Fault, FaultKind, Fired, Marks, Model, Propositional, State, StateBuf, Valuation};
use entail_search::{End, Limits, decide, scc};
use entail_store::{ExactPairSet, NumberMap};
use entail_temporal::ctl::{Asked, Ctl, Path};
use entail_temporal::{Claim, Fairness, Formulas, Product, Proposition, translate};
use entail_testkit::ctl::{self, Kripke};
use entail_testkit::rng::Rng;

/// A graph whose steps belong to processes.
#[derive(Debug)]
struct Graph {
    /// The propositions that hold in each node, and the number of processes.
    nodes: Vec<(u64, usize)>,
    /// The source, the target, and the process.
    steps: Vec<(usize, usize, usize)>,
    /// Those that end in a fault.
    faults: Vec<u32>,
}

impl Graph {
    fn random(rng: &mut Rng) -> Graph {
        let count = 1 + rng.below(8);
        let most = 1 + rng.below(3);
        let crowd = |rng: &mut Rng| if rng.chance(0.8) { most } else { 1 + rng.below(most) };
        let nodes: Vec<_> = (0..count).map(|_| (rng.below(8) as u64, crowd(rng))).collect();
        let step = |rng: &mut Rng| {
            let from = rng.below(count);
            (from, rng.below(count), rng.below(nodes[from].1))
        };
        let steps: Vec<_> = (0..rng.below(3 * count + 1)).map(|_| step(rng)).collect();
        let share = *rng.pick(&[0.0, 0.0, 0.1, 0.3]);
        let faults = (0..steps.len() as u32).filter(|_| rng.chance(share)).collect();
        Graph { nodes, steps, faults }
    }
}

fn node(state: &State) -> usize {
    usize::from(state[0])
}

impl Model for Graph {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&[0; 8]);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        let leaving = (0..).zip(&self.steps).filter(|(_, (from, ..))| *from == node(state));
        steps.extend(leaving.map(|(number, _)| number));
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        if self.faults.contains(&step) {
            return Fired::Broken(Fault { kind: FaultKind::Index, place: step, times: 1 });
        }
        state[0] = self.steps[step as usize].1 as u8;
        Fired::Done
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Propositional for Graph {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        Valuation { holds: self.nodes[node(state)].0, ..Valuation::default() }
    }
}

impl Concurrent for Graph {
    fn processes(&self, state: &State) -> usize {
        self.nodes[node(state)].1
    }

    fn owner(&self, step: u32) -> usize {
        self.steps[step as usize].2
    }
}

/// Whether a formula holds, if that is known.
fn verdict(graph: &Graph, formula: &Ctl, fairness: Fairness) -> Option<bool> {
    let asked = Asked::of(formula, fairness).expect("a small formula");
    let claim = Claim::anything();
    let product = Product::new(graph, &claim, fairness);
    let store = || NumberMap::new(ExactPairSet::new());
    let answered = decide(&product, store, asked.both(), &Limits::default(), &mut ());
    assert_eq!(answered.outcome.end, End::Complete);
    assert_eq!(answered.outcome.ignored_fault.is_some(), answered.holds.is_none());
    answered.holds
}

#[test]
fn formulas_are_true_where_the_definition_says_so() {
    let mut rng = Rng::new(41);
    let (mut yes, mut differ, mut unknown, mut despite, mut large) = ([0; Fairness::ALL.len()], 0, 0, 0, 0);
    for _ in 0..20_000 {
        let graph = Graph::random(&mut rng);
        let operators = 1 + rng.below(6);
        let formula = ctl::formula(&mut rng, operators, 3);
        if Fairness::ALL.iter().any(|&fairness| Asked::of(&formula, fairness).is_none()) {
            // Operators inside `<->` count twice.
            large += 1;
            continue;
        }
        let kripke = Kripke::of(&graph, 100).expect("it is small");
        let answers = Fairness::ALL.map(|fairness| {
            let expected = kripke.holding(&formula, fairness).at(0);
            assert_eq!(verdict(&graph, &formula, fairness), expected, "{fairness:?}, {formula:?}, {graph:?}");
            expected
        });
        yes.iter_mut().zip(answers).for_each(|(yes, answer)| *yes += usize::from(answer == Some(true)));
        unknown += usize::from(answers[0].is_none());
        despite += usize::from(kripke.has_faults() && answers[0].is_some());
        differ += usize::from(answers != [answers[0]; Fairness::ALL.len()]);
    }
    assert!(yes.iter().all(|yes| (4_000..16_000).contains(yes)) && differ > 500, "{yes:?}, {differ}");
    assert!(unknown > 500 && despite > 500 && large < 1_000, "{unknown}, {despite}, {large}");
}

/// Formulas in both logics: each CTL formula with an LTL formula of the runs that violate it.
fn common(number: usize) -> (Ctl, Claim) {
    let (p, q) = (Ctl::Proposition(Proposition(0)), Ctl::Proposition(Proposition(1)));
    let mut formulas = Formulas::default();
    let (first, then) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
    let (branching, linear) = match number {
        0 => (Ctl::all(Path::Always(p)), formulas.always(first)),
        1 => (Ctl::all(Path::Eventually(p)), formulas.eventually(first)),
        2 => (Ctl::all(Path::Until(p, q)), formulas.until(first, then)),
        _ => {
            let answered = Ctl::Implies(Box::new(p), Box::new(Ctl::all(Path::Eventually(q))));
            let later = formulas.eventually(then);
            let implied = formulas.implies(first, later);
            (Ctl::all(Path::Always(answered)), formulas.always(implied))
        }
    };
    let broken = formulas.not(linear);
    let automaton = translate(&mut formulas, broken, Default::default()).expect("a small formula");
    (branching, Claim::new(automaton))
}

#[test]
fn linear_time_says_the_same_of_all_fair_runs() {
    let mut rng = Rng::new(47);
    let (mut yes, mut differ) = (0, 0);
    for number in 0..20_000 {
        let graph = Graph::random(&mut rng);
        let (formula, claim) = common(number % 4);
        let kinds = [Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial];
        let answers = kinds.map(|fairness| {
            let product = Product::new(&graph, &claim, fairness);
            let mut store = NumberMap::new(ExactPairSet::new());
            let outcome = scc(&product, &mut store, &Limits::default(), &mut ());
            let is_known = outcome.end == End::Error || outcome.ignored_fault.is_none();
            let linear = is_known.then_some(outcome.end != End::Error);
            let branching = verdict(&graph, &formula, fairness);
            // With faults, one of them may give a result where the other does not.
            let agree = if graph.faults.is_empty() {
                linear == branching
            } else {
                linear.is_none_or(|linear| branching.is_none_or(|branching| linear == branching))
            };
            assert!(agree, "{linear:?}, {branching:?}, {fairness:?}, {formula:?}, {graph:?}");
            linear
        });
        yes += answers.iter().filter(|holds| **holds == Some(true)).count();
        differ += usize::from(answers != [answers[0]; 4]);
    }
    assert!((10_000..70_000).contains(&yes) && differ > 500, "{yes}, {differ}");
}
