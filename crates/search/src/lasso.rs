//! Short lassos: a path to an accepting component, and an accepting cycle inside it.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use entail_model::{Accepting, Full, Keys, Model, Opened, State, StateKey};

use rapidhash::{RapidHashMap, RapidHashSet};

use crate::expander::Expander;
use crate::replay::Replay;
use crate::scc::{ByModel, TransitionMarks};
use crate::stack::{Annotation, PathStep, SearchStack};
use crate::{Counterexample, ErrorKind};

/// The stem of a lasso: a path from an initial state.
pub(crate) struct Stem<K> {
    /// The number of the initial state.
    pub start: u32,
    pub path_steps: Vec<PathStep>,
    pub target: K,
}

/// The number of states to examine in search of a shorter stem than the known one.
const PATIENCE: usize = 1 << 16;

/// An accepted run through a strongly connected component; `None` if memory does not suffice to find it. A run that
/// takes all transitions of the component infinitely often must be accepted. `known` is a path to the component;
/// without it, one is searched for without a bound.
pub(crate) fn find_lasso<M: Accepting, S: Keys>(
    model: &M,
    store: &mut S,
    component: &[S::Key],
    known: Option<Stem<S::Key>>,
) -> Option<Counterexample<M::Step>> {
    let Stem { start, path_steps, target: entry } = find_stem(model, store, component, known, |_, _| true)?;
    let cycle = find_cycle(model, store, component, entry)?;
    build_run(model, start, &path_steps, &cycle)
}

/// A path from an initial state to one of `targets`, through states that `allowed` accepts. `known` is such a path;
/// without it, one is searched for without a bound.
pub(crate) fn find_stem<M: Accepting, S: Keys>(
    model: &M,
    store: &mut S,
    targets: &[S::Key],
    known: Option<Stem<S::Key>>,
    allowed: impl Fn(&S, S::Key) -> bool,
) -> Option<Stem<S::Key>> {
    let members: RapidHashSet<S::Key> = targets.iter().copied().collect();
    let patience = if known.is_some() { PATIENCE } else { usize::MAX };
    Finder::new(model, store).shortest_stem(&members, patience, allowed).or(known)
}

/// A cycle from one of these states back to it, such that the run that repeats it is accepted. The states are strongly
/// connected.
pub(crate) fn find_cycle<M: Accepting, S: Keys>(
    model: &M,
    store: &mut S,
    component: &[S::Key],
    entry: S::Key,
) -> Option<Vec<PathStep>> {
    let members: RapidHashSet<S::Key> = component.iter().copied().collect();
    let mut finder = Finder::new(model, store);
    let (mut here, mut taken, mut cycle) = (entry, TransitionMarks::default(), Vec::new());
    loop {
        let missing = model.acceptance().and(taken.requests).without(taken.marks);
        // The path back may add requests.
        let way = match (missing.is_empty(), here == entry && !cycle.is_empty()) {
            (true, true) => return Some(cycle),
            (true, false) => finder.shortest_path(here, &members, |edge| edge.target == entry)?,
            (false, _) => finder.shortest_path(here, &members, |edge| edge.note.marks.meet(missing))?,
        };
        cycle.extend(way.path_steps);
        taken = taken.and(way.note);
        here = way.target;
    }
}

/// The run that takes these choices from the initial state with this number, and then repeats those of the cycle.
pub(crate) fn build_run<M: Model>(
    model: &M,
    start: u32,
    way: &[PathStep],
    cycle: &[PathStep],
) -> Option<Counterexample<M::Step>> {
    let mut replay = Replay::start(model, start)?;
    replay.follow(way.iter().copied())?;
    let error = ErrorKind::Cycle { begins: replay.steps.len() };
    replay.follow(cycle.iter().copied())?;
    Some(Counterexample { error, start: replay.start, steps: replay.steps })
}

