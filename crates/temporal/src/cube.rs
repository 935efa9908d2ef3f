//! Cubes: conjunctions of literals, the labels of edges.

use crate::formula::Proposition;
use crate::limits::{Budget, Limit};

/// The valuations in which all of `positive` hold and none of `negative`: masks of propositions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cube {
    pub positive: u64,
    pub negative: u64,
}

impl Cube {
    pub const TRUE: Cube = Cube { positive: 0, negative: 0 };

    pub fn literal(proposition: Proposition, positive: bool) -> Cube {
        let mask = 1 << proposition.0;
        if positive { Cube { positive: mask, negative: 0 } } else { Cube { positive: 0, negative: mask } }
    }

    /// The conjunction, unless it is contradictory.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let both = Cube { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }

    pub fn implies(self, other: Cube) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }

    /// Whether the cube contains the valuation in which exactly these propositions hold.
    pub fn holds(self, letter: u64) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }

    /// The cube restricted to these propositions.
    pub fn known(self, propositions: u64) -> Cube {
        Cube { positive: self.positive & propositions, negative: self.negative & propositions }
    }

    pub fn literals(self) -> impl Iterator<Item = (Proposition, bool)> {
        let mentioned = self.positive | self.negative;
        let propositions = (0..64).filter(move |at| mentioned >> at & 1 == 1);
        propositions.map(move |at| (Proposition(at), self.positive >> at & 1 == 1))
    }

    /// The same without one literal.
    pub fn without(self, proposition: Proposition) -> Cube {
        let rest = !(1 << proposition.0);
        Cube { positive: self.positive & rest, negative: self.negative & rest }
    }

    /// The cube minus `other`, if the difference is a cube; otherwise the cube itself.
    pub fn outside(self, other: Cube) -> Cube {
        let more = Cube { positive: other.positive & !self.positive, negative: other.negative & !self.negative };
        let is_single = (more.positive.count_ones() + more.negative.count_ones()) == 1;
        match self.and(other) {
            Some(_) if is_single => {
                Cube { positive: self.positive | more.negative, negative: self.negative | more.positive }
            }
            Some(_) | None => self,
        }
    }

    /// Whether the union of `cubes` contains this cube.
    pub(crate) fn is_covered(self, cubes: &[Cube], budget: &mut Budget) -> Result<bool, Limit> {
        let mut waiting = vec![self];
        while let Some(part) = waiting.pop() {
            budget.spend(1 + cubes.len() as u64)?;
            if cubes.iter().any(|&cube| part.implies(cube)) {
                continue;
            }
            let undecided = |cube: &Cube| (cube.positive | cube.negative) & !(part.positive | part.negative);
            let touching = cubes.iter().filter(|&&cube| part.and(cube).is_some());
            let Some(mask) = touching.map(undecided).reduce(|one, other| one | other) else { return Ok(false) };
            let split = Proposition(mask.trailing_zeros() as u8);
            waiting.extend([true, false].map(|positive| {
                let Cube { positive: now, negative: never } = Cube::literal(split, positive);
                Cube { positive: part.positive | now, negative: part.negative | never }
            }));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn cube(positive: u64, negative: u64) -> Cube {
        Cube { positive, negative }
    }

    #[test]
    fn several_cubes_cover_what_none_of_them_does() {
        let covered = |cube: Cube, by: &[Cube]| {
            cube.is_covered(by, &mut Budget::of(Limits { steps: 1000, ..Limits::default() })).unwrap()
        };
        assert!(covered(Cube::TRUE, &[cube(1, 0), cube(0, 1)]));
        assert!(covered(cube(4, 0), &[cube(1, 2), cube(0, 1), cube(2, 0)]));
        assert!(!covered(cube(4, 0), &[cube(1, 2), cube(0, 1)]));
        assert!(!covered(Cube::TRUE, &[]));
        assert!(covered(cube(1, 0), &[Cube::TRUE]));
    }

    #[test]
    fn a_difference_is_a_cube_or_nothing_changes() {
        assert_eq!(Cube::TRUE.outside(cube(1, 0)), cube(0, 1));
        assert_eq!(cube(2, 0).outside(cube(2, 1)), cube(3, 0));
        assert_eq!(Cube::TRUE.outside(cube(1, 2)), Cube::TRUE);
        assert_eq!(cube(1, 0).outside(cube(2, 1)), cube(1, 0));
    }

    #[test]
    fn contradictions_are_no_cubes() {
        assert_eq!(cube(1, 0).and(cube(0, 1)), None);
        assert_eq!(cube(1, 0).and(cube(2, 4)), Some(cube(3, 4)));
    }
}
