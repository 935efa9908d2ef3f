//! Depth first: as far as possible along one path, then back to the last choice.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{Model, Observer, StateKey, Store, Visit};

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
///
/// The store may forget states that are not on the path any more. They are explored again if they are met again, and counted
/// again; so nothing is missed.
pub fn depth_first<M, K, O>(
    model: &M,
    store: &mut dyn Store<Key = K>,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
) -> Outcome<M::Step>
where
    M: Model,
    K: StateKey,
    O: Observer<M::Step> + ?Sized,
{
    let mut run = Run::new(model, store, checks, limits, observer).kept();
    run.stats.loops = Some(0);
    let begun = run
        .visit_initial_states()
        .map_continue(|initial| Journey { waiting: initial.into(), ..Journey::default() });
    go_on(run, begun)
}

/// Goes on with a search that was kept. `store` and `observer` are as they were when that began, and become what they had
/// become.
pub fn resume_depth_first<M, K, O>(
    model: &M,
    store: &mut dyn Store<Key = K>,
    checks: &Checks,
    limits: &Limits,
    observer: &mut O,
    mut from: Reader,
) -> io::Result<Outcome<M::Step>>
where
    M: Model,
    K: StateKey,
    O: Observer<M::Step> + ?Sized,
{
    let mut run = Run::new(model, store, checks, limits, observer).kept();
    run.restore(&mut from)?;
    let journey = Journey::load(&mut from)?;
    from.finish()?;
    Ok(go_on(run, ControlFlow::Continue(journey)))
}

fn go_on<M, S, O>(mut run: Run<M, S, O>, begun: ControlFlow<End, Journey<S::Key>>) -> Outcome<M::Step>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    let explored = match begun {
        ControlFlow::Continue(journey) => explore(&mut run, journey),
        ControlFlow::Break(end) => ControlFlow::Break(end),
    };
    let model = run.model;
    run.stats.forgotten = run.store.forgotten();
    let (outcome, first) = run.finish(explored);
    Outcome { counterexample: first.and_then(|found| follow::retrace(model, found)), ..outcome }
}

/// How far a search has come.
struct Journey<K> {
    /// The initial states where it has not begun yet, with their numbers.
    waiting: VecDeque<(u32, K)>,
    path: Path<K>,
    descent: Descent<K>,
}

impl<K: StateKey> Default for Journey<K> {
    fn default() -> Self {
        Journey { waiting: VecDeque::new(), path: Path::default(), descent: Descent::default() }
    }
}

impl<K: StateKey> Snapshot for Journey<K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.waiting.save(to)?;
        self.path.save(to)?;
        self.descent.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Journey<K>> {
        Ok(Journey { waiting: Snapshot::load(from)?, path: Snapshot::load(from)?, descent: Snapshot::load(from)? })
    }
}

fn explore<M, S, O>(run: &mut Run<M, S, O>, mut journey: Journey<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        descend(run, &mut journey)?;
        journey.path.retreat(0, |left| run.store.leave(left));
        let Some((number, initial)) = journey.waiting.pop_front() else { return ControlFlow::Continue(()) };
        if run.may_expand(0) {
            run.origin = u64::from(number);
            journey.path.enter(initial, 0, ());
            journey.descent.clear();
            run.enter(&mut journey.descent, initial, &Nothing)?;
        }
    }
}

/// Explores all that is new behind the path.
fn descend<M, S, O>(run: &mut Run<M, S, O>, journey: &mut Journey<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        run.rest(|to| journey.save(to))?;
        let Journey { descent, path, .. } = journey;
        let Some(taken) = run.step(descent)? else { return ControlFlow::Continue(()) };
        let depth = descent.depth() + 1;
        path.retreat(depth, |left| run.store.leave(left));
        match taken.ahead {
            Ahead::Nothing => {}
            Ahead::Transient => {
                if run.may_expand(depth) {
                    run.enter_transient(descent, &Nothing)?;
                }
            }
            Ahead::Stable(key) => match run.insert(key, descent)? {
                Visit::Seen => {
                    let closes_circle = path.contains(key);
                    run.stats.matched += 1;
                    *run.stats.loops.get_or_insert(0) += u64::from(closes_circle);
                    run.tell_known(key, closes_circle);
                }
                Visit::New => {
                    if run.may_expand(depth) {
                        path.enter(key, depth, ());
                        run.aside = path.bytes();
                        run.enter(descent, key, &Nothing)?;
                    } else {
                        run.store.leave(key);
                    }
                }
            },
        }
    }
}
