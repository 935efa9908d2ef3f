//! Models with another order of steps, so that lossy searches omit different states.

use crate::forward::forward_to_model;
use crate::{Model, State, StateKey, Successors, Transition};

/// A model with a random order of steps that depends only on a seed and the state, so that a run can be replayed. Seed
/// 0 keeps the model's order.
pub struct Shuffled<'a, M> {
    /// The model in its own order.
    pub model: &'a M,
    /// The seed of the order.
    pub seed: u64,
}

impl<M: Model> Shuffled<'_, M> {
    #[inline]
    fn shuffle(&self, state: &State, successors: &mut Successors<M::Step>) {
        if self.seed != 0 {
            let mut dice = self.dice(state);
            successors.shuffle(|count| dice.below(count));
        }
    }

    /// The random numbers that determine the order of the steps of a state.
    fn dice(&self, state: &State) -> Dice {
        let mut dice = Dice(self.seed);
        for part in state.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            dice = Dice(dice.next() ^ u64::from_le_bytes(word));
        }
        dice
    }
}

/// Random numbers. After Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }
}

impl<M: Model> Model for Shuffled<'_, M> {
    type Step = M::Step;
    type Scratch = M::Scratch;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<M::Step>) {
        let before = steps.len();
        self.model.enabled(state, steps);
        if self.seed == 0 {
            return;
        }
        let mut dice = self.dice(state);
        shuffle(&mut steps[before..], |count| dice.below(count));
    }

    forward_to_model!();

    fn needs_proviso(&self) -> bool {
        self.model.needs_proviso()
    }

    /// Only in the model's own order.
    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut M::Scratch,
        transitions: &mut Vec<Transition<M::Step, K>>,
    ) -> usize {
        if self.seed == 0 { self.model.expand_words(states, scratch, transitions) } else { 0 }
    }

    fn expand(&self, state: &State, successors: &mut Successors<M::Step>, scratch: &mut M::Scratch) {
        self.model.expand(state, successors, scratch);
        self.shuffle(state, successors);
    }

    fn expand_further(
        &self,
        state: &State,
        times: u32,
        successors: &mut Successors<M::Step>,
        scratch: &mut M::Scratch,
    ) {
        self.model.expand_further(state, times, successors, scratch);
        self.shuffle(state, successors);
    }
}

/// Shuffles a slice. `below` returns a random number below its argument.
pub(crate) fn shuffle<T>(things: &mut [T], mut below: impl FnMut(usize) -> usize) {
    for last in (1..things.len()).rev() {
        things.swap(last, below(last + 1));
    }
}
