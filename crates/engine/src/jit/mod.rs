//! A just-in-time compiler from systems to machine code, with the semantics of the interpreter.
//!
//! Every process type becomes a function that takes all steps of a process: it loads the location, evaluates the guards
//! of its edges in the state, and for every enabled edge changes a copy of the state in the output buffer. If the state
//! is packed into one word, so is the copy, and only that word is written. Rare cases fall back to the interpreter,
//! step by step, on the same bytes.
//!
//! There is general code for any state, and specialised code for the most common process vector. If states of that
//! process vector contain only numbers, the specialised code works on packed words and never unpacks a state.

mod any_engine;
mod atomic_chain;
mod by_interpreter;
mod code;
mod context;
mod emit;
mod facts;
mod fallback;
mod program;
mod reach;

pub use any_engine::AnyEngine;
pub use code::Tuning;
pub use context::Scratch;

use atomic_chain::Expander;
use code::{Callee, Loaded, generate};
use context::{Context, Entries, Needs, Sizes};
use entail_ir::interpret::{
    Code, Codes, Engine, Interpreter, Kind, MAX_STATE_BYTES, ProcessVector, Sink, Source, Step,
};
use entail_ir::{ProcessTypeId, System};
use entail_model::{Deadline, State, StateBuf, StateKey, Transition};
use program::Program;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Up to this number of edges, all processes become one function.
const FUSED_EDGES: usize = 300;
/// A proposition could not be evaluated; all others have lower bits.
const UNKNOWN: u64 = 1 << 63;
/// The initial room for entries, in bytes.
const ROOM: usize = 1 << 14;

/// A system as machine code.
pub struct Jit<'s> {
    interpreter: Interpreter<'s>,
    /// For any state.
    general: Compiled,
    /// For states of one layout.
    special: Option<(Arc<Codes>, Compiled)>,
    /// See [`Context::locations`].
    locations: Vec<u16>,
    uses_timeout: bool,
    oldest_first: bool,
    /// The number of entries that a process may write without a check.
    most_steps: usize,
    /// A table in which no number has a code, for states that are not packed.
    no_codes: Vec<[u64; size_of::<Code>() / 8]>,
    tuning: Tuning,
    compile_time: Duration,
}

/// The functions of a system, for all states or some.
struct Compiled {
    code: Loaded,
    entry: Entry,
    /// If all states have one length, so have their copies, even if processes have ended.
    sizes: Option<Sizes>,
    /// It reads only words.
    only_words: bool,
    /// `None` if generated code cannot evaluate some of them.
    propositions: Option<Propositions>,
}

/// The reason why a system cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(String);

