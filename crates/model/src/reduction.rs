//! Models with partial-order reduction.

use std::collections::HashSet;

use crate::forward::forward_to_model;
use crate::{Concurrent, Model, Part, Propositional, State, StateKey, Successors, Target, Transition, Valuation};

/// Partial-order reduction: selects a sufficient subset of the steps out of a state, such as a stubborn or an ample
/// set.
///
/// The selection depends only on the state, not on the search. So a reduced model is a model like any other.
pub trait Reduction<M: Model>: Sync {
    /// Buffers that are reused from one state to the next.
    type Scratch: Default + Send;

    /// Whether the search must solve the ignoring problem ([`Model::needs_proviso`]).
    fn needs_proviso(&self) -> bool;

    /// Given all steps out of a stable state, returns for each whether it is selected; `None` to expand the state
    /// fully. `times` selects one of several subsets, numbered from 0; after the last one the state is expanded fully.
    fn select<'d>(
        &self,
        model: &M,
        state: &State,
        steps: &[M::Step],
        answer: u32,
        scratch: &'d mut Self::Scratch,
    ) -> Option<&'d [bool]>;
}

/// A model with or without partial-order reduction. This is a run-time choice, so that a search is compiled once for
/// both.
///
/// A set of steps that all fail, or that all end inside an atomic sequence, is not sufficient: other steps might
/// continue the run. This too depends only on the state.
#[derive(Clone, Copy, Debug)]
pub struct Reduced<'a, M, R> {
    /// The full model.
    pub model: &'a M,
    /// The reduction, if there is one.
    pub reduction: Option<&'a R>,
}

/// The buffers of the model and of the reduction.
pub struct Scratch<S, D, T> {
    model: S,
    selection: D,
    steps: Vec<T>,
}

impl<S: Default, D: Default, T> Default for Scratch<S, D, T> {
    fn default() -> Self {
        Scratch { model: S::default(), selection: D::default(), steps: Vec::new() }
    }
}

impl<M: Model, R: Reduction<M>> Model for Reduced<'_, M, R> {
    type Step = M::Step;
    type Scratch = Scratch<M::Scratch, R::Scratch, M::Step>;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(each);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<M::Step>) {
        let mut successors = Successors::default();
        self.expand(state, &mut successors, &mut Self::Scratch::default());
        successors.for_each_step(|step| steps.push(step));
    }

    forward_to_model!();

    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        self.model.parts(state, parts);
    }

    fn needs_proviso(&self) -> bool {
        self.reduction.is_some_and(R::needs_proviso)
    }

    fn expand(&self, state: &State, successors: &mut Successors<M::Step>, scratch: &mut Self::Scratch) {
        self.expand_further(state, 0, successors, scratch);
    }

    fn expand_further(
        &self,
        state: &State,
        times: u32,
        successors: &mut Successors<M::Step>,
        scratch: &mut Self::Scratch,
    ) {
        self.model.expand(state, successors, &mut scratch.model);
        let Some(reduction) = self.reduction else { return };
        if successors.len() < 2 || self.model.is_transient(state) {
            return;
        }
        scratch.steps.clear();
        successors.for_each_step(|step| scratch.steps.push(step));
        let Scratch { model, selection, steps } = scratch;
        if let Some(keeps) = reduction.select(self.model, state, steps, times, selection)
            && (successors.are_plain() || leads_somewhere(self.model, successors, keeps, model))
        {
            successors.retain(keeps);
            successors.set_reduced(reduction.needs_proviso());
        }
    }

    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut Self::Scratch,
        transitions: &mut Vec<Transition<M::Step, K>>,
    ) -> usize {
        let first = transitions.len();
        let expanded = self.model.expand_words(states, &mut scratch.model, transitions);
        if let Some(reduction) = self.reduction {
            self.retain_selected(reduction, states, scratch, transitions, first);
        }
        expanded
    }
}

