//! The stack of every search: a path through a model with the choices not yet taken.
//!
//! A search enters a stable state with all of its steps, and takes one choice after the other. A depth-first search
//! enters every new state; a breadth-first one enters one state at a time. The stack holds only the key of a stable
//! state. [`SearchContext::step`](crate::context::SearchContext::step) enters transient states, so that a search sees
//! every stable successor of a state.
//!
//! Transient states are followed path by path, as in SPIN: a state reached along two paths is reached twice. A path
//! that returns to one of its own transient states, without a stable one in between, ends there. (SPIN would follow it
//! forever.)

use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};
use entail_model::{Fault, Model, State, StateKey, Successors, Target, Transition};
use rapidhash::v3::rapidhash_v3;

use crate::memory_estimate;
use crate::transient_index::TransientIndex;

/// One choice that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance<K, N> {
    pub fault: Option<Fault>,
    /// Whether the fault ends the run.
    pub broken: bool,
    pub destination: Destination<K>,
    /// The number of steps from the first state of the path to the target.
    pub depth: u64,
    /// The notes of all steps since the last stable state, combined.
    pub note: N,
}

/// A choice on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// The step with this index.
    Step(u32),
    /// The stable successor with this index, through any transient states.
    Successor(u32),
    /// The state is expanded further: the next choice is among its other steps.
    ExpandFurther,
}

/// The notes that a search takes of steps.
pub(crate) trait Annotation<M: Model> {
    type Note: Copy + Default;

    /// The note common to all steps out of a stable state.
    fn at(&self, state: &State, steps: &[M::Step]) -> Self::Note;
    /// The note of a step.
    fn of(&self, step: M::Step) -> Self::Note;
    fn both(one: Self::Note, other: Self::Note) -> Self::Note;
}

/// No notes.
pub(crate) struct NoAnnotation;

impl<M: Model> Annotation<M> for NoAnnotation {
    type Note = ();

    fn at(&self, _: &State, _: &[M::Step]) {}
    fn of(&self, _: M::Step) {}
    fn both((): (), (): ()) {}
}

impl<K: Copy, N> Advance<K, N> {
    /// The stable target, if there is one.
    #[inline]
    pub fn stable(&self) -> Option<K> {
        match self.destination {
            Destination::Stable(key) => Some(key),
            Destination::Nowhere | Destination::Transient => None,
        }
    }
}

/// The target of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination<K> {
    /// The step broke, or returned to a transient state of its own path.
    Nowhere,
    Transient,
    Stable(K),
}

/// A path may have millions of states, so its frames own no memory and live in flat vectors.
pub(crate) struct SearchStack<K, N = ()> {
    frames: Vec<Frame>,
    /// The choices of all frames, taken and not yet taken.
    choices: Vec<Choice>,
    /// The target of each choice: a key, or a span of `states`.
    targets: Vec<K>,
    notes: Vec<N>,
    /// The notes of the current paths through transient states.
    passing: Vec<N>,
    /// The faults of some of the choices, by index.
    faults: Vec<(usize, Fault)>,
    /// The transient states among the targets.
    states: Vec<u8>,
    /// The transient states on the path.
    chain: TransientIndex,
    /// The transient state just reached, if there is one.
    reached: Option<Passed>,
    /// The number of stable states on the path.
    stable: u64,
}

struct Frame {
    /// The index of its first choice, and of its next one.
    first: usize,
    next: usize,
    /// The offset of the states of its choices.
    states: usize,
    /// Its own state, if that is transient.
    passed: Option<Passed>,
    /// Its choices are whole paths instead of steps.
    ways: bool,
}

#[derive(Clone, Copy)]
struct Passed {
    hash: u32,
    span: Span,
}

#[derive(Clone, Copy)]
struct Choice {
    target: Target,
    faulty: bool,
}

impl<K, N> Default for SearchStack<K, N> {
    fn default() -> Self {
        SearchStack {
            frames: Vec::new(),
            choices: Vec::new(),
            targets: Vec::new(),
            notes: Vec::new(),
            passing: Vec::new(),
            faults: Vec::new(),
            states: Vec::new(),
            chain: TransientIndex::default(),
            reached: None,
            stable: 0,
        }
    }
}

snapshot!(Frame { first, next, states, passed, ways });
snapshot!(Passed { hash, span });
snapshot!(Span(piece));
snapshot!(Choice { target, faulty });

