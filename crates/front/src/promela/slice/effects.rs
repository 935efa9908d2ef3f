//! The effects of statements on variables and channels.

use super::channels::{Channels, Class, Move};
use super::graph::{EdgeLabel, LoopPart};
use super::names::{BodyId, Names, VarId};
use crate::promela::ast::{
    BinaryOp, Decl, Declarator, Expr, ExprKind, Initialiser, Program, Receive, ReceiveArg, Send, Stmt, StmtKind,
    Unit, VarRef,
};
use crate::promela::walk;

/// A part of the state that a slice keeps or removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    Var(VarId),
    /// The messages in some channels.
    Messages(Class),
}

/// The reason why a statement stays, whatever the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mandatory {
    /// It may fault.
    MayFail,
    StartsProcess,
    /// It is a loop, or another statement that cannot be simplified.
    Special,
}

/// The effects of a statement.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The state that it depends on.
    pub reads: Vec<Item>,
    pub writes: Vec<Item>,
    /// The state that decides whether it is enabled.
    pub asks: Vec<Item>,
    /// Whether it is always enabled.
    pub always: bool,
    pub mandatory: Option<Mandatory>,
    /// Whether it may take part in a rendezvous, so that another process depends on its location.
    pub meets: bool,
    /// It sends or receives.
    pub communicates: bool,
}

/// Computes the effects of the statements of one process.
pub struct EffectAnalysis<'a, 'p> {
    pub names: &'a Names<'p>,
    pub channels: &'a Channels,
    /// `None` for code outside of processes.
    pub body: Option<BodyId>,
}

impl EffectAnalysis<'_, '_> {
    pub fn effects(&self, label: EdgeLabel, exact: bool) -> Effects {
        let mut effects = match label {
            EdgeLabel::Stmt(stmt) => self.statement(stmt, exact),
            EdgeLabel::Declared(var) => self.declared(var),
            EdgeLabel::Loop(stmt, loop_part) => self.loop_part(stmt, loop_part),
        };
        // A mandatory statement needs the variables that it writes; only messages can be discarded.
        if effects.mandatory.is_some() && !effects.communicates {
            effects.reads.extend(effects.writes.clone());
        }
        effects
    }

    fn statement(&self, stmt: &Stmt, exact: bool) -> Effects {
        match &stmt.kind {
            StmtKind::Assign(var, value) => {
                let mut reads = self.indices(var);
                self.expr(value, &mut reads);
                let faulty = self.place_may_fail(var) || self.may_fail(value);
                let mandatory = if has_run(value) { Some(Mandatory::StartsProcess) } else { may(faulty) };
                self.stored(var, reads, mandatory)
            }
            StmtKind::Increment(var) | StmtKind::Decrement(var) => {
                let mut reads = self.indices(var);
                reads.extend(self.written(var));
                self.stored(var, reads, may(self.place_may_fail(var)))
            }
            StmtKind::Send(send) => self.send(send),
            StmtKind::Receive(receive) => self.receive(receive),
            StmtKind::Expr(guard) => {
                let mut reads = Vec::new();
                self.expr(guard, &mut reads);
                let mandatory =
                    if has_run(guard) { Some(Mandatory::StartsProcess) } else { may(self.may_fail(guard)) };
                let always = matches!(guard.kind, ExprKind::Const(value) if value != 0);
                Effects { asks: reads.clone(), reads, always, mandatory, ..Effects::default() }
            }
            StmtKind::Assert(condition) | StmtKind::Printm(condition) => {
                self.harmless(std::slice::from_ref(condition))
            }
            StmtKind::Printf(_, args) => self.harmless(args),
            StmtKind::SetPriority(process, priority) => {
                let effects = self.harmless(&[process.clone(), priority.clone()]);
                Effects { mandatory: Some(Mandatory::Special), ..effects }
            }
            StmtKind::Select { var, from, to } => self.select(var, from, to, exact),
            StmtKind::Else | StmtKind::Break | StmtKind::Goto(_) => Effects { always: true, ..Effects::default() },
            StmtKind::Labelled(_, inner) => self.statement(inner, exact),
            StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::ForRange { .. }
            | StmtKind::ForIn { .. }
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Block(_)
            | StmtKind::Inlined { .. }
            | StmtKind::Unless(..) => unreachable!("a compound statement is no edge"),
        }
    }

    /// A step that is always enabled and stores to a variable.
    fn stored(&self, var: &VarRef, reads: Vec<Item>, mandatory: Option<Mandatory>) -> Effects {
        Effects { reads, writes: self.written(var), always: true, mandatory, ..Effects::default() }
    }

