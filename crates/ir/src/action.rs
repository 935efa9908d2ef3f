//! What an edge does, and when it can.

use crate::{Expr, Place, ProcessTypeId, StatementId};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Always possible, changes nothing.
    Skip,
    /// Possible where the expression is not 0; changes nothing.
    Guard(Expr),
    /// Possible where no other edge of the location is.
    Else,
    Assign(Box<Place>, Expr),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Assert(Expr),
    /// The text with its escapes resolved, and what the `%` in it stand for.
    Print(String, Vec<Expr>),
    /// Prints the name of an enumeration's member.
    PrintName(Expr),
    SetPriority(Box<(Expr, Expr)>),
    /// Starts a process, then does something that may use its number as [`Expr::Started`].
    Run(Box<Run>, Box<Action>),
    /// The end of a process: possible for the youngest only.
    End,
    /// Several actions as one.
    Deterministic(Box<Block>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    pub channel: Expr,
    pub fields: Vec<Expr>,
    /// Before the first message that is greater, instead of at the end.
    pub sorted: bool,
    /// What else must hold for it to be possible.
    pub when: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Receive {
    pub channel: Expr,
    pub fields: Vec<Pattern>,
    /// The first message that fits, instead of the first message.
    pub anywhere: bool,
    /// Leave the message in the channel.
    pub keep: bool,
    /// What must hold once the message has been stored: otherwise it is not received, and nothing has changed.
    pub when: Option<Expr>,
}

impl Receive {
    /// Whether any message will do.
    pub fn takes_all(&self) -> bool {
        self.when.is_none() && !self.fields.iter().any(|field| matches!(field, Pattern::Equal(_)))
    }
}

/// What a field of a message must be, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Store(Place),
    Equal(Expr),
    Ignore,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub process_type: ProcessTypeId,
    pub args: Vec<Expr>,
    pub priority: u8,
}

/// A deterministic sequence. It runs from its first node to an end without looking back: of several
/// alternatives the first possible one is taken, and to be stuck is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// When the whole can be entered.
    pub entry: Entry,
    pub nodes: Vec<BlockNode>,
}

/// The ways in which a deterministic sequence can be entered. Not simply "its first action is possible":
/// of alternatives at the beginning, SPIN considers only those that begin with a condition or a channel
/// operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Always,
    /// No other edge of the location is enabled.
    Otherwise,
    /// Any of these is possible.
    AnyOf(Vec<Action>),
}

/// Index into [`Block::nodes`]; node 0 is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub enum BlockNode {
    /// Does it, and goes on; `None` leaves the block.
    Do {
        action: Action,
        statement: StatementId,
        next: Option<NodeId>,
    },
    /// Goes on at the first alternative that does not begin with an impossible action.
    Choose {
        alternatives: Vec<NodeId>,
        statement: StatementId,
    },
    Jump(Option<NodeId>),
}

impl Block {
    /// How many nodes one step may pass: after so many, it is not known whether the block ends.
    pub const LIMIT: u64 = 100_000_000;
}

impl Action {
    /// Whether it depends on nothing else being able to move.
    pub fn mentions_timeout(&self) -> bool {
        let mut found = false;
        self.each_expr(&mut |expr| found |= matches!(expr, Expr::Timeout));
        found
    }

