//! An engine chosen at run time, so that generic code is compiled only once.

use crate::jit::{Jit, Scratch};
use entail_ir::interpret::{Codes, Engine, Interpreter, Kind, ProcessVector, Sink, Source, Step};
use entail_model::{State, StateBuf, StateKey, Transition};
use std::sync::Arc;

/// Machine code, or the interpreter.
#[expect(clippy::large_enum_variant, reason = "a search has one")]
pub enum AnyEngine<'a> {
    Jit(Jit<'a>),
    Interpreter(&'a Interpreter<'a>),
}

impl Engine for AnyEngine<'_> {
    type Scratch = Scratch;

    #[inline]
    fn expand(&self, from: Source, desk: &mut Scratch, sink: &mut impl Sink) {
        match self {
            AnyEngine::Jit(jit) => jit.expand(from, desk, sink),
            AnyEngine::Interpreter(interpreter) => interpreter.expand(from, &mut (), sink),
        }
    }

    #[inline]
    fn expand_words<K: StateKey>(
        &self,
        kind: Kind,
        states: &[K],
        desk: &mut Scratch,
        unpack: impl Fn(K, &mut StateBuf),
        transitions: &mut Vec<Transition<Step, K>>,
    ) -> usize {
        match self {
            AnyEngine::Jit(jit) => jit.expand_words(kind, states, desk, unpack, transitions),
            // The interpreter has no fast path.
            AnyEngine::Interpreter(_) => 0,
        }
    }

    #[inline]
    fn propositions(&self, state: &State, vector: &ProcessVector, desk: &mut Scratch) -> Option<u64> {
        match self {
            AnyEngine::Jit(jit) => jit.propositions(state, vector, desk),
            AnyEngine::Interpreter(interpreter) => interpreter.propositions(state, vector, &mut ()),
        }
    }

    fn specialise(&mut self, vector: &ProcessVector, codes: &Arc<Codes>) {
        match self {
            AnyEngine::Jit(jit) => jit.specialise(vector, codes),
            AnyEngine::Interpreter(_) => {}
        }
    }

    #[inline]
    fn reads_words(&self, codes: &Codes) -> bool {
        match self {
            AnyEngine::Jit(jit) => jit.reads_words(codes),
            AnyEngine::Interpreter(interpreter) => interpreter.reads_words(codes),
        }
    }
}
