//! A system as a [`Model`] over packed states: of every number only as many bits are kept as it takes to tell its
//! values apart.
//!
//! ```text
//! short:  the outline's number and the codes of all numbers, in a fixed number of words; above them, if there is room,
//!         the process that alone may move
//! long:   the outline's number │ the codes of all numbers │ padding: longer than any short one
//! raw:    the outline's number, marked │ the state as it is: other transient states
//! ```
//!
//! Which numbers there are depends on the state's *outline*: which processes it has. A long state can be packed in
//! any case: its codes are as wide as an analysis of the system says they can be. A short one is packed by what was
//! seen on a short excursion before the search, which is often much less; a state that does not fit is kept long.
//! Nothing is ever lost. If there are many of these, the search is told to begin again, with states packed by what is
//! known then.

mod form;
mod log;
mod reduction;
mod scout;
mod trial;

use std::io;

use entail_disk::{Reader, Writer};
use entail_ir::interpret::{Engine, Kind, Sink, Source, Step};
use entail_ir::{Interpreter, Ranges, System};
use entail_model::{
    Concurrent, Fired, Hop, Marks, Model, Part, Propositional, Room, State, StateBuf, StateKey, Successors,
    Valuation,
};

pub use reduction::Stubborn;
pub use trial::{Wish, best_reduction};

use form::{Form, Forms};

/// Who needs more room for himself had better use a word of his own.
const MOST_ROOM: u32 = 16;

/// A system over packed states, run by any engine.
pub struct Packed<'s, E> {
    interpreter: &'s Interpreter<'s>,
    engine: E,
    forms: Forms<'s>,
    /// The system faults before its first step: its only state is the empty one.
    stillborn: bool,
}

impl<'s, E: Engine> Packed<'s, E> {
    pub fn new(interpreter: &'s Interpreter<'s>, engine: E) -> Self {
        Packed::with_room(interpreter, engine, 0)
    }

    /// The same; so many bits, if they are few, are left for others above all that a short state has.
    pub fn with_room(interpreter: &'s Interpreter<'s>, mut engine: E, bits: u32) -> Self {
        let mut stillborn = false;
        interpreter.initial_states(&mut |state| stillborn |= state.is_empty());
        let ranges = Ranges::new(interpreter.system());
        let (seen, complete) =
            if stillborn { (Vec::new(), true) } else { scout::explore(interpreter, &engine, &ranges) };
        let forms = Forms::new(interpreter, ranges, seen, complete, bits.min(MOST_ROOM));
        if let Some((outline, codes)) = forms.commonest() {
            engine.specialise(outline, codes);
        }
        Packed { interpreter, engine, forms, stillborn }
    }

    /// Whether it has said that a search should begin again, for which it must be adapted.
    pub fn is_outgrown(&self) -> bool {
        self.forms.are_outgrown()
    }

    /// The same system, with states packed by all that has been seen by now. They look different then.
    pub fn adapted(self) -> Self {
        let Packed { interpreter, mut engine, forms, stillborn } = self;
        let forms = forms.adapted();
        if let Some((outline, codes)) = forms.commonest() {
            engine.specialise(outline, codes);
        }
        Packed { interpreter, engine, forms, stillborn }
    }

    /// Writes down how states are packed.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.forms.save(to)
    }

    /// The same system, with states packed as they were where that was written down.
    pub fn restored(self, from: &mut Reader) -> io::Result<Self> {
        let Packed { interpreter, mut engine, forms, stillborn } = self;
        let forms = forms.restored(from)?;
        if let Some((outline, codes)) = forms.commonest() {
            engine.specialise(outline, codes);
        }
        Ok(Packed { interpreter, engine, forms, stillborn })
    }

    pub fn system(&self) -> &'s System {
        self.interpreter.system()
    }

    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// How many bits a short state has. It is stored in as few whole words as possible; all other states are longer.
    pub fn bits(&self) -> u32 {
        self.forms.bits()
    }

    /// Writes the state as the interpreter knows it.
    pub fn unpack(&self, packed: &State, state: &mut StateBuf) {
        if self.stillborn {
            state.clear();
        } else {
            self.forms.of(packed).unpack(packed, state);
        }
    }

    /// Appends the packed form of a state of the interpreter.
    pub fn pack(&self, state: &State, packed: &mut StateBuf) {
        if self.stillborn {
            packed.extend_from_slice(&[0; 8]);
        } else {
            self.forms.form_of(state).pack(state, packed);
        }
    }

    fn unpacked(&self, packed: &State) -> StateBuf {
        let mut state = StateBuf::new();
        self.unpack(packed, &mut state);
        state
    }
}

