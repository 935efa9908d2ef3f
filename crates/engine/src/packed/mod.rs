//! A system as a [`Model`] over packed states, in which every number has the minimal number of bits.
//!
//! ```text
//! short:  the process vector's number and the codes of all numbers, in a fixed number of words; above them, if there is room,
//!         the process with exclusive control
//! long:   the process vector's number │ the codes of all numbers │ padding: longer than any short one
//! raw:    the process vector's number, marked │ the state as it is: other transient states
//! ```
//!
//! The numbers in a state depend on its *process vector*, the list of its processes. A long state can always be packed:
//! its codes have the widths that a static analysis of the system requires. A short one has codes for the values
//! observed in a sample of the state space, which are often far fewer; a state that does not fit is packed long, so
//! nothing is lost. If there are many of these, the search restarts, with states packed by the values known then.

#![deny(unsafe_code)]

mod fields;
mod observed;
mod reduction;
mod sample;
mod state_layout;
mod trial;

use std::io;

use entail_disk::{Reader, Writer};
use entail_ir::interpret::{Engine, Kind, Sink, Source, Step};
use entail_ir::{Interpreter, Ranges, System};
use entail_model::{
    Concurrent, Fired, Marks, Model, Part, Propositional, State, StateBuf, StateKey, Successors, Transition,
    UnusedBits, Valuation,
};

pub use reduction::Stubborn;
pub use trial::{ReductionMode, best_reduction};

use state_layout::{StateLayout, StateLayouts};

/// Claims that need more bits than this get a word of their own.
const MOST_ROOM: u32 = 16;

/// A system over packed states, run by any engine.
pub struct Packed<'s, E> {
    interpreter: &'s Interpreter<'s>,
    engine: E,
    layouts: StateLayouts<'s>,
    /// The system fails before its first step: its only state is empty.
    fails_initially: bool,
}

impl<'s, E: Engine> Packed<'s, E> {
    pub fn new(interpreter: &'s Interpreter<'s>, engine: E) -> Self {
        Packed::with_room(interpreter, engine, 0)
    }

    /// The same with `bits` unused bits above those of a short state, if they are few, for the state of an automaton.
    pub fn with_room(interpreter: &'s Interpreter<'s>, engine: E, bits: u32) -> Self {
        let mut fails_initially = false;
        interpreter.initial_states(&mut |state| fails_initially |= state.is_empty());
        let ranges = Ranges::new(interpreter.system());
        let (seen, complete) =
            if fails_initially { (Vec::new(), true) } else { sample::explore(interpreter, &engine, &ranges) };
        let layouts = StateLayouts::new(interpreter, ranges, seen, complete, bits.min(MOST_ROOM));
        Packed { interpreter, engine, layouts, fails_initially }.specialised()
    }

    /// With the engine specialised for the commonest states.
    fn specialised(mut self) -> Self {
        if let Some((vector, codes)) = self.layouts.commonest() {
            self.engine.specialise(vector, codes);
        }
        self
    }

    /// Whether the model has asked for a restart of the search with the [`adapted`](Self::adapted) model.
    pub fn is_outgrown(&self) -> bool {
        self.layouts.are_outgrown()
    }

    /// The same system, with states packed by all values observed so far. This changes the packed states.
    pub fn adapted(self) -> Self {
        Packed { layouts: self.layouts.adapted(), ..self }.specialised()
    }

    /// Saves the state layouts.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.layouts.save(to)
    }

    /// The same system, with the state layouts of a snapshot.
    pub fn restored(self, from: &mut Reader) -> io::Result<Self> {
        Ok(Packed { layouts: self.layouts.restored(from)?, ..self }.specialised())
    }

    pub fn system(&self) -> &'s System {
        self.interpreter.system()
    }

    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The number of bits of a short state. It is stored in as few whole words as possible; all other states are
    /// longer.
    pub fn bits(&self) -> u32 {
        self.layouts.bits()
    }

    /// Writes the unpacked state, as the interpreter uses it.
    pub fn unpack(&self, packed: &State, state: &mut StateBuf) {
        if self.fails_initially {
            state.clear();
        } else {
            self.layouts.of(packed).unpack(packed, state);
        }
    }

    /// Appends the packed form of a state of the interpreter.
    pub fn pack(&self, state: &State, packed: &mut StateBuf) {
        if self.fails_initially {
            packed.extend_from_slice(&[0; 8]);
        } else {
            self.layouts.layout_of(state).pack(state, packed);
        }
    }

    fn unpacked(&self, packed: &State) -> StateBuf {
        let mut state = StateBuf::new();
        self.unpack(packed, &mut state);
        state
    }
}

/// Buffers for expanding states.
#[derive(Default)]
pub struct Scratch<D> {
    /// The unpacked state that is being expanded.
    unpacked: StateBuf,
    desk: D,
}

