//! Formulas of branching time over small random graphs, against their definition.

use entail_model::{Concurrent, Fired, Marks, Model, Propositional, State, StateBuf, Valuation};
use entail_search::{End, Limits, branching};
use entail_store::{LosslessWide, Numbers};
use entail_temporal::ctl::Asked;
use entail_temporal::{Claim, Fairness, Product};
use entail_testkit::ctl::{self, Kripke};
use entail_testkit::rng::Rng;

/// A graph whose steps belong to processes.
#[derive(Debug)]
struct Graph {
    /// What is true in each node, and how many processes there are.
    nodes: Vec<(u64, usize)>,
    /// Where from, where to, and who moves.
    steps: Vec<(usize, usize, usize)>,
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
        let steps = (0..rng.below(3 * count + 1)).map(|_| step(rng)).collect();
        Graph { nodes, steps }
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

const ALL: [Fairness; 4] = [Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial];

#[test]
fn formulas_are_true_where_the_definition_says_so() {
    let mut rng = Rng::new(41);
    let (mut yes, mut differ) = ([0; 4], 0);
    for _ in 0..20_000 {
        let graph = Graph::random(&mut rng);
        let operators = 1 + rng.below(6);
        let formula = ctl::formula(&mut rng, operators, 3);
        let kripke = Kripke::of(&graph, 100).expect("it is small");
        let answers = ALL.map(|fairness| {
            let asked = Asked::of(&formula, fairness).expect("a small formula");
            let claim = Claim::anything();
            let product = Product::new(&graph, &claim, fairness);
            let mut store = Numbers::new(LosslessWide::new());
            let limits = Limits::default();
            let answered = branching(&product, &mut store, &asked.questions, asked.whole, &limits, &mut ());
            let expected = kripke.holding(&formula, fairness).contains(&0);
            assert_eq!(answered.holds, Some(expected), "{fairness:?}, {formula:?}, {graph:?}");
            assert_eq!(answered.outcome.end, End::Complete);
            expected
        });
        yes.iter_mut().zip(answers).for_each(|(yes, answer)| *yes += usize::from(answer));
        differ += usize::from(answers != [answers[0]; 4]);
    }
    assert!(yes.iter().all(|yes| (4_000..16_000).contains(yes)) && differ > 500, "{yes:?}, {differ}");
}
