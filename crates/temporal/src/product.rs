//! The synchronous product of a model and a claim's automaton.
//!
//! The automaton reads the stable states of a run, beginning with the initial one: it takes an edge together with a
//! step out of the state that it reads. It does not read the states inside atomic sequences. At the end of a finite run
//! it reads the last state repeatedly (stutter extension); the valuation there may change after the first time
//! ([`Propositional::valuation_after_end`]).
//!
//! The automaton's state is above the model's in the last word if there are unused bits; otherwise, in an additional
//! word.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use entail_disk::{Reader, Restore, Snapshot, Writer};
use entail_model::{
    AcceptanceMarks, Accepting, Concurrent, Fired, Key, Marks, Model, Part, Propositional, State, StateBuf,
    StateKey, Successors, Target, Transition, TransitionBuffers, UnusedBits, Valuation,
};

use crate::automaton::{self, Edge};
use crate::claim::Claim;
use crate::cube::Cube;
use crate::fairness::Fairness;

/// The fair runs of a model that an automaton accepts.
pub struct Product<'a, M> {
    model: &'a M,
    claim: &'a Claim,
    fairness: Fairness,
    /// The edges of all states, and for each state the number of its first edge.
    edges: Vec<Edge>,
    first_edges: Vec<u32>,
    /// Whether the automaton depends on propositions.
    asks: bool,
    /// The bits of a model state that hold the automaton's state.
    room: Option<UnusedBits>,
    /// If valuations change at the end of a run: the offset of the automaton states entered after the end. Otherwise
    /// greater than all automaton states.
    ended: u32,
    /// The propositions that held in some state.
    ever: AtomicU64,
    /// Some state had more processes than there are acceptance sets for them.
    crowded: AtomicBool,
}

/// A step of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductStep<S> {
    /// The number of the automaton's edge; none inside an atomic sequence.
    pub edge: Option<u32>,
    /// The step of the model; none after the end of a finite run.
    pub step: Option<S>,
}

pub struct Scratch<M: Model> {
    /// The state of the model.
    state: StateBuf,
    successors: Successors<M::Step>,
    /// The enabled edges.
    edges: Vec<u32>,
    /// The transitions of the model.
    transitions: TransitionBuffers<M::Step>,
    model: M::Scratch,
}

impl<M: Model> Default for Scratch<M> {
    fn default() -> Self {
        Scratch {
            state: StateBuf::new(),
            successors: Successors::default(),
            edges: Vec::new(),
            transitions: TransitionBuffers::default(),
            model: M::Scratch::default(),
        }
    }
}

const WORD: usize = 8;

/// Facts collected during the search.
impl<M> Restore for Product<'_, M> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.ever.load(Ordering::Relaxed).save(to)?;
        self.crowded.load(Ordering::Relaxed).save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.ever = AtomicU64::new(u64::load(from)?);
        self.crowded = AtomicBool::new(bool::load(from)?);
        Ok(())
    }
}

impl<'a, M: Propositional + Concurrent> Product<'a, M> {
    pub fn new(model: &'a M, claim: &'a Claim, fairness: Fairness) -> Self {
        let first_edges = claim.automaton.edges.iter().scan(0, |next, edges| {
            let first = *next;
            *next += edges.len() as u32;
            Some(first)
        });
        let first_edges = first_edges.collect();
        let edges = claim.automaton.edges.iter().flatten().copied().collect();
        let ended = if model.sees_end() { claim.automaton.len() as u32 } else { u32::MAX };
        let bits = Self::bits_of_automaton(model, claim);
        let asks = claim.automaton.edges.iter().flatten().any(|edge| edge.label != Cube::TRUE);
        // One bit is reserved for the store; and a longer state may be as long as another one with an additional word.
        let room = model.unused_bits().filter(|room| room.len <= 2 * WORD && room.from + bits < u64::BITS);
        let (ever, crowded) = (AtomicU64::new(0), AtomicBool::new(false));
        Product { model, claim, fairness, edges, first_edges, asks, room, ended, ever, crowded }
    }

