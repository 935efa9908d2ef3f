//! All that can happen in one state.

use crate::shuffled::shuffle;
use crate::{Fault, Fired, State, StateBuf};

/// The steps that are possible in a state, and where they lead. Reused from state to state, so that nothing is
/// allocated in the long run.
#[derive(Clone, Debug)]
pub struct Successors<S> {
    /// Steps without a fault to states of one word, or of two. There are others only if there are none of these.
    words: Vec<(S, [u8; 8])>,
    pairs: Vec<(S, [u8; 16])>,
    /// States with such a last word, or a greater one, are transient.
    transient: u64,
    list: Vec<Entry<S>>,
    /// The states that those of the list lead to, one after the other.
    states: StateBuf,
    /// By the number of the step.
    faults: Vec<(usize, Fault)>,
    /// Whether all steps lead to stable states without a fault, as most do.
    plain: bool,
    /// Partial-order reduction has postponed others.
    reduced: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry<S> {
    step: S,
    target: Target,
    /// Where its state ends.
    end: u32,
}

/// A successor of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor<'a, S> {
    /// The step that leads there.
    pub step: S,
    /// What goes wrong in the step, if something does.
    pub fault: Option<Fault>,
    /// The kind of state it leads to.
    pub target: Target,
    /// Where the step led; means nothing if nowhere.
    pub state: &'a State,
}

/// Where a step led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It broke.
    Nowhere,
    /// To a state inside an indivisible sequence.
    Transient,
    /// A state that is stored.
    Stable,
}

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

    /// Adds a step; `write` appends the state it leads to, and is not asked if it broke.
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

    /// Adds steps that lead to states of one word, without a fault. The states of words from `transient` on, which is
    /// always the same and a power of two, are transient.
    #[inline]
    pub fn extend(&mut self, steps: impl Iterator<Item = (S, u64)>, transient: u64) {
        let mut all = 0;
        self.words.extend(steps.map(|(step, word)| {
            all |= word;
            (step, word.to_le_bytes())
        }));
        self.extended(transient, all);
    }

    /// The same for two words, of which the second one says whether the state is transient.
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

    /// Treats those of one or two words as the others.
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

    /// All steps with their states, if these are stable ones of one word, and there is no fault.
    pub fn plain_words(&self) -> Option<impl Iterator<Item = (S, u64)>> {
        let only_words = self.plain && self.pairs.is_empty() && self.list.is_empty();
        only_words.then(|| self.words.iter().map(|(step, word)| (*step, u64::from_le_bytes(*word))))
    }

    /// Whether all steps lead to stable states without a fault.
    pub fn are_plain(&self) -> bool {
        self.plain
    }

    /// Whether partial-order reduction has postponed others, so that the cycle proviso applies.
    pub fn are_reduced(&self) -> bool {
        self.reduced
    }

    /// Marks the successors as reduced, or as complete.
    pub fn set_reduced(&mut self, reduced: bool) {
        self.reduced = reduced;
    }

    /// Leaves only those steps for which it is said.
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

    /// Puts the steps into a random order. `below` gives a random number below another.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` for every step.
    #[inline(always)]
    pub fn each_step(&self, mut each: impl FnMut(S)) {
        self.words.iter().for_each(|(step, _)| each(*step));
        self.pairs.iter().for_each(|(step, _)| each(*step));
        self.list.iter().for_each(|entry| each(entry.step));
    }

    /// All steps.
    pub fn steps(&self) -> Vec<S> {
        let mut steps = Vec::with_capacity(self.len());
        self.each_step(|step| steps.push(step));
        steps
    }

    /// The states, where all steps lead to some.
    #[inline(always)]
    pub fn each_state(&self, mut each: impl FnMut(&State)) {
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
