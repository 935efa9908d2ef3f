//! Which infinite runs count: those in which nobody is neglected.

/// What a process may expect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Nothing.
    #[default]
    None,
    /// To move, sooner or later, if from some time on it can always move.
    Weak,
    /// To move again and again, if again and again it can.
    Strong,
    /// To move again and again, as long as it is there.
    Impartial,
}

impl Fairness {
    /// Whether every beginning of a run can be continued so that the run is fair.
    pub fn lets_all_go_on(self) -> bool {
        match self {
            Fairness::None | Fairness::Weak | Fairness::Strong => true,
            Fairness::Impartial => false,
        }
    }
}
