//! Going a way again that is known as a list of turns. A model that does not offer the same steps as before cannot be followed.

use entail_model::{Key, Model, StateBuf, Successors};

use crate::Counterexample;
use crate::context::Found;
use crate::stack::{Ahead, SearchStack, Turn};

/// The run to the first error of a search that begins its descents in initial states.
pub(crate) fn retrace<M: Model>(model: &M, found: Found) -> Option<Counterexample<M::Step>> {
    let mut follower = Follower::start(model, found.origin as u32)?;
    follower.follow(found.turns)?;
    Some(Counterexample { error: found.error, start: follower.start, steps: follower.steps })
}

/// Somebody who follows directions through a model, and notes the steps.
pub(crate) struct Follower<'m, M: Model> {
    model: &'m M,
    state: StateBuf,
    successors: Successors<M::Step>,
    scratch: M::Scratch,
    /// How often the state has been expanded before.
    times: u32,
    pub start: StateBuf,
    pub steps: Vec<M::Step>,
}

impl<'m, M: Model> Follower<'m, M> {
    /// In the initial state with this number.
    pub fn start(model: &'m M, number: u32) -> Option<Self> {
        let mut states = Vec::new();
        model.initial_states(&mut |state| states.push(state.to_vec()));
        let start = states.into_iter().nth(number as usize)?;
        Some(Follower {
            model,
            state: start.clone(),
            successors: Successors::default(),
            scratch: M::Scratch::default(),
            times: 0,
            start,
            steps: Vec::new(),
        })
    }

    /// Makes these turns, one after the other.
    pub fn follow(&mut self, turns: impl IntoIterator<Item = Turn>) -> Option<()> {
        for turn in turns {
            match turn {
                Turn::Step(number) => self.step(number)?,
                Turn::Way(number) => self.way(number)?,
                Turn::Stay => self.times += 1,
            }
        }
        Some(())
    }

    fn expand(&mut self) {
        self.successors.clear();
        match self.times {
            0 => self.model.expand(&self.state, &mut self.successors, &mut self.scratch),
            times => self.model.expand_further(&self.state, times, &mut self.successors, &mut self.scratch),
        }
    }

    /// Takes the step with this number.
    fn step(&mut self, number: u32) -> Option<()> {
        self.expand();
        let successor = self.successors.iter().nth(number as usize)?;
        self.steps.push(successor.step);
        self.state.clear();
        self.state.extend_from_slice(successor.state);
        self.times = 0;
        Some(())
    }

    /// Goes on to the stable successor with this number, through any transient states.
    fn way(&mut self, number: u32) -> Option<()> {
        let mut stack = SearchStack::<Key>::default();
        self.expand();
        stack.enter(&self.successors, |_| Key(0), |_| ());
        let mut met = 0;
        while let Some(taken) = stack.advance() {
            match taken.ahead {
                Ahead::Nothing => {}
                Ahead::Stable(_) if met == number => break,
                Ahead::Stable(_) => met += 1,
                Ahead::Transient => {
                    self.successors.clear();
                    self.model.expand(stack.transient(), &mut self.successors, &mut self.scratch);
                    stack.enter(&self.successors, |_| Key(0), |_| ());
                }
            }
        }
        // Without that successor, all choices were made, and no state is left on the path.
        (!stack.is_empty()).then_some(())?;
        self.follow(stack.turns())
    }
}
