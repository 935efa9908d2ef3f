//! Facts about variables at a location, from conditions that were passed.

use crate::{Action, Base, BinaryOp, Block, BlockNode, Effect, Expr, Place, Range};

/// Variables and their ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts(Vec<(Place, Range)>);

/// The number of variables that are tracked at once.
const MOST: usize = 16;

impl Facts {
    /// The range of a place, if it is known.
    pub fn of(&self, place: &Place) -> Option<Range> {
        self.0.iter().find(|(known, _)| known == place).map(|(_, range)| *range)
    }

    /// The facts after an action.
    pub fn after(&self, action: &Action) -> Facts {
        let mut facts = self.clone();
        match action.effect() {
            Effect::Nothing => action.condition().into_iter().for_each(|condition| facts.learn(condition)),
            Effect::Assign(place, _) => facts.forget(place),
            Effect::Send(_) | Effect::Receive(_) | Effect::Run(..) | Effect::Block(_) | Effect::Other => {
                return Facts::default();
            }
        }
        facts
    }

    /// Only facts that no other process can invalidate.
    pub fn local(mut self) -> Facts {
        self.0.retain(|(place, _)| place.base == Base::Local);
        self
    }

    fn learn(&mut self, condition: &Expr) {
        let Expr::Binary(op, sides) = condition else { return };
        match (op, &sides.0, &sides.1) {
            (BinaryOp::And, left, right) => {
                self.learn(left);
                self.learn(right);
            }
            (op, Expr::Load(place), Expr::Const(value)) => self.compare(place, *op, *value),
            (op, Expr::Const(value), Expr::Load(place)) => self.compare(place, mirrored(*op), *value),
            _ => {}
        }
    }

    fn compare(&mut self, place: &Place, op: BinaryOp, value: i32) {
        let Some(range) = satisfying(op, value) else { return };
        // With a variable index, the place may change.
        if !place.indices.is_empty() || matches!(place.base, Base::Remote(..)) || self.0.len() == MOST {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| known == place) {
            Some((_, known)) => *known = Range { low: known.low.max(range.low), high: known.high.min(range.high) },
            None => self.0.push((place.clone(), range)),
        }
    }

    /// Drops facts about a place that is written.
    fn forget(&mut self, place: &Place) {
        let exactly = place.indices.is_empty();
        self.0.retain(|(known, _)| match (&place.base, &known.base) {
            (Base::Remote(..), _) => false,
            (Base::Nowhere, _) => true,
            (base, other) => base != other || exactly && place.offset != known.offset,
        });
    }
}

/// The numbers for which `number op value` holds, if these are a range.
fn satisfying(op: BinaryOp, value: i32) -> Option<Range> {
    let (low, high) = match op {
        BinaryOp::Lt => (i32::MIN, value.checked_sub(1)?),
        BinaryOp::Le => (i32::MIN, value),
        BinaryOp::Gt => (value.checked_add(1)?, i32::MAX),
        BinaryOp::Ge => (value, i32::MAX),
        BinaryOp::Eq => (value, value),
        BinaryOp::Ne
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or => return None,
    };
    Some(Range { low, high })
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// For each node of a block, the facts at its entry; none where paths join.
pub(super) fn in_block(block: &Block, entry: &Facts) -> Vec<Facts> {
    let mut ways = vec![0u32; block.nodes.len()];
    ways[0] = 1;
    for next in block.nodes.iter().flat_map(BlockNode::successors) {
        ways[next.0 as usize] += 1;
    }
    let mut facts = vec![Facts::default(); block.nodes.len()];
    facts[0] = entry.clone();
    let mut reached = vec![0];
    while let Some(at) = reached.pop() {
        let after = block.nodes[at].action().map_or_else(|| facts[at].clone(), |action| facts[at].after(action));
        for next in block.nodes[at].successors().iter().map(|next| next.0 as usize) {
            if ways[next] == 1 && next != 0 {
                facts[next] = after.clone();
                reached.push(next);
            } else if ways[next] > 1 {
                // One visit suffices: the facts do not depend on the path.
                ways[next] = 0;
                reached.push(next);
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scalar, StatementId};

    fn x() -> Place {
        Place::global(0, Scalar::unsigned(8))
    }

    fn less_than(value: i32) -> Action {
        Action::Guard(Expr::binary(BinaryOp::Lt, Expr::load(x()), Expr::Const(value)))
    }

    #[test]
    fn a_condition_is_known_until_the_variable_changes() {
        let facts = Facts::default().after(&less_than(5));
        assert_eq!(facts.of(&x()), Some(Range { low: i32::MIN, high: 4 }));
        assert_eq!(facts.after(&Action::Skip).of(&x()).map(|range| range.high), Some(4));
        let other = Action::Assign(Box::new(Place::global(1, Scalar::unsigned(8))), Expr::Const(0));
        assert_eq!(facts.after(&other).of(&x()).map(|range| range.high), Some(4));
        let itself = Action::Assign(Box::new(x()), Expr::Const(9));
        assert_eq!(facts.after(&itself).of(&x()), None);
        assert_eq!(facts.local().of(&x()), None, "others may have changed it");
    }

    #[test]
    fn where_two_ways_meet_nothing_is_known() {
        use crate::NodeId;
        let statement = StatementId(0);
        let act = |action, next: Option<u32>| BlockNode::Do { action, statement, next: next.map(NodeId) };
        let nodes = vec![
            act(less_than(5), Some(1)),
            BlockNode::Choose { alternatives: vec![NodeId(2), NodeId(3)], statement },
            act(Action::Skip, Some(4)),
            act(less_than(3), Some(4)),
            act(Action::Skip, None),
        ];
        let facts = in_block(&Block { entry: crate::Entry::Always, nodes }, &Facts::default());
        let known: Vec<_> = facts.iter().map(|facts| facts.of(&x()).map(|range| range.high)).collect();
        assert_eq!(known, [None, Some(4), Some(4), Some(4), None]);
    }
}