impl<E: Engine> Propositional for Packed<'_, E> {
    fn valuation(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        let Scratch { unpacked, desk } = scratch;
        if self.fails_initially {
            return Valuation::default();
        }
        let layout = self.layouts.of(state);
        layout.unpack(state, unpacked);
        match self.engine.propositions(unpacked, layout.vector(), desk) {
            Some(holds) => Valuation { holds, ..Valuation::default() },
            None => self.interpreter.valuation(unpacked, &mut ()),
        }
    }

    fn sees_end(&self) -> bool {
        self.interpreter.sees_end()
    }

    fn valuation_after_end(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        if self.fails_initially {
            return Valuation::default();
        }
        self.layouts.of(state).unpack(state, &mut scratch.unpacked);
        self.interpreter.valuation_after_end(&scratch.unpacked, &mut ())
    }
}

impl<E: Engine> Concurrent for Packed<'_, E> {
    fn processes(&self, state: &State) -> usize {
        if self.fails_initially { 0 } else { self.layouts.of(state).processes() }
    }

    fn owner(&self, step: Step) -> usize {
        self.interpreter.owner(step)
    }
}

/// Packs the successors of a state.
struct Packer<'p, 's, E> {
    model: &'p Packed<'s, E>,
    /// The layout of the state.
    layout: &'p StateLayout,
    successors: &'p mut Successors<Step>,
}

impl<E: Engine> Sink for Packer<'_, '_, E> {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        let transient = !fired.is_broken() && self.model.interpreter.is_transient(state);
        self.successors.push(step, fired, transient, |packed| {
            // A step starts processes, ends one, or changes none.
            if self.model.layouts.processes(state) == self.layout.processes() {
                self.layout.pack(state, packed);
            } else {
                self.model.pack(state, packed);
            }
        });
    }

    #[inline]
    fn words(&mut self, steps: &[[u64; 2]]) {
        let steps = steps.iter().map(|&[step, word]| (Step::from_bits(step), word));
        self.successors.extend(steps, self.layout.transient());
    }

    #[inline]
    fn pairs(&mut self, steps: &[[u64; 3]]) {
        let steps = steps.iter().map(|&[step, high, low]| (Step::from_bits(step), [low, high]));
        self.successors.extend_pairs(steps, self.layout.transient());
    }
}

impl<E: Engine> Model for Packed<'_, E> {
    type Step = Step;
    type Scratch = Scratch<E::Scratch>;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.interpreter.initial_states(&mut |state| {
            let mut packed = StateBuf::new();
            self.pack(state, &mut packed);
            each(&packed);
        });
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Step>) {
        self.interpreter.enabled(&self.unpacked(state), steps);
    }

    fn fire(&self, step: Step, state: &mut StateBuf) -> Fired {
        let mut unpacked = self.unpacked(state);
        let fired = self.interpreter.fire(step, &mut unpacked);
        if !fired.is_broken() {
            state.clear();
            self.pack(&unpacked, state);
        }
        fired
    }

    fn is_transient(&self, state: &State) -> bool {
        !self.fails_initially && self.layouts.is_transient(state)
    }

    fn marks(&self, state: &State) -> Marks {
        if self.fails_initially {
            return self.interpreter.marks(&[]);
        }
        let layout = self.layouts.of(state);
        let mut unpacked = StateBuf::new();
        layout.unpack(state, &mut unpacked);
        self.interpreter.marks_with(&unpacked, layout.vector())
    }

    fn unused_bits(&self) -> Option<UnusedBits> {
        (!self.fails_initially).then(|| self.layouts.unused_bits())
    }

    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        if !self.fails_initially {
            self.layouts.of(state).parts(state, parts);
        }
    }

    fn should_restart(&self, steps: u64) -> bool {
        self.layouts.outgrow(steps)
    }

    fn expand(&self, state: &State, successors: &mut Successors<Step>, scratch: &mut Self::Scratch) {
        if self.fails_initially {
            return Model::expand(self.interpreter, &[], successors, &mut ());
        }
        let layout = self.layouts.of(state);
        let packed = layout.coded(state);
        if packed.is_some_and(|(_, codes)| self.engine.reads_words(codes)) {
            scratch.unpacked.clear();
        } else {
            layout.unpack(state, &mut scratch.unpacked);
        }
        let from = Source { state: &scratch.unpacked, vector: layout.vector(), packed };
        self.engine.expand(from, &mut scratch.desk, &mut Packer { model: self, layout: &layout, successors });
    }

    #[inline]
    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut Self::Scratch,
        transitions: &mut Vec<Transition<Step, K>>,
    ) -> usize {
        let Some((layout, codes)) = self.layouts.first_coded(K::WORDS) else { return 0 };
        let count = states.iter().take_while(|state| self.layouts.is_first(state.words())).count();
        let unpack = |state: K, unpacked: &mut StateBuf| layout.unpack_words(state.words(), unpacked);
        let kind = Kind { vector: layout.vector(), codes };
        self.engine.expand_words(kind, &states[..count], &mut scratch.desk, unpack, transitions)
    }
}
