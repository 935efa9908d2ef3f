//! Who computes successors, and what they are told and tell.

use std::sync::Arc;

use entail_model::{Fired, Hop, Model, State, StateBuf, StateKey};

use super::{Interpreter, Layout, ProcessVector, Step};
use crate::{ProcessTypeId, System};

/// Computes what can happen in a state. The interpreter is the reference; others are faster.
pub trait Engine: Sync {
    /// What it works with, kept by the caller from one call to the next.
    type Scratch: Default;

    /// Tells `sink` about every step that is possible, in the order of [`Model::enabled`].
    fn expand(&self, from: Source, scratch: &mut Self::Scratch, sink: &mut impl Sink);

    /// Expands states as [`Model::expand_words`] does. All are of one kind; `unpack` writes one in full.
    fn expand_words<K: StateKey>(
        &self,
        _kind: Kind,
        _states: &[K],
        _scratch: &mut Self::Scratch,
        _unpack: impl Fn(K, &mut StateBuf),
        _each: impl FnMut(Hop<Step, K>),
    ) -> usize {
        0
    }

    /// Which propositions hold in a stable state, a bit for each, if that is known without asking the interpreter.
    fn propositions(&self, _state: &State, _vector: &ProcessVector, _scratch: &mut Self::Scratch) -> Option<u64> {
        None
    }

    /// Prepares for many states of one process vector, packed in one way.
    fn specialise(&mut self, _vector: &ProcessVector, _codes: &Arc<Codes>) {}

    /// Whether the words are enough of a state that is packed in this way.
    fn reads_words(&self, _codes: &Codes) -> bool {
        false
    }
}

/// States of one process vector that are packed in one way.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    pub vector: &'a ProcessVector,
    pub codes: &'a Codes,
}

/// A state to be expanded.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// May be empty if the words are enough.
    pub state: &'a State,
    /// That of the state.
    pub vector: &'a ProcessVector,
    /// The state as one or two words, where that is wanted of its successors too.
    pub packed: Option<(Words, &'a Codes)>,
}

/// Takes the successors of a state.
pub trait Sink {
    /// A step that leads to this state, which means nothing if it broke.
    fn state(&mut self, step: Step, fired: Fired, state: &State);

    /// Steps without a fault, as their bits, each with the state that it leads to, which has the same process vector and fits
    /// into one word.
    fn words(&mut self, steps: &[[u64; 2]]);

    /// The same for two words, of which the higher one comes first.
    fn pairs(&mut self, steps: &[[u64; 3]]);
}

/// A packed state, the lowest bits first.
pub type Words = [u64; 2];

/// One that has not asked for words.
impl<F: FnMut(Step, Fired, &State)> Sink for F {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        self(step, fired, state);
    }

    fn words(&mut self, _: &[[u64; 2]]) {
        unreachable!("words are for those who said how to pack them");
    }

    fn pairs(&mut self, _: &[[u64; 3]]) {
        unreachable!("words are for those who said how to pack them");
    }
}

/// How the states of a process vector are packed into one or two words.
#[derive(Clone, Debug)]
pub struct Codes {
    /// What is the same in all states; the numbers do not matter.
    template: StateBuf,
    /// For every byte of a state: the number that begins there.
    table: Vec<Code>,
    /// Where numbers begin, and how many bytes they have.
    numbers: Vec<(u32, u8)>,
    bits: u32,
    /// How many there are at most.
    most_bits: u32,
    /// The last words of transient states are not less than that.
    transient: u64,
    exclusive: Exclusive,
    far: Vec<Far>,
}

/// How it is coded which process alone may move. In a state that is 0, or the number of a process plus 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exclusive {
    /// The first process that ever may, and how many follow.
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

    /// The greatest code.
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

/// A process that alone may move, far from where it can stay: its location has no code of its own. Instead there is more
/// than one code for that process, and each of them also says how much is to be added to the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    pub process: u8,
    /// What is coded instead of the process.
    pub alias: u8,
    /// Where its location is, and how many bytes that has.
    pub at: u32,
    bytes: u8,
    /// What is to be added.
    pub ahead: u32,
}

/// The code of a number is how much greater it is than the lowest one, as far as its bytes go. All zeros: it has none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Code {
    /// The rest of its word.
    pub keep: u64,
    pub low: u64,
    /// Codes are less than that.
    pub limit: u64,
    /// Where the code is; from 64 on, in the second word. It does not go beyond the end of its word.
    pub shift: u64,
}

impl Code {
    fn get(self, words: Words) -> u64 {
        words[(self.shift / 64) as usize] >> (self.shift % 64) & (self.limit - 1)
    }

    fn put(self, code: u64, words: &mut Words) {
        words[(self.shift / 64) as usize] |= code << (self.shift % 64);
    }