    /// A step that is always enabled and changes nothing.
    fn harmless(&self, args: &[Expr]) -> Effects {
        let mut reads = Vec::new();
        args.iter().for_each(|arg| self.expr(arg, &mut reads));
        let mandatory = may(args.iter().any(|arg| self.may_fail(arg)));
        Effects { reads, always: true, mandatory, ..Effects::default() }
    }

    fn send(&self, send: &Send) -> Effects {
        let mut reads = self.channel(&send.channel);
        send.args.iter().for_each(|arg| self.expr(arg, &mut reads));
        let faulty =
            self.channel_may_fail(&send.channel, send.args.len()) || send.args.iter().any(|arg| self.may_fail(arg));
        Effects {
            asks: reads.clone(),
            writes: self.messages(&send.channel),
            reads,
            mandatory: may(faulty),
            meets: self.may_meet(&send.channel),
            communicates: true,
            ..Effects::default()
        }
    }

    fn receive(&self, receive: &Receive) -> Effects {
        let mut reads = self.channel(&receive.channel);
        let mut writes = if receive.keep { Vec::new() } else { self.messages(&receive.channel) };
        let mut faulty = self.channel_may_fail(&receive.channel, receive.args.len());
        // No variable of the model depends on it, but `_pid` may be read anywhere in the process.
        let special = receive.args.iter().any(|arg| matches!(arg, ReceiveArg::Var(var) if var.is("_pid")));
        for arg in &receive.args {
            match arg {
                ReceiveArg::Var(var) => {
                    writes.extend(self.written(var));
                    reads.extend(self.indices(var));
                    faulty |= self.place_may_fail(var);
                    if self.can_be_discarded(var).is_none() {
                        reads.extend(self.written(var));
                    }
                }
                ReceiveArg::Eval(value) => {
                    self.expr(value, &mut reads);
                    faulty |= self.may_fail(value);
                }
                ReceiveArg::Const(..) => {}
            }
        }
        Effects {
            asks: reads.clone(),
            reads,
            writes,
            mandatory: if special { Some(Mandatory::Special) } else { may(faulty) },
            meets: self.may_meet(&receive.channel),
            communicates: true,
            ..Effects::default()
        }
    }

    /// The variable that a message is received into, if it can be replaced by `_`.
    pub fn can_be_discarded(&self, var: &VarRef) -> Option<VarId> {
        let [part] = &var.parts[..] else { return None };
        let id = self.find(&part.name.name)?;
        let is_plain = part.index.as_ref().is_none_or(|index| matches!(index.kind, ExprKind::Const(_)));
        (is_plain && !self.names[id].is_record()).then_some(id)
    }

    /// Between small constants, a `select` certainly terminates.
    fn select(&self, var: &VarRef, from: &Expr, to: &Expr, exact: bool) -> Effects {
        let mut reads = self.indices(var);
        reads.extend(self.written(var));
        self.expr(from, &mut reads);
        self.expr(to, &mut reads);
        let bounds = match (&from.kind, &to.kind) {
            (ExprKind::Const(from), ExprKind::Const(to)) => (0..=254).contains(from) && (*from..=254).contains(to),
            _ => false,
        };
        let id = var.name().and_then(|name| self.find(&name.name));
        let is_wide = id.is_some_and(|id| self.names[id].greatest() == Some(255));
        let mandatory = (exact || !bounds || !is_wide).then_some(Mandatory::Special);
        self.stored(var, reads, mandatory)
    }

    fn declared(&self, var: &Declarator) -> Effects {
        let writes: Vec<_> = self.find(&var.name.name).map(Item::Var).into_iter().collect();
        let mut reads = Vec::new();
        let mut faulty = false;
        if let Some(Initialiser::Expr(value)) = &var.init {
            self.expr(value, &mut reads);
            faulty = self.may_fail(value);
        }
        let starts = matches!(&var.init, Some(Initialiser::Expr(value)) if has_run(value));
        let mandatory = if starts { Some(Mandatory::StartsProcess) } else { may(faulty) };
        Effects { reads, writes, always: true, mandatory, ..Effects::default() }
    }

