//! Expressions: 32-bit signed arithmetic, as in C.

use entail_model::{FaultKind, named};

use crate::{Base, LocationId, Pattern, Place, ProcessTypeId};

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Const(i32),
    Load(Box<Place>),
    Unary(UnaryOp, Box<Expr>),
    /// `And` and `Or` evaluate their right operand only if it matters.
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `(0) ? (1) : (2)`
    Conditional(Box<(Expr, Expr, Expr)>),
    /// The number of messages in the channel.
    Length(Box<Expr>),
    Channel(ChannelTest, Box<Expr>),
    /// Whether a message that matches the pattern could be received from the channel.
    Poll(Box<Poll>),
    /// The number of the process that evaluates it.
    Myself,
    /// The number of processes.
    ProcessCount,
    /// The number of the process that moved last.
    Last,
    /// Whether no other step is enabled.
    Timeout,
    /// The number of the process that the [`Action::Run`](crate::Action::Run) around it has started.
    Started,
    /// Whether the process with this number could move, without regard to partners of a rendezvous.
    Enabled(Box<Expr>),
    /// The number of the location of the process with this number.
    LocationOf(Box<Expr>),
    /// Whether the process with this number is at this location.
    At(Box<Expr>, LocationId),
    PriorityOf(Box<Expr>),
    /// The number of the oldest process of this type; -1 if there is none.
    Find(ProcessTypeId),
    /// No process is in a progress state, and the run has not ended. Only for propositions.
    NonProgress,
    /// Some process is in an acceptance state. Only for propositions.
    Accepting,
    /// Faults when evaluated.
    Fault(FaultKind),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Poll {
    pub channel: Expr,
    pub anywhere: bool,
    pub fields: Vec<Pattern>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitXor,
    BitOr,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelTest {
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

named!(ChannelTest { "full" => Full, "empty" => Empty, "nfull" => NotFull, "nempty" => NotEmpty });

impl Expr {
    /// The conjuncts, in order of evaluation.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        match self {
            Expr::Binary(BinaryOp::And, both) => {
                let mut parts = both.0.conjuncts();
                parts.extend(both.1.conjuncts());
                parts
            }
            other => vec![other],
        }
    }

    pub fn load(place: Place) -> Self {
        Expr::Load(Box::new(place))
    }

    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Self {
        Expr::Binary(op, Box::new((left, right)))
    }

    pub fn unary(op: UnaryOp, operand: Expr) -> Self {
        Expr::Unary(op, Box::new(operand))
    }

    pub fn conditional(condition: Expr, yes: Expr, no: Expr) -> Self {
        Expr::Conditional(Box::new((condition, yes, no)))
    }

    /// Whether it is a constant other than 0.
    pub fn is_true(&self) -> bool {
        matches!(self, Expr::Const(value) if *value != 0)
    }
}

/// The same visitors for shared and for mutable references.
macro_rules! child_visitors {
    ($each_child:ident $(, $mut:tt)?) => {
        impl Expr {
            /// Calls `each` for the direct subexpressions.
            pub fn $each_child<'a>(&'a $($mut)? self, each: &mut dyn FnMut(&'a $($mut)? Expr)) {
                match self {
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
                    Expr::Load(place) => place.$each_child(each),
                    Expr::Unary(_, operand)
                    | Expr::Length(operand)
                    | Expr::Channel(_, operand)
                    | Expr::Enabled(operand)
                    | Expr::LocationOf(operand)
                    | Expr::At(operand, _)
                    | Expr::PriorityOf(operand) => each(operand),
                    Expr::Binary(_, operands) => {
                        let (left, right) = &$($mut)? **operands;
                        each(left);
                        each(right);
                    }
                    Expr::Conditional(parts) => {
                        let (condition, yes, no) = &$($mut)? **parts;
                        each(condition);
                        each(yes);
                        each(no);
                    }
                    Expr::Poll(poll) => {
                        let Poll { channel, anywhere: _, fields } = &$($mut)? **poll;
                        each(channel);
                        fields.into_iter().for_each(|field| field.$each_child(each));
                    }
                }
            }
        }

        impl Place {
            /// Calls `each` for the expressions that determine its address.
            pub fn $each_child<'a>(&'a $($mut)? self, each: &mut dyn FnMut(&'a $($mut)? Expr)) {
                match &$($mut)? self.base {
                    Base::Global | Base::Local | Base::Nowhere => {}
                    Base::Remote(process, _) => each(process),
                }
                for index in &$($mut)? self.indices {
                    each(&$($mut)? index.value);
                }
            }
        }
    };
}

child_visitors!(each_child);
child_visitors!(each_child_mut, mut);