type ExpandAll = unsafe extern "C" fn(*mut Context<'_>, *mut u8) -> *mut u8;
type Propositions = unsafe extern "C" fn(*mut Context<'_>) -> u64;
type ExpandOne = unsafe extern "C" fn(*mut Context<'_>, *mut u8, u32, u64) -> *mut u8;

/// The entry point of the generated code.
enum Entry {
    All(ExpandAll),
    /// By process type.
    Each(Vec<ExpandOne>),
}

impl Entry {
    fn all(code: *const u8) -> Entry {
        // SAFETY: `Callee::Expand` is generated with this signature.
        Entry::All(unsafe { std::mem::transmute::<*const u8, ExpandAll>(code) })
    }

    fn one(code: *const u8) -> ExpandOne {
        // SAFETY: `Callee::ExpandOne` is generated with this signature.
        unsafe { std::mem::transmute::<*const u8, ExpandOne>(code) }
    }
}

impl<'s> Jit<'s> {
    /// Compiles the system of an interpreter.
    pub fn compile(interpreter: &Interpreter<'s>, tuning: Tuning) -> Result<Jit<'s>, Unsupported> {
        let begun = Instant::now();
        let interpreter = Interpreter::new(interpreter.system()).until(interpreter.deadline());
        let system = interpreter.system();
        if system.uses_priorities {
            return Err(Unsupported("processes have priorities".to_owned()));
        }
        if system.monitor.is_some() {
            return Err(Unsupported("channels are watched".to_owned()));
        }
        let program = Program::new(system, interpreter.layout(), None);
        let general = Compiled::new(&program, tuning, interpreter.deadline())?;
        let uses_timeout = program.uses_timeout;
        let oldest_first = system.oldest_first;
        let locations = locations(&program);
        let types = (0..system.process_types.len()).map(|id| ProcessTypeId(id as u16));
        let most_steps = types.map(|of| program.most_steps(of)).max().unwrap_or(0);
        // Untouched pages take no memory.
        let no_codes = vec![[0; size_of::<Code>() / 8]; program.len.unwrap_or(MAX_STATE_BYTES)];
        let compile_time = begun.elapsed();
        Ok(Jit {
            interpreter,
            general,
            special: None,
            locations,
            uses_timeout,
            oldest_first,
            most_steps,
            no_codes,
            tuning,
            compile_time,
        })
    }

    pub fn system(&self) -> &'s System {
        self.interpreter.system()
    }

    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// The size of the machine code.
    pub fn code_bytes(&self) -> usize {
        let special = self.special.as_ref().map_or(0, |(_, special)| special.code.bytes);
        self.general.code.bytes + special
    }

    /// All functions, as Cranelift's instructions and as machine code.
    pub fn listing(&self) -> String {
        let program = Program::new(self.interpreter.system(), self.interpreter.layout(), None);
        let code = generate(&program, &wanted(&program, self.tuning), self.tuning, true, Deadline::NEVER);
        code.ok().and_then(|code| code.listing.clone()).unwrap_or_default()
    }

    /// Runs the generated code for all processes that may move; returns the end of the entries.
    #[inline(always)]
    fn run(&self, entry: &Entry, context: &mut Context<'_>, vector: &ProcessVector) -> *mut u8 {
        let out = context.room.first;
        match entry {
            // SAFETY: the context is complete, and the state belongs to this system.
            Entry::All(expand) => unsafe { expand(context, out) },
            Entry::Each(functions) => {
                let one = |context: &mut Context<'_>, out: *mut u8, process: usize| {
                    let expand = functions[vector.types[process] as usize];
                    // SAFETY: as above, and the process belongs to the state.
                    unsafe { expand(context, out, process as u32, u64::from(vector.starts[process])) }
                };
                let processes = vector.types.len();
                match context.exclusive().checked_sub(1) {
                    Some(process) => one(context, out, process),
                    None if self.oldest_first => {
                        (0..processes).fold(out, |out, process| one(context, out, process))
                    }
                    None => (0..processes).rev().fold(out, |out, process| one(context, out, process)),
                }
            }
        }
    }
}

impl Compiled {
    fn new(program: &Program<'_>, tuning: Tuning, deadline: Deadline) -> Result<Compiled, Unsupported> {
        let wanted = wanted(program, tuning);
        let asks = program.can_evaluate_propositions().then_some(Callee::Propositions);
        let callees: Vec<_> = wanted.iter().copied().chain(asks).collect();
        let code = generate(program, &callees, tuning, false, deadline)?;
        let address = |callee| code.address(callee).expect("what is wanted is generated");
        let entry = match wanted[..] {
            [Callee::Expand] => Entry::all(address(Callee::Expand)),
            _ => Entry::Each(wanted.iter().map(|callee| Entry::one(address(*callee))).collect()),
        };
        let propositions = asks.map(|callee| {
            // SAFETY: it is generated with this signature.
            unsafe { std::mem::transmute::<*const u8, Propositions>(address(callee)) }
        });
        let sizes = program.len.map(Sizes::of_all);
        Ok(Compiled { code, entry, sizes, only_words: program.only_words, propositions })
    }
}

/// The location of each station of each process type.
fn locations(program: &Program<'_>) -> Vec<u16> {
    let width = program.most_stations();
    let types = (0..program.system.process_types.len()).map(|id| ProcessTypeId(id as u16));
    types
        .flat_map(|id| {
            let stations = program.layout.stations(id).iter().map(|location| location.0);
            stations.chain(std::iter::repeat(0)).take(width)
        })
        .collect()
}

/// The functions to start with.
fn wanted(program: &Program<'_>, tuning: Tuning) -> Vec<Callee> {
    let edges_of = |of: ProcessTypeId| -> u32 {
        program.reach.locations(program.system, of).map(|(_, location)| location.count).sum()
    };
    let all = program.facts.fixed().map(|fixed| fixed.iter().map(|one| edges_of(one.process_type) as usize).sum());
    if !tuning.separate && all.is_some_and(|edges: usize| edges <= FUSED_EDGES) {
        return vec![Callee::Expand];
    }
    (0..program.system.process_types.len()).map(|id| Callee::ExpandOne(ProcessTypeId(id as u16))).collect()
}

impl Engine for Jit<'_> {
    type Scratch = Scratch;

    #[inline]
    fn expand(&self, from: Source, desk: &mut Scratch, sink: &mut impl Sink) {
        if from.state.is_empty() && from.packed.is_none() {
            return Engine::expand(&self.interpreter, from, &mut (), sink);
        }
        if !self.try_expand(from, desk, ROOM, sink) {
            self.expand_with_more_room(from, desk, sink);
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
        let Kind { vector, codes } = kind;
        let Some(special) = self.special_for(codes) else { return 0 };
        assert_eq!(K::WORDS == 2, codes.is_wide(), "words of states packed in another way");
        let mut way = std::mem::take(&mut desk.atomic_chain);
        let mut unpacked = std::mem::take(&mut desk.unpacked);
        let transient = codes.transient();
        let expanded = if special.only_words {
            let from = Source { state: &[], vector, packed: Some(([0; 2], codes)) };
            let context = self.context(special, from, desk, ROOM);
            way.expand_all(transient, states, ByWords { jit: self, special, vector, context }, transitions)
        } else {
            let by_bytes = ByBytes { jit: self, special, kind, desk, unpack, unpacked: &mut unpacked };
            way.expand_all(transient, states, by_bytes, transitions)
        };
        (desk.atomic_chain, desk.unpacked) = (way, unpacked);
        expanded
    }

    fn specialise(&mut self, vector: &ProcessVector, codes: &Arc<Codes>) {
        let begun = Instant::now();
        let program = Program::new(self.interpreter.system(), self.interpreter.layout(), Some((vector, codes)));
        // The general code remains if this exceeds a limit.
        let compiled = Compiled::new(&program, self.tuning, self.interpreter.deadline());
        self.special = compiled.ok().map(|special| (Arc::clone(codes), special));
        self.compile_time += begun.elapsed();
    }

    fn propositions(&self, state: &State, vector: &ProcessVector, desk: &mut Scratch) -> Option<u64> {
        let propositions = self.general.propositions.filter(|_| !state.is_empty())?;
        let mut context = self.context(&self.general, Source { state, vector, packed: None }, desk, ROOM);
        // SAFETY: the context is complete, and the state belongs to this system.
        let holds = unsafe { propositions(&raw mut context) };
        (holds & UNKNOWN == 0).then_some(holds)
    }

    #[inline]
    fn reads_words(&self, codes: &Codes) -> bool {
        self.special_for(codes).is_some_and(|special| special.only_words)
    }
}

impl Jit<'_> {
    /// The code for states of this layout.
    #[inline]
    fn special_for(&self, codes: &Codes) -> Option<&Compiled> {
        self.special.as_ref().filter(|(special, _)| std::ptr::eq(&raw const **special, codes)).map(|(_, code)| code)
    }

    /// The context for expanding a state.
    #[inline(always)]
    fn context<'a>(
        &'a self,
        code: &Compiled,
        from: Source<'a>,
        desk: &'a mut Scratch,
        bytes: usize,
    ) -> Context<'a> {
        let Source { state, vector, packed } = from;
        let sizes = code.sizes.unwrap_or_else(|| Sizes::new(state.len()));
        let kept = vector.types.len() * self.most_steps;
        let mut context = Context::new(&self.interpreter, state, vector, Needs { sizes, kept, bytes }, desk);
        context.locations = self.locations.as_ptr();
        match packed {
            Some((words, codes)) => {
                assert!(codes.table().len() >= state.len(), "codes for other states");
                debug_assert!(state.is_empty() || codes.pack(state) == Some(words), "words of another state");
                (context.words, context.codes, context.packing) = (words, codes.table().as_ptr(), Some(codes));
            }
            None => context.codes = self.no_codes.as_ptr().cast(),
        }
        context
    }

    /// Expands a state by specialised code; returns the entries if all are short.
    #[inline(always)]
    fn short_entries<K: StateKey>(
        &self,
        special: &Compiled,
        context: &mut Context<'_>,
        vector: &ProcessVector,
    ) -> Option<Entries<K>> {
        context.listed = false;
        let out = self.run(&special.entry, context, vector);
        if std::mem::take(&mut context.overflowed) != 0 {
            return None;
        }
        // SAFETY: the generated code has written entries up to `out`.
        unsafe { Entries::new(context.room.first, out) }
    }

    /// Expands a state; fails if the entries do not fit into `bytes` bytes.
    #[inline]
    fn try_expand(&self, from: Source, desk: &mut Scratch, bytes: usize, sink: &mut impl Sink) -> bool {
        let Source { state, vector, packed } = from;
        let special = packed.and_then(|(_, codes)| self.special_for(codes));
        // Only code for a layout of two words writes two words.
        let packed = packed.filter(|(_, codes)| special.is_some() || !codes.is_wide());
        let compiled = special.unwrap_or(&self.general);
        let mut context = self.context(compiled, Source { state, vector, packed }, desk, bytes);
        let mut out = self.run(&compiled.entry, &mut context, vector);
        if out == context.room.first && self.uses_timeout && context.overflowed == 0 && context.exclusive() == 0 {
            context.timeout = 1 << 63;
            out = self.run(&compiled.entry, &mut context, vector);
        }
        let enough = context.overflowed == 0;
        if enough {
            let wide = packed.is_some_and(|(_, codes)| codes.is_wide());
            // SAFETY: the generated code has written entries up to `out`.
            unsafe { context::read(context.room.first, out, wide, sink) };
        }
        enough
    }

    #[cold]
    fn expand_with_more_room(&self, from: Source, desk: &mut Scratch, sink: &mut impl Sink) {
        let mut bytes = 2 * desk.bytes();
        while !self.try_expand(from, desk, bytes, sink) {
            bytes *= 2;
        }
    }
}