    fn loop_part(&self, stmt: &Stmt, loop_part: LoopPart) -> Effects {
        let (var, from, to, over) = match &stmt.kind {
            StmtKind::ForRange { var, from, to, .. } => (var, Some(from), Some(to), None),
            StmtKind::ForIn { var, over, .. } => (var, None, None, Some(over)),
            _ => unreachable!("only a `for` turns"),
        };
        if let Some(over) = over {
            let mut touched = self.written(var);
            touched.extend(self.channel(over));
            let (reads, writes, asks) = (touched.clone(), touched.clone(), touched);
            return Effects { reads, writes, asks, mandatory: Some(Mandatory::Special), ..Effects::default() };
        }
        let mut reads = self.indices(var);
        let mut faulty = self.place_may_fail(var);
        let mut read = |value: Option<&Expr>| {
            if let Some(value) = value {
                self.expr(value, &mut reads);
                faulty |= self.may_fail(value);
            }
        };
        match loop_part {
            LoopPart::Start => {
                read(from);
                self.stored(var, reads, may(faulty))
            }
            LoopPart::Test => {
                read(to);
                reads.extend(self.written(var));
                Effects { asks: reads.clone(), reads, mandatory: may(faulty), ..Effects::default() }
            }
            LoopPart::Next => {
                reads.extend(self.written(var));
                self.stored(var, reads, may(faulty))
            }
            LoopPart::Leave => Effects { always: true, ..Effects::default() },
        }
    }

