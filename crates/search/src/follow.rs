//! Replays a path that is given as a list of choices. Fails if the model does not offer the same steps as before.

use std::convert::Infallible;
use std::ops::ControlFlow;

use entail_model::{Key, Model, StateBuf};

use crate::Counterexample;
use crate::expander::Expander;
use crate::findings::Found;
use crate::stack::{SearchStack, Turn};

/// The run to the first error, for a search whose paths begin in initial states.
pub(crate) fn retrace<M: Model>(model: &M, found: Found) -> Option<Counterexample<M::Step>> {
    let mut follower = Follower::start(model, found.origin as u32)?;
    follower.follow(found.turns)?;
    Some(Counterexample { error: found.error, start: follower.start, steps: follower.steps })
}

/// Replays a path and records its steps.
pub(crate) struct Follower<'m, M: Model> {
    model: &'m M,
    /// Holds the current state.
    expander: Expander<M>,
    /// How often the current state was expanded before.
    times: u32,
    pub start: StateBuf,
    pub steps: Vec<M::Step>,
}

impl<'m, M: Model> Follower<'m, M> {
    /// Starts in the initial state with this number.
    pub fn start(model: &'m M, number: u32) -> Option<Self> {
        let mut states = Vec::new();
        model.initial_states(&mut |state| states.push(state.to_vec()));
        let start = states.into_iter().nth(number as usize)?;
        let mut expander = Expander::default();
        expander.state.clone_from(&start);
        Some(Follower { model, expander, times: 0, start, steps: Vec::new() })
    }

    /// Replays choices in order.
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

    /// Takes the step with this index.
    fn step(&mut self, number: u32) -> Option<()> {
        self.expander.expand(self.model, self.times);
        let Expander { state, successors, .. } = &mut self.expander;
        let successor = successors.iter().nth(number as usize)?;
        self.steps.push(successor.step);
        state.clear();
        state.extend_from_slice(successor.state);
        self.times = 0;
        Some(())
    }

    /// Moves to the stable successor with this index, through transient states if necessary.
    fn way(&mut self, number: u32) -> Option<()> {
        let (mut met, mut turns) = (0, None);
        self.expander.expand(self.model, self.times);
        let enter = |expander: &Expander<M>, stack: &mut SearchStack<Key>| -> Result<(), Infallible> {
            stack.enter(&expander.successors, |_| Key(0), |_| ());
            Ok(())
        };
        let Ok(()) = self.expander.each_way(self.model, &mut SearchStack::default(), enter, |stack, _, ()| {
            if met == number {
                turns = Some(stack.turns());
                return ControlFlow::Break(());
            }
            met += 1;
            ControlFlow::Continue(())
        });
        self.follow(turns?)
    }
}