/// Saved between two choices.
impl<K: StateKey, N: Copy + Snapshot> Snapshot for SearchStack<K, N> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.frames.save(to)?;
        self.choices.save(to)?;
        self.targets.save(to)?;
        self.notes.save(to)?;
        self.faults.save(to)?;
        self.states.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<SearchStack<K, N>> {
        let mut stack = SearchStack {
            frames: Vec::load(from)?,
            choices: Vec::load(from)?,
            targets: Vec::load(from)?,
            notes: Vec::load(from)?,
            faults: Vec::load(from)?,
            states: Vec::load(from)?,
            ..SearchStack::default()
        };
        let SearchStack { frames, choices, targets, notes, chain, stable, states, .. } = &mut stack;
        let mut end = 0;
        for (number, frame) in frames.iter().enumerate() {
            let Frame { first, next, states: begin, passed, .. } = frame;
            let is_sound = end <= *first && first <= next && *next <= choices.len() && *begin <= states.len();
            if !is_sound || passed.is_some_and(|passed| !passed.span.is_in(states)) {
                return Err(damaged("a path that leads nowhere"));
            }
            end = *next;
            match passed {
                Some(passed) => chain.push(passed.hash, number),
                None => *stable += 1,
            }
        }
        if targets.len() != choices.len() || notes.len() != choices.len() {
            return Err(damaged("a path that leads nowhere"));
        }
        Ok(stack)
    }
}

impl<K: StateKey, N: Copy> SearchStack<K, N> {
    /// Removes the whole path.
    pub fn clear(&mut self) {
        while !self.frames.is_empty() {
            self.leave();
        }
        self.reached = None;
    }

    /// Pushes the state with these successors: the transient one just reached, or else a stable one.
    #[inline]
    pub fn enter<S: Copy>(
        &mut self,
        successors: &Successors<S>,
        mut key: impl FnMut(&State) -> K,
        mut note: impl FnMut(S) -> N,
    ) {
        if let Some(passed) = self.reached {
            self.chain.push(passed.hash, self.frames.len());
        }
        self.push_frame(false);
        for successor in successors.iter() {
            if let Some(fault) = successor.fault {
                self.faults.push((self.choices.len(), fault));
            }
            self.choices.push(Choice { target: successor.target, faulty: successor.fault.is_some() });
            self.notes.push(note(successor.step));
            self.targets.push(match successor.target {
                Target::Nowhere => K::from_words([0; 2]),
                Target::Stable => key(successor.state),
                Target::Transient => {
                    let start = self.states.len();
                    self.states.extend_from_slice(successor.state);
                    K::from_words([Span::new(start, self.states.len()).0, 0])
                }
            });
        }
    }

    /// Pushes a stable state without choices. The caller adds the paths to its stable successors; unless `passes`, they
    /// are single steps.
    #[inline]
    pub fn enter_paths(&mut self, passes: bool) {
        self.push_frame(passes);
        self.passing.clear();
    }

    /// Adds a step of one of these paths. `note` maps the note of the steps before it to the combined note.
    #[inline]
    pub fn push_transition<S>(&mut self, transition: &Transition<S, K>, note: impl FnOnce(Option<N>) -> N) {
        let before =
            transition.passed.checked_sub(1).and_then(|passed| self.passing.get(usize::from(passed))).copied();
        let note = note(before);
        match transition.next {
            Some(target) => {
                self.choices.push(Choice { target: Target::Stable, faulty: false });
                self.notes.push(note);
                self.targets.push(target);
            }
            None => {
                self.passing.truncate(transition.passed.into());
                self.passing.push(note);
            }
        }
    }

    /// Adds to the notes of all choices in the last state.
    #[inline]
    pub fn note_all(&mut self, add: impl Fn(N) -> N) {
        let Some(frame) = self.frames.last() else { return };
        self.notes[frame.first..].iter_mut().for_each(|note| *note = add(*note));
    }

    /// Moves the first choices of the last state behind the others, unless one of them has a fault. For searches that do
    /// not ask for paths.
    pub fn rotate(&mut self, by: impl FnOnce(usize) -> usize) {
        let Some(&Frame { first, .. }) = self.frames.last() else { return };
        let count = self.choices.len() - first;
        if count > 1 && self.faults.last().is_none_or(|(choice, _)| *choice < first) {
            let by = by(count) % count;
            self.choices[first..].rotate_left(by);
            self.targets[first..].rotate_left(by);
            self.notes[first..].rotate_left(by);
        }
    }

    #[inline]
    fn push_frame(&mut self, ways: bool) {
        let first = self.choices.len();
        let (states, passed) = (self.states.len(), self.reached.take());
        self.stable += u64::from(passed.is_none());
        self.frames.push(Frame { first, next: first, states, passed, ways });
    }