/// A strongly connected subset of these states such that a run that takes all of its transitions infinitely often is
/// accepted, if there is one. Removes the states whose requests are not met, and repeats with the components of the
/// rest.
pub(crate) fn fair_subcomponent<M: Accepting, S: Keys>(
    model: &M,
    store: &mut S,
    component: &[S::Key],
) -> Result<Option<Vec<S::Key>>, Full> {
    let mut finder = Finder::new(model, store);
    let numbers: RapidHashMap<S::Key, usize> =
        component.iter().enumerate().map(|(number, key)| (*key, number)).collect();
    let mut edges = Vec::new();
    for &key in component {
        let inside = finder.edges(key)?.into_iter();
        edges.push(inside.filter_map(|edge| Some((*numbers.get(&edge.target)?, edge.note))).collect::<Vec<_>>());
    }
    let mut candidates: Vec<Vec<usize>> = vec![(0..component.len()).collect()];
    while let Some(states) = candidates.pop() {
        for part in strongly_connected(&edges, &states) {
            let members: RapidHashSet<usize> = part.iter().copied().collect();
            let steps = || part.iter().flat_map(|&state| edges[state].iter().map(move |edge| (state, edge)));
            let inside = || steps().filter(|(_, (target, _))| members.contains(target));
            let Some(note) = inside().map(|(_, (_, note))| *note).reduce(TransitionMarks::and) else { continue };
            if note.is_accepted(model.acceptance()) {
                return Ok(Some(part.iter().map(|&state| component[state]).collect()));
            }
            let unmet = note.requests.without(note.marks);
            if note.marks.contain(model.acceptance()) {
                let demanding: RapidHashSet<usize> =
                    inside().filter(|(_, (_, note))| note.requests.meet(unmet)).map(|(state, _)| state).collect();
                candidates.push(part.into_iter().filter(|state| !demanding.contains(state)).collect());
            }
        }
    }
    Ok(None)
}

/// The strongly connected components of these states; `edges` leave each state. Kosaraju's algorithm.
fn strongly_connected(edges: &[Vec<(usize, TransitionMarks)>], states: &[usize]) -> Vec<Vec<usize>> {
    let mut backward: RapidHashMap<usize, Vec<usize>> = states.iter().map(|&state| (state, Vec::new())).collect();
    for &state in states {
        for (target, _) in &edges[state] {
            if let Some(sources) = backward.get_mut(target) {
                sources.push(state);
            }
        }
    }
    let forward = |state: usize| {
        edges[state]
            .iter()
            .map(|(target, _)| *target)
            .filter(|target| backward.contains_key(target))
            .collect::<Vec<_>>()
    };
    let mut known = RapidHashSet::default();
    let mut left: Vec<usize> = Vec::new();
    for &root in states {
        left.append(&mut reach(root, &mut known, forward));
    }
    known.clear();
    left.iter()
        .rev()
        .map(|&root| reach(root, &mut known, |state| backward[&state].clone()))
        .filter(|part| !part.is_empty())
        .collect()
}

/// All states reachable from `root` that are not in `known`, in postorder.
fn reach(root: usize, known: &mut RapidHashSet<usize>, next: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut left = Vec::new();
    if !known.insert(root) {
        return left;
    }
    let mut path = vec![(root, next(root))];
    while let Some((state, ahead)) = path.last_mut() {
        match ahead.pop() {
            Some(target) if known.insert(target) => path.push((target, next(target))),
            Some(_) => {}
            None => {
                left.push(*state);
                path.pop();
            }
        }
    }
    left
}

struct Finder<'a, M: Model, S: Keys> {
    model: &'a M,
    store: &'a mut S,
    expander: Expander<M>,
    stack: SearchStack<S::Key, TransitionMarks>,
}

/// A path from one stable state to the next.
struct Edge<K> {
    source: K,
    /// The choices on the path.
    path_steps: Vec<PathStep>,
    note: TransitionMarks,
    target: K,
}

impl<'a, M: Accepting, S: Keys> Finder<'a, M, S> {
    fn new(model: &'a M, store: &'a mut S) -> Self {
        Finder { model, store, expander: Expander::default(), stack: SearchStack::default() }
    }

