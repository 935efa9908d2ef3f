//! Accepted runs of small random graphs, compared with a naive decision.

mod common;

use common::rings::Rings;
use entail_search::{End, Limits, scc};
use entail_store::{ExactWordSet, NumberMap};
use entail_testkit::rng::Rng;

#[test]
fn accepted_runs_are_found_where_there_are_some() {
    let mut rng = Rng::new(11);
    let (mut found, mut missing) = (0, 0);
    for _ in 0..20_000 {
        let rings = Rings::random(&mut rng);
        let mut store = NumberMap::new(ExactWordSet::new(8));
        let outcome = scc(&rings, &mut store, &Limits::default(), &mut ());
        let is_wrong = rings.has_end() || rings.has_accepted_run();
        assert_eq!(outcome.end == End::Error, is_wrong, "{rings:?}");
        match outcome.counterexample {
            Some(counterexample) => {
                found += 1;
                rings.check(&counterexample);
            }
            None => {
                missing += 1;
                assert_eq!(outcome.stats.stored, rings.reachable().len() as u64);
            }
        }
    }
    assert!(found > 2000 && missing > 2000, "{found} and {missing}");
}
