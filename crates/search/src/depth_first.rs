//! Depth first: as far as possible along one path, then back to the last choice.

use std::ops::ControlFlow;

use entail_model::{Model, Observer, Store, Visit};

use crate::descent::{Ahead, Descent, Nothing};
use crate::follow;
use crate::path::Path;
use crate::run::Run;
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
    Outcome { counterexample: first.map(|found| follow::retrace(model, found)), ..outcome }
}

fn explore<M, S, O>(run: &mut Run<M, S, O>) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    run.stats.loops = Some(0);
    let mut descent = Descent::default();
    for (number, key) in run.visit_initial_states()? {
        if run.may_expand(0) {
            run.origin = u64::from(number);
            descent.clear();
            descend(run, &mut descent, key)?;
        }
    }
    ControlFlow::Continue(())
}

/// Explores all that is new behind an initial state.
fn descend<M, S, O>(run: &mut Run<M, S, O>, descent: &mut Descent<S::Key>, initial: S::Key) -> ControlFlow<End>
where
    M: Model,
    S: Store,
    O: Observer<M::Step> + ?Sized,
{
    let mut path = Path::default();
    path.enter(initial, 0, ());
    run.enter(descent, initial, &Nothing)?;
    while let Some(taken) = run.step(descent)? {
        path.retreat(descent.depth());
        let depth = descent.depth() + 1;
        match taken.ahead {
            Ahead::Nothing => {}
            Ahead::Transient => {
                if run.may_expand(depth) {
                    run.enter_transient(descent, &Nothing)?;
                }
            }
            Ahead::Stable(key) => match run.insert(key, descent)? {
                Visit::Seen => {
                    run.stats.matched += 1;
                    *run.stats.loops.get_or_insert(0) += u64::from(path.contains(key));
                }
                Visit::New => {
                    if run.may_expand(depth) {
                        path.enter(key, depth, ());
                        run.aside = path.bytes();
                        run.enter(descent, key, &Nothing)?;
                    }
                }
            },
        }
    }
    ControlFlow::Continue(())
}
