//! Stubborn sets in packed states.

use entail_ir::interpret::{Codes, Engine, Outline, Step, Words};
use entail_ir::stubborn::{Desk, Rule, Sight, Stubborn};
use entail_model::{Model, Reduction, State, StateBuf, Successors};
use rapidhash::RapidHashSet;
use std::collections::VecDeque;

use crate::Packed;

/// Outlines for which stubborn sets are looked for: the commonest ones.
const MOST_OUTLINES: usize = 16;
/// So many states are looked at before it is decided whether there is something to be gained.
const TRIED: usize = 3_000;
/// It is, if of the steps in these states at least one in so many is left out.
const WORTH: usize = 40;

/// Takes stubborn sets of steps, where there are some.
pub struct StubbornSets {
    sets: Vec<Stubborn>,
}

/// What is needed from one state to the next.
#[derive(Default)]
pub struct Table {
    desk: Desk,
    unpacked: StateBuf,
}

impl StubbornSets {
    /// Unless it is clear that nothing is to be gained.
    pub fn new<E: Engine>(model: &Packed<E>, rule: Rule) -> Option<StubbornSets> {
        if model.stillborn {
            return None;
        }
        let (system, layout) = (model.system(), model.interpreter.layout());
        let outlines = model.forms.outlines().take(MOST_OUTLINES);
        let sets: Vec<_> = outlines.filter_map(|outline| Stubborn::new(system, layout, outline, rule)).collect();
        Some(StubbornSets { sets }).filter(|sets| !sets.sets.is_empty())
    }

    fn of(&self, outline: &Outline) -> Option<&Stubborn> {
        self.sets.iter().find(|set| set.outline().types == outline.types)
    }

    /// Whether enough is left out in the first states.
    pub fn are_worth_it<E: Engine>(&self, model: &Packed<E>) -> bool {
        let (mut known, mut queue) = (RapidHashSet::default(), VecDeque::new());
        model.initial_states(&mut |state| queue.push_back(state.to_vec()));
        let (mut successors, mut scratch, mut table) =
            (Successors::default(), Default::default(), Table::default());
        let (mut all, mut left_out) = (0, 0);
        while let Some(state) = queue.pop_front().filter(|_| known.len() < TRIED) {
            successors.clear();
            model.expand(&state, &mut successors, &mut scratch);
            if !model.is_transient(&state) {
                all += successors.len();
                if let Some(keeps) = self.select(model, &state, &successors.steps(), &mut table) {
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

impl<E: Engine> Reduction<Packed<'_, E>> for StubbornSets {
    type Desk = Table;

    fn select<'d>(
        &self,
        model: &Packed<'_, E>,
        state: &State,
        steps: &[Step],
        table: &'d mut Table,
    ) -> Option<&'d [bool]> {
        let form = model.forms.of(state);
        let set = self.of(form.outline())?;
        let Table { desk, unpacked } = table;
        let found = match form.coded(state) {
            Some((words, codes)) => set.select(&InWords(words, codes), steps, desk),
            None => {
                form.unpack(state, unpacked);
                set.select(&InBytes(unpacked), steps, desk)
            }
        };
        found.then_some(&desk.keeps[..])
    }
}
