//! Stubborn sets in packed states.

use std::io;

use entail_disk::{Lasting, Reader, Writer};
use entail_ir::interpret::{Codes, Engine, Step, Words};
use entail_ir::stubborn::{Proviso, Rule, Scratch, StateReader, StubbornSets};
use entail_model::{Reduction, State, StateBuf};

use crate::Packed;

/// Takes stubborn sets of steps, where there are some.
pub struct Stubborn<'s> {
    sets: StubbornSets<'s>,
    proviso: Proviso,
}

/// What is needed from one state to the next.
#[derive(Default)]
pub struct Table {
    desk: Scratch,
    unpacked: StateBuf,
}

impl<'s> Stubborn<'s> {
    /// Unless it is clear that nothing is to be gained.
    pub fn new<E: Engine>(model: &Packed<'s, E>, rule: Rule, proviso: Proviso) -> Option<Self> {
        if model.stillborn {
            return None;
        }
        let sets = StubbornSets::new(model.system(), model.interpreter.layout(), rule, proviso)?;
        Some(Stubborn { sets, proviso })
    }

    pub fn proviso(&self) -> Proviso {
        self.proviso
    }
}

impl Lasting for Stubborn<'_> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.sets.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.sets.restore(from)
    }
}

struct InWords<'c>(Words, &'c Codes);

impl StateReader for InWords<'_> {
    #[inline]
    fn number(&self, at: u32, bytes: u8) -> u32 {
        self.1.number(self.0, at, bytes)
    }
}

struct InBytes<'s>(&'s State);

impl StateReader for InBytes<'_> {
    fn number(&self, at: u32, bytes: u8) -> u32 {
        let mut value = [0; 4];
        value[..usize::from(bytes)].copy_from_slice(&self.0[at as usize..][..usize::from(bytes)]);
        u32::from_le_bytes(value)
    }
}

impl<E: Engine> Reduction<Packed<'_, E>> for Stubborn<'_> {
    type Desk = Table;

    fn needs_proviso(&self) -> bool {
        self.proviso == Proviso::Search
    }

    fn select<'d>(
        &self,
        model: &Packed<'_, E>,
        state: &State,
        steps: &[Step],
        answer: u32,
        table: &'d mut Table,
    ) -> Option<&'d [bool]> {
        let form = model.forms.of(state);
        let Table { desk, unpacked } = table;
        let unpack = |bytes: &mut StateBuf| form.unpack(state, bytes);
        let found = match form.coded(state) {
            Some((words, codes)) => {
                self.sets.select(form.outline(), &InWords(words, codes), unpack, steps, answer, desk)
            }
            None => {
                unpack(unpacked);
                self.sets.select(form.outline(), &InBytes(unpacked), unpack, steps, answer, desk)
            }
        };
        found.then_some(&desk.keeps[..])
    }
}
