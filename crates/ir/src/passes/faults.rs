//! Which expressions and actions may fault.

use crate::{
    Action, Block, BlockNode, Child, Effect, Enabling, Expr, NodeId, Place, ProcessTypeId, Range, Ranges, Scalar,
};

/// The context of an expression.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub ranges: Option<&'a Ranges>,
    /// The process type that evaluates.
    pub of: Option<ProcessTypeId>,
}

impl Known<'_> {
    /// Without knowledge about variables.
    pub const NOTHING: Known<'static> = Known { ranges: None, of: None };

    fn values(self, expr: &Expr) -> Option<Range> {
        let constant = expr.constant().map(|value| Range { low: value, high: value });
        constant.or_else(|| Some(self.ranges?.of_expr(expr, self.of)))
    }

    /// Whether evaluation may fault.
    pub fn may_fault(self, expr: &Expr) -> bool {
        let divides = |divisor: &Expr| self.values(divisor).is_some_and(|values| !values.contains(0));
        expr.may_fault_unless(|place| self.is_always_there(place), divides)
    }

    /// Whether all indices are in range. Whether they can be evaluated is not considered.
    pub fn is_always_there(self, place: &Place) -> bool {
        place.indices.iter().all(|index| {
            let values = self.values(&index.value);
            values.is_some_and(|values| values.low >= 0 && (values.high as u32) < index.len)
        })
    }

    fn may_be_out_of_range(self, scalar: Scalar, value: &Expr) -> bool {
        scalar.range.is_some_and(|range| {
            let values = self.values(value);
            values.is_none_or(|values| !range.contains(values.low) || !range.contains(values.high))
        })
    }

    /// Whether an enabled action may end the run by a fault. Actions on channels or other processes always may.
    pub fn may_break(self, action: &Action) -> bool {
        match action.effect() {
            Effect::Nothing => {
                let mut may = matches!(action.enabling(), Enabling::Youngest);
                action.each_child(&mut |child| match child {
                    Child::Expr(expr) => may |= self.may_fault(expr),
                    Child::Store(_) | Child::Action(_) => {}
                });
                may
            }
            Effect::Assign(place, value) => {
                let indices = place.indices.iter().any(|index| self.may_fault(&index.value));
                let stored = self.may_fault(value) || self.may_be_out_of_range(place.scalar, value);
                !place.is_near() || indices || stored || !self.is_always_there(place)
            }
            Effect::Send(_) | Effect::Receive(_) | Effect::Run(..) | Effect::Other => true,
            Effect::Block(block) => self.block_may_break(block),
        }
    }

    fn block_may_break(self, block: &Block) -> bool {
        let entry = block.entry.actions();
        let goes_back = |from: usize, next: &Option<NodeId>| next.is_some_and(|next| next.0 as usize <= from);
        let is_stuck = |action: &Action| !action.is_always_possible();
        entry.iter().any(|action| self.may_break(action))
            || block.nodes.iter().enumerate().any(|(number, node)| match node {
                BlockNode::Do { action, next, .. } => {
                    // The block is enabled only if its first action is.
                    let is_known = number == 0 && matches!(entry, [only] if only == action);
                    self.may_break(action) || is_stuck(action) && !is_known || goes_back(number, next)
                }
                BlockNode::Choose { alternatives, .. } => {
                    let leads_on = |node: &NodeId| !block.nodes[node.0 as usize].action().is_some_and(is_stuck);
                    !alternatives.iter().any(leads_on)
                        || alternatives.iter().any(|next| goes_back(number, &Some(*next)))
                }
                BlockNode::Jump(next) => goes_back(number, next),
            })
    }
}

/// Whether evaluation may fault, without knowledge about variables.
pub(super) fn may_fault(expr: &Expr) -> bool {
    Known::NOTHING.may_fault(expr)
}

/// Whether all indices are in range, without knowledge about variables.
pub(super) fn is_always_there(place: &Place) -> bool {
    Known::NOTHING.is_always_there(place)
}

/// Whether every value can be stored there.
pub(super) fn takes_all(place: &Place) -> bool {
    place.is_near() && place.scalar.range.is_none()
}
