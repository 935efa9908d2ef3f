//! A model with another initial state.

use crate::forward::forward_to_model;
use crate::{
    AcceptanceMarks, Accepting, Model, Part, Propositional, State, StateKey, Successors, Transition, Valuation,
};

/// The same model, whose only initial state is a given stable state.
pub struct StartingAt<'m, M> {
    /// The model.
    pub model: &'m M,
    /// The only initial state.
    pub state: &'m State,
}

impl<M: Model> Model for StartingAt<'_, M> {
    type Step = M::Step;
    type Scratch = M::Scratch;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(self.state);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<M::Step>) {
        self.model.enabled(state, steps);
    }

    forward_to_model!();

    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        self.model.parts(state, parts);
    }

    fn needs_proviso(&self) -> bool {
        self.model.needs_proviso()
    }

    fn expand(&self, state: &State, successors: &mut Successors<M::Step>, scratch: &mut M::Scratch) {
        self.model.expand(state, successors, scratch);
    }

    fn expand_further(
        &self,
        state: &State,
        times: u32,
        successors: &mut Successors<M::Step>,
        scratch: &mut M::Scratch,
    ) {
        self.model.expand_further(state, times, successors, scratch);
    }

    #[inline]
    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut M::Scratch,
        transitions: &mut Vec<Transition<M::Step, K>>,
    ) -> usize {
        self.model.expand_words(states, scratch, transitions)
    }
}

impl<M: Accepting> Accepting for StartingAt<'_, M> {
    fn acceptance(&self) -> AcceptanceMarks {
        self.model.acceptance()
    }

    fn acceptance_at(&self, state: &State, steps: &[M::Step]) -> AcceptanceMarks {
        self.model.acceptance_at(state, steps)
    }

    fn acceptance_of(&self, step: M::Step) -> AcceptanceMarks {
        self.model.acceptance_of(step)
    }

    fn streett_requests(&self, state: &State, steps: &[M::Step]) -> AcceptanceMarks {
        self.model.streett_requests(state, steps)
    }
}

impl<M: Propositional> Propositional for StartingAt<'_, M> {
    fn valuation(&self, state: &State, scratch: &mut M::Scratch) -> Valuation {
        self.model.valuation(state, scratch)
    }

    fn sees_end(&self) -> bool {
        self.model.sees_end()
    }

    fn valuation_after_end(&self, state: &State, scratch: &mut M::Scratch) -> Valuation {
        self.model.valuation_after_end(state, scratch)
    }
}
