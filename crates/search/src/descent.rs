//! Steps, depth first: the stack of every search, and the one place that knows transient states.
//!
//! A [`Descent`] is a path through a model together with the steps not yet taken on the way. It takes one step at a
//! time and leaves it to the search whether to enter the state that was reached. A depth-first search enters what
//! is new; a breadth-first one enters transient states only, and so meets every stable successor of a state.
//!
//! Transient states are followed path by path, as SPIN does: what is reached along two paths is reached twice.
//! A path that comes back to one of its own transient states, without a stable one in between, ends there. (SPIN
//! would follow it forever.)

use entail_model::{Fault, Fired, Model, State, StateBuf};
use rapidhash::v3::rapidhash_v3;

use crate::chain::Chain;

/// One step of a descent.
pub(crate) struct Taken<S> {
    pub step: S,
    pub fault: Option<Fault>,
    pub led: Led,
}

/// Where a step led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Led {
    /// The step broke, or came back to a transient state of its own path.
    Nowhere,
    Transient,
    Stable,
}

/// A path may be millions of states long: so its frames own nothing, and lie on flat stacks.
pub(crate) struct Descent<'m, M: Model> {
    model: &'m M,
    origin: StateBuf,
    frames: Vec<Frame>,
    /// The states of all frames, one after the other.
    states: Vec<u8>,
    /// The steps of all frames that have not been taken yet; those of a frame in reverse.
    pending: Vec<M::Step>,
    /// The step last taken out of each frame; nothing for a frame just entered.
    taken: Vec<M::Step>,
    /// The transient states on the path.
    chain: Chain,
    reached: StateBuf,
    /// Of the state reached, if that is transient.
    hash: Option<Hash>,
}

struct Frame {
    /// Where its state begins.
    state: usize,
    /// How many of its steps are pending.
    pending: u32,
    /// Of its state, if that is transient.
    hash: Option<Hash>,
}

type Hash = std::num::NonZeroU32;

impl<'m, M: Model> Descent<'m, M> {
    pub fn new(model: &'m M) -> Self {
        Descent {
            model,
            origin: StateBuf::new(),
            frames: Vec::new(),
            states: Vec::new(),
            pending: Vec::new(),
            taken: Vec::new(),
            chain: Chain::default(),
            reached: StateBuf::new(),
            hash: None,
        }
    }

    /// Begins anew, in a state that counts as stable whatever it is.
    pub fn start(&mut self, origin: &State) {
        while !self.frames.is_empty() {
            self.leave();
        }
        self.pending.clear();
        self.taken.clear();
        self.origin.clear();
        self.origin.extend_from_slice(origin);
        self.reached.clear();
        self.reached.extend_from_slice(origin);
        self.hash = None;
        self.enter();
    }

    /// Takes the next step: out of the state entered last if it has one, else out of the one before it, and so on.
    /// `None` when nothing is left.
    #[inline]
    pub fn advance(&mut self) -> Option<Taken<M::Step>> {
        while self.frames.last()?.pending == 0 {
            self.leave();
        }
        let step = self.pending.pop()?;
        self.taken.truncate(self.frames.len() - 1);
        self.taken.push(step);
        self.prepare_to_fire();
        let (fault, goes_on) = match self.model.fire(step, &mut self.reached) {
            Fired::Done => (None, true),
            Fired::Failed(fault) => (Some(fault), true),
            Fired::Broken(fault) => (Some(fault), false),
        };
        let led = if goes_on { self.classify() } else { Led::Nowhere };
        Some(Taken { step, fault, led })
    }

    /// Makes the state just reached, if any was, the one to go on from.
    #[inline]
    pub fn enter(&mut self) {
        if let Some(hash) = self.hash {
            self.chain.push(hash.get(), self.frames.len());
        }
        let state = self.states.len();
        self.states.extend_from_slice(&self.reached);
        let first = self.pending.len();
        self.model.enabled(&self.reached, &mut self.pending);
        self.pending[first..].reverse();
        self.frames.push(Frame { state, pending: (self.pending.len() - first) as u32, hash: self.hash });
    }

    /// The state the last step led to.
    pub fn reached(&self) -> &State {
        &self.reached
    }

    /// Whether the state just entered has no steps.
    pub fn is_stuck(&self) -> bool {
        self.frames.last().is_some_and(|top| top.pending == 0)
    }

    /// How many steps lead from the origin to the state last entered.
    pub fn depth(&self) -> u64 {
        self.frames.len() as u64 - 1
    }

    pub fn origin(&self) -> &State {
        &self.origin
    }

    /// The steps from the origin up to the one last taken.
    pub fn path(&self) -> &[M::Step] {
        &self.taken
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.states.truncate(frame.state);
        if let Some(hash) = frame.hash {
            self.chain.pop(hash.get(), self.frames.len());
        }
    }

    /// Copies the top state to where it will be turned into its successor.
    fn prepare_to_fire(&mut self) {
        let Some(top) = self.frames.last_mut() else { return };
        self.reached.clear();
        self.reached.extend_from_slice(&self.states[top.state..]);
        top.pending -= 1;
        // Nobody will ask for this state again. So a long path without branches costs next to nothing.
        if top.pending == 0 && top.hash.is_none() {
            self.states.truncate(top.state);
        }
    }

    fn classify(&mut self) -> Led {
        self.hash = self.model.is_transient(&self.reached).then(|| hash(&self.reached));
        match self.hash {
            None => Led::Stable,
            Some(hash) if self.was_passed(hash) => Led::Nowhere,
            Some(_) => Led::Transient,
        }
    }

    /// Whether the state just reached was passed since the last stable one.
    fn was_passed(&self, hash: Hash) -> bool {
        self.chain.contains(hash.get(), |frame| {
            self.state(frame) == self.reached && self.frames[frame..].iter().rev().all(|frame| frame.hash.is_some())
        })
    }

    fn state(&self, frame: usize) -> &State {
        let end = self.frames.get(frame + 1).map_or(self.states.len(), |next| next.state);
        &self.states[self.frames[frame].state..end]
    }
}

/// Never 0, so that a frame without one is not larger.
fn hash(state: &State) -> Hash {
    Hash::MIN.saturating_add((rapidhash_v3(state) >> 33) as u32)
}
