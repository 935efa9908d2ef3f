//! The syntax tree of a Promela model: names unresolved, types unchecked, macros and inlines expanded.

use crate::source::Span;
use std::sync::Arc;

/// Promela's operators are those of the automata.
pub use entail_ir::{BinaryOp, ChannelTest, UnaryOp};
pub use entail_temporal::ctl::Quantifier;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: Arc<str>,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub units: Vec<Unit>,
}

#[derive(Clone, Debug)]
pub enum Unit {
    Proctype(Box<Proctype>),
    Init(Init),
    Never(Claim),
    Trace(Trace),
    Ltl(Formula),
    Ctl(Formula),
    HoaClaim(Box<HoaClaim>),
    Typedef(Typedef),
    Mtype(Mtype),
    Decl(Decl),
}

/// A process type: a proctype or `init`.
#[derive(Clone, Debug)]
pub struct Process<'a> {
    pub name: Ident,
    pub params: &'a [Decl],
    pub priority: Option<&'a Expr>,
    pub body: &'a [Step],
    pub end: Span,
    /// Its other clauses; `None` for `init`.
    pub proctype: Option<&'a Proctype>,
}

impl Program {
    /// The process types, in the order of the text.
    pub fn processes(&self) -> impl Iterator<Item = Process<'_>> {
        self.units.iter().filter_map(Unit::process)
    }
}

impl Unit {
    /// The process type that it declares.
    pub fn process(&self) -> Option<Process<'_>> {
        match self {
            Unit::Proctype(proctype) => Some(proctype.process()),
            Unit::Init(init) => Some(init.process()),
            Unit::Never(_)
            | Unit::Trace(_)
            | Unit::Ltl(_)
            | Unit::Ctl(_)
            | Unit::HoaClaim(_)
            | Unit::Typedef(_)
            | Unit::Mtype(_)
            | Unit::Decl(_) => None,
        }
    }
}

impl Proctype {
    pub fn process(&self) -> Process<'_> {
        let Proctype { params, body, end, .. } = self;
        let (name, priority) = (self.name.clone(), self.priority.as_ref());
        Process { name, params, priority, body, end: *end, proctype: Some(self) }
    }
}