impl<M: Model, R: Reduction<M>> Reduced<'_, M, R> {
    /// Keeps the transitions from `first` on that begin with a selected step.
    fn retain_selected<K: StateKey>(
        &self,
        reduction: &R,
        states: &[K],
        scratch: &mut Scratch<M::Scratch, R::Scratch, M::Step>,
        transitions: &mut Vec<Transition<M::Step, K>>,
        first: usize,
    ) {
        let Scratch { selection, steps, .. } = scratch;
        let needs_proviso = reduction.needs_proviso();
        let (mut kept, mut at) = (first, first);
        while let Some(from) = transitions.get(at).map(|transition| transition.from) {
            let of_state = transitions[at..].iter().take_while(|transition| transition.from == from);
            steps.clear();
            let mut end = at;
            for transition in of_state {
                steps.extend((transition.passed == 0).then_some(transition.step));
                end += 1;
            }
            let [low, high] = states[from as usize].words();
            let bytes = (u128::from(high) << u64::BITS | u128::from(low)).to_le_bytes();
            let keeps = match steps.len() {
                1 => None,
                _ => reduction.select(self.model, &bytes[..8 * K::WORDS], steps, 0, selection),
            };
            match keeps.filter(|keeps| leads_to_stable(&transitions[at..end], keeps)) {
                Some(keeps) => {
                    let mut keeps = keeps.iter();
                    let mut is_selected = true;
                    for index in at..end {
                        let transition = transitions[index];
                        if transition.passed == 0 {
                            is_selected = keeps.next() == Some(&true);
                        }
                        if is_selected {
                            transitions[kept] = Transition { reduced: needs_proviso, ..transition };
                            kept += 1;
                        }
                    }
                }
                None => {
                    transitions.copy_within(at..end, kept);
                    kept += end - at;
                }
            }
            at = end;
        }
        transitions.truncate(kept);
    }
}

/// Whether a path that begins with a selected step ends in a stable state.
fn leads_to_stable<S, K>(paths: &[Transition<S, K>], keeps: &[bool]) -> bool {
    let mut of_steps = paths.chunk_by(|_, next| next.passed > 0).zip(keeps);
    of_steps.any(|(paths, &keep)| keep && paths.iter().any(|transition| transition.next.is_some()))
}

/// Whether a selected successor is stable, or a stable state is reachable from it through transient ones.
fn leads_somewhere<M: Model>(
    model: &M,
    successors: &Successors<M::Step>,
    keeps: &[bool],
    scratch: &mut M::Scratch,
) -> bool {
    let mut waiting = Vec::new();
    for (successor, _) in successors.iter().zip(keeps).filter(|(_, keep)| **keep) {
        match successor.target {
            Target::Stable => return true,
            Target::Transient => waiting.push(successor.state.to_vec()),
            Target::Nowhere => {}
        }
    }
    let (mut passed, mut successors) = (HashSet::new(), Successors::default());
    while let Some(state) = waiting.pop() {
        successors.clear();
        model.expand(&state, &mut successors, scratch);
        for successor in successors.iter() {
            match successor.target {
                Target::Stable => return true,
                Target::Transient if passed.insert(successor.state.to_vec()) => {
                    waiting.push(successor.state.to_vec())
                }
                Target::Transient | Target::Nowhere => {}
            }
        }
    }
    false
}

impl<M: Propositional, R: Reduction<M>> Propositional for Reduced<'_, M, R> {
    fn valuation(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        self.model.valuation(state, &mut scratch.model)
    }

    fn sees_end(&self) -> bool {
        self.model.sees_end()
    }

    fn valuation_after_end(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        self.model.valuation_after_end(state, &mut scratch.model)
    }
}

impl<M: Concurrent, R: Reduction<M>> Concurrent for Reduced<'_, M, R> {
    fn processes(&self, state: &State) -> usize {
        self.model.processes(state)
    }

    fn owner(&self, step: M::Step) -> usize {
        self.model.owner(step)
    }
}