    /// Whether the action is possible wherever nothing else of its location is.
    pub fn is_always_possible(&self) -> bool {
        match self {
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..) => true,
            Action::Guard(condition) => condition.is_true(),
            Action::Send(_) | Action::Receive(_) | Action::End => false,
            Action::Deterministic(block) => match &block.entry {
                Entry::Always | Entry::Otherwise => true,
                Entry::AnyOf(actions) => actions.iter().any(Action::is_always_possible),
            },
        }
    }

    /// Whether that can be seen never to be so, whatever the state.
    pub fn is_never_possible(&self) -> bool {
        match self {
            Action::Guard(condition) => condition.constant() == Some(0),
            Action::Deterministic(block) => match &block.entry {
                Entry::Always | Entry::Otherwise => false,
                Entry::AnyOf(actions) => actions.iter().all(Action::is_never_possible),
            },
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End => false,
        }
    }

    /// What decides alone whether the action is possible, if it is a condition.
    pub fn condition(&self) -> Option<&Expr> {
        match self {
            Action::Guard(condition) => Some(condition),
            Action::Deterministic(block) => match &block.entry {
                Entry::AnyOf(actions) => match &actions[..] {
                    [only] => only.condition(),
                    _ => None,
                },
                Entry::Always | Entry::Otherwise => None,
            },
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End => None,
        }
    }

    /// Calls `each` for every place that the action may store to, with what it stores there, if it says so.
    pub fn each_assignment<'a>(&'a self, each: &mut dyn FnMut(&'a Place, Option<&'a Expr>)) {
        match self {
            Action::Assign(place, value) => each(place, Some(value)),
            Action::Run(_, then) => then.each_assignment(each),
            Action::Deterministic(block) => block.each_action(&mut |part| part.each_assignment(each)),
            Action::Receive(_)
            | Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Send(_)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::End => self.each_store(&mut |place| each(place, None)),
        }
    }

    /// Calls `each` for every place that the action may store to.
    pub fn each_store<'a>(&'a self, each: &mut dyn FnMut(&'a Place)) {
        match self {
            Action::Assign(place, _) => each(place),
            Action::Receive(receive) => {
                for pattern in &receive.fields {
                    match pattern {
                        Pattern::Store(place) => each(place),
                        Pattern::Equal(_) | Pattern::Ignore => {}
                    }
                }
            }
            Action::Run(_, then) => then.each_store(each),
            Action::Deterministic(block) => block.each_action(&mut |part| part.each_store(each)),
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Send(_)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::End => {}
        }
    }

    /// Calls `each` for everything that the action may start.
    pub fn each_run<'a>(&'a self, each: &mut dyn FnMut(&'a Run)) {
        match self {
            Action::Run(run, then) => {
                each(run);
                then.each_run(each);
            }
            Action::Deterministic(block) => block.each_action(&mut |part| part.each_run(each)),
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Assign(..)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::End => {}
        }
    }

    /// Calls `each` for every expression in the action, including those inside others.
    pub fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        match self {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(expr) | Action::Assert(expr) | Action::PrintName(expr) => expr.each(each),
            Action::Assign(place, value) => {
                place.each_expr(each);
                value.each(each);
            }
            Action::Send(send) => {
                send.channel.each(each);
                send.fields.iter().chain(&send.when).for_each(|part| part.each(each));
            }
            Action::Receive(receive) => {
                receive.channel.each(each);
                receive.fields.iter().for_each(|field| field.each_expr(each));
                receive.when.iter().for_each(|condition| condition.each(each));
            }
            Action::Print(_, args) => args.iter().for_each(|arg| arg.each(each)),
            Action::SetPriority(parts) => {
                parts.0.each(each);
                parts.1.each(each);
            }
            Action::Run(run, then) => {
                run.args.iter().for_each(|arg| arg.each(each));
                then.each_expr(each);
            }
            Action::Deterministic(block) => block.each_action(&mut |part| part.each_expr(each)),
        }
    }
}

impl Block {
    /// Calls `each` for the actions that it consists of.
    pub fn each_action<'a>(&'a self, each: &mut dyn FnMut(&'a Action)) {
        match &self.entry {
            Entry::Always | Entry::Otherwise => {}
            Entry::AnyOf(actions) => actions.iter().for_each(&mut *each),
        }
        for node in &self.nodes {
            match node {
                BlockNode::Do { action, .. } => each(action),
                BlockNode::Choose { .. } | BlockNode::Jump(_) => {}
            }
        }
    }
}

impl Pattern {
    pub(crate) fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        match self {
            Pattern::Store(place) => place.each_expr(each),
            Pattern::Equal(expr) => expr.each(each),
            Pattern::Ignore => {}
        }
    }
}
