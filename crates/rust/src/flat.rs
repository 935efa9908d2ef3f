//! Adapts a model in Rust to entail's searches: states become bytes, and actions become numbers.

use crate::{Error, Model, Predicate};
use entail_model::{
    Concurrent, Fault, FaultKind, Fired, Marks, Propositional, State, StateBuf, Successors, Valuation,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// An action, by its index among those of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub number: u32,
    process: u32,
}

/// A model for one search.
pub(crate) struct Flat<'m, M: Model> {
    pub model: &'m M,
    /// Must hold in every state; otherwise, the step that leads there fails.
    pub invariant: Option<Predicate<M>>,
    /// By number.
    pub propositions: Vec<Predicate<M>>,
    /// An error of the model's implementation, if one was found.
    error: Mutex<Option<Error>>,
}

/// Stores expect states of whole words.
const WORD: usize = 8;

/// This fault does not count as an error of the model: the search continues without the step, and its outcome is
/// discarded.
const USELESS: Fired = Fired::Broken(Fault { kind: FaultKind::TooLong, place: 0, times: 1 });
const FAILED: Fired = Fired::Failed(Fault { kind: FaultKind::Invariant, place: 0, times: 1 });

impl<'m, M: Model> Flat<'m, M> {
    pub fn new(model: &'m M, invariant: Option<Predicate<M>>, propositions: Vec<Predicate<M>>) -> Self {
        Flat { model, invariant, propositions, error: Mutex::new(None) }
    }

    /// An error of the model's implementation, if one was found.
    pub fn error(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    fn fail(&self, error: Error) {
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
    }

    /// Calls a function of the model; `None` if it panics.
    fn ask<T>(&self, state: Option<&M::State>, function: impl FnOnce(&M) -> T) -> Option<T> {
        let answer = catch_unwind(AssertUnwindSafe(|| function(self.model)));
        answer.map_err(|panic| self.fail(Error::Panic { message: message(&*panic), state: state.map(debug) })).ok()
    }

    /// Calls a function of the model; an error if it panics.
    pub fn guarded<T>(&self, function: impl FnOnce(&M) -> T) -> Result<T, Error> {
        self.ask(None, function).ok_or_else(|| self.error().expect("a panic was noted"))
    }

    pub fn initial(&self) -> Vec<M::State> {
        self.ask(None, M::initial_states).unwrap_or_default()
    }

    pub fn actions(&self, state: &M::State) -> Vec<M::Action> {
        self.ask(Some(state), |model| model.actions(state)).unwrap_or_default()
    }

    pub fn next(&self, state: &M::State, action: &M::Action) -> Option<M::State> {
        self.ask(Some(state), |model| model.next(state, action))?
    }

    pub fn holds(&self, predicate: Predicate<M>, state: &M::State) -> bool {
        self.ask(Some(state), |model| predicate(model, state)).unwrap_or(false)
    }

    /// Appends the encoding of a state, if decoding it gives an equal state.
    fn encode(&self, state: &M::State, bytes: &mut StateBuf) -> Option<()> {
        let start = bytes.len();
        let wrong = |reason: String| self.fail(Error::Encoding { state: debug(state), reason });
        let encoded = self.ask(Some(state), |_| postcard::to_extend(state, std::mem::take(bytes)))?;
        *bytes = encoded.map_err(|error| wrong(error.to_string())).ok()?;
        let decoded = self.ask(Some(state), |_| postcard::from_bytes::<M::State>(&bytes[start..]))?;
        let decoded = decoded.map_err(|error| wrong(error.to_string())).ok()?;
        if !self.ask(Some(state), |_| decoded == *state)? {
            wrong(format!("it is read back as {}, which is not equal", debug(&decoded)));
            return None;
        }
        let again = self.ask(Some(state), |_| postcard::to_extend(&decoded, Vec::new()))?;
        if again.as_deref() != Ok(&bytes[start..]) {
            wrong("equal states have different bytes".into());
            return None;
        }
        let words = (bytes.len() - start).div_ceil(WORD).max(1);
        bytes.resize(start + words * WORD, 0);
        Some(())
    }

    /// Decodes a state. The encoding is prefix-free, so padding does not matter.
    pub fn decode(&self, bytes: &State) -> Option<M::State> {
        let decoded = self.ask(None, |_| postcard::take_from_bytes::<M::State>(bytes))?;
        decoded.map(|(state, _)| state).ok()
    }

    fn step(&self, state: &M::State, number: usize, action: &M::Action) -> Step {
        let process = self.ask(Some(state), |model| model.process(action)).unwrap_or(0);
        Step { number: number as u32, process: process as u32 }
    }

    /// Checks a state that was just reached.
    fn fired(&self, state: &M::State) -> Fired {
        let holds = self.invariant.is_none_or(|invariant| self.holds(invariant, state));
        if holds { Fired::Done } else { FAILED }
    }
}

impl<M: Model> entail_model::Model for Flat<'_, M> {
    type Step = Step;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        for state in self.initial() {
            let mut bytes = StateBuf::new();
            if self.encode(&state, &mut bytes).is_some() {
                each(&bytes);
            }
        }
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Step>) {
        let mut successors = Successors::default();
        self.expand(state, &mut successors, &mut ());
        successors.for_each_step(|step| steps.push(step));
    }

    fn fire(&self, step: Step, state: &mut StateBuf) -> Fired {
        let next = self.decode(state).and_then(|from| {
            let actions = self.actions(&from);
            let action = actions.get(step.number as usize);
            let next = action.and_then(|action| self.next(&from, action));
            if next.is_none() {
                self.fail(Error::Nondeterminism { state: debug(&from) });
            }
            next
        });
        state.clear();
        match next.and_then(|next| self.encode(&next, state).map(|()| next)) {
            Some(next) => self.fired(&next),
            None => USELESS,
        }
    }

    fn marks(&self, state: &State) -> Marks {
        let state = self.decode(state);
        let may_end = |state: &M::State| self.ask(Some(state), |model| model.may_end(state));
        Marks { valid_end: state.as_ref().and_then(may_end).unwrap_or(true), ..Marks::default() }
    }

    /// Ends the search after an error of the model's implementation.
    fn should_restart(&self, _: u64) -> bool {
        self.error().is_some()
    }

    fn expand(&self, bytes: &State, successors: &mut Successors<Step>, (): &mut ()) {
        let Some(state) = self.decode(bytes) else { return };
        let mut reached = StateBuf::new();
        for (number, action) in self.actions(&state).iter().enumerate() {
            let Some(next) = self.next(&state, action) else { continue };
            reached.clear();
            let fired = self.encode(&next, &mut reached).map_or(USELESS, |()| self.fired(&next));
            let step = self.step(&state, number, action);
            successors.push(step, fired, false, |states| states.extend_from_slice(&reached));
        }
    }
}

impl<M: Model> Propositional for Flat<'_, M> {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        let Some(state) = self.decode(state) else { return Valuation::default() };
        let holds = self.propositions.iter().map(|proposition| u64::from(self.holds(*proposition, &state)));
        let holds = (0..).zip(holds).fold(0, |all, (number, holds)| all | holds << number);
        Valuation { holds, ..Valuation::default() }
    }
}

impl<M: Model> Concurrent for Flat<'_, M> {
    fn processes(&self, state: &State) -> usize {
        let state = self.decode(state);
        state.and_then(|state| self.ask(Some(&state), |model| model.processes(&state))).unwrap_or(0)
    }

    fn owner(&self, step: Step) -> usize {
        step.process as usize
    }
}

fn debug(state: &impl std::fmt::Debug) -> String {
    format!("{state:?}")
}

/// The message of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(String::from);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
