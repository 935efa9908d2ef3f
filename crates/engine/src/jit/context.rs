//! Data shared by generated code and Rust: a context, and an entry in memory for every step taken.
//!
//! ```text
//! short: step (8 bytes) │ the state as one word, or two with the last one first, which is not negative
//! full:  step (8 bytes) │ shape (8) │ place (4) │ times (4) │ the state, padded
//! shape: length of the state (32 bits) │ outcome (8) │ kind of fault (8) │ bytes of the entry ÷ 16 (15) │ 1
//! ```
//!
//! Place and times are valid only if the outcome is a fault.

use crate::jit::atomic_chain::AtomicChain;
use entail_ir::interpret::{Code, Codes, Interpreter, ProcessVector, Sink, Step, Words};
use entail_model::{Fault, FaultKind, Fired, State, StateBuf, StateKey};
use std::marker::PhantomData;
use std::mem::size_of;

/// Bytes of a full entry before its state.
pub(crate) const HEADER: usize = 24;
/// States are copied in pieces of this size.
pub(crate) const CHUNK: usize = 16;
/// The maximal number of fields of a message that generated code passes in a rendezvous.
pub(crate) const MAX_FIELDS: usize = 64;
/// Senders that reset more dead variables in a rendezvous are left to the interpreter.
pub(crate) const MAX_FORGOTTEN: usize = 16;

pub(crate) const DONE: u64 = 0;
pub(crate) const FAILED: u64 = 1;
pub(crate) const BROKEN: u64 = 2;

/// The arguments of an expansion. Generated code accesses the fields by their offsets.
#[repr(C)]
pub(crate) struct Context<'a> {
    /// The expanded state; padded, unless all states have the same length.
    pub state: *const u8,
    pub room: OutputBuffer,
    pub types: *const u32,
    pub starts: *const u32,
    pub channel_types: *const u32,
    pub channel_starts: *const u32,
    /// The location of each station, grouped by process type; all groups have the same length.
    pub locations: *const u16,
    /// The number of channels.
    pub channels: u64,
    /// The second word of an entry with a state of the same length and without a fault.
    pub shape: u64,
    /// The bit of a step that is taken because of a timeout; 0 while other steps are searched for.
    pub timeout: u64,
    /// Nonzero: the entries did not fit and are invalid.
    pub overflowed: u64,
    /// The state as one or two words, and for every byte of it the code of the number that begins there.
    pub words: Words,
    pub codes: *const Code,
    pub packing: Option<&'a Codes>,
    /// The words that a helper has packed.
    pub packed: Words,
    /// For the interpreter.
    pub interpreter: &'a Interpreter<'a>,
    pub original: &'a State,
    pub aside: &'a mut HelperState,
    /// The listed steps are those of this state.
    pub listed: bool,
}

/// The memory that generated code writes successors to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct OutputBuffer {
    /// The address of the first entry.
    pub first: *mut u8,
    /// Only entries with reserved room may begin beyond this address.
    pub end: *mut u8,
    /// Room for a copy of the state in which a receive is tried.
    pub trial: *mut u8,
    /// Room for the message of a rendezvous: one for steps that are taken, one for testing whether a step is enabled.
    pub offers: *mut Offer,
    /// The length of the state, rounded up to whole chunks.
    pub padded: u64,
    /// Bytes of an entry with a state of the same length.
    pub stride: u64,
}

/// Buffers of a thread, reused for every state.
#[derive(Default)]
pub struct Scratch {
    memory: Vec<u64>,
    /// The last division of the memory, and the needs it was made for.
    divided: Option<(Needs, OutputBuffer)>,
    aside: HelperState,
    /// The expanded state.
    pub(crate) unpacked: StateBuf,
    pub(crate) atomic_chain: AtomicChain,
}

// SAFETY: the pointers of the output buffer lead into `memory`, which belongs to the same buffers.
unsafe impl Send for Scratch {}

/// The memory that an expansion needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub sizes: Sizes,
    /// The number of entries that may be written without a check.
    pub kept: usize,
    /// The bytes for other entries.
    pub bytes: usize,
}

