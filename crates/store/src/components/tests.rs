//! Sets of one thread and of several, in random orders and in every order.

use entail_model::{AcceptanceMarks, Entry, Key, Node, SpareNodes};

use super::sets::Sets;

type Map = Sets<Key>;

/// Marks that fit into a link, and marks that do not.
#[cfg_attr(loom, expect(dead_code, reason = "only for random tests"))]
const ALL: [AcceptanceMarks; 2] = [AcceptanceMarks(0b111), AcceptanceMarks(u64::MAX)];

fn map(acceptance: AcceptanceMarks, states: usize) -> Map {
    let mut map = Map::new(acceptance, 3);
    map.reserve(states, u64::MAX).unwrap();
    map
}

fn enter(map: &Map, state: u64, worker: usize) -> Entry {
    map.enter(Key(state), worker, &mut SpareNodes::default())
}

/// The node of a new state.
fn new(map: &Map, state: u64, worker: usize) -> Node {
    match enter(map, state, worker) {
        Entry::New(node) => node,
        other => panic!("{other:?}"),
    }
}

#[cfg(not(loom))]
mod random {
    use std::collections::HashSet;
    use std::thread;

    use entail_model::Full;
    use entail_testkit::rng::Rng;

    use super::*;

    #[test]
    fn a_worker_enters_a_set_once() {
        let map = map(ALL[0], 3);
        let (one, other) = (new(&map, 1, 0), new(&map, 2, 1));
        assert_eq!(enter(&map, 1, 0), Entry::Again(one));
        assert_eq!(enter(&map, 1, 1), Entry::First(one));
        assert!(!map.are_joined(one, other));
        map.join(other, one);
        assert!(map.are_joined(one, other));
        assert_eq!(enter(&map, 2, 0), Entry::Again(other));
        assert_eq!(enter(&map, 2, 2), Entry::First(other));
    }

    #[test]
    fn a_set_is_closed_when_all_its_states_are_finished() {
        let map = map(ALL[0], 3);
        let (one, other) = (new(&map, 1, 0), new(&map, 2, 0));
        map.join(one, other);
        assert!(map.finish(one) && !map.finish(one));
        assert_eq!(map.unfinished(one, 0), Some((other, Key(2))));
        assert_eq!(enter(&map, 1, 0), Entry::Again(one));
        assert!(map.finish(other));
        assert_eq!(map.unfinished(one, 0), None);
        assert_eq!(enter(&map, 2, 0), Entry::Closed);
    }

    /// Several threads join random states, while the map grows in between, and then finish all states.
    #[test]
    fn sets_are_those_of_a_naive_implementation() {
        let rounds = if cfg!(miri) { 3 } else { 200 };
        for seed in 0..rounds {
            let mut rng = Rng::new(seed);
            let (states, acceptance) = (2 + rng.below(60) as u64, *rng.pick(&ALL));
            let mut map = map(acceptance, 0);
            let mut naive: Vec<u64> = (0..states).collect();
            let mut nodes = HashSet::new();
            for _ in 0..3 {
                map.reserve(states as usize, u64::MAX).unwrap();
                let joins: Vec<_> =
                    (0..rng.below(20)).map(|_| [0; 2].map(|_| rng.below(states as usize) as u64)).collect();
                for [one, other] in &joins {
                    let (from, to) = (naive[*one as usize], naive[*other as usize]);
                    naive.iter_mut().filter(|set| **set == from).for_each(|set| *set = to);
                }
                nodes.extend(work(&map, &joins));
            }
            let set = |&(state, _): &(u64, Node)| naive[state as usize];
            for one in &nodes {
                for other in &nodes {
                    let is_joined = set(one) == set(other);
                    assert_eq!(map.are_joined(one.1, other.1), is_joined, "seed {seed}");
                }
            }
            finish(&map, &nodes);
        }
    }

