//! Computes enabled steps and successors with the chosen backend.

use entail_check::config::Backend;
use entail_engine::{AnyEngine, Jit, Scratch, Tuning};
use entail_ir::Interpreter;
use entail_ir::interpret::{Engine, ProcessVector, Source, Step};
use entail_model::{Fired, State};
use std::ops::Range;

/// The enabled steps of a state, with their successors.
pub struct Ahead<'a> {
    engine: AnyEngine<'a>,
    interpreter: &'a Interpreter<'a>,
    desk: Scratch,
    /// The process vector for the types of the last state's processes.
    vector: (Vec<u32>, ProcessVector),
    steps: Vec<Step>,
    outcomes: Vec<(Fired, Range<usize>)>,
    /// All successors, concatenated.
    states: Vec<u8>,
}

impl<'a> Ahead<'a> {
    /// Interprets models that cannot be compiled; only the speed differs.
    pub fn new(interpreter: &'a Interpreter<'a>, backend: Backend) -> Ahead<'a> {
        let jit = match backend {
            Backend::Jit => Jit::compile(interpreter, Tuning::default()).ok(),
            Backend::Interpret => None,
        };
        Ahead {
            engine: jit.map_or(AnyEngine::Interpreter(interpreter), AnyEngine::Jit),
            interpreter,
            desk: Scratch::default(),
            vector: (Vec::new(), ProcessVector::default()),
            steps: Vec::new(),
            outcomes: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Computes and returns the enabled steps of a state.
    pub fn look(&mut self, state: &State) -> &[Step] {
        let Ahead { engine, interpreter, desk, vector: (types, vector), steps, outcomes, states } = self;
        if !state.is_empty() {
            let fresh = interpreter.layout().types_of(state);
            if *types != fresh || vector.len as usize != state.len() {
                *vector = interpreter.layout().process_vector(interpreter.system(), state);
                *types = fresh;
            }
        }
        steps.clear();
        outcomes.clear();
        states.clear();
        engine.expand(Source { state, vector, packed: None }, desk, &mut |step, fired, next: &State| {
            let at = states.len();
            states.extend_from_slice(next);
            steps.push(step);
            outcomes.push((fired, at..states.len()));
        });
        steps
    }

    /// The steps of that state.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The outcome of one of them; the state is undefined after a fault.
    pub fn outcome(&self, index: usize) -> (Fired, &State) {
        let (fired, at) = &self.outcomes[index];
        (*fired, &self.states[at.clone()])
    }
}