    /// The number of bits of an automaton state in a product with this model.
    pub fn bits_of_automaton(model: &impl Propositional, claim: &Claim) -> u32 {
        claim.bits() + u32::from(model.sees_end())
    }

    /// The automaton state, and whether it was entered after the end of the run.
    fn automaton(&self, state: automaton::State) -> (automaton::State, bool) {
        match state.0.checked_sub(self.ended) {
            Some(number) => (automaton::State(number), true),
            None => (state, false),
        }
    }

    /// The representation of an automaton state that is entered after the end of the run.
    fn after_end(&self, state: automaton::State) -> automaton::State {
        if self.ended == u32::MAX { state } else { automaton::State(state.0 + self.ended) }
    }

    /// The propositions that held in some expanded state, one bit for each.
    pub fn ever(&self) -> u64 {
        self.ever.load(Ordering::Relaxed)
    }

    /// The maximal number of processes under a fairness assumption.
    pub fn most_processes(&self) -> usize {
        (AcceptanceMarks::MOST - self.claim.automaton.sets) as usize
    }

    /// Whether there were more: then fairness was not checked for all of them.
    pub fn is_crowded(&self) -> bool {
        self.crowded.load(Ordering::Relaxed)
    }

    /// The number of bits of the most common states.
    pub fn bits(&self) -> Option<u32> {
        let bits = Self::bits_of_automaton(self.model, self.claim);
        self.room.map(|UnusedBits { len, from }| 8 * (len - WORD) as u32 + from + bits)
    }

    /// Writes the state of the model, and returns that of the automaton.
    pub fn split(&self, state: &State, model: &mut StateBuf) -> automaton::State {
        model.clear();
        let Some((before, last)) = state.split_last_chunk::<WORD>() else { return automaton::State::INITIAL };
        let last = u64::from_le_bytes(*last);
        model.extend_from_slice(before);
        match self.room.filter(|room| room.len == state.len()) {
            Some(UnusedBits { from, .. }) => {
                model.extend_from_slice(&(last & ((1 << from) - 1)).to_le_bytes());
                automaton::State((last >> from) as u32)
            }
            None => automaton::State(last as u32),
        }
    }

    /// The state of the model.
    pub fn model_state(&self, state: &State) -> StateBuf {
        let mut model = StateBuf::new();
        self.split(state, &mut model);
        model
    }

    fn join(&self, model: &State, automaton: automaton::State, state: &mut StateBuf) {
        let automaton = u64::from(automaton.0);
        match (self.room.filter(|room| room.len == model.len()), model.split_last_chunk::<WORD>()) {
            (Some(UnusedBits { from, .. }), Some((before, last))) => {
                state.extend_from_slice(before);
                state.extend_from_slice(&(u64::from_le_bytes(*last) | automaton << from).to_le_bytes());
            }
            _ => {
                state.extend_from_slice(model);
                state.extend_from_slice(&automaton.to_le_bytes());
            }
        }
    }

    /// The edge with this number.
    pub fn edge(&self, number: u32) -> &Edge {
        &self.edges[number as usize]
    }

    /// The edges that are enabled under a valuation, with their numbers. Unknown propositions disable nothing.
    fn possible(&self, state: automaton::State, valuation: Valuation) -> impl Iterator<Item = (u32, &Edge)> {
        let edges = (self.first_edges[state.index()]..).zip(self.claim.automaton.leaving(state));
        edges.filter(move |(_, edge)| edge.label.known(!valuation.unknown).holds(valuation.holds))
    }

    /// The propositions that hold in a state of the model.
    fn valuation(&self, model: &State, ended: bool, scratch: &mut M::Scratch) -> Valuation {
        if !self.asks {
            return Valuation::default();
        }
        let valuation = if ended {
            self.model.valuation_after_end(model, scratch)
        } else {
            self.model.valuation(model, scratch)
        };
        // Loading is cheaper than an update, and updates soon become rare.
        if valuation.holds & !self.ever() != 0 {
            self.ever.fetch_or(valuation.holds, Ordering::Relaxed);
        }
        valuation
    }

