//! The successors of a state.

use entail_disk::snapshot;

use crate::shuffled::shuffle;
use crate::{Fault, Fired, State, StateBuf};

/// The steps enabled in a state, and their targets. Reused from state to state, so that it allocates rarely.
#[derive(Clone, Debug)]
pub struct Successors<S> {
    /// Steps without a fault to states of one word, or of two. `list` is used only if these are empty.
    words: Vec<(S, [u8; 8])>,
    pairs: Vec<(S, [u8; 16])>,
    /// A state whose last word is at least this is transient.
    transient: u64,
    list: Vec<Entry<S>>,
    /// The concatenated targets of `list`.
    states: StateBuf,
    /// By the index of the step.
    faults: Vec<(usize, Fault)>,
    /// Whether all steps lead to stable states without a fault, which is the common case.
    plain: bool,
    /// Whether partial-order reduction has postponed other steps.
    reduced: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry<S> {
    step: S,
    target: Target,
    /// The end of its target in `states`.
    end: u32,
}

/// A successor of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor<'a, S> {
    /// The step.
    pub step: S,
    /// The fault in the step, if there is one.
    pub fault: Option<Fault>,
    /// The kind of target.
    pub target: Target,
    /// The target; unspecified if there is none.
    pub state: &'a State,
}

/// The kind of a step's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// None: the step broke.
    Nowhere,
    /// A state inside an atomic sequence.
    Transient,
    /// A state that is stored.
    Stable,
}

snapshot!(enum Target { 0 => Nowhere, 1 => Transient, 2 => Stable });

impl<S: Copy> Successors<S> {
    /// Removes all successors.
    #[inline]
    pub fn clear(&mut self) {
        self.words.clear();
        self.pairs.clear();
        self.plain = true;
        self.reduced = false;
        if !self.list.is_empty() {
            self.list.clear();
            self.states.clear();
            self.faults.clear();
        }
    }

    /// Adds a step. `write` appends its target; it is not called if the step broke.
    #[inline]
    pub fn push(&mut self, step: S, fired: Fired, transient: bool, write: impl FnOnce(&mut StateBuf)) {
        self.list_words();
        let target = match (fired.is_broken(), transient) {
            (true, _) => Target::Nowhere,
            (false, true) => Target::Transient,
            (false, false) => Target::Stable,
        };
        if target != Target::Nowhere {
            write(&mut self.states);
        }
        if let Some(fault) = fired.fault() {
            self.faults.push((self.list.len(), fault));
        }
        self.plain &= target == Target::Stable && fired == Fired::Done;
        self.list.push(Entry { step, target, end: self.states.len() as u32 });
    }

    /// Adds steps without a fault to states of one word. A state is transient if its word is at least `transient`,
    /// which is constant and a power of two.
    #[inline]
    pub fn extend(&mut self, steps: impl Iterator<Item = (S, u64)>, transient: u64) {
        let mut all = 0;
        self.words.extend(steps.map(|(step, word)| {
            all |= word;
            (step, word.to_le_bytes())
        }));
        self.extended(transient, all);
    }

    /// The same for two words. The second one determines whether the state is transient.
    #[inline]
    pub fn extend_pairs(&mut self, steps: impl Iterator<Item = (S, [u64; 2])>, transient: u64) {
        let mut all = 0;
        self.pairs.extend(steps.map(|(step, [low, high])| {
            all |= high;
            (step, (u128::from(high) << 64 | u128::from(low)).to_le_bytes())
        }));
        self.extended(transient, all);
    }

    #[inline]
    fn extended(&mut self, transient: u64, all: u64) {
        debug_assert!(transient.is_power_of_two());
        self.transient = transient;
        self.plain &= all < transient;
        if !self.list.is_empty() {
            self.list_words();
        }
    }

    /// Moves the steps to states of one or two words into the list.
    fn list_words(&mut self) {
        let transient = self.transient;
        let words = self.words.iter().map(|(step, word)| (*step, &word[..]));
        for (step, state) in words.chain(self.pairs.iter().map(|(step, pair)| (*step, &pair[..]))) {
            self.states.extend_from_slice(state);
            self.list.push(Entry { step, target: target_of(state, transient), end: self.states.len() as u32 });
        }
        self.words.clear();
        self.pairs.clear();
    }

    /// All steps with their targets, if these are stable, of one word, and without a fault.
    pub fn plain_words(&self) -> Option<impl Iterator<Item = (S, u64)>> {
        let only_words = self.plain && self.pairs.is_empty() && self.list.is_empty();
        only_words.then(|| self.words.iter().map(|(step, word)| (*step, u64::from_le_bytes(*word))))
    }

    /// Whether all steps lead to stable states without a fault.
    pub fn are_plain(&self) -> bool {
        self.plain
    }

    /// Whether partial-order reduction has postponed other steps, so that the cycle proviso applies.
    pub fn are_reduced(&self) -> bool {
        self.reduced
    }

