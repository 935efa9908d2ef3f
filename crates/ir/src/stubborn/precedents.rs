//! What was decided before where all that was looked at was the same.
//!
//! Which set is found depends on where the processes are, on which steps are possible, and on how those conditions stand that
//! are asked on the way. Most states have that in common with many others.

use std::hash::{BuildHasher, BuildHasherDefault};

use rapidhash::fast::RapidHasher;

/// So many cases are remembered, each in its own slot; another one that belongs there takes its place.
const SLOTS: usize = 1 << 12;
/// Cases with more to be asked than this are forgotten, and begun again.
const MOST_NODES: usize = 256;

/// Where the processes are and what is possible, as words.
pub(super) type Case = Vec<u32>;

/// Of each step, whether it is to be taken; or nothing if all are.
pub(super) type Decision<'a> = Option<&'a [bool]>;

#[derive(Default)]
pub(super) struct Precedents {
    slots: Vec<Precedent>,
}

#[derive(Clone, Default)]
struct Precedent {
    /// Of the case that came last. Only one that comes again is worth to be remembered.
    hash: u64,
    case: Case,
    /// The first one is where to begin.
    nodes: Vec<Node>,
    /// All that was decided, one after the other.
    decisions: Vec<bool>,
}

#[derive(Clone, Copy)]
enum Node {
    Unknown,
    /// Where to go on if the condition holds, and if it fails.
    Asked {
        condition: u32,
        then: [u32; 2],
    },
    /// So many steps, and where in the decisions it is said which of them.
    Decided(Option<(u32, u32)>),
}

impl Precedents {
    /// What was decided in this case, where conditions failed as they do now.
    #[inline]
    pub fn find(&self, case: &[u32], mut fails: impl FnMut(u32) -> bool) -> Option<Decision<'_>> {
        let precedent = self.slots.get(hash(case) as usize % SLOTS).filter(|precedent| precedent.case == case)?;
        let mut at = 0;
        loop {
            match *precedent.nodes.get(at as usize)? {
                Node::Unknown => return None,
                Node::Asked { condition, then } => at = then[usize::from(fails(condition))],
                Node::Decided(None) => return Some(None),
                Node::Decided(Some((count, from))) => {
                    return Some(Some(&precedent.decisions[from as usize..][..count as usize]));
                }
            }
        }
    }

    /// Remembers what was decided after these conditions had been asked, of which some failed.
    pub fn note(&mut self, case: &[u32], asked: &[(u32, bool)], decision: Decision) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Precedent::default());
        }
        let hash = hash(case);
        let precedent = &mut self.slots[hash as usize % SLOTS];
        if precedent.hash != hash {
            precedent.hash = hash;
            return;
        }
        if precedent.case != case {
            precedent.case.clear();
            precedent.case.extend(case);
            precedent.forget();
        }
        if precedent.nodes.len() + 2 * asked.len() > MOST_NODES {
            precedent.forget();
        }
        precedent.note(asked, decision);
    }
}

impl Precedent {
    fn forget(&mut self) {
        self.nodes.clear();
        self.decisions.clear();
    }

    fn note(&mut self, asked: &[(u32, bool)], decision: Decision) {
        if self.nodes.is_empty() {
            self.nodes.push(Node::Unknown);
        }
        let mut at = 0;
        for &(condition, fails) in asked {
            let then = match self.nodes[at] {
                Node::Asked { then, .. } => then,
                Node::Unknown | Node::Decided(_) => {
                    let first = self.nodes.len() as u32;
                    self.nodes.extend([Node::Unknown; 2]);
                    self.nodes[at] = Node::Asked { condition, then: [first, first + 1] };
                    [first, first + 1]
                }
            };
            at = then[usize::from(fails)] as usize;
        }
        let decided = decision.map(|steps| (steps.len() as u32, self.decisions.len() as u32));
        self.decisions.extend(decision.into_iter().flatten());
        self.nodes[at] = Node::Decided(decided);
    }
}

fn hash(case: &[u32]) -> u64 {
    BuildHasherDefault::<RapidHasher>::default().hash_one(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(precedents: &'a Precedents, case: &[u32], failing: &[u32]) -> Option<Decision<'a>> {
        precedents.find(case, |condition| failing.contains(&condition))
    }

    #[test]
    fn a_case_that_comes_again_is_decided_as_before_if_the_same_conditions_fail() {
        let (mut precedents, case) = (Precedents::default(), [1, 2, 3]);
        let notes: [(&[(u32, bool)], Decision); 3] = [
            (&[(7, true), (5, false)], Some(&[true, false])),
            (&[(7, true), (5, true)], Some(&[false, true])),
            (&[(7, false)], None),
        ];
        // The first time, it is not worth it.
        precedents.note(&case, notes[0].0, notes[0].1);
        assert_eq!(found(&precedents, &case, &[7]), None);
        for (asked, decision) in notes {
            precedents.note(&case, asked, decision);
        }
        assert_eq!(found(&precedents, &case, &[7]), Some(Some(&[true, false][..])));
        assert_eq!(found(&precedents, &case, &[7, 5]), Some(Some(&[false, true][..])));
        assert_eq!(found(&precedents, &case, &[5]), Some(None));
        assert_eq!(found(&precedents, &[1, 2, 4], &[7]), None);
    }

    #[test]
    fn what_was_not_asked_before_is_not_decided() {
        let (mut precedents, case) = (Precedents::default(), [9]);
        for _ in 0..2 {
            precedents.note(&case, &[(0, true), (1, true)], Some(&[true]));
        }
        assert_eq!(found(&precedents, &case, &[0, 1]), Some(Some(&[true][..])));
        assert_eq!(found(&precedents, &case, &[0]), None);
        assert_eq!(found(&precedents, &case, &[]), None);
    }

    #[test]
    fn a_case_with_too_much_to_be_asked_is_begun_again() {
        let (mut precedents, case) = (Precedents::default(), [9]);
        let questions = |seed: u64| -> Vec<(u32, bool)> { (0..40).map(|at| (at, seed >> at & 1 != 0)).collect() };
        (0..100).for_each(|seed| precedents.note(&case, &questions(seed), Some(&[seed % 2 == 0, seed == 99])));
        let failing: Vec<u32> = (0..7).filter(|at| 99 >> at & 1 != 0).collect();
        assert_eq!(found(&precedents, &case, &failing), Some(Some(&[false, true][..])));
        assert!(precedents.slots.iter().all(|slot| slot.nodes.len() <= MOST_NODES));
    }
}
