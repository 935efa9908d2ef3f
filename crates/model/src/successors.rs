//! All that can happen in one state.

use crate::{Fault, Fired, State, StateBuf};

/// The steps that are possible in a state, and where they lead. Reused from state to state, so that nothing is
/// allocated in the long run.
#[derive(Clone, Debug)]
pub struct Successors<S> {
    /// Steps without a fault to stable states of one word. There are others only if there are none of these.
    words: Vec<(S, Word)>,
    list: Vec<Entry<S>>,
    /// The states that those of the list lead to, one after the other.
    states: StateBuf,
    /// By the number of the step.
    faults: Vec<(usize, Fault)>,
    /// Whether all steps lead to stable states without a fault, as most do.
    plain: bool,
}

/// Memory for a model's own use.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub words: Vec<u64>,
    pub state: StateBuf,
}

/// A state of eight bytes.
pub type Word = [u8; 8];

#[derive(Clone, Copy, Debug)]
struct Entry<S> {
    step: S,
    led: Led,
    /// Where its state ends.
    end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor<'a, S> {
    pub step: S,
    pub fault: Option<Fault>,
    pub led: Led,
    /// Where the step led; means nothing if nowhere.
    pub state: &'a State,
}

/// Where a step led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// It broke.
    Nowhere,
    /// To a state inside an indivisible sequence.
    Transient,
    Stable,
}

impl<S: Copy> Successors<S> {
    #[inline]
    pub fn clear(&mut self) {
        self.words.clear();
        if !self.list.is_empty() {
            self.list.clear();
            self.states.clear();
            self.faults.clear();
            self.plain = true;
        }
    }

    /// Adds a step; `write` appends the state it leads to, and is not asked if it broke.
    #[inline]
    pub fn push(&mut self, step: S, fired: Fired, transient: bool, write: impl FnOnce(&mut StateBuf)) {
        self.list_words();
        let led = match (fired.is_broken(), transient) {
            (true, _) => Led::Nowhere,
            (false, true) => Led::Transient,
            (false, false) => Led::Stable,
        };
        if led != Led::Nowhere {
            write(&mut self.states);
        }
        if let Some(fault) = fired.fault() {
            self.faults.push((self.list.len(), fault));
        }
        self.plain &= led == Led::Stable && fired == Fired::Done;
        self.list.push(Entry { step, led, end: self.states.len() as u32 });
    }

    /// Adds steps that lead to stable states of one word, without a fault.
    #[inline]
    pub fn extend(&mut self, steps: impl IntoIterator<Item = (S, Word)>) {
        self.words.extend(steps);
        if !self.list.is_empty() {
            self.list_words();
        }
    }

    /// Treats those of one word as the others.
    fn list_words(&mut self) {
        for (step, word) in self.words.drain(..) {
            self.states.extend_from_slice(&word);
            self.list.push(Entry { step, led: Led::Stable, end: self.states.len() as u32 });
        }
    }

    /// Whether all steps lead to stable states without a fault.
    pub fn are_plain(&self) -> bool {
        self.plain
    }

    pub fn len(&self) -> usize {
        self.words.len() + self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.list.is_empty()
    }

    #[inline]
    pub fn steps(&self) -> impl Iterator<Item = S> {
        let words = self.words.iter().map(|(step, _)| *step);
        words.chain(self.list.iter().map(|entry| entry.step))
    }

    /// The states, where all steps lead to some.
    #[inline]
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.words.iter().map(|(_, word)| &word[..]).chain(self.listed())
    }

    fn listed(&self) -> impl Iterator<Item = &State> {
        let mut start = 0;
        self.list.iter().map(move |entry| {
            let state = &self.states[start..entry.end as usize];
            start = entry.end as usize;
            state
        })
    }

    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Successor<'_, S>> {
        let words = self.words.iter().map(|(step, word)| Successor {
            step: *step,
            fault: None,
            led: Led::Stable,
            state: &word[..],
        });
        let mut faults = self.faults.iter().peekable();
        words.chain(self.list.iter().zip(self.listed()).enumerate().map(move |(index, (entry, state))| {
            let fault = faults.next_if(|(number, _)| *number == index).map(|(_, fault)| *fault);
            Successor { step: entry.step, fault, led: entry.led, state }
        }))
    }
}

impl<S> Default for Successors<S> {
    fn default() -> Self {
        Successors { words: Vec::new(), list: Vec::new(), states: StateBuf::new(), faults: Vec::new(), plain: true }
    }
}
