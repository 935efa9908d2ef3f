//! Expansion of states, and the traversal of atomic sequences.

use std::ops::ControlFlow;

use entail_model::{Keys, Model, Opened, StateBuf, StateKey, Successors, TransitionBuffers};

use crate::stack::{Annotation, Destination, SearchStack};

/// The buffers of one worker, reused from state to state.
pub(crate) struct Expander<M: Model> {
    /// The stable state expanded last.
    pub state: StateBuf,
    pub opened: Opened,
    pub successors: Successors<M::Step>,
    /// The steps out of that state.
    steps: Vec<M::Step>,
    pub transitions: TransitionBuffers<M::Step>,
    pub scratch: M::Scratch,
}

impl<M: Model> Default for Expander<M> {
    fn default() -> Self {
        Expander {
            state: StateBuf::new(),
            opened: Opened::default(),
            successors: Successors::default(),
            steps: Vec::new(),
            transitions: TransitionBuffers::default(),
            scratch: M::Scratch::default(),
        }
    }
}

impl<M: Model> Expander<M> {
    #[inline]
    pub fn open<S: Keys + ?Sized>(&mut self, store: &S, key: S::Key) {
        store.open(key, &mut self.state, &mut self.opened);
    }

    /// Expands the open state, which was expanded `times` times before.
    #[inline]
    pub fn expand(&mut self, model: &M, times: u32) {
        self.successors.clear();
        match times {
            0 => model.expand(&self.state, &mut self.successors, &mut self.scratch),
            times => self.expand_further(model, times),
        }
    }

    #[cold]
    fn expand_further(&mut self, model: &M, times: u32) {
        model.expand_further(&self.state, times, &mut self.successors, &mut self.scratch);
    }

    /// Expands the transient state that `stack` has just reached.
    pub fn expand_transient<K: StateKey, N: Copy>(&mut self, model: &M, stack: &SearchStack<K, N>) {
        self.successors.clear();
        model.expand(stack.transient(), &mut self.successors, &mut self.scratch);
    }

    /// The note for all steps out of the expanded stable state.
    #[inline]
    pub fn note<N: Annotation<M>>(&mut self, notes: &N) -> N::Note {
        self.steps.clear();
        self.successors.for_each_step(|step| self.steps.push(step));
        notes.at(&self.state, &self.steps)
    }

    /// Pushes a stable state with all paths to its stable successors, if the fast path can expand it. With `only_steps`,
    /// these must be single steps.
    #[inline]
    pub fn enter_words<S: Keys + ?Sized, N: Annotation<M>>(
        &mut self,
        (model, store, key): (&M, &S, S::Key),
        only_steps: bool,
        stack: &mut SearchStack<S::Key, N::Note>,
        notes: &N,
        mut stepped: impl FnMut(M::Step),
    ) -> bool {
        let transitions = S::Key::buffer(&mut self.transitions);
        transitions.clear();
        if model.expand_words(&[key], &mut self.scratch, transitions) == 0 {
            return false;
        }
        if only_steps && transitions.iter().any(|transition| transition.next.is_none()) {
            return false;
        }
        stack.enter_paths(!only_steps);
        self.steps.clear();
        for transition in transitions.iter() {
            stepped(transition.step);
            if transition.passed == 0 {
                self.steps.push(transition.step);
            }
            transition.next.inspect(|next| store.prefetch(*next));
            stack.push_transition(transition, |before| {
                let note = notes.of(transition.step);
                before.map_or(note, |before| N::both(before, note))
            });
        }
        if size_of::<N::Note>() == 0 {
            return true;
        }
        self.open(store, key);
        let common = notes.at(&self.state, &self.steps);
        stack.note_all(|note| N::both(common, note));
        true
    }

    /// Visits all paths from the expanded stable state through transient states to the next stable ones. `enter` pushes
    /// an expanded state onto the stack; `each` is called at the end of each path, with the stack, until it breaks.
    pub fn for_each_path<K: StateKey, N: Copy, E>(
        &mut self,
        model: &M,
        stack: &mut SearchStack<K, N>,
        mut enter: impl FnMut(&Expander<M>, &mut SearchStack<K, N>) -> Result<(), E>,
        mut each: impl FnMut(&SearchStack<K, N>, K, N) -> ControlFlow<()>,
    ) -> Result<(), E> {
        enter(self, stack)?;
        while let Some(taken) = stack.advance() {
            match taken.destination {
                Destination::Nowhere => {}
                Destination::Transient => {
                    self.expand_transient(model, stack);
                    enter(self, stack)?;
                }
                Destination::Stable(key) => {
                    if each(stack, key, taken.note).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
