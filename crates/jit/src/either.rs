//! An engine chosen at run time, so that generic code is compiled only once.

use crate::{Jit, Scratch};
use entail_ir::interpret::{Codes, Engine, Interpreter, Kind, ProcessVector, Sink, Source, Step};
use entail_model::{State, StateBuf, StateKey, Transition};
use std::sync::Arc;

/// Machine code, or the interpreter.
#[expect(clippy::large_enum_variant, reason = "a search has one")]
pub enum Either<'a> {
    Jit(Jit<'a>),
    Interpreter(&'a Interpreter<'a>),
}

impl Engine for Either<'_> {
    type Scratch = Scratch;

    #[inline]
    fn expand(&self, from: Source, desk: &mut Scratch, sink: &mut impl Sink) {
        match self {
            Either::Jit(jit) => jit.expand(from, desk, sink),
            Either::Interpreter(interpreter) => interpreter.expand(from, &mut (), sink),
        }
    }

    #[inline]
    fn expand_words<K: StateKey>(
        &self,
        kind: Kind,
        states: &[K],
        desk: &mut Scratch,
        unpack: impl Fn(K, &mut StateBuf),
        each: impl FnMut(Transition<Step, K>),
    ) -> usize {
        match self {
            Either::Jit(jit) => jit.expand_words(kind, states, desk, unpack, each),
            // The interpreter has no fast path.
            Either::Interpreter(_) => 0,
        }
    }

    #[inline]
    fn propositions(&self, state: &State, vector: &ProcessVector, desk: &mut Scratch) -> Option<u64> {
        match self {
            Either::Jit(jit) => jit.propositions(state, vector, desk),
            Either::Interpreter(interpreter) => interpreter.propositions(state, vector, &mut ()),
        }
    }

    fn specialise(&mut self, vector: &ProcessVector, codes: &Arc<Codes>) {
        match self {
            Either::Jit(jit) => jit.specialise(vector, codes),
            Either::Interpreter(_) => {}
        }
    }

    #[inline]
    fn reads_words(&self, codes: &Codes) -> bool {
        match self {
            Either::Jit(jit) => jit.reads_words(codes),
            Either::Interpreter(interpreter) => interpreter.reads_words(codes),
        }
    }
}
