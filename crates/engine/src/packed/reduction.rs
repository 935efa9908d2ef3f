//! Stubborn sets in packed states.

use std::io;

use entail_disk::{Reader, Restore, Writer};
use entail_ir::interpret::{Codes, Engine, Step, Words};
use entail_ir::stubborn::{Proviso, Rule, Scratch, StateReader, StubbornSets};
use entail_model::{Reduction, State, StateBuf};

use crate::packed::Packed;

/// Partial-order reduction by stubborn sets.
pub struct Stubborn<'s> {
    sets: StubbornSets<'s>,
    proviso: Proviso,
}

/// Buffers for computing stubborn sets.
#[derive(Default)]
pub struct Table {
    desk: Scratch,
    unpacked: StateBuf,
}

impl<'s> Stubborn<'s> {
    /// `None` if the reduction cannot remove anything.
    pub fn new<E: Engine>(model: &Packed<'s, E>, rule: Rule, proviso: Proviso) -> Option<Self> {
        if model.fails_initially {
            return None;
        }
        let sets = StubbornSets::new(model.system(), model.interpreter.layout(), rule, proviso)?;
        Some(Stubborn { sets, proviso })
    }

    pub fn proviso(&self) -> Proviso {
        self.proviso
    }
}

impl Restore for Stubborn<'_> {
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
    type Scratch = Table;

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
        let layout = model.layouts.of(state);
        let Table { desk, unpacked } = table;
        let unpack = |bytes: &mut StateBuf| layout.unpack(state, bytes);
        let found = match layout.coded(state) {
            Some((words, codes)) => {
                self.sets.select(layout.vector(), &InWords(words, codes), unpack, steps, answer, desk)
            }
            None => {
                unpack(unpacked);
                self.sets.select(layout.vector(), &InBytes(unpacked), unpack, steps, answer, desk)
            }
        };
        found.then_some(&desk.keeps[..])
    }
}
