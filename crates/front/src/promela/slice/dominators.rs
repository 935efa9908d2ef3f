//! Dominators: the nodes that all paths from a root to a node pass.
//!
//! After Cooper, Harvey, Kennedy: A simple, fast dominance algorithm, 2001.

/// The immediate dominator of each node: the last node before it on all paths from `root`. `None` for `root`
/// itself and for unreachable nodes. On the reversed graph, with an exit as `root`, these are the
/// post-dominators.
pub fn immediate(root: usize, successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let order = postorder(root, successors);
    let mut rank = vec![usize::MAX; successors.len()];
    for (index, &node) in order.iter().enumerate() {
        rank[node] = index;
    }
    let predecessors = reversed(successors);
    let mut above: Vec<Option<usize>> = vec![None; successors.len()];
    above[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != root) {
            let mut found: Option<usize> = None;
            for &before in predecessors[node].iter().filter(|&&before| rank[before] != usize::MAX) {
                if above[before].is_some() {
                    found = Some(found.map_or(before, |found| meet(found, before, &above, &rank)));
                }
            }
            if found.is_some() && above[node] != found {
                above[node] = found;
                changed = true;
            }
        }
    }
    above[root] = None;
    above
}

/// The dominance relation: for each node, when a traversal of the dominator tree enters and leaves it.
pub struct Dominance {
    entered: Vec<usize>,
    left: Vec<usize>,
}

impl Dominance {
    pub fn of(immediate: &[Option<usize>]) -> Dominance {
        let mut below = vec![Vec::new(); immediate.len()];
        for (node, above) in immediate.iter().enumerate() {
            above.iter().for_each(|&above| below[above].push(node));
        }
        let mut dominance = Dominance { entered: vec![0; immediate.len()], left: vec![0; immediate.len()] };
        let mut time = 0;
        for root in (0..immediate.len()).filter(|&node| immediate[node].is_none()) {
            let mut stack = vec![(root, 0)];
            while let Some((node, next)) = stack.last_mut() {
                time += 1;
                if *next == 0 {
                    dominance.entered[*node] = time;
                }
                match below[*node].get(*next) {
                    Some(&child) => {
                        *next += 1;
                        stack.push((child, 0));
                    }
                    None => {
                        dominance.left[*node] = time;
                        stack.pop();
                    }
                }
            }
        }
        dominance
    }

    /// Whether `other` dominates `node`; every node dominates itself.
    pub fn dominates(&self, other: usize, node: usize) -> bool {
        self.entered[other] <= self.entered[node] && self.left[node] <= self.left[other]
    }
}

pub fn reversed(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); successors.len()];
    for (node, next) in successors.iter().enumerate() {
        next.iter().for_each(|&next| reversed[next].push(node));
    }
    reversed
}

fn meet(mut one: usize, mut other: usize, above: &[Option<usize>], rank: &[usize]) -> usize {
    while one != other {
        let lower = if rank[one] < rank[other] { &mut one } else { &mut other };
        *lower = above[*lower].expect("what was reached before has a dominator");
    }
    one
}

/// The reachable nodes in postorder.
pub fn postorder(root: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node].get(*next) {
            Some(&child) => {
                *next += 1;
                if !std::mem::replace(&mut seen[child], true) {
                    stack.push((child, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 → 1 → {2, 3} → 4 → 1, 4 → 5.
    fn diamond_in_a_loop() -> Vec<Vec<usize>> {
        vec![vec![1], vec![2, 3], vec![4], vec![4], vec![1, 5], vec![], vec![5]]
    }

    #[test]
    fn branches_are_dominated_by_where_they_part() {
        let immediate = immediate(0, &diamond_in_a_loop());
        assert_eq!(immediate, [None, Some(0), Some(1), Some(1), Some(1), Some(4), None]);
        let dominance = Dominance::of(&immediate);
        for node in 0..immediate.len() {
            for other in 0..immediate.len() {
                let mut ways = std::iter::successors(Some(node), |&at| immediate[at]);
                assert_eq!(dominance.dominates(other, node), ways.any(|at| at == other), "{other} {node}");
            }
        }
        assert!(dominance.dominates(1, 5) && !dominance.dominates(2, 4));
    }

    #[test]
    fn branches_are_post_dominated_by_where_they_meet() {
        let immediate = immediate(5, &reversed(&diamond_in_a_loop()));
        assert_eq!(immediate, [Some(1), Some(4), Some(4), Some(4), Some(5), None, Some(5)]);
    }
}