    /// The number that has this code in the words; its bytes may be followed by others.
    fn of(self, words: Words) -> u64 {
        self.get(words) + self.low
    }

    fn new(low: u32, shift: u32, bits: u8) -> Code {
        let limit = 1 << bits;
        Code { keep: !((limit - 1) << (shift % u64::BITS)), low: u64::from(low), limit, shift: u64::from(shift) }
    }
}

impl Codes {
    /// For stable states that differ from a template, of at least one byte, in their numbers only; as yet without
    /// codes. They are packed into one word, or two if `wide`. The last bit of the last word is always 0.
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

    /// Gives the next bits to the number that begins at `at`.
    pub fn push(&mut self, at: u32, bytes: u8, low: u32, bits: u8) {
        let shift = self.bits;
        self.bits += u32::from(bits);
        assert!(self.bits <= self.most_bits, "more bits than there are");
        self.table[at as usize] = Code::new(low, shift, bits);
        self.numbers.push((at, bytes));
    }

    /// Gives the bits from `shift` on to the process that alone may move, so that transient states have words too. All
    /// other bits have been given before.
    pub fn push_exclusive(&mut self, shift: u32, exclusive: Exclusive, layout: &Layout, vector: &ProcessVector) {
        assert!(self.bits <= shift && shift + u64::BITS > self.most_bits, "bits that are not given twice");
        self.bits = self.most_bits;
        self.transient = 1 << (shift % u64::BITS);
        self.exclusive = exclusive;
        // What is not 0 is coded like other numbers.
        let bits = (self.most_bits - shift).min(u8::BITS) as u8;
        self.table[0] = Code::new(u32::from(exclusive.first), shift, bits);
        let far = exclusive.processes(vector).flat_map(|process| {
            let of = ProcessTypeId(vector.types[process] as u16);
            let at = vector.starts[process] + 1;
            let Code { low, limit, .. } = self.table[at as usize];
            let places = layout.passed(of).map_or(0, |passed| u64::from(passed.end).saturating_sub(low) as u32);
            // Where there is one place only, it has no code.
            let ahead = (0..places).step_by((limit as usize).max(1)).skip(1).take_while(move |_| limit > 0);
            let (process, bytes) = (process as u8, layout.location_bytes as u8);
            ahead.map(move |ahead| Far { process, alias: 0, at, bytes, ahead })
        });
        let aliases = (0..=u8::MAX).skip(usize::from(exclusive.first) + exclusive.most() as usize + 1);
        self.far = far.zip(aliases).map(|(far, alias)| Far { alias, ..far }).collect();
    }

    /// How many bits it takes at most to say which process alone may move.
    pub fn exclusive_bits(&self) -> u32 {
        let most = self.exclusive.most() as u64 + self.far.len() as u64;
        (u64::BITS - most.leading_zeros()).min(self.table[0].limit.trailing_zeros())
    }

    pub fn far(&self) -> &[Far] {
        &self.far
    }

    /// How a process that alone may move is coded if the location at `at` is so much more than the least one.
    pub fn far_at(&self, at: u32, more: u64) -> Option<&Far> {
        let limit = self.table[at as usize].limit;
        self.far
            .iter()
            .find(|far| far.at == at && more.checked_sub(far.ahead.into()).is_some_and(|code| code < limit))
    }

    /// Last words from this one on are of transient states.
    pub fn transient(&self) -> u64 {
        self.transient
    }

    pub fn table(&self) -> &[Code] {
        &self.table
    }

    /// The words of a state of the process vector, if all its numbers have codes.
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

    /// The number that begins at `at`, of so many bytes.
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

    /// Writes the state that was packed.
    pub fn unpack(&self, words: Words, state: &mut StateBuf) {
        state.clear();
        state.extend_from_slice(&self.template);
        for &(at, bytes) in &self.numbers {
            let (at, bytes) = (at as usize, usize::from(bytes));
            state[at..at + bytes].copy_from_slice(&self.table[at].of(words).to_le_bytes()[..bytes]);
        }
        self.unpack_exclusive(words, state);
    }

    /// Completes a state, of which all else has been unpacked, by the process that alone may move.
    #[inline]
    pub fn unpack_exclusive(&self, words: Words, state: &mut State) {
        state[0] = self.exclusive(words);
        if let Some(far) = self.far_in(words) {
            let (at, bytes) = (far.at as usize, usize::from(far.bytes));
            let location = self.table[at].of(words) + u64::from(far.ahead);
            state[at..at + bytes].copy_from_slice(&location.to_le_bytes()[..bytes]);
        }
    }

    /// 0, or the number, plus 1, of the process that alone may move.
    #[inline]
    pub fn exclusive(&self, words: Words) -> u8 {
        match self.far_in(words) {
            Some(far) => far.process + 1,
            None => self.exclusive.of(self.table[0].get(words)),
        }
    }

    /// What the code of the process that alone may move says besides.
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
