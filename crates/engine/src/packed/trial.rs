//! Decides whether partial-order reduction pays off, by a trial on the first states.
//!
//! Computing stubborn sets takes several times as long as taking all steps. So reduction pays off only if it reduces
//! the number of states considerably. The trial estimates this from the states that are reachable in a few steps.

use entail_ir::interpret::{Engine, Step};
use entail_ir::stubborn::{Proviso, Rule};
use entail_model::{Model, Reduction, State, StateBuf, Successors, Target};
use rapidhash::RapidHashSet;
use std::collections::VecDeque;

use crate::packed::reduction::{Stubborn, Table};
use crate::packed::{Packed, Scratch};

/// The numbers of states of successive trials, and the percentage of states that the reduction may leave at most. The
/// closer the result, the more states are tried.
const TRIALS: [(usize, usize); 3] = [(1_000, 95), (4_000, 80), (16_000, 66)];
/// The number of states for comparing several reductions.
const COMPARED: usize = 8_000;
/// The limit of the total size of the states, in bytes.
const MOST_BYTES: usize = 2 << 20;
/// The limit of the number of states including those inside atomic sequences, as a multiple.
const MOST_PASSED: usize = 8;

/// When to apply partial-order reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionMode {
    /// Only if it pays off.
    Auto,
    Always,
}

/// The best reduction by this rule, for a search that supports one of these provisos.
pub fn best_reduction<'s, E: Engine>(
    model: &Packed<'s, E>,
    rule: Rule,
    provisos: &[Proviso],
    mode: ReductionMode,
) -> Option<Stubborn<'s>> {
    let new = |proviso: &Proviso| Stubborn::new(model, rule, *proviso).map(|sets| (sets, Trial::new(model)));
    let mut tried: Vec<(Stubborn, Trial<E>)> = provisos.iter().filter_map(new).collect();
    if mode == ReductionMode::Auto && !is_worth_it(model, &mut tried) {
        return None;
    }
    let most = MOST_PASSED * COMPARED;
    let is_open = |tried: &[(Stubborn, Trial<E>)]| {
        let are_few = tried.iter().any(|(_, some)| some.known.len() < COMPARED);
        tried.len() > 1 && are_few && tried.iter().any(|(_, some)| some.is_open(most))
    };
    while is_open(&tried) {
        tried.iter_mut().for_each(|(sets, some)| some.next_level_with(model, sets, most));
    }
    // A proviso that the search applies costs more states later, when cycles are closed.
    let weight = |sets: &Stubborn| if Reduction::<Packed<E>>::needs_proviso(sets) { 3 } else { 2 };
    let best = tried.into_iter().min_by_key(|(sets, some)| weight(sets) * some.known.len());
    best.map(|(sets, _)| sets)
}

/// Whether one of these reductions reduces the number of states considerably.
fn is_worth_it<E: Engine>(model: &Packed<E>, tried: &mut [(Stubborn, Trial<E>)]) -> bool {
    let mut all = Trial::new(model);
    TRIALS.iter().all(|(many, hundredths)| {
        let most = MOST_PASSED * many;
        while all.known.len() < *many
            && !all.is_cut(most)
            && (all.is_open(most) || tried.iter().any(|(_, some)| some.is_open(most)))
        {
            all.next_level(model, most, |_, _, _| None);
            tried.iter_mut().for_each(|(sets, some)| some.next_level_with(model, sets, most));
        }
        let left = tried.iter().map(|(_, some)| some.known.len()).min();
        left.is_some_and(|left| 100 * left <= hundredths * all.known.len())
    })
}

/// Some of the steps out of a state.
struct Choice {
    keeps: Vec<bool>,
    /// Whether no other steps are ever needed.
    is_final: bool,
}

/// The first states of a reduced search.
struct Trial<E: Engine> {
    known: RapidHashSet<StateBuf>,
    expanded: RapidHashSet<StateBuf>,
    /// The states of the current level.
    level: Vec<StateBuf>,
    /// Includes the states inside atomic sequences.
    seen: usize,
    /// Of the known states.
    bytes: usize,
    /// Of the states inside atomic sequences passed since the previous level.
    passed_bytes: usize,
    /// The trial is out of time.
    is_late: bool,
    successors: Successors<Step>,
    scratch: Scratch<E::Scratch>,
    table: Table,
}

impl<E: Engine> Trial<E> {
    fn new(model: &Packed<E>) -> Self {
        let mut level = Vec::new();
        model.initial_states(&mut |state| level.push(state.to_vec()));
        Trial {
            known: level.iter().cloned().collect(),
            expanded: RapidHashSet::default(),
            level,
            seen: 0,
            bytes: 0,
            passed_bytes: 0,
            is_late: false,
            successors: Successors::default(),
            scratch: Scratch::default(),
            table: Table::default(),
        }
    }

    fn is_open(&self, most: usize) -> bool {
        !self.level.is_empty() && !self.is_cut(most)
    }

    fn is_cut(&self, most: usize) -> bool {
        self.is_late || self.seen >= most || self.bytes + self.passed_bytes >= MOST_BYTES
    }

    /// Advances by one step, or one sequence of steps, with reduction.
    fn next_level_with(&mut self, model: &Packed<E>, sets: &Stubborn, most: usize) {
        let is_final = !Reduction::<Packed<E>>::needs_proviso(sets);
        let mut table = std::mem::take(&mut self.table);
        self.next_level(model, most, |state, steps, answer| {
            let keeps = sets.select(model, state, steps, answer, &mut table)?;
            Some(Choice { keeps: keeps.to_vec(), is_final })
        });
        self.table = table;
    }

    /// Advances by one step, or one sequence of steps. Takes only the steps that `select` returns, as long as they lead
    /// to states that are not expanded yet.
    fn next_level(
        &mut self,
        model: &Packed<E>,
        most: usize,
        mut select: impl FnMut(&State, &[Step], u32) -> Option<Choice>,
    ) {
        self.passed_bytes = 0;
        let (mut waiting, mut inside) = (VecDeque::from(std::mem::take(&mut self.level)), RapidHashSet::default());
        while let Some(state) = waiting.pop_front().filter(|_| !self.is_cut(most)) {
            self.is_late = model.interpreter.deadline().is_over();
            self.seen += 1;
            let is_stable = !model.is_transient(&state);
            for answer in 0.. {
                self.successors.clear();
                model.expand(&state, &mut self.successors, &mut self.scratch);
                let choice = if is_stable { select(&state, &self.successors.steps(), answer) } else { None };
                let mut goes_on = choice.as_ref().is_none_or(|choice| choice.is_final);
                choice.iter().for_each(|choice| self.successors.retain(&choice.keeps));
                for successor in self.successors.iter() {
                    let next = successor.state.to_vec();
                    // The states behind an atomic sequence are assumed to be new.
                    goes_on |= match successor.target {
                        Target::Nowhere => false,
                        Target::Transient => true,
                        Target::Stable => next != state && !self.expanded.contains(&next),
                    };
                    match successor.target {
                        Target::Nowhere => {}
                        Target::Transient if inside.insert(next.clone()) => {
                            self.passed_bytes += next.len();
                            waiting.push_back(next);
                        }
                        Target::Stable if self.known.insert(next.clone()) => {
                            self.bytes += next.len();
                            self.level.push(next);
                        }
                        Target::Transient | Target::Stable => {}
                    }
                }
                if goes_on {
                    break;
                }
            }
            if is_stable {
                self.expanded.insert(state);
            }
        }
    }
}
