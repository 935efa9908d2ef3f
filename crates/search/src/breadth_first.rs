//! Breadth first: all states at one depth before those at the next.

use std::ops::ControlFlow;

use entail_model::{InOrder, Model, Observer, Position, State, StateBuf};

use crate::descent::{Descent, Led};
use crate::run::{Ahead, Found, Run};
use crate::{Checks, Counterexample, End, Limits, Outcome};

/// Explores `model` breadth first. `store` is empty at first.
///
/// The depth of a state is the least number of stable states to be entered on the way to it, initial states being
/// at depth 0; that of the search is the depth of the deepest states it has come to. No counterexample
/// passes fewer stable states than the one returned.
///
/// There is no queue: states are expanded in the order in which the store received them. Nor is there anything to
/// say where a state came from: the way to an error is found by expanding one level of states after the other
/// again, backwards, which takes at most as long as the search did.
pub fn breadth_first<M, S, O>(
    model: &M,
    store: &mut S,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Model,
    S: InOrder,
    O: Observer<M::Step> + ?Sized,
{
    let mut levels = vec![Position::default()];
    let mut run = Run::new(model, store, checks, limits, observer);
    let explored = explore(&mut run, &mut levels);
    let (outcome, first) = run.finish(explored);
    Outcome { counterexample: first.map(|found| complete(found, model, store, &levels)), ..outcome }
}

/// Notes in `levels` where each level begins, and where the last one ends.
fn explore<M, S, O>(run: &mut Run<M, S, O>, levels: &mut Vec<Position>) -> ControlFlow<End>
where
    M: Model,
    S: InOrder,
    O: Observer<M::Step> + ?Sized,
{
    run.visit_initial_states()?;
    let mut descent = Descent::new(run.model);
    let mut state = StateBuf::new();
    let mut position = Position::default();
    for depth in 0.. {
        let end = run.store.end();
        if position == end {
            break;
        }
        levels.push(end);
        if !run.may_expand(depth) {
            break;
        }
        while position != end {
            position = run.store.read(position, &mut state);
            expand(run, &mut descent, &state)?;
        }
    }
    ControlFlow::Continue(())
}

fn expand<M, S, O>(run: &mut Run<M, S, O>, descent: &mut Descent<M>, state: &State) -> ControlFlow<End>
where
    M: Model,
    S: InOrder,
    O: Observer<M::Step> + ?Sized,
{
    descent.start(state);
    run.check_end(descent)?;
    while let Some(ahead) = run.step(descent)? {
        match ahead {
            Ahead::Transient => descent.enter(),
            Ahead::New | Ahead::Known | Ahead::Nothing => {}
        }
    }
    ControlFlow::Continue(())
}

/// Extends the path to an error backwards, from the state that was being expanded to an initial one.
fn complete<M, S>(found: Found<M::Step>, model: &M, store: &S, levels: &[Position]) -> Counterexample<M::Step>
where
    M: Model,
    S: InOrder,
{
    let Counterexample { error, start: mut state, mut steps } = found.counterexample;
    steps.reverse();
    let mut descent = Descent::new(model);
    for level in levels[..=found.depth as usize].windows(2).rev() {
        find_parent(&mut descent, store, level[0], &state);
        steps.extend(descent.path().iter().rev());
        state.clear();
        state.extend_from_slice(descent.origin());
    }
    steps.reverse();
    Counterexample { error, start: state, steps }
}

/// Leaves `descent` on the way from a state of the level that begins at `position` to `child`.
fn find_parent<M, S>(descent: &mut Descent<M>, store: &S, mut position: Position, child: &State)
where
    M: Model,
    S: InOrder,
{
    let mut state = StateBuf::new();
    loop {
        position = store.read(position, &mut state);
        descent.start(&state);
        while let Some(taken) = descent.advance() {
            match taken.led {
                Led::Stable if descent.reached() == child => return,
                Led::Stable | Led::Nowhere => {}
                Led::Transient => descent.enter(),
            }
        }
    }
}
