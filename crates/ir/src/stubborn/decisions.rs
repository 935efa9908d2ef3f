//! A cache of the sets that were chosen.
//!
//! The set depends on the locations of the processes, on the enabled steps, and on the guards that are evaluated
//! during the search for it. Most states agree with many others in these.

use std::hash::{BuildHasher, BuildHasherDefault};

use rapidhash::fast::RapidHasher;

/// Number of cached cases. Two cases with the same slot replace each other.
const SLOTS: usize = 1 << 12;
/// The size of a decision tree; a larger one is rebuilt.
const MOST_NODES: usize = 256;

/// The locations of the processes and the enabled steps, as words.
pub(super) type Case = Vec<u32>;

/// For each step, whether the set contains it; `None` if there is no set.
pub(super) type Decision<'a> = Option<&'a [bool]>;

#[derive(Default)]
pub(super) struct DecisionCache {
    slots: Vec<Entry>,
}

#[derive(Clone, Default)]
struct Entry {
    /// The hash of the last case in this slot. A case is cached when it occurs for the second time in a row.
    hash: u64,
    case: Case,
    /// A decision tree over guards; its root is the first node.
    nodes: Vec<Node>,
    /// The decisions, one after the other.
    decisions: Vec<bool>,
}

#[derive(Clone, Copy)]
enum Node {
    Unknown,
    /// The next node if the guard holds, and if it fails.
    Asked {
        condition: u32,
        then: [u32; 2],
    },
    /// The number of steps, and where the decision begins.
    Decided(Option<(u32, u32)>),
}

impl DecisionCache {
    /// The decision in this case, given which guards fail.
    #[inline]
    pub fn find(&self, case: &[u32], mut fails: impl FnMut(u32) -> bool) -> Option<Decision<'_>> {
        let entry = self.slots.get(hash(case) as usize % SLOTS).filter(|entry| entry.case == case)?;
        let mut at = 0;
        loop {
            match *entry.nodes.get(at as usize)? {
                Node::Unknown => return None,
                Node::Asked { condition, then } => at = then[usize::from(fails(condition))],
                Node::Decided(None) => return Some(None),
                Node::Decided(Some((count, from))) => {
                    return Some(Some(&entry.decisions[from as usize..][..count as usize]));
                }
            }
        }
    }

    /// Stores the decision that was made after these guards had been evaluated.
    pub fn note(&mut self, case: &[u32], asked: &[(u32, bool)], decision: Decision) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Entry::default());
        }
        let hash = hash(case);
        let entry = &mut self.slots[hash as usize % SLOTS];
        if entry.hash != hash {
            entry.hash = hash;
            return;
        }
        if entry.case != case {
            entry.case.clear();
            entry.case.extend(case);
            entry.forget();
        }
        if entry.nodes.len() + 2 * asked.len() > MOST_NODES {
            entry.forget();
        }
        entry.note(asked, decision);
    }
}

impl Entry {
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

    fn found<'a>(decision_cache: &'a DecisionCache, case: &[u32], failing: &[u32]) -> Option<Decision<'a>> {
        decision_cache.find(case, |condition| failing.contains(&condition))
    }

    #[test]
    fn a_case_that_comes_again_is_decided_as_before_if_the_same_conditions_fail() {
        let (mut decision_cache, case) = (DecisionCache::default(), [1, 2, 3]);
        let notes: [(&[(u32, bool)], Decision); 3] = [
            (&[(7, true), (5, false)], Some(&[true, false])),
            (&[(7, true), (5, true)], Some(&[false, true])),
            (&[(7, false)], None),
        ];
        // A case is not cached the first time.
        decision_cache.note(&case, notes[0].0, notes[0].1);
        assert_eq!(found(&decision_cache, &case, &[7]), None);
        for (asked, decision) in notes {
            decision_cache.note(&case, asked, decision);
        }
        assert_eq!(found(&decision_cache, &case, &[7]), Some(Some(&[true, false][..])));
        assert_eq!(found(&decision_cache, &case, &[7, 5]), Some(Some(&[false, true][..])));
        assert_eq!(found(&decision_cache, &case, &[5]), Some(None));
        assert_eq!(found(&decision_cache, &[1, 2, 4], &[7]), None);
    }

    #[test]
    fn what_was_not_asked_before_is_not_decided() {
        let (mut decision_cache, case) = (DecisionCache::default(), [9]);
        for _ in 0..2 {
            decision_cache.note(&case, &[(0, true), (1, true)], Some(&[true]));
        }
        assert_eq!(found(&decision_cache, &case, &[0, 1]), Some(Some(&[true][..])));
        assert_eq!(found(&decision_cache, &case, &[0]), None);
        assert_eq!(found(&decision_cache, &case, &[]), None);
    }

    #[test]
    fn a_case_with_too_much_to_be_asked_is_begun_again() {
        let (mut decision_cache, case) = (DecisionCache::default(), [9]);
        let questions = |seed: u64| -> Vec<(u32, bool)> { (0..40).map(|at| (at, seed >> at & 1 != 0)).collect() };
        (0..100).for_each(|seed| decision_cache.note(&case, &questions(seed), Some(&[seed % 2 == 0, seed == 99])));
        let failing: Vec<u32> = (0..7).filter(|at| 99 >> at & 1 != 0).collect();
        assert_eq!(found(&decision_cache, &case, &failing), Some(Some(&[false, true][..])));
        assert!(decision_cache.slots.iter().all(|slot| slot.nodes.len() <= MOST_NODES));
    }
}
