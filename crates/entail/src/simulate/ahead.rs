//! What can happen next, as the engine says that was asked for.

use entail_check::config::Backend;
use entail_engine::{AnyEngine, Jit, Scratch};
use entail_ir::Interpreter;
use entail_ir::interpret::{Engine, ProcessVector, Source, Step};
use entail_model::{Fired, State};
use std::ops::Range;

/// The steps that are possible in a state, and where they lead.
pub struct Ahead<'a> {
    engine: AnyEngine<'a>,
    interpreter: &'a Interpreter<'a>,
    desk: Scratch,
    /// Of the last state that had any processes, with the types of these.
    vector: (Vec<u32>, ProcessVector),
    steps: Vec<Step>,
    outcomes: Vec<(Fired, Range<usize>)>,
    /// All successors, one after the other.
    states: Vec<u8>,
}

impl<'a> Ahead<'a> {
    /// What cannot become machine code is interpreted: nobody can tell but by the time it takes.
    pub fn new(interpreter: &'a Interpreter<'a>, backend: Backend) -> Ahead<'a> {
        let jit = match backend {
            Backend::Jit => Jit::compile(interpreter).ok(),
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

    /// Finds out what is possible in a state; returns the steps.
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

    /// The steps of the state that was looked at.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What comes of one of them; the state means nothing if it broke.
    pub fn outcome(&self, index: usize) -> (Fired, &State) {
        let (fired, at) = &self.outcomes[index];
        (*fired, &self.states[at.clone()])
    }
}