    /// A shortest path from an initial state to one of `targets`, if it is found before `patience` states were
    /// examined.
    fn shortest_stem(
        &mut self,
        members: &RapidHashSet<S::Key>,
        patience: usize,
        allowed: impl Fn(&S, S::Key) -> bool,
    ) -> Option<Stem<S::Key>> {
        let mut states = Vec::new();
        self.model.initial_states(&mut |state| states.push(state.to_vec()));
        self.store.reserve(states.len(), u64::MAX).ok()?;
        let initial: Vec<_> = states.iter().map(|state| self.store.key(state, &Opened::default())).collect();
        if let Some(start) = initial.iter().position(|key| members.contains(key)) {
            return Some(Stem { start: start as u32, path_steps: Vec::new(), target: initial[start] });
        }
        let way = self.explore(
            &initial,
            patience,
            |store, edge| allowed(store, edge.target),
            |edge| members.contains(&edge.target),
        )?;
        let start = initial.iter().position(|key| *key == way.source)?;
        Some(Stem { start: start as u32, path_steps: way.path_steps, target: way.target })
    }

    /// A shortest path inside a component whose last edge satisfies `wanted`.
    fn shortest_path(
        &mut self,
        from: S::Key,
        members: &RapidHashSet<S::Key>,
        wanted: impl Fn(&Edge<S::Key>) -> bool,
    ) -> Option<Edge<S::Key>> {
        self.explore(&[from], usize::MAX, |_, edge| members.contains(&edge.target), wanted)
    }

    /// A shortest path of allowed edges to a wanted one, breadth first, joined into one edge.
    fn explore(
        &mut self,
        from: &[S::Key],
        patience: usize,
        allowed: impl Fn(&S, &Edge<S::Key>) -> bool,
        wanted: impl Fn(&Edge<S::Key>) -> bool,
    ) -> Option<Edge<S::Key>> {
        // The edge that first reached each state.
        let mut reached: RapidHashMap<S::Key, Option<Edge<S::Key>>> = from.iter().map(|key| (*key, None)).collect();
        let mut queue: VecDeque<S::Key> = from.iter().copied().collect();
        for _ in 0..patience {
            let key = queue.pop_front()?;
            for edge in self.edges(key).ok()? {
                if !allowed(self.store, &edge) {
                    continue;
                }
                if wanted(&edge) {
                    return Some(backwards(&reached, edge));
                }
                reached.entry(edge.target).or_insert_with(|| {
                    queue.push_back(edge.target);
                    Some(edge)
                });
            }
        }
        None
    }

    /// All paths from a stable state to the next ones.
    fn edges(&mut self, key: S::Key) -> Result<Vec<Edge<S::Key>>, Full> {
        let Finder { model, store, expander, stack } = self;
        let notes = ByModel(*model);
        expander.open(*store, key);
        expander.expand(model, 0);
        let at_state = expander.note(&notes);
        let enter = |expander: &Expander<M>, stack: &mut SearchStack<S::Key, TransitionMarks>| {
            store.reserve(expander.successors.len(), u64::MAX)?;
            let common = stack.note().unwrap_or(at_state);
            let key = |state: &State| store.key(state, &expander.opened);
            stack.enter(&expander.successors, key, |step| common.and(notes.of(step)));
            Ok(())
        };
        let mut edges = Vec::new();
        expander.for_each_path(model, stack, enter, |stack, target, note| {
            edges.push(Edge { source: key, path_steps: stack.path_steps(), note, target });
            ControlFlow::Continue(())
        })?;
        Ok(edges)
    }
}

/// Joins all edges on the path that ends with `last`.
fn backwards<K: StateKey>(reached: &RapidHashMap<K, Option<Edge<K>>>, last: Edge<K>) -> Edge<K> {
    let (mut source, mut note) = (last.source, last.note);
    let mut pieces = vec![&last.path_steps];
    while let Some(edge) = &reached[&source] {
        pieces.push(&edge.path_steps);
        note = note.and(edge.note);
        source = edge.source;
    }
    let path_steps = pieces.into_iter().rev().flatten().copied().collect();
    Edge { source, path_steps, note, target: last.target }
}
