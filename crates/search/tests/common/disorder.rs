//! A large irregular model.

use entail_model::{
    Fault, FaultKind, Fired, Marks, Model, Reduction, State, StateBuf, StateKey, Successor, Successors, Transition,
};

/// Nodes of an irregular graph that is not stored: the number of a node determines its edges.
pub struct Disorder {
    pub nodes: u64,
    /// The number of words of a state.
    pub words: usize,
    pub seed: u64,
}

fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

impl Disorder {
    fn node(&self, state: &State) -> u64 {
        u64::from_le_bytes(*state.first_chunk().unwrap())
    }

    fn state(&self, node: u64) -> StateBuf {
        let words = (0..self.words).map(|word| if word == 0 { node } else { mixed(node >> (3 * word)) % 50 });
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn chance(&self, node: u64, what: u64, one_in: u64) -> bool {
        mixed(node ^ what << 40 ^ self.seed << 50).is_multiple_of(one_in)
    }
}

impl Model for Disorder {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        (0..3).for_each(|node| each(&self.state(node)));
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        let node = self.node(state);
        steps.extend(0..if self.chance(node, 1, 200) { 0 } else { 1 + (mixed(node) % 4) as u32 });
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        let node = self.node(state);
        let fault = Fault { kind: FaultKind::Assertion, place: step, times: 2 };
        // Most edges are short.
        let far = if step == 0 { 50 } else { self.nodes };
        *state = self.state((node + 1 + mixed(node + u64::from(step) * self.nodes + self.seed) % far) % self.nodes);
        if self.chance(node, 2, 5000) { Fired::Failed(fault) } else { Fired::Done }
    }

    fn is_transient(&self, state: &State) -> bool {
        self.node(state) > 2 && self.chance(self.node(state), 3, 9)
    }

    fn marks(&self, state: &State) -> Marks {
        Marks { valid_end: self.chance(self.node(state), 4, 2), ..Marks::default() }
    }

    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        (): &mut (),
        transitions: &mut Vec<Transition<u32, K>>,
    ) -> usize {
        let usual = |key: &K| {
            let mut successors = Successors::default();
            self.expand(&self.state(key.words()[0]), &mut successors, &mut ());
            let is_usual = self.words == 1 && K::WORDS == 1 && successors.are_plain() && !successors.is_empty();
            is_usual.then_some(successors)
        };
        for (from, successors) in (0..).zip(states.iter().map(usual)) {
            let Some(successors) = successors else { return from as usize };
            for Successor { step, state, .. } in successors.iter() {
                let next = Some(K::from_words([self.node(state), 0]));
                transitions.push(Transition { from, passed: 0, step, next, reduced: false });
            }
        }
        states.len()
    }
}

/// A reduction that postpones some steps.
pub struct Fewer;

impl Reduction<Disorder> for Fewer {
    type Scratch = Vec<bool>;

    fn needs_proviso(&self) -> bool {
        true
    }

    fn select<'d>(
        &self,
        model: &Disorder,
        state: &State,
        steps: &[u32],
        answer: u32,
        scratch: &'d mut Vec<bool>,
    ) -> Option<&'d [bool]> {
        scratch.clear();
        scratch.extend((0..steps.len()).map(|at| at as u32 == answer));
        let leaves_out = model.chance(model.node(state), 5, 2) && (answer as usize) < steps.len().min(2);
        leaves_out.then_some(&scratch[..])
    }
}
