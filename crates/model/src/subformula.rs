//! What can be asked of a state about the runs that begin there.

/// A question, in terms of others, which come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subformula {
    Const(bool),
    /// By its bit in a [`Valuation`](crate::Valuation).
    Proposition(u32),
    Not(SubformulaId),
    And(SubformulaId, SubformulaId),
    Or(SubformulaId, SubformulaId),
    /// Whether it is so after some step.
    Next {
        then: SubformulaId,
        beyond: Beyond,
    },
    /// Whether there is a run on which `then` is so at some time, and `first` until then.
    Until {
        first: SubformulaId,
        then: SubformulaId,
        beyond: Beyond,
    },
    /// The same, or a run that is accepted on which `first` is always so.
    WeakUntil {
        first: SubformulaId,
        then: SubformulaId,
        beyond: Beyond,
    },
    /// Whether the state lies in a component where this is always so, and a run that takes all of its steps again and
    /// again is accepted.
    Round(SubformulaId),
    /// Whether there is a run on which `then` is so at some time, or `round` is, and `first` until then. `round` is that
    /// `first` is so all around.
    Settle {
        first: SubformulaId,
        then: SubformulaId,
        round: SubformulaId,
        beyond: Beyond,
    },
}

/// What to assume beyond a fault. A run that ends in one says nothing about what would have come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beyond {
    /// Such a run is not one that was asked for.
    No,
    /// It is one.
    Yes,
}

impl std::ops::Not for Beyond {
    type Output = Beyond;

    fn not(self) -> Beyond {
        match self {
            Beyond::No => Beyond::Yes,
            Beyond::Yes => Beyond::No,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubformulaId(pub u32);

/// Questions, each of them once.
#[derive(Clone, Debug, Default)]
pub struct Subformulas {
    list: Vec<(Subformula, Option<u32>)>,
    temporal: u32,
}

impl Subformulas {
    /// How many questions about runs there can be.
    pub const MOST_TEMPORAL: u32 = 14;

    /// Adds a question, unless it is there already.
    pub fn add(&mut self, question: Subformula) -> SubformulaId {
        let known = self.list.iter().position(|(known, _)| *known == question);
        let index = known.unwrap_or_else(|| {
            let number = question.is_temporal().then_some(self.temporal);
            self.temporal += u32::from(number.is_some());
            self.list.push((question, number));
            self.list.len() - 1
        });
        SubformulaId(index as u32)
    }

    pub fn get(&self, id: SubformulaId) -> Subformula {
        self.list[id.0 as usize].0
    }

    /// The number of a question about runs, among those.
    pub fn number(&self, id: SubformulaId) -> Option<u32> {
        self.list[id.0 as usize].1
    }

    /// How many are about runs.
    pub fn temporal(&self) -> u32 {
        self.temporal
    }
}

impl Subformula {
    /// Whether it is about runs, and not about the state alone.
    pub fn is_temporal(self) -> bool {
        match self {
            Subformula::Const(_)
            | Subformula::Proposition(_)
            | Subformula::Not(_)
            | Subformula::And(..)
            | Subformula::Or(..) => false,
            Subformula::Next { .. }
            | Subformula::Until { .. }
            | Subformula::WeakUntil { .. }
            | Subformula::Round(_)
            | Subformula::Settle { .. } => true,
        }
    }
}
