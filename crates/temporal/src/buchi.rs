//! Büchi automata with accepting states, as never claims require.
//!
//! A run counts the acceptance sets it has passed, in order; when it has passed all of them it is in an accepting state
//! and starts again. The order of the sets, and the count with which a component is entered, are free choices; the
//! translation tries several. After Babiak, Badie, Duret-Lutz, Křetínský, Strejček (SPIN 2013).

use crate::automaton::{Automaton, Edge, Marks, State};
use crate::limits::{Budget, Limit, Limits};
use crate::scc::{Kind, Sccs};
use crate::simulation::{self, size};
use crate::{degeneralise, labels, prune};
use entail_model::Deadline;
use std::collections::HashMap;

/// A run is accepted if it visits accepting states infinitely often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buchi {
    /// An automaton with one set. Either all edges that leave a state are in it, or none.
    automaton: Automaton,
}

impl Buchi {
    /// An automaton with the same language.
    pub fn new(generalised: &Automaton, limits: Limits) -> Result<Buchi, Limit> {
        let sets = generalised.sets;
        let mut budget = Budget::of(limits);
        let mut best: Option<Buchi> = None;
        for first in 0..sets.clamp(1, ORDERS) {
            for (entry, again) in STRATEGIES {
                if best.is_some() && budget.is_spent() {
                    break;
                }
                let order = (0..sets).map(|at| (first + at) % sets).collect();
                let mut buchi = Degeneralisation { automaton: generalised, order, entry, again }.build(limits)?;
                buchi.reduce(&mut budget);
                if best.as_ref().is_none_or(|best| size(&buchi.automaton) < size(&best.automaton)) {
                    best = Some(buchi);
                }
            }
        }
        best.ok_or(Limit::States(limits.states))
    }

    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    pub fn is_accepting(&self, state: State) -> bool {
        self.automaton.leaving(state).iter().any(|edge| edge.marks != Marks::NONE)
    }

    /// Whether the state is accepting and is never left.
    pub fn accepts_all(&self, state: State) -> bool {
        let stays = |edge: &Edge| edge.target == state && edge.label == crate::cube::Cube::TRUE;
        self.is_accepting(state) && matches!(self.automaton.leaving(state), [edge] if stays(edge))
    }

    fn reduce(&mut self, budget: &mut Budget) {
        let mut rounds = 0;
        while rounds < 2 {
            // A transient state may be accepting or not; either choice may give the smaller automaton.
            let before = size(&self.automaton);
            let transient = if rounds == 0 { Marks::all(1) } else { Marks::NONE };
            self.restate(transient, budget.deadline());
            if self.reduce_once(budget).is_err() {
                break;
            }
            rounds = if size(&self.automaton) < before { 0 } else { rounds + 1 };
        }
        self.restate(Marks::NONE, budget.deadline());
        // An automaton with superfluous choices is also correct.
        let _ = simulation::trim(&mut self.automaton, budget);
    }

    fn reduce_once(&mut self, budget: &mut Budget) -> Result<(), Limit> {
        simulation::forward(&mut self.automaton, budget)?;
        let accepting: Vec<bool> = self.automaton.states().map(|state| self.is_accepting(state)).collect();
        let alike = |one: State, other: State| !accepting[one.index()] || accepting[other.index()];
        simulation::backward(&mut self.automaton, &alike, budget)
    }

    /// Removes useless states and chooses the accepting states again.
    fn restate(&mut self, transient: Marks, deadline: Deadline) {
        prune::keep_useful_states(&mut self.automaton);
        let components = Sccs::of(&self.automaton);
        for state in self.automaton.states() {
            let marks = match components.kind(state) {
                Kind::Transient => transient,
                Kind::Rejecting => Marks::NONE,
                Kind::Accepting => Marks::all(1),
                Kind::Mixed => {
                    let staying = self.automaton.leaving(state).iter().filter(|edge| components.stays(state, edge));
                    staying.fold(Marks::NONE, |all, edge| all.with(edge.marks))
                }
            };
            self.automaton.edges[state.index()].iter_mut().for_each(|edge| edge.marks = marks);
        }
        labels::merge(&mut self.automaton, deadline);
    }
}

/// The number of orders of the acceptance sets to try.
const ORDERS: u32 = 6;

/// The level at which a component is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Nothing,
    /// With all sets passed.
    Passed,
}

/// Whether marks that all edges of a state have, and that were counted when the state was entered, count again when it
/// is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Counted,
    Ignored,
}

const STRATEGIES: [(Entry, Again); 4] = [
    (Entry::Passed, Again::Counted),
    (Entry::Nothing, Again::Counted),
    (Entry::Passed, Again::Ignored),
    (Entry::Nothing, Again::Ignored),
];

struct Degeneralisation<'a> {
    automaton: &'a Automaton,
    order: Vec<u32>,
    entry: Entry,
    again: Again,
}

impl Degeneralisation<'_> {
    fn build(&self, limits: Limits) -> Result<Buchi, Limit> {
        let components = Sccs::of(self.automaton);
        let ahead: Vec<Marks> =
            self.automaton.states().map(|state| self.leaving_marks(state, &components)).collect();
        let all = self.order.len();
        let mut entries: HashMap<State, usize> = HashMap::new();
        let mut enter = |state: State, kind: Kind| match kind {
            Kind::Transient | Kind::Rejecting => 0,
            Kind::Accepting => all,
            // An existing level costs no new state.
            Kind::Mixed => *entries.entry(state).or_insert_with(|| match self.entry {
                Entry::Nothing => self.advance(0, ahead[state.index()]),
                Entry::Passed => all,
            }),
        };
        let initial = enter(State::INITIAL, components.kind(State::INITIAL));
        let unfolded = degeneralise::unfold(self.automaton, initial, limits, |state, level, edge| {
            let kind = components.kind(state);
            let is_accepting = kind.can_accept() && level == all;
            let next = if components.stays(state, edge) && kind == Kind::Mixed {
                let passed = if level == all {
                    self.advance(0, self.anew(edge.marks, ahead[state.index()]))
                } else {
                    self.advance(level, edge.marks)
                };
                self.advance(passed, ahead[edge.target.index()])
            } else {
                enter(edge.target, components.kind(edge.target))
            };
            (next, if is_accepting { Marks::all(1) } else { Marks::NONE })
        });
        Ok(Buchi { automaton: Automaton { edges: unfolded?.edges, sets: 1 } })
    }

    /// The marks that all edges of this state within its component have.
    fn leaving_marks(&self, state: State, components: &Sccs) -> Marks {
        let staying = self.automaton.leaving(state).iter().filter(|edge| components.stays(state, edge));
        staying.map(|edge| edge.marks).reduce(|one, other| Marks(one.0 & other.0)).unwrap_or(Marks::NONE)
    }

    /// The marks of an edge that count at the beginning of a new round.
    fn anew(&self, marks: Marks, ahead: Marks) -> Marks {
        match self.again {
            Again::Counted => marks,
            Again::Ignored => Marks(marks.0 & !ahead.0),
        }
    }

    fn advance(&self, level: usize, marks: Marks) -> usize {
        let passed = self.order[level..].iter().take_while(|&set| marks.0 >> set & 1 == 1);
        level + passed.count()
    }
}