/// What expanding needs from one state to the next.
#[derive(Default)]
pub struct Scratch<D> {
    /// Of the state that is expanded.
    unpacked: StateBuf,
    desk: D,
}

impl<E: Engine> Propositional for Packed<'_, E> {
    fn valuation(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        let Scratch { unpacked, desk } = scratch;
        if self.stillborn {
            return Valuation::default();
        }
        let form = self.forms.of(state);
        form.unpack(state, unpacked);
        match self.engine.propositions(unpacked, form.outline(), desk) {
            Some(holds) => Valuation { holds, ..Valuation::default() },
            None => self.interpreter.valuation(unpacked, &mut ()),
        }
    }

    fn sees_end(&self) -> bool {
        self.interpreter.sees_end()
    }

    fn valuation_after_end(&self, state: &State, scratch: &mut Self::Scratch) -> Valuation {
        if self.stillborn {
            return Valuation::default();
        }
        self.forms.of(state).unpack(state, &mut scratch.unpacked);
        self.interpreter.valuation_after_end(&scratch.unpacked, &mut ())
    }
}

impl<E: Engine> Concurrent for Packed<'_, E> {
    fn processes(&self, state: &State) -> usize {
        if self.stillborn { 0 } else { self.forms.of(state).processes() }
    }

    fn owner(&self, step: Step) -> usize {
        self.interpreter.owner(step)
    }
}

/// Packs the successors of a state.
struct Packer<'p, 's, E> {
    model: &'p Packed<'s, E>,
    /// That of the state.
    form: &'p Form,
    successors: &'p mut Successors<Step>,
}

impl<E: Engine> Sink for Packer<'_, '_, E> {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        let transient = !fired.is_broken() && self.model.interpreter.is_transient(state);
        self.successors.push(step, fired, transient, |packed| {
            // A step starts processes, or ends one, or leaves them all.
            if self.model.forms.processes(state) == self.form.processes() {
                self.form.pack(state, packed);
            } else {
                self.model.pack(state, packed);
            }
        });
    }

    #[inline]
    fn words(&mut self, steps: &[[u64; 2]]) {
        let steps = steps.iter().map(|&[step, word]| (Step::from_bits(step), word));
        self.successors.extend(steps, self.form.transient());
    }

    #[inline]
    fn pairs(&mut self, steps: &[[u64; 3]]) {
        let steps = steps.iter().map(|&[step, high, low]| (Step::from_bits(step), [low, high]));
        self.successors.extend_pairs(steps, self.form.transient());
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
        !self.stillborn && self.forms.is_transient(state)
    }

    fn marks(&self, state: &State) -> Marks {
        if self.stillborn {
            return self.interpreter.marks(&[]);
        }
        let form = self.forms.of(state);
        let mut unpacked = StateBuf::new();
        form.unpack(state, &mut unpacked);
        self.interpreter.marks_with(&unpacked, form.outline())
    }

    fn room(&self) -> Option<Room> {
        (!self.stillborn).then(|| self.forms.room())
    }

    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        if !self.stillborn {
            self.forms.of(state).parts(state, parts);
        }
    }

    fn should_begin_again(&self, steps: u64) -> bool {
        self.forms.outgrow(steps)
    }

    fn expand(&self, state: &State, successors: &mut Successors<Step>, scratch: &mut Self::Scratch) {
        if self.stillborn {
            return Model::expand(self.interpreter, &[], successors, &mut ());
        }
        let form = self.forms.of(state);
        let packed = form.coded(state);
        if packed.is_some_and(|(_, codes)| self.engine.reads_words(codes)) {
            scratch.unpacked.clear();
        } else {
            form.unpack(state, &mut scratch.unpacked);
        }
        let from = Source { state: &scratch.unpacked, vector: form.outline(), packed };
        self.engine.expand(from, &mut scratch.desk, &mut Packer { model: self, form: &form, successors });
    }

    #[inline]
    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut Self::Scratch,
        each: impl FnMut(Hop<Step, K>),
    ) -> usize {
        let Some((form, codes)) = self.forms.first_coded(K::WORDS) else { return 0 };
        let count = states.iter().take_while(|state| self.forms.is_first(state.words())).count();
        let unpack = |state: K, unpacked: &mut StateBuf| form.unpack_words(state.words(), unpacked);
        let kind = Kind { vector: form.outline(), codes };
        self.engine.expand_words(kind, &states[..count], &mut scratch.desk, unpack, each)
    }
}
