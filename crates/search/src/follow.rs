//! Going a way again that is known as a list of turns. A model that does not offer the same steps as before cannot be followed.

use std::convert::Infallible;
use std::ops::ControlFlow;

use entail_model::{Key, Model, StateBuf};

use crate::Counterexample;
use crate::expander::Expander;
use crate::findings::Found;
use crate::stack::{SearchStack, Turn};

/// The run to the first error of a search that begins its descents in initial states.
pub(crate) fn retrace<M: Model>(model: &M, found: Found) -> Option<Counterexample<M::Step>> {
    let mut follower = Follower::start(model, found.origin as u32)?;
    follower.follow(found.turns)?;
    Some(Counterexample { error: found.error, start: follower.start, steps: follower.steps })
}

/// Follows turns through a model, and notes the steps.
pub(crate) struct Follower<'m, M: Model> {
    model: &'m M,
    /// In the present state.
    expander: Expander<M>,
    /// How often that has been expanded before.
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
        let mut expander = Expander::default();
        expander.state.clone_from(&start);
        Some(Follower { model, expander, times: 0, start, steps: Vec::new() })
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

    /// Takes the step with this number.
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

    /// Goes on to the stable successor with this number, through any transient states.
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
