//! The expressions of a system, to be changed.

use crate::{Action, Base, Block, BlockNode, Entry, Expr, Pattern, Place};

/// Calls `each` for the expressions that this one is made of, but not for those inside them.
pub(super) fn parts(expr: &mut Expr, each: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Const(_)
        | Expr::Myself
        | Expr::ProcessCount
        | Expr::Last
        | Expr::Timeout
        | Expr::Started
        | Expr::Find(_)
        | Expr::NonProgress
        | Expr::Accepting
        | Expr::Fault(_) => {}
        Expr::Load(place) => of_place(place, each),
        Expr::Unary(_, operand)
        | Expr::Length(operand)
        | Expr::Channel(_, operand)
        | Expr::Enabled(operand)
        | Expr::LocationOf(operand)
        | Expr::At(operand, _)
        | Expr::PriorityOf(operand) => each(operand),
        Expr::Binary(_, operands) => {
            each(&mut operands.0);
            each(&mut operands.1);
        }
        Expr::Conditional(parts) => {
            each(&mut parts.0);
            each(&mut parts.1);
            each(&mut parts.2);
        }
        Expr::Poll(poll) => {
            each(&mut poll.channel);
            poll.fields.iter_mut().for_each(|pattern| of_pattern(pattern, each));
        }
    }
}

/// Calls `each` for the expressions that a place depends on.
pub(super) fn of_place(place: &mut Place, each: &mut dyn FnMut(&mut Expr)) {
    match &mut place.base {
        Base::Global | Base::Local | Base::Nowhere => {}
        Base::Remote(process, _) => each(process),
    }
    place.indices.iter_mut().for_each(|index| each(&mut index.value));
}

fn of_pattern(pattern: &mut Pattern, each: &mut dyn FnMut(&mut Expr)) {
    match pattern {
        Pattern::Store(place) => of_place(place, each),
        Pattern::Equal(expr) => each(expr),
        Pattern::Ignore => {}
    }
}

/// Calls `each` for the expressions of an action, but not for those inside them.
pub(super) fn of_action(action: &mut Action, each: &mut dyn FnMut(&mut Expr)) {
    match action {
        Action::Skip | Action::Else | Action::End => {}
        Action::Guard(expr) | Action::Assert(expr) | Action::PrintName(expr) => each(expr),
        Action::Assign(place, value) => {
            of_place(place, each);
            each(value);
        }
        Action::Send(send) => {
            each(&mut send.channel);
            send.fields.iter_mut().chain(&mut send.when).for_each(each);
        }
        Action::Receive(receive) => {
            each(&mut receive.channel);
            receive.fields.iter_mut().for_each(|field| of_pattern(field, each));
            receive.when.iter_mut().for_each(each);
        }
        Action::Print(_, args) => args.iter_mut().for_each(each),
        Action::SetPriority(parts) => {
            each(&mut parts.0);
            each(&mut parts.1);
        }
        Action::Run(run, then) => {
            run.args.iter_mut().for_each(&mut *each);
            of_action(then, each);
        }
        Action::Deterministic(block) => actions(block, &mut |part| of_action(part, each)),
    }
}

/// Calls `each` for the actions that a block consists of.
pub(super) fn actions(block: &mut Block, each: &mut dyn FnMut(&mut Action)) {
    match &mut block.entry {
        Entry::Always | Entry::Otherwise => {}
        Entry::AnyOf(actions) => actions.iter_mut().for_each(&mut *each),
    }
    for node in &mut block.nodes {
        match node {
            BlockNode::Do { action, .. } => each(action),
            BlockNode::Choose { .. } | BlockNode::Jump(_) => {}
        }
    }
}
