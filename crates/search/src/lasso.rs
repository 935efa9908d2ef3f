//! A run into a component and around in it, as short as it can easily be had.

use std::collections::{HashMap, HashSet, VecDeque};

use entail_model::{Accepting, Keys, Sets, State, StateBuf, StateKey, Successors};

use crate::descent::{Ahead, Descent};
use crate::follow::Follower;
use crate::{Counterexample, ErrorKind};

/// An accepted run through a component, of which these are all states, unless there is not enough memory to find one.
/// The steps inside the component belong to all sets.
pub(crate) fn through<M: Accepting, S: Keys>(
    model: &M,
    store: &mut S,
    component: &[S::Key],
) -> Option<Counterexample<M::Step>> {
    let members: HashSet<S::Key> = component.iter().copied().collect();
    let mut finder = Finder { model, store };
    let (start, prefix, entry) = finder.way_into(&members)?;
    let mut choices = prefix;
    let begins = choices.len();
    let (mut here, mut missing) = (entry, model.sets());
    while missing != Sets::default() {
        let wanted = |edge: &Edge<S::Key>| edge.sets.0 & missing.0 != 0;
        let way = finder.shortest(here, &members, wanted)?;
        choices.extend(way.choices);
        missing = Sets(missing.0 & !way.sets.0);
        here = way.target;
    }
    if here != entry || choices.len() == begins {
        choices.extend(finder.shortest(here, &members, |edge| edge.target == entry)?.choices);
    }
    let mut follower = Follower::start(model, start);
    follower.choose(&choices);
    // Every choice is a step.
    let error = ErrorKind::Cycle { begins };
    Some(Counterexample { error, start: follower.start, steps: follower.steps })
}

struct Finder<'a, M, S> {
    model: &'a M,
    store: &'a mut S,
}

/// From one stable state to another.
struct Edge<K> {
    /// Those to be made in the states on the way.
    choices: Vec<u32>,
    sets: Sets,
    target: K,
}

impl<M: Accepting, S: Keys> Finder<'_, M, S> {
    /// A shortest way from an initial state to one of these: the number of the former, the choices, and the latter.
    fn way_into(&mut self, members: &HashSet<S::Key>) -> Option<(u32, Vec<u32>, S::Key)> {
        let mut states = Vec::new();
        self.model.initial_states(&mut |state| states.push(state.to_vec()));
        self.store.reserve(states.len(), u64::MAX).ok()?;
        let initial = states.iter().map(|state| self.store.key(state, &S::Opened::default()));
        let mut origins: HashMap<S::Key, Origin<S::Key>> = HashMap::new();
        let mut queue = VecDeque::new();
        for (number, key) in (0..).zip(initial) {
            origins.entry(key).or_insert(Origin::Initial(number));
            queue.push_back(key);
        }
        while let Some(key) = queue.pop_front() {
            if members.contains(&key) {
                let (start, choices) = trace(&origins, key);
                return Some((start, choices, key));
            }
            for edge in self.edges(key)? {
                origins.entry(edge.target).or_insert_with(|| {
                    queue.push_back(edge.target);
                    Origin::Step(key, edge.choices)
                });
            }
        }
        None
    }

    /// A shortest way inside a component that ends with an edge of the kind wanted.
    fn shortest(
        &mut self,
        from: S::Key,
        members: &HashSet<S::Key>,
        wanted: impl Fn(&Edge<S::Key>) -> bool,
    ) -> Option<Edge<S::Key>> {
        let mut known: HashMap<S::Key, (Vec<u32>, Sets)> = HashMap::from([(from, (Vec::new(), Sets::default()))]);
        let mut queue = VecDeque::from([from]);
        while let Some(key) = queue.pop_front() {
            for edge in self.edges(key)?.into_iter().filter(|edge| members.contains(&edge.target)) {
                let (before, sets) = &known[&key];
                let mut choices = before.clone();
                choices.extend(&edge.choices);
                let sets = sets.and(edge.sets);
                if wanted(&edge) {
                    return Some(Edge { choices, sets, target: edge.target });
                }
                known.entry(edge.target).or_insert_with(|| {
                    queue.push_back(edge.target);
                    (choices, sets)
                });
            }
        }
        None
    }

    /// All ways from a stable state to the next ones, if there is memory for their keys.
    fn edges(&mut self, key: S::Key) -> Option<Vec<Edge<S::Key>>> {
        let (mut state, mut opened) = (StateBuf::new(), S::Opened::default());
        self.store.open(key, &mut state, &mut opened);
        let (mut successors, mut scratch) = (Successors::default(), M::Scratch::default());
        self.model.expand(&state, &mut successors, &mut scratch);
        let mut descent = Descent::<S::Key, Sets>::default();
        let common = self.model.sets_at(&state, &successors);
        self.enter(&mut descent, &successors, &opened, common)?;
        let mut edges = Vec::new();
        while let Some(taken) = descent.advance() {
            match taken.ahead {
                Ahead::Nothing => {}
                Ahead::Stable(target) => {
                    edges.push(Edge { choices: descent.choices(), sets: taken.note, target });
                }
                Ahead::Transient => {
                    successors.clear();
                    self.model.expand(descent.transient(), &mut successors, &mut scratch);
                    self.enter(&mut descent, &successors, &opened, taken.note)?;
                }
            }
        }
        Some(edges)
    }

    fn enter(
        &mut self,
        descent: &mut Descent<S::Key, Sets>,
        successors: &Successors<M::Step>,
        opened: &S::Opened,
        common: Sets,
    ) -> Option<()> {
        self.store.reserve(successors.len(), u64::MAX).ok()?;
        let key = |state: &State| self.store.key(state, opened);
        descent.enter(successors, key, |step| common.and(self.model.sets_of(step)));
        Some(())
    }
}

/// How a state was reached.
enum Origin<K> {
    Initial(u32),
    Step(K, Vec<u32>),
}

fn trace<K: StateKey>(origins: &HashMap<K, Origin<K>>, mut key: K) -> (u32, Vec<u32>) {
    let mut pieces = Vec::new();
    loop {
        match &origins[&key] {
            Origin::Initial(number) => return (*number, pieces.into_iter().rev().flatten().copied().collect()),
            Origin::Step(before, choices) => {
                pieces.push(choices);
                key = *before;
            }
        }
    }
}
