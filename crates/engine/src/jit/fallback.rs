//! Selection of rare cases that are left to the interpreter.

use crate::jit::context::{MAX_FIELDS, MAX_FORGOTTEN};
use crate::jit::program::Program;
use entail_ir::{
    Action, Base, BinaryOp, Child, Edge, Effect, Enabling, Expr, Pattern, Place, ProcessType, ProcessTypeId,
    Receive, Send,
};

/// Deeper expressions are left to the interpreter, which bounds the recursion here.
const MAX_DEPTH: usize = 100;
/// The maximal number of kinds of channels in generated code.
const MAX_SHAPES: usize = 12;

/// How an edge is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    Native,
    /// Generated code evaluates the guard; the interpreter takes the step.
    Fired,
    /// The interpreter does both.
    Interpreted,
}

impl Program<'_> {
    /// Whether generated code cannot execute rendezvous.
    pub(crate) fn cannot_meet(&self) -> bool {
        self.shapes.iter().any(|shape| shape.capacity == 0 && shape.fields.len() > MAX_FIELDS)
            || self.each_edge().any(|(of, _, edge)| {
                let provided = self.system.process_type(of).provided.as_ref();
                let hard = |receive: &&Receive| receive.fields.len() > MAX_FIELDS || self.is_hard_receive(receive);
                self.may_accept(edge, of)
                    && (self.receives(&edge.action).iter().any(hard)
                        || provided.is_some_and(|condition| self.is_hard(condition)))
            })
    }

    /// Whether all steps can be taken on the words of packed states, which requires that they access only numbers.
    pub(crate) fn can_do_with_words(&self) -> bool {
        let is_simple = |process: &ProcessType| process.provided.is_none() && !process.deterministic;
        self.system.invariants.is_empty()
            && !self.system.uses_priorities
            && self.system.process_types.iter().all(is_simple)
            && self.each_edge().all(|(of, _, edge)| {
                let stays = edge.target.is_none_or(|target| self.is_never_stuck(of, target));
                only_numbers(&edge.action) && (!edge.atomic || stays)
            })
    }

    /// Whether there are propositions, and generated code can evaluate them. For packed states only: their bytes do not
    /// exist.
    pub(crate) fn can_evaluate_propositions(&self) -> bool {
        let propositions = &self.system.propositions;
        !self.only_words
            && (1..u64::BITS as usize).contains(&propositions.len())
            && propositions.iter().all(|(condition, _)| {
                // The interpreter decides whether a timeout is possible.
                !self.is_hard(condition) && !condition.any(|part| matches!(part, Expr::Timeout))
            })
    }

    pub(crate) fn execution_of(&self, edge: &Edge, of: ProcessTypeId) -> Execution {
        let hard_effect = edge.target.is_none() != (edge.action == Action::End)
            || self.only_words && edge.target.is_none()
            || self.is_hard_effect(&edge.action)
            || self.system.invariants.iter().any(|(condition, _)| self.is_hard(condition))
            || self.is_hard_end(edge, of);
        let hard_offer = hard_effect || edge.forgets.len() > MAX_FORGOTTEN;
        if self.is_hard_guard(&edge.action, of) || hard_offer && self.may_offer(edge, of) {
            Execution::Interpreted
        } else if hard_effect {
            Execution::Fired
        } else {
            Execution::Native
        }
    }

    /// Whether an invariant reads channels that may end together with the process.
    fn is_hard_end(&self, edge: &Edge, of: ProcessTypeId) -> bool {
        edge.target.is_none()
            && self.layout.channels_of(of) > 0
            && self.system.invariants.iter().any(|(condition, _)| {
                condition.any(|expr| matches!(expr, Expr::Length(_) | Expr::Channel(..) | Expr::Poll(_)))
            })
    }

    /// Whether generated code cannot decide whether the action is executable.
    fn is_hard_guard(&self, action: &Action, of: ProcessTypeId) -> bool {
        match action.enabling() {
            Enabling::Condition(condition) => self.is_hard(condition),
            Enabling::Send(send) => {
                let meets = self.may_meet(&send.channel, of);
                self.is_hard(&send.channel)
                    || send.when.as_ref().is_some_and(|condition| self.is_hard(condition))
                    || self.shapes.len() > MAX_SHAPES
                    || meets && (self.meets_by_interpreter || self.is_hard_offer(send, of))
            }
            Enabling::Receive(receive) => self.is_hard_receive(receive),
            Enabling::AnyOf(actions) => actions.iter().any(|action| self.is_hard_guard(action, of)),
            Enabling::Always | Enabling::Else | Enabling::Youngest => false,
        }
    }

    fn is_hard_receive(&self, receive: &Receive) -> bool {
        self.shapes.len() > MAX_SHAPES
            || self.is_hard(&receive.channel)
            || receive.when.as_ref().is_some_and(|condition| self.is_hard(condition))
            || receive.fields.iter().any(|pattern| match pattern {
                Pattern::Store(place) => self.is_hard_place(place),
                Pattern::Equal(expected) => self.is_hard(expected),
                Pattern::Ignore => false,
            })
    }

    /// A condition that cannot be evaluated counts as true in the search for a partner, but must be reported where the
    /// message cannot be offered. This is too rare to be worth the code.
    fn is_hard_offer(&self, send: &Send, of: ProcessTypeId) -> bool {
        send.fields.iter().any(|field| self.is_hard(field))
            || send.when.as_ref().is_some_and(|condition| self.may_fault(condition, of))
    }

    /// Whether generated code cannot perform the action.
    fn is_hard_effect(&self, action: &Action) -> bool {
        match action.effect() {
            Effect::Nothing => {
                let mut hard = false;
                action.each_child(&mut |child| hard |= matches!(child, Child::Expr(expr) if self.is_hard(expr)));
                hard
            }
            // Its patterns belong to its guard.
            Effect::Receive(_) => false,
            Effect::Assign(place, value) => self.is_hard_place(place) || self.is_hard(value),
            Effect::Send(send) => send.fields.iter().any(|field| self.is_hard(field)),
            Effect::Other | Effect::Run(..) => true,
            Effect::Block(block) => {
                let mut hard = false;
                block.each_action(&mut |part| {
                    let guard = match part.enabling() {
                        Enabling::Condition(condition) => self.is_hard(condition),
                        Enabling::Send(send) => {
                            self.shapes.len() > MAX_SHAPES
                                || self.is_hard(&send.channel)
                                || send.when.as_ref().is_some_and(|condition| self.is_hard(condition))
                        }
                        Enabling::Receive(receive) => self.is_hard_receive(receive),
                        Enabling::Always | Enabling::Else => false,
                        Enabling::Youngest | Enabling::AnyOf(_) => true,
                    };
                    hard |= guard || self.is_hard_effect(part);
                });
                hard
            }
        }
    }

    /// Whether generated code cannot evaluate the expression.
    pub fn is_hard(&self, expr: &Expr) -> bool {
        depth(expr) > MAX_DEPTH
            || expr.any(|part| match part {
                Expr::Enabled(_) | Expr::NonProgress | Expr::Accepting | Expr::Started => true,
                Expr::Find(_) => self.facts.fixed().is_none(),
                Expr::Length(_) | Expr::Channel(..) | Expr::Poll(_) => self.shapes.len() > MAX_SHAPES,
                Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(_)
                | Expr::Myself
                | Expr::ProcessCount
                | Expr::Last
                | Expr::Timeout
                | Expr::LocationOf(_)
                | Expr::At(..)
                | Expr::PriorityOf(_)
                | Expr::Fault(_) => false,
            })
    }

    fn is_hard_place(&self, place: &Place) -> bool {
        let process = match &place.base {
            Base::Remote(process, _) => self.is_hard(process),
            Base::Global | Base::Local | Base::Nowhere => false,
        };
        process || place.indices.iter().any(|index| self.is_hard(&index.value))
    }

    /// Whether evaluating the expression may be a fault.
    pub fn may_fault(&self, expr: &Expr, of: ProcessTypeId) -> bool {
        expr.any(|part| match part {
            Expr::Fault(_) | Expr::Enabled(_) | Expr::Poll(_) => true,
            Expr::Load(place) => !place.indices.is_empty(),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, sides) => {
                !matches!(sides.1, Expr::Const(divisor) if divisor != 0)
            }
            Expr::Length(channel) | Expr::Channel(_, channel) => {
                let number = self.known(channel, Some(of));
                number.and_then(|number| self.global_channel(number)).is_none()
            }
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Started
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Find(_)
            | Expr::NonProgress
            | Expr::Accepting => false,
        })
    }
}

/// Whether the action only reads and writes numbers of its own process, or global ones.
fn only_numbers(action: &Action) -> bool {
    let mut only = true;
    action.each_expr(&mut |expr| {
        only &= match expr {
            Expr::Load(place) => place.is_near(),
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Fault(_) => true,
            Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Enabled(_)
            | Expr::Started
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Find(_)
            | Expr::NonProgress
            | Expr::Accepting => false,
        };
    });
    only && each_action(action, &|action| match action.effect() {
        Effect::Assign(place, _) => place.is_near(),
        // Starting processes is left to the interpreter.
        Effect::Nothing | Effect::Run(..) | Effect::Block(_) => true,
        Effect::Send(_) | Effect::Receive(_) | Effect::Other => false,
    })
}

/// Whether a condition holds for an action and all actions in it.
fn each_action(action: &Action, is: &dyn Fn(&Action) -> bool) -> bool {
    let mut all = is(action);
    if let Action::Deterministic(block) = action {
        block.each_action(&mut |part| all &= is(part));
    }
    all
}

fn depth(expr: &Expr) -> usize {
    let mut below = 0;
    expr.each_child(&mut |child| below = below.max(depth(child)));
    1 + below
}
