//! Which infinite runs count: those that neglect no process.

/// What a process may expect of a run that counts.
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
    /// The same as [`Fairness::Strong`]; and a run that stays in a strongly connected component of the state graph takes
    /// every step of it again and again.
    Component,
}

impl Fairness {
    pub const ALL: [Fairness; 5] =
        [Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial, Fairness::Component];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
            Fairness::Strong => "strong",
            Fairness::Impartial => "impartial",
            Fairness::Component => "component",
        }
    }

    /// Whether every beginning of a run can be continued so that the run is fair.
    pub fn lets_all_go_on(self) -> bool {
        match self {
            Fairness::None | Fairness::Weak | Fairness::Strong | Fairness::Component => true,
            Fairness::Impartial => false,
        }
    }

    /// Whether linear time can tell the runs that count from others.
    pub fn is_for_linear_time(self) -> bool {
        match self {
            Fairness::None | Fairness::Weak | Fairness::Strong | Fairness::Impartial => true,
            Fairness::Component => false,
        }
    }
}
