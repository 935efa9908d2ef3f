//! Actions of edges: when they are enabled, and what they do.

use crate::{Expr, Place, ProcessTypeId, StatementId};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Always enabled, changes nothing.
    Skip,
    /// Enabled where the expression is not 0; changes nothing.
    Guard(Expr),
    /// Enabled where no other edge of the location is.
    Else,
    Assign(Box<Place>, Expr),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Assert(Expr),
    /// The text with its escapes resolved, and the arguments of its conversions.
    Print(String, Vec<Expr>),
    /// Prints the name of an enumeration's member.
    PrintName(Expr),
    SetPriority(Box<(Expr, Expr)>),
    /// Starts a process, then executes an action that may use its number as [`Expr::Started`].
    Run(Box<Run>, Box<Action>),
    /// The end of a process: enabled for the youngest only.
    End,
    /// A deterministic sequence, executed in one step.
    Deterministic(Box<Block>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    pub channel: Expr,
    pub fields: Vec<Expr>,
    /// Insert the message before the first greater one, instead of at the end.
    pub sorted: bool,
    /// A further condition under which it is enabled.
    pub when: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Receive {
    pub channel: Expr,
    pub fields: Vec<Pattern>,
    /// Receive the first message that matches, instead of the first message.
    pub anywhere: bool,
    /// Leave the message in the channel.
    pub keep: bool,
    /// A condition that must hold after the message has been stored; otherwise the receive is disabled.
    pub when: Option<Expr>,
}

impl Receive {
    /// Whether it receives any message.
    pub fn takes_all(&self) -> bool {
        self.when.is_none() && !self.fields.iter().any(|field| matches!(field, Pattern::Equal(_)))
    }
}

/// The pattern that a field of a message must match.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Store(Place),
    Equal(Expr),
    Ignore,
}

impl Pattern {
    /// The place that it stores to, if it stores.
    pub fn stored(&self) -> Option<&Place> {
        match self {
            Pattern::Store(place) => Some(place),
            Pattern::Equal(_) | Pattern::Ignore => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub process_type: ProcessTypeId,
    pub args: Vec<Expr>,
    pub priority: u8,
}

/// A deterministic sequence (`d_step`). At a choice, it takes the first alternative that is enabled. To block is a
/// fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The condition under which it is enabled.
    pub entry: Entry,
    pub nodes: Vec<BlockNode>,
}

/// The condition under which a deterministic sequence is enabled. This is not the condition of its first action: of
/// alternatives at the beginning, SPIN considers only those that begin with a condition or a channel operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Always,
    /// No other edge of the location is enabled.
    Otherwise,
    /// One of these is enabled.
    AnyOf(Vec<Action>),
}

impl Entry {
    /// The actions of which one must be enabled; there are none if the condition is another one.
    pub fn actions(&self) -> &[Action] {
        match self {
            Entry::Always | Entry::Otherwise => &[],
            Entry::AnyOf(actions) => actions,
        }
    }
}

/// Index into [`Block::nodes`]; node 0 is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub enum BlockNode {
    /// Executes the action and continues at `next`; `None` leaves the block.
    Do {
        action: Action,
        statement: StatementId,
        next: Option<NodeId>,
    },
    /// Continues at the first alternative that begins with an enabled action.
    Choose {
        alternatives: Vec<NodeId>,
        statement: StatementId,
    },
    Jump(Option<NodeId>),
}

impl BlockNode {
    /// The action that it executes, if it executes one.
    pub fn action(&self) -> Option<&Action> {
        match self {
            BlockNode::Do { action, .. } => Some(action),
            BlockNode::Choose { .. } | BlockNode::Jump(_) => None,
        }
    }

    /// The nodes that it may continue at.
    pub fn successors(&self) -> &[NodeId] {
        match self {
            BlockNode::Do { next, .. } | BlockNode::Jump(next) => next.as_slice(),
            BlockNode::Choose { alternatives, .. } => alternatives,
        }
    }
}

impl Block {
    /// The number of nodes that one step may execute.
    pub const LIMIT: u64 = 100_000_000;
}

