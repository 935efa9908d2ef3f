//! Depth-first search: follows one path as far as possible, then backtracks to the last choice.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Snapshot, snapshot};
use entail_model::{Model, Observer, StateKey, Store, Visit};

use crate::context::{DepthUnit, SearchContext};
use crate::path::Path;
use crate::replay;
use crate::stack::{NoAnnotation, SearchStack};
use crate::{Checks, End, Limits, Outcome};

/// Explores `model` depth first, in the order of SPIN's `pan`: it takes steps in the model's order, and explores
/// everything behind one step before taking the next. `store` must be empty.
///
/// Depth is the number of steps on the path, those into and out of transient states included. The depth of the search
/// is that of the deepest new or transient state. With a depth limit, the search may miss a state behind the limit
/// although a shorter path leads to it.
///
/// Steps into known states are counted separately if they lead back to the path (loops).
///
/// The store may forget states that are not on the path. If such a state is reached again, the search explores it and
/// counts it again, so it misses nothing.
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
    let mut context = SearchContext::new(model, store, checks, limits, observer).kept();
    context.stats().loops = Some(0);
    let begun = context
        .visit_initial_states()
        .map_continue(|initial| Exploration { waiting: initial.into(), ..Exploration::default() });
    go_on(context, begun)
}

/// Continues a search from a snapshot. `store` and `observer` must be as they were when that search started; their
/// state is restored from the snapshot.
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
    let mut context = SearchContext::new(model, store, checks, limits, observer).kept();
    context.restore(&mut from)?;
    let exploration = Exploration::load(&mut from)?;
    from.finish()?;
    Ok(go_on(context, ControlFlow::Continue(exploration)))
}

fn go_on<M, S, O>(
    mut context: SearchContext<M, S, O>,
    begun: ControlFlow<End, Exploration<S::Key>>,
) -> Outcome<M::Step>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    context.worker.depth_unit = DepthUnit::Steps;
    let explored = match begun {
        ControlFlow::Continue(exploration) => explore(&mut context, exploration),
        ControlFlow::Break(end) => ControlFlow::Break(end),
    };
    let model = context.model();
    context.stats().forgotten = context.shared.store.forgotten();
    let (outcome, first) = context.finish(explored);
    Outcome { counterexample: first.and_then(|found| replay::retrace(model, found)), ..outcome }
}

/// The progress of a search.
struct Exploration<K> {
    /// Initial states that are not explored yet, with their numbers.
    waiting: VecDeque<(u32, K)>,
    path: Path<K>,
    stack: SearchStack<K>,
}

impl<K: StateKey> Default for Exploration<K> {
    fn default() -> Self {
        Exploration { waiting: VecDeque::new(), path: Path::default(), stack: SearchStack::default() }
    }
}

snapshot!(impl[K: StateKey] Exploration<K> { waiting, path, stack });

fn explore<M, S, O>(context: &mut SearchContext<M, S, O>, mut exploration: Exploration<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        descend(context, &mut exploration)?;
        exploration.path.retreat(0, |left| context.shared.store.leave(left));
        let Some((number, initial)) = exploration.waiting.pop_front() else { return ControlFlow::Continue(()) };
        if context.may_expand(0) {
            context.worker.findings.origin = u64::from(number);
            exploration.path.enter(initial, 0, ());
            exploration.stack.clear();
            context.enter_stable(&mut exploration.stack, initial, &NoAnnotation)?;
        }
    }
}

/// Explores all new states reachable from the path.
fn descend<M, S, O>(context: &mut SearchContext<M, S, O>, exploration: &mut Exploration<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        context.safepoint(|to| exploration.save(to))?;
        let Exploration { stack, path, .. } = exploration;
        let Some(taken) = context.step(stack, &NoAnnotation)? else { return ControlFlow::Continue(()) };
        let depth = taken.depth;
        path.retreat(depth, |left| context.shared.store.leave(left));
        let Some(key) = taken.stable() else { continue };
        match context.insert(key, stack)? {
            Visit::Seen => context.count_known(key, path.contains(key)),
            Visit::New if context.may_expand(depth) => {
                path.enter(key, depth, ());
                context.shared.memory.auxiliary = path.bytes();
                context.enter_stable(stack, key, &NoAnnotation)?;
            }
            Visit::New => context.shared.store.leave(key),
        }
    }
}
