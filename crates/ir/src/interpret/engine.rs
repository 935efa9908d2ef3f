//! The interface between engines, which compute successors, and their users.

use std::sync::Arc;

use entail_model::{Fired, Model, State, StateBuf, StateKey, Transition};

use super::{Interpreter, Layout, ProcessVector, Step};
use crate::{ProcessTypeId, System};

/// Computes the successors of a state. The interpreter is the reference; other engines are faster.
pub trait Engine: Sync {
    /// Buffers that the caller keeps from one call to the next.
    type Scratch: Default + Send;

    /// Passes every enabled step to `sink`, in the order of [`Model::enabled`].
    fn expand(&self, from: Source, scratch: &mut Self::Scratch, sink: &mut impl Sink);

    /// Expands states as [`Model::expand_words`] does. All are of one kind; `unpack` writes one in full.
    fn expand_words<K: StateKey>(
        &self,
        _kind: Kind,
        _states: &[K],
        _scratch: &mut Self::Scratch,
        _unpack: impl Fn(K, &mut StateBuf),
        _transitions: &mut Vec<Transition<Step, K>>,
    ) -> usize {
        0
    }

    /// The propositions that hold in a stable state, one bit each, if the engine can evaluate them.
    fn propositions(&self, _state: &State, _vector: &ProcessVector, _scratch: &mut Self::Scratch) -> Option<u64> {
        None
    }

    /// Prepares for many states of one process vector and one packing.
    fn specialise(&mut self, _vector: &ProcessVector, _codes: &Arc<Codes>) {}

    /// Whether the engine needs only the words of a state with this packing.
    fn reads_words(&self, _codes: &Codes) -> bool {
        false
    }
}

/// States of one process vector and one packing.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    pub vector: &'a ProcessVector,
    pub codes: &'a Codes,
}

/// A state to be expanded.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Empty if the words suffice.
    pub state: &'a State,
    /// The process vector of the state.
    pub vector: &'a ProcessVector,
    /// The state as one or two words, if the successors are wanted as words too.
    pub packed: Option<(Words, &'a Codes)>,
}

/// Receives the successors of a state.
pub trait Sink {
    /// A step and its target, which is undefined if the step is broken.
    fn state(&mut self, step: Step, fired: Fired, state: &State);

    /// Steps without faults, as their bits, each with its target, which has the same process vector and fits into one
    /// word.
    fn words(&mut self, steps: &[[u64; 2]]);

    /// The same for targets of two words, the higher one first.
    fn pairs(&mut self, steps: &[[u64; 3]]);
}

/// A packed state, the lowest bits first.
pub type Words = [u64; 2];

/// A sink for callers that ask for no words.
impl<F: FnMut(Step, Fired, &State)> Sink for F {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        self(step, fired, state);
    }

    fn words(&mut self, _: &[[u64; 2]]) {
        unreachable!("words are only passed to sinks that request them");
    }

    fn pairs(&mut self, _: &[[u64; 3]]) {
        unreachable!("words are only passed to sinks that request them");
    }
}

/// How the states of a process vector are packed into one or two words.
#[derive(Clone, Debug)]
pub struct Codes {
    /// The bytes that all states have in common; those of numbers are arbitrary.
    template: StateBuf,
    /// For every byte of a state: the code of the number that begins there.
    table: Vec<Code>,
    /// The offsets and sizes of the numbers.
    numbers: Vec<(u32, u8)>,
    bits: u32,
    /// The number of available bits.
    most_bits: u32,
    /// The last word of a transient state is at least this.
    transient: u64,
    exclusive: Exclusive,
    far: Vec<Far>,
}

/// The code of the exclusive process, which alone may move. In a state this is 0, or the number of the process plus
/// 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exclusive {
    /// The first process that can be exclusive, and the number of processes after it that can.
    first: u8,
    others: u8,
}

impl Exclusive {
    /// For states of a process vector.
    pub fn new(system: &System, vector: &ProcessVector) -> Exclusive {
        let is_atomic = |of: u32| {
            let locations = &system.process_type(ProcessTypeId(of as u16)).locations;
            locations.iter().any(|location| system.edges_of(location).iter().any(|edge| edge.atomic))
        };
        let atomic = vector.types.iter().enumerate().filter(|(_, of)| is_atomic(**of));
        // There are at most 255 processes.
        let mut atomic = atomic.map(|(process, _)| process as u8);
        let first = atomic.next().unwrap_or(0);
        Exclusive { first, others: atomic.next_back().unwrap_or(first) - first }
    }

    /// The largest code.
    pub fn most(self) -> i32 {
        i32::from(self.others) + 1
    }

