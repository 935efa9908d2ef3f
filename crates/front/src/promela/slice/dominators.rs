//! Which nodes of a graph all ways to a node pass.
//!
//! After Cooper, Harvey, Kennedy: A simple, fast dominance algorithm, 2001.

/// The immediate dominator of each node: the last node before it that all ways from `root` pass. None for `root` itself
/// and for what cannot be reached. Along edges turned round, these are the post-dominators of `root`, an exit.
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

/// Whether all ways to `node` pass `other`, which every node does with itself.
pub fn dominates(other: usize, node: usize, immediate: &[Option<usize>]) -> bool {
    let mut current = Some(node);
    while let Some(at) = current {
        if at == other {
            return true;
        }
        current = immediate[at];
    }
    false
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

/// All that can be reached, each node behind those that were reached from it first.
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
        assert!(dominates(1, 5, &immediate) && !dominates(2, 4, &immediate));
    }

    #[test]
    fn branches_are_post_dominated_by_where_they_meet() {
        let immediate = immediate(5, &reversed(&diamond_in_a_loop()));
        assert_eq!(immediate, [Some(1), Some(4), Some(4), Some(4), Some(5), None, Some(5)]);
    }
}
