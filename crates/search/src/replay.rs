//! Replays a path that is given as a list of choices. Fails if the model does not offer the same steps as before.

use std::convert::Infallible;
use std::ops::ControlFlow;

use entail_model::{Key, Model, StateBuf};

use crate::Counterexample;
use crate::expander::Expander;
use crate::findings::Found;
use crate::stack::{PathStep, SearchStack};

/// The run to the first error, for a search whose paths begin in initial states.
pub(crate) fn retrace<M: Model>(model: &M, found: Found) -> Option<Counterexample<M::Step>> {
    let mut replay = Replay::start(model, found.origin as u32)?;
    replay.follow(found.path_steps)?;
    Some(Counterexample { error: found.error, start: replay.start, steps: replay.steps })
}

/// Replays a path and records its steps.
pub(crate) struct Replay<'m, M: Model> {
    model: &'m M,
    /// Holds the current state.
    expander: Expander<M>,
    /// How often the current state was expanded before.
    times: u32,
    pub start: StateBuf,
    pub steps: Vec<M::Step>,
}

impl<'m, M: Model> Replay<'m, M> {
    /// Starts in the initial state with this number.
    pub fn start(model: &'m M, number: u32) -> Option<Self> {
        let mut states = Vec::new();
        model.initial_states(&mut |state| states.push(state.to_vec()));
        let start = states.into_iter().nth(number as usize)?;
        let mut expander = Expander::default();
        expander.state.clone_from(&start);
        Some(Replay { model, expander, times: 0, start, steps: Vec::new() })
    }

    /// Replays choices in order.
    pub fn follow(&mut self, path_steps: impl IntoIterator<Item = PathStep>) -> Option<()> {
        for step in path_steps {
            match step {
                PathStep::Step(number) => self.step(number)?,
                PathStep::Successor(number) => self.way(number)?,
                PathStep::ExpandFurther => self.times += 1,
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
        let (mut met, mut path_steps) = (0, None);
        self.expander.expand(self.model, self.times);
        let enter = |expander: &Expander<M>, stack: &mut SearchStack<Key>| -> Result<(), Infallible> {
            stack.enter(&expander.successors, |_| Key(0), |_| ());
            Ok(())
        };
        let Ok(()) = self.expander.for_each_path(self.model, &mut SearchStack::default(), enter, |stack, _, ()| {
            if met == number {
                path_steps = Some(stack.path_steps());
                return ControlFlow::Break(());
            }
            met += 1;
            ControlFlow::Continue(())
        });
        self.follow(path_steps?)
    }
}