    /// The fast path: expands states, given as words, up to the first one that it cannot expand. `I` is the key type of
    /// the model.
    fn expand_by_words<K: StateKey, I: StateKey>(
        &self,
        states: &[K],
        scratch: &mut Scratch<M>,
        split: impl Fn(K) -> (I, automaton::State),
        join: impl Fn(I, automaton::State) -> K,
        transitions: &mut Vec<Transition<ProductStep<M::Step>, K>>,
    ) -> usize {
        let Scratch { edges, transitions: of_model, model: inner, .. } = scratch;
        let of_model = I::buffer(of_model);
        for (from, &state) in (0..).zip(states) {
            let (model, automaton) = split(state);
            let (automaton, ended) = self.automaton(automaton);
            if ended {
                return from as usize;
            }
            let valuation = self.valuation(&bytes(model.words())[..I::WORDS * WORD], ended, inner);
            edges.clear();
            edges.extend(self.possible(automaton, valuation).map(|(number, _)| number));
            let ends = edges.iter().any(|&edge| self.claim.end(self.edge(edge).target).is_some());
            of_model.clear();
            let is_expanded = valuation.fault.is_none()
                && !ends
                && !edges.is_empty()
                && self.model.expand_words(&[model], inner, of_model) > 0;
            if !is_expanded {
                return from as usize;
            }
            for &edge in edges.iter() {
                let target = self.edge(edge).target;
                transitions.extend(of_model.iter().map(|&Transition { step, next, passed, reduced, .. }| {
                    let step = ProductStep { edge: (passed == 0).then_some(edge), step: Some(step) };
                    Transition { step, next: next.map(|next| join(next, target)), from, passed, reduced }
                }));
            }
        }
        states.len()
    }

    /// The acceptance sets of all processes. They follow those of the automaton; the set of a process contains the
    /// steps that are fair to it.
    fn of_processes(&self) -> AcceptanceMarks {
        AcceptanceMarks::first(AcceptanceMarks::MOST).without(AcceptanceMarks::first(self.claim.automaton.sets))
    }

    fn of_process(&self, process: usize) -> AcceptanceMarks {
        AcceptanceMarks::one(self.claim.automaton.sets as usize + process).unwrap_or_else(|| {
            self.crowded.store(true, Ordering::Relaxed);
            AcceptanceMarks::default()
        })
    }

    /// The acceptance sets of the enabled processes.
    fn of_enabled(&self, moves: &[ProductStep<M::Step>]) -> AcceptanceMarks {
        let owners = moves.iter().filter_map(|one| one.step).map(|step| self.model.owner(step));
        owners.fold(AcceptanceMarks::default(), |sets, owner| sets.and(self.of_process(owner)))
    }
}

/// A state of one or two words.
fn bytes([low, high]: [u64; 2]) -> [u8; 2 * WORD] {
    (u128::from(high) << u64::BITS | u128::from(low)).to_le_bytes()
}