/// The message of a sender in a rendezvous, and the sender's next state.
#[repr(C)]
pub(crate) struct Offer {
    pub channel: i32,
    pub target: i32,
    /// The bits of the step without its partner.
    pub step: u64,
    /// The offset of the sender's location in the state.
    pub location_at: u64,
    /// Kind and place of a failure, if `failed`.
    pub failure: u64,
    /// 1 if the message has a different number of fields than the channel.
    pub failed: i32,
    pub fields: [i32; MAX_FIELDS],
    /// The dead variables that the sender resets.
    pub forgets: u64,
    pub forgotten: [Forgotten; MAX_FORGOTTEN],
}

/// A number that is reset to zero.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Forgotten {
    /// Its offset in the state.
    pub at: u64,
    pub bytes: i32,
    pub blank: i32,
}

/// State of the interpreter's helpers during an expansion.
#[derive(Debug, Default)]
pub(crate) struct HelperState {
    /// All steps of a state, once a helper has listed them.
    pub steps: Vec<Step>,
    pub successor: StateBuf,
}

/// The sizes of data for states of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The length of states that are read exactly, without padding; 0 if there are none.
    exact: usize,
    padded: usize,
    stride: usize,
    /// The bytes before the first entry: offers, the state, and the trial.
    preface: usize,
}

const OFFERS: usize = (2 * size_of::<Offer>()).next_multiple_of(CHUNK);

impl Sizes {
    pub const fn new(len: usize) -> Self {
        let padded = len.next_multiple_of(CHUNK);
        Sizes { exact: 0, padded, stride: stride(len), preface: OFFERS + 2 * (padded + CHUNK) }
    }

    /// For states that all have this length, as long as no process has ended.
    pub const fn of_all(len: usize) -> Self {
        // Smaller states are read in one piece, with padding.
        let exact = if len >= CHUNK { len } else { 0 };
        Sizes { exact, ..Sizes::new(len) }
    }
}

impl Scratch {
    /// An output buffer for these needs.
    #[inline]
    fn room(&mut self, needs: Needs) -> OutputBuffer {
        match self.divided {
            Some((divided, room)) if divided == needs => room,
            Some(_) | None => self.divide(needs),
        }
    }

    fn divide(&mut self, needs: Needs) -> OutputBuffer {
        let Needs { sizes: Sizes { padded, stride, preface, .. }, kept, bytes } = needs;
        // One more, so that an entry may begin just before the end of those without reserved room.
        let kept = (kept + 1) * stride;
        let words = (preface + bytes + kept) / 8;
        if self.memory.len() < words {
            self.memory.resize(words, 0);
        }
        let words = self.memory.len();
        let memory = self.memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory has `8 * words` bytes, at least as many as the preface and the entries.
        let room = unsafe {
            OutputBuffer {
                first: memory.add(preface),
                end: memory.add(8 * words - kept),
                trial: memory.add(OFFERS + padded + CHUNK),
                offers: memory.cast::<Offer>(),
                padded: padded as u64,
                stride: stride as u64,
            }
        };
        self.divided = Some((needs, room));
        room
    }

    /// The total number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.memory.len()
    }
}

impl<'a> Context<'a> {
    #[inline]
    pub fn new(
        interpreter: &'a Interpreter<'a>,
        state: &'a State,
        vector: &ProcessVector,
        needs: Needs,
        desk: &'a mut Scratch,
    ) -> Self {
        let room = desk.room(needs);
        let Sizes { exact, padded, stride, .. } = needs.sizes;
        assert!(state.len() <= padded, "a state is longer than any can be");
        let state_at = if state.len() == exact || state.is_empty() {
            state.as_ptr()
        } else {
            // SAFETY: there is room for a copy of `padded` bytes behind the offers.
            unsafe {
                let copy = room.offers.cast::<u8>().add(OFFERS);
                copy_state(state, copy);
                copy.cast_const()
            }
        };
        Context {
            state: state_at,
            room,
            types: vector.types.as_ptr(),
            starts: vector.starts.as_ptr(),
            channel_types: vector.channel_types.as_ptr(),
            channel_starts: vector.channel_starts.as_ptr(),
            locations: std::ptr::null(),
            channels: vector.channel_types.len() as u64,
            shape: state.len() as u64 | ((stride / CHUNK) as u64) << 48 | FULL,
            timeout: 0,
            overflowed: 0,
            words: [0; 2],
            codes: std::ptr::null(),
            packing: None,
            packed: [0; 2],
            interpreter,
            original: state,
            aside: &mut desk.aside,
            listed: false,
        }
    }
}