impl Init {
    pub fn process(&self) -> Process<'_> {
        let name = Ident { name: "init".into(), span: self.span };
        Process {
            name,
            params: &[],
            priority: self.priority.as_ref(),
            body: &self.body,
            end: self.end,
            proctype: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Proctype {
    pub name: Ident,
    /// `active` is `Some(1)`, `active [n]` is `Some(n)`; the expression is constant.
    pub active: Option<Expr>,
    /// `D_proctype`: at most one step may be enabled at a time.
    pub deterministic: bool,
    pub params: Vec<Decl>,
    pub priority: Option<Expr>,
    pub provided: Option<Expr>,
    pub body: Vec<Step>,
    pub span: Span,
    /// The closing brace, where the process ends.
    pub end: Span,
}

#[derive(Clone, Debug)]
pub struct Init {
    pub priority: Option<Expr>,
    pub body: Vec<Step>,
    pub span: Span,
    pub end: Span,
}

#[derive(Clone, Debug)]
pub struct Claim {
    pub name: Option<Ident>,
    pub body: Vec<Step>,
    pub span: Span,
    pub end: Span,
}

#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`: the events must not match.
    pub negated: bool,
    pub body: Vec<Step>,
    pub span: Span,
    pub end: Span,
}

/// `ltl name { … }` or `ctl name { … }`.
#[derive(Clone, Debug)]
pub struct Formula {
    pub name: Option<Ident>,
    /// `None` if it could not be parsed.
    pub expr: Option<Expr>,
    pub span: Span,
}

/// An automaton in the HOA format that must accept no run.
#[derive(Clone, Debug)]
pub struct HoaClaim {
    pub name: Ident,
    pub automaton: entail_temporal::Automaton,
    pub propositions: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Typedef {
    pub name: Ident,
    pub fields: Vec<Decl>,
    pub span: Span,
}

/// `mtype = { a, b, c }` or `mtype:fruit = { … }`.
#[derive(Clone, Debug)]
pub struct Mtype {
    pub subtype: Option<Ident>,
    pub names: Vec<Ident>,
    pub span: Span,
}

/// One declaration of one or more variables: `hidden byte x = 1, y[3]`.
#[derive(Clone, Debug)]
pub struct Decl {
    pub visibility: Visibility,
    pub ty: Type,
    pub vars: Vec<Declarator>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Normal,
    Hidden,
    Show,
    Local,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// The width belongs to each variable.
    Unsigned,
    Chan,
    Mtype(Option<Ident>),
    /// A name introduced by `typedef`.
    Record(Ident),
}

#[derive(Clone, Debug)]
pub struct Declarator {
    pub name: Ident,
    /// `unsigned x : 5`.
    pub width: Option<(u32, Span)>,
    /// `x[n]`; the expression is constant, or the name of a variable with a constant initialiser.
    pub array: Option<Expr>,
    pub init: Option<Initialiser>,
}

#[derive(Clone, Debug)]
pub enum Initialiser {
    Expr(Expr),
    /// `{ 1, 2, 3 }` for an array.
    List(Vec<Expr>, Span),
    Channel(ChannelInit),
}

impl Initialiser {
    /// The values; a channel has none.
    pub fn values(&self) -> &[Expr] {
        match self {
            Initialiser::Expr(value) => std::slice::from_ref(value),
            Initialiser::List(values, _) => values,
            Initialiser::Channel(_) => &[],
        }
    }
}

/// `[capacity] of { types }`.
#[derive(Clone, Debug)]
pub struct ChannelInit {
    pub capacity: Expr,
    pub fields: Vec<(Type, Span)>,
    pub span: Span,
}

/// One element of a sequence.
#[derive(Clone, Debug)]
pub enum Step {
    Decl(Decl),
    /// `xr q` or `xs q`.
    Exclusive(Exclusive),
    Stmt(Box<Stmt>),
}

#[derive(Clone, Debug)]
pub struct Exclusive {
    pub receive: bool,
    pub channels: Vec<VarRef>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

impl Stmt {
    pub fn skip(span: Span) -> Stmt {
        Stmt { kind: StmtKind::Expr(Expr::constant(1, span)), span }
    }

