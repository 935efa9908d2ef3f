//! Paths from one stable state to the next ones through transient states, all in words.

use crate::jit::context::Entries;
use entail_ir::interpret::{Step, Words};
use entail_model::{StateKey, Transition};

/// A depth-first traversal of transient states.
#[derive(Debug, Default)]
pub(crate) struct AtomicChain {
    /// The transient states on the path, and the stable state where it begins.
    path: Vec<Stop>,
    /// The enabled steps of each of them.
    choices: Vec<(Step, Words)>,
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
    /// Appends all steps from each of the states, up to the first state that cannot be expanded as words; returns the
    /// number of states expanded.
    pub fn expand_all<K: StateKey>(
        &mut self,
        transient: u64,
        states: &[K],
        mut expander: impl Expander<K>,
        transitions: &mut Vec<Transition<Step, K>>,
    ) -> usize {
        for (from, &state) in (0..).zip(states) {
            let first = transitions.len();
            let Some(entries) = expander.expand(state).filter(|entries| entries.len() > 0) else {
                return from as usize;
            };
            if entries.last_words < transient {
                transitions.extend((0..entries.len()).map(|index| {
                    let (step, next) = entries.get(index);
                    Transition { step, next: Some(next), from, passed: 0, reduced: false }
                }));
            } else if !self.pass(transient, (from, state), &entries, &mut expander, transitions) {
                transitions.truncate(first);
                return from as usize;
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
        (from, state): (u32, K),
        entries: &Entries<K>,
        expander: &mut impl Expander<K>,
        transitions: &mut Vec<Transition<Step, K>>,
    ) -> bool {
        self.path.clear();
        self.choices.clear();
        let most = transitions.len() + MOST_TAKEN;
        self.enter(state, entries);
        while let Some((stop, before)) = self.path.split_last_mut() {
            let passed = before.len() as u16;
            let Some(&(step, next)) = self.choices.get(stop.next) else {
                self.choices.truncate(stop.first);
                self.path.pop();
                continue;
            };
            stop.next += 1;
            let is_stable = next[K::WORDS - 1] < transient;
            let target = is_stable.then(|| K::from_words(next));
            transitions.push(Transition { step, next: target, from, passed, reduced: false });
            if is_stable || self.path.iter().any(|stop| stop.state == next) {
                continue;
            }
            if self.path.len() > LONGEST || transitions.len() > most {
                return false;
            }
            let next = K::from_words(next);
            let Some(entries) = expander.expand(next) else { return false };
            self.enter(next, &entries);
        }
        true
    }
}