impl Context<'_> {
    /// Writes the expanded state, even if only its words exist.
    pub fn write_original(&self, state: &mut StateBuf) {
        state.clear();
        match self.packing {
            Some(codes) if self.original.is_empty() => codes.unpack(self.words, state),
            Some(_) | None => state.extend_from_slice(self.original),
        }
    }

    /// The number, plus 1, of the process with exclusive control; 0 if there is none.
    pub fn exclusive(&self) -> usize {
        match self.packing {
            Some(codes) => usize::from(codes.exclusive(self.words)),
            None => usize::from(self.original[0]),
        }
    }
}

/// Copies a state, most of which are small.
///
/// # Safety
/// There is room for it at `to`.
#[inline]
unsafe fn copy_state(state: &State, to: *mut u8) {
    let (from, len) = (state.as_ptr(), state.len());
    // SAFETY: pieces are copied from within the state to within its room; the last ones may overlap others.
    unsafe {
        let copy = |at: usize| {
            let piece = from.add(at).cast::<[u8; CHUNK]>().read();
            to.add(at).cast::<[u8; CHUNK]>().write(piece);
        };
        match len {
            CHUNK..=32 => {
                copy(0);
                copy(len - CHUNK);
            }
            33..=64 => {
                copy(0);
                copy(CHUNK);
                copy(len - 2 * CHUNK);
                copy(len - CHUNK);
            }
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// The bytes of an entry: at least 8 readable bytes follow its state.
pub(crate) const fn stride(len: usize) -> usize {
    HEADER + len.next_multiple_of(CHUNK) + 8
}

/// A bit of the second word that distinguishes a full entry from a short one.
const FULL: u64 = 1 << 63;

/// The second word of a full entry.
pub(crate) const fn shape(len: usize, outcome: u64, kind: u64) -> u64 {
    len as u64 | outcome << 32 | kind << 40 | ((stride(len) / CHUNK) as u64) << 48 | FULL
}

/// A fault, in one word.
pub(crate) const fn failure(kind: FaultKind, place: u32) -> u64 {
    kind as u64 | (place as u64) << 32
}

/// Writes the entry that begins at `out`, all but its state.
///
/// # Safety
/// At least [`HEADER`] bytes may be written there.
pub(crate) unsafe fn write(out: *mut u8, step: Step, fired: Fired, len: usize) {
    let (outcome, fault) = match fired {
        Fired::Done => (DONE, None),
        Fired::Failed(fault) => (FAILED, Some(fault)),
        Fired::Broken(fault) => (BROKEN, Some(fault)),
    };
    let (kind, place, times) = fault.map_or((0, 0, 0), |fault| (fault.kind as u64, fault.place, fault.times));
    let words = [step.bits(), shape(len, outcome, kind), u64::from(place) | u64::from(times) << 32];
    // SAFETY: three words are the header.
    unsafe { out.cast::<[u64; 3]>().write_unaligned(words) };
}

/// The short entries from `at` on, up to the next full one; each has `WORDS` words.
///
/// # Safety
/// Everything between `at` and `end` must be entries; they are aligned as words are.
#[inline]
unsafe fn short_entries<'a, const WORDS: usize>(at: *const u8, end: *const u8) -> &'a [[u64; WORDS]] {
    let first = at.cast::<[u64; WORDS]>();
    let mut count = 0;
    // SAFETY: an entry begins there, and has at least two words.
    unsafe {
        while first.add(count).cast() < end && first.add(count).cast::<[u64; 2]>().read()[1] & FULL == 0 {
            count += 1;
        }
        std::slice::from_raw_parts(first, count)
    }
}

/// Short entries, of states with as many words as a key has.
pub(crate) struct Entries<K> {
    first: *const u64,
    count: usize,
    /// All last words together.
    pub last_words: u64,
    of: PhantomData<K>,
}

impl<K: StateKey> Entries<K> {
    const WORDS: usize = 1 + K::WORDS;

    /// The entries there, if all are short.
    ///
    /// # Safety
    /// Everything between `at` and `end` must be entries, and stay there until the last one has been read; they are
    /// aligned as words are, and short ones have as many words as `K`.
    #[inline(always)]
    pub unsafe fn new(at: *const u8, end: *const u8) -> Option<Entries<K>> {
        let first = at.cast::<u64>();
        let count = (end as usize - at as usize) / (size_of::<u64>() * Self::WORDS);
        let mut last_words = 0;
        for entry in 0..count {
            // SAFETY: as long as they are short, entries have the same number of words; the data behind a full one is
            // initialised and is ignored.
            last_words |= unsafe { first.add(entry * Self::WORDS + 1).read() };
        }
        (last_words & FULL == 0).then_some(Entries { first, count, last_words, of: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> (Step, K) {
        assert!(index < self.count, "there are not so many");
        // SAFETY: all entries are short.
        let [step, high, low] = unsafe {
            let entry = self.first.add(index * Self::WORDS);
            [0, 1, K::WORDS].map(|word| entry.add(word).read())
        };
        let high = if K::WORDS == 1 { 0 } else { high };
        (Step::from_bits(step), K::from_words([low, high]))
    }
}

/// Passes every entry from `at` on to `sink`; short ones have two words if `wide`.
///
/// # Safety
/// Everything between `at` and `end` must be entries; they are aligned as words are.
#[inline]
pub(crate) unsafe fn read(mut at: *const u8, end: *const u8, wide: bool, sink: &mut impl Sink) {
    while at < end {
        // SAFETY: as long as they are short, entries have the same number of words.
        unsafe {
            if wide {
                let pairs = short_entries::<3>(at, end);
                if !pairs.is_empty() {
                    sink.pairs(pairs);
                    at = pairs.as_ptr_range().end.cast();
                }
            } else {
                let words = short_entries::<2>(at, end);
                if !words.is_empty() {
                    sink.words(words);
                    at = words.as_ptr_range().end.cast();
                }
            }
        }
        if at == end {
            break;
        }
        // SAFETY: an entry begins here, and its state follows the header.
        let (step, shape, state) = unsafe {
            let [step, shape] = at.cast::<[u64; 2]>().read_unaligned();
            (step, shape, std::slice::from_raw_parts(at.add(HEADER), shape as u32 as usize))
        };
        let fault = || {
            // SAFETY: the third word of the header.
            let word = unsafe { at.add(16).cast::<u64>().read_unaligned() };
            let kind = FaultKind::ALL[(shape >> 40) as usize & 0xff];
            Fault { kind, place: word as u32, times: (word >> 32) as u32 }
        };
        let fired = match shape >> 32 & 0xff {
            DONE => Fired::Done,
            FAILED => Fired::Failed(fault()),
            _ => Fired::Broken(fault()),
        };
        sink.state(Step::from_bits(step), fired, state);
        // SAFETY: the shape contains the length of the entry.
        at = unsafe { at.add((shape >> 48) as usize % (1 << 15) * CHUNK) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let faults = [FaultKind::Assertion, FaultKind::StateSize].map(|kind| Fault { kind, place: 7, times: 3 });
        let fired = [Fired::Done, Fired::Failed(faults[0]), Fired::Broken(faults[1])];
        let mut memory = vec![0_u64; 100];
        let first = memory.as_mut_ptr().cast::<u8>();
        let mut out = first;
        for (i, &fired) in fired.iter().enumerate() {
            let len = 15 + i;
            // SAFETY: three entries of at most 64 bytes fit into 800.
            unsafe {
                write(out, Step::from_bits(i as u64), fired, len);
                out.add(HEADER).write_bytes(i as u8 + 1, len);
                out = out.add(stride(len));
            }
        }
        let mut found = Vec::new();
        // SAFETY: these are the entries just written.
        unsafe {
            let mut note = |step: Step, fired, state: &State| found.push((step.bits(), fired, state.to_vec()));
            read(first, out, false, &mut note);
        }
        let expected: Vec<_> = (0..3).map(|i| (i as u64, fired[i], vec![i as u8 + 1; 15 + i])).collect();
        assert_eq!(found, expected);
    }
}