    /// Takes the next choice: of the last state if it has one left, else of the state before it, and so on.
    #[inline]
    pub fn advance(&mut self) -> Option<Advance<K, N>> {
        while self.is_spent() {
            self.leave();
        }
        let frame = self.frames.last_mut()?;
        let at = frame.next;
        frame.next += 1;
        let Choice { target, faulty } = self.choices[at];
        let fault = if faulty { self.fault(at) } else { None };
        let destination = match target {
            Target::Nowhere => Destination::Nowhere,
            Target::Stable => {
                self.reached = None;
                Destination::Stable(self.targets[at])
            }
            Target::Transient => self.pass(Span(self.targets[at].words()[0])),
        };
        let depth = self.frames.len() as u64;
        Some(Advance { fault, broken: target == Target::Nowhere, destination, depth, note: self.notes[at] })
    }

    /// The transient state just reached.
    pub fn transient(&self) -> &State {
        self.reached.map_or(&[], |passed| passed.span.of(&self.states))
    }

    /// The note of the last choice.
    pub fn note(&self) -> Option<N> {
        let frame = self.frames.last()?;
        self.notes.get(frame.next.checked_sub(1)?).copied()
    }

    /// Whether the last state has no choices.
    pub fn is_stuck(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.first == self.choices.len())
    }

    /// Whether all choices of the last state were taken.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.next == self.choices.len())
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The number of stable states on the path.
    pub fn stable(&self) -> u64 {
        self.stable
    }

    /// The number of states on the path, the transient ones included.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// The number of steps from the first state to the last one.
    pub fn depth(&self) -> u64 {
        self.frames.len() as u64 - 1
    }

    /// The choice last taken in each state of the path.
    pub fn path_steps(&self) -> Vec<PathStep> {
        let step = |frame: &Frame| {
            let choice = (frame.next - frame.first).checked_sub(1)? as u32;
            Some(if frame.ways { PathStep::Successor(choice) } else { PathStep::Step(choice) })
        };
        self.frames.iter().map_while(step).collect()
    }

    /// The stable targets of these choices, from the one at index `from` on.
    pub fn stops(&self, from: usize) -> impl Iterator<Item = K> {
        self.frames.iter().skip(from).filter_map(|frame| {
            let choice = frame.next.checked_sub(1).filter(|&choice| choice >= frame.first)?;
            (self.choices[choice].target == Target::Stable).then_some(self.targets[choice])
        })
    }

    /// The bytes used now and after the next growth.
    pub fn bytes(&self) -> u64 {
        let sizes = [
            memory_estimate::bytes(&self.frames),
            memory_estimate::bytes(&self.choices),
            memory_estimate::bytes(&self.targets),
            memory_estimate::bytes(&self.notes),
            memory_estimate::bytes(&self.passing),
            memory_estimate::bytes(&self.faults),
            memory_estimate::bytes(&self.states),
            self.chain.bytes(),
        ];
        sizes.iter().sum::<usize>() as u64
    }

    /// Removes the last state.
    pub fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.stable -= u64::from(frame.passed.is_none());
        self.choices.truncate(frame.first);
        self.targets.truncate(frame.first);
        self.notes.truncate(frame.first);
        self.states.truncate(frame.states);
        while self.faults.pop_if(|(choice, _)| *choice >= frame.first).is_some() {}
        if let Some(passed) = frame.passed {
            self.chain.pop(passed.hash, self.frames.len());
        }
    }

    #[cold]
    fn fault(&self, choice: usize) -> Option<Fault> {
        let at = self.faults.binary_search_by_key(&choice, |(choice, _)| *choice).ok()?;
        Some(self.faults[at].1)
    }

    fn pass(&mut self, span: Span) -> Destination<K> {
        let state = span.of(&self.states);
        let hash = (rapidhash_v3(state) >> 32) as u32;
        let is_it = |frame: usize| {
            let passed = self.frames[frame].passed;
            passed.is_some_and(|passed| passed.span.of(&self.states) == state)
                && self.frames[frame..].iter().rev().all(|frame| frame.passed.is_some())
        };
        if self.chain.contains(hash, is_it) {
            return Destination::Nowhere;
        }
        self.reached = Some(Passed { hash, span });
        Destination::Transient
    }
}

/// A span of the buffer of states: its start, above 24 bits for its length.
#[derive(Clone, Copy)]
struct Span(u64);

impl Span {
    const LENGTH_BITS: u32 = 24;

    fn new(start: usize, end: usize) -> Span {
        debug_assert!(end - start < 1 << Self::LENGTH_BITS);
        Span((start as u64) << Self::LENGTH_BITS | (end - start) as u64)
    }

    fn is_in(self, states: &[u8]) -> bool {
        let end = (self.0 >> Self::LENGTH_BITS) + (self.0 & ((1 << Self::LENGTH_BITS) - 1));
        end <= states.len() as u64
    }

    fn of(self, states: &[u8]) -> &State {
        let start = (self.0 >> Self::LENGTH_BITS) as usize;
        &states[start..start + (self.0 & ((1 << Self::LENGTH_BITS) - 1)) as usize]
    }
}
