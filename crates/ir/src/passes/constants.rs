//! Constant propagation and removal of unreachable code.
//!
//! Unreachable locations keep their edges, for display. These are disabled, so that no analysis considers their
//! effects.

use std::collections::HashSet;

use super::faults::{is_always_there, may_fault};
use crate::{
    Action, Base, BinaryOp, ChildMut, EdgeId, Expr, Init, LocationId, Meaning, Place, ProcessType, ProcessTypeId,
    Ranges, System, UnaryOp,
};

/// Unreachable code makes more variables constant, and constants make more code unreachable; few rounds suffice.
const MOST_ROUNDS: usize = 4;

pub(super) fn constants(system: &mut System) {
    for _ in 0..MOST_ROUNDS {
        let before = system.clone();
        fold_all(system);
        drop_unreachable(system);
        if *system == before {
            return;
        }
    }
}

/// Replaces constant expressions by their values.
fn fold_all(system: &mut System) {
    let ranges = Ranges::new(system);
    let fold_in = |of: Option<ProcessTypeId>| Folding { ranges: Some(&ranges), of };
    for (condition, _) in system.invariants.iter_mut().chain(&mut system.propositions) {
        fold_in(None).expr(condition);
    }
    // When a frame is created, its variables may not have their values yet.
    let early = Folding { ranges: None, of: None };
    let frames = system.process_types.iter_mut().map(|process| &mut process.frame);
    for init in frames.chain([&mut system.globals]).flat_map(|frame| &mut frame.init) {
        match init {
            Init::Value(place, value) => {
                early.place(place);
                early.expr(value);
            }
            Init::Channel(place, _) => early.place(place),
        }
    }
    for (id, process) in (0..).map(ProcessTypeId).zip(&mut system.process_types) {
        let folding = fold_in(Some(id));
        process.provided.iter_mut().for_each(|condition| folding.expr(condition));
        for edge in process.locations.iter().flat_map(crate::Location::edges) {
            folding.action(&mut system.edges[edge.index()].action);
        }
    }
}

struct Folding<'a> {
    /// The ranges of variables, if they can be relied upon.
    ranges: Option<&'a Ranges>,
    of: Option<ProcessTypeId>,
}

impl Folding<'_> {
    fn action(&self, action: &mut Action) {
        action.each_child_mut(&mut |child| match child {
            ChildMut::Expr(expr) => self.expr(expr),
            ChildMut::Store(place) => self.place(place),
            ChildMut::Action(part) => self.action(part),
        });
    }

    fn place(&self, place: &mut Place) {
        place.each_child_mut(&mut |child| self.expr(child));
    }

    fn expr(&self, expr: &mut Expr) {
        expr.each_child_mut(&mut |child| self.expr(child));
        if let Some(simpler) = self.simpler(expr) {
            *expr = simpler;
        }
    }

    /// The simplified form of an expression whose parts are simplified.
    fn simpler(&self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::Load(place) => self.value(place).map(Expr::Const),
            Expr::Unary(op, operand) => operand.constant().map(|value| Expr::Const(op.apply(value))),
            Expr::Binary(op, operands) => {
                let (left, right) = (&operands.0, &operands.1);
                match (op, left.constant(), right.constant()) {
                    // A division by zero stays, and faults when it is evaluated.
                    (op, Some(left), Some(right)) => op.apply(left, right).map(Expr::Const),
                    (BinaryOp::And, Some(0), None) => Some(Expr::Const(0)),
                    (BinaryOp::And, Some(_), None) => Some(truth(right)),
                    (BinaryOp::And, None, Some(0)) if !may_fault(left) => Some(Expr::Const(0)),
                    (BinaryOp::And, None, Some(value)) if value != 0 => Some(truth(left)),
                    (BinaryOp::Or, Some(0), None) => Some(truth(right)),
                    (BinaryOp::Or, Some(_), None) => Some(Expr::Const(1)),
                    (BinaryOp::Or, None, Some(0)) => Some(truth(left)),
                    (BinaryOp::Or, None, Some(_)) if !may_fault(left) => Some(Expr::Const(1)),
                    (_, _, _) => None,
                }
            }
            Expr::Conditional(parts) => {
                parts.0.constant().map(|value| if value != 0 { parts.1.clone() } else { parts.2.clone() })
            }
            Expr::Const(_)
            | Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Started
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Find(_)
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Fault(_) => None,
        }
    }

    /// The only value of a place.
    fn value(&self, place: &Place) -> Option<i32> {
        match &place.base {
            Base::Global | Base::Local => {}
            Base::Remote(..) => return None,
            Base::Nowhere => return is_always_there(place).then_some(0),
        }
        // Channels are displayed by their variables.
        if !is_always_there(place) || place.scalar.meaning == Meaning::Channel {
            return None;
        }
        let range = self.ranges?.of(place, self.of);
        (range.low == range.high).then_some(range.low)
    }
}

