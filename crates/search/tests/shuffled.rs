//! Shuffling steps does not change the model.

mod common;

use common::{ALL, agree, dfs, naive_checks, prove};
use entail_model::{Model, Shuffled, Successors};
use entail_testkit::graph::{Graph, state_of};
use entail_testkit::naive;
use entail_testkit::rng::Rng;

#[test]
fn whatever_the_order_the_same_is_found() {
    let mut others = 0;
    for seed in 0..2000 {
        let graph = &Graph::random(&mut Rng::new(seed));
        let shuffled = Shuffled { model: graph, seed };
        agree(&shuffled, ALL);
        assert_eq!(
            naive::explore(graph, naive_checks(ALL)).stored,
            naive::explore(&shuffled, naive_checks(ALL)).stored
        );
        let [plain, other] = [dfs(graph, ALL), dfs(&shuffled, ALL)].map(|outcome| outcome.counterexample);
        other.iter().for_each(|found| {
            prove(graph, found);
        });
        others += usize::from(plain != other);
    }
    assert!(others > 300, "{others}");
}

#[test]
fn all_at_once_steps_come_in_the_same_order_as_one_by_one() {
    let graph = (1..=9).fold(Graph::starting_in(0), |graph, node| graph.edge(0, node));
    let (mut orders, state) = (Vec::new(), state_of(0));
    for seed in 0..20 {
        let shuffled = Shuffled { model: &graph, seed };
        let (mut steps, mut successors) = (Vec::new(), Successors::default());
        shuffled.enabled(&state, &mut steps);
        shuffled.expand(&state, &mut successors, &mut ());
        assert_eq!(successors.steps(), steps);
        for successor in successors.iter() {
            let mut reached = state.clone();
            assert!(!shuffled.fire(successor.step, &mut reached).is_broken());
            assert_eq!(successor.state, reached);
        }
        orders.push(steps);
    }
    orders.sort_by_key(|steps| steps.iter().map(|edge| edge.0).collect::<Vec<_>>());
    orders.dedup();
    assert_eq!(orders.len(), 20);
}
