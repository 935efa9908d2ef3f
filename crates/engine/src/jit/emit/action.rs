//! Guards and effects of actions.

use super::channel::Channel;
use super::number::Number;
use super::receive::Match;
use super::{Emitter, Env};
use crate::jit::program::Shape;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use entail_ir::{
    Action, BinaryOp, BlockNode, Enabling, Expr, FaultKind, ProcessTypeId, Receive, Send, StatementId,
};

impl Emitter<'_, '_> {
    /// Continues only if the action is executable. A send counts as executable without a check for a partner.
    pub(super) fn possible(&mut self, action: &Action, env: &Env, no: Block) -> Option<Match> {
        match action.enabling() {
            Enabling::Receive(receive) => return Some(self.matching(receive, env, no)),
            Enabling::AnyOf(actions) => self.any_possible(actions, env, no),
            _ if env.offered => self.leave(no),
            Enabling::Condition(condition) => self.require(condition, env, no),
            Enabling::Send(send) => {
                let channel = self.channel(&send.channel, env);
                let full = self.is_full(&channel, env);
                let full = self.value(full);
                self.if_leave(full, no);
                if let Some(condition) = &send.when {
                    self.require(condition, env, no);
                }
            }
            Enabling::Youngest => {
                let count = self.process_count(env.state);
                let next = self.binary(BinaryOp::Add, env.who.number, Number::Known(1), env);
                let next = self.value(next);
                let youngest = self.b.ins().icmp(IntCC::Equal, next, count);
                self.unless_leave(youngest, no);
            }
            Enabling::Always | Enabling::Else => {}
        }
        None
    }

    fn any_possible(&mut self, actions: &[Action], env: &Env, no: Block) {
        let found = self.block();
        for action in actions {
            let next = self.block();
            self.possible(action, env, next);
            self.jump(found);
            self.go_on_in(next);
        }
        self.jump(no);
        self.go_on_in(found);
    }

    /// Jumps; the code after it is unreachable.
    fn leave(&mut self, to: Block) {
        self.jump(to);
        let nowhere = self.block();
        self.go_on_in(nowhere);
    }

    /// Performs an executable action: reads from the environment's state and writes to `opened`, or to a new entry.
    /// Returns the address written to.
    pub(super) fn perform(
        &mut self,
        action: &Action,
        found: Option<Match>,
        env: &Env,
        statement: StatementId,
        opened: Option<Value>,
    ) -> Value {
        let open = |this: &mut Self| opened.unwrap_or_else(|| this.open(env.state));
        match action {
            Action::Skip | Action::Guard(_) | Action::Else | Action::End => open(self),
            Action::Assign(place, value) => {
                let value = self.eval(value, env);
                let spot = self.find(place, env);
                self.check(value, place.scalar, env);
                let to = open(self);
                self.store_spot(to, spot, place.scalar, value);
                to
            }
            Action::Send(send) => self.perform_send(send, env, statement, opened),
            Action::Receive(receive) => {
                let found = found.expect("a receive is performed where it is known what it takes");
                self.perform_receive(receive, &found, env, statement, opened)
            }
            Action::Assert(condition) => {
                let (holds, violated) = (self.block(), self.cold_block());
                self.branch(condition, env, holds, violated);
                self.go_on_in(violated);
                self.fail(FaultKind::Assertion, statement);
                self.jump(holds);
                self.go_on_in(holds);
                open(self)
            }
            Action::Print(_, args) => {
                for arg in args {
                    self.eval(arg, env);
                }
                open(self)
            }
            Action::PrintName(name) => {
                self.eval(name, env);
                open(self)
            }
            Action::Deterministic(block) => {
                let to = open(self);
                self.run_block(block, env, to);
                to
            }
            Action::SetPriority(_) | Action::Run(..) => unreachable!("left to the interpreter"),
        }
    }

    fn perform_send(&mut self, send: &Send, env: &Env, statement: StatementId, opened: Option<Value>) -> Value {
        let channel = self.channel(&send.channel, env);
        self.perform_by_shape(&send.channel, &channel, env, opened, |this, shape, open| {
            if this.shape(shape).capacity == 0 {
                // There is no message to offer, or no receiver here.
                this.offered_values(send, shape, env);
                return this.fault(FaultKind::Rendezvous, env);
            }
            this.send_to_buffer(send, &channel, shape, env, open);
            if this.shape(shape).fields.len() != send.fields.len() {
                this.fail(FaultKind::MessageFields, statement);
            }
        })
    }

    fn perform_receive(
        &mut self,
        receive: &Receive,
        found: &Match,
        env: &Env,
        statement: StatementId,
        opened: Option<Value>,
    ) -> Value {
        self.perform_by_shape(&receive.channel, &found.channel, env, opened, |this, shape, open| {
            if this.shape(shape).capacity == 0 {
                // The action is not executable, so this is unreachable.
                return this.fault(FaultKind::Blocked, env);
            }
            this.receive_from_buffer(receive, found, shape, env, open);
            if this.shape(shape).fields.len() != receive.fields.len() && !receive.keep {
                this.fail(FaultKind::MessageFields, statement);
            }
        })
    }

    /// Performs an action on a channel, for each shape that it may have. Returns the address written to.
    fn perform_by_shape(
        &mut self,
        number: &Expr,
        channel: &Channel,
        env: &Env,
        opened: Option<Value>,
        mut perform: impl FnMut(&mut Self, usize, &mut dyn FnMut(&mut Self) -> Value),
    ) -> Value {
        let mut to = opened;
        if self.program.shapes_of(number, env.who.of).len() > 1 && to.is_none() {
            to = Some(self.open(env.state));
        }
        let join = self.block();
        let mut written = None;
        self.by_shape(channel, |this, shape| {
            perform(this, shape, &mut |this| *written.insert(to.unwrap_or_else(|| this.open(env.state))));
            this.jump(join);
        });
        self.go_on_in(join);
        written.or(to).unwrap_or(env.state)
    }

    /// Whether the action may fail without ending the step.
    pub(super) fn may_fail(&self, action: &Action, of: Option<ProcessTypeId>) -> bool {
        let differs = |fields: usize, shapes: Vec<&Shape>| shapes.iter().any(|shape| shape.fields.len() != fields);
        match action {
            Action::Assert(_) => true,
            Action::Send(send) => differs(send.fields.len(), self.program.shapes_of(&send.channel, of)),
            Action::Receive(receive) => differs(receive.fields.len(), self.program.shapes_of(&receive.channel, of)),
            Action::Deterministic(block) => {
                block.nodes.iter().filter_map(BlockNode::action).any(|action| self.may_fail(action, of))
            }
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Assign(..)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End => false,
        }
    }
}
