//! Paths from one stable state to the next ones through transient states, all in words.

use crate::jit::context::Entries;
use entail_ir::interpret::{Step, Words};
use entail_model::{StateKey, Transition};

/// A depth-first traversal of transient states. Steps are reported only when all of them are known.
#[derive(Debug, Default)]
pub(crate) struct AtomicChain {
    /// The transient states on the path, and the stable state where it begins.
    path: Vec<Stop>,
    /// The enabled steps of each of them.
    choices: Vec<(Step, Words)>,
    /// All steps taken, each with the number of transient states before it.
    taken: Vec<(usize, Step, Option<Words>)>,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    state: Words,
    /// The index of its first choice, and of its next one.
    first: usize,
    next: usize,
}

/// Expands states given as words. A trait instead of a closure, so that calls are inlined.
pub(crate) trait Expander<K> {
    /// All steps, if they can be represented as words.
    fn expand(&mut self, state: K) -> Option<Entries<K>>;
}

/// Longer chains are left to the generic code.
const LONGEST: usize = 64;
const MOST_TAKEN: usize = 1 << 12;

impl AtomicChain {
    /// Reports all steps from each of the states to `each`, up to the first state that cannot be expanded as words;
    /// returns the number of states expanded.
    #[inline(always)]
    pub fn expand_all<K: StateKey>(
        &mut self,
        transient: u64,
        states: &[K],
        mut expander: impl Expander<K>,
        mut each: impl FnMut(Transition<Step, K>),
    ) -> usize {
        for (from, &state) in states.iter().enumerate() {
            let Some(entries) = expander.expand(state).filter(|entries| entries.len() > 0) else { return from };
            let passes = entries.last_words >= transient;
            if passes && !self.pass(transient, state, &entries, &mut expander) {
                return from;
            }
            let count = if passes { self.taken.len() } else { entries.len() };
            // One loop for both cases, so that `each` is inlined once.
            for index in 0..count {
                each(if passes {
                    let (passed, step, next) = self.taken[index];
                    Transition { from, passed, step, next: next.map(K::from_words), reduced: false }
                } else {
                    let (step, next) = entries.get(index);
                    Transition { from, passed: 0, step, next: Some(next), reduced: false }
                });
            }
        }
        states.len()
    }

    fn enter<K: StateKey>(&mut self, state: K, entries: &Entries<K>) {
        let first = self.choices.len();
        self.path.push(Stop { state: state.words(), first, next: first });
        self.choices.extend((0..entries.len()).map(|index| {
            let (step, next) = entries.get(index);
            (step, next.words())
        }));
    }

    /// Takes all paths from a stable state to the next ones; fails if there are too many, or a step that words cannot
    /// represent.
    // Not inlined, so that the common loop remains small.
    #[inline(never)]
    fn pass<K: StateKey>(
        &mut self,
        transient: u64,
        state: K,
        entries: &Entries<K>,
        expander: &mut impl Expander<K>,
    ) -> bool {
        self.path.clear();
        self.choices.clear();
        self.taken.clear();
        self.enter(state, entries);
        while let Some((stop, before)) = self.path.split_last_mut() {
            let passed = before.len();
            let Some(&(step, next)) = self.choices.get(stop.next) else {
                self.choices.truncate(stop.first);
                self.path.pop();
                continue;
            };
            stop.next += 1;
            if next[K::WORDS - 1] < transient {
                self.taken.push((passed, step, Some(next)));
                continue;
            }
            self.taken.push((passed, step, None));
            if self.path.iter().any(|stop| stop.state == next) {
                continue;
            }
            if self.path.len() > LONGEST || self.taken.len() > MOST_TAKEN {
                return false;
            }
            let next = K::from_words(next);
            let Some(entries) = expander.expand(next) else { return false };
            self.enter(next, &entries);
        }
        true
    }
}
