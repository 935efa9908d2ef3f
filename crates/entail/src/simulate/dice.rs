//! Reproducible random choices.

use entail_ir::interpret::Step;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::hash::{BuildHasher, RandomState};

/// The same seed gives the same choices on every machine: the generator's output is guaranteed to be stable.
///
/// O'Neill: PCG: A family of simple fast space-efficient statistically good algorithms for random number generation, 2014.
pub struct Dice(Pcg64Mcg);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Chooses an enabled process, and then one of its steps, so that processes with more alternatives are not preferred.
    /// Returns an index; `None` if there are no steps.
    pub fn choose(&mut self, steps: &[Step]) -> Option<usize> {
        // The steps of a process are adjacent.
        let processes = || steps.chunk_by(|one, other| one.process() == other.process());
        let chosen = self.below(processes().count())?;
        let before: usize = processes().take(chosen).map(<[Step]>::len).sum();
        Some(before + self.below(processes().nth(chosen)?.len())?)
    }

    /// A random number below `count`. Consumes no randomness if there is only one.
    fn below(&mut self, count: usize) -> Option<usize> {
        match count {
            0 => None,
            1 => Some(0),
            _ => Some(((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize),
        }
    }
}

/// A new seed each time, short enough to type.
pub fn any_seed() -> u64 {
    RandomState::new().hash_one(()) % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of a process, from its bits.
    fn step(process: u64, edge: u64) -> Step {
        Step::from_bits(process | edge << 8 | 0xff << 32)
    }

    #[test]
    fn a_seed_gives_the_same_choices_for_ever() {
        let mut dice = Dice::new(7);
        let drawn: Vec<_> = (0..12).map(|_| dice.below(10).unwrap()).collect();
        assert_eq!(drawn, [6, 4, 2, 9, 2, 2, 2, 3, 8, 2, 9, 4]);
    }

    #[test]
    fn processes_are_chosen_before_their_steps() {
        let steps: Vec<_> = (0..99).map(|edge| step(1, edge)).chain([step(0, 0)]).collect();
        let mut dice = Dice::new(1);
        let alone = (0..1000).filter(|_| dice.choose(&steps) == Some(99)).count();
        assert!((400..600).contains(&alone), "{alone}");
        assert_eq!(dice.choose(&[]), None);
    }

    #[test]
    fn every_step_comes_up() {
        let steps = [step(2, 5), step(2, 6), step(1, 1), step(0, 1), step(0, 2), step(0, 3)];
        let mut dice = Dice::new(3);
        let mut seen = [false; 6];
        (0..200).for_each(|_| seen[dice.choose(&steps).unwrap()] = true);
        assert_eq!(seen, [true; 6]);
    }
}