impl<M: Propositional + Concurrent> Model for Product<'_, M> {
    type Step = ProductStep<M::Step>;
    type Scratch = Scratch<M>;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(&mut |state| {
            let mut joined = StateBuf::new();
            self.join(state, automaton::State::INITIAL, &mut joined);
            each(&joined);
        });
    }

    fn enabled(&self, state: &State, steps: &mut Vec<ProductStep<M::Step>>) {
        let mut successors = Successors::default();
        self.expand(state, &mut successors, &mut Scratch::default());
        successors.for_each_step(|step| steps.push(step));
    }

    fn fire(&self, step: ProductStep<M::Step>, state: &mut StateBuf) -> Fired {
        let mut model = StateBuf::new();
        let automaton = self.split(state, &mut model);
        let (automaton, fired) = match (step.edge.map(|edge| self.edge(edge).target), step.step) {
            (target, Some(step)) => (target.unwrap_or(automaton), self.model.fire(step, &mut model)),
            (target, None) => (target.map_or(automaton, |target| self.after_end(target)), Fired::Done),
        };
        if !fired.is_broken() {
            state.clear();
            self.join(&model, automaton, state);
        }
        fired
    }

    fn is_transient(&self, state: &State) -> bool {
        self.model.is_transient(&self.model_state(state))
    }

    fn marks(&self, state: &State) -> Marks {
        self.model.marks(&self.model_state(state))
    }

    /// The components of the model state, and the automaton state.
    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        let first = parts.len();
        self.model.parts(&self.model_state(state), parts);
        let end = 8 * state.len() as u32;
        let automaton = match self.room.filter(|room| room.len == state.len()) {
            Some(UnusedBits { from, .. }) => end - u64::BITS + from,
            None => end - u64::BITS,
        };
        parts[first..].iter_mut().for_each(|part| part.end = part.end.min(automaton));
        if parts[first..].last().is_none_or(|last| last.end < automaton) {
            parts.push(Part { end: automaton, kind: u32::MAX });
        }
        parts.push(Part { end, kind: u32::MAX - 1 });
    }

    /// The proviso refers to states of the product: on a cycle of these, the model also runs through a cycle.
    fn needs_proviso(&self) -> bool {
        self.model.needs_proviso()
    }

    fn should_restart(&self, steps: u64) -> bool {
        self.model.should_restart(steps)
    }

    fn expand(&self, state: &State, moves: &mut Successors<ProductStep<M::Step>>, scratch: &mut Scratch<M>) {
        self.expand_further(state, 0, moves, scratch);
    }

    fn expand_further(
        &self,
        state: &State,
        times: u32,
        moves: &mut Successors<ProductStep<M::Step>>,
        scratch: &mut Scratch<M>,
    ) {
        let Scratch { state: model, successors, model: inner, .. } = scratch;
        let automaton = self.split(state, model);
        successors.clear();
        match times {
            0 => self.model.expand(model, successors, inner),
            times => self.model.expand_further(model, times, successors, inner),
        }
        moves.set_reduced(successors.are_reduced());
        let push = |moves: &mut Successors<ProductStep<M::Step>>, edge: Option<u32>, target: automaton::State| {
            if let Some(UnusedBits { len: WORD, from }) = self.room
                && let Some(words) = successors.plain_words()
            {
                let above = u64::from(target.0) << from;
                let words = words.map(|(step, word)| (ProductStep { edge, step: Some(step) }, word | above));
                return moves.extend(words, 1 << 63);
            }
            for successor in successors.iter() {
                let fired = match successor.fault {
                    None => Fired::Done,
                    Some(fault) if successor.target == Target::Nowhere => Fired::Broken(fault),
                    Some(fault) => Fired::Failed(fault),
                };
                let step = ProductStep { edge, step: Some(successor.step) };
                let transient = successor.target == Target::Transient;
                moves.push(step, fired, transient, |state| self.join(successor.state, target, state));
            }
        };
        if self.model.is_transient(model) {
            return push(moves, None, automaton);
        }
        let (automaton, ended) = self.automaton(automaton);
        let valuation = self.valuation(model, ended, inner);
        for (number, edge) in self.possible(automaton, valuation) {
            if let Some(fault) = valuation.fault
                && edge.label.known(valuation.unknown) != Cube::TRUE
            {
                let asks = ProductStep { edge: Some(number), step: None };
                moves.push(asks, Fired::Broken(fault), false, |_| {});
            } else if let Some(fault) = self.claim.end(edge.target) {
                let ends = ProductStep { edge: Some(number), step: None };
                moves.push(ends, Fired::Broken(fault), false, |_| {});
            } else {
                push(moves, Some(number), edge.target);
            }
        }
        if successors.is_empty() {
            for (number, edge) in self.possible(automaton, valuation) {
                let stays = ProductStep { edge: Some(number), step: None };
                let target = self.after_end(edge.target);
                moves.push(stays, Fired::Done, false, |state| self.join(model, target, state));
            }
        }
    }

    fn expand_words<K: StateKey>(
        &self,
        states: &[K],
        scratch: &mut Scratch<M>,
        transitions: &mut Vec<Transition<ProductStep<M::Step>, K>>,
    ) -> usize {
        let last = K::WORDS - 1;
        match self.room {
            Some(UnusedBits { len, from }) if len == K::WORDS * WORD => {
                let split = |state: K| {
                    let mut words = state.words();
                    let automaton = automaton::State((words[last] >> from) as u32);
                    words[last] &= (1 << from) - 1;
                    (K::from_words(words), automaton)
                };
                let join = |state: K, automaton: automaton::State| {
                    let mut words = state.words();
                    words[last] |= u64::from(automaton.0) << from;
                    K::from_words(words)
                };
                self.expand_by_words(states, scratch, split, join, transitions)
            }
            None if K::WORDS == 2 => {
                let split = |state: K| {
                    let [model, automaton] = state.words();
                    (Key(model), automaton::State(automaton as u32))
                };
                let join =
                    |Key(model): Key, automaton: automaton::State| K::from_words([model, u64::from(automaton.0)]);
                self.expand_by_words(states, scratch, split, join, transitions)
            }
            Some(_) | None => 0,
        }
    }
}

