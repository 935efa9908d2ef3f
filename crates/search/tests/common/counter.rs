//! A model with a deep error.

use entail_model::{Fault, FaultKind, Fired, Marks, Model, State, StateBuf};

/// A counter beside switches. The event at its last value is deep, and on every path that counts.
pub struct Counter {
    pub last: u32,
    pub switches: u32,
    /// Whether counting is the last step in the order of the model, instead of the first.
    pub reversed: bool,
    pub at_last: AtLast,
}

#[derive(Clone, Copy, PartialEq)]
pub enum AtLast {
    Begins,
    Fails,
    /// The run ends there.
    Stops,
}

pub const FAULT: Fault = Fault { kind: FaultKind::Assertion, place: 7, times: 3 };

impl Counter {
    pub fn parts(state: &State) -> (u32, u32) {
        let word = u64::from_le_bytes(*state.first_chunk().unwrap());
        ((word >> 32) as u32, word as u32)
    }
}

impl Model for Counter {
    type Step = u32;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&[0; 8]);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<u32>) {
        if self.at_last == AtLast::Stops && Counter::parts(state).0 == self.last {
            return;
        }
        steps.extend(0..=self.switches);
        if self.reversed {
            steps.reverse();
        }
    }

    fn fire(&self, step: u32, state: &mut StateBuf) -> Fired {
        let (mut count, mut switches) = Counter::parts(state);
        let is_last = step == 0 && count == self.last;
        match step.checked_sub(1) {
            Some(switch) => switches ^= 1 << switch,
            None => count = (count + 1) % (self.last + 1),
        }
        *state = (u64::from(count) << 32 | u64::from(switches)).to_le_bytes().to_vec();
        if is_last && self.at_last == AtLast::Fails { Fired::Failed(FAULT) } else { Fired::Done }
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}