impl Expr {
    /// Calls `each` for this expression and all inside it.
    pub fn each<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        each(self);
        self.each_child(&mut |child| child.each(each));
    }

    /// Whether a condition holds for it or one inside it.
    pub fn any(&self, is: impl Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |part| found |= is(part));
        found
    }

    /// Whether `part` is one of its conjuncts.
    pub fn needs(&self, part: &Expr) -> bool {
        match self {
            Expr::Binary(BinaryOp::And, both) => both.0.needs(part) || both.1.needs(part),
            other => other == part,
        }
    }

    /// Whether evaluation may fault.
    pub fn may_fault(&self) -> bool {
        self.may_fault_unless(|place| place.indices.is_empty(), |_| false)
    }

    /// Whether evaluation may fault, given which places certainly exist and which divisors are certainly not 0.
    pub(crate) fn may_fault_unless(
        &self,
        exists: impl Fn(&Place) -> bool,
        divides: impl Fn(&Expr) -> bool,
    ) -> bool {
        self.any(|part| match part {
            Expr::Load(place) => !exists(place),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, sides) => !divides(&sides.1),
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Started
            | Expr::Find(_) => false,
            // Only others may not be there.
            Expr::PriorityOf(process) => **process != Expr::Myself,
            Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Fault(_) => true,
        })
    }

    /// Whether the two are syntactically complementary: in every state exactly one is true, or both fault.
    pub fn is_opposite(&self, other: &Expr) -> bool {
        match (self, other) {
            (Expr::Unary(UnaryOp::Not, inner), whole) | (whole, Expr::Unary(UnaryOp::Not, inner)) => {
                **inner == *whole
            }
            (Expr::Binary(op, operands), Expr::Binary(other_op, other_operands)) => {
                op.opposite() == Some(*other_op) && operands == other_operands
            }
            _ => false,
        }
    }

    /// The value of a constant expression; `None` if it is not constant, or divides by zero.
    pub fn constant(&self) -> Option<i32> {
        match self {
            Expr::Const(value) => Some(*value),
            Expr::Unary(op, operand) => operand.constant().map(|value| op.apply(value)),
            Expr::Binary(op, operands) => op.apply(operands.0.constant()?, operands.1.constant()?),
            Expr::Conditional(parts) => {
                if parts.0.constant()? != 0 {
                    parts.1.constant()
                } else {
                    parts.2.constant()
                }
            }
            _ => None,
        }
    }
}

impl UnaryOp {
    /// The symbol in C, Promela and the text form.
    pub fn symbol(self) -> char {
        match self {
            UnaryOp::Not => '!',
            UnaryOp::Negate => '-',
            UnaryOp::Complement => '~',
        }
    }

    pub fn apply(self, value: i32) -> i32 {
        match self {
            UnaryOp::Not => i32::from(value == 0),
            UnaryOp::Negate => value.wrapping_neg(),
            UnaryOp::Complement => !value,
        }
    }
}

impl BinaryOp {
    /// The symbol in C, Promela and the text form.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// Whether the result is a truth value.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOp::And | BinaryOp::Or) || self.opposite().is_some()
    }

    /// The complementary comparison.
    pub fn opposite(self) -> Option<BinaryOp> {
        const PAIRS: [[BinaryOp; 2]; 3] =
            [[BinaryOp::Lt, BinaryOp::Ge], [BinaryOp::Gt, BinaryOp::Le], [BinaryOp::Eq, BinaryOp::Ne]];
        let opposite = |[one, other]: [BinaryOp; 2]| match self {
            op if op == one => Some(other),
            op if op == other => Some(one),
            _ => None,
        };
        PAIRS.into_iter().find_map(opposite)
    }

    /// C's operators on 32-bit numbers; `None` for a division by zero. Undefined cases of C wrap around.
    pub fn apply(self, left: i32, right: i32) -> Option<i32> {
        Some(match self {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::Div if right == 0 => return None,
            BinaryOp::Div => left.wrapping_div(right),
            BinaryOp::Rem if right == 0 => return None,
            BinaryOp::Rem => left.wrapping_rem(right),
            BinaryOp::BitAnd => left & right,
            BinaryOp::BitXor => left ^ right,
            BinaryOp::BitOr => left | right,
            BinaryOp::Shl => left.wrapping_shl(right as u32),
            BinaryOp::Shr => left.wrapping_shr(right as u32),
            BinaryOp::Lt => i32::from(left < right),
            BinaryOp::Gt => i32::from(left > right),
            BinaryOp::Le => i32::from(left <= right),
            BinaryOp::Ge => i32::from(left >= right),
            BinaryOp::Eq => i32::from(left == right),
            BinaryOp::Ne => i32::from(left != right),
            BinaryOp::And => i32::from(left != 0 && right != 0),
            BinaryOp::Or => i32::from(left != 0 || right != 0),
        })
    }
}
