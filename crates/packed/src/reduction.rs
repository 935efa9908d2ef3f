//! Stubborn sets in packed states.

use entail_ir::interpret::{Codes, Engine, Step, Words};
use entail_ir::stubborn::{Desk, Proviso, Rule, Sight, StubbornSets};
use entail_model::{Model, Reduction, State, StateBuf, Successors};
use rapidhash::RapidHashSet;
use std::collections::VecDeque;

use crate::Packed;

/// So many states are looked at before it is decided whether there is something to be gained.
const TRIED: usize = 3_000;
/// Or so many, with those inside indivisible sequences.
const MOST_SEEN: usize = 30_000;
/// It is, if of the steps in these states at least one in so many is left out.
const WORTH: usize = 40;

/// Takes stubborn sets of steps, where there are some.
pub struct Stubborn<'s> {
    sets: StubbornSets<'s>,
}

/// What is needed from one state to the next.
#[derive(Default)]
pub struct Table {
    desk: Desk,
    unpacked: StateBuf,
}

impl<'s> Stubborn<'s> {
    /// Unless it is clear that nothing is to be gained.
    pub fn new<E: Engine>(model: &Packed<'s, E>, rule: Rule, proviso: Proviso) -> Option<Self> {
        if model.stillborn {
            return None;
        }
        let sets = StubbornSets::new(model.system(), model.interpreter.layout(), rule, proviso)?;
        Some(Stubborn { sets })
    }

    /// Whether enough is left out in the first states.
    pub fn are_worth_it<E: Engine>(&self, model: &Packed<E>) -> bool {
        let (mut known, mut queue) = (RapidHashSet::default(), VecDeque::new());
        model.initial_states(&mut |state| queue.push_back(state.to_vec()));
        let (mut successors, mut scratch, mut table) =
            (Successors::default(), Default::default(), Table::default());
        let (mut all, mut left_out, mut tried) = (0, 0, 0);
        while let Some(state) = queue.pop_front().filter(|_| tried < TRIED && known.len() < MOST_SEEN) {
            successors.clear();
            model.expand(&state, &mut successors, &mut scratch);
            if !model.is_transient(&state) {
                tried += 1;
                all += successors.len();
                if let Some(keeps) = self.select(model, &state, &successors.steps(), 0, &mut table) {
                    left_out += keeps.iter().filter(|keeps| !**keeps).count();
                    successors.retain(keeps);
                }
            }
            for successor in successors.iter() {
                if successor.led != entail_model::Led::Nowhere && known.insert(successor.state.to_vec()) {
                    queue.push_back(successor.state.to_vec());
                }
            }
        }
        left_out * WORTH >= all && left_out > 0
    }
}

struct InWords<'c>(Words, &'c Codes);

impl Sight for InWords<'_> {
    #[inline]
    fn number(&self, at: u32, bytes: u8) -> u32 {
        self.1.number(self.0, at, bytes)
    }
}

struct InBytes<'s>(&'s State);

impl Sight for InBytes<'_> {
    fn number(&self, at: u32, bytes: u8) -> u32 {
        let mut value = [0; 4];
        value[..usize::from(bytes)].copy_from_slice(&self.0[at as usize..][..usize::from(bytes)]);
        u32::from_le_bytes(value)
    }
}

impl<E: Engine> Reduction<Packed<'_, E>> for Stubborn<'_> {
    type Desk = Table;

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
