//! Labels: Boolean expressions, as disjunctions of cubes.

use crate::cube::Cube;
use crate::formula::Proposition;

/// Larger labels are rejected.
const MAX_CUBES: usize = 4096;

/// An expression and its negation, both as disjunctions of cubes.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub holds: Vec<Cube>,
    fails: Vec<Cube>,
}

impl Label {
    pub fn constant(value: bool) -> Label {
        let (all, nothing) = (vec![Cube::TRUE], Vec::new());
        if value { Label { holds: all, fails: nothing } } else { Label { holds: nothing, fails: all } }
    }

    pub fn proposition(proposition: Proposition) -> Label {
        let one = |positive| vec![Cube::literal(proposition, positive)];
        Label { holds: one(true), fails: one(false) }
    }

    pub fn not(self) -> Label {
        Label { holds: self.fails, fails: self.holds }
    }

    /// `None` if the result is too large.
    pub fn and(self, other: Label) -> Option<Label> {
        let holds = product(&self.holds, &other.holds)?;
        let fails = [self.fails, other.fails].concat();
        Some(Label { holds, fails })
    }

    pub fn or(self, other: Label) -> Option<Label> {
        Some(self.not().and(other.not())?.not())
    }
}

fn product(left: &[Cube], right: &[Cube]) -> Option<Vec<Cube>> {
    if left.len().saturating_mul(right.len()) > MAX_CUBES {
        return None;
    }
    let mut cubes: Vec<Cube> =
        left.iter().flat_map(|one| right.iter().filter_map(|other| one.and(*other))).collect();
    cubes.sort_unstable();
    cubes.dedup();
    Some(cubes)
}