    /// The state that an expression reads. The arguments of a `run` depend on what the new process needs.
    pub fn expr(&self, value: &Expr, found: &mut Vec<Item>) {
        if matches!(value.kind, ExprKind::Run { .. }) {
            return;
        }
        walk::expr(value, &mut |inner| match &inner.kind {
            ExprKind::Var(var) => found.extend(self.root(var)),
            ExprKind::Len(channel) | ExprKind::Channel(_, channel) => found.extend(self.channel(channel)),
            ExprKind::Poll { channel, args, .. } => {
                found.extend(self.channel(channel));
                for arg in args {
                    if let ReceiveArg::Var(var) = arg {
                        found.extend(self.root(var));
                    }
                }
            }
            ExprKind::RemoteVar { proctype, var, .. } => {
                found.extend(self.names.remote(&proctype.name, &var.name.name).map(Item::Var));
            }
            ExprKind::Const(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Run { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::GetPriority(_)
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::RemoteLabel { .. }
            | ExprKind::Temporal(..)
            | ExprKind::Runs(..) => {}
        });
    }

    fn find(&self, name: &str) -> Option<VarId> {
        self.names.find(self.body, name)
    }

    fn root(&self, var: &VarRef) -> Option<Item> {
        self.find(&var.parts[0].name.name).map(Item::Var)
    }

    /// The variable that is written; constants in a receive are not.
    fn written(&self, var: &VarRef) -> Vec<Item> {
        self.root(var).into_iter().collect()
    }

    fn indices(&self, var: &VarRef) -> Vec<Item> {
        let mut found = Vec::new();
        for index in var.parts.iter().filter_map(|part| part.index.as_deref()) {
            self.expr(index, &mut found);
        }
        found
    }

    fn channel(&self, channel: &VarRef) -> Vec<Item> {
        let mut found = self.indices(channel);
        found.extend(self.root(channel));
        found.extend(self.messages(channel));
        found
    }

    fn messages(&self, channel: &VarRef) -> Vec<Item> {
        let var = self.find(&channel.parts[0].name.name);
        var.map(|var| Item::Messages(self.channels.class(var))).into_iter().collect()
    }

    /// Whether evaluation may fault. In doubt, it may.
    pub fn may_fail(&self, value: &Expr) -> bool {
        walk::any(value, |inner| match &inner.kind {
            ExprKind::Var(var) => self.place_may_fail(var),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => {
                !matches!(by.kind, ExprKind::Const(by) if by != 0)
            }
            ExprKind::Len(channel) | ExprKind::Channel(_, channel) => self.made_channel(channel).is_none(),
            ExprKind::Poll { .. }
            | ExprKind::RemoteLabel { .. }
            | ExprKind::RemoteVar { .. }
            | ExprKind::Run { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::GetPriority(_) => true,
            ExprKind::Const(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::Temporal(..)
            | ExprKind::Runs(..) => false,
        })
    }

    /// Whether an index may be out of range.
    fn place_may_fail(&self, var: &VarRef) -> bool {
        let [part] = &var.parts[..] else {
            return var.parts.iter().any(|part| part.index.is_some());
        };
        let Some(index) = &part.index else { return false };
        let len = self.find(&part.name.name).and_then(|id| self.names[id].len());
        let greatest = match &index.kind {
            ExprKind::Const(value @ 0..) => Some(*value),
            ExprKind::Var(var) => var.name().and_then(|name| self.names[self.find(&name.name)?].greatest()),
            _ => None,
        };
        !matches!((greatest, len), (Some(greatest), Some(len)) if greatest < len)
    }

    /// The channel that a variable is initialised with, if it holds no other one.
    fn made_channel(&self, channel: &VarRef) -> Option<(i32, usize)> {
        let [part] = &channel.parts[..] else { return None };
        let id = self.find(&part.name.name)?;
        let alone =
            self.names.ids().all(|other| other == id || self.channels.class(other) != self.channels.class(id));
        let whole = !self.place_may_fail(channel) && !self.channels.is_written(id);
        self.names[id].channel().filter(|_| alone && whole)
    }

    fn channel_may_fail(&self, channel: &VarRef, fields: usize) -> bool {
        self.made_channel(channel).is_none_or(|(_, declared)| declared != fields)
    }

    fn may_meet(&self, channel: &VarRef) -> bool {
        self.made_channel(channel).is_none_or(|(capacity, _)| capacity <= 0)
    }
}

fn may(fail: bool) -> Option<Mandatory> {
    fail.then_some(Mandatory::MayFail)
}

pub fn has_run(value: &Expr) -> bool {
    walk::any(value, |inner| matches!(inner.kind, ExprKind::Run { .. }))
}

/// The flow of channels between variables and messages.
pub fn moves(program: &Program, names: &Names) -> Vec<Move> {
    let mut flow = ChannelFlow { names, body: None, moves: Vec::new() };
    let mut ids = (0..).map(BodyId);
    for unit in &program.units {
        if let Unit::Decl(decl) = unit {
            flow.body = None;
            flow.declaration(decl);
        }
        if let Some(process) = unit.process() {
            flow.body = ids.next();
            walk::items(process.body, &mut |item| match item {
                walk::Item::Decl(decl) => flow.declaration(decl),
                walk::Item::Stmt(stmt) => flow.statement(stmt),
            });
        }
    }
    flow.moves
}

struct ChannelFlow<'a, 'p> {
    names: &'a Names<'p>,
    /// `None` outside of processes.
    body: Option<BodyId>,
    moves: Vec<Move>,
}

impl ChannelFlow<'_, '_> {
    fn declaration(&mut self, decl: &Decl) {
        for var in &decl.vars {
            let id = self.names.find(self.body, &var.name.name);
            for value in var.init.iter().flat_map(Initialiser::values) {
                let from = self.vars(value);
                self.moves.extend(id.map(|id| Move::Into(id, from)));
                self.runs(value);
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(var, value) => {
                let from = self.vars(value);
                self.moves.extend(self.root(var).map(|to| Move::Into(to, from)));
                self.runs(value);
            }
            StmtKind::Send(send) => {
                let from: Vec<_> = send.args.iter().flat_map(|arg| self.vars(arg)).collect();
                self.moves.extend(self.root(&send.channel).map(|channel| Move::Sent(channel, from)));
            }
            StmtKind::Receive(receive) => {
                let Some(channel) = self.root(&receive.channel) else { return };
                for arg in &receive.args {
                    if let ReceiveArg::Var(var) = arg {
                        self.moves.extend(self.root(var).map(|to| Move::Received(channel, to)));
                    }
                }
            }
            StmtKind::Expr(value) => self.runs(value),
            StmtKind::ForIn { var, over, .. } => {
                if let (Some(var), Some(over)) = (self.root(var), self.root(over)) {
                    self.moves.extend([Move::Received(over, var), Move::Sent(over, vec![var])]);
                }
            }
            _ => {}
        }
    }

    /// The arguments of a new process.
    fn runs(&mut self, value: &Expr) {
        let mut moves = Vec::new();
        walk::expr(value, &mut |inner| {
            let ExprKind::Run { proctype, args, .. } = &inner.kind else { return };
            let Some(&started) = self.names.proctypes.get(&proctype.name) else { return };
            for (arg, &param) in args.iter().zip(&self.names.params[started.0]) {
                moves.push(Move::Into(param, self.vars(arg)));
            }
        });
        self.moves.extend(moves);
    }

    fn root(&self, var: &VarRef) -> Option<VarId> {
        self.names.find(self.body, &var.parts[0].name.name)
    }

    fn vars(&self, value: &Expr) -> Vec<VarId> {
        let mut found = Vec::new();
        walk::expr(value, &mut |inner| match &inner.kind {
            ExprKind::Var(var) => found.extend(self.root(var)),
            ExprKind::RemoteVar { proctype, var, .. } => {
                found.extend(self.names.remote(&proctype.name, &var.name.name));
            }
            _ => {}
        });
        found
    }
}