    /// Sets whether the successors are reduced.
    pub fn set_reduced(&mut self, reduced: bool) {
        self.reduced = reduced;
    }

    /// Keeps the steps at the indices where `keeps` is true.
    pub fn retain(&mut self, keeps: &[bool]) {
        let short = self.words.len() + self.pairs.len();
        let (of_short, of_list) = keeps.split_at(short.min(keeps.len()));
        let mut of_short = of_short.iter();
        self.words.retain(|_| of_short.next() == Some(&true));
        self.pairs.retain(|_| of_short.next() == Some(&true));
        if self.list.is_empty() {
            return;
        }
        let (list, states, faults) =
            (std::mem::take(&mut self.list), std::mem::take(&mut self.states), std::mem::take(&mut self.faults));
        let (mut start, mut faults) = (0, faults.into_iter().peekable());
        for (index, entry) in list.into_iter().enumerate() {
            let fault = faults.next_if(|(number, _)| *number == index);
            if of_list.get(index) == Some(&true) {
                self.faults.extend(fault.map(|(_, fault)| (self.list.len(), fault)));
                self.states.extend_from_slice(&states[start..entry.end as usize]);
                self.list.push(Entry { end: self.states.len() as u32, ..entry });
            }
            start = entry.end as usize;
        }
    }

    /// Shuffles the steps. `below` returns a random number below its argument.
    pub(crate) fn shuffle(&mut self, mut below: impl FnMut(usize) -> usize) {
        shuffle(&mut self.words, &mut below);
        shuffle(&mut self.pairs, &mut below);
        if self.list.is_empty() {
            return;
        }
        let (list, states, faults) =
            (std::mem::take(&mut self.list), std::mem::take(&mut self.states), std::mem::take(&mut self.faults));
        let mut order: Vec<usize> = (0..list.len()).collect();
        shuffle(&mut order, &mut below);
        for index in order {
            let start = index.checked_sub(1).map_or(0, |before| list[before].end as usize);
            let fault = faults.iter().find(|(number, _)| *number == index);
            self.faults.extend(fault.map(|(_, fault)| (self.list.len(), *fault)));
            self.states.extend_from_slice(&states[start..list[index].end as usize]);
            self.list.push(Entry { end: self.states.len() as u32, ..list[index] });
        }
    }

    /// The number of successors.
    pub fn len(&self) -> usize {
        self.words.len() + self.pairs.len() + self.list.len()
    }

    /// Whether there are no successors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` for every step.
    #[inline(always)]
    pub fn for_each_step(&self, mut each: impl FnMut(S)) {
        self.words.iter().for_each(|(step, _)| each(*step));
        self.pairs.iter().for_each(|(step, _)| each(*step));
        self.list.iter().for_each(|entry| each(entry.step));
    }

    /// All steps.
    pub fn steps(&self) -> Vec<S> {
        let mut steps = Vec::with_capacity(self.len());
        self.for_each_step(|step| steps.push(step));
        steps
    }

    /// Calls `each` for every target. All steps must have one.
    #[inline(always)]
    pub fn for_each_target(&self, mut each: impl FnMut(&State)) {
        self.words.iter().for_each(|(_, word)| each(word));
        self.pairs.iter().for_each(|(_, pair)| each(pair));
        self.listed().for_each(each);
    }

    /// The steps to states of one or two words.
    fn short(&self) -> impl Iterator<Item = (S, &State)> {
        let words = self.words.iter().map(|(step, word)| (*step, &word[..]));
        words.chain(self.pairs.iter().map(|(step, pair)| (*step, &pair[..])))
    }

    fn listed(&self) -> impl Iterator<Item = &State> {
        let mut start = 0;
        self.list.iter().map(move |entry| {
            let state = &self.states[start..entry.end as usize];
            start = entry.end as usize;
            state
        })
    }

    /// All successors, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Successor<'_, S>> {
        let short = self.short().map(|(step, state)| Successor {
            step,
            fault: None,
            target: target_of(state, self.transient),
            state,
        });
        let mut faults = self.faults.iter().peekable();
        short.chain(self.list.iter().zip(self.listed()).enumerate().map(move |(index, (entry, state))| {
            let fault = faults.next_if(|(number, _)| *number == index).map(|(_, fault)| *fault);
            Successor { step: entry.step, fault, target: entry.target, state }
        }))
    }
}

#[inline]
fn target_of(state: &State, transient: u64) -> Target {
    if last_word(state) < transient { Target::Stable } else { Target::Transient }
}

#[inline]
fn last_word(state: &State) -> u64 {
    state.last_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

impl<S> Default for Successors<S> {
    fn default() -> Self {
        Successors {
            words: Vec::new(),
            pairs: Vec::new(),
            transient: u64::MAX,
            list: Vec::new(),
            states: StateBuf::new(),
            faults: Vec::new(),
            plain: true,
            reduced: false,
        }
    }
}
