//! Subformulas of CTL, with fairness.

/// A subformula, whose operands are earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant documents its fields")]
pub enum Subformula {
    /// A constant.
    Const(bool),
    /// A bit of a [`Valuation`](crate::Valuation).
    Proposition(u32),
    /// Negation.
    Not(SubformulaId),
    /// Conjunction.
    And(SubformulaId, SubformulaId),
    /// Disjunction.
    Or(SubformulaId, SubformulaId),
    /// `EX then`.
    Next { then: SubformulaId, after_fault: AfterFault },
    /// `E (first U then)`.
    Until { first: SubformulaId, then: SubformulaId, after_fault: AfterFault },
    /// `E (first W then)`: the same, or `first` always holds on an accepted run.
    WeakUntil { first: SubformulaId, then: SubformulaId, after_fault: AfterFault },
    /// The state is in a strongly connected component in which the operand always holds, and a run that takes all
    /// transitions of the component infinitely often is accepted.
    FairComponent(SubformulaId),
    /// `E (first U (then or component))`, where `component` is the [fair component](Subformula::FairComponent) of `first`.
    UntilComponent { first: SubformulaId, then: SubformulaId, component: SubformulaId, after_fault: AfterFault },
}

/// The assumption about runs that end in a fault, which are inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterFault {
    /// The formula does not hold on such a run.
    No,
    /// The formula holds on such a run.
    Yes,
}

impl std::ops::Not for AfterFault {
    type Output = AfterFault;

    fn not(self) -> AfterFault {
        match self {
            AfterFault::No => AfterFault::Yes,
            AfterFault::Yes => AfterFault::No,
        }
    }
}

/// Identifies a subformula of a [`Subformulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubformulaId(pub u32);

/// All subformulas of a formula, without duplicates.
#[derive(Clone, Debug, Default)]
pub struct Subformulas {
    list: Vec<(Subformula, Option<u32>)>,
    temporal: u32,
}

impl Subformulas {
    /// The maximal number of temporal subformulas.
    pub const MOST_TEMPORAL: u32 = 14;

    /// Adds a subformula, unless it is present.
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

    /// A subformula by its id.
    pub fn get(&self, id: SubformulaId) -> Subformula {
        self.list[id.0 as usize].0
    }

    /// The index of a temporal subformula among the temporal ones.
    pub fn number(&self, id: SubformulaId) -> Option<u32> {
        self.list[id.0 as usize].1
    }

    /// The number of temporal subformulas.
    pub fn temporal(&self) -> u32 {
        self.temporal
    }
}

impl Subformula {
    /// Whether the value depends on runs, not only on the state.
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
            | Subformula::FairComponent(_)
            | Subformula::UntilComponent { .. } => true,
        }
    }
}
