//! Depth first: as far as possible along one path, then back to the last choice.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{Model, Observer, StateKey, Store, Visit};

use crate::context::SearchContext;
use crate::follow;
use crate::path::Path;
use crate::stack::{Ahead, Nothing, SearchStack};
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
    let mut context = SearchContext::new(model, store, checks, limits, observer).kept();
    context.stats.loops = Some(0);
    let begun = context
        .visit_initial_states()
        .map_continue(|initial| Exploration { waiting: initial.into(), ..Exploration::default() });
    go_on(context, begun)
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
    let explored = match begun {
        ControlFlow::Continue(exploration) => explore(&mut context, exploration),
        ControlFlow::Break(end) => ControlFlow::Break(end),
    };
    let model = context.model;
    context.stats.forgotten = context.store.forgotten();
    let (outcome, first) = context.finish(explored);
    Outcome { counterexample: first.and_then(|found| follow::retrace(model, found)), ..outcome }
}

/// How far a search has come.
struct Exploration<K> {
    /// The initial states where it has not begun yet, with their numbers.
    waiting: VecDeque<(u32, K)>,
    path: Path<K>,
    stack: SearchStack<K>,
}

impl<K: StateKey> Default for Exploration<K> {
    fn default() -> Self {
        Exploration { waiting: VecDeque::new(), path: Path::default(), stack: SearchStack::default() }
    }
}

impl<K: StateKey> Snapshot for Exploration<K> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.waiting.save(to)?;
        self.path.save(to)?;
        self.stack.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Exploration<K>> {
        Ok(Exploration {
            waiting: Snapshot::load(from)?,
            path: Snapshot::load(from)?,
            stack: Snapshot::load(from)?,
        })
    }
}

fn explore<M, S, O>(context: &mut SearchContext<M, S, O>, mut exploration: Exploration<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        descend(context, &mut exploration)?;
        exploration.path.retreat(0, |left| context.store.leave(left));
        let Some((number, initial)) = exploration.waiting.pop_front() else { return ControlFlow::Continue(()) };
        if context.may_expand(0) {
            context.origin = u64::from(number);
            exploration.path.enter(initial, 0, ());
            exploration.stack.clear();
            context.enter(&mut exploration.stack, initial, &Nothing)?;
        }
    }
}

/// Explores all that is new behind the path.
fn descend<M, S, O>(context: &mut SearchContext<M, S, O>, exploration: &mut Exploration<S::Key>) -> ControlFlow<End>
where
    M: Model,
    S: Store + ?Sized,
    O: Observer<M::Step> + ?Sized,
{
    loop {
        context.rest(|to| exploration.save(to))?;
        let Exploration { stack, path, .. } = exploration;
        let Some(taken) = context.step(stack)? else { return ControlFlow::Continue(()) };
        let depth = stack.depth() + 1;
        path.retreat(depth, |left| context.store.leave(left));
        match taken.ahead {
            Ahead::Nothing => {}
            Ahead::Transient => {
                if context.may_expand(depth) {
                    context.enter_transient(stack, &Nothing)?;
                }
            }
            Ahead::Stable(key) => match context.insert(key, stack)? {
                Visit::Seen => {
                    let closes_cycle = path.contains(key);
                    context.stats.matched += 1;
                    *context.stats.loops.get_or_insert(0) += u64::from(closes_cycle);
                    context.tell_known(key, closes_cycle);
                }
                Visit::New => {
                    if context.may_expand(depth) {
                        path.enter(key, depth, ());
                        context.aside = path.bytes();
                        context.enter(stack, key, &Nothing)?;
                    } else {
                        context.store.leave(key);
                    }
                }
            },
        }
    }
}