    pub fn is_skip(&self) -> bool {
        matches!(&self.kind, StmtKind::Expr(Expr { kind: ExprKind::Const(1), .. }))
    }
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `name: stmt`. A label without a statement labels a `skip`.
    Labelled(Ident, Box<Stmt>),
    Assign(VarRef, Expr),
    Increment(VarRef),
    Decrement(VarRef),
    Send(Send),
    Receive(Receive),
    /// An expression as a statement: a guard.
    Expr(Expr),
    Else,
    Assert(Expr),
    /// The format with its quotes and escapes as written.
    Printf(Arc<str>, Vec<Expr>),
    Printm(Expr),
    SetPriority(Expr, Expr),
    If(Vec<Branch>),
    Do(Vec<Branch>),
    /// `for (var : from .. to) { body }`
    ForRange {
        var: VarRef,
        from: Expr,
        to: Expr,
        body: Vec<Step>,
    },
    /// `for (var in over) { body }`, `over` an array or a channel.
    ForIn {
        var: VarRef,
        over: VarRef,
        body: Vec<Step>,
    },
    /// `select (var : from .. to)`
    Select {
        var: VarRef,
        from: Expr,
        to: Expr,
    },
    Atomic(Vec<Step>),
    DStep(Vec<Step>),
    Block(Vec<Step>),
    /// The body of an inline where it was called; a scope like a block.
    Inlined {
        name: Ident,
        body: Vec<Step>,
    },
    /// `body unless escape`
    Unless(Box<Stmt>, Box<Stmt>),
    Break,
    Goto(Ident),
}

/// How a statement is composed of others. A statement that a process executes in one step is simple; so is a `select`.
#[derive(Clone, Copy, Debug)]
pub enum Structure<'a> {
    Simple,
    Labelled(&'a Ident, &'a Stmt),
    If(&'a [Branch]),
    Do(&'a [Branch]),
    For(&'a [Step]),
    Atomic(&'a [Step]),
    DStep(&'a [Step]),
    Block(&'a [Step]),
    Inlined(&'a Ident, &'a [Step]),
    Unless(&'a Stmt, &'a Stmt),
    Break,
    Goto(&'a Ident),
}

/// A direct part of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    Expr(&'a Expr),
    Var(&'a VarRef),
    Steps(&'a [Step]),
    Stmt(&'a Stmt),
}

impl StmtKind {
    pub fn structure(&self) -> Structure<'_> {
        match self {
            StmtKind::Assign(..)
            | StmtKind::Increment(_)
            | StmtKind::Decrement(_)
            | StmtKind::Send(_)
            | StmtKind::Receive(_)
            | StmtKind::Expr(_)
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Printf(..)
            | StmtKind::Printm(_)
            | StmtKind::SetPriority(..)
            | StmtKind::Select { .. } => Structure::Simple,
            StmtKind::Labelled(label, inner) => Structure::Labelled(label, inner),
            StmtKind::If(branches) => Structure::If(branches),
            StmtKind::Do(branches) => Structure::Do(branches),
            StmtKind::ForRange { body, .. } | StmtKind::ForIn { body, .. } => Structure::For(body),
            StmtKind::Atomic(body) => Structure::Atomic(body),
            StmtKind::DStep(body) => Structure::DStep(body),
            StmtKind::Block(body) => Structure::Block(body),
            StmtKind::Inlined { name, body } => Structure::Inlined(name, body),
            StmtKind::Unless(body, escape) => Structure::Unless(body, escape),
            StmtKind::Break => Structure::Break,
            StmtKind::Goto(label) => Structure::Goto(label),
        }
    }

    /// Calls `each` for every direct part, in the order of the text.
    pub fn each_child<'a>(&'a self, each: &mut dyn FnMut(Child<'a>)) {
        match self {
            StmtKind::Labelled(_, inner) => each(Child::Stmt(inner)),
            StmtKind::Assign(var, value) => {
                each(Child::Var(var));
                each(Child::Expr(value));
            }
            StmtKind::Increment(var) | StmtKind::Decrement(var) => each(Child::Var(var)),
            StmtKind::Send(send) => {
                each(Child::Var(&send.channel));
                send.args.iter().for_each(|arg| each(Child::Expr(arg)));
            }
            StmtKind::Receive(receive) => {
                each(Child::Var(&receive.channel));
                receive.args.iter().for_each(|arg| arg.each_child(each));
            }
            StmtKind::Expr(value) | StmtKind::Assert(value) | StmtKind::Printm(value) => each(Child::Expr(value)),
            StmtKind::Printf(_, args) => args.iter().for_each(|arg| each(Child::Expr(arg))),
            StmtKind::SetPriority(process, priority) => {
                each(Child::Expr(process));
                each(Child::Expr(priority));
            }
            StmtKind::If(branches) | StmtKind::Do(branches) => {
                branches.iter().for_each(|branch| each(Child::Steps(&branch.body)));
            }
            StmtKind::ForRange { var, from, to, body } => {
                each(Child::Var(var));
                each(Child::Expr(from));
                each(Child::Expr(to));
                each(Child::Steps(body));
            }
            StmtKind::ForIn { var, over, body } => {
                each(Child::Var(var));
                each(Child::Var(over));
                each(Child::Steps(body));
            }
            StmtKind::Select { var, from, to } => {
                each(Child::Var(var));
                each(Child::Expr(from));
                each(Child::Expr(to));
            }
            StmtKind::Atomic(body)
            | StmtKind::DStep(body)
            | StmtKind::Block(body)
            | StmtKind::Inlined { body, .. } => each(Child::Steps(body)),
            StmtKind::Unless(body, escape) => {
                each(Child::Stmt(body));
                each(Child::Stmt(escape));
            }
            StmtKind::Else | StmtKind::Break | StmtKind::Goto(_) => {}
        }
    }
}

impl ReceiveArg {
    /// Calls `each` for its direct part, if there is one.
    pub fn each_child<'a>(&'a self, each: &mut dyn FnMut(Child<'a>)) {
        match self {
            ReceiveArg::Var(var) => each(Child::Var(var)),
            ReceiveArg::Eval(value) => each(Child::Expr(value)),
            ReceiveArg::Const(..) => {}
        }
    }
}

/// One `:: sequence` of an `if` or `do`.
#[derive(Clone, Debug)]
pub struct Branch {
    pub body: Vec<Step>,
    pub span: Span,
}

/// `chan ! args`, or with `!!` sorted.
#[derive(Clone, Debug)]
pub struct Send {
    pub channel: VarRef,
    pub sorted: bool,
    pub args: Vec<Expr>,
}

/// `chan ? args`, with `??` from anywhere in the buffer, with `<args>` leaving the message there.
#[derive(Clone, Debug)]
pub struct Receive {
    pub channel: VarRef,
    pub random: bool,
    pub keep: bool,
    pub args: Vec<ReceiveArg>,
}

#[derive(Clone, Debug)]
pub enum ReceiveArg {
    /// A variable to store into, the write-only `_`, or (resolved later) the name of an `mtype` constant.
    Var(VarRef),
    /// `eval(expr)`: must be equal.
    Eval(Expr),
    /// A constant: must be equal.
    Const(i32, Span),
}

/// `a[i].b.c[j]`.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// Not empty.
    pub parts: Vec<Part>,
    pub span: Span,
}

impl VarRef {
    pub fn named(name: Ident, span: Span) -> VarRef {
        VarRef { parts: vec![Part { name, index: None }], span }
    }

    /// The name, if it is just one.
    pub fn name(&self) -> Option<&Ident> {
        match &self.parts[..] {
            [Part { name, index: None }] => Some(name),
            _ => None,
        }
    }

    /// Whether it is just this name.
    pub fn is(&self, name: &str) -> bool {
        self.name().is_some_and(|only| &*only.name == name)
    }
}

#[derive(Clone, Debug)]
pub struct Part {
    pub name: Ident,
    pub index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl Expr {
    pub fn constant(value: i32, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), span }
    }

    pub fn var(var: VarRef) -> Expr {
        Expr { span: var.span, kind: ExprKind::Var(var) }
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Numbers, characters, `true`, `false`, `skip`.
    Const(i32),
    /// A variable, or (resolved later) the name of an `mtype` constant.
    Var(VarRef),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(cond -> yes : no)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        proctype: Ident,
        args: Vec<Expr>,
        priority: Option<Box<Expr>>,
    },
    Len(VarRef),
    Channel(ChannelTest, VarRef),
    /// `chan ? [args]`, with `??` anywhere in the buffer: could it be received?
    Poll {
        channel: VarRef,
        random: bool,
        args: Vec<ReceiveArg>,
    },
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    Timeout,
    /// `np_`
    NonProgress,
    /// `proctype@label`, `proctype[pid]@label`
    RemoteLabel {
        proctype: Ident,
        pid: Option<Box<Expr>>,
        label: Ident,
    },
    /// `proctype:var`, `proctype[pid]:var[index]`
    RemoteVar {
        proctype: Ident,
        pid: Option<Box<Expr>>,
        var: Part,
    },
    /// Temporal operators; only in formulas.
    Temporal(TemporalOp, Vec<Expr>),
    /// A path quantifier; only in CTL formulas.
    Runs(Quantifier, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalOp {
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    Implies,
    Equivalent,
}