/// The truth value of an expression, 1 or 0.
fn truth(expr: &Expr) -> Expr {
    let is_truth = match expr {
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, _) => op.is_logical(),
        Expr::Channel(..) | Expr::Poll(_) | Expr::Timeout | Expr::Enabled(_) | Expr::At(..) => true,
        Expr::Const(_)
        | Expr::Load(_)
        | Expr::Conditional(_)
        | Expr::Length(_)
        | Expr::Myself
        | Expr::ProcessCount
        | Expr::Last
        | Expr::Started
        | Expr::LocationOf(_)
        | Expr::PriorityOf(_)
        | Expr::Find(_)
        | Expr::NonProgress
        | Expr::Accepting
        | Expr::Fault(_) => false,
    };
    if is_truth { expr.clone() } else { Expr::binary(BinaryOp::Ne, expr.clone(), Expr::Const(0)) }
}

/// Disables the edges of unreachable locations, and blocks that are never enabled.
fn drop_unreachable(system: &mut System) {
    let reached = Reached::of(system);
    let mut idle: Vec<EdgeId> = Vec::new();
    for (id, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        for (at, location) in (0..).map(LocationId).zip(&process.locations) {
            let is_reached = reached.locations.contains(&(id, at));
            let is_idle = |edge: &EdgeId| !is_reached || system.edge(*edge).action.is_never_possible();
            idle.extend(location.edges().filter(is_idle));
        }
    }
    for edge in idle {
        let edge = &mut system.edges[edge.index()];
        // Only the end of a process has no target.
        if edge.action != Action::End {
            edge.action = Action::Guard(Expr::Const(0));
        }
    }
}

/// The reachable locations, without regard to data.
struct Reached {
    types: HashSet<ProcessTypeId>,
    locations: HashSet<(ProcessTypeId, LocationId)>,
    waiting: Vec<(ProcessTypeId, LocationId)>,
}

impl Reached {
    fn of(system: &System) -> Reached {
        let mut reached = Reached { types: HashSet::new(), locations: HashSet::new(), waiting: Vec::new() };
        system.start.iter().for_each(|start| reached.start(system, start.process_type));
        while let Some((id, at)) = reached.waiting.pop() {
            let process: &ProcessType = system.process_type(id);
            for edge in system.edges_of(&process.locations[at.index()]) {
                if edge.action.is_never_possible() {
                    continue;
                }
                edge.target.into_iter().for_each(|target| reached.come(id, target));
                edge.action.each_run(&mut |run| reached.start(system, run.process_type));
            }
        }
        reached
    }

    fn start(&mut self, system: &System, id: ProcessTypeId) {
        if self.types.insert(id) {
            self.come(id, system.process_type(id).entry);
        }
    }

    fn come(&mut self, id: ProcessTypeId, at: LocationId) {
        if self.locations.insert((id, at)) {
            self.waiting.push((id, at));
        }
    }
}
