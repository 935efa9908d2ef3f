//! Runs both searches and checks the properties of every search.
#![allow(dead_code, reason = "not every test uses all of it")]

pub mod album;
pub mod counter;
pub mod disorder;
pub mod rings;

use entail_model::{Fired, Model, StateBuf};
use entail_search::{Checks, Counterexample, End, ErrorKind, Errors, Limits, Outcome, breadth_first, depth_first};
use entail_testkit::naive::{self, replay};
use entail_testkit::recording_store::RecordingStore;

pub const ALL: Checks = Checks { faults: true, assertions: true, end_states: true, errors: Errors::All };

pub fn bfs<M: Model>(model: &M, checks: Checks) -> Outcome<M::Step> {
    breadth_first(model, &mut RecordingStore::default(), &checks, &Limits::default(), &mut ())
}

pub fn dfs<M: Model>(model: &M, checks: Checks) -> Outcome<M::Step> {
    depth_first(model, &mut RecordingStore::default(), &checks, &Limits::default(), &mut ())
}

/// Both searches find the same as the naive one, and return valid counterexamples.
pub fn agree<M: Model>(model: &M, checks: Checks) {
    let expected = naive::explore(model, naive_checks(checks));
    for (search, outcome) in [("bfs", bfs(model, checks)), ("dfs", dfs(model, checks))] {
        let stops = checks.errors == Errors::First && expected.errors > 0;
        assert_eq!(outcome.end, if stops { End::Error } else { End::Complete }, "{search}");
        assert_eq!(outcome.errors > 0, expected.errors > 0, "{search}");
        assert_eq!(outcome.counterexample.is_some(), outcome.errors > 0, "{search}");
        if !stops {
            let counted = (outcome.stats.stored, outcome.stats.matched, outcome.errors);
            assert_eq!(counted, (expected.stored, expected.matched, expected.errors), "{search}");
        }
        if search == "bfs" && !stops {
            assert_eq!(outcome.stats.depth, expected.depth);
        }
        if let Some(counterexample) = outcome.counterexample {
            let stable = prove(model, &counterexample);
            if search == "bfs" {
                assert_eq!(Some(stable), expected.nearest_error, "the counterexample is a shortest one");
            }
        }
    }
}

/// Replays a counterexample. Returns the number of stable states that it enters before its error.
pub fn prove<M: Model>(model: &M, found: &Counterexample<M::Step>) -> u64 {
    assert!(initial_states(model).contains(&found.start), "it starts in an initial state");
    match found.error {
        ErrorKind::InvalidEnd => {
            let end = replay(model, &found.start, &found.steps);
            let mut steps = Vec::new();
            model.enabled(&end.state, &mut steps);
            assert_eq!(steps, [], "there is no way on");
            assert!(!model.marks(&end.state).valid_end);
            end.stable
        }
        ErrorKind::Fault(fault) => {
            let end = replay(model, &found.start, &found.steps);
            assert!(
                end.last == Fired::Failed(fault) || end.last == Fired::Broken(fault),
                "the last step is faulty"
            );
            replay(model, &found.start, &found.steps[..found.steps.len() - 1]).stable
        }
        ErrorKind::Cycle { .. } => panic!("nobody has looked for one"),
    }
}

pub fn naive_checks(checks: Checks) -> naive::Checks {
    naive::Checks { assertions: checks.assertions, end_states: checks.end_states }
}

pub fn initial_states<M: Model>(model: &M) -> Vec<StateBuf> {
    let mut states = Vec::new();
    model.initial_states(&mut |state| states.push(state.to_vec()));
    states
}