    fn processes(self, vector: &ProcessVector) -> impl Iterator<Item = usize> {
        let (first, last) = (usize::from(self.first), usize::from(self.first) + usize::from(self.others));
        first..(last + 1).min(vector.types.len())
    }

    #[inline]
    fn code(self, exclusive: u8) -> Option<u64> {
        if exclusive == 0 {
            Some(0)
        } else {
            Some(u64::from(exclusive.checked_sub(self.first)?)).filter(|&code| code > 0)
        }
    }

    #[inline]
    fn of(self, code: u64) -> u8 {
        if code == 0 { 0 } else { (code as u8).wrapping_add(self.first) }
    }
}

/// An exclusive process at a location without a code of its own. The process has several codes; each of them stands
/// for an offset that is added to the code of its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    pub process: u8,
    /// The value that is coded instead of the process.
    pub alias: u8,
    /// The offset and the size of its location.
    pub at: u32,
    bytes: u8,
    /// The number that is added.
    pub ahead: u32,
}

/// The code of a number is its difference from the lowest value. All zeros: the number has no code.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Code {
    /// The mask of the other bits of its word.
    pub keep: u64,
    pub low: u64,
    /// Codes are less than this.
    pub limit: u64,
    /// The position of the code; from 64 on, in the second word. A code does not cross the end of a word.
    pub shift: u64,
}

impl Code {
    fn get(self, words: Words) -> u64 {
        words[(self.shift / 64) as usize] >> (self.shift % 64) & (self.limit - 1)
    }

    fn put(self, code: u64, words: &mut Words) {
        words[(self.shift / 64) as usize] |= code << (self.shift % 64);
    }

    /// The number with this code in the words; higher bytes are arbitrary.
    fn of(self, words: Words) -> u64 {
        self.get(words) + self.low
    }

    fn new(low: u32, shift: u32, bits: u8) -> Code {
        let limit = 1 << bits;
        Code { keep: !((limit - 1) << (shift % u64::BITS)), low: u64::from(low), limit, shift: u64::from(shift) }
    }
}

impl Codes {
    /// For stable states that differ from a template, of at least one byte, only in their numbers; none has a code
    /// yet. They are packed into one word, or two if `wide`. The last bit of the last word is always 0.
    pub fn new(template: &State, wide: bool) -> Codes {
        let mut table = vec![Code::default(); template.len()];
        table[0] = Code { keep: u64::MAX, low: 0, limit: 1, shift: 0 };
        let most_bits = if wide { 127 } else { 63 };
        let template = template.to_vec();
        Codes {
            template,
            table,
            numbers: Vec::new(),
            bits: 0,
            most_bits,
            transient: 1 << 63,
            exclusive: Exclusive::default(),
            far: Vec::new(),
        }
    }

    /// Whether there are two words.
    pub fn is_wide(&self) -> bool {
        self.most_bits > u64::BITS
    }

    /// Assigns the next bits to the number at `at`.
    pub fn push(&mut self, at: u32, bytes: u8, low: u32, bits: u8) {
        let shift = self.bits;
        self.bits += u32::from(bits);
        assert!(self.bits <= self.most_bits, "more bits than there are");
        self.table[at as usize] = Code::new(low, shift, bits);
        self.numbers.push((at, bytes));
    }

    /// Assigns the bits from `shift` on to the exclusive process, so that transient states have words too. All other
    /// bits are assigned before.
    pub fn push_exclusive(&mut self, shift: u32, exclusive: Exclusive, layout: &Layout, vector: &ProcessVector) {
        assert!(self.bits <= shift && shift + u64::BITS > self.most_bits, "bits that are not given twice");
        self.bits = self.most_bits;
        self.transient = 1 << (shift % u64::BITS);
        self.exclusive = exclusive;
        // Values other than 0 are coded like other numbers.
        let bits = (self.most_bits - shift).min(u8::BITS) as u8;
        self.table[0] = Code::new(u32::from(exclusive.first), shift, bits);
        let far = exclusive.processes(vector).flat_map(|process| {
            let of = ProcessTypeId(vector.types[process] as u16);
            let at = vector.starts[process] + 1;
            let Code { low, limit, .. } = self.table[at as usize];
            let places = layout.passed(of).map_or(0, |passed| u64::from(passed.end).saturating_sub(low) as u32);
            // A process with a single location needs no code for it.
            let ahead = (0..places).step_by((limit as usize).max(1)).skip(1).take_while(move |_| limit > 0);
            let (process, bytes) = (process as u8, layout.location_bytes as u8);
            ahead.map(move |ahead| Far { process, alias: 0, at, bytes, ahead })
        });
        let aliases = (0..=u8::MAX).skip(usize::from(exclusive.first) + exclusive.most() as usize + 1);
        self.far = far.zip(aliases).map(|(far, alias)| Far { alias, ..far }).collect();
    }

