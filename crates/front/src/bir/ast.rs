//! The syntax tree.

use crate::source::Span;
use entail_ir::{BinaryOp, UnaryOp};

#[derive(Clone, Copy, Debug)]
pub struct Name<'t> {
    pub text: &'t str,
    pub span: Span,
}

#[derive(Debug)]
pub struct Model<'t> {
    pub name: Name<'t>,
    pub members: Vec<Member<'t>>,
}

#[derive(Debug)]
pub enum Member<'t> {
    Constants(Constants<'t>),
    Alias(Name<'t>, Type<'t>),
    Enumeration(Enumeration<'t>),
    Record(Record<'t>),
    Variables(Variables<'t>),
    Thread(Thread<'t>),
    Invariants(Vec<Expr<'t>>),
}

#[derive(Debug)]
pub struct Constants<'t> {
    pub name: Name<'t>,
    pub values: Vec<(Name<'t>, Expr<'t>)>,
}

#[derive(Debug)]
pub struct Enumeration<'t> {
    pub name: Name<'t>,
    pub members: Vec<Name<'t>>,
}

#[derive(Debug)]
pub struct Record<'t> {
    pub name: Name<'t>,
    pub fields: Vec<Variables<'t>>,
}

/// Variables, fields or a parameter: names of one type, with optional initial values.
#[derive(Debug)]
pub struct Variables<'t> {
    pub ty: Type<'t>,
    pub names: Vec<(Name<'t>, Option<Expr<'t>>)>,
}

#[derive(Debug)]
pub struct Type<'t> {
    pub kind: TypeKind<'t>,
    pub span: Span,
}

#[derive(Debug)]
pub enum TypeKind<'t> {
    Boolean,
    Int,
    Range { wraps: bool, bounds: Box<(Expr<'t>, Expr<'t>)> },
    Lock,
    Tid,
    Named(Name<'t>),
    Array { element: Box<Type<'t>>, len: Box<Expr<'t>> },
}

#[derive(Debug)]
pub struct Thread<'t> {
    pub name: Name<'t>,
    /// From the beginning to the end of the parameters.
    pub head: Span,
    pub active: Option<Active<'t>>,
    pub params: Vec<Variables<'t>>,
    pub locals: Vec<Variables<'t>>,
    pub locations: Vec<Location<'t>>,
    /// Whether the location contains `wasNotified`, so that the thread must record its notifications.
    pub asks_notified: bool,
}

#[derive(Debug)]
pub struct Active<'t> {
    pub span: Span,
    /// 1 by default.
    pub count: Option<Expr<'t>>,
}

#[derive(Debug)]
pub struct Location<'t> {
    pub name: Name<'t>,
    pub transformations: Vec<Transformation<'t>>,
}

#[derive(Debug)]
pub struct Transformation<'t> {
    pub span: Span,
    pub guard: Option<Expr<'t>>,
    pub actions: Vec<Action<'t>>,
    pub jump: Jump<'t>,
}

#[derive(Clone, Copy, Debug)]
pub enum Jump<'t> {
    Goto(Name<'t>),
    Return,
}

#[derive(Debug)]
pub struct Action<'t> {
    pub kind: ActionKind<'t>,
    /// The span. For an action that contains others, only the part before them.
    pub span: Span,
}

#[derive(Debug)]
pub enum ActionKind<'t> {
    Assign { target: Expr<'t>, value: Expr<'t> },
    Start { target: Option<Expr<'t>>, thread: Name<'t>, args: Vec<Expr<'t>> },
    Assert(Expr<'t>),
    Assume(Expr<'t>),
    Skip,
    Exit,
    Monitor(Monitor, Expr<'t>),
    If { condition: Expr<'t>, yes: Vec<Action<'t>>, no: Vec<Action<'t>> },
    Choose { alternatives: Vec<Alternative<'t>>, otherwise: Option<Alternative<'t>> },
}

/// The operations on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monitor {
    Lock,
    Unlock,
    Wait,
    Notify,
    NotifyAll,
}

#[derive(Debug)]
pub struct Alternative<'t> {
    /// From the beginning to `do`.
    pub head: Span,
    pub guard: Option<Expr<'t>>,
    pub actions: Vec<Action<'t>>,
}

#[derive(Debug)]
pub struct Expr<'t> {
    pub kind: ExprKind<'t>,
    pub span: Span,
    /// The height of the expression tree after lowering.
    pub height: u16,
}

#[derive(Debug)]
pub enum ExprKind<'t> {
    Number(i32),
    Boolean(bool),
    Name(Name<'t>),
    Field(Box<Expr<'t>>, Name<'t>),
    Index(Box<(Expr<'t>, Expr<'t>)>),
    Unary(UnaryOp, Box<Expr<'t>>),
    Plus(Box<Expr<'t>>),
    Binary(Operator, Box<(Expr<'t>, Expr<'t>)>),
    Conditional(Box<(Expr<'t>, Expr<'t>, Expr<'t>)>),
    Cast(Box<(Type<'t>, Expr<'t>)>),
    Call(Name<'t>, Vec<Expr<'t>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Plain(BinaryOp),
    /// `>>>`: shifts in zeros from the left.
    ShrUnsigned,
}

impl Expr<'_> {
    /// Whether it has the syntax of a variable, or of a part of one.
    pub fn is_place(&self) -> bool {
        matches!(self.kind, ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(_))
    }
}

/// Calls `each` for every action, including nested ones.
pub fn each_action<'m, 't>(actions: &'m [Action<'t>], each: &mut impl FnMut(&'m Action<'t>)) {
    for action in actions {
        each(action);
        match &action.kind {
            ActionKind::Assign { .. }
            | ActionKind::Start { .. }
            | ActionKind::Assert(_)
            | ActionKind::Assume(_)
            | ActionKind::Skip
            | ActionKind::Exit
            | ActionKind::Monitor(..) => {}
            ActionKind::If { yes, no, .. } => {
                each_action(yes, each);
                each_action(no, each);
            }
            ActionKind::Choose { alternatives, otherwise } => {
                alternatives.iter().chain(otherwise).for_each(|one| each_action(&one.actions, each));
            }
        }
    }
}

impl<'t> Thread<'t> {
    /// Calls `each` for every action of the thread.
    pub fn each_action<'m>(&'m self, mut each: impl FnMut(&'m Action<'t>)) {
        let transformations = self.locations.iter().flat_map(|location| &location.transformations);
        transformations.for_each(|transformation| each_action(&transformation.actions, &mut each));
    }
}