    /// Lets three workers enter and join these states, each in an order of its own. Returns their nodes.
    fn work(map: &Map, joins: &[[u64; 2]]) -> HashSet<(u64, Node)> {
        thread::scope(|scope| {
            let work = |worker: usize| {
                let mut spare = SpareNodes::default();
                let mut nodes = Vec::new();
                for index in 0..joins.len() {
                    let states = joins[(index + worker * joins.len() / 3) % joins.len()];
                    let [one, other] = states.map(|state| match map.enter(Key(state), worker, &mut spare) {
                        Entry::New(node) | Entry::First(node) | Entry::Again(node) => (state, node),
                        Entry::Closed => panic!("no state is finished"),
                    });
                    map.join(one.1, other.1);
                    nodes.extend([one, other]);
                }
                nodes
            };
            let spawned: Vec<_> = (0..3).map(|worker| scope.spawn(move || work(worker))).collect();
            spawned.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Finishes all states, each of which is in the list of its set.
    fn finish(map: &Map, nodes: &HashSet<(u64, Node)>) {
        let finished: usize = thread::scope(|scope| {
            let work = |worker: usize| {
                let mut finished = 0;
                for (_, node) in nodes {
                    while let Some((found, _)) = map.unfinished(*node, worker) {
                        assert!(map.are_joined(found, *node));
                        finished += usize::from(map.finish(found));
                    }
                }
                finished
            };
            let spawned: Vec<_> = (0..3).map(|worker| scope.spawn(move || work(worker))).collect();
            spawned.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(finished, nodes.len());
        assert!(nodes.iter().all(|(state, _)| enter(map, *state, 0) == Entry::Closed));
    }

    #[test]
    fn marks_of_joined_sets_are_joined() {
        for all in ALL {
            let map = map(all, 2);
            let (one, other) = (new(&map, 1, 0), new(&map, 2, 0));
            assert!(!map.add_marks(one, AcceptanceMarks(1), all));
            assert!(!map.add_marks(other, all.without(AcceptanceMarks(1)), all));
            map.join(one, other);
            assert!(map.add_marks(other, AcceptanceMarks(0), all));
        }
    }

    #[test]
    fn a_map_without_memory_says_so() {
        let mut map = Map::new(ALL[0], 2);
        assert_eq!(map.reserve(1 << 30, 1 << 20), Err(Full));
        map.reserve(100, 1 << 20).unwrap();
        assert!(map.bytes() <= 1 << 20);
    }
}

#[cfg(loom)]
mod interleavings {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::sync::in_every_order;

    /// Runs two workers on a map with these states, all entered by the first worker, in every order.
    fn check(
        states: u64,
        acceptance: AcceptanceMarks,
        works: [fn(&Map, &[Node]); 2],
        then: impl Fn(&Map, &[Node]) + Sync + Send + 'static,
    ) {
        in_every_order(2, move || {
            let map = Arc::new(map(acceptance, states as usize));
            let nodes: Arc<Vec<_>> = Arc::new((0..states).map(|state| new(&map, state, 0)).collect());
            let spawned = works.map(|work| {
                let (map, nodes) = (Arc::clone(&map), Arc::clone(&nodes));
                thread::spawn(move || work(&map, &nodes))
            });
            spawned.into_iter().for_each(|thread| thread.join().unwrap());
            then(&map, &nodes);
        });
    }

    #[test]
    fn loom_a_new_state_is_new_for_one_worker() {
        in_every_order(2, || {
            let map = Arc::new(map(AcceptanceMarks(1), 2));
            let spawned = [0, 1].map(|worker| {
                let map = Arc::clone(&map);
                thread::spawn(move || enter(&map, 7, worker))
            });
            let entries = spawned.map(|thread| thread.join().unwrap());
            let news = entries.iter().filter(|entry| matches!(entry, Entry::New(_))).count();
            assert_eq!(news, 1, "{entries:?}");
            assert!(entries.iter().any(|entry| matches!(entry, Entry::First(_))), "{entries:?}");
        });
    }

    #[test]
    fn loom_joins_from_both_ends_meet() {
        let first = |map: &Map, nodes: &[Node]| map.join(nodes[0], nodes[1]);
        let second = |map: &Map, nodes: &[Node]| map.join(nodes[2], nodes[1]);
        check(3, AcceptanceMarks(1), [first, second], |map, nodes| {
            assert!(map.are_joined(nodes[0], nodes[2]));
            for _ in 0..3 {
                let (node, _) = map.unfinished(nodes[0], 0).unwrap();
                assert!(map.finish(node));
            }
            assert_eq!(map.unfinished(nodes[1], 0), None);
        });
    }

    #[test]
    fn loom_the_same_join_happens_once() {
        let join = |map: &Map, nodes: &[Node]| {
            map.join(nodes[0], nodes[1]);
            assert!(map.are_joined(nodes[1], nodes[0]));
        };
        check(2, AcceptanceMarks(1), [join, join], |map, nodes| {
            assert_eq!([0, 1].map(|state| enter(map, state, 0)), [0, 1].map(|node| Entry::Again(nodes[node])));
        });
    }

    /// A state that joins a set before the last of its states is finished keeps the set open.
    #[test]
    fn loom_no_set_is_closed_before_its_states_are_finished() {
        let first = |map: &Map, nodes: &[Node]| {
            map.join(nodes[0], nodes[1]);
            map.finish(nodes[0]);
        };
        let second = |map: &Map, nodes: &[Node]| {
            if let Some((node, _)) = map.unfinished(nodes[1], 0) {
                assert!(node == nodes[1] || map.are_joined(nodes[0], nodes[1]));
            }
        };
        check(2, AcceptanceMarks(1), [first, second], |map, nodes| {
            assert_eq!(map.unfinished(nodes[0], 0).map(|(node, _)| node), Some(nodes[1]));
        });
    }

    #[test]
    fn loom_no_finished_state_is_lost_while_sets_join() {
        let first = |map: &Map, nodes: &[Node]| map.join(nodes[0], nodes[1]);
        let second = |map: &Map, nodes: &[Node]| assert!(map.finish(nodes[1]) && map.finish(nodes[0]));
        check(2, AcceptanceMarks(1), [first, second], |map, nodes| {
            assert_eq!(map.unfinished(nodes[0], 0), None);
        });
    }

    #[test]
    fn loom_no_mark_is_lost_while_sets_join() {
        fn first(map: &Map, nodes: &[Node]) {
            map.join(nodes[0], nodes[1]);
        }
        fn second(map: &Map, nodes: &[Node]) {
            map.add_marks(nodes[1], AcceptanceMarks(2), AcceptanceMarks(3));
            enter(map, 1, 1);
        }
        for acceptance in [AcceptanceMarks(3), AcceptanceMarks(u64::MAX)] {
            check(2, acceptance, [first, second], |map, nodes| {
                assert!(map.add_marks(nodes[0], AcceptanceMarks(1), AcceptanceMarks(3)));
                assert_eq!(enter(map, 0, 1), Entry::Again(nodes[0]));
            });
        }
    }
}