    /// The number of bits that the exclusive process takes at most.
    pub fn exclusive_bits(&self) -> u32 {
        let most = self.exclusive.most() as u64 + self.far.len() as u64;
        (u64::BITS - most.leading_zeros()).min(self.table[0].limit.trailing_zeros())
    }

    pub fn far(&self) -> &[Far] {
        &self.far
    }

    /// The code of an exclusive process whose location, at `at`, exceeds the lowest one by `more`.
    pub fn far_at(&self, at: u32, more: u64) -> Option<&Far> {
        let limit = self.table[at as usize].limit;
        self.far
            .iter()
            .find(|far| far.at == at && more.checked_sub(far.ahead.into()).is_some_and(|code| code < limit))
    }

    /// The least last word of a transient state.
    pub fn transient(&self) -> u64 {
        self.transient
    }

    pub fn table(&self) -> &[Code] {
        &self.table
    }

    /// The words of a state, if all its numbers have codes.
    pub fn pack(&self, state: &State) -> Option<Words> {
        let mut words = [0; 2];
        let mut exclusive = self.exclusive.code(state[0])?;
        for &(at, bytes) in &self.numbers {
            let code = self.table[at as usize];
            let mut value = [0; 4];
            value[..usize::from(bytes)].copy_from_slice(&state[at as usize..][..usize::from(bytes)]);
            let wide = u64::MAX >> (64 - 8 * bytes);
            let mut number = u64::from(u32::from_le_bytes(value)).wrapping_sub(code.low) & wide;
            if number >= code.limit {
                let far = self.far_at(at, number).filter(|far| far.process + 1 == state[0])?;
                number -= u64::from(far.ahead);
                exclusive = self.exclusive.code(far.alias)?;
            }
            code.put(number, &mut words);
        }
        let code = self.table[0];
        (exclusive < code.limit).then(|| code.put(exclusive, &mut words))?;
        Some(words)
    }

    /// The number at `at`, which has so many bytes.
    #[inline]
    pub fn number(&self, words: Words, at: u32, bytes: u8) -> u32 {
        let code = self.table[at as usize];
        let number = if code.limit > 0 {
            code.of(words)
        } else {
            let mut value = [0; 8];
            value[..usize::from(bytes)].copy_from_slice(&self.template[at as usize..][..usize::from(bytes)]);
            u64::from_le_bytes(value)
        };
        (number & (u64::MAX >> (64 - 8 * bytes))) as u32
    }

    /// Writes the state with these words.
    pub fn unpack(&self, words: Words, state: &mut StateBuf) {
        state.clear();
        state.extend_from_slice(&self.template);
        for &(at, bytes) in &self.numbers {
            let (at, bytes) = (at as usize, usize::from(bytes));
            state[at..at + bytes].copy_from_slice(&self.table[at].of(words).to_le_bytes()[..bytes]);
        }
        self.unpack_exclusive(words, state);
    }

    /// Adds the exclusive process to a state that is otherwise unpacked.
    #[inline]
    pub fn unpack_exclusive(&self, words: Words, state: &mut State) {
        state[0] = self.exclusive(words);
        if let Some(far) = self.far_in(words) {
            let (at, bytes) = (far.at as usize, usize::from(far.bytes));
            let location = self.table[at].of(words) + u64::from(far.ahead);
            state[at..at + bytes].copy_from_slice(&location.to_le_bytes()[..bytes]);
        }
    }

    /// 0, or the number of the exclusive process plus 1.
    #[inline]
    pub fn exclusive(&self, words: Words) -> u8 {
        match self.far_in(words) {
            Some(far) => far.process + 1,
            None => self.exclusive.of(self.table[0].get(words)),
        }
    }

    /// The entry for the code of the exclusive process, if it stands for an offset.
    fn far_in(&self, words: Words) -> Option<Far> {
        let code = self.table[0].get(words);
        let place = code.checked_sub(self.exclusive.most() as u64 + 1)?;
        self.far.get(place as usize).copied()
    }
}

impl<E: Engine> Engine for &E {
    type Scratch = E::Scratch;

    fn expand(&self, from: Source, scratch: &mut E::Scratch, sink: &mut impl Sink) {
        E::expand(self, from, scratch, sink);
    }

    fn propositions(&self, state: &State, vector: &ProcessVector, scratch: &mut E::Scratch) -> Option<u64> {
        E::propositions(self, state, vector, scratch)
    }

    fn reads_words(&self, codes: &Codes) -> bool {
        E::reads_words(self, codes)
    }
}

impl Engine for Interpreter<'_> {
    type Scratch = ();

    fn expand(&self, from: Source, (): &mut (), sink: &mut impl Sink) {
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
