//! A model and an automaton that watches it.
//!
//! The automaton reads the stable states of a run, one after the other, beginning with the initial one: an edge is taken
//! together with a step out of the state that it reads. What happens inside an indivisible sequence it does not see. Where
//! nothing can happen any more, it reads the last state again and again.
//!
//! ```text
//! state of the product:   the state of the model │ the automaton's (one word)
//! ```

use entail_model::{Accepting, Fired, Marks, Model, Propositional, Sets, State, StateBuf, Successors};

use crate::automaton::{self, Automaton, Edge};

/// The runs of a model that an automaton accepts.
pub struct Product<'a, M> {
    model: &'a M,
    automaton: &'a Automaton,
    /// The number of the first edge that leaves each state.
    first_edges: Vec<u32>,
}

/// A step of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move<S> {
    /// The number of the automaton's edge; nothing inside an indivisible sequence.
    pub edge: Option<u32>,
    /// What the model does; nothing where it has come to its end.
    pub step: Option<S>,
}

pub struct Scratch<M: Model> {
    successors: Successors<M::Step>,
    model: M::Scratch,
}

impl<M: Model> Default for Scratch<M> {
    fn default() -> Self {
        Scratch { successors: Successors::default(), model: M::Scratch::default() }
    }
}

const WORD: usize = 8;

impl<'a, M: Propositional> Product<'a, M> {
    pub fn new(model: &'a M, automaton: &'a Automaton) -> Self {
        let first_edges = automaton.edges.iter().scan(0, |next, edges| {
            let first = *next;
            *next += edges.len() as u32;
            Some(first)
        });
        Product { model, automaton, first_edges: first_edges.collect() }
    }

    /// The state of the model, and that of the automaton.
    pub fn parts(state: &State) -> (&State, automaton::State) {
        let (model, automaton) = state.split_last_chunk::<WORD>().unwrap_or((state, &[0; WORD]));
        (model, automaton::State(u64::from_le_bytes(*automaton) as u32))
    }

    /// The edge with this number.
    pub fn edge(&self, number: u32) -> &Edge {
        let state = self.first_edges.partition_point(|&first| first <= number) - 1;
        &self.automaton.edges[state][(number - self.first_edges[state]) as usize]
    }

    /// The edges that can be taken where these propositions hold, each with its number.
    fn possible(&self, state: automaton::State, letter: u64) -> impl Iterator<Item = (u32, &Edge)> {
        let edges = (self.first_edges[state.index()]..).zip(self.automaton.leaving(state));
        edges.filter(move |(_, edge)| edge.label.holds(letter))
    }
}

fn join(model: &State, automaton: automaton::State, state: &mut StateBuf) {
    state.extend_from_slice(model);
    state.extend_from_slice(&u64::from(automaton.0).to_le_bytes());
}

impl<M: Propositional> Model for Product<'_, M> {
    type Step = Move<M::Step>;
    type Scratch = Scratch<M>;

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        self.model.initial_states(&mut |state| {
            let mut joined = StateBuf::new();
            join(state, automaton::State::INITIAL, &mut joined);
            each(&joined);
        });
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Move<M::Step>>) {
        let mut successors = Successors::default();
        self.expand(state, &mut successors, &mut Scratch::default());
        successors.each_step(|step| steps.push(step));
    }

    fn fire(&self, step: Move<M::Step>, state: &mut StateBuf) -> Fired {
        let (model, automaton) = Self::parts(state);
        let automaton = step.edge.map_or(automaton, |edge| self.edge(edge).target);
        let mut model = model.to_vec();
        let fired = step.step.map_or(Fired::Done, |step| self.model.fire(step, &mut model));
        if !fired.is_broken() {
            state.clear();
            join(&model, automaton, state);
        }
        fired
    }

    fn is_transient(&self, state: &State) -> bool {
        self.model.is_transient(Self::parts(state).0)
    }

    fn marks(&self, state: &State) -> Marks {
        self.model.marks(Self::parts(state).0)
    }

    fn should_begin_again(&self, steps: u64) -> bool {
        self.model.should_begin_again(steps)
    }

    fn expand(&self, state: &State, moves: &mut Successors<Move<M::Step>>, scratch: &mut Scratch<M>) {
        let (model, automaton) = Self::parts(state);
        let Scratch { successors, model: inner } = scratch;
        successors.clear();
        self.model.expand(model, successors, inner);
        let mut push = |edge: Option<u32>, target: automaton::State| {
            for successor in successors.iter() {
                let fired = match successor.fault {
                    None => Fired::Done,
                    Some(fault) if successor.led == entail_model::Led::Nowhere => Fired::Broken(fault),
                    Some(fault) => Fired::Failed(fault),
                };
                let step = Move { edge, step: Some(successor.step) };
                let transient = successor.led == entail_model::Led::Transient;
                moves.push(step, fired, transient, |state| join(successor.state, target, state));
            }
        };
        if self.model.is_transient(model) {
            return push(None, automaton);
        }
        let letter = self.model.valuation(model);
        for (number, edge) in self.possible(automaton, letter) {
            push(Some(number), edge.target);
        }
        if successors.is_empty() {
            for (number, edge) in self.possible(automaton, letter) {
                let stays = Move { edge: Some(number), step: None };
                moves.push(stays, Fired::Done, false, |state| join(model, edge.target, state));
            }
        }
    }
}

impl<M: Propositional> Accepting for Product<'_, M> {
    fn sets(&self) -> Sets {
        Sets::first(self.automaton.sets)
    }

    fn sets_of(&self, step: Move<M::Step>) -> Sets {
        step.edge.map_or(Sets::default(), |edge| Sets(u128::from(self.edge(edge).marks.0)))
    }
}