/// The condition under which an action is enabled.
#[derive(Clone, Copy, Debug)]
pub enum Enabling<'a> {
    Always,
    /// The expression is not 0.
    Condition(&'a Expr),
    /// No other edge of the location is enabled.
    Else,
    /// The channel has room, or a receiver.
    Send(&'a Send),
    /// The channel has a matching message, or a sender of one.
    Receive(&'a Receive),
    /// The process is the youngest.
    Youngest,
    /// One of these actions is enabled.
    AnyOf(&'a [Action]),
}

/// The part of the state that an action changes.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'a> {
    /// Nothing; but to evaluate its expressions may fail.
    Nothing,
    Assign(&'a Place, &'a Expr),
    Send(&'a Send),
    Receive(&'a Receive),
    Run(&'a Run, &'a Action),
    Block(&'a Block),
    /// Neither a variable nor a channel, nor which processes exist.
    Other,
}

/// A direct part of an action.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// It is evaluated.
    Expr(&'a Expr),
    /// It is assigned to.
    Store(&'a Place),
    Action(&'a Action),
}

/// A direct part of an action, to be changed.
#[derive(Debug)]
pub enum ChildMut<'a> {
    Expr(&'a mut Expr),
    Store(&'a mut Place),
    Action(&'a mut Action),
}

/// The same visitors for shared and for mutable references.
macro_rules! child_visitors {
    ($each_child:ident, $each_action:ident, $Child:ident $(, $mut:tt)?) => {
        impl Action {
            /// Calls `each` for every direct part, in order of evaluation.
            pub fn $each_child<'a>(&'a $($mut)? self, each: &mut dyn FnMut($Child<'a>)) {
                match self {
                    Action::Skip | Action::Else | Action::End => {}
                    Action::Guard(expr) | Action::Assert(expr) | Action::PrintName(expr) => each($Child::Expr(expr)),
                    Action::Assign(place, value) => {
                        each($Child::Store(place));
                        each($Child::Expr(value));
                    }
                    Action::Send(send) => {
                        let Send { channel, fields, sorted: _, when } = &$($mut)? **send;
                        each($Child::Expr(channel));
                        fields.into_iter().chain(when).for_each(|expr| each($Child::Expr(expr)));
                    }
                    Action::Receive(receive) => {
                        let Receive { channel, fields, anywhere: _, keep: _, when } = &$($mut)? **receive;
                        each($Child::Expr(channel));
                        for field in fields {
                            match field {
                                Pattern::Store(place) => each($Child::Store(place)),
                                Pattern::Equal(expr) => each($Child::Expr(expr)),
                                Pattern::Ignore => {}
                            }
                        }
                        when.into_iter().for_each(|expr| each($Child::Expr(expr)));
                    }
                    Action::Print(_, args) => args.into_iter().for_each(|arg| each($Child::Expr(arg))),
                    Action::SetPriority(parts) => {
                        let (process, priority) = &$($mut)? **parts;
                        each($Child::Expr(process));
                        each($Child::Expr(priority));
                    }
                    Action::Run(run, then) => {
                        for arg in &$($mut)? run.args {
                            each($Child::Expr(arg));
                        }
                        each($Child::Action(then));
                    }
                    Action::Deterministic(block) => block.$each_action(&mut |part| each($Child::Action(part))),
                }
            }
        }

        impl Block {
            /// Calls `each` for the actions that it consists of.
            pub fn $each_action<'a>(&'a $($mut)? self, each: &mut dyn FnMut(&'a $($mut)? Action)) {
                match &$($mut)? self.entry {
                    Entry::Always | Entry::Otherwise => {}
                    Entry::AnyOf(actions) => actions.into_iter().for_each(&mut *each),
                }
                for node in &$($mut)? self.nodes {
                    match node {
                        BlockNode::Do { action, .. } => each(action),
                        BlockNode::Choose { .. } | BlockNode::Jump(_) => {}
                    }
                }
            }
        }

        impl Pattern {
            /// Calls `each` for its direct parts.
            pub(crate) fn $each_child<'a>(&'a $($mut)? self, each: &mut dyn FnMut(&'a $($mut)? Expr)) {
                match self {
                    Pattern::Store(place) => place.$each_child(each),
                    Pattern::Equal(expr) => each(expr),
                    Pattern::Ignore => {}
                }
            }
        }
    };
}

child_visitors!(each_child, each_action, Child);
child_visitors!(each_child_mut, each_action_mut, ChildMut, mut);

impl Action {
    /// The condition under which it is enabled.
    pub fn enabling(&self) -> Enabling<'_> {
        match self {
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..) => Enabling::Always,
            Action::Guard(condition) => Enabling::Condition(condition),
            Action::Else => Enabling::Else,
            Action::Send(send) => Enabling::Send(send),
            Action::Receive(receive) => Enabling::Receive(receive),
            Action::End => Enabling::Youngest,
            Action::Deterministic(block) => match &block.entry {
                Entry::Always => Enabling::Always,
                Entry::Otherwise => Enabling::Else,
                Entry::AnyOf(actions) => Enabling::AnyOf(actions),
            },
        }
    }

    /// The effect of the action. The end of a process is an effect of its edge, which has no target.
    pub fn effect(&self) -> Effect<'_> {
        match self {
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::End => Effect::Nothing,
            Action::Assign(place, value) => Effect::Assign(place, value),
            Action::Send(send) => Effect::Send(send),
            Action::Receive(receive) => Effect::Receive(receive),
            Action::Run(run, then) => Effect::Run(run, then),
            Action::Deterministic(block) => Effect::Block(block),
            Action::SetPriority(_) => Effect::Other,
        }
    }

    /// The expressions that it prints, if it prints.
    pub fn printed(&self) -> Option<&[Expr]> {
        match self {
            Action::Print(_, args) => Some(args),
            Action::PrintName(name) => Some(std::slice::from_ref(name)),
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Assign(..)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::Assert(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End
            | Action::Deterministic(_) => None,
        }
    }

    /// Whether it or a part of it prints.
    pub fn may_print(&self) -> bool {
        let mut prints = self.printed().is_some();
        self.each_child(&mut |child| match child {
            Child::Action(part) => prints |= part.may_print(),
            Child::Expr(_) | Child::Store(_) => {}
        });
        prints
    }

    /// Whether it reads `timeout`.
    pub fn mentions_timeout(&self) -> bool {
        let mut found = false;
        self.each_expr(&mut |expr| found |= matches!(expr, Expr::Timeout));
        found
    }

    /// Whether it is enabled only where its location offers nothing else.
    pub fn waits_for_others(&self) -> bool {
        matches!(self.enabling(), Enabling::Else)
    }

    /// Whether the action is enabled wherever nothing else of its location is.
    pub fn is_always_possible(&self) -> bool {
        match self.enabling() {
            Enabling::Always | Enabling::Else => true,
            Enabling::Condition(condition) => condition.is_true(),
            Enabling::Send(_) | Enabling::Receive(_) | Enabling::Youngest => false,
            Enabling::AnyOf(actions) => actions.iter().any(Action::is_always_possible),
        }
    }

    /// Whether the action is enabled in no state, as far as its text shows.
    pub fn is_never_possible(&self) -> bool {
        match self.enabling() {
            Enabling::Condition(condition) => condition.constant() == Some(0),
            Enabling::AnyOf(actions) => actions.iter().all(Action::is_never_possible),
            Enabling::Always | Enabling::Else | Enabling::Send(_) | Enabling::Receive(_) | Enabling::Youngest => {
                false
            }
        }
    }

    /// The condition that alone decides whether the action is enabled, if there is one.
    pub fn condition(&self) -> Option<&Expr> {
        match self.enabling() {
            Enabling::Condition(condition) => Some(condition),
            Enabling::AnyOf([only]) => only.condition(),
            Enabling::AnyOf(_)
            | Enabling::Always
            | Enabling::Else
            | Enabling::Send(_)
            | Enabling::Receive(_)
            | Enabling::Youngest => None,
        }
    }

    /// Calls `each` for every place that the action may store to, with the expression that it assigns, if there is
    /// one.
    pub fn each_assignment<'a>(&'a self, each: &mut dyn FnMut(&'a Place, Option<&'a Expr>)) {
        if let Action::Assign(place, value) = self {
            return each(place, Some(value));
        }
        self.each_child(&mut |child| match child {
            Child::Expr(_) => {}
            Child::Store(place) => each(place, None),
            Child::Action(part) => part.each_assignment(each),
        });
    }

    /// Calls `each` for every place that the action may store to.
    pub fn each_store<'a>(&'a self, each: &mut dyn FnMut(&'a Place)) {
        self.each_assignment(&mut |place, _| each(place));
    }

    /// Calls `each` for every process that the action may start.
    pub fn each_run<'a>(&'a self, each: &mut dyn FnMut(&'a Run)) {
        if let Action::Run(run, _) = self {
            each(run);
        }
        self.each_child(&mut |child| match child {
            Child::Expr(_) | Child::Store(_) => {}
            Child::Action(part) => part.each_run(each),
        });
    }

    /// Calls `each` for every expression in the action, including those inside others.
    pub fn each_expr<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        self.each_child(&mut |child| match child {
            Child::Expr(expr) => expr.each(each),
            Child::Store(place) => place.each_expr(each),
            Child::Action(part) => part.each_expr(each),
        });
    }
}