/// Expands states by code that reads words.
struct ByWords<'a, 's> {
    jit: &'a Jit<'s>,
    special: &'a Compiled,
    vector: &'a ProcessVector,
    context: Context<'a>,
}

impl<K: StateKey> Expander<K> for ByWords<'_, '_> {
    #[inline(always)]
    fn expand(&mut self, state: K) -> Option<Entries<K>> {
        self.context.words = state.words();
        self.jit.short_entries(self.special, &mut self.context, self.vector)
    }
}

/// Expands states by code that reads bytes.
struct ByBytes<'a, 's, U> {
    jit: &'a Jit<'s>,
    special: &'a Compiled,
    kind: Kind<'a>,
    desk: &'a mut Scratch,
    unpack: U,
    unpacked: &'a mut StateBuf,
}

impl<K: StateKey, U: Fn(K, &mut StateBuf)> Expander<K> for ByBytes<'_, '_, U> {
    #[inline(always)]
    fn expand(&mut self, state: K) -> Option<Entries<K>> {
        let Kind { vector, codes } = self.kind;
        (self.unpack)(state, self.unpacked);
        let from = Source { state: self.unpacked, vector, packed: Some((state.words(), codes)) };
        let mut context = self.jit.context(self.special, from, self.desk, ROOM);
        self.jit.short_entries(self.special, &mut context, vector)
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

impl fmt::Debug for Jit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("bytes", &self.code_bytes()).finish_non_exhaustive()
    }
}
