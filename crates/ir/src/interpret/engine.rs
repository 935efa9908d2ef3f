//! Who computes successors, and what they are told and tell.

use std::sync::Arc;

use entail_model::{Fired, Model, State, StateBuf};

use super::{Interpreter, Outline, Step};

/// Computes what can happen in a state. The interpreter is the reference; others are faster.
pub trait Engine: Sync {
    /// Tells `sink` about every step that is possible, in the order of [`Model::enabled`]. `scratch` is memory of the
    /// engine's own, kept by the caller from one call to the next.
    fn expand(&self, from: Source, scratch: &mut Vec<u64>, sink: &mut impl Sink);

    /// Prepares for many states of one outline, packed in one way.
    fn specialise(&mut self, _outline: &Outline, _codes: &Arc<Codes>) {}
}

/// A state to be expanded.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub state: &'a State,
    /// That of the state.
    pub outline: &'a Outline,
    /// The state as one word, where that is wanted of its successors too.
    pub packed: Option<(u64, &'a Codes)>,
}

/// Takes the successors of a state.
pub trait Sink {
    /// A step that leads to this state, which means nothing if it broke.
    fn state(&mut self, step: Step, fired: Fired, state: &State);

    /// Steps without a fault, as their bits, each with the stable state that it leads to, which has the same outline
    /// and fits into one word.
    fn words(&mut self, steps: &[[u64; 2]]);
}

/// One that has not asked for words.
impl<F: FnMut(Step, Fired, &State)> Sink for F {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        self(step, fired, state);
    }

    fn words(&mut self, _: &[[u64; 2]]) {
        unreachable!("words are for those who said how to pack them");
    }
}

/// How the stable states of an outline are packed into one word.
#[derive(Clone, Debug)]
pub struct Codes {
    /// For every byte of a state: the number that begins there.
    table: Vec<Code>,
    /// Where numbers begin, and how many bytes they have.
    numbers: Vec<(u32, u8)>,
    bits: u32,
}

/// The code of a number is how much greater it is than the lowest one, as far as its bytes go. All zeros: it has none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Code {
    /// The rest of the word.
    pub keep: u64,
    pub low: u64,
    /// Codes are less than that.
    pub limit: u64,
    /// Where the code is in the word.
    pub shift: u64,
}

impl Codes {
    /// For states of so many bytes, as yet without codes.
    pub fn new(len: usize) -> Codes {
        Codes { table: vec![Code::default(); len], numbers: Vec::new(), bits: 0 }
    }

    /// Gives the next bits of the word to the number that begins at `at`.
    pub fn push(&mut self, at: u32, bytes: u8, low: u32, bits: u8) {
        let shift = self.bits;
        self.bits += u32::from(bits);
        assert!(self.bits < u64::BITS, "codes for more than one word");
        let limit = 1 << bits;
        self.table[at as usize] =
            Code { keep: !((limit - 1) << shift), low: u64::from(low), limit, shift: u64::from(shift) };
        self.numbers.push((at, bytes));
    }

    pub fn table(&self) -> &[Code] {
        &self.table
    }

    /// The word of a stable state of the outline, if all its numbers have codes.
    pub fn pack(&self, state: &State) -> Option<u64> {
        let mut word = 0;
        for &(at, bytes) in &self.numbers {
            let (at, bytes) = (at as usize, usize::from(bytes));
            let mut value = [0; 4];
            value[..bytes].copy_from_slice(&state[at..at + bytes]);
            let code = self.table[at];
            let wide = u64::MAX >> (64 - 8 * bytes);
            let number = u64::from(u32::from_le_bytes(value)).wrapping_sub(code.low) & wide;
            if number >= code.limit {
                return None;
            }
            word |= number << code.shift;
        }
        Some(word)
    }
}

impl<E: Engine> Engine for &E {
    fn expand(&self, from: Source, scratch: &mut Vec<u64>, sink: &mut impl Sink) {
        E::expand(self, from, scratch, sink);
    }
}

impl Engine for Interpreter<'_> {
    fn expand(&self, from: Source, _: &mut Vec<u64>, sink: &mut impl Sink) {
        let mut steps = Vec::new();
        self.enabled(from.state, &mut steps);
        let mut successor = StateBuf::new();
        for step in steps {
            successor.clear();
            successor.extend_from_slice(from.state);
            let fired = self.fire(step, &mut successor);
            sink.state(step, fired, &successor);
        }
    }
}
