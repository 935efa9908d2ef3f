//! Depth first: as far as possible along one path, then back to the last choice.

use std::ops::ControlFlow;

use entail_model::{Model, Observer, Store};

use crate::descent::Descent;
use crate::path::Path;
use crate::run::{Ahead, Run};
use crate::{Checks, End, Limits, Outcome};

/// Explores `model` depth first, in the order of SPIN's `pan`: steps in the order in which the model gives them,
/// and all that lies behind one before the next. `store` is empty at first.
///
/// Depth is counted in steps along the path, those into and out of transient states too; that of the search is the
/// depth of the deepest state that was new or transient. With a limit on it, states behind the limit may be missed
/// although there is a shorter way to them.
///
/// Steps into known states are told apart: back into the path (loops), or elsewhere.
pub fn depth_first<M, S, O>(
    model: &M,
    store: &mut S,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    let mut run = Run::new(model, store, checks, limits, observer);
    let explored = explore(&mut run);
    let (outcome, first) = run.finish(explored);
    Outcome { counterexample: first.map(|found| found.counterexample), ..outcome }
}

fn explore<M, S, O>(run: &mut Run<M, S, O>) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    let mut descent = Descent::new(run.model);
    run.stats.loops = Some(0);
    for state in run.visit_initial_states()? {
        if run.may_expand(0) {
            descent.start(&state);
            descend(run, &mut descent)?;
        }
    }
    ControlFlow::Continue(())
}

/// Explores all that is new behind the state where `descent` starts.
fn descend<M, S, O>(run: &mut Run<M, S, O>, descent: &mut Descent<M>) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    let mut path = Path::default();
    path.enter(descent.origin(), 0);
    run.check_end(descent)?;
    while let Some(ahead) = run.step(descent)? {
        path.retreat(descent.depth());
        match ahead {
            Ahead::Nothing => {}
            Ahead::Known => {
                if path.contains(descent.reached()) {
                    *run.stats.loops.get_or_insert(0) += 1;
                }
            }
            Ahead::Transient | Ahead::New => {
                let depth = descent.depth() + 1;
                if run.may_expand(depth) {
                    descent.enter();
                    if ahead == Ahead::New {
                        path.enter(descent.reached(), depth);
                        run.check_end(descent)?;
                    }
                }
            }
        }
    }
    ControlFlow::Continue(())
}
