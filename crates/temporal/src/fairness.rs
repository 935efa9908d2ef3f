//! Fairness assumptions.

use entail_model::named;

/// A fairness assumption about processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// All runs are fair.
    #[default]
    None,
    /// A process that is continuously enabled from some point on moves infinitely often (justice).
    Weak,
    /// A process that is enabled infinitely often moves infinitely often (compassion).
    Strong,
    /// Every process moves infinitely often, as long as it exists (impartiality).
    Impartial,
    /// As [`Fairness::Strong`]; and a run that stays in a strongly connected component of the state graph takes every
    /// step of it infinitely often.
    Component,
}

named!(Fairness { "none" => None, "weak" => Weak, "strong" => Strong, "impartial" => Impartial,
    "component" => Component });

impl Fairness {
    pub const ALL: [Fairness; 5] =
        [Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial, Fairness::Component];

    /// Whether every finite run can be extended to a fair one (realizability, Baier and Katoen).
    pub fn is_realizable(self) -> bool {
        match self {
            Fairness::None | Fairness::Weak | Fairness::Strong | Fairness::Component => true,
            Fairness::Impartial => false,
        }
    }

    /// Whether the assumption is a linear-time property.
    pub fn is_for_linear_time(self) -> bool {
        match self {
            Fairness::None | Fairness::Weak | Fairness::Strong | Fairness::Impartial => true,
            Fairness::Component => false,
        }
    }
}