impl<M: Propositional + Concurrent> Propositional for Product<'_, M> {
    fn valuation(&self, state: &State, scratch: &mut Scratch<M>) -> Valuation {
        let automaton = self.split(state, &mut scratch.state);
        match self.automaton(automaton) {
            (_, true) => self.model.valuation_after_end(&scratch.state, &mut scratch.model),
            (_, false) => self.model.valuation(&scratch.state, &mut scratch.model),
        }
    }
}

impl<M: Propositional + Concurrent> Accepting for Product<'_, M> {
    fn acceptance(&self) -> AcceptanceMarks {
        match self.fairness {
            Fairness::None | Fairness::Strong | Fairness::Component => {
                AcceptanceMarks::first(self.claim.automaton.sets)
            }
            Fairness::Weak | Fairness::Impartial => AcceptanceMarks::first(AcceptanceMarks::MOST),
        }
    }

    fn acceptance_at(&self, state: &State, moves: &[ProductStep<M::Step>]) -> AcceptanceMarks {
        match self.fairness {
            Fairness::None | Fairness::Strong | Fairness::Component => AcceptanceMarks::default(),
            Fairness::Weak => self.of_processes().without(self.of_enabled(moves)),
            // A process that does not exist need not move.
            Fairness::Impartial => {
                let processes = self.model.processes(&self.model_state(state));
                if processes > self.most_processes() {
                    self.crowded.store(true, Ordering::Relaxed);
                }
                self.of_processes().without(AcceptanceMarks::first(self.claim.automaton.sets + processes as u32))
            }
        }
    }

    fn acceptance_of(&self, step: ProductStep<M::Step>) -> AcceptanceMarks {
        let of_edge = step.edge.map_or(AcceptanceMarks::default(), |edge| AcceptanceMarks(self.edge(edge).marks.0));
        match (self.fairness, step.step) {
            (Fairness::Weak | Fairness::Strong | Fairness::Impartial | Fairness::Component, Some(step)) => {
                of_edge.and(self.of_process(self.model.owner(step)))
            }
            (Fairness::None, _) | (_, None) => of_edge,
        }
    }

    fn streett_requests(&self, _: &State, moves: &[ProductStep<M::Step>]) -> AcceptanceMarks {
        match self.fairness {
            Fairness::Strong | Fairness::Component => self.of_enabled(moves),
            Fairness::None | Fairness::Weak | Fairness::Impartial => AcceptanceMarks::default(),
        }
    }
}
